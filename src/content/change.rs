//! A change of content by an operator: who does it, and what must be told.

use serde::Serialize;

use crate::audit::{self, Act, Actor};
use crate::db::{DbError, WriteTx};
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::panel::Answer;

/// A kind of content: its name and its acts in the audit log, and the address
/// of its list.
pub struct Noun {
    pub object: &'static str,
    pub created: &'static str,
    pub changed: &'static str,
    pub removed: &'static str,
    pub path: &'static str,
}

impl Noun {
    /// An act on one of them.
    pub fn act<'t>(&self, action: &'static str, id: i64, title: &'t str) -> Act<'t> {
        Act { action, object: self.object, object_id: id.to_string(), object_name: title }
    }
}

/// What a change needs besides its data: who does it, who remembers what was
/// before, and what is answered.
pub struct Change {
    pub answer: Answer,
    actor: Actor,
}

impl Change {
    /// The change that a request asks for.
    pub fn of(person: &Person, request: &Request) -> Self {
        Self { answer: Answer::to(request), actor: Actor::person(person, request) }
    }

    /// Notes the act. Public answers are made again by what it writes (`stale.rs`).
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

    /// Notes a new entry and answers with its id; browsers see `page`.
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

    /// Notes a changed entry and answers; browsers see the list.
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

    /// Notes a removed entry and answers; browsers see the list.
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
