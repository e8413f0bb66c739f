//! Is it well? Health probes, the operator's home, error pages.

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

/// What the background check after an unclean stop found out.
#[derive(Default)]
pub struct Soundness {
    damaged: AtomicBool,
}

impl Soundness {
    /// The file is damaged; the service is no longer ready.
    pub fn set_damaged(&self) {
        self.damaged.store(true, Ordering::Release);
    }

    /// Whether damage was found.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Acquire)
    }
}
