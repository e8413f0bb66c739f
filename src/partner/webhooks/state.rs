//! What is in memory of webhooks: the bell of their worker, and figures since the start.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::worker::Stop;

/// In-memory state of webhooks.
#[derive(Default)]
pub struct Webhooks {
    /// Rung when a delivery may be due, or when a try ended.
    pub bell: Stop,
    pub(super) delivered: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) in_flight: AtomicU64,
}

/// Figures since the start.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub delivered: u64,
    pub failed: u64,
    /// Tries that are running now.
    pub in_flight: u64,
}

impl Webhooks {
    /// The present figures.
    pub fn figures(&self) -> Figures {
        let read = |one: &AtomicU64| one.load(Ordering::Relaxed);
        Figures {
            delivered: read(&self.delivered),
            failed: read(&self.failed),
            in_flight: read(&self.in_flight),
        }
    }
}
