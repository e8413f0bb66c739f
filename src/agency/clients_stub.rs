//! A client by its name, until the clients' own room is there.

use super::invites;
use crate::app::App;
use crate::base::text::search_key;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::panel::Sent;

/// `POST /admin/agencia/clientes`: makes a client.
pub fn create(app: &App, _: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let name: String = sent.required("nome");
    sent.finish()?;
    let base = invites::address(app, "");
    Ok(Box::new(move |tx| {
        let id: i64 = tx.value(
            "INSERT INTO agency_client (name, search, created_at) VALUES (?1, ?2, ?3) RETURNING client_id",
            (&name, search_key(&name), tx.now()),
        )?;
        let invitation = format!("{base}{}", invites::renew(tx, id)?);
        let made = serde_json::json!({ "ok": true, "id": id.to_string(), "convite": invitation });
        Ok(Reply::json(&made)?.status(http::StatusCode::CREATED))
    }))
}
