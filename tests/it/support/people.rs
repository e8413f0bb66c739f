//! People in the operator's panel.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};

/// A list as JSON.
#[track_caller]
pub fn list(admin: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    admin.send(request).ok()
}

/// A page as a browser asks for it.
#[track_caller]
pub fn page(actor: &Actor<'_>, target: &str) -> Reply {
    actor.send(Request::new("GET", target).header("Accept", "text/html"))
}

/// Makes a student in the panel and returns the id.
#[track_caller]
pub fn make(admin: &Actor<'_>, name: &str, email: &str, plan: &str) -> String {
    let body =
        json!({ "nome": name, "email": email, "plano": plan, "chat_number": "5511912345678" });
    let made = admin.post("/admin/alunos", &body).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

#[track_caller]
pub fn names(admin: &Actor<'_>, query: &str) -> Vec<String> {
    let listed = list(admin, &format!("/admin/alunos?{query}"));
    let rows = listed["dados"].as_array().unwrap();
    assert!(listed["total"].as_u64().unwrap() >= rows.len() as u64);
    rows.iter().map(|row| row["nome"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
pub fn faults(reply: &Reply) -> String {
    let body = reply.json();
    let mut names: Vec<&String> = body["fields"].as_object().unwrap().keys().collect();
    names.sort();
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}
