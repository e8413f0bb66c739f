//! What is in memory of webhooks: the bell of their worker, and figures since the start.

use std::sync::atomic::AtomicU64;

use crate::base::worker::Stop;

/// In-memory state of webhooks.
#[derive(Default)]
pub struct Webhooks {
    /// Rung when a delivery may be due, or when a try ended.
    pub bell: Stop,
    /// Tries since the start that were accepted, and those that were not.
    pub delivered: AtomicU64,
    pub failed: AtomicU64,
    /// Tries that are running now.
    pub in_flight: AtomicU64,
}
