//! Converts telephone numbers that people type to the form that is stored.
//!
//! Brazilian numbers get their country code, and old mobile numbers their ninth
//! digit. Buyers' numbers are divided into area code and number in different
//! ways, so both readings are tried.

/// Area codes in use.
const AREAS: &[u8] = &[
    11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 31, 32, 33, 34, 35, 37, 38, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 51, 53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68, 69, 71, 73, 74, 75, 77,
    79, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 93, 94, 95, 96, 97, 98, 99,
];

/// The number in digits with country code; `None` when it cannot be one.
pub fn normal(code: &str, number: &str) -> Option<String> {
    let digits = |text: &str| -> String {
        let digits = text.chars().filter(char::is_ascii_digit);
        let digits: String = digits.take(20).collect();
        digits.trim_start_matches('0').to_owned()
    };
    let (code, number) = (digits(code), digits(number));
    if number.is_empty() {
        return None;
    }
    let whole = format!("{code}{number}");
    let foreign = || (10..=15).contains(&whole.len()).then(|| whole.clone());
    brazilian(&number).or_else(|| brazilian(&whole)).or_else(foreign)
}

/// Whether two numbers are the same, with or without the ninth digit, which the chat
/// network leaves out of older ones.
pub fn is_same(one: &str, other: &str) -> bool {
    let stored = |number| normal("", number);
    stored(one).is_some() && stored(one) == stored(other)
}

fn brazilian(digits: &str) -> Option<String> {
    let national = match digits.len() {
        10 | 11 => digits,
        12 | 13 => digits.strip_prefix("55")?,
        _ => return None,
    };
    let (area, line) = national.split_at_checked(2)?;
    if !AREAS.contains(&area.parse().ok()?) {
        return None;
    }
    match (line.len(), line.as_bytes().first()?) {
        (9, b'9') | (8, b'2'..=b'5') => Some(format!("55{area}{line}")),
        (8, b'6'..=b'9') => Some(format!("55{area}9{line}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_is_the_same_without_its_ninth_digit() {
        assert!(is_same("5531987650000", "553187650000"));
        assert!(is_same("14155550100", "14155550100"));
        for other in ["5531987650001", "553287650000", ""] {
            assert!(!is_same("5531987650000", other), "{other}");
        }
        assert!(!is_same("", ""));
    }

    #[test]
    fn numbers_are_read_in_all_their_divisions() {
        for (code, number, kept) in [
            ("", "11987650000", "5511987650000"),
            ("11", "987650000", "5511987650000"),
            ("55", "11987650000", "5511987650000"),
            ("55", "987650000", "5555987650000"),
            ("", "+55 (11) 98765-0000", "5511987650000"),
            ("011", "8765-0000", "5511987650000"),
            ("", "1133334444", "551133334444"),
            ("351", "912345678", "351912345678"),
            ("", "00351912345678", "351912345678"),
        ] {
            assert_eq!(normal(code, number).as_deref(), Some(kept), "{code} {number}");
        }
        for (code, number) in [("", ""), ("11", ""), ("", "123"), ("", "1".repeat(16).as_str())] {
            assert_eq!(normal(code, number), None, "{code} {number}");
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_is_10_to_15_digits(code in ".{0,8}", number in ".{0,24}") {
            if let Some(kept) = normal(&code, &number) {
                prop_assert!((10..=15).contains(&kept.len()));
                prop_assert!(kept.bytes().all(|byte| byte.is_ascii_digit()));
            }
        }
    }
}
