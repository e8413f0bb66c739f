//! A field that is one text, possibly of megabytes, as serde reads it.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::input::Field;

/// Any value that is neither a text nor null.
const OTHER: Value = Value::Bool(false);

/// Reads such a field, for `deserialize_with`. A value of another type is passed
/// over: only that it was there is kept.
pub fn only_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field<String>, D::Error> {
    struct Text;
    impl<'de> Visitor<'de> for Text {
        type Value = Value;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }

        fn visit_str<E>(self, text: &str) -> Result<Value, E> {
            Ok(text.into())
        }

        fn visit_string<E>(self, text: String) -> Result<Value, E> {
            Ok(text.into())
        }

        fn visit_unit<E>(self) -> Result<Value, E> {
            Ok(Value::Null)
        }

        fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
            Ok(OTHER)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
            Ok(OTHER)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
            Ok(OTHER)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
            Ok(OTHER)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(OTHER)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(OTHER)
        }
    }
    deserializer.deserialize_any(Text).map(|value| Field::sent(Some(value)))
}
