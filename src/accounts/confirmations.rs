//! In which sessions the password was given once more of late; `confirm.rs` asks for it.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::base::{Instant, TokenHash};

/// How long a confirmation counts, in seconds.
const LIFE_S: i64 = 600;
/// Most sessions of which one is known.
const MOST: usize = 10_000;

/// When the password was last given again, by session. A restart forgets it.
#[derive(Default)]
pub struct Confirmations(Mutex<HashMap<TokenHash, Instant>>);

impl Confirmations {
    pub fn note(&self, session: TokenHash, now: Instant) {
        let mut all = self.0.lock();
        if all.len() >= MOST {
            all.retain(|_, at| is_recent(*at, now));
        }
        if all.len() < MOST {
            all.insert(session, now);
        }
    }

    pub fn holds(&self, session: &TokenHash, now: Instant) -> bool {
        self.0.lock().get(session).is_some_and(|at| is_recent(*at, now))
    }
}

fn is_recent(at: Instant, now: Instant) -> bool {
    (0..LIFE_S).contains(&now.since(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_counts_for_ten_minutes_and_its_session() {
        let known = Confirmations::default();
        let (ours, other, at) = (TokenHash([1; 32]), TokenHash([2; 32]), Instant(10_000));
        known.note(ours, at);
        assert!(known.holds(&ours, at) && known.holds(&ours, at.plus(LIFE_S - 1)));
        assert!(!known.holds(&ours, at.plus(LIFE_S)) && !known.holds(&ours, at.minus(1)));
        assert!(!known.holds(&other, at));
    }
}
