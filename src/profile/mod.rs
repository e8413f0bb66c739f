//! The profile: what people of every role see and change of their own account.
//!
//! Changes that could be used to take over an account need the present
//! password: a new password, and a new chat number, because links to choose a
//! password are sent there.

pub mod devices;
pub mod pages;
pub mod views;
