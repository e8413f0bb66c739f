//! Forms of content in the operator's panel: reading what was sent, and
//! showing it again with what is wrong.

use std::borrow::Cow;
use std::sync::Arc;

use http::{StatusCode, Uri};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::cache::Versions;
use crate::db::{DbError, WriteTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{self, Check, Field, FromField};
use crate::http::problem::Fields;
use crate::http::{Problem, Reply, Request};
use crate::panel::answer::Answer;
use crate::panel::view::{self, Notice};

/// Longest address of something elsewhere.
const LONGEST_ADDRESS: usize = 500;

/// A form as its page prints it.
#[derive(Debug)]
pub struct Form {
    /// Above the form when fields are at fault.
    pub alert: Option<Notice>,
    fields: Vec<(&'static str, view::Field)>,
}

impl Form {
    /// A form with these fields, in the order of the page.
    pub fn new(names: &[&'static str], value: impl Fn(&str) -> String) -> Self {
        let field = |name: &&'static str| (*name, view::Field::of(value(name)));
        let mut form = Self { alert: None, fields: names.iter().map(field).collect() };
        // What exists is read first; a cursor would lead into what it lacks.
        let is_new = form.fields.first().is_none_or(|(_, field)| field.value.is_empty());
        if is_new {
            view::focus_first(form.fields.iter_mut().map(|(_, field)| field));
        }
        form
    }

    /// What a browser sent, with what is wrong with it.
    pub fn again(
        names: &[&'static str],
        request: &Request,
        faults: &Fields,
        words: fn(&str) -> &'static str,
    ) -> Self {
        let mut form = Self::new(names, |name| sent(request, name).into_owned());
        let wrong: Vec<&str> = faults.iter().map(|(name, _)| &**name).collect();
        form.find_fault(&wrong, words);
        form
    }

    /// Says which fields are at fault.
    pub fn find_fault(&mut self, wrong: &[&str], words: fn(&str) -> &'static str) {
        for (name, field) in &mut self.fields {
            if wrong.contains(name) {
                field.error = Some(words(name).to_owned());
            }
        }
        let count = view::focus_first(self.fields.iter_mut().map(|(_, field)| field));
        self.alert = Notice::faults(count);
    }

    /// The same form without a cursor in it: the page begins elsewhere.
    #[must_use]
    pub fn unfocused(mut self) -> Self {
        for (_, field) in &mut self.fields {
            field.focus = false;
        }
        self
    }

    /// Says of a field at fault what no table of words knows.
    pub fn say(&mut self, name: &str, words: impl Into<String>) {
        if let Some((_, field)) = self.fields.iter_mut().find(|(known, _)| *known == name) {
            field.error = Some(words.into());
        }
    }

    /// A field by its name.
    ///
    /// # Panics
    /// When there is none: templates name only fields that exist, which a
    /// test of all pages checks.
    pub fn field(&self, name: &str) -> &view::Field {
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map_or_else(|| panic!("the form has no field {name}"), |(_, field)| field)
    }

    /// Whether a box is ticked.
    pub fn on(&self, name: &str) -> bool {
        !self.field(name).value.is_empty()
    }
}

/// What a ticked or unticked box holds.
pub fn tick(on: bool) -> String {
    if on { "1".to_owned() } else { String::new() }
}

/// An entry of a choice that comes from the database.
#[derive(Clone, Debug)]
pub struct Pick {
    /// What the form sends; empty for none.
    pub value: String,
    /// What people read.
    pub label: String,
}

/// The first value of a name in a browser's form; empty without one.
fn sent<'r>(request: &'r Request, name: &str) -> Cow<'r, str> {
    all_sent(request, name).next().unwrap_or_default()
}

/// All values of a name in a browser's form.
pub fn all_sent<'r>(request: &'r Request, name: &str) -> impl Iterator<Item = Cow<'r, str>> {
    form_urlencoded::parse(&request.body)
        .filter_map(move |(known, value)| (known == name).then_some(value))
}

/// A browser gets the form again with what is wrong; a program the error.
pub fn show_again(
    request: &Request,
    problem: Problem,
    page: impl FnOnce(&Fields) -> Result<Reply, Problem>,
) -> Result<Job, Problem> {
    if request.wants_json() || problem.fields.is_empty() {
        return Err(problem);
    }
    let page = page(&problem.fields)?.status(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(Box::new(move |_| Ok(page)))
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

/// A row that another one refers to, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference(pub Option<i64>);

impl FromField for Reference {
    const WANTED: &'static str = "must be an id";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        match value {
            // `null` says nothing, so an empty text takes a reference away.
            Value::String(text) if text.is_empty() => Some(Self(None)),
            Value::String(digits) => digits.parse().ok().map(|id| Self(Some(id))),
            Value::Number(number) => number.as_i64().map(|id| Self(Some(id))),
            _ => None,
        }
    }
}

impl FromField for Map<String, Value> {
    const WANTED: &'static str = "must be an object";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        match value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }
}

/// The id in a row's path.
pub fn id_of(request: &Request) -> Result<i64, Problem> {
    let id = request.variable("id").parse();
    id.map_err(|_| Problem::not_found())
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

/// The parts of an address by HTTPS with a named host and the usual port.
pub fn https(text: &str) -> Option<Uri> {
    let uri: Uri = text.parse().ok()?;
    let authority = uri.authority()?;
    let named = authority.host().contains('.') && authority.as_str() == authority.host();
    (uri.scheme_str() == Some("https") && named).then_some(uri)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_elsewhere_are_https_with_a_named_host() {
        for good in
            ["https://instagram.com/ana", "https://example.com", "https://example.com/a?b=c#d"]
        {
            assert!(https(good).is_some(), "{good}");
        }
        for bad in [
            "http://example.com/",
            "javascript:alert(1)",
            "https://",
            "https://localhost/",
            "https://ana@example.com/",
            "https://example.com:8443/",
            "https://example.com/a b",
            "https://exa\"mple.com/",
            "//example.com",
            "example.com",
        ] {
            assert!(https(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn references_are_numbers_texts_or_nothing() {
        let read = |value| Reference::from_field(value, false);
        assert_eq!(read(json!(7)), Some(Reference(Some(7))));
        assert_eq!(read(json!("7")), Some(Reference(Some(7))));
        assert_eq!(read(json!("")), Some(Reference(None)));
        for bad in [json!("sete"), json!(1.5), json!([7]), json!(true)] {
            assert_eq!(read(bad), None);
        }
    }
}
