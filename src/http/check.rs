//! Checks of input. Errors are collected field by field, so that a caller gets
//! all of them at once.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use http::HeaderMap;
use serde_json::Value;

use super::input::{Field, FromField, is_form};
use super::problem::{Code, Fields, Problem};
use crate::base::{Day, Instant, Zone};

/// How the values of an input were sent.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Sent {
    /// As JSON in a body, which is invalid as a whole when a value has another type.
    #[default]
    Body,
    /// As JSON, as the arguments of a tool.
    Tool,
    /// As text in a query or a browser form. An empty text means that nothing was entered.
    Text,
    /// As text in a query in which an empty text is a value.
    Query,
}

/// Collects the errors of the fields of one input.
#[derive(Default)]
pub struct Check {
    sent: Sent,
    wrong_type: bool,
    fields: Fields,
}

impl Check {
    const fn of(sent: Sent) -> Self {
        Self { sent, wrong_type: false, fields: Fields::new() }
    }

    /// A check for a JSON body.
    pub const fn json() -> Self {
        Self::of(Sent::Body)
    }

    /// A check for a query or a browser form, where everything is text.
    pub const fn text() -> Self {
        Self::of(Sent::Text)
    }

    /// A check for a query in which an empty value is an error.
    pub const fn query() -> Self {
        Self::of(Sent::Query)
    }

    /// A check for the arguments of a tool.
    pub const fn tool() -> Self {
        Self::of(Sent::Tool)
    }

    /// A check for a body that is JSON or a browser form.
    pub fn form_or_json(headers: &HeaderMap) -> Self {
        Self::of(if is_form(headers) { Sent::Text } else { Sent::Body })
    }

    /// Marks a field as invalid. The first message for a field is kept.
    pub fn fail(&mut self, name: &'static str, message: impl Into<Cow<'static, str>>) {
        if !self.fields.iter().any(|(known, _)| known == name) {
            self.fields.push((name.into(), message.into()));
        }
    }

    /// The field's value; `None` when it is absent or has another type, which
    /// is an error.
    pub fn optional<T: FromField>(&mut self, name: &'static str, field: Field<T>) -> Option<T> {
        let value = field.value.filter(|value| !value.is_null())?;
        if self.sent == Sent::Text && value.as_str().is_some_and(str::is_empty) {
            return None;
        }
        let of_type = self.sent != Sent::Body || T::has_type(&value);
        let read = T::from_field(value, matches!(self.sent, Sent::Text | Sent::Query));
        if read.is_none() {
            self.wrong_type |= !of_type;
            self.fail(name, T::WANTED);
        }
        read
    }

    /// The same for a field of a body that is left out where it is not meant: null is of
    /// the wrong type. Tools may send null, as assistants do for what they leave out.
    pub fn stated<T: FromField>(&mut self, name: &'static str, field: Field<T>) -> Option<T> {
        if self.sent == Sent::Body && field.value.as_ref().is_some_and(Value::is_null) {
            self.wrong_type = true;
            self.fail(name, T::WANTED);
            return None;
        }
        self.optional(name, field)
    }

    /// The field's value; without one, the type's default, and the field is
    /// invalid.
    pub fn required<T: FromField + Default>(&mut self, name: &'static str, field: Field<T>) -> T {
        let absent = field.value.as_ref().is_none_or(Value::is_null);
        self.optional(name, field).unwrap_or_else(|| {
            self.fail(name, if absent { "is required" } else { "must not be empty" });
            T::default()
        })
    }

    /// A required text within a number of characters, trimmed, without control characters.
    pub fn line(
        &mut self,
        name: &'static str,
        field: Field<String>,
        length: RangeInclusive<usize>,
    ) -> String {
        let text = self.required(name, field);
        self.line_within(name, &text, length)
    }

    /// An optional text within a number of characters; absent is empty.
    pub fn optional_line(
        &mut self,
        name: &'static str,
        field: Field<String>,
        longest: usize,
    ) -> String {
        let text = self.optional(name, field).unwrap_or_default();
        self.line_within(name, &text, 0..=longest)
    }

    /// The same, of which null is of the wrong type.
    pub fn stated_line(
        &mut self,
        name: &'static str,
        field: Field<String>,
        longest: usize,
    ) -> String {
        let text = self.stated(name, field).unwrap_or_default();
        self.line_within(name, &text, 0..=longest)
    }

    fn line_within(
        &mut self,
        name: &'static str,
        text: &str,
        length: RangeInclusive<usize>,
    ) -> String {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            self.fail(name, "must not contain control characters");
        } else if !length.contains(&text.chars().count()) {
            let (least, most) = (length.start(), length.end());
            self.fail(name, format!("must have {least} to {most} characters"));
        }
        text.to_owned()
    }

    /// A required text of one or more lines and at most `most` characters. It
    /// is trimmed after they were counted.
    pub fn lines(&mut self, name: &'static str, field: Field<String>, most: usize) -> String {
        let text = self.required(name, field);
        let plain = text.replace("\r\n", "\n");
        if plain.chars().any(|letter| letter.is_control() && !"\n\t".contains(letter)) {
            self.fail(name, "must not contain control characters but line ends and tabs");
        } else if plain.trim().is_empty() || text.chars().count() > most {
            self.fail(name, format!("must have 1 to {most} characters"));
        }
        plain.trim().to_owned()
    }

    /// An optional whole number within a range.
    pub fn number(
        &mut self,
        name: &'static str,
        field: Field<i64>,
        range: RangeInclusive<i64>,
    ) -> Option<i64> {
        let number = self.optional(name, field)?;
        if !range.contains(&number) {
            self.fail(name, format!("must be from {} to {}", range.start(), range.end()));
        }
        Some(number)
    }

    /// An optional known word, as what it means.
    pub fn one_of<T: Copy>(
        &mut self,
        name: &'static str,
        field: Field<String>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let text = self.optional(name, field)?;
        let found = known.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            self.fail(name, format!("must be one of {}", words.join(", ")));
        }
        found.map(|(_, meant)| *meant)
    }

    /// An optional list of known words with commas between, each once; empty when absent.
    pub fn words(
        &mut self,
        name: &'static str,
        field: Field<String>,
        known: &[&'static str],
    ) -> Vec<&'static str> {
        let text = self.optional(name, field);
        let mut words = Vec::new();
        for part in text.iter().flat_map(|text| text.split(',')) {
            match known.iter().find(|word| **word == part.trim()) {
                Some(word) if words.contains(word) => {}
                Some(word) => words.push(*word),
                None => self.fail(
                    name,
                    format!("must be one of {}, or several with commas between", known.join(", ")),
                ),
            }
        }
        words
    }

    /// An optional instant: with an offset as RFC 3339 says, or else as civil time of `zone`.
    pub fn instant(
        &mut self,
        name: &'static str,
        field: Field<String>,
        zone: Zone,
    ) -> Option<Instant> {
        let text = self.optional(name, field)?;
        let at = Instant::parse(&text).or_else(|| zone.read(&text)).filter(|at| at.0 >= 0);
        if at.is_none() {
            self.fail(
                name,
                "must be a time as YYYY-MM-DDTHH:MM:SS, with an offset or as civil time",
            );
        }
        at
    }

    /// An optional civil day, as `YYYY-MM-DD`.
    pub fn day(&mut self, name: &'static str, field: Field<String>) -> Option<Day> {
        let text = self.optional(name, field)?;
        let day = Day::parse(&text);
        if day.is_none() {
            self.fail(name, "must be a day as YYYY-MM-DD");
        }
        day
    }

    /// An optional text to search for, of 1 to `most` characters.
    pub fn search(
        &mut self,
        name: &'static str,
        field: Field<String>,
        most: usize,
    ) -> Option<String> {
        let text = self.optional(name, field)?;
        if !(1..=most).contains(&text.chars().count()) {
            self.fail(name, format!("must have from 1 to {most} characters"));
        }
        Some(text)
    }

    /// An optional whole number from 1 to `most`; a larger one is `most`.
    pub fn capped(&mut self, name: &'static str, field: Field<i64>, most: i64) -> Option<i64> {
        let number = self.optional(name, field)?;
        if number < 1 {
            self.fail(name, format!("must be from 1 to {most}"));
        }
        Some(number.clamp(1, most))
    }

    /// The problem with all invalid fields, if there are any.
    pub fn finish(self) -> Result<(), Problem> {
        if self.fields.is_empty() {
            return Ok(());
        }
        let code = if self.wrong_type { Code::InvalidBody } else { Code::ValidationFailed };
        Err(Problem { code, ..Problem::invalid(self.fields) })
    }
}
