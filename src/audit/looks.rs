//! Looks of staff at personal data, in the audit log: at a person's page, at a
//! purchase, at lists as files and as JSON, at the file with everything. The same
//! look of the same person is noted once an hour, so that looking cannot flood the
//! log; a file is noted each time.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Act, Actor, note};
use crate::app::App;
use crate::base::Instant;
use crate::db::DbError;
use crate::edge::guard::Person;
use crate::http::Request;
use crate::services::Services;

/// For how long a look is not noted again.
const AGAIN_S: i64 = 3_600;
/// Looks that are remembered.
const MOST: usize = 10_000;

/// Who looked, what was done, and to which object.
type Key = (i64, &'static str, String);

/// Looks that were noted within the hour.
#[derive(Clone, Default)]
pub struct Looks(Arc<Mutex<HashMap<Key, Instant>>>);

impl Looks {
    /// Remembers a look that was not noted within the hour, as long as it gets into the
    /// log; `None` for others.
    fn remember(&self, key: Key, now: Instant) -> Option<Remembered> {
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
struct Remembered {
    looks: Looks,
    key: Option<Key>,
}

impl Remembered {
    fn noted(mut self) {
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

/// Notes a look, unless the same was noted within the hour. The page does not wait
/// for it.
pub fn look(app: &App, (person, request): (&Person, &Request), act: &Act<'_>) {
    let key = (person.account.user_id.0, act.action, act.object_id.clone());
    if let Some(look) = app.looks.remember(key, request.now) {
        submit(app, (person, request), act, move || look.noted());
    }
}

/// [`look`] at something without a name.
pub fn record(
    app: &App,
    who: (&Person, &Request),
    (action, object): (&'static str, &'static str),
    id: i64,
) {
    look(app, who, &Act { action, object, object_id: id.to_string(), object_name: "" });
}

/// Notes that somebody took a whole list along as a file.
pub fn file(
    services: &Services,
    who: (&Person, &Request),
    action: &'static str,
    object: &'static str,
) {
    submit(services, who, &whole(action, object), || ());
}

/// Notes that somebody read a list as JSON, where a page has a hundred people.
pub fn list(app: &App, who: (&Person, &Request), action: &'static str, object: &'static str) {
    look(app, who, &whole(action, object));
}

/// About all of a kind.
const fn whole(action: &'static str, object: &'static str) -> Act<'static> {
    Act { action, object, object_id: String::new(), object_name: "" }
}

fn submit(
    services: &Services,
    (person, request): (&Person, &Request),
    act: &Act<'_>,
    noted: impl FnOnce() + Send + 'static,
) {
    let actor = Actor::person(person, request);
    let (action, object, id) = (act.action, act.object, act.object_id.clone());
    let name = act.object_name.to_owned();
    drop(services.db.submit(move |tx| {
        let act = Act { action, object, object_id: id, object_name: &name };
        note(tx, &actor, &act, None::<&()>, None::<&()>)?;
        tx.after_commit(noted);
        Ok::<_, DbError>(())
    }));
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
