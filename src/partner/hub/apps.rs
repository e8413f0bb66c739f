//! `…/parceiro/conexoes/{id}/revogar`: disconnects an app.

use super::pages::path_of;
use crate::app::App;
use crate::audit::{self, Actor, objects};
use crate::edge::route::Job;
use crate::http::{Problem, Request};
use crate::identity::Person;
use crate::panel::Answer;
use crate::partner::oauth::store;

/// `POST /painel/parceiro/conexoes/{id}/revogar`: disconnects an app of the
/// caller at once.
pub fn disconnect(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, user) = (request.id()?, person.account.user_id);
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let page = path_of(person);
    Ok(Box::new(move |tx| {
        let name = store::disconnect(tx, user, id)?.ok_or_else(Problem::not_found)?;
        let act = objects::PROGRAM_APP.act("aplicativo.desconectar", id, &name);
        audit::note(tx, &actor, &act, None::<&()>, None::<&()>)?;
        answer.done(id, page, "desconectado")
    }))
}
