//! The page of components, for who writes pages.

pub mod pages;
mod views;
