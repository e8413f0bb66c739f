//! Operation of the service: health probes, metrics, backup by HTTP, the request
//! log and the operator's home.

pub mod api;
pub mod copies;
pub mod metrics;
mod open_items;
pub mod pages;
mod palette;
pub mod requests;
pub mod store;
pub mod style;
pub mod traffic;
pub mod views;

use std::sync::atomic::{AtomicBool, Ordering};

/// Result of the background check of the database after an unclean stop.
#[derive(Default)]
pub struct DatabaseIntegrity {
    damaged: AtomicBool,
}

impl DatabaseIntegrity {
    /// Marks the database as damaged; the service is no longer ready.
    pub fn set_damaged(&self) {
        self.damaged.store(true, Ordering::Release);
    }

    /// Whether damage was found.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Acquire)
    }
}
