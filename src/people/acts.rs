//! What an operator does to a person: suspend, reactivate, send a link, end the
//! sessions, remove.
//!
//! Removing deletes everything that belongs to the person. The history of sales
//! is deleted in pieces, so that the writer is never held for long. The row
//! stays as an empty shell, so its number is never used again, and nothing of
//! the removed person can be taken for that of a new one.

use std::sync::Arc;

use serde::Serialize;

use super::detail::{self, Refused};
use super::{entry, store};
use crate::accounts::Role;
use crate::accounts::person::{Group, Listed, PersonEntry, PersonStatus};
use crate::accounts::store::{self as accounts, by_email};
use crate::accounts::students::{self, AccountServices};
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::UserId;
use crate::catalog::store as products;
use crate::checkout::store as purchases;
use crate::db::{ReadTx, WriteTx};
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store as marketplace;
use crate::messages::store as messages;
use crate::outbox::MessageKind;
use crate::panel::Answer;

/// Handlers of one group's rows.
macro_rules! of_group {
    ($($(#[$doc:meta])* $students:ident, $staff:ident = $act:ident -> $out:ty;)*) => {
        $(
            $(#[$doc])*
            pub fn $students(app: &App, person: &Person, request: &Request) -> Result<$out, Problem> {
                $act(app, person, request, Group::Students)
            }

            $(#[$doc])*
            pub fn $staff(app: &App, person: &Person, request: &Request) -> Result<$out, Problem> {
                $act(app, person, request, Group::Staff)
            }
        )*
    };
}

of_group! {
    /// `POST …/{id}`: changes a person.
    change_student, change_staff = change -> Job;
    /// `POST …/{id}/suspender`: suspends a person; every access ends at once.
    suspend_student, suspend_staff = suspend -> Job;
    /// `POST …/{id}/reativar`: ends a suspension.
    reactivate_student, reactivate_staff = reactivate -> Job;
    /// `POST …/{id}/link-de-senha`: queues a link to choose a password.
    link_student, link_staff = send_link -> Job;
    /// `POST …/{id}/sessoes/encerrar`: ends sessions and extension tokens.
    end_student_sessions, end_staff_sessions = end_sessions -> Job;
    /// `POST …/{id}/excluir`: removes a person and what belongs to it.
    remove_student, remove_staff = remove -> Reply;
}

/// The person that the path names; not found when the person is of the other
/// group.
pub fn find(tx: &ReadTx<'_>, group: Group, id: UserId) -> Result<Listed, Problem> {
    store::person(tx, id)?
        .filter(|person| Group::of(person.entry.papel) == group)
        .ok_or_else(Problem::not_found)
}

/// The number in the path.
pub fn id_of(request: &Request) -> Result<UserId, Problem> {
    request.id().map(UserId)
}

/// Rejects a change that would leave nobody who can administer.
fn keep_an_administrator(tx: &ReadTx<'_>, person: &Listed) -> Result<(), Problem> {
    let administers = person.entry.papel == Role::Admin && person.status != PersonStatus::Suspended;
    if administers && !store::others_administer(tx, person.id)? {
        return Err(Problem::new(
            Code::Conflict,
            "é a última pessoa que pode administrar a plataforma; dê acesso a outra antes",
        ));
    }
    Ok(())
}

/// An entry of the audit log about a person.
fn act<'p>(
    group: Group,
    students: &'static str,
    staff: &'static str,
    person: &'p Listed,
) -> Act<'p> {
    let action = match group {
        Group::Students => students,
        Group::Staff => staff,
    };
    group.object().act(action, person.id, &person.entry.nome)
}

fn page_of(group: Group, id: UserId) -> String {
    format!("{}/{id}", group.path())
}

fn change(app: &App, person: &Person, request: &Request, group: Group) -> Result<Job, Problem> {
    let id = id_of(request)?;
    let (sent, owner) = app.db.read(request.lane, |tx| {
        let present = find(tx, group, id)?.entry;
        let sent = group.form().entry(request, app.zone(), Some(&present));
        let owner = match &sent {
            Ok(entry) => by_email(tx, &entry.email)?,
            Err(_) => None,
        };
        Ok::<_, Problem>((sent, owner))
    })?;
    let faulty =
        |problem: Problem| detail::again((app, person, request), (group, Refused::Fields), problem);
    let entry = match sent {
        Ok(entry) => entry,
        Err(problem) => return faulty(problem),
    };
    if owner.is_some_and(|owner| owner.user_id != id) {
        return faulty(entry::email_taken());
    }
    let (answer, actor, services) =
        (Answer::to(request), Actor::person(person, request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        let before = find(tx, group, id)?;
        if entry.papel != Role::Admin
            && let Err(problem) = keep_an_administrator(tx, &before)
        {
            return answer.declined(problem, &page_of(group, id), "ultimo_admin");
        }
        if by_email(tx, &entry.email)?.is_some_and(|owner| owner.user_id != id) {
            return Err(entry::email_taken());
        }
        if before.entry != entry {
            store::update(tx, id, &entry)?;
            let act = act(group, "aluno.alterar", "equipe.alterar", &before);
            audit::note(tx, &actor, &act, Some(&before.entry), Some(&entry))?;
            services.changed(tx, id);
        }
        answer.done(id, &page_of(group, id), "alterado")
    }))
}

#[derive(Serialize)]
struct Suspension<'s> {
    status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    motivo: &'s str,
}

fn suspend(app: &App, person: &Person, request: &Request, group: Group) -> Result<Job, Problem> {
    let id = id_of(request)?;
    let reason = match detail::reason((app, person, request), (group, Refused::Suspension))? {
        Ok(reason) => reason,
        Err(again) => return Ok(again),
    };
    let (answer, actor, services) =
        (Answer::to(request), Actor::person(person, request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        let before = find(tx, group, id)?;
        if let Err(problem) = keep_an_administrator(tx, &before) {
            return answer.declined(problem, &page_of(group, id), "ultimo_admin");
        }
        if !students::suspend(tx, &services, id, &reason)? {
            return answer.done(id, &page_of(group, id), "sem_mudanca");
        }
        let act = act(group, "aluno.suspender", "equipe.suspender", &before);
        let was = Suspension { status: before.status.name(), motivo: "" };
        let is = Suspension { status: PersonStatus::Suspended.name(), motivo: &reason };
        audit::note(tx, &actor, &act, Some(&was), Some(&is))?;
        answer.done(id, &page_of(group, id), "suspenso")
    }))
}

fn reactivate(app: &App, person: &Person, request: &Request, group: Group) -> Result<Job, Problem> {
    let id = id_of(request)?;
    let (answer, actor, services) =
        (Answer::to(request), Actor::person(person, request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        let before = find(tx, group, id)?;
        let reason = store::suspended_for(tx, id)?.unwrap_or_default();
        if !students::reactivate(tx, &services, id)? {
            return answer.done(id, &page_of(group, id), "sem_mudanca");
        }
        let act = act(group, "aluno.reativar", "equipe.reativar", &before);
        let was = Suspension { status: PersonStatus::Suspended.name(), motivo: &reason };
        let is = Suspension { status: PersonStatus::Good.name(), motivo: "" };
        audit::note(tx, &actor, &act, Some(&was), Some(&is))?;
        answer.done(id, &page_of(group, id), "reativado")
    }))
}

fn send_link(app: &App, person: &Person, request: &Request, group: Group) -> Result<Job, Problem> {
    let id = id_of(request)?;
    let (answer, actor, services) =
        (Answer::to(request), Actor::person(person, request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        let before = find(tx, group, id)?;
        if before.status == PersonStatus::Suspended {
            let problem = Problem::new(
                Code::Conflict,
                "a pessoa está suspensa; reative antes de enviar um link",
            );
            return answer.declined(problem, &page_of(group, id), "esta_suspenso");
        }
        let queued = students::send_password_link(tx, &services, id, MessageKind::PasswordLink)?;
        let page = page_of(group, id);
        if queued > 0 {
            let act = act(group, "aluno.link_de_senha", "equipe.link_de_senha", &before);
            audit::note(tx, &actor, &act, None::<&()>, None::<&()>)?;
        }
        let word = if queued > 0 { "link_na_fila" } else { "sem_canal" };
        let members = [("id", id.to_string().into()), ("mensagens", queued.into())];
        answer.with(&page, word, &members)
    }))
}

#[derive(Serialize)]
struct Ended {
    sessoes: usize,
    extensao: usize,
}

fn end_sessions(
    app: &App,
    person: &Person,
    request: &Request,
    group: Group,
) -> Result<Job, Problem> {
    let id = id_of(request)?;
    let (answer, actor, services) =
        (Answer::to(request), Actor::person(person, request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        let before = find(tx, group, id)?;
        let ended = Ended {
            sessoes: accounts::end_sessions(tx, id)?,
            extensao: accounts::revoke_extension_tokens(tx, id)?,
        };
        let act = act(group, "aluno.encerrar_sessoes", "equipe.encerrar_sessoes", &before);
        audit::note(tx, &actor, &act, Some(&ended), None::<&()>)?;
        services.changed(tx, id);
        let members = [("id", id.to_string().into()), ("encerradas", ended.sessoes.into())];
        answer.with(&page_of(group, id), "sessoes_encerradas", &members)
    }))
}

fn remove(app: &App, person: &Person, request: &Request, group: Group) -> Result<Reply, Problem> {
    let id = id_of(request)?;
    let answer = Answer::to(request);
    let (actor, services) = (Arc::new(Actor::person(person, request)), AccountServices::of(app));
    loop {
        let (actor, services) = (Arc::clone(&actor), services.clone());
        let removed = app.db.write_piece(move |tx| remove_some(tx, &services, &actor, group, id));
        match removed {
            Ok(false) => {}
            Ok(true) => return answer.done(id, group.path(), "excluido"),
            Err(problem) => return answer.declined(problem, &page_of(group, id), "ultimo_admin"),
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
fn remove_some(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    actor: &Actor,
    group: Group,
    id: UserId,
) -> Result<bool, Problem> {
    let before = find(tx, group, id)?;
    keep_an_administrator(tx, &before)?;
    students::suspend(tx, services, id, "exclusão em andamento")?;
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
    let act = act(group, "aluno.excluir", "equipe.excluir", &before);
    let removed = Removed { entry: before.entry.clone(), criado_em: before.created_at.rfc3339() };
    audit::note(tx, actor, &act, Some(&removed), None::<&()>)?;
    store::replace_by_shell(tx, id)?;
    services.changed(tx, id);
    Ok(true)
}
