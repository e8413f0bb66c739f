//! "View as student" in the operator's panel: begin and end.

use serde_json::Value;

use super::acts::Change;
use super::detail;
use super::detail::Refused;
use crate::accounts::person::Group;
use crate::accounts::{store as accounts, viewing};
use crate::app::App;
use crate::audit::Actor;
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Request};
use crate::identity::Person;
use crate::panel::Answer;

/// `POST /admin/alunos/{id}/ver-como`: begins to view the panel as a student.
pub fn begin(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    let reason = match detail::reason((app, person, request), Refused::Viewing)? {
        Ok(reason) => reason,
        Err(again) => return Ok(again),
    };
    let (session, zone) = (person.session, app.zone());
    Ok(Box::new(move |tx| {
        let id = change.find(tx)?.id;
        let student = accounts::by_id(tx, id)?.ok_or_else(Problem::not_found)?;
        if student.suspended {
            let problem = Problem::conflict(ForPeople(
                "A pessoa está suspensa e não vê nada. Reative-a antes.",
            ));
            return change.declined(problem, "esta_suspenso");
        }
        let until = viewing::begin(tx, &change.actor, &session, &student, &reason)?;
        let members = [("id", Value::from(id.to_string())), ("ate", zone.spaced(until).into())];
        change.answer.with("/painel", "", &members)
    }))
}

/// `POST /admin/ver-como/encerrar`: returns to one's own panel.
pub fn end(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let session = person.session;
    Ok(Box::new(move |tx| {
        let page = match viewing::end(tx, &actor, &session)? {
            Some(student) => format!("{}/{student}", Group::Students.path()),
            None => "/admin".to_owned(),
        };
        answer.with(&page, "", &[])
    }))
}
