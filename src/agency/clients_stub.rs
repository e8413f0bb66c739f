//! A client by its name, until the clients' own room is there.

use super::{invites, leaving, store, told};
use crate::accounts::Role;
use crate::app::App;
use crate::audit::Actor;
use crate::base::MlUserId;
use crate::base::text::search_key;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::panel::{Answer, Sent};

/// `POST /admin/agencia/clientes`: makes a client, of a student's account or
/// with an invitation.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let name: String = sent.required("nome");
    let account: Option<i64> = sent.optional("ml_user_id");
    sent.finish()?;
    if account.is_some() && person.account.role != Role::Admin {
        return Err(Problem::forbidden("só a administração"));
    }
    let base = invites::address(app, "");
    Ok(Box::new(move |tx| {
        let id: i64 = tx.value(
            "INSERT INTO agency_client (name, search, created_at) VALUES (?1, ?2, ?3) RETURNING client_id",
            (&name, search_key(&name), tx.now()),
        )?;
        let mut made = serde_json::json!({ "ok": true, "id": id.to_string() });
        if let Some(account) = account.map(MlUserId) {
            store::join(tx, id, account)?;
            let joined = store::joined(tx, account)?.ok_or_else(Problem::not_found)?;
            told::joined(tx, joined.owner, &joined.nickname)?;
        } else {
            made["convite"] = format!("{base}{}", invites::renew(tx, id)?).into();
        }
        Ok(Reply::json(&made)?.status(http::StatusCode::CREATED))
    }))
}

/// `POST /admin/agencia/clientes/{id}/excluir`: removes a client.
pub fn remove(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if person.account.role != Role::Admin {
        return Err(Problem::forbidden("só a administração"));
    }
    let client = request.id()?;
    if !leaving::remove_client(app, &Actor::person(person, request), client)? {
        return Err(Problem::not_found());
    }
    Answer::to(request).done(client, "/admin/agencia/clientes", "excluido")
}
