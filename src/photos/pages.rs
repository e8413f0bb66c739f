//! The photo of a student in the operator's panel.

use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use super::sent;
use super::store::{self, Owner};
use super::views::PhotoPage;
use crate::accounts::frame::layout;
use crate::accounts::{Account, store as accounts};
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::db::ReadTx;
use crate::guard::Person;
use crate::http::answer::Answer;
use crate::http::view;
use crate::http::{Problem, Reply, Request};
use crate::ids::UserId;
use crate::route::Job;

const STUDENTS: &str = "/admin/alunos";

#[derive(Serialize)]
struct Noted<'a> {
    foto: &'a str,
}

fn id_of(request: &Request) -> Result<UserId, Problem> {
    let id = request.variable("id").parse().map(UserId);
    id.map_err(|_| Problem::not_found())
}

fn student(tx: &ReadTx<'_>, id: UserId) -> Result<Account, Problem> {
    accounts::by_id(tx, id)?
        .filter(|account| account.role.is_student())
        .ok_or_else(Problem::not_found)
}

fn page_of(id: UserId) -> String {
    format!("{STUDENTS}/{id}")
}

fn act<'a>(action: &'static str, account: &'a Account) -> Act<'a> {
    Act {
        action,
        object: "aluno",
        object_id: account.user_id.to_string(),
        object_name: &account.name,
    }
}

/// `GET /admin/alunos/{id}/foto`: the form.
pub fn student_photo(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    Reply::page(&form(app, person, request, None)?)
}

fn form(
    app: &App,
    person: &Person,
    request: &Request,
    fault: Option<&str>,
) -> Result<PhotoPage, Problem> {
    let id = id_of(request)?;
    let account = app.db.read(request.lane, |tx| student(tx, id))?;
    let mut file = view::Field::default().fault(fault);
    file.focus = fault.is_some();
    Ok(PhotoPage {
        layout: layout(app, &person.account, request),
        page: page_of(id),
        name: account.name,
        photo: account.photo,
        file,
    })
}

/// `POST /admin/alunos/{id}/foto`: puts a photo in the place of the present one.
pub fn set_student(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = id_of(request)?;
    let photo = match sent(request) {
        Ok(photo) => photo,
        Err(problem) if request.wants_json() || problem.fields.is_empty() => return Err(problem),
        Err(problem) => {
            let fault = problem.fields.first().map(|(_, said)| &**said);
            let page = form(app, person, request, fault)?;
            return Ok(Reply::page(&page)?.status(StatusCode::UNPROCESSABLE_ENTITY));
        }
    };
    let (actor, versions) = (Actor::person(person, request), Arc::clone(&app.versions));
    let address = app.db.write(move |tx| {
        let before = student(tx, id)?;
        let address = store::set(tx, Owner::Person(id), &photo)?;
        let (was, is) = (
            Noted {
                foto: &before.photo,
            },
            Noted { foto: &address },
        );
        audit::note(
            tx,
            &actor,
            &act("aluno.foto", &before),
            Some(&was),
            Some(&is),
        )?;
        tx.after_commit(move || versions.raise(id));
        Ok::<_, Problem>(address)
    })?;
    Answer::to(request).with(&page_of(id), "foto", &[("foto", address.into())])
}

/// `POST /admin/alunos/{id}/foto/excluir`: takes the photo away.
pub fn remove_student(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, answer) = (id_of(request)?, Answer::to(request));
    let (actor, versions) = (Actor::person(person, request), Arc::clone(&app.versions));
    Ok(Box::new(move |tx| {
        let before = student(tx, id)?;
        if store::remove(tx, Owner::Person(id))? {
            let (was, is) = (
                Noted {
                    foto: &before.photo,
                },
                Noted { foto: "" },
            );
            let act = act("aluno.foto_excluir", &before);
            audit::note(tx, &actor, &act, Some(&was), Some(&is))?;
            tx.after_commit(move || versions.raise(id));
        }
        answer.done(id, &page_of(id), "foto_excluida")
    }))
}
