//! Seller Platform.
mod clock;
mod ids;
mod money;
mod secrets;
mod text;
fn main() {}
