//! The nesting depth of a JSON text, computed before it is parsed.

use memchr::memchr2;

/// Deepest nesting of brackets outside of strings.
pub fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at += string_length(&json[at + 1..]),
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_nest_nothing() {
        for (json, deepest) in [
            (r#"{"a":[1,{"b":[]}]}"#, 4),
            (r#"{"a":"[[[[","b":"\"[[","c":[]}"#, 2),
            (r#"{"a\\":[[]],"b":"\\"}"#, 3),
            (r#"{"not ended [[["#, 1),
            (r#"{"not ended \"#, 1),
            ("}}}[", 1),
        ] {
            assert_eq!(depth(json.as_bytes()), deepest, "{json}");
        }
    }
}
