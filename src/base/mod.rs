//! Small values that everybody shares. They use only each other.

pub mod cache;
pub mod clock;
pub mod ids;
pub mod money;
pub mod named;
pub mod phone;
pub mod retention;
pub mod secrets;
pub mod text;
pub mod worker;
