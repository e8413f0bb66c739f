//! A value of a query string, as serde reads it into a wire struct.

use std::fmt;

use serde::de::{self, Deserializer, IntoDeserializer};
use serde_json::Value;

/// Why a query struct could not be read.
#[derive(Debug)]
pub(super) enum QueryError {
    /// There is a parameter that it does not know; it knows these.
    Unknown(&'static [&'static str]),
    /// This parameter was not sent.
    Missing(&'static str),
    /// A mistake of ours, such as a field without a default.
    Other(String),
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(known) => write!(f, "a parameter is none of {known:?}"),
            Self::Missing(name) => write!(f, "there is no {name}"),
            Self::Other(said) => f.write_str(said),
        }
    }
}

impl std::error::Error for QueryError {}

impl de::Error for QueryError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn unknown_field(_: &str, known: &'static [&'static str]) -> Self {
        Self::Unknown(known)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::Missing(name)
    }
}

/// A JSON value as the value of a parameter, with this module's error type.
pub(super) struct AsQuery(pub Value);

impl IntoDeserializer<'_, QueryError> for AsQuery {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for AsQuery {
    type Error = QueryError;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        self.0.deserialize_any(visitor).map_err(|error| QueryError::Other(error.to_string()))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
