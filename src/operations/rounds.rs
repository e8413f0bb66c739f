//! What the service does again and again by itself, beside the periodic tasks: when
//! each was last done, and what came of it. In memory, since the start.

use std::time::Duration;

use parking_lot::Mutex;

use crate::base::Instant;

/// All of them.
#[derive(Default)]
pub struct Rounds {
    /// The light check of the database.
    pub light_check: Round,
    /// The check of all of it.
    pub whole_check: Round,
    /// Counters and logs that are written once a second.
    pub counters: Round,
    /// What is over is removed, once an hour.
    pub tidying: Round,
}

/// One of them, with its last time.
#[derive(Default)]
pub struct Round(Mutex<Option<Last>>);

/// The last time.
#[derive(Clone, Copy)]
pub struct Last {
    pub at: Instant,
    pub ms: i64,
    pub failed: bool,
}

impl Round {
    /// It was done just now.
    pub fn note(&self, at: Instant, took: Duration, is_done: bool) {
        let ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        *self.0.lock() = Some(Last { at, ms, failed: !is_done });
    }

    /// When it was last done; `None` before the first time.
    pub fn last(&self) -> Option<Last> {
        *self.0.lock()
    }
}
