//! The checks of input, expressed as JSON Schema.
//!
//! Patterns use only what all dialects of regular expressions share. They spell
//! out their character classes, because `\s` differs between languages.

use std::ops::RangeInclusive;

/// White space, as `str::trim` removes it.
const BLANK: &str = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
/// Control characters, as in `char::is_control`.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";

/// A text without control characters whose trimmed length is in this range, as
/// `Check::line` accepts it. The range begins at 1 or more.
pub fn line(length: RangeInclusive<usize>) -> String {
    let (least, most) = (*length.start(), *length.end());
    let edge = format!("[^{BLANK}{CONTROL}]");
    let rest = format!("[^{CONTROL}]{{{},{}}}{edge}", least.saturating_sub(2), most - 2);
    let rest = if least > 1 { rest } else { format!("({rest})?") };
    let text = format!("{edge}{rest}");
    let text = if least > 0 { text } else { format!("({text})?") };
    format!("^[{BLANK}]*{text}[{BLANK}]*$")
}

/// A text of one or more lines that is not blank, as `Check::lines` accepts it.
/// The schema names its length separately.
pub fn lines() -> String {
    let letter = r"([^\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\r\n)";
    format!("^{letter}*[^{BLANK}{CONTROL}]{letter}*$")
}

/// A text with at least one character that is not white space.
pub fn not_blank() -> String {
    format!("[^{BLANK}]")
}

/// The number of a row as text: positive, with blanks around it where people
/// may have typed them.
pub fn number_text() -> String {
    format!("^[{BLANK}]*0*[1-9][0-9]{{0,17}}[{BLANK}]*$")
}

/// The rule of `Day::parse` in addition to the date format: years from 1970.
pub const DAY: &str = "^(19[7-9][0-9]|[2-9][0-9]{3})-";

/// Known words with commas between, as `Check::words` accepts them.
pub fn word_list(words: &[&str]) -> String {
    let word = words.join("|").replace('.', "[.]");
    format!("^({word})(,({word}))*$")
}

/// A time, as `Check::instant` accepts it.
pub const INSTANT: &str = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?([.][0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?$";

/// Most characters of an e-mail address, with the blanks around it.
pub const EMAIL_LONGEST: usize = 254;

/// An e-mail address, as `text::email` accepts it. A domain that is not ASCII
/// matches only in its ASCII form, because no pattern can say which such
/// domains are valid.
pub fn email() -> String {
    let local = format!(r#"[^{BLANK}{CONTROL}<>"(),;:\\\[\]@]"#);
    let label = r"[!#-'*+\-/0-9=?A-Z^-~]+";
    format!(r"^[{BLANK}]*{local}+@{label}(\.{label})+[{BLANK}]*$")
}

/// The values of a field that may also be null.
pub fn or_null(values: impl IntoIterator<Item = &'static str>) -> Vec<Option<&'static str>> {
    values.into_iter().map(Some).chain([None]).collect()
}

#[cfg(test)]
mod tests {
    use jsonschema::Validator;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::http::input::{Check, Field};

    fn pattern(pattern: &str) -> Validator {
        jsonschema::draft202012::new(&json!({ "type": "string", "pattern": pattern })).unwrap()
    }

    fn is_line(text: &str, length: RangeInclusive<usize>) -> bool {
        let mut check = Check::json();
        check.line("nome", Field::of(text.to_owned()), length);
        check.finish().is_ok()
    }

    proptest! {
        #[test]
        fn a_line_is_what_the_check_takes(text in "[ -~\\PC\\t\\n\u{85}\u{a0}\u{feff}]{0,9}") {
            for length in [1..=5, 2..=5, 3..=5] {
                let described = pattern(&line(length.clone())).is_valid(&json!(text));
                prop_assert_eq!(described, is_line(&text, length));
            }
        }

        #[test]
        fn an_email_is_what_the_check_takes(text in "[ a\u{e9}\\t:]?[a-zA-Z\u{e9}@.+ ]{0,5}@[a-z@. \\[]{0,6}\n?") {
            let described = pattern(&email()).is_valid(&json!(text));
            prop_assert_eq!(described, crate::base::text::email(&text).is_some());
        }

        #[test]
        fn a_blank_text_is_what_trimming_empties(text in "[ \\t\u{85}\u{2003}\u{200b}\u{feff}a]{0,3}") {
            let described = pattern(&not_blank()).is_valid(&json!(text));
            prop_assert_eq!(described, !text.trim().is_empty());
        }
    }
}
