//! A circuit breaker: while the marketplace is down, people do not wait for an
//! answer that will not come.
//!
//! Two calls in a row that hang, or ten that fail, for any account, open the
//! breaker. While it is open, calls for people fail at once. Only one call
//! every few seconds is made as a test. Any answer, also a refusal, closes the
//! breaker. Workers call as always: they retry with growing pauses
//! (`backoff.rs`).

use parking_lot::Mutex;
use std::time::{Duration, Instant};

use super::{Answer, CONNECT_TIMEOUT, Failure};

/// Failures in a row that open the breaker.
const MOST: u32 = 10;
/// How many failures a call that hangs counts as.
const HANGING: u32 = 5;
/// A call that fails after this time or later counts as hanging.
const LONG: Duration = CONNECT_TIMEOUT;
/// How often a test call is made. Short, because people have to wait this long
/// after an outage has ended.
const LOOK_EVERY: Duration = Duration::from_secs(4);

/// Whether the marketplace is down, judged by recent calls.
#[derive(Default)]
pub struct Breaker {
    state: Mutex<BreakerState>,
}

#[derive(Default)]
struct BreakerState {
    failures: u32,
    /// When the next test call may be made; `None` while the breaker is closed.
    look_at: Option<Instant>,
    /// When the last test call began, until its result is known.
    looks_since: Option<Instant>,
}

impl Breaker {
    /// Whether a call for a waiting person may be made. The error is the number
    /// of seconds until it makes sense to try again. While the breaker is open,
    /// one test call at a time passes.
    pub fn pass(&self, now: Instant) -> Result<(), i64> {
        let mut state = self.state.lock();
        let state = &mut *state;
        match &mut state.look_at {
            Some(at) if now < *at => {
                let left = at.saturating_duration_since(now).as_millis().div_ceil(1000);
                Err(i64::try_from(left).unwrap_or(1).max(1))
            }
            Some(at) => {
                *at = now + LOOK_EVERY;
                state.looks_since = Some(now);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Records the result of a call that began at an instant.
    pub fn note<T>(&self, began: Instant, now: Instant, answer: &Answer<T>) {
        let mut state = self.state.lock();
        if !matches!(answer, Err(Failure::Unreachable)) {
            state.failures = 0;
            state.looks_since = None;
            if state.look_at.take().is_some() {
                tracing::info!("the marketplace answers again");
            }
            return;
        }
        let hung = now.saturating_duration_since(began) >= LONG;
        state.failures = state.failures.saturating_add(if hung { HANGING } else { 1 });
        if state.looks_since.take_if(|since| *since <= began).is_some() {
            // Counted from the end of the test call. Otherwise the next caller
            // would test at once and wait as long.
            state.look_at = Some(now + LOOK_EVERY);
        }
        if state.failures >= MOST && state.look_at.is_none() {
            state.look_at = Some(now + LOOK_EVERY);
            tracing::warn!("the marketplace is away; people are told so at once until it answers");
        }
    }

    /// Whether the marketplace counts as down.
    pub fn is_open(&self) -> bool {
        self.state.lock().look_at.is_some()
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
        for (took, enough) in [(LONG, 2), (Duration::ZERO, 10)] {
            for end in [Ok(()), refused.clone(), Err(Failure::Expired)] {
                let breaker = Breaker::default();
                for _ in 1..enough {
                    breaker.note(start, start + took, &AWAY);
                }
                assert!(!breaker.is_open());
                breaker.note(start, start + took, &end);
                for _ in 0..enough {
                    assert_eq!(breaker.pass(start), Ok(()), "an answer begins the count anew");
                    breaker.note(start, start + took, &AWAY);
                }
                assert!(breaker.is_open());
                breaker.note(start, start, &end);
                assert_eq!(breaker.pass(start), Ok(()));
            }
        }
    }

    #[test]
    fn one_call_in_a_while_looks_whether_it_is_back() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        for _ in 0..10 {
            breaker.note(start, start, &AWAY);
        }
        assert_eq!(breaker.pass(start), Err(4));
        assert_eq!(breaker.pass(start + Duration::from_millis(3_999)), Err(1));
        let later = start + LOOK_EVERY;
        assert_eq!(breaker.pass(later), Ok(()));
        assert_eq!(breaker.pass(later), Err(4), "one alone");
        breaker.note(start, later, &AWAY);
        let end = later + 2 * LONG;
        breaker.note(later, end, &AWAY);
        assert_eq!(breaker.pass(end), Err(4), "from the end of one that looked in vain");
        breaker.note(later, end + LONG, &AWAY);
        assert_eq!(breaker.pass(end + LOOK_EVERY), Ok(()), "others delay it no further");
    }
}
