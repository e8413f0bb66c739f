//! Identifiers of rows, and digests of tokens.
//!
//! Row ids are integers inside and strings in JSON; programs may send them as numbers
//! too. Guessing an id is useless, because every query has the owner as a condition.

use std::fmt;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use sha2::{Digest as _, Sha256};

/// Implements storing and reading a type around an `i64` as that number.
#[macro_export]
macro_rules! stored_as_number {
    ($name:ident) => {
        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.0.into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                value.as_i64().map(Self)
            }
        }
    };
}

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        $crate::stored_as_number!($name);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                if generator.contract().is_serialize() {
                    return schemars::json_schema!({ "type": "string", "pattern": "^[0-9]+$" });
                }
                schemars::json_schema!({
                    "anyOf": [
                        { "type": "string", "pattern": SENT },
                        { "type": "integer", "minimum": 1, "maximum": MOST_EXACT },
                    ],
                })
            }

            fn inline_schema() -> bool {
                true
            }
        }
    };
}

/// The pattern of an id that a program sends as text: it has at most 18 digits.
const SENT: &str = "^[1-9][0-9]{0,17}$";

/// The largest number that is exact in every programming language. Larger ids have
/// to be sent as text.
pub const MOST_EXACT: i64 = 9_007_199_254_740_991;

row_id! {
    /// A person of the platform.
    UserId
}
row_id! {
    /// A seller account at the marketplace.
    MlUserId
}
row_id! {
    /// An order at the marketplace.
    OrderId
}
row_id! {
    /// A row that has no type of its own, here or at the marketplace.
    RowNumber
}

/// The pattern of a listing id.
pub const ITEM: &str = "^[A-Z]+[0-9]{1,18}$";

/// The number of a listing id, such as 123 of `MLB123`.
pub fn item_number(listing: &str) -> Option<i64> {
    let digits = listing.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let known = !digits.is_empty()
        && digits.len() <= 18
        && digits.len() < listing.len()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    known.then(|| digits.parse().ok()).flatten()
}

/// SHA-256 of a token: what is stored and looked up instead of the token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// The digest of a presented token.
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl ToSql for TokenHash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

/// First 16 bytes of the SHA-256 of several parts, each followed by its length:
/// a short key for "seen before" tables.
pub fn short_digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
        hasher.update((part.len() as u64).to_le_bytes());
    }
    let digest = hasher.finalize();
    std::array::from_fn(|index| digest[index])
}

/// A new request id: a random UUID (RFC 9562, version 4).
///
/// Request ids are no secrets, so they come from a fast generator that is
/// seeded by the operating system once per thread.
pub fn request_id() -> [u8; 36] {
    use std::cell::Cell;
    thread_local! {
        static STATE: Cell<u64> = Cell::new(u64::from_le_bytes(crate::base::secrets::random()));
    }
    // SplitMix64 (Steele, Lea, Flood 2014).
    let next = || {
        STATE.with(|state| {
            let seed = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
            state.set(seed);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        })
    };
    let (high, low) = (next().to_be_bytes(), next().to_be_bytes());
    let mut bytes: [u8; 16] =
        std::array::from_fn(|index| if index < 8 { high[index] } else { low[index - 8] });
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = [b'-'; 36];
    let mut at = 0;
    for (index, byte) in bytes.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            at += 1;
        }
        for digit in [byte >> 4, byte & 0xf] {
            text[at] = b"0123456789abcdef"[usize::from(digit)];
            at += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_are_version_4_uuids_and_differ() {
        let (one, other) = (request_id(), request_id());
        assert_ne!(one, other);
        let text = std::str::from_utf8(&one).unwrap();
        assert!(text.bytes().filter(|byte| *byte == b'-').count() == 4);
        assert_eq!(one[14], b'4', "{text}");
        assert!(matches!(one[19], b'8' | b'9' | b'a' | b'b'), "{text}");
    }

    #[test]
    fn listing_ids_have_a_site_and_a_number() {
        assert_eq!(item_number("MLB123"), Some(123));
        for other in ["", "123", "MLB", "mlb1", "MLB1x", "MLB-1", "MLB99999999999999999999"] {
            assert_eq!(item_number(other), None, "{other}");
        }
    }
}
