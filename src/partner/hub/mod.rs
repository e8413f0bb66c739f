//! The partner hub of the sellers' panel: the tokens of one's account, the apps
//! that are connected to it, what they used, and the first calls to try.

mod apps;
mod pages;
#[cfg(test)]
pub mod samples;
pub mod views;

pub use apps::disconnect;
pub(super) use pages::about;
pub use pages::{create, hub, revoke};

/// Tokens of an account that work at a time.
pub const MOST_TOKENS: u64 = 20;
