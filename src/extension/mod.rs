//! The browser extension's dashboard.

pub mod api;
pub mod cache;
