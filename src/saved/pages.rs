//! `/visoes`: what a person has kept of a list, and the form that keeps it.

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

use super::views::SavedViewsPage;
use super::{SavedView, store};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::edge::route::{Call, Job, nothing_to_do};
use crate::http::router::Found;
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, address, flashes, view};

const PATH: &str = "/visoes";
/// Longest name, and longest query of an address.
const LONGEST_NAME: usize = 60;
const LONGEST_QUERY: usize = 1_000;

const FLASHES: &[Flash] = flashes! {
    "guardada": good "Visão guardada", "Ela fica aqui, no menu da lista.";
    "removida": good "Visão removida";
};

#[derive(Deserialize)]
struct Query {
    #[serde(default)]
    lista: String,
}

#[derive(Deserialize)]
struct Sent {
    #[serde(default)]
    lista: String,
    #[serde(default)]
    nome: String,
}

#[derive(Serialize)]
struct ViewJson {
    id: i64,
    nome: String,
    endereco: String,
}

/// `GET /visoes`: what is kept of the list in `lista`.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let asked: Query = request.query()?;
    let (path, query) = checked_list(app, &asked.lista)?;
    let page = page(app, person, request, &path, &query)?;
    if request.wants_json() {
        let shown =
            |view: SavedView| ViewJson { id: view.id, endereco: view.href(), nome: view.name };
        return Reply::json(&page.views.into_iter().map(shown).collect::<Vec<_>>());
    }
    Reply::page(&page)
}

/// `POST /visoes`: keeps a list under a name.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let sent: Sent = request.form_or_json()?;
    let mut check = Check::text();
    let list = sent.lista;
    let typed = sent.nome;
    let name = check.line("nome", Field::of(typed.clone()), 1..=LONGEST_NAME);
    let outcome = check.finish();
    let (path, query) = checked_list(app, &list)?;
    let mut page = page(app, person, request, &path, &query)?;
    page.name = view::Field::of(typed);
    if let Err(problem) = outcome {
        page.name = page.name.fault(Some("Dê um nome de até 60 letras."));
        page.name.focus = true;
        return Ok(nothing_to_do(Reply::form_again(request, problem, |_| Ok(page))?));
    }
    let (owner, wants_json) = (person.account.user_id, request.wants_json());
    let answer = Answer::to(request);
    Ok(Box::new(move |tx| {
        if store::keep(tx, owner, &path, &query, &name)? {
            return answer.with(&own_address(&path, &query), "guardada", &[]);
        }
        if wants_json {
            return Err(Problem::field("nome", "there are too many views already"));
        }
        page.name = page.name.fault(Some("Já há visões demais. Remova uma antes."));
        page.name.focus = true;
        Ok(Reply::page(&page)?.status(StatusCode::UNPROCESSABLE_ENTITY))
    }))
}

/// `POST /visoes/{id}/remover`: forgets a view.
pub fn remove(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (owner, id, answer) = (person.account.user_id, request.id()?, Answer::to(request));
    Ok(Box::new(move |tx| {
        let view = store::one(tx, owner, id)?.ok_or_else(Problem::not_found)?;
        store::remove(tx, owner, id)?;
        answer.done(id, &own_address(&view.path, &view.query), "removida")
    }))
}

fn page(
    app: &App,
    person: &Person,
    request: &Request,
    path: &str,
    query: &str,
) -> Result<SavedViewsPage, Problem> {
    let owner = person.account.user_id;
    let views = app.db.read(request.lane, |tx| store::of_list(tx, owner, path))?;
    let layout = layout(app, person, request).telling(FLASHES, request);
    Ok(SavedViewsPage { layout, list: joined(path, query), views, name: view::Field::default() })
}

fn joined(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

fn own_address(path: &str, query: &str) -> String {
    address(PATH, &[("lista", &joined(path, query))])
}

/// Path and query of a list; anything that is no page of ours is not found.
fn checked_list(app: &App, list: &str) -> Result<(String, String), Problem> {
    let (path, query) = list.split_once('?').unwrap_or((list, ""));
    let is_query = query.len() <= LONGEST_QUERY
        && query.bytes().all(|byte| byte.is_ascii_graphic() && !b"#\"<>".contains(&byte));
    let Found::Row(row, _) = app.server.router.find(&Method::GET, path) else {
        return Err(Problem::not_found());
    };
    let is_page = matches!(app.server.routes[row].call, Call::Session(..));
    if is_query && is_page {
        Ok((path.to_owned(), query.to_owned()))
    } else {
        Err(Problem::not_found())
    }
}
