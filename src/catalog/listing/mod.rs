//! The page of one listing: what it sold, what was asked about it, and the
//! product that it sells.

pub mod pages;
pub mod views;
