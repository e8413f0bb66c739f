//! A client with its account, until clients have pages of their own.

use crate::agency::store;
use crate::app::App;
use crate::base::MlUserId;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Problem, Request};
use crate::panel::{Answer, Sent};

/// `POST /admin/agencia/clientes`: makes a client with a linked account.
pub fn create(app: &App, _: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let name = sent.line("nome", 1..=120);
    let account = sent.reference("ml_user_id");
    sent.finish()?;
    let to = Answer::to(request);
    Ok(Box::new(move |tx| {
        let id = tx.insert(
            "INSERT INTO agency_client (name, search, created_at) VALUES (?1, lower(?1), ?2)",
            (&name, tx.now()),
        )?;
        if let Some(account) = account
            && !store::join(tx, id, MlUserId(account))?
        {
            return Err(Problem::not_found());
        }
        to.made(id, "/admin/agencia/clientes", "criado")
    }))
}
