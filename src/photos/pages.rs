//! Photos of others in the operator's panel: of students, staff and teachers.

use http::StatusCode;
use serde_json::json;

use super::store::{self, Owner};
use super::views::PhotoPage;
use super::{PhotoFault, sent};
use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::{App, Visit};
use crate::audit::objects::{Object, STAFF, STUDENT, TEACHER};
use crate::audit::{self, Actor};
use crate::base::UserId;
use crate::content::store::{Topic, note_change};
use crate::content::teachers::Teacher;
use crate::db::{ReadTx, WriteTx};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::Noun as _;
use crate::panel::{Answer, view};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Students,
    Staff,
    Teachers,
}

impl Group {
    /// The group that an address is of.
    fn of(request: &Request) -> Result<Self, Problem> {
        let all = [Self::Students, Self::Staff, Self::Teachers];
        let is_of = |one: &Self| request.path().starts_with(one.words().0.list);
        all.into_iter().find(is_of).ok_or_else(Problem::not_found)
    }

    /// Its kind in the audit log, and the names of both actions there.
    const fn words(self) -> (Object, &'static str, &'static str) {
        match self {
            Self::Students => (STUDENT, "aluno.foto", "aluno.foto_excluir"),
            Self::Staff => (STAFF, "equipe.foto", "equipe.foto_excluir"),
            Self::Teachers => (TEACHER, "professor.foto", "professor.foto_excluir"),
        }
    }
}

/// A person or teacher, with or without a photo.
struct Subject {
    owner: Owner,
    id: i64,
    name: String,
    photo: String,
}

impl Subject {
    /// Finds the person that the path names; not found when the person is of
    /// another group.
    fn find(tx: &ReadTx<'_>, group: Group, id: i64) -> Result<Self, Problem> {
        let found = if group == Group::Teachers {
            Teacher::one(tx, id)?.map(|teacher| Self {
                owner: Owner::Teacher(id),
                id,
                name: teacher.entry.name,
                photo: teacher.photo,
            })
        } else {
            let account = accounts::by_id(tx, UserId(id))?;
            let account = account.filter(|one| one.role.is_student() == (group == Group::Students));
            account.map(|account| Self {
                owner: Owner::Person(account.user_id),
                id,
                name: account.name,
                photo: account.photo,
            })
        };
        found.ok_or_else(Problem::not_found)
    }

    /// Writes the audit log entry, and makes the photo in memory stale.
    fn changed(
        &self,
        tx: &WriteTx<'_>,
        actor: &Actor,
        group: Group,
        action: &'static str,
        photo: &str,
    ) -> Result<(), Problem> {
        let act = group.words().0.act(action, self.id, &self.name);
        let (was, is) = (json!({ "foto": self.photo }), json!({ "foto": photo }));
        audit::note(tx, actor, &act, &was, &is)?;
        if let Owner::Teacher(_) = self.owner {
            note_change(tx, Topic::Teachers)?;
        }
        Ok(())
    }
}

fn page_of(group: Group, id: i64) -> String {
    format!("{}/{id}", group.words().0.list)
}

/// `GET …/{id}/foto`: the form.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    Reply::page(&form((app, person, request), None)?)
}

fn form((app, person, request): Visit<'_>, fault: Option<&str>) -> Result<PhotoPage, Problem> {
    let (group, id) = (Group::of(request)?, request.id()?);
    let subject = app.db.read(request.lane, |tx| Subject::find(tx, group, id))?;
    let mut file = view::Field::default().fault(fault);
    file.focus = fault.is_some();
    Ok(PhotoPage {
        layout: layout(app, person, request),
        page: page_of(group, id),
        name: subject.name,
        photo: subject.photo,
        file,
    })
}

/// `POST …/{id}/foto`: replaces the photo.
pub fn set(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (group, id) = (Group::of(request)?, request.id()?);
    let photo = match sent(request) {
        Ok(photo) => photo,
        Err(problem) if request.wants_json() || problem.fields.is_empty() => return Err(problem),
        Err(problem) => {
            let fault = problem.fields.first().map(|(_, said)| &**said);
            let fault = fault.unwrap_or(PhotoFault::NoPhoto.words());
            let page = form((app, person, request), Some(fault))?;
            return Ok(Reply::page(&page)?.status(StatusCode::UNPROCESSABLE_ENTITY));
        }
    };
    let actor = Actor::person(person, request);
    let address = app.db.write(move |tx| {
        let before = Subject::find(tx, group, id)?;
        let address = store::set(tx, before.owner, &photo)?;
        before.changed(tx, &actor, group, group.words().1, &address)?;
        Ok::<_, Problem>(address)
    })?;
    let page = page_of(group, id);
    Answer::to(request).with(&page, "foto", &[("foto", address.into())])
}

/// `POST …/{id}/foto/excluir`: removes the photo.
pub fn remove(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (group, id, answer) = (Group::of(request)?, request.id()?, Answer::to(request));
    let actor = Actor::person(person, request);
    Ok(Box::new(move |tx| {
        let before = Subject::find(tx, group, id)?;
        if store::remove(tx, before.owner)? {
            before.changed(tx, &actor, group, group.words().2, "")?;
        }
        answer.done(id, &page_of(group, id), "foto_excluida")
    }))
}
