//! Lists of short words that are stored in one column, separated by spaces.

use ipnet::IpNet;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Serialize, Serializer};

use super::{Scope, network, network_text};

/// A value that is written as one word without spaces.
pub trait Word: Sized {
    /// The value as a word.
    fn word(&self) -> String;

    /// The value of a word; `None` when the word is unknown.
    fn read(word: &str) -> Option<Self>;
}

impl Word for Scope {
    fn word(&self) -> String {
        self.name().to_owned()
    }

    fn read(word: &str) -> Option<Self> {
        Self::from_name(word)
    }
}

impl Word for IpNet {
    fn word(&self) -> String {
        network_text(self)
    }

    fn read(word: &str) -> Option<Self> {
        network(word).ok()
    }
}

/// A list of words: text in the database, a list in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words<T>(pub Vec<T>);

impl<T> Default for Words<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Word> Words<T> {
    /// Each value as its word.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(Word::word).collect()
    }
}

impl<T: Word> Serialize for Words<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.texts())
    }
}

impl<T: Word> ToSql for Words<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.texts().join(" ").into())
    }
}

impl<T: Word> FromSql for Words<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        // A list that cannot be read must not pass for an empty one.
        let read = |word| T::read(word).ok_or(FromSqlError::InvalidType);
        value.as_str()?.split_whitespace().map(read).collect::<FromSqlResult<_>>().map(Self)
    }
}
