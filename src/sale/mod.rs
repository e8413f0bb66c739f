//! One sale in its seller's panel, put together of what the books, the claims, the
//! fees and the suppliers know of it.

pub mod pages;
pub mod views;
