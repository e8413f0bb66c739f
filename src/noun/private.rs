//! Texts that stay between the person who typed them and those who may read the
//! record.

#![allow(dead_code, reason = "for fields to come; no field of the forms is private today")]

use std::fmt;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

/// A text that is neither logged nor audited: it cannot be serialized and its
/// debug form is empty of it, so a field of this type is left out of audit values
/// (`#[serde(skip)]`) or does not compile. What shows it asks for it by
/// [`shown`](Self::shown).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Private(String);

impl Private {
    /// The text, for a page or a file of those who may read it.
    pub fn shown(&self) -> &str {
        &self.0
    }

    /// Where a form puts what was typed.
    pub const fn typed(&mut self) -> &mut String {
        &mut self.0
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Private")
    }
}

impl ToSql for Private {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Private {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        String::column_result(value).map(Self)
    }
}
