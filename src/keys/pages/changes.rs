//! Making, changing, exchanging and revoking keys in the panel.

use http::StatusCode;
use serde_json::{Value, json};

use super::{LIST, first_call};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::objects::KEY;
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::keys::entry::{EXCHANGE, FORM, Overlap, scope_ticks};
use crate::keys::views::KeyMade;
use crate::keys::{ApiKey, KeyEntry, KeyState, MOST_KEYS, entry, new_key, store};
use crate::noun::{Change, Found, Noun as _};
use crate::panel::{Answer, form};
use crate::services::Services;

/// `POST /admin/chaves`: makes a key and shows it once.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = Found::<ApiKey>::read(app, request, None)?;
    let entry = match found.entered((app, person, request))? {
        Ok(entered) => entered.entry,
        Err(again) => return Ok(again),
    };
    let key = new_key();
    let page = made_page((app, person, request), &key, &entry, None)?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let id = store::insert(tx, &key, &entry)?.ok_or_else(too_many)?;
        change.note(tx, &KEY.act(KEY.created, id, &entry.name), (), &entry)?;
        shown_once(change.answer, id, key, page)
    }))
}

/// `POST /admin/chaves/{id}/trocar`: makes a new key with the same data. The
/// old key works until the overlap ends.
pub fn exchange(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let key = app.db.read(request.lane, |tx| ApiKey::one(tx, id))?;
    let key = key.ok_or_else(Problem::not_found)?;
    if key.state(request.now) != KeyState::Active {
        return Err(not_active());
    }
    let hours = match read_hours(app, request) {
        Ok(hours) => hours,
        Err(problem) => return faulty((app, person, request), key, problem),
    };
    let new = new_key();
    let ends_at = request.now.plus(hours * 3600);
    let old = if hours == 0 {
        "A chave anterior já não funciona.".to_owned()
    } else {
        let until = app.zone().page(ends_at);
        format!("A chave anterior funciona até {until}. Troque-a no outro sistema antes disso.")
    };
    let page = made_page((app, person, request), &new, &key.entry, Some(old))?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        // Another person may have exchanged it first.
        let key = ApiKey::one(tx, key.id)?.ok_or_else(Problem::not_found)?;
        if key.state(tx.now()) != KeyState::Active {
            return Err(not_active());
        }
        let entry = key.entry;
        let id = store::insert(tx, &new, &entry)?.ok_or_else(too_many)?;
        store::replace(tx, key.id, id, ends_at)?;
        change.note(tx, &KEY.act(KEY.created, id, &entry.name), (), &entry)?;
        let after = json!({ "nova": id.to_string(), "termina_em": ends_at.rfc3339() });
        change.note(tx, &KEY.act("chave.trocar", key.id, &entry.name), &entry, &after)?;
        shown_once(change.answer, id, new, page)
    }))
}

fn read_hours(services: &Services, request: &Request) -> Result<i64, Problem> {
    // A program may send an empty body.
    if request.body.is_empty() {
        return Ok(Overlap::default().0);
    }
    EXCHANGE.entry(request, services.zone(), None).map(|overlap| overlap.0)
}

/// `POST /admin/chaves/{id}/excluir`: revokes a key. Its row stays, so that it
/// can still be looked up.
pub fn revoke(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let key = ApiKey::one(tx, id)?.ok_or_else(Problem::not_found)?;
        if store::revoke(tx, id)? {
            change.note(tx, &KEY.act("chave.revogar", id, &key.entry.name), &key.entry, ())?;
        }
        change.answer.done(id, LIST.path, "revogada")
    }))
}

fn too_many() -> Problem {
    let message = format!("Já há {MOST_KEYS} chaves em vigor, o máximo. Revogue alguma antes.");
    Problem::conflict(ForPeople(message))
}

fn not_active() -> Problem {
    Problem::conflict(ForPeople("Só se troca uma chave em vigor que ainda não foi trocada."))
}

/// The page that shows a browser its new key; `None` for programs. `old` says what
/// happens to the key that it replaces.
fn made_page(
    (app, person, request): Visit<'_>,
    key: &str,
    entry: &KeyEntry,
    old: Option<String>,
) -> Result<Option<Reply>, Problem> {
    if request.wants_json() {
        return Ok(None);
    }
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

/// The page of a key again, when the hours of an exchange are wrong; a program
/// gets the error.
fn faulty(visit: Visit<'_>, key: ApiKey, problem: Problem) -> Result<Job, Problem> {
    let (app, _, request) = visit;
    form::show_again(request, problem, |faults| {
        let ticks = scope_ticks(|scope| key.entry.scopes.0.contains(&scope));
        let form = FORM.show(Some(&key.entry), app.zone());
        let exchange = EXCHANGE.again(request, faults);
        Reply::page(&entry::page(visit, Some(key), form, ticks, exchange))
    })
}
