//! Keys made, changed, exchanged and revoked in the panel.

use std::sync::Arc;

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{self, Typed};
use super::pages::{LIST, find, first_call, key_id};
use super::views::KeyMade;
use super::{ApiKey, KeyEntry, LONGEST_OVERLAP_H, MOST_KEYS, State, new_key, store};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::answer::Answer;

/// Hours that an exchanged key goes on working unless others are asked for.
const OVERLAP_H: i64 = 24;

/// `POST /admin/chaves`: makes a key and shows it, this once.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match entry::read(app, request, None) {
        Ok(entry) => entry,
        Err(problem) => return faulty(app, person, request, None, problem),
    };
    let key = new_key();
    let fresh = Fresh { key: &key, entry: &entry, old: None };
    let page = made_page(app, person, request, fresh)?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    Ok(Box::new(move |tx| {
        let id = store::insert(tx, &key, &entry)?.ok_or_else(too_many)?;
        let act = act("chave.criar", id, &entry.name);
        audit::note(tx, &actor, &act, None::<&()>, Some(&entry.noted()))?;
        store::changed(tx, &versions);
        shown_once(answer, id, key, page)
    }))
}

/// `POST /admin/chaves/{id}`: changes what a key may do.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let key = find(app, request)?;
    if key.revoked_at.is_some() {
        return Err(Problem::new(Code::Conflict, "this key is revoked"));
    }
    let entry = match entry::read(app, request, Some(&key)) {
        Ok(entry) => entry,
        Err(problem) => return faulty(app, person, request, Some(&key), problem),
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    Ok(Box::new(move |tx| {
        let before = store::key(tx, key.id)?.ok_or_else(Problem::not_found)?;
        store::update(tx, key.id, &entry)?;
        let act = act("chave.alterar", key.id, &entry.name);
        let before = before.entry().noted();
        audit::note(tx, &actor, &act, Some(&before), Some(&entry.noted()))?;
        store::changed(tx, &versions);
        answer.done(key.id, LIST.path, "alterada")
    }))
}

#[derive(Deserialize)]
struct ExchangeBody {
    #[serde(default)]
    horas: Field<i64>,
}

/// An exchange in the audit log.
#[derive(Serialize)]
struct Exchanged {
    nova: String,
    termina_em: String,
}

/// `POST /admin/chaves/{id}/trocar`: makes a key like this one, which goes on
/// working until the overlap ends.
pub fn exchange(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let key = find(app, request)?;
    if key.state(request.now) != State::Active {
        return Err(not_active());
    }
    let hours = match read_hours(request) {
        Ok(hours) => hours,
        Err(problem) => return faulty(app, person, request, Some(&key), problem),
    };
    let new = new_key();
    let ends_at = request.now.plus(hours * 3600);
    let old = if hours == 0 {
        "A chave anterior já não funciona.".to_owned()
    } else {
        let until = app.zone().page(ends_at);
        format!("A chave anterior funciona até {until}. Troque-a no outro sistema antes disso.")
    };
    let fresh = Fresh { key: &new, entry: &key.entry(), old: Some(old) };
    let page = made_page(app, person, request, fresh)?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    Ok(Box::new(move |tx| {
        // Somebody else may have been quicker.
        let key = store::key(tx, key.id)?.ok_or_else(Problem::not_found)?;
        if key.state(tx.now()) != State::Active {
            return Err(not_active());
        }
        let entry = key.entry();
        let id = store::insert(tx, &new, &entry)?.ok_or_else(too_many)?;
        store::replace(tx, key.id, id, ends_at)?;
        let made = act("chave.criar", id, &entry.name);
        audit::note(tx, &actor, &made, None::<&()>, Some(&entry.noted()))?;
        let after = Exchanged { nova: id.to_string(), termina_em: ends_at.rfc3339() };
        let exchanged = act("chave.trocar", key.id, &entry.name);
        audit::note(tx, &actor, &exchanged, Some(&entry.noted()), Some(&after))?;
        store::changed(tx, &versions);
        shown_once(answer, id, new, page)
    }))
}

fn read_hours(request: &Request) -> Result<i64, Problem> {
    // A program may send nothing at all.
    if request.body.is_empty() {
        return Ok(OVERLAP_H);
    }
    let body: ExchangeBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let hours = check.number("horas", body.horas, 0..=LONGEST_OVERLAP_H);
    check.finish()?;
    Ok(hours.unwrap_or(OVERLAP_H))
}

/// `POST /admin/chaves/{id}/excluir`: revokes a key. Its row stays, for who
/// looks back.
pub fn revoke(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = key_id(request)?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    Ok(Box::new(move |tx| {
        let key = store::key(tx, id)?.ok_or_else(Problem::not_found)?;
        if store::revoke(tx, id)? {
            let act = act("chave.revogar", id, &key.name);
            audit::note(tx, &actor, &act, Some(&key.entry().noted()), None::<&()>)?;
            store::changed(tx, &versions);
        }
        answer.done(id, LIST.path, "revogada")
    }))
}

fn act<'a>(action: &'static str, id: i64, name: &'a str) -> Act<'a> {
    Act { action, object: "chave", object_id: id.to_string(), object_name: name }
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
    /// What becomes of the key it was exchanged for.
    old: Option<String>,
}

/// The page that shows a browser its new key; `None` for programs.
fn made_page(
    app: &App,
    person: &Person,
    request: &Request,
    fresh: Fresh<'_>,
) -> Result<Option<Reply>, Problem> {
    if request.wants_json() {
        return Ok(None);
    }
    let Fresh { key, entry, old } = fresh;
    let (example_title, example) = first_call(app, &entry.scopes, key);
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

/// The answer with the key in it, which nobody keeps.
fn shown_once(answer: Answer, id: i64, key: String, page: Option<Reply>) -> Result<Reply, Problem> {
    if let Some(page) = page {
        return Ok(page);
    }
    let members = [("id", Value::from(id.to_string())), ("chave", Value::from(key))];
    let reply = answer.with(LIST.path, "criada", &members)?;
    Ok(reply.status(StatusCode::CREATED))
}

/// A browser gets the form again with what is wrong; a program the error.
fn faulty(
    app: &App,
    person: &Person,
    request: &Request,
    key: Option<&ApiKey>,
    problem: Problem,
) -> Result<Job, Problem> {
    if request.wants_json() || problem.fields.is_empty() {
        return Err(problem);
    }
    let exchanging = problem.fields.iter().any(|(name, _)| name == "horas");
    let typed = match key {
        Some(key) if exchanging => Typed::of(key, app.zone()).with_hours(request),
        _ => Typed::sent(request),
    };
    let page = typed.form(app, person, request, key);
    let page = Reply::page(&page.faulty(&problem.fields))?.status(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(Box::new(move |_| Ok(page)))
}
