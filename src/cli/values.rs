//! Parsers of option values. Their errors are the end of a sentence.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::accounts::Role;
use crate::base::{Day, Instant};
use crate::config;
use crate::keys::Scope;

/// An e-mail address in its stored form.
pub fn parse_email(text: &str) -> Result<String, &'static str> {
    crate::base::text::email(text).ok_or("must be an e-mail address")
}

pub fn parse_name(text: &str) -> Result<String, &'static str> {
    crate::base::text::person_name(text).map(str::to_owned).ok_or("must have 2 to 120 characters")
}

pub fn parse_token_name(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let fits = (1..=80).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err("must have 1 to 80 characters") }
}

/// Checks an address and returns it as typed.
pub fn parse_listen(text: &str) -> Result<String, &'static str> {
    config::parse_listen(text).map(|_| text.to_owned())
}

/// A role by its name; help and errors list the names.
pub fn roles() -> impl TypedValueParser<Value = Role> {
    let names = PossibleValuesParser::new(Role::ALL.map(Role::name));
    names.try_map(|name| Role::from_name(&name).ok_or("is no role"))
}

/// A scope by its name; help and errors list the names.
pub fn scopes() -> impl TypedValueParser<Value = Scope> {
    let names = PossibleValuesParser::new(Scope::ALL.map(Scope::name));
    names.try_map(|name| Scope::from_name(&name).ok_or("is no scope"))
}

pub fn parse_day(text: &str) -> Result<Day, &'static str> {
    Day::parse(text).ok_or("must be a day as YYYY-MM-DD")
}

/// An instant in RFC 3339.
pub fn parse_instant(text: &str) -> Result<Instant, String> {
    Instant::parse(text).ok_or_else(|| {
        "must be an instant with its offset, such as 2026-11-20T12:00:00-03:00 or 2026-11-20T15:00:00Z".to_owned()
    })
}
