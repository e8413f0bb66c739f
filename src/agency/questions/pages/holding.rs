//! The two calls by which a page says who is answering which question (`holds.rs`).

use serde::Serialize;
use serde_json::json;

use crate::agency::questions::store;
use crate::app::App;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;

/// `POST /admin/agencia/central-perguntas/{id}/assumir`: says that the caller
/// answers a question.
pub fn take(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| store::joined(tx, id))?;
    found.ok_or_else(Problem::not_found)?;
    let account = &person.account;
    let com = app.work.holds.take(id, account.user_id, &account.name, request.now);
    // Who answers it already; null when it is the caller.
    Reply::ok(&json!({ "com": com }))
}

#[derive(Serialize)]
struct WireHold {
    question_id: String,
    nome: String,
}

/// `GET /admin/agencia/central-perguntas/atendendo`: what others answer now.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let others = app.work.holds.of_others(person.account.user_id, request.now).into_iter();
    let atendendo = others.map(|(id, nome)| WireHold { question_id: id.to_string(), nome });
    Reply::ok(&json!({ "atendendo": atendendo.collect::<Vec<_>>() }))
}
