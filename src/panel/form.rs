//! Forms: one table of fields, by which a form is read, checked and shown again.
//!
//! A [`Form`] is declared once, as its [`Input`]s in the order of the page:
//! name, rule, error message, and the place of the value in the entry. Programs
//! send the same names as JSON; in a change, fields that they leave out keep
//! their values. A browser's form always sends all fields.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use http::Uri;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::base::{Cents, Zone, text};
use crate::http::input::FromField;
use crate::http::job::{Job, nothing_to_do};
use crate::http::{Check, Field, Fields, Problem, Reply, Request, input};
use crate::panel::view::{self, Notice};

/// Longest URL of another site.
const LONGEST_ADDRESS: usize = 500;

/// Finds the value of a field in an entry.
type At<E, T> = fn(&mut E) -> &mut T;

/// The fields of a form, in the order of the page. `E::default()` has the values
/// of a new form, and those of fields that a program leaves out.
pub struct Form<E: 'static>(pub &'static [Input<E>]);

/// One field of a form.
pub struct Input<E> {
    /// Its name in forms and JSON.
    name: &'static str,
    /// The error message, in the words of its label.
    words: &'static str,
    rule: Rule<E>,
}

/// How a field is read and shown.
pub enum Rule<E> {
    /// A text of one line with so many characters; required unless 0 is allowed.
    Line(RangeInclusive<usize>, At<E, String>),
    /// A text of several lines and at most so many characters.
    Lines(usize, At<E, String>),
    /// An HTTPS URL of another site; may be empty.
    Address(At<E, String>),
    /// An e-mail address, required.
    Email(At<E, String>),
    /// A whole number, required.
    Whole(RangeInclusive<i64>, At<E, i64>),
    /// A whole number with a default value.
    Number(RangeInclusive<i64>, At<E, i64>),
    /// A whole number, or none.
    Maybe(RangeInclusive<i64>, At<E, Option<i64>>),
    /// An amount within these bounds, in centavos; an empty field means 0.
    Amount(RangeInclusive<i64>, At<E, Cents>),
    /// The id of another row, or none.
    Reference(At<E, Option<i64>>),
    /// A box to tick.
    Tick(At<E, bool>),
    /// Any other field: how it is read into the entry, and how it is shown.
    Own(fn(&mut Sent<'_>, &'static str, &mut E), fn(&E, Zone) -> String),
}

/// Declares a [`Form`], a row for each field: its name, its [`Rule`], and the words of an error. One
/// that other forms have too stands in parentheses.
macro_rules! form {
    (@input ($shared:expr)) => { $shared };
    (@input $name:tt $rule:ident $of:tt $words:expr) => {
        $crate::panel::Input::new($name, $words, $crate::panel::Rule::$rule $of)
    };
    ($($input:tt $(: $rule:ident $of:tt, $words:expr)?;)*) => {
        $crate::panel::Form(&[$($crate::panel::form!(@input $input $($rule $of $words)?)),*])
    };
}
pub(crate) use form;

impl<E> Input<E> {
    pub const fn new(name: &'static str, words: &'static str, rule: Rule<E>) -> Self {
        Self { name, words, rule }
    }
}

impl<E: Clone + Default> Form<E> {
    /// Reads the fields over the values of `present`. Errors are noted in
    /// `sent`, so that the caller may check more before [`Sent::finish`].
    pub fn read(&self, sent: &mut Sent<'_>, present: Option<&E>) -> E {
        let present = present.filter(|_| !sent.is_form);
        sent.is_partial = present.is_some();
        let mut entry = present.cloned().unwrap_or_default();
        let mut usual = E::default();
        for input in self.0 {
            if !sent.is_kept(input.name) {
                input.rule.read(sent, input.name, &mut entry, &mut usual);
            }
        }
        entry
    }

    /// The entry of a request, read over the values of `present`.
    pub fn entry(&self, request: &Request, zone: Zone, present: Option<&E>) -> Result<E, Problem> {
        let mut sent = Sent::of(request, zone)?;
        let entry = self.read(&mut sent, present);
        sent.finish()?;
        Ok(entry)
    }

    /// The form of an entry that exists, or of a new one.
    pub fn show(&self, entry: Option<&E>, zone: Zone) -> FormView {
        match entry {
            // People read an existing entry first; a cursor would go to an empty field.
            Some(entry) => self.filled(entry.clone(), zone, false),
            None => self.begin(E::default(), zone),
        }
    }

    /// The form of a new entry that begins with these values.
    pub fn begin(&self, entry: E, zone: Zone) -> FormView {
        let mut form = self.filled(entry, zone, true);
        view::focus_first(form.fields.iter_mut().map(|(_, field)| field));
        form
    }

    fn filled(&self, mut entry: E, zone: Zone, is_new: bool) -> FormView {
        let shown = |input: &Input<E>| {
            let value = input.rule.show(&mut entry, zone, is_new);
            (input.name, view::Field::of(value))
        };
        FormView { alert: None, fields: self.0.iter().map(shown).collect() }
    }

    /// The form as the browser sent it, with its error messages.
    pub fn again(&self, request: &Request, faults: &Fields) -> FormView {
        let names: Vec<_> = self.0.iter().map(|input| input.name).collect();
        let mut form = FormView::new(&names, |name| {
            all_sent(request, name).next().unwrap_or_default().into_owned()
        });
        let wrong: Vec<&str> = faults.iter().map(|(name, _)| &**name).collect();
        form.find_fault(&wrong, |name| self.words(name));
        form
    }

    fn words(&self, name: &str) -> &'static str {
        let input = self.0.iter().find(|input| input.name == name);
        input.map_or("Confira este campo.", |input| input.words)
    }
}

impl<E> Rule<E> {
    fn read(&self, sent: &mut Sent<'_>, name: &'static str, entry: &mut E, usual: &mut E) {
        match self {
            Self::Line(length, at) => *at(entry) = sent.line(name, length.clone()),
            Self::Lines(most, at) => *at(entry) = sent.lines(name, *most),
            Self::Address(at) => *at(entry) = sent.address(name),
            Self::Email(at) => *at(entry) = sent.email(name),
            Self::Whole(range, at) => *at(entry) = sent.number(name, range.clone()),
            Self::Number(range, at) => {
                *at(entry) = sent.optional_number(name, range).unwrap_or(*at(usual));
            }
            Self::Maybe(range, at) => *at(entry) = sent.optional_number(name, range),
            Self::Amount(range, at) => *at(entry) = sent.amount(name, range),
            Self::Reference(at) => *at(entry) = sent.reference(name),
            // Browsers do not send an unticked box.
            Self::Tick(at) => {
                *at(entry) = sent.optional(name).unwrap_or(!sent.is_form && *at(usual));
            }
            Self::Own(read, _) => read(sent, name, entry),
        }
    }

    fn show(&self, entry: &mut E, zone: Zone, is_new: bool) -> String {
        let digits = |number: Option<i64>| number.map(|it| it.to_string()).unwrap_or_default();
        match self {
            Self::Line(_, at) | Self::Lines(_, at) | Self::Address(at) | Self::Email(at) => {
                at(entry).clone()
            }
            Self::Whole(_, at) if is_new && *at(entry) == 0 => String::new(),
            Self::Whole(_, at) | Self::Number(_, at) => at(entry).to_string(),
            Self::Maybe(_, at) | Self::Reference(at) => digits(*at(entry)),
            Self::Amount(_, at) => match *at(entry) {
                Cents(0) if is_new => String::new(),
                amount => amount.typed(),
            },
            Self::Tick(at) => tick(*at(entry)),
            Self::Own(_, show) => show(entry, zone),
        }
    }
}

/// The fields that a form or a program sent, while they are read.
pub struct Sent<'r> {
    pub request: &'r Request,
    pub check: Check,
    /// The zone of civil times.
    pub zone: Zone,
    /// Whether it is a browser's form.
    pub is_form: bool,
    /// Whether a program changes an existing entry; fields that it leaves out
    /// keep their values.
    pub is_partial: bool,
    body: Map<String, Value>,
}

impl<'r> Sent<'r> {
    pub fn of(request: &'r Request, zone: Zone) -> Result<Self, Problem> {
        let Members(body) = request.form_or_json()?;
        let headers = request.headers();
        let check = Check::form_or_json(headers);
        Ok(Self { request, check, zone, is_form: input::is_form(headers), is_partial: false, body })
    }

    /// The query parameters of a URL, as a form sends them by GET.
    pub fn of_query(request: &'r Request, zone: Zone) -> Result<Self, Problem> {
        let pairs = input::unrepeated(request.query_text())?;
        let body = pairs.into_iter().map(|(name, value)| (name, value.into())).collect();
        Ok(Self { request, check: Check::text(), zone, is_form: true, is_partial: false, body })
    }

    /// Whether a field stays as it is, because nothing was sent for it.
    fn is_kept(&self, name: &str) -> bool {
        self.is_partial && !self.body.contains_key(name)
    }

    /// Removes a field and returns it.
    pub fn take<T>(&mut self, name: &str) -> Field<T> {
        Field::sent(self.body.remove(name))
    }

    /// Replaces an object that programs send, such as `{"redes": {"site": …}}`,
    /// with its members as fields of their own.
    pub fn spread(&mut self, name: &'static str, members: &[&str]) {
        let field = self.take(name);
        let Some(sent) = self.check.optional::<Map<String, Value>>(name, field) else { return };
        for member in members {
            let value = sent.get(*member).cloned().unwrap_or(Value::Null);
            self.body.insert((*member).to_owned(), value);
        }
    }

    /// A required text of one line, or an optional one when the length may be 0.
    pub fn line(&mut self, name: &'static str, length: RangeInclusive<usize>) -> String {
        let field = self.take(name);
        if *length.start() == 0 {
            self.check.optional_line(name, field, *length.end())
        } else {
            self.check.line(name, field, length)
        }
    }

    /// An optional text of several lines.
    pub fn lines(&mut self, name: &'static str, most: usize) -> String {
        let text: String = self.optional(name).unwrap_or_default();
        let text = text.replace("\r\n", "\n").trim().to_owned();
        if text.chars().any(|c| c.is_control() && c != '\n') {
            self.check.fail(name, "must not contain control characters");
        } else if text.chars().count() > most {
            self.check.fail(name, format!("must have at most {most} characters"));
        }
        text
    }

    /// An optional HTTPS URL of another site.
    pub fn address(&mut self, name: &'static str) -> String {
        let text = self.line(name, 0..=LONGEST_ADDRESS);
        if !text.is_empty() && https(&text).is_none() {
            self.check.fail(name, "must be an address that begins with https://");
        }
        text
    }

    /// A required e-mail address, in its usual form.
    pub fn email(&mut self, name: &'static str) -> String {
        let typed: String = self.required(name);
        text::email(&typed).unwrap_or_else(|| {
            self.check.fail(name, "must be an e-mail address");
            String::new()
        })
    }

    /// An optional amount within bounds in centavos.
    pub fn amount(&mut self, name: &'static str, range: &RangeInclusive<i64>) -> Cents {
        let amount: Cents = self.optional(name).unwrap_or_default();
        if !range.contains(&amount.0) {
            let [least, most] = [range.start(), range.end()].map(|cents| cents / 100);
            self.check.fail(name, format!("must be from {least} to {most}"));
        }
        amount
    }

    /// The id of another row, or none.
    pub fn reference(&mut self, name: &'static str) -> Option<i64> {
        self.optional(name).and_then(|Reference(id)| id)
    }

    pub fn optional<T: FromField>(&mut self, name: &'static str) -> Option<T> {
        let field = self.take(name);
        self.check.optional(name, field)
    }

    /// A required value. A missing one is an error and returns the default.
    pub fn required<T: FromField + Default>(&mut self, name: &'static str) -> T {
        let field = self.take(name);
        self.check.required(name, field)
    }

    /// A required whole number within bounds.
    pub fn number(&mut self, name: &'static str, range: RangeInclusive<i64>) -> i64 {
        let number: i64 = self.required(name);
        if !range.contains(&number) {
            self.check.fail(name, format!("must be from {} to {}", range.start(), range.end()));
        }
        number
    }

    fn optional_number(&mut self, name: &'static str, range: &RangeInclusive<i64>) -> Option<i64> {
        let field = self.take(name);
        self.check.number(name, field, range.clone())
    }

    /// The problem with all field errors, if there are any.
    pub fn finish(self) -> Result<(), Problem> {
        self.check.finish()
    }
}

/// The members of a JSON object; a repeated name is an error.
struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Map<String, Value>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a member is there twice"));
                    }
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Each).map(Self)
    }
}

/// A form as its page prints it.
pub struct FormView {
    /// Shown above the form when fields have errors.
    pub alert: Option<Notice>,
    fields: Vec<(&'static str, view::Field)>,
}

impl FormView {
    /// A form with these fields, in the order of the page.
    pub fn new(names: &[&'static str], value: impl Fn(&str) -> String) -> Self {
        let field = |name: &&'static str| (*name, view::Field::of(value(name)));
        let mut form = Self { alert: None, fields: names.iter().map(field).collect() };
        // People read an existing entry first; a cursor would go to an empty field.
        let is_new = form.fields.first().is_none_or(|(_, field)| field.value.is_empty());
        if is_new {
            view::focus_first(form.fields.iter_mut().map(|(_, field)| field));
        }
        form
    }

    /// Gives the fields named in `wrong` their error messages.
    pub fn find_fault(&mut self, wrong: &[&str], words: impl Fn(&str) -> &'static str) {
        for (name, field) in &mut self.fields {
            if wrong.contains(name) {
                field.error = Some(words(name).to_owned());
            }
        }
        let count = view::focus_first(self.fields.iter_mut().map(|(_, field)| field));
        self.alert = Notice::faults(count);
    }

    /// The same form without the cursor, because the page starts with something else.
    #[must_use]
    pub fn unfocused(mut self) -> Self {
        for (_, field) in &mut self.fields {
            field.focus = false;
        }
        self
    }

    /// Sets an error message that is not among the form's words.
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

    pub fn on(&self, name: &str) -> bool {
        !self.field(name).value.is_empty()
    }
}

/// The value of a ticked or unticked box.
pub fn tick(on: bool) -> String {
    if on { "1".to_owned() } else { String::new() }
}

/// One option of a choice whose options come from the database.
#[derive(Clone, Debug)]
pub struct Pick {
    /// What the form sends; empty for none.
    pub value: String,
    pub label: String,
}

impl Pick {
    /// A row by its number and name.
    pub fn of((id, label): (i64, String)) -> Self {
        Self { value: id.to_string(), label }
    }

    pub fn none(label: &str) -> Self {
        Self { value: String::new(), label: label.to_owned() }
    }

    /// Whether a row is among those offered.
    pub fn holds(picks: &[Self], id: i64) -> bool {
        let id = id.to_string();
        picks.iter().any(|pick| pick.value == id)
    }
}

/// All values of a name in a browser's form, sent in the body or in the query.
pub fn all_sent<'r>(request: &'r Request, name: &str) -> impl Iterator<Item = Cow<'r, str>> {
    let is_empty = request.body.is_empty();
    let sent = if is_empty { request.query_text().as_bytes() } else { &request.body };
    form_urlencoded::parse(sent).filter_map(move |(known, value)| (known == name).then_some(value))
}

/// A browser gets the form again with error messages, a program gets the error.
pub fn show_again(
    request: &Request,
    problem: Problem,
    page: impl FnOnce(&Fields) -> Result<Reply, Problem>,
) -> Result<Job, Problem> {
    if request.wants_json() || problem.fields.is_empty() {
        return Err(problem);
    }
    let status = problem.code.status(request.family);
    Ok(nothing_to_do(page(&problem.fields)?.status(status)))
}

/// The id of another row, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference(pub Option<i64>);

impl FromField for Reference {
    const WANTED: &'static str = "must be an id";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        match value {
            // `null` counts as not sent, so an empty text removes a reference.
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

/// Parses an HTTPS URL; `None` unless it has a host name and the default port.
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
