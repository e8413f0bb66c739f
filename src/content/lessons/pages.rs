//! What happens to a lesson besides being written: removed with its marks, and
//! moved in its course.

use super::{Lesson, store};
use crate::app::App;
use crate::audit::objects::COURSE;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::change::act;
use crate::noun::{Change, Noun as _, removed};

/// `POST /admin/aulas/{id}/excluir`: removes a lesson.
pub fn remove(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    app.db.write_pieces(move |tx| store::empty(tx, id))?;
    app.db.write(move |tx| removed::<Lesson>(tx, &change, id))
}

/// `POST /admin/aulas/{id}/subir`: one place towards the start of its course.
pub fn move_up(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    shift(person, request, true)
}

/// `POST /admin/aulas/{id}/descer`: one place towards the end of its course.
pub fn move_down(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    shift(person, request, false)
}

fn shift(person: &Person, request: &Request, up: bool) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = Lesson::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let course = before.entry.course_id;
        store::shift(tx, course, id, up)?;
        let after = Lesson::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let act = act::<Lesson>("aula.mover", id, &before.entry);
        change.note(tx, &act, &before.entry, &after.entry)?;
        let page = format!("{}/{course}", COURSE.list);
        change.answer.done(id, &page, "ordem")
    }))
}
