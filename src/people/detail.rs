//! Everything an operator needs of one person, on one page.

use super::acts::{find, id_of};
use super::entry;
use super::pages::{FLASHES, new_form, reach, row};
use super::views::{AccountRow, Fact, MessageRow, PermissionRow, PersonPage, SessionRow, TrailRow};
use super::{roles, store};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::accounts::person::{Group, Listed, PersonStatus, WirePerson};
use crate::app::{App, Visit};
use crate::audit::log::{self, store as trails};
use crate::audit::looks::look;
use crate::base::{Instant, UserId};
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Fields, Problem, Reply, Request};
use crate::identity::{Person, SESSION_AGE_S, SESSION_IDLE_S};
use crate::marketplace::account::store::{self as marketplace, LinkedAccount};
use crate::messages::queue;
use crate::outbox::{self, QueuedMessage};
use crate::panel::view::address;
use crate::panel::{Badge, Sent, When, view};
use crate::profile::devices;
use crate::services::Services;

/// Rows of each section; the lists themselves are elsewhere.
const ROWS: u32 = 10;

/// `GET /admin/alunos/{id}`; `novo` for the form of a new one.
pub fn student(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    show(app, person, request, Group::Students)
}

/// `GET /admin/equipe/{id}`; `novo` for the form of a new one.
pub fn staff(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    show(app, person, request, Group::Staff)
}

fn show(app: &App, person: &Person, request: &Request, group: Group) -> Result<Reply, Problem> {
    if request.variable("id") == "novo" {
        return new_form((app, person, request), group);
    }
    if request.wants_json() {
        let id = id_of(request)?;
        let shown = app.db.read(request.lane, |tx| find(tx, group, id))?;
        looked(app, person, request, (group, &shown));
        return Reply::json(&WirePerson::of(shown, app.zone()));
    }
    page((app, person, request), group, (Refused::Nothing, &Vec::new()))
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

struct Stored {
    person: Listed,
    suspended_for: String,
    sessions: Vec<store::Session>,
    permissions: Vec<PermissionRow>,
    accounts: Vec<LinkedAccount>,
    messages: Vec<QueuedMessage>,
    trail: Vec<log::AuditEntry>,
}

fn read(
    services: &Services,
    request: &Request,
    group: Group,
    id: UserId,
) -> Result<Stored, Problem> {
    services.db.read(request.lane, |tx| {
        let person = find(tx, group, id)?;
        let (opened, used) = (request.now.minus(SESSION_AGE_S), request.now.minus(SESSION_IDLE_S));
        Ok(Stored {
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
    })
}

/// Which form of the page was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Nothing,
    /// The data of the person.
    Fields,
    /// The reason of a suspension.
    Suspension,
    /// The reason for viewing the panel as this person.
    Viewing,
}

/// Reads the reason for an action on a person. Without a valid one, the page is
/// shown again with an error in the form that `refused` names.
pub fn reason(
    (app, person, request): Visit<'_>,
    (group, refused): (Group, Refused),
) -> Result<Result<String, Job>, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let reason = sent.line("motivo", 3..=200);
    match sent.finish() {
        Ok(()) => Ok(Ok(reason)),
        Err(problem) => again((app, person, request), (group, refused), problem).map(Err),
    }
}

/// A browser gets the page again with what is wrong; a program the error.
pub fn again(
    (app, person, request): Visit<'_>,
    (group, refused): (Group, Refused),
    problem: Problem,
) -> Result<Job, Problem> {
    if request.wants_json() || problem.fields.is_empty() {
        return Err(problem);
    }
    let status = problem.code.status(request.family);
    Ok(nothing_to_do(
        page((app, person, request), group, (refused, &problem.fields))?.status(status),
    ))
}

/// The page, with stored values or with a form that was rejected.
pub fn page(
    (app, person, request): Visit<'_>,
    group: Group,
    (refused, faults): (Refused, &Fields),
) -> Result<Reply, Problem> {
    let stored = read(app, request, group, id_of(request)?)?;
    looked(app, person, request, (group, &stored.person));
    let when = |at: Instant| When::new(app.zone(), at, request.now);
    let form = match refused {
        Refused::Fields => entry::again(group, request, faults),
        _ => group.form().show(Some(&stored.person.entry), app.zone()),
    };
    let reason = |is_refused: bool| {
        let fault = is_refused.then_some("Diga o motivo, com 3 a 200 letras.");
        view::Field { focus: is_refused, ..view::Field::default() }.fault(fault)
    };
    let facts = facts(app, group, &stored.person, request.now);
    let suspended = stored.person.status == PersonStatus::Suspended;
    Reply::page(&PersonPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        path: group.path(),
        words: group.words(),
        facts,
        suspended_for: stored.suspended_for,
        fields: entry::fields(app, group, form),
        reason: reason(refused == Refused::Suspension),
        view_reason: reason(refused == Refused::Viewing),
        can_view: group == Group::Students && !suspended,
        has_api: stored.person.entry.papel != Role::Admin,
        reach: if suspended {
            "A pessoa está suspensa; reative antes de enviar um link."
        } else {
            reach(app, stored.person.entry.chat_number.is_some())
        },
        sessions: stored
            .sessions
            .into_iter()
            .map(|one| SessionRow {
                address: one.address,
                device: devices::in_words(&one.user_agent),
                opened: when(one.created_at),
                used: when(one.last_seen_at),
            })
            .collect(),
        permissions: stored.permissions,
        shows_accounts: group == Group::Students || !stored.accounts.is_empty(),
        accounts: stored.accounts.into_iter().map(|one| account_row(one, &when)).collect(),
        messages: stored.messages.iter().map(|one| message_row(one, &when)).collect(),
        trail: stored.trail.iter().map(|one| trail_row(one, &when)).collect(),
        trail_href: address("/admin/auditoria", &[("q", &stored.person.entry.nome)]),
        person: row(app, stored.person, request.now),
    })
}

fn account_row(account: LinkedAccount, when: &impl Fn(Instant) -> When) -> AccountRow {
    AccountRow {
        nickname: account.nickname,
        number: account.ml_user_id.to_string(),
        state: if account.token_ok { Badge::Linked } else { Badge::LinkLost },
        linked: when(account.linked_at),
    }
}

fn message_row(message: &QueuedMessage, when: &impl Fn(Instant) -> When) -> MessageRow {
    MessageRow {
        title: outbox::kind_words(&message.kind).to_owned(),
        channel: outbox::channel_words(&message.channel).to_owned(),
        state: queue::badge(message.state),
        note: message.outcome.clone().unwrap_or_default(),
        queued: when(message.created_at),
    }
}

fn trail_row(entry: &log::AuditEntry, when: &impl Fn(Instant) -> When) -> TrailRow {
    TrailRow {
        title: entry.title(),
        actor: entry.actor_name.clone(),
        href: format!("/admin/auditoria/{}", entry.id),
        at: when(entry.at),
    }
}

fn facts(services: &Services, group: Group, person: &Listed, now: Instant) -> Vec<Fact> {
    let fact = |label, value: String, note: &str| Fact { label, value, note: note.to_owned() };
    let when = |at: Instant| services.zone().page(at);
    let mut facts = vec![
        fact("E-mail", person.entry.email.clone(), ""),
        fact(
            "Chat",
            person.entry.chat_number.clone().unwrap_or_else(|| "sem número".to_owned()),
            "",
        ),
        fact("Cadastro", when(person.created_at), ""),
        fact("Último acesso", person.last_access_at.map_or_else(|| "nunca".to_owned(), when), ""),
    ];
    if group == Group::Staff {
        return facts; // Staff buy nothing.
    }
    if let Some(until) = person.paid_until {
        let note = if until < now { "Já passou; só isso não fecha o acesso." } else { "" };
        facts.push(fact("Pago até", when(until), note));
    }
    if person.disputed {
        facts.push(fact(
            "Disputa",
            "há um pagamento em disputa".to_owned(),
            "O acesso continua até que se resolva.",
        ));
    }
    facts
}
