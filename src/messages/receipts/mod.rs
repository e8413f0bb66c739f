//! What the official chat API tells of a message after it took it: that it left, arrived,
//! was read, or failed.
//!
//! Taking a message is no delivery. Most refusals, such as that a number is not on the
//! network, come afterwards, by webhook (`api.rs`). `status.rs` reads what is posted,
//! `apply.rs` carries it over to the message. What is told comes in any order and more
//! than once, so the end depends on what was told and not on when. Decision messages-30.

pub mod api;
pub mod apply;
pub mod status;
pub mod store;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

/// Where the official API posts.
pub const HOOK_PATH: &str = "/api/v1/webhook/chat";

/// How often the API told something, by what it was good for, since the start.
#[derive(Debug, Default)]
pub struct ReceiptCounts {
    /// It changed what is known of a message.
    pub changed: AtomicU64,
    /// It was known, or came too late to matter.
    pub known: AtomicU64,
    /// There is no such message, or no more.
    pub unknown: AtomicU64,
    /// Bodies whose signature was wrong, as all are with a wrong `chat.app_secret`.
    pub refused: AtomicU64,
}

impl ReceiptCounts {
    fn add(&self, outcome: Outcome) {
        let count = match outcome {
            Outcome::Changed => &self.changed,
            Outcome::Known => &self.known,
            Outcome::Unknown => &self.unknown,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// What one thing that was told was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Changed,
    Known,
    Unknown,
}
