//! Linked accounts: the way to the marketplace's consent page and back, their
//! tokens, and the pages around them.

pub mod api;
pub mod forget;
pub mod link;
pub mod pages;
pub mod standing;
pub mod store;
pub mod stores;
pub mod tokens;
pub mod views;
pub mod wire;
