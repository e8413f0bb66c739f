//! The structure of a JSON text, looked at in its bytes before anything is
//! built of it: a value of seven bytes would take hundreds in memory. Decision http-4.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::{memchr, memchr2};

use super::problem::{Code, Problem};

/// Deepest nesting of brackets.
const MOST_DEPTH: usize = 32;
/// Most values, counting lists and objects as well as what is in them.
pub const MOST_VALUES: usize = 10_000;

/// Why a JSON text is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    Depth,
    Values,
    /// An object has a name twice. Readers would differ about which one counts.
    Repeated,
}

impl Unfit {
    /// The message for callers.
    pub const fn said(self) -> &'static str {
        match self {
            Self::Depth => "the body is nested too deeply; at most 32 levels are read",
            Self::Values => "the body has too many values; at most 10000 are read",
            Self::Repeated => "the body must be a JSON object with each field once",
        }
    }
}

impl From<Unfit> for Problem {
    fn from(unfit: Unfit) -> Self {
        Self::new(Code::InvalidBody, unfit.said())
    }
}

/// Rejects a text with too many values, too deep a nesting or a repeated name.
/// Whether it is JSON at all is seen when it is read; up to its first error it
/// is counted exactly.
pub fn check(json: &[u8]) -> Result<(), Unfit> {
    // The open brackets: an object by its number, a list as none.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut names: HashSet<(usize, Cow<'_, [u8]>)> = HashSet::new();
    let (mut objects, mut values, mut before, mut at) = (0, 0, b' ', 0);
    while let Some(byte) = json.get(at).copied() {
        let mut length = 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'"' => {
                let text = &json[at + 1..];
                length += string_length(text);
                match open.last() {
                    Some(Some(object)) if matches!(before, b'{' | b',') => {
                        let name = plain(&text[..length.saturating_sub(2)]);
                        if !names.insert((*object, name)) {
                            return Err(Unfit::Repeated);
                        }
                    }
                    _ => values += 1,
                }
            }
            b'{' | b'[' => {
                values += 1;
                open.push((byte == b'{').then_some(objects));
                objects += 1;
                if open.len() > MOST_DEPTH {
                    return Err(Unfit::Depth);
                }
            }
            b'}' | b']' => {
                open.pop();
            }
            b',' | b':' => {}
            _ => {
                values += 1;
                length = word_length(&json[at..]);
            }
        }
        if values.max(names.len()) > MOST_VALUES {
            return Err(Unfit::Values);
        }
        before = byte;
        at += length;
    }
    Ok(())
}

/// Bytes up to the quote that ends a string, including that quote.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(next) = memchr2(b'"', b'\\', &rest[at..]) {
        if rest[at + next] == b'"' {
            return at + next + 1;
        }
        // An escaped character does not end the string.
        at = (at + next + 2).min(rest.len());
    }
    rest.len()
}

/// Bytes of a number or of a word such as `true`.
fn word_length(rest: &[u8]) -> usize {
    let ends = |byte: &u8| b" \t\n\r\",:{}[]".contains(byte);
    rest.iter().position(ends).unwrap_or(rest.len())
}

/// A name without escapes.
fn plain(name: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\\', name).is_none() {
        return name.into();
    }
    let quoted = [b"\"", name, b"\""].concat();
    serde_json::from_slice::<String>(&quoted)
        .map_or_else(|_| name.into(), |text| text.into_bytes().into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Lists with so many values and so deep, counting the outermost.
    fn list(values: usize) -> String {
        format!("[{}]", vec!["0"; values - 1].join(","))
    }

    fn deep(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn values_and_levels_are_counted_and_strings_are_one_value() {
        for good in [
            list(MOST_VALUES),
            deep(MOST_DEPTH),
            format!("\"{}\"", "[0,".repeat(20_000)),
            format!("{{\"a\":\"{}\",\"b\":[]}}", "\\\"[{,".repeat(20_000)),
            format!("{{\"a\\\\\":[[]],\"b\":\"{}\"", "[".repeat(100)),
        ] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good:.40}");
        }
        for (bad, unfit) in [
            (list(MOST_VALUES + 1), Unfit::Values),
            (format!("[{}]", vec!["\"\""; MOST_VALUES].join(" , ")), Unfit::Values),
            (format!("[{}]", vec!["{}"; MOST_VALUES].join(",")), Unfit::Values),
            (format!("[{}]", vec!["{\"\":0}"; MOST_VALUES / 2].join(",")), Unfit::Values),
            // What is no JSON is not counted for ever either.
            ("true ".repeat(MOST_VALUES + 1), Unfit::Values),
            ("\"\"".repeat(MOST_VALUES + 1), Unfit::Values),
            (deep(MOST_DEPTH + 1), Unfit::Depth),
            ("[".repeat(1_000_000), Unfit::Depth),
            (format!("}}}}{}", "{".repeat(MOST_DEPTH + 1)), Unfit::Depth),
        ] {
            assert_eq!(check(bad.as_bytes()), Err(unfit), "{bad:.40}");
        }
        let names: Vec<String> = (0..=MOST_VALUES).map(|name| format!("\"{name}\"")).collect();
        let names = format!("{{{}", names.join(","));
        assert_eq!(check(names.as_bytes()), Err(Unfit::Values));
    }

    #[test]
    fn a_name_comes_once_in_an_object_at_any_level() {
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"b":{},"a":1}"#,
            r#"{"a":{"b":[{"c":1 , "c":2}]}}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"":1,"":1}"#,
        ] {
            assert_eq!(check(bad.as_bytes()), Err(Unfit::Repeated), "{bad}");
        }
        for good in [
            r#"{"a":"a","b":"a","c":["a","a"]}"#,
            r#"{"a":{"a":{"a":1}},"b":{"a":1},"A":[{"a":1},{"a":1}]}"#,
            r#"{"a":1,"a ":1,"\"a":1,"\\":1}"#,
        ] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
    }

    fn values(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(values).sum(),
            Value::Object(members) => members.values().map(values).sum(),
            _ => 0,
        }
    }

    proptest! {
        /// What is refused for its values has too many; what passes has not.
        #[test]
        fn the_count_is_that_of_the_tree(parts in prop::collection::vec(
            prop::sample::select(vec!["1", "\"x\"", "null", "{}", "[]", "{\"a\":[1,2]}", "[\"\\\\\",{\"b\":\"[\"}]"]),
            MOST_VALUES / 3..MOST_VALUES / 2,
        )) {
            let text = format!("[{}]", parts.join(","));
            let count = values(&serde_json::from_str(&text).unwrap());
            prop_assert_eq!(check(text.as_bytes()).is_ok(), count <= MOST_VALUES, "{}", count);
        }

        /// No input causes a panic.
        #[test]
        fn anything_is_looked_at(text in "[\\[\\]{}\",:\\\\a1 \u{e9}]{0,60}") {
            let _ = check(text.as_bytes());
        }
    }
}
