//! A circuit breaker: while the marketplace is down, people do not wait for an
//! answer that will not come.
//!
//! Two calls in a row that hang, or ten that fail, for any account, open the
//! breaker. While it is open, calls for people fail at once. Only one call
//! every few seconds is made as a test. Any answer, also a refusal, closes the
//! breaker. Workers call as always: they retry with growing pauses
//! (`base/queue`).

use parking_lot::Mutex;
use std::time::{Duration, Instant};

use super::{Answer, CONNECT_TIMEOUT, Failure};
use crate::base::queue::{self, INBOX};

/// How many failures a call that hangs counts as.
const HANG_WEIGHT: u32 = 5;
/// A call that fails after this time or later counts as hanging.
const HANG_AFTER: Duration = CONNECT_TIMEOUT;

/// Whether the marketplace is down, judged by recent calls.
pub struct Breaker {
    state: Mutex<BreakerState>,
}

struct BreakerState {
    breaker: queue::Breaker<Instant>,
    /// When the last test call began, until its result is known.
    probe_started: Option<Instant>,
}

impl Default for Breaker {
    fn default() -> Self {
        let breaker = queue::Breaker::new(&INBOX);
        Self { state: Mutex::new(BreakerState { breaker, probe_started: None }) }
    }
}

fn after(now: Instant) -> impl Fn(i64) -> Instant {
    move |pause_s| now + Duration::from_secs(pause_s.unsigned_abs())
}

impl Breaker {
    /// Whether a call for a waiting person may be made. The error is the number
    /// of seconds until it makes sense to try again. While the breaker is open,
    /// one test call at a time passes.
    pub fn allow(&self, now: Instant) -> Result<(), i64> {
        let mut state = self.state.lock();
        match state.breaker.until() {
            Some(at) if now < at => {
                let left = at.saturating_duration_since(now).as_millis().div_ceil(1000);
                Err(i64::try_from(left).unwrap_or(1).max(1))
            }
            Some(_) => {
                state.breaker.look(after(now));
                state.probe_started = Some(now);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Records the result of a call that began at an instant.
    pub fn note<T>(&self, began: Instant, now: Instant, answer: &Answer<T>) {
        let mut state = self.state.lock();
        if !matches!(answer, Err(Failure::Unreachable)) {
            state.probe_started = None;
            if state.breaker.answer() {
                tracing::info!("the marketplace answers again");
            }
            return;
        }
        let hung = now.saturating_duration_since(began) >= HANG_AFTER;
        if state.probe_started.take_if(|since| *since <= began).is_some() {
            // Counted from the end of the test call. Otherwise the next caller
            // would test at once and wait as long.
            state.breaker.rest(after(now));
        }
        if state.breaker.fail(if hung { HANG_WEIGHT } else { 1 }, after(now)) {
            tracing::warn!("the marketplace is away; people are told so at once until it answers");
        }
    }

    /// Whether the marketplace counts as down.
    pub fn is_open(&self) -> bool {
        self.state.lock().breaker.is_open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: Answer<()> = Err(Failure::Unreachable);

    #[test]
    fn two_that_hang_or_ten_that_fail_open_it_and_any_answer_closes_it() {
        let start = Instant::now();
        let refused = Err(Failure::Refused { status: 404, code: String::new() });
        for (took, enough) in [(HANG_AFTER, 2), (Duration::ZERO, 10)] {
            for end in [Ok(()), refused.clone(), Err(Failure::Expired)] {
                let breaker = Breaker::default();
                for _ in 1..enough {
                    breaker.note(start, start + took, &AWAY);
                }
                assert!(!breaker.is_open());
                breaker.note(start, start + took, &end);
                for _ in 0..enough {
                    assert_eq!(breaker.allow(start), Ok(()), "an answer begins the count anew");
                    breaker.note(start, start + took, &AWAY);
                }
                assert!(breaker.is_open());
                breaker.note(start, start, &end);
                assert_eq!(breaker.allow(start), Ok(()));
            }
        }
    }

    #[test]
    fn one_call_in_a_while_looks_whether_it_is_back() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        for _ in 0..10 {
            breaker.note(start, start, &AWAY);
        }
        assert_eq!(breaker.allow(start), Err(4));
        assert_eq!(breaker.allow(start + Duration::from_millis(3_999)), Err(1));
        let later = start + Duration::from_secs(4);
        assert_eq!(breaker.allow(later), Ok(()));
        assert_eq!(breaker.allow(later), Err(4), "one alone");
        breaker.note(start, later, &AWAY);
        let end = later + 2 * HANG_AFTER;
        breaker.note(later, end, &AWAY);
        assert_eq!(breaker.allow(end), Err(4), "from the end of one that looked in vain");
        breaker.note(later, end + HANG_AFTER, &AWAY);
        assert_eq!(
            breaker.allow(end + Duration::from_secs(4)),
            Ok(()),
            "others delay it no further"
        );
    }
}
