//! Which looks of staff were noted within the hour, so that none is noted twice
//! (`looks.rs`).

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::base::Instant;

/// For how long a look is not noted again.
const AGAIN_S: i64 = 3_600;
/// Looks that are remembered.
const MOST: usize = 10_000;

/// Who looked, what was done, and to which object.
pub(super) type Key = (i64, &'static str, String);

/// Looks that were noted within the hour.
#[derive(Clone, Default)]
pub struct Looks(Arc<Mutex<HashMap<Key, Instant>>>);

impl Looks {
    /// Remembers a look that was not noted within the hour, as long as it gets into the
    /// log; `None` for others.
    pub(super) fn remember(&self, key: Key, now: Instant) -> Option<Remembered> {
        let mut seen = self.0.lock();
        // A clock that was set back begins anew.
        if seen.get(&key).is_some_and(|at| (0..AGAIN_S).contains(&now.since(*at))) {
            return None;
        }
        if seen.len() >= MOST {
            seen.retain(|_, at| (0..AGAIN_S).contains(&now.since(*at)));
        }
        if seen.len() >= MOST {
            // So many pages in an hour: rather noted twice than not at all.
            seen.clear();
        }
        seen.insert(key.clone(), now);
        Some(Remembered { looks: self.clone(), key: Some(key) })
    }
}

/// A look that is forgotten again when it did not get into the log.
pub(super) struct Remembered {
    looks: Looks,
    key: Option<Key>,
}

impl Remembered {
    pub(super) fn noted(mut self) {
        self.key = None;
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.looks.0.lock().remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_noted_once_an_hour_and_the_memory_is_bounded() {
        let looks = Looks::default();
        let key = |staff, id: usize| (staff, "aluno.consultar", id.to_string());
        let now = Instant(1_000_000);
        let noted = |key, now| looks.remember(key, now).map(Remembered::noted).is_some();
        assert!(looks.remember(key(1, 7), now).is_some());
        assert!(noted(key(1, 7), now), "the one before did not get into the log");
        assert!(!noted(key(1, 7), now.plus(AGAIN_S - 1)));
        assert!(noted(key(2, 7), now) && noted(key(1, 8), now));
        assert!(noted(key(1, 7), now.plus(AGAIN_S)));
        assert!(noted(key(1, 7), now.plus(-1)), "the clock was set back");
        for id in 0..3 * MOST {
            noted(key(3, id), now);
        }
        assert!(looks.0.lock().len() <= MOST);
    }
}
