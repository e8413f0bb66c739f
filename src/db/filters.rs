//! Conditions of a list, put together from constant fragments by which of its
//! filters are given.

use rusqlite::ToSql;

/// Conditions with their values.
pub struct Filters<'v> {
    sql: String,
    values: Vec<(&'static str, &'v dyn ToSql)>,
}

impl<'v> Filters<'v> {
    /// Begins with a condition that always holds, and its values by name.
    pub fn new(condition: &str, values: &[(&'static str, &'v dyn ToSql)]) -> Self {
        Self { sql: condition.to_owned(), values: values.to_vec() }
    }

    /// Narrows by a condition.
    pub fn and(&mut self, condition: &str, values: &[(&'static str, &'v dyn ToSql)]) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.extend_from_slice(values);
    }

    /// Narrows by a condition with one value, if there is a value.
    pub fn and_if<T: ToSql>(&mut self, condition: &str, name: &'static str, value: &'v Option<T>) {
        if let Some(value) = value {
            self.and(condition, &[(name, value)]);
        }
    }

    /// Adds values without a condition, such as limit and offset.
    pub fn bind(&mut self, values: &[(&'static str, &'v dyn ToSql)]) {
        self.values.extend_from_slice(values);
    }

    /// What stands behind WHERE.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The values by their names.
    pub fn values(&self) -> &[(&'static str, &'v dyn ToSql)] {
        &self.values
    }
}
