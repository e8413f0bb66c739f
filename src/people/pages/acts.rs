//! What an operator does to a person: suspend, reactivate, send a link, end the
//! sessions, remove.
//!
//! Removing deletes everything that belongs to the person. The history of sales
//! is deleted in pieces, so that the writer is never held for long. The row
//! stays as an empty shell, so its number is never used again, and nothing of
//! the removed person can be taken for that of a new one.

use std::sync::Arc;

use serde::Serialize;

use super::detail;
use super::detail::Refused;
use crate::accounts::person::{Group, Listed, PersonEntry, PersonStatus};
use crate::accounts::store::{self as accounts, by_email};
use crate::accounts::students::{self, AccountServices};
use crate::accounts::{Role, links};
use crate::app::App;
use crate::audit::{self, Actor};
use crate::base::UserId;
use crate::catalog::store as products;
use crate::checkout::store as purchases;
use crate::db::{DbError, ReadTx, WriteTx};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store as marketplace;
use crate::messages::store as messages;
use crate::outbox::MessageKind;
use crate::panel::{Answer, Sent};
use crate::people::{entry, find, store};

/// The group that an address is of; both have the same handlers.
pub fn group_of(request: &Request) -> Group {
    if request.path().starts_with(Group::Staff.path()) { Group::Staff } else { Group::Students }
}

/// Rejects a change that would leave nobody who can administer.
fn keep_an_administrator(tx: &ReadTx<'_>, person: &Listed) -> Result<(), Problem> {
    let administers = person.entry.papel == Role::Admin && person.status != PersonStatus::Suspended;
    if administers && !store::others_administer(tx, person.id)? {
        return Err(Problem::conflict(ForPeople(
            "É a última pessoa que pode administrar a plataforma. Dê acesso a outra antes.",
        )));
    }
    Ok(())
}

/// What a change of the person that the path names needs besides its data.
pub(in crate::people) struct Change {
    pub group: Group,
    pub id: UserId,
    pub answer: Answer,
    pub actor: Actor,
    pub services: AccountServices,
}

impl Change {
    pub fn of(app: &App, person: &Person, request: &Request) -> Result<Self, Problem> {
        Ok(Self {
            group: group_of(request),
            id: UserId(request.id()?),
            answer: Answer::to(request),
            actor: Actor::person(person, request),
            services: AccountServices::of(app),
        })
    }

    /// The address of the person's page.
    pub fn page(&self) -> String {
        format!("{}/{}", self.group.path(), self.id)
    }

    pub fn find(&self, tx: &ReadTx<'_>) -> Result<Listed, Problem> {
        find(tx, self.group, self.id)
    }

    /// Writes an act on a student or on one of the staff to the audit log.
    pub fn note(
        &self,
        tx: &WriteTx<'_>,
        [student, staff]: [&'static str; 2],
        name: &str,
        before: impl Serialize,
        after: impl Serialize,
    ) -> Result<(), DbError> {
        let action = match self.group {
            Group::Students => student,
            Group::Staff => staff,
        };
        audit::note(tx, &self.actor, &self.group.object().act(action, self.id, name), before, after)
    }

    pub fn done(&self, word: &str) -> Result<Reply, Problem> {
        self.answer.done(self.id, &self.page(), word)
    }

    pub fn declined(&self, problem: Problem, word: &str) -> Result<Reply, Problem> {
        self.answer.declined(problem, &self.page(), word)
    }
}

/// `POST …/{id}`: changes a person.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    let (group, id) = (change.group, change.id);
    let (sent, owner) = app.db.read(request.lane, |tx| {
        let present = change.find(tx)?.entry;
        let sent = group.form().entry(request, app.zone(), Some(&present));
        let owner = match &sent {
            Ok(entry) => by_email(tx, &entry.email)?,
            Err(_) => None,
        };
        Ok::<_, Problem>((sent, owner))
    })?;
    let is_free = owner.is_none_or(|owner| owner.user_id == id);
    let entry = match sent.and_then(|entry| is_free.then_some(entry).ok_or_else(entry::email_taken))
    {
        Ok(entry) => entry,
        Err(problem) => return detail::again((app, person, request), Refused::Fields, problem),
    };
    Ok(Box::new(move |tx| {
        let before = change.find(tx)?;
        if entry.papel != Role::Admin
            && let Err(problem) = keep_an_administrator(tx, &before)
        {
            return change.declined(problem, "ultimo_admin");
        }
        if by_email(tx, &entry.email)?.is_some_and(|owner| owner.user_id != id) {
            return Err(entry::email_taken());
        }
        if before.entry != entry {
            store::update(tx, id, &entry)?;
            let (was, is) = (Some(&before.entry), Some(&entry));
            change.note(tx, ["aluno.alterar", "equipe.alterar"], &before.entry.nome, was, is)?;
        }
        change.done("alterado")
    }))
}

#[derive(Serialize)]
struct Suspension<'s> {
    status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    motivo: &'s str,
}

/// `POST …/{id}/suspender`: suspends a person; every access ends at once.
pub fn suspend(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    let reason = match detail::reason((app, person, request), Refused::Suspension)? {
        Ok(reason) => reason,
        Err(again) => return Ok(again),
    };
    Ok(Box::new(move |tx| {
        let before = change.find(tx)?;
        if let Err(problem) = keep_an_administrator(tx, &before) {
            return change.declined(problem, "ultimo_admin");
        }
        if !students::suspend(tx, change.id, &reason)? {
            return change.done("sem_mudanca");
        }
        let was = Suspension { status: before.status.name(), motivo: "" };
        let is = Suspension { status: PersonStatus::Suspended.name(), motivo: &reason };
        let acts = ["aluno.suspender", "equipe.suspender"];
        change.note(tx, acts, &before.entry.nome, &was, &is)?;
        change.done("suspenso")
    }))
}

/// `POST …/{id}/reativar`: ends a suspension.
pub fn reactivate(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    Ok(Box::new(move |tx| {
        let before = change.find(tx)?;
        let reason = store::suspended_for(tx, change.id)?.unwrap_or_default();
        if !students::reactivate(tx, change.id)? {
            return change.done("sem_mudanca");
        }
        let was = Suspension { status: PersonStatus::Suspended.name(), motivo: &reason };
        let is = Suspension { status: PersonStatus::Good.name(), motivo: "" };
        let acts = ["aluno.reativar", "equipe.reativar"];
        change.note(tx, acts, &before.entry.nome, &was, &is)?;
        change.done("reativado")
    }))
}

/// `POST …/{id}/link-de-senha`: queues a link to choose a password.
pub fn send_link(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    let mut sent = Sent::of(request, app.zone())?;
    let copies: bool = sent.optional("copiar").unwrap_or_default();
    sent.finish()?;
    let base = app.server.addresses.base_url.clone();
    Ok(Box::new(move |tx| {
        let before = change.find(tx)?;
        if before.status == PersonStatus::Suspended {
            let problem = Problem::conflict(ForPeople(
                "A pessoa está suspensa. Reative-a antes de enviar um link.",
            ));
            return change.declined(problem, "esta_suspenso");
        }
        if copies {
            return copy_link(tx, &change, &before, base.as_str());
        }
        let (id, kind) = (change.id, MessageKind::PasswordLink);
        let queued = students::send_password_link(tx, &change.services, id, kind)?;
        if queued > 0 {
            let acts = ["aluno.link_de_senha", "equipe.link_de_senha"];
            change.note(tx, acts, &before.entry.nome, (), ())?;
        }
        let word = if queued > 0 { "link_na_fila" } else { "sem_canal" };
        let members = [("id", id.to_string().into()), ("mensagens", queued.into())];
        change.answer.with(&change.page(), word, &members)
    }))
}

/// Makes a link that is handed over by hand; earlier ones stop working.
fn copy_link(
    tx: &WriteTx<'_>,
    change: &Change,
    before: &Listed,
    base: &str,
) -> Result<Reply, Problem> {
    let link = links::make(tx, change.id, tx.now().plus(links::FIRST_S), None)?;
    let acts = ["aluno.link_de_senha", "equipe.link_de_senha"];
    change.note(tx, acts, &before.entry.nome, (), ())?;
    let word = format!("{}{}", detail::COPIED_LINK, link.code);
    let address = links::address(base, &link.code);
    let members = [("id", change.id.to_string().into()), ("link", address.into())];
    change.answer.with(&change.page(), &word, &members)
}

#[derive(Serialize)]
struct Ended {
    sessoes: usize,
    extensao: usize,
}

/// `POST …/{id}/sessoes/encerrar`: ends sessions and extension tokens.
pub fn end_sessions(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    Ok(Box::new(move |tx| {
        let (before, id) = (change.find(tx)?, change.id);
        let ended = Ended {
            sessoes: accounts::end_sessions(tx, id)?,
            extensao: accounts::revoke_extension_tokens(tx, id)?,
        };
        let acts = ["aluno.encerrar_sessoes", "equipe.encerrar_sessoes"];
        change.note(tx, acts, &before.entry.nome, &ended, ())?;
        let members = [("id", id.to_string().into()), ("encerradas", ended.sessoes.into())];
        change.answer.with(&change.page(), "sessoes_encerradas", &members)
    }))
}

/// `POST …/{id}/excluir`: removes a person and what belongs to it.
pub fn remove(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let change = Arc::new(Change::of(app, person, request)?);
    loop {
        let piece = Arc::clone(&change);
        match app.db.write_piece(move |tx| remove_some(tx, &piece)) {
            Ok(false) => {}
            Ok(true) => return change.answer.done(change.id, change.group.path(), "excluido"),
            Err(problem) => return change.declined(problem, "ultimo_admin"),
        }
    }
}

/// What an account was, in the audit log. By its number and when it was made it is told
/// from others, should its person be erased later.
#[derive(Serialize)]
struct Removed {
    #[serde(flatten)]
    entry: PersonEntry,
    criado_em: String,
}

/// Suspends the person and removes a piece of the history. When none is left,
/// removes the person. Returns true when the person is removed. After an
/// interruption, calling it again continues.
fn remove_some(tx: &WriteTx<'_>, change: &Change) -> Result<bool, Problem> {
    let (before, id) = (change.find(tx)?, change.id);
    keep_an_administrator(tx, &before)?;
    students::suspend(tx, id, "exclusão em andamento")?;
    let is_empty = tx.work_off(|most| {
        Ok::<_, Problem>(
            marketplace::forget_accounts(tx, id, most)?
                + marketplace::forget_history(tx, id, most)?
                + store::forget_rest(tx, id, most)?
                + products::forget(tx, id, most)?
                + messages::forget(tx, id, most)?
                + purchases::forget_person(tx, id, &before.entry.email, most)?,
        )
    })?;
    if !is_empty {
        return Ok(false);
    }
    let criado_em = before.created_at.rfc3339();
    let removed = Removed { entry: before.entry, criado_em };
    let acts = ["aluno.excluir", "equipe.excluir"];
    change.note(tx, acts, &removed.entry.nome, &removed, ())?;
    store::replace_by_shell(tx, id)?;
    Ok(true)
}
