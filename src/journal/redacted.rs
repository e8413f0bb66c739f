//! Texts for helpers: without secrets and without addresses of people.

use std::borrow::Cow;

use crate::operations::requests::is_secret;

/// What stands for a part that was taken out.
const MASK: &str = "***";
/// Runs of so many digits may be numbers of telephones or of people.
const NUMBER: std::ops::RangeInclusive<usize> = 10..=14;
/// Words before a secret, as in `token=…`.
const NAMES: [&str; 8] =
    ["token", "secret", "password", "senha", "segredo", "authorization", "bearer", "hottok"];

/// A text without e-mail addresses, numbers of telephones, and whatever looks like a
/// token, a code or a password.
pub fn redacted(text: &str) -> Cow<'_, str> {
    match without_telephones(text) {
        Some(text) => Cow::Owned(words(&text).into_owned()),
        None => words(text),
    }
}

/// A text without numbers of telephones that are written in groups, such as
/// `+55 (11) 98765-4321`; `None` when it has none.
fn without_telephones(text: &str) -> Option<String> {
    let mut safe: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(offset) = text[at..].find(|c: char| c.is_ascii_digit() || "+(".contains(c)) {
        let start = at + offset;
        let length = text[start..]
            .find(|c: char| !(c.is_ascii_digit() || " +-().".contains(c)))
            .unwrap_or(text.len() - start);
        let run = text[start..start + length].trim_end_matches(|c: char| !c.is_ascii_digit());
        let is_joined = text[..start].ends_with(|c: char| c.is_alphanumeric());
        if !is_joined && is_telephone(run) {
            let safe = safe.get_or_insert_with(String::new);
            safe.push_str(&text[copied..start]);
            safe.push_str(MASK);
            copied = start + run.len();
        }
        at = start + length;
    }
    safe.map(|safe| safe + &text[copied..])
}

/// Whether a run of digits and separators ends as numbers of telephones do: in four or
/// five digits and four more. Dates and times do not.
fn is_telephone(run: &str) -> bool {
    let groups: Vec<usize> = run
        .split(|c: char| !c.is_ascii_digit())
        .map(str::len)
        .filter(|length| *length > 0)
        .collect();
    NUMBER.contains(&groups.iter().sum()) && matches!(groups[..], [.., 4..=5, 4])
}

fn words(text: &str) -> Cow<'_, str> {
    let is_part = |c: char| !(c.is_whitespace() || "\"'`<>(){}[],;|".contains(c));
    let mut safe = String::new();
    let mut rest = text;
    let mut is_secret_next = false;
    let mut is_changed = false;
    while let Some(first) = rest.chars().next() {
        let takes = is_part(first);
        let end = rest.find(|c| is_part(c) != takes).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if !takes {
            safe.push_str(word);
            continue;
        }
        let name = word.trim_end_matches([':', '=']).to_ascii_lowercase();
        let is_scheme = is_secret_next && matches!(&*name, "basic" | "digest");
        // What is between a name and its secret.
        if name.is_empty() || is_scheme {
            safe.push_str(word);
            continue;
        }
        let is_name = NAMES.contains(&&*name);
        let shown = if is_secret_next && !is_name { Cow::Borrowed(MASK) } else { shown(word) };
        is_changed |= shown != word;
        safe.push_str(&shown);
        is_secret_next = is_name;
    }
    if is_changed { Cow::Owned(safe) } else { Cow::Borrowed(text) }
}

/// A word as it may be shown.
fn shown(word: &str) -> Cow<'_, str> {
    if let Some((name, value)) = word.split_once('=')
        && NAMES.iter().any(|known| name.to_ascii_lowercase().ends_with(known))
        && !value.is_empty()
    {
        return Cow::Owned(format!("{name}={MASK}"));
    }
    // An address of a person, or credentials in the address of a service.
    if word.contains('@') || word.contains("%40") {
        return Cow::Borrowed(MASK);
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && !value.is_empty()
        && one(value) == MASK
    {
        return Cow::Owned(format!("{name}{}{MASK}", &word[name.len()..=name.len()]));
    }
    // The number of a company, such as 12.345.678/0001-99.
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if digits == 14 && word.chars().all(|c| c.is_ascii_digit() || "./-".contains(c)) {
        return Cow::Borrowed(MASK);
    }
    if word.contains('/') {
        let path = word.split_once('?').map_or(word, |(path, _)| path);
        let parts: Vec<_> = path.split('/').map(one).collect();
        let joined = parts.join("/");
        return if joined == word { Cow::Borrowed(word) } else { Cow::Owned(joined) };
    }
    one(word)
}

fn one(word: &str) -> Cow<'_, str> {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_number = NUMBER.contains(&digits)
        && word.chars().all(|c| c.is_ascii_digit() || "+-.:".contains(c))
        && !word.contains(':');
    let has_mark = word.split(['_', '-', '=']).next().is_some_and(|mark| {
        matches!(mark, "ptk" | "spk" | "ext" | "whsec" | "APP" | "TG") && word.len() > 12
    });
    if is_secret(word) || is_number || has_mark { Cow::Borrowed(MASK) } else { Cow::Borrowed(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_secrets_go_and_the_cause_stays() {
        for (text, safe) in [
            ("550 mailbox ana.souza@example.com is full", "550 mailbox *** is full"),
            ("to <ana@example.com>: refused", "to <***>: refused"),
            ("smtp://escola:senha@mail.example.com:587 is silent", "*** is silent"),
            ("call +5511987654321 again", "call *** again"),
            ("cpf 123.456.789-09", "cpf ***"),
            ("cnpj 12.345.678/0001-99", "cnpj ***"),
            ("call +55 11 98765-4321 or (11) 3765-4321.", "call *** or ***."),
            ("number=5511987654321", "number=***"),
            (r#"{"phone":5511987654321}"#, r#"{"phone":***}"#),
            (r#"{"password":"hunter2"}"#, r#"{"password":"***"}"#),
            ("Authorization: Basic dXNlcjpw", "Authorization: Basic ***"),
            ("token = abc", "token = ***"),
            ("/x/ana%40example.com", "***"),
            ("token ptk_0a1b2c3d4e5f60718293", "token ***"),
            ("Authorization: Bearer abc", "Authorization: Bearer ***"),
            ("at /x?token=abc", "at /x?token=***"),
            ("password=abc123", "password=***"),
            ("code 0a1b2c3d4e5f60718293a4b5", "code ***"),
            ("/convite/0a1b2c3d4e5f60718293a4b5 404", "/convite/*** 404"),
        ] {
            assert_eq!(redacted(text), safe, "{text}");
        }
        for text in [
            "database disk image is malformed (code 11)",
            "connection refused: 127.0.0.1:8080",
            "the order 2000009123456789 was not found",
            "ml_sync: a página não respondeu em 10 s",
            "2026-11-20T12:00:00Z src/db/writer.rs:12",
            "2026-11-20 12:00:00 (1234 of 5678)",
            "from 2026/11/20 to 2026/12/20",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
