//! How far the replica is, as the worker beside the server sees it.

use parking_lot::Mutex;

use super::Fault;
use crate::base::{Clock, Instant};

/// What the worker knows.
#[derive(Default)]
pub struct State(Mutex<Option<Seen>>);

struct Seen {
    /// The address of the replica.
    url: String,
    /// Until when everything is known to be at the replica, by the clock of the system.
    level_at: Instant,
    trouble: Option<Fault>,
}

/// How far the replica is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub url: String,
    /// What was written in these last seconds may not be there.
    pub lag_s: i64,
    pub trouble: Option<Fault>,
}

impl State {
    /// A replica is configured, and nothing is known of it yet.
    pub fn begin(&self, url: String) {
        let level_at = Clock::System.now();
        *self.0.lock() = Some(Seen { url, level_at, trouble: None });
    }

    /// Everything that was written until then is at the replica.
    pub fn is_level(&self, at: Instant) {
        if let Some(seen) = &mut *self.0.lock()
            && at > seen.level_at
        {
            seen.level_at = at;
            if seen.trouble.take().is_some() {
                tracing::info!(replica = seen.url, "the replica follows again");
            }
        }
    }

    /// Something is wrong; logged when it was not so before.
    pub fn fails(&self, fault: Fault) {
        if let Some(seen) = &mut *self.0.lock() {
            if seen.trouble.as_ref() != Some(&fault) {
                tracing::warn!(replica = seen.url, "the replica does not follow: {fault}");
            }
            seen.trouble = Some(fault);
        }
    }

    /// How far the replica is; `None` when none is configured.
    pub fn standing(&self) -> Option<Standing> {
        let seen = self.0.lock();
        let seen = seen.as_ref()?;
        let lag_s = Clock::System.now().since(seen.level_at).max(0);
        Some(Standing { url: seen.url.clone(), lag_s, trouble: seen.trouble.clone() })
    }
}
