//! Looks of staff at personal data, in the audit log: at a person's page, at a
//! purchase, at lists as files and as JSON, at the file with everything. The same
//! look of the same person is noted once an hour, so that looking cannot flood the
//! log; a file is noted each time.

use super::{Act, Actor, note};
use crate::app::App;
use crate::db::DbError;
use crate::http::Request;
use crate::identity::Person;
use crate::services::Services;

/// Notes a look, unless the same was noted within the hour. The page does not wait
/// for it.
pub fn look(app: &App, person: &Person, request: &Request, act: &Act<'_>) {
    let key = (person.account.user_id.0, act.action, act.object_id.clone());
    if let Some(look) = app.callers.looks.remember(key, request.now) {
        submit(app, person, request, act, move || look.noted());
    }
}

/// [`look`] at something without a name.
pub fn record(
    app: &App,
    person: &Person,
    request: &Request,
    action: &'static str,
    object: &'static str,
    id: i64,
) {
    look(app, person, request, &Act { action, object, object_id: id.to_string(), object_name: "" });
}

/// Notes that somebody took a whole list along as a file.
pub fn file(
    services: &Services,
    person: &Person,
    request: &Request,
    action: &'static str,
    object: &'static str,
) {
    submit(services, person, request, &whole(action, object), || ());
}

/// Notes that somebody read a list as JSON, where a page has a hundred people.
pub fn list(
    app: &App,
    person: &Person,
    request: &Request,
    action: &'static str,
    object: &'static str,
) {
    look(app, person, request, &whole(action, object));
}

/// About all of a kind.
const fn whole(action: &'static str, object: &'static str) -> Act<'static> {
    Act { action, object, object_id: String::new(), object_name: "" }
}

fn submit(
    services: &Services,
    person: &Person,
    request: &Request,
    act: &Act<'_>,
    noted: impl FnOnce() + Send + 'static,
) {
    let actor = Actor::person(person, request);
    let (action, object, id) = (act.action, act.object, act.object_id.clone());
    let name = act.object_name.to_owned();
    drop(services.db.submit(move |tx| {
        let act = Act { action, object, object_id: id, object_name: &name };
        note(tx, &actor, &act, (), ())?;
        tx.after_commit(noted);
        Ok::<_, DbError>(())
    }));
}
