//! How far the replica is, as the worker beside the server sees it.

use std::time::Instant as Monotonic;

use parking_lot::Mutex;

use super::Fault;
use crate::base::{Clock, Instant};

/// What the worker knows.
#[derive(Default)]
pub struct State(Mutex<Option<Seen>>);

struct Seen {
    url: String,
    /// Until when everything is known to be at the replica, by the clock of the system.
    level_at: Instant,
    /// When that was heard, and how many seconds it was past. The clock may be set.
    heard: (Monotonic, i64),
    trouble: Option<Fault>,
}

/// How far the replica is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStatus {
    pub url: String,
    /// What was written in these last seconds may not be there.
    pub lag_s: i64,
    pub trouble: Option<Fault>,
}

impl State {
    /// A replica is configured, and nothing is known of it yet.
    pub fn begin(&self, url: String) {
        let (level_at, heard) = (Clock::System.now(), (Monotonic::now(), 0));
        *self.0.lock() = Some(Seen { url, level_at, heard, trouble: None });
    }

    /// Everything that was written until then is at the replica.
    pub fn is_level(&self, at: Instant) {
        if let Some(seen) = &mut *self.0.lock()
            && at != seen.level_at
        {
            seen.level_at = at;
            seen.heard = (Monotonic::now(), Clock::System.now().since(at).max(0));
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
    pub fn status(&self) -> Option<ReplicaStatus> {
        let seen = self.0.lock();
        let seen = seen.as_ref()?;
        let (heard, past) = seen.heard;
        let lag_s = past.saturating_add_unsigned(heard.elapsed().as_secs());
        Some(ReplicaStatus { url: seen.url.clone(), lag_s, trouble: seen.trouble.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_neither_hides_a_lag_nor_what_is_level() {
        let state = State::default();
        state.begin("file:///mnt/shop".to_owned());
        let lag_s = || state.status().unwrap().lag_s;
        // What was level before the clock was set back by a day.
        state.is_level(Clock::System.now().plus(crate::base::DAY_S));
        state.fails(Fault("the bucket is away".to_owned()));
        state.is_level(Clock::System.now().minus(7));
        assert!((7..60).contains(&lag_s()), "{}", lag_s());
        assert_eq!(state.status().unwrap().trouble, None);
    }
}
