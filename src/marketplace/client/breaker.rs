//! Whether the marketplace is away, so that nobody waits for what will not come.
//!
//! Two calls in a row that hang, or ten that fail, for any account, say that
//! it is away. From then on people are answered at once; one of their calls
//! every few seconds is made all the same and looks whether it is back, and
//! any call that gets an answer, also a refusal, ends it. Workers call as they
//! always do: they wait longer each time by themselves (`backoff.rs`).

use parking_lot::Mutex;
use std::time::{Duration, Instant};

use super::{Answer, CONNECT_TIMEOUT, Failure};

/// Failures in a row that say that it is away.
const MOST: u32 = 10;
/// What one weighs that took long to come.
const HANGING: u32 = 5;
/// A call that was this long without an answer hung.
const LONG: Duration = CONNECT_TIMEOUT;
/// How often a call looks whether it is back. Short, because the first people
/// after an outage pay for it.
const LOOK_EVERY: Duration = Duration::from_secs(4);

/// What the calls of late say of the marketplace.
#[derive(Default)]
pub struct Breaker {
    state: Mutex<BreakerState>,
}

#[derive(Default)]
struct BreakerState {
    failures: u32,
    /// When a call may look whether it is back; none while it is there.
    look_at: Option<Instant>,
    /// When the last one began to look, until it is known to be in vain.
    looks_since: Option<Instant>,
}

impl Breaker {
    /// Whether somebody who waits may call; else in how many seconds it makes
    /// sense to ask again. While it is away, one caller at a time may look.
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

    /// Notes what a call brought that began at an instant.
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
            // Counted from its end, or the next one would wait as long.
            state.look_at = Some(now + LOOK_EVERY);
        }
        if state.failures >= MOST && state.look_at.is_none() {
            state.look_at = Some(now + LOOK_EVERY);
            tracing::warn!("the marketplace is away; people are told so at once until it answers");
        }
    }

    /// Whether it is away.
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
