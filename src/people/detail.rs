//! Everything an operator needs of one person, on one page.

use super::acts::{find, id_of};
use super::entry::{Entry, Shown, Typed};
use super::pages::{new_form, notice, reach, row};
use super::views::{AccountRow, Fact, MessageRow, PermissionRow, PersonPage, SessionRow, TrailRow};
use super::{Group, Listed, Standing, WirePerson, roles, store};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::log::{self, store as trails};
use crate::base::clock::Instant;
use crate::base::ids::UserId;
use crate::edge::guard::{Person, SESSION_AGE_S, SESSION_IDLE_S};
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::store::{self as marketplace, LinkedAccount};
use crate::messages::queue;
use crate::outbox::{self, Queued};
use crate::panel::view::{self, Badge, When, address};
use crate::profile::devices;

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
        return new_form(app, person, request, group);
    }
    if request.wants_json() {
        let id = id_of(request)?;
        let shown = app.db.read(request.lane, |tx| find(tx, group, id))?;
        return Reply::json(&WirePerson::of(shown, app.zone()));
    }
    let shown = Shown { typed: None, faults: &Vec::new() };
    page(app, person, request, group, shown)
}

struct Stored {
    person: Listed,
    suspended_for: String,
    sessions: Vec<store::Session>,
    permissions: Vec<PermissionRow>,
    accounts: Vec<LinkedAccount>,
    messages: Vec<Queued>,
    trail: Vec<log::Entry>,
}

fn read(app: &App, request: &Request, group: Group, id: UserId) -> Result<Stored, Problem> {
    app.db.read(request.lane, |tx| {
        let person = find(tx, group, id)?;
        let (opened, used) = (request.now.minus(SESSION_AGE_S), request.now.minus(SESSION_IDLE_S));
        Ok(Stored {
            suspended_for: store::suspended_for(tx, id)?.unwrap_or_default(),
            sessions: store::open_sessions(tx, id, opened, used, ROWS)?,
            permissions: match group {
                Group::Students => roles::of_student(tx, id, person.role)?,
                Group::Staff => Vec::new(),
            },
            accounts: marketplace::linked_accounts(tx, id)?,
            messages: outbox::newest_to(tx, id, ROWS)?,
            trail: trails::about_person(tx, id, ROWS)?,
            person,
        })
    })
}

/// The page, as it is stored or with a form that was refused.
pub fn page(
    app: &App,
    person: &Person,
    request: &Request,
    group: Group,
    shown: Shown<'_>,
) -> Result<Reply, Problem> {
    let stored = read(app, request, group, id_of(request)?)?;
    let when = |at: Instant| When::new(app.zone(), at, request.now);
    let typed = shown.typed.unwrap_or_else(|| Typed::of(Entry::of(&stored.person)));
    let reason_fault = shown.faults.iter().any(|(name, _)| name == "motivo");
    let reason = view::Field { focus: reason_fault, ..view::Field::default() }
        .fault(reason_fault.then_some("Diga o motivo, com 3 a 200 letras."));
    let view_fault = shown.faults.iter().any(|(name, _)| name == "motivo_ver");
    let view_reason = view::Field { focus: view_fault, ..view::Field::default() }
        .fault(view_fault.then_some("Diga o motivo, com 3 a 200 letras."));
    let facts = facts(app, group, &stored.person, request.now);
    let suspended = stored.person.standing == Standing::Suspended;
    Reply::page(&PersonPage {
        layout: layout(app, person, request).with_flash(notice(request)),
        path: group.path(),
        words: group.words(),
        facts,
        suspended_for: stored.suspended_for,
        fields: typed.fields(app, group, shown.faults),
        reason,
        view_reason,
        can_view: group == Group::Students && !suspended,
        reach: if suspended {
            "A pessoa está suspensa; reative antes de enviar um link."
        } else {
            reach(app, stored.person.chat_number.is_some())
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
        trail_href: address("/admin/auditoria", &[("q", &stored.person.name)]),
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

fn message_row(message: &Queued, when: &impl Fn(Instant) -> When) -> MessageRow {
    MessageRow {
        title: message.title().to_owned(),
        channel: message.channel_words().to_owned(),
        state: queue::badge(message.state),
        note: message.outcome.clone().unwrap_or_default(),
        queued: when(message.created_at),
    }
}

fn trail_row(entry: &log::Entry, when: &impl Fn(Instant) -> When) -> TrailRow {
    TrailRow {
        title: entry.title(),
        actor: entry.actor_name.clone(),
        href: format!("/admin/auditoria/{}", entry.id),
        at: when(entry.at),
    }
}

fn facts(app: &App, group: Group, person: &Listed, now: Instant) -> Vec<Fact> {
    let fact = |label, value: String, note: &str| Fact { label, value, note: note.to_owned() };
    let when = |at: Instant| app.zone().page(at);
    let mut facts = vec![
        fact("E-mail", person.email.clone(), ""),
        fact("Chat", person.chat_number.clone().unwrap_or_else(|| "sem número".to_owned()), ""),
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
