//! Looks of staff at personal data, in the audit log: at a student's page, at the
//! list as a file, at the file with everything. The same look of the same person
//! is noted once an hour, so that looking cannot flood the log.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::{Act, Actor, note};
use crate::app::App;
use crate::base::Instant;
use crate::db::DbError;
use crate::edge::guard::Person;
use crate::http::Request;

/// For how long a look is not noted again.
const AGAIN_S: i64 = 3_600;
/// Looks that are remembered.
const MOST: usize = 10_000;

/// Looks of the last hour: by whom, and what was done to which object.
#[derive(Default)]
pub struct Looks(Mutex<HashMap<(i64, &'static str, String), Instant>>);

impl Looks {
    /// Whether this look was not noted within the hour.
    fn is_new(&self, staff: i64, act: &Act<'_>, now: Instant) -> bool {
        let mut seen = self.0.lock();
        let key = (staff, act.action, act.object_id.clone());
        // A clock that was set back begins anew.
        if seen.get(&key).is_some_and(|at| (0..AGAIN_S).contains(&now.since(*at))) {
            return false;
        }
        if seen.len() >= MOST {
            seen.retain(|_, at| (0..AGAIN_S).contains(&now.since(*at)));
        }
        if seen.len() >= MOST {
            // So many pages in an hour: rather noted twice than not at all.
            seen.clear();
        }
        seen.insert(key, now);
        true
    }
}

/// Notes a look. The page does not wait for it.
pub fn look(app: &App, person: &Person, request: &Request, act: &Act<'_>) {
    if app.looks.is_new(person.account.user_id.0, act, request.now) {
        let actor = Actor::person(person, request);
        let (action, object, id) = (act.action, act.object, act.object_id.clone());
        let name = act.object_name.to_owned();
        drop(app.db.submit(move |tx| {
            let act = Act { action, object, object_id: id, object_name: &name };
            note(tx, &actor, &act, None::<&()>, None::<&()>)?;
            Ok::<_, DbError>(())
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_noted_once_an_hour_and_the_memory_is_bounded() {
        let looks = Looks::default();
        let act = |id: usize| Act {
            action: "aluno.consultar",
            object: "aluno",
            object_id: id.to_string(),
            object_name: "",
        };
        let now = Instant(1_000_000);
        assert!(looks.is_new(1, &act(7), now));
        assert!(!looks.is_new(1, &act(7), now.plus(AGAIN_S - 1)));
        assert!(looks.is_new(2, &act(7), now) && looks.is_new(1, &act(8), now));
        assert!(looks.is_new(1, &act(7), now.plus(AGAIN_S)));
        for id in 0..3 * MOST {
            looks.is_new(3, &act(id), now);
        }
        assert!(looks.0.lock().len() <= MOST);
    }
}
