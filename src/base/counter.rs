//! Something counted by civil day, in memory; `behind.rs` writes it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something counted by civil day.
pub struct Counter {
    pub name: &'static str,
    /// What is not written yet.
    pub unwritten: AtomicU64,
    /// The total since the start.
    counted: AtomicU64,
}

impl Counter {
    /// A counter under a name of `daily_count`.
    pub const fn new(name: &'static str) -> Self {
        Self { name, unwritten: AtomicU64::new(0), counted: AtomicU64::new(0) }
    }

    /// The total since the start.
    pub fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    pub fn add(&self, count: u64) {
        self.counted.fetch_add(count, Ordering::Relaxed);
        self.unwritten.fetch_add(count, Ordering::Relaxed);
    }
}
