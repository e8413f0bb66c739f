//! Everything an operator needs of one person, on one page.

use super::acts::{find, group_of};
use super::entry;
use super::pages::{FLASHES, new_page, reach};
use super::roles::{self, StudentPermission};
use super::store;
use super::views::PersonPage;
use crate::accounts::page_layout::layout;
use crate::accounts::person::{Group, Listed, PersonStatus, WirePerson};
use crate::app::{App, Visit};
use crate::audit::log::{self, store as trails};
use crate::audit::looks::look;
use crate::base::UserId;
use crate::edge::route::Job;
use crate::http::{Fields, Problem, Reply, Request};
use crate::identity::{Person, SESSION_AGE_S, SESSION_IDLE_S};
use crate::marketplace::account::store::{self as marketplace, LinkedAccount};
use crate::outbox::{self, QueuedMessage};
use crate::panel::form;
use crate::panel::view::address;
use crate::panel::{PageTime, Sent, view};

/// Rows of each section; the lists themselves are elsewhere.
const ROWS: u32 = 10;

/// `GET /admin/alunos/{id}` and `GET /admin/equipe/{id}`; `novo` for the form of a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let group = group_of(request);
    if request.variable("id") == "novo" {
        if request.wants_json() {
            return Err(Problem::not_found());
        }
        let form = group.form().show(None, app.zone()).unfocused();
        return new_page((app, person, request), form);
    }
    if request.wants_json() {
        let id = UserId(request.id()?);
        let shown = app.db.read(request.lane, |tx| find(tx, group, id))?;
        looked(app, person, request, (group, &shown));
        return Reply::json(&WirePerson::of(shown, app.zone()));
    }
    page((app, person, request), Refused::Nothing, &Vec::new())
}

/// Notes that somebody of the staff saw a person's data.
fn looked(app: &App, person: &Person, request: &Request, (group, seen): (Group, &Listed)) {
    let action = match group {
        Group::Students => "aluno.consultar",
        Group::Staff => "equipe.consultar",
    };
    let act = group.object().act(action, seen.id, &seen.entry.nome);
    look(app, (person, request), &act);
}

/// What is stored of a person and shown on their page.
pub struct Stored {
    pub person: Listed,
    /// Why the person is suspended; empty while it is not.
    pub suspended_for: String,
    /// Open sessions.
    pub sessions: Vec<store::Session>,
    /// What a student may do; empty for others.
    pub permissions: Vec<StudentPermission>,
    pub accounts: Vec<LinkedAccount>,
    /// The newest messages to the person.
    pub messages: Vec<QueuedMessage>,
    /// The newest entries of the audit log about the person.
    pub trail: Vec<log::AuditEntry>,
}

/// Which form of the page was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Nothing,
    Fields,
    Suspension,
    Viewing,
}

/// Reads the reason for an action on a person. Without a valid one, the page is
/// shown again with an error in the form that `refused` names.
pub fn reason(
    (app, person, request): Visit<'_>,
    refused: Refused,
) -> Result<Result<String, Job>, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let reason = sent.line("motivo", 3..=200);
    match sent.finish() {
        Ok(()) => Ok(Ok(reason)),
        Err(problem) => again((app, person, request), refused, problem).map(Err),
    }
}

/// The page again with what is wrong in one of its forms.
pub fn again(visit: Visit<'_>, refused: Refused, problem: Problem) -> Result<Job, Problem> {
    form::show_again(visit.2, problem, |faults| page(visit, refused, faults))
}

/// The page, with stored values or with a form that was rejected.
fn page(visit: Visit<'_>, refused: Refused, faults: &Fields) -> Result<Reply, Problem> {
    let ((app, person, request), group) = (visit, group_of(visit.2));
    let (id, now) = (UserId(request.id()?), request.now);
    let stored = app.db.read(request.lane, |tx| {
        let person = find(tx, group, id)?;
        let (opened, used) = (now.minus(SESSION_AGE_S), now.minus(SESSION_IDLE_S));
        Ok::<_, Problem>(Stored {
            suspended_for: store::suspended_for(tx, id)?.unwrap_or_default(),
            sessions: store::open_sessions(tx, id, opened, used, ROWS)?,
            permissions: match group {
                Group::Students => roles::of_student(tx, id, person.entry.papel)?,
                Group::Staff => Vec::new(),
            },
            accounts: marketplace::linked_accounts(tx, id)?,
            messages: outbox::newest_to(tx, id, ROWS)?,
            trail: trails::about_person(tx, id, ROWS)?,
            person,
        })
    })?;
    looked(app, person, request, (group, &stored.person));
    let form = match refused {
        Refused::Fields => entry::again(group, request, faults),
        _ => group.form().show(Some(&stored.person.entry), app.zone()),
    };
    let reason = |is_refused: bool| {
        let fault = is_refused.then_some("Diga o motivo, com 3 a 200 letras.");
        view::Field { focus: is_refused, ..view::Field::default() }.fault(fault)
    };
    let suspended = stored.person.status == PersonStatus::Suspended;
    Reply::page(&PersonPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        path: group.path(),
        words: group.words(),
        fields: entry::fields(app, group, form),
        reason: reason(refused == Refused::Suspension),
        view_reason: reason(refused == Refused::Viewing),
        can_view: group == Group::Students && !suspended,
        reach: if suspended {
            "A pessoa está suspensa; reative antes de enviar um link."
        } else {
            reach(app, stored.person.entry.chat_number.is_some())
        },
        shows_accounts: group == Group::Students || !stored.accounts.is_empty(),
        trail_href: address("/admin/auditoria", &[("q", &stored.person.entry.nome)]),
        stored,
        time: PageTime { zone: app.zone(), now },
    })
}
