//! A change of content by an operator: the actor, the audit log entry and the
//! answer.

use serde::Serialize;

use crate::audit::{self, Act, Actor};
use crate::db::{DbError, WriteTx};
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::panel::Answer;

/// A kind of content: its name and actions in the audit log, and the path of
/// its list.
pub struct Noun {
    pub object: &'static str,
    pub created: &'static str,
    pub changed: &'static str,
    pub removed: &'static str,
    pub path: &'static str,
}

impl Noun {
    /// The audit log entry of an action on one of them.
    pub fn act<'t>(&self, action: &'static str, id: i64, title: &'t str) -> Act<'t> {
        Act { action, object: self.object, object_id: id.to_string(), object_name: title }
    }
}

/// What a change needs besides its data: the actor for the audit log, and how
/// to answer.
pub struct Change {
    pub answer: Answer,
    actor: Actor,
}

impl Change {
    /// The change that a request asks for.
    pub fn of(person: &Person, request: &Request) -> Self {
        Self { answer: Answer::to(request), actor: Actor::person(person, request) }
    }

    /// Writes the audit log entry. Public answers become stale by the change
    /// itself (`stale.rs`).
    pub fn note(
        &self,
        tx: &WriteTx<'_>,
        act: &Act<'_>,
        before: Option<&impl Serialize>,
        after: Option<&impl Serialize>,
    ) -> Result<(), DbError> {
        audit::note(tx, &self.actor, act, before, after)?;
        Ok(())
    }

    /// Logs a new entry and answers with its id; browsers are redirected to
    /// `page`.
    pub fn created(
        &self,
        tx: &WriteTx<'_>,
        (noun, id, title): (&Noun, i64, &str),
        entry: &impl Serialize,
        page: &str,
    ) -> Result<Reply, Problem> {
        self.note(tx, &noun.act(noun.created, id, title), None::<&()>, Some(entry))?;
        self.answer.made(id, page, "criado")
    }

    /// Logs a changed entry and answers; browsers are redirected to the list.
    pub fn changed<E: Serialize>(
        &self,
        tx: &WriteTx<'_>,
        (noun, id, title): (&Noun, i64, &str),
        before: &E,
        after: &E,
    ) -> Result<Reply, Problem> {
        self.note(tx, &noun.act(noun.changed, id, title), Some(before), Some(after))?;
        self.answer.done(id, noun.path, "alterado")
    }

    /// Logs a removed entry and answers; browsers are redirected to the list.
    pub fn removed(
        &self,
        tx: &WriteTx<'_>,
        (noun, id, title): (&Noun, i64, &str),
        before: &impl Serialize,
    ) -> Result<Reply, Problem> {
        self.note(tx, &noun.act(noun.removed, id, title), Some(before), None::<&()>)?;
        self.answer.done(id, noun.path, "excluido")
    }
}
