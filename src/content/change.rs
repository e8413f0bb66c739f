//! A change of content by an operator: who does it, and what must be told.

use std::sync::Arc;

use serde::Serialize;

use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::cache::Versions;
use crate::db::{DbError, WriteTx};
use crate::edge::guard::Person;
use crate::http::Request;
use crate::http::input::{self, Check, Field};
use crate::panel::answer::Answer;
use crate::panel::form::https;

/// Longest address of something elsewhere.
const LONGEST_ADDRESS: usize = 500;

/// What a change needs besides its data: who does it, who remembers what was
/// before, and what is answered.
pub struct Change {
    pub answer: Answer,
    actor: Actor,
    versions: Arc<Versions>,
}

impl Change {
    /// The change that a request asks for.
    pub fn of(app: &App, person: &Person, request: &Request) -> Self {
        Self {
            answer: Answer::to(request),
            actor: Actor::person(person, request),
            versions: Arc::clone(&app.versions),
        }
    }

    /// Notes the act and has public answers made anew after the commit.
    pub fn note(
        &self,
        tx: &WriteTx<'_>,
        act: &Act<'_>,
        before: Option<&impl Serialize>,
        after: Option<&impl Serialize>,
    ) -> Result<(), DbError> {
        audit::note(tx, &self.actor, act, before, after)?;
        let versions = Arc::clone(&self.versions);
        tx.after_commit(move || versions.raise_content());
        Ok(())
    }
}

/// What a program leaves out of a change stays as it is. A browser's form
/// always says everything.
pub struct Present<'e, E>(Option<&'e E>);

impl<'e, E> Present<'e, E> {
    /// The present state, where it matters for this request.
    pub fn of(request: &Request, entry: Option<&'e E>) -> Self {
        Self(entry.filter(|_| !input::is_form(request.headers())))
    }

    /// The present value of a field that was left out.
    pub fn keep<F, T>(&self, field: &Field<F>, of: impl FnOnce(&E) -> T) -> Option<T> {
        self.0.filter(|_| field.is_absent()).map(of)
    }
}

/// An optional text of several lines; absent is empty.
pub fn lines(check: &mut Check, name: &'static str, field: Field<String>, most: usize) -> String {
    let text: String = check.optional(name, field).unwrap_or_default();
    let text = text.replace("\r\n", "\n").trim().to_owned();
    if text.chars().any(|c| c.is_control() && c != '\n') {
        check.fail(name, "must not contain control characters");
    } else if text.chars().count() > most {
        check.fail(name, format!("must have at most {most} characters"));
    }
    text
}

/// An optional address elsewhere, by HTTPS; absent is empty.
pub fn address(check: &mut Check, name: &'static str, field: Field<String>) -> String {
    let text = check.optional_line(name, field, LONGEST_ADDRESS);
    if !text.is_empty() && https(&text).is_none() {
        check.fail(name, "must be an address that begins with https://");
    }
    text
}
