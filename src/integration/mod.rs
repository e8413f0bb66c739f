//! The API that CRMs, checkouts, automations and assistants call with an API
//! key: registering, suspending and reactivating students, and reading the
//! context.

pub mod api;

use std::ops::RangeInclusive;

/// Digits of a chat number: country, area and number.
const CHAT_DIGITS: RangeInclusive<usize> = 10..=15;

/// Whether a text is a chat number.
pub fn is_chat_number(text: &str) -> bool {
    CHAT_DIGITS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The same check as a regular expression.
fn chat_pattern() -> String {
    format!("^[0-9]{{{},{}}}$", CHAT_DIGITS.start(), CHAT_DIGITS.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_numbers_are_digits_alone() {
        for good in ["1234567890", "5511987654321", "123456789012345"] {
            assert!(is_chat_number(good), "{good}");
        }
        for bad in [
            "",
            "123456789",
            "1234567890123456",
            "+5511987654321",
            "55 11 98765",
            "５５１１９８７６５",
            "11987654321\n",
        ] {
            assert!(!is_chat_number(bad), "{bad:?}");
        }
    }
}
