//! Making, changing, exchanging and revoking keys in the panel.

use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use super::entry::{self, EXCHANGE, FORM, Overlap, scope_ticks};
use super::pages::{LIST, find, first_call};
use super::views::KeyMade;
use super::{ApiKey, KeyEntry, KeyState, MOST_KEYS, Scope, new_key, store};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::Versions;
use crate::db::{DbError, WriteTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::{Answer, Visit, form};

/// What a change needs besides its data.
struct Change {
    answer: Answer,
    actor: Actor,
    versions: Arc<Versions>,
}

impl Change {
    fn of(app: &App, person: &Person, request: &Request) -> Self {
        Self {
            answer: Answer::to(request),
            actor: Actor::person(person, request),
            versions: Arc::clone(&app.versions),
        }
    }

    /// Writes the audit log entry, and makes keys in memory stale after the
    /// commit.
    fn note(
        &self,
        tx: &WriteTx<'_>,
        (action, id, name): (&'static str, i64, &str),
        before: Option<&KeyEntry>,
        after: Option<&impl Serialize>,
    ) -> Result<(), DbError> {
        let act = Act { action, object: "chave", object_id: id.to_string(), object_name: name };
        audit::note(tx, &self.actor, &act, before, after)?;
        store::changed(tx, &self.versions);
        Ok(())
    }
}

/// `POST /admin/chaves`: makes a key and shows it once.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match entry::read(app, request, None) {
        Ok(entry) => entry,
        Err(problem) => return faulty((app, person, request), None, problem),
    };
    let key = new_key();
    let fresh = Fresh { key: &key, entry: &entry, old: None };
    let page = made_page((app, person, request), fresh)?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let id = store::insert(tx, &key, &entry)?.ok_or_else(too_many)?;
        change.note(tx, ("chave.criar", id, &entry.name), None, Some(&entry))?;
        shown_once(change.answer, id, key, page)
    }))
}

/// `POST /admin/chaves/{id}`: changes what a key may do.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let key = find(app, request)?;
    if key.revoked_at.is_some() {
        return Err(Problem::new(Code::Conflict, "this key is revoked"));
    }
    let entry = match entry::read(app, request, Some(&key.entry)) {
        Ok(entry) => entry,
        Err(problem) => return faulty((app, person, request), Some(&key), problem),
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::key(tx, key.id)?.ok_or_else(Problem::not_found)?;
        store::update(tx, key.id, &entry)?;
        let about = ("chave.alterar", key.id, &*entry.name);
        change.note(tx, about, Some(&before.entry), Some(&entry))?;
        change.answer.done(key.id, LIST.path, "alterada")
    }))
}

/// An exchange in the audit log.
#[derive(Serialize)]
struct Exchanged {
    nova: String,
    termina_em: String,
}

/// `POST /admin/chaves/{id}/trocar`: makes a new key with the same data. The
/// old key works until the overlap ends.
pub fn exchange(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let key = find(app, request)?;
    if key.state(request.now) != KeyState::Active {
        return Err(not_active());
    }
    let hours = match read_hours(app, request) {
        Ok(hours) => hours,
        Err(problem) => return faulty((app, person, request), Some(&key), problem),
    };
    let new = new_key();
    let ends_at = request.now.plus(hours * 3600);
    let old = if hours == 0 {
        "A chave anterior já não funciona.".to_owned()
    } else {
        let until = app.zone().page(ends_at);
        format!("A chave anterior funciona até {until}. Troque-a no outro sistema antes disso.")
    };
    let fresh = Fresh { key: &new, entry: &key.entry, old: Some(old) };
    let page = made_page((app, person, request), fresh)?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        // Another person may have exchanged it first.
        let key = store::key(tx, key.id)?.ok_or_else(Problem::not_found)?;
        if key.state(tx.now()) != KeyState::Active {
            return Err(not_active());
        }
        let entry = key.entry;
        let id = store::insert(tx, &new, &entry)?.ok_or_else(too_many)?;
        store::replace(tx, key.id, id, ends_at)?;
        change.note(tx, ("chave.criar", id, &entry.name), None, Some(&entry))?;
        let after = Exchanged { nova: id.to_string(), termina_em: ends_at.rfc3339() };
        let about = ("chave.trocar", key.id, &*entry.name);
        change.note(tx, about, Some(&entry), Some(&after))?;
        shown_once(change.answer, id, new, page)
    }))
}

fn read_hours(app: &App, request: &Request) -> Result<i64, Problem> {
    // A program may send an empty body.
    if request.body.is_empty() {
        return Ok(Overlap::default().0);
    }
    EXCHANGE.entry(request, app.zone(), None).map(|overlap| overlap.0)
}

/// `POST /admin/chaves/{id}/excluir`: revokes a key. Its row stays, so that it
/// can still be looked up.
pub fn revoke(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let key = store::key(tx, id)?.ok_or_else(Problem::not_found)?;
        if store::revoke(tx, id)? {
            let about = ("chave.revogar", id, &*key.entry.name);
            change.note(tx, about, Some(&key.entry), None::<&()>)?;
        }
        change.answer.done(id, LIST.path, "revogada")
    }))
}

fn too_many() -> Problem {
    let message = format!("there are {MOST_KEYS} keys in force already; revoke some first");
    Problem::new(Code::Conflict, message)
}

fn not_active() -> Problem {
    let message = "only a key in force that was not exchanged yet can be exchanged";
    Problem::new(Code::Conflict, message)
}

/// A key that was just made, for showing it.
struct Fresh<'k> {
    key: &'k str,
    entry: &'k KeyEntry,
    /// What happens to the key that it replaces.
    old: Option<String>,
}

/// The page that shows a browser its new key; `None` for programs.
fn made_page(visit: Visit<'_>, fresh: Fresh<'_>) -> Result<Option<Reply>, Problem> {
    let (app, person, request) = visit;
    if request.wants_json() {
        return Ok(None);
    }
    let Fresh { key, entry, old } = fresh;
    let (example_title, example) = first_call(app, &entry.scopes.0, key);
    let page = KeyMade {
        layout: layout(app, person, request),
        name: entry.name.clone(),
        key: key.to_owned(),
        old,
        example_title,
        example,
    };
    Reply::page(&page).map(Some)
}

/// The answer with the key in it, which is not stored anywhere.
fn shown_once(answer: Answer, id: i64, key: String, page: Option<Reply>) -> Result<Reply, Problem> {
    if let Some(page) = page {
        return Ok(page);
    }
    let members = [("id", Value::from(id.to_string())), ("chave", Value::from(key))];
    let reply = answer.with(LIST.path, "criada", &members)?;
    Ok(reply.status(StatusCode::CREATED))
}

/// A browser gets the form again with what is wrong; a program the error.
fn faulty(visit: Visit<'_>, key: Option<&ApiKey>, problem: Problem) -> Result<Job, Problem> {
    let (app, person, request) = visit;
    form::show_again(request, problem, |faults| {
        let exchanging = faults.iter().any(|(name, _)| name == "horas");
        let parts = if let Some(key) = key.filter(|_| exchanging) {
            let ticks = scope_ticks(|scope| key.entry.scopes.0.contains(&scope));
            let form = FORM.show(Some(&key.entry), app.zone());
            (form, ticks, EXCHANGE.again(request, faults))
        } else {
            let sent =
                |scope: Scope| form::all_sent(request, "escopos").any(|name| name == scope.name());
            let exchange = EXCHANGE.show(Some(&Overlap::default()), app.zone());
            (FORM.again(request, faults), scope_ticks(sent), exchange)
        };
        let page = entry::page((app, person, request), key, parts);
        Reply::page(&page)
    })
}
