//! Conditions of a list, put together from constant fragments: one for each of
//! its filters that is given.

use std::borrow::Cow;

use rusqlite::{Row, ToSql};

use super::{ReadTx, Record, Result};

/// Which rows of all that match: at most `limit`, after the first `offset`.
#[derive(Clone, Copy, Debug)]
pub struct RowWindow {
    pub limit: u32,
    pub offset: u32,
}

impl RowWindow {
    pub const fn first(limit: u32) -> Self {
        Self { limit, offset: 0 }
    }
}

/// A page of a table's rows.
pub struct Page<'p> {
    pub table: &'p str,
    /// Columns with their directions.
    pub order: &'p str,
    pub window: RowWindow,
}

/// Numbers for `IN (…)`.
pub fn in_list(numbers: &[u8]) -> String {
    numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}

/// Conditions with their values.
#[derive(Clone)]
pub struct Filters<'v> {
    sql: String,
    values: Vec<(&'static str, &'v dyn ToSql)>,
}

impl<'v> Filters<'v> {
    /// Begins with a condition that always applies, and its values by name.
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
    #[expect(clippy::ref_option, reason = "it is a field of what is asked for")]
    pub fn and_if<T: ToSql>(&mut self, condition: &str, name: &'static str, value: &'v Option<T>) {
        if let Some(value) = value {
            self.and(condition, &[(name, value)]);
        }
    }

    /// Adds values without a condition, such as limit and offset.
    pub fn bind(&mut self, values: &[(&'static str, &'v dyn ToSql)]) {
        self.values.extend_from_slice(values);
    }

    /// The number of rows that match; `select` is the SELECT up to its table.
    pub fn count(&self, tx: &ReadTx<'_>, select: &str) -> Result<u64> {
        tx.count(&format!("{select} WHERE {}", self.sql), &self.values[..])
    }

    /// The rows of a page. Columns that are looked up in other tables are
    /// looked up for the rows of the page only, not for all that are sorted.
    pub fn rows<T>(
        &self,
        tx: &ReadTx<'_>,
        page: &Page<'_>,
        columns: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let Page { table, order, window: RowWindow { limit, offset } } = page;
        let sql = format!(
            "SELECT {columns} FROM (
                 SELECT * FROM {table} WHERE {} ORDER BY {order} LIMIT :limit OFFSET :offset) AS {table}
             ORDER BY {order}",
            self.sql
        );
        let mut values = self.values.clone();
        values.extend([(":limit", limit as &dyn ToSql), (":offset", offset)]);
        tx.all(&sql, &values[..], read)
    }

    /// The text after WHERE.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// One page of records, with the number of all. The conditions use only
    /// columns of `table`; the rows are read from `table` with `joins`.
    pub fn page<R: Record>(
        &self,
        tx: &ReadTx<'_>,
        (table, joins): (&str, &str),
        order: &str,
        RowWindow { limit, offset }: RowWindow,
    ) -> Result<(Vec<R>, u64)> {
        let Self { sql, values } = self;
        let total = tx.count(&format!("SELECT count(*) FROM {table} WHERE {sql}"), &values[..])?;
        let mut values = values.clone();
        values.extend([(":limit", &limit as &dyn ToSql), (":offset", &offset)]);
        let rest = format!(
            "FROM {table} {joins} WHERE {sql} ORDER BY {order} LIMIT :limit OFFSET :offset"
        );
        Ok((tx.records(&rest, &values[..])?, total))
    }

    /// The values by their names.
    pub fn values(&self) -> &[(&'static str, &'v dyn ToSql)] {
        &self.values
    }
}

/// Columns to sort by, all in descending order if `descending`.
pub fn sorted(columns: &str, descending: bool) -> Cow<'_, str> {
    if descending {
        format!("{} DESC", columns.replace(", ", " DESC, ")).into()
    } else {
        columns.into()
    }
}
