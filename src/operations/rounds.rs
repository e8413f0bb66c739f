//! What the service does again and again by itself, beside the periodic tasks: when
//! each was last done, and what came of it. In memory, since the start.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

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

/// One of them.
#[derive(Default)]
pub struct Round {
    /// 0 before the first time.
    at: AtomicI64,
    ms: AtomicI64,
    failed: AtomicBool,
}

/// The last time.
pub struct Last {
    pub at: Instant,
    pub ms: i64,
    pub failed: bool,
}

impl Round {
    /// It was done just now.
    pub fn note(&self, at: Instant, took: Duration, is_done: bool) {
        self.ms.store(i64::try_from(took.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.failed.store(!is_done, Ordering::Relaxed);
        self.at.store(at.0, Ordering::Relaxed);
    }

    /// When it was last done; `None` before the first time.
    pub fn last(&self) -> Option<Last> {
        let at = Instant(self.at.load(Ordering::Relaxed));
        (at.0 > 0).then(|| Last {
            at,
            ms: self.ms.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        })
    }
}
