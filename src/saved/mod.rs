//! What people keep of a list under a name: its filters, search and order. The menu of
//! every list leads here.

pub mod pages;
pub mod store;
pub mod views;

use crate::row;

/// Most views that a person keeps of a list, and in all.
pub const MOST: i64 = 20;
pub const MOST_IN_ALL: i64 = 200;

row! {
    /// What is kept of a list.
    #[derive(Clone, Debug)]
    pub struct SavedView {
        pub id: i64 = "view_id",
        pub path: String,
        pub name: String,
        /// May be empty.
        pub query: String,
    }
}

impl SavedView {
    /// The address of the list as it was kept.
    pub fn href(&self) -> String {
        if self.query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }
}
