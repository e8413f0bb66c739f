//! A change by a person in the panel: the actor, the audit log entry and the
//! answer.

use serde::Serialize;

use super::{Made, Noun, store};
use crate::audit::{self, Act, Actor};
use crate::db::{DbError, WriteTx};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::Answer;

/// What a change needs besides its data: the actor for the audit log, and how
/// to answer.
pub struct Change {
    pub answer: Answer,
    pub actor: Actor,
}

impl Change {
    /// The change that a request asks for.
    pub fn of(person: &Person, request: &Request) -> Self {
        Self { answer: Answer::to(request), actor: Actor::person(person, request) }
    }

    /// Writes the audit log entry. What memory holds becomes stale by the change
    /// itself (`invalidation.rs`).
    pub fn note(
        &self,
        tx: &WriteTx<'_>,
        act: &Act<'_>,
        before: impl Serialize,
        after: impl Serialize,
    ) -> Result<(), DbError> {
        audit::note(tx, &self.actor, act, before, after)
    }

    /// Logs a new one and answers with its id.
    pub fn created<N: Made>(
        &self,
        tx: &WriteTx<'_>,
        id: i64,
        entry: &N::Entry,
    ) -> Result<Reply, Problem> {
        let act = act::<N>(N::OBJECT.created, id, entry);
        self.note(tx, &act, (), entry)?;
        self.answer.made(id, &N::page_of_new(id), N::FLASHES[0])
    }

    /// Logs a changed one and answers; browsers are redirected to the list.
    pub fn changed<N: Noun>(
        &self,
        tx: &WriteTx<'_>,
        before: &N,
        entry: &N::Entry,
    ) -> Result<Reply, Problem> {
        let act = act::<N>(N::OBJECT.changed, before.id(), entry);
        self.note(tx, &act, before.entry(), entry)?;
        self.answer.done(before.id(), N::LIST.path, N::FLASHES[1])
    }

    /// Logs a removed one and answers; browsers are redirected to the list.
    pub fn removed<N: Noun>(&self, tx: &WriteTx<'_>, before: &N) -> Result<Reply, Problem> {
        let act = act::<N>(N::OBJECT.removed, before.id(), before.entry());
        self.note(tx, &act, before.entry(), ())?;
        self.answer.done(before.id(), N::LIST.path, N::FLASHES[2])
    }
}

/// The audit log entry of an act on one.
pub fn act<'e, N: Noun>(action: &'static str, id: i64, entry: &'e N::Entry) -> Act<'e> {
    N::OBJECT.act(action, id, N::title(entry))
}

/// Removes one, unless it is in use.
pub fn removed<N: Made>(tx: &WriteTx<'_>, change: &Change, id: i64) -> Result<Reply, Problem> {
    let before = N::one(tx, id)?.ok_or_else(Problem::not_found)?;
    if let Some(said) = N::in_use(tx, &before)? {
        let page = format!("{}/{id}", N::LIST.path);
        return change.answer.refused(Problem::conflict(said), &page, "em-uso");
    }
    store::delete::<N>(tx, id)?;
    N::changed(tx)?;
    change.removed(tx, &before)
}
