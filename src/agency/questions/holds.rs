//! Who is answering which question. The others see it, but it never blocks an
//! answer. Kept in memory only, while somebody types. Decision agency-11.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::base::{Instant, UserId};
use crate::program::ranking::short_name;

/// Most questions with a hold, and seconds until a hold expires without typing.
const MOST: usize = 10_000;
const LIFE_S: i64 = 90;

struct Hold {
    by: UserId,
    name: String,
    until: Instant,
}

/// The questions that are being answered.
#[derive(Default)]
pub struct Holds(Mutex<HashMap<i64, Hold>>);

impl Holds {
    /// Notes that a person is answering a question. Returns the name of another
    /// person who already is.
    pub fn take(&self, question: i64, by: UserId, name: &str, now: Instant) -> Option<String> {
        let mut all = self.0.lock();
        if let Some(hold) = all.get(&question)
            && hold.by != by
            && hold.until > now
        {
            return Some(hold.name.clone());
        }
        if all.len() >= MOST && !all.contains_key(&question) {
            all.retain(|_, hold| hold.until > now);
            let first = all.iter().min_by_key(|(_, hold)| hold.until).map(|(id, _)| *id);
            if let Some(first) = first.filter(|_| all.len() >= MOST) {
                all.remove(&first);
            }
        }
        all.insert(question, Hold { by, name: short_name(name), until: now.plus(LIFE_S) });
        None
    }

    /// Removes the hold of a question that was answered.
    pub fn end(&self, question: i64) {
        self.0.lock().remove(&question);
    }

    /// The questions that other people are answering, with their names.
    pub fn of_others(&self, reader: UserId, now: Instant) -> Vec<(i64, String)> {
        let all = self.0.lock();
        let others = all.iter().filter(|(_, hold)| hold.by != reader && hold.until > now);
        let mut others: Vec<_> = others.map(|(id, hold)| (*id, hold.name.clone())).collect();
        others.sort_unstable();
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_000);

    #[test]
    fn a_hold_is_told_to_others_until_its_holder_stops_typing() {
        let holds = Holds::default();
        let (bia, rui) = ((UserId(1), "Bia da Silva"), (UserId(2), "Rui"));
        assert_eq!(holds.take(7, bia.0, bia.1, NOW), None);
        assert_eq!(holds.take(7, rui.0, rui.1, NOW), Some("Bia S.".to_owned()));
        assert_eq!(holds.of_others(rui.0, NOW), [(7, "Bia S.".to_owned())]);
        assert_eq!(holds.of_others(bia.0, NOW), []);
        assert_eq!(holds.take(7, bia.0, bia.1, NOW.plus(60)), None);
        assert_eq!(holds.take(7, rui.0, rui.1, NOW.plus(149)), Some("Bia S.".to_owned()));
        assert_eq!(holds.of_others(rui.0, NOW.plus(150)), []);
        assert_eq!(holds.take(7, rui.0, rui.1, NOW.plus(150)), None);
        holds.end(7);
        assert_eq!(holds.take(7, bia.0, bia.1, NOW.plus(150)), None);
    }

    #[test]
    fn they_are_bounded() {
        let holds = Holds::default();
        for id in 0..=i64::try_from(MOST).unwrap() {
            holds.take(id, UserId(1), "Bia", NOW.plus(id % 50));
        }
        assert_eq!(holds.0.lock().len(), MOST);
    }
}
