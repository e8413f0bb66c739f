//! Linked accounts: the authorisation at the marketplace, the tokens, and the
//! pages that show the accounts.

pub mod api;
pub mod link;
pub mod pages;
pub mod purge;
pub mod store;
pub mod stores;
pub mod tokens;
pub mod views;
pub mod wire;
pub mod words;
