//! What reads and write jobs may do with the database.
//!
//! Only [`Db::read`](super::Db::read) and the writer make these values, so
//! that holding one proves a transaction. `now` is fixed for its whole length.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::time::{Duration, Instant as Monotonic};

use rusqlite::types::FromSql;
use rusqlite::{
    CachedStatement, Connection, OptionalExtension as _, Params, Row, ToSql, ffi, params_from_iter,
};

use super::{Record, Result, Stored};
use crate::base::Instant;

/// One snapshot of the database.
pub struct ReadTx<'c> {
    connection: &'c Connection,
    now: Instant,
}

impl<'c> ReadTx<'c> {
    pub(super) fn new(connection: &'c Connection, now: Instant) -> Self {
        Self { connection, now }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// The instant of this transaction.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// A statement of this connection's cache. At the level `trace` the query
    /// plan is logged, which is how a test finds full scans.
    fn prepared(&self, sql: &str) -> rusqlite::Result<CachedStatement<'c>> {
        if tracing::enabled!(tracing::Level::TRACE) {
            let explain = format!("EXPLAIN QUERY PLAN {sql}");
            let mut statement = self.connection.prepare(&explain)?;
            let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3));
            let plan = steps.collect::<rusqlite::Result<Vec<_>>>()?.join("; ");
            let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
            tracing::trace!(plan, sql, "statement");
        }
        self.connection.prepare_cached(sql)
    }

    /// All rows, mapped.
    pub fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepared(sql)?;
        let rows = statement.query_map(params, row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The first row, if there is one.
    pub fn optional<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.prepared(sql)?;
        Ok(statement.query_row(params, row).optional()?)
    }

    /// The first row; no row is an error.
    pub fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let mut statement = self.prepared(sql)?;
        Ok(statement.query_row(params, row)?)
    }

    /// All records; `rest` is the SELECT from FROM on.
    pub fn records<R: Record>(&self, rest: &str, params: impl Params) -> Result<Vec<R>> {
        self.all(&format!("SELECT {} {rest}", R::COLUMNS), params, R::read)
    }

    /// The first record, if there is one; `rest` is the SELECT from FROM on.
    pub fn record<R: Record>(&self, rest: &str, params: impl Params) -> Result<Option<R>> {
        self.optional(&format!("SELECT {} {rest}", R::COLUMNS), params, R::read)
    }

    /// The columns of all rows, as tuples.
    pub fn tuples<T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<T>> {
        self.all(sql, params, |row| row.try_into())
    }

    /// The columns of the first row as a tuple, if there is one.
    pub fn tuple<T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Option<T>> {
        self.optional(sql, params, |row| row.try_into())
    }

    /// The only column of all rows.
    pub fn values<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        self.all(sql, params, |row| row.get(0))
    }

    /// The only column of the first row, if there is one.
    pub fn maybe<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Option<T>> {
        self.optional(sql, params, |row| row.get(0))
    }

    /// The only column of the first row; no row is an error.
    pub fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<T> {
        self.one(sql, params, |row| row.get(0))
    }

    /// A number of things: the only column of the only row. A negative number
    /// would be a broken counter and reads as 0.
    pub fn count(&self, sql: &str, params: impl Params) -> Result<u64> {
        let number: i64 = self.value(sql, params)?;
        Ok(u64::try_from(number).unwrap_or(0))
    }

    /// Calls `row` with each row, borrowed: nothing is allocated.
    pub fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut row: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let mut statement = self.prepared(sql)?;
        let mut rows = statement.query(params)?;
        while let Some(next) = rows.next()? {
            row(next)?;
        }
        Ok(())
    }
}

/// A column beside those of a record, with its value.
pub type Column<'v> = (&'static str, &'v dyn ToSql);

/// The columns of a record and more, a mark for each, and their values.
fn with_more<'v, R: Stored>(
    record: &'v R,
    more: &[Column<'v>],
) -> (String, String, Vec<&'v dyn ToSql>) {
    let (mut columns, mut values) = (R::COLUMNS.to_owned(), record.values());
    for (name, value) in more {
        columns.extend([", ", name]);
        values.push(*value);
    }
    (columns, vec!["?"; values.len()].join(", "), values)
}

/// What a piece of long work does in one job: it goes on until it has changed so
/// many rows, those of triggers and cascades included, or worked for so long.
const PIECE_ROWS: u64 = 300;
const PIECE_TIME: Duration = Duration::from_millis(5);
/// Rows that one statement of a piece changes at most.
const STEP: usize = 20;

/// Called by the writer after a commit.
pub(super) type Hook = Box<dyn FnOnce() + Send>;

/// A write job's part of a commit. It reads what earlier jobs of the same
/// commit have written.
pub struct WriteTx<'c> {
    read: ReadTx<'c>,
    pub(super) hooks: RefCell<Vec<Hook>>,
    /// The last error of a statement, to report why the transaction ended.
    pub(super) failure: Cell<Option<ffi::Error>>,
    /// When the present job began, and the connection's count of changes then.
    job: Cell<(Monotonic, u64)>,
}

impl<'c> WriteTx<'c> {
    pub(super) fn new(connection: &'c Connection, now: Instant) -> Self {
        Self {
            read: ReadTx::new(connection, now),
            hooks: RefCell::default(),
            failure: Cell::new(None),
            job: Cell::new((Monotonic::now(), connection.total_changes())),
        }
    }

    /// Notes that another job begins.
    pub(super) fn begin_job(&self) {
        self.job.set((Monotonic::now(), self.connection.total_changes()));
    }

    /// Whether the present job has done enough for one piece of long work.
    pub fn is_spent(&self) -> bool {
        let (began, changes) = self.job.get();
        self.connection.total_changes().saturating_sub(changes) >= PIECE_ROWS
            || began.elapsed() >= PIECE_TIME
    }

    /// Repeats a step that handles at most the given number of rows of a kind and
    /// returns how many it handled. True when nothing is left, false when the job
    /// has done enough.
    pub fn work_off<E>(&self, mut step: impl FnMut(usize) -> Result<usize, E>) -> Result<bool, E> {
        while step(STEP)? > 0 {
            if self.is_spent() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a statement; returns the number of changed rows.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        let run = || {
            self.prepared(sql)?
                .execute(params)
                .inspect_err(|error| self.failure.set(error.sqlite_error().copied()))
        };
        Ok(run()?)
    }

    /// Runs a statement, whatever number of rows it changes.
    pub fn run(&self, sql: &str, params: impl Params) -> Result<()> {
        self.execute(sql, params).map(drop)
    }

    /// Runs an INSERT; returns the id of the new row.
    pub fn insert(&self, sql: &str, params: impl Params) -> Result<i64> {
        self.execute(sql, params)?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Runs an INSERT whose row may exist already; returns the id of a new row.
    /// It does not use `RETURNING`, for which SQLite opens a table in memory:
    /// that takes longer than the insert.
    pub fn insert_new(&self, sql: &str, params: impl Params) -> Result<Option<i64>> {
        let is_new = self.execute(sql, params)? == 1;
        Ok(is_new.then(|| self.connection.last_insert_rowid()))
    }

    /// Inserts a record with more columns: `into` is the statement up to the
    /// table, such as `INSERT INTO teacher`. Returns the id of the new row.
    pub fn put(&self, into: &str, record: &impl Stored, more: &[Column<'_>]) -> Result<i64> {
        let (columns, marks, values) = with_more(record, more);
        self.insert(&format!("{into} ({columns}) VALUES ({marks})"), params_from_iter(values))
    }

    /// The same, unless there is a row with the same value of a unique column.
    pub fn put_new(
        &self,
        into: &str,
        record: &impl Stored,
        more: &[Column<'_>],
        unique: &str,
    ) -> Result<Option<i64>> {
        let (columns, marks, values) = with_more(record, more);
        let sql = format!("{into} ({columns}) VALUES ({marks}) ON CONFLICT ({unique}) DO NOTHING");
        self.insert_new(&sql, params_from_iter(values))
    }

    /// Changes the rows of a table with that key to a record with more
    /// columns; returns their number.
    pub fn change(
        &self,
        table: &str,
        record: &impl Stored,
        more: &[Column<'_>],
        key: &[Column<'_>],
    ) -> Result<usize> {
        let (columns, marks, mut values) = with_more(record, more);
        let keys: Vec<String> = key.iter().map(|(name, _)| format!("{name} = ?")).collect();
        values.extend(key.iter().map(|(_, value)| *value));
        let sql =
            format!("UPDATE {table} SET ({columns}) = ({marks}) WHERE {}", keys.join(" AND "));
        self.execute(&sql, params_from_iter(values))
    }

    /// Inserts a record under a key, or changes the row that has the key. The
    /// row is not replaced, so that triggers see which columns changed.
    pub fn keep(
        &self,
        table: &str,
        record: &impl Stored,
        more: &[Column<'_>],
        key: &[Column<'_>],
    ) -> Result<()> {
        let (columns, _, mut values) = with_more(record, more);
        let names: Vec<&str> = key.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        let mark = |place: usize| format!("?{}", place + 1);
        let set: Vec<String> = (0..values.len()).map(mark).collect();
        let set = set.join(", ");
        let keys: Vec<String> = (values.len()..values.len() + key.len()).map(mark).collect();
        values.extend(key.iter().map(|(_, value)| *value));
        let sql = format!(
            "INSERT INTO {table} ({columns}, {names}) VALUES ({set}, {})
             ON CONFLICT ({names}) DO UPDATE SET ({columns}) = ({set})",
            keys.join(", ")
        );
        self.run(&sql, params_from_iter(values))
    }

    /// Calls `f` right after the commit, before callers are answered; not at all
    /// when this job fails. `f` runs on the writer's thread: it may change data
    /// in memory, but it must not wait.
    pub fn after_commit(&self, f: impl FnOnce() + Send + 'static) {
        self.hooks.borrow_mut().push(Box::new(f));
    }
}

impl<'c> Deref for WriteTx<'c> {
    type Target = ReadTx<'c>;

    fn deref(&self) -> &ReadTx<'c> {
        &self.read
    }
}
