//! The live numbers of each menu: what they are (`store.rs`), the address that open pages
//! listen at (`pages.rs`), and who tells them (`teller.rs`). How they are kept and counted
//! is in `panel/live.rs`, where the frame of every page finds them.

pub mod pages;
pub mod store;
pub mod teller;
