//! The agency's team, its clients and the queue of questions.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::cron::json_of;
use crate::support::people::list;
use crate::support::site::Site;

pub const CLIENTS: &str = "/admin/agencia/clientes";
pub const QUEUE: &str = "/admin/agencia/central-perguntas";
pub const ANSWER: &str = "/admin/agencia/central-perguntas/responder";
pub const REPLIES: &str = "/admin/agencia/respostas";
pub const OWN_REPLIES: &str = "/painel/respostas";

/// The page of a student in the operator's panel.
#[track_caller]
pub fn student(admin: &Actor<'_>, name: &str) -> String {
    let found = list(admin, &format!("/admin/alunos?q={name}@"));
    format!("/admin/alunos/{}", found["dados"][0]["id"].as_str().unwrap())
}

/// Gives a student access to the agency, or takes it away.
#[track_caller]
pub fn permit(admin: &Actor<'_>, name: &str, choice: &str) {
    let path = format!("{}/permissoes", student(admin, name));
    admin.post(&path, &json!({ "agencia": choice })).ok();
}

/// A student with access to the agency.
#[track_caller]
pub fn staff<'s>(site: &'s Site, name: &str) -> Actor<'s> {
    let person = site.person(name);
    permit(&site.administrator(), name, "permitir");
    person
}

/// Rows of the agency that are for administrators alone.
pub fn is_for_administrators(path: &str) -> bool {
    ["/admin/agencia/clientes/{id}/contas", "/admin/agencia/clientes/{id}/excluir"].contains(&path)
}

/// Makes a client with an account that is linked.
#[track_caller]
pub fn client(operator: &Actor<'_>, name: &str, account: u64) -> String {
    let body = json!({ "nome": name, "ml_user_id": account.to_string() });
    let made = operator.post(CLIENTS, &body).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

/// The JSON of the queue.
#[track_caller]
pub fn queue(actor: &Actor<'_>, query: &str) -> Value {
    json_of(actor, &format!("{QUEUE}/json{query}"))
}

pub fn body_of(question: &Value, answer: &str) -> Value {
    json!({ "question_id": question["question_id"], "conta": question["conta"], "answer": answer })
}
