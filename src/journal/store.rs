//! The journal in the database.

use super::{LoggedError, OutsideCall};
use crate::base::retention::{ERRORS, Keep, OUTSIDE_CALLS};
use crate::db::{ReadTx, Result, WriteTx};

/// Most entries that stay, whatever their age.
const MOST_CALLS: i64 = 200_000;
const MOST_ERRORS: i64 = 5_000;

/// Adds entries.
pub fn add(tx: &WriteTx<'_>, calls: &[OutsideCall], errors: &[LoggedError]) -> Result<()> {
    for call in calls {
        tx.run(
            "INSERT INTO outside_call (at, request_id, service, what, status, us, error)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                call.at,
                &call.request_id,
                &call.service,
                &call.what,
                call.status,
                call.us,
                &call.error,
            ),
        )?;
    }
    for error in errors {
        tx.run(
            "INSERT INTO error_log (at, is_error, message, cause, request_id)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (error.at, error.is_error, &error.message, &error.cause, &error.request_id),
        )?;
    }
    Ok(())
}

/// Calls that were made for a request, in their order.
pub fn calls_of(tx: &ReadTx<'_>, request_id: &str, most: u32) -> Result<Vec<OutsideCall>> {
    tx.records(
        "FROM outside_call WHERE request_id = ?1 ORDER BY call_id LIMIT ?2",
        (request_id, most),
    )
}

/// Errors of a request, in their order.
pub fn errors_of(tx: &ReadTx<'_>, request_id: &str, most: u32) -> Result<Vec<LoggedError>> {
    tx.records(
        "FROM error_log WHERE request_id = ?1 AND request_id <> '' ORDER BY error_id LIMIT ?2",
        (request_id, most),
    )
}

/// The newest errors, the newest first.
pub fn newest_errors(tx: &ReadTx<'_>, most: u32) -> Result<Vec<LoggedError>> {
    tx.records("FROM error_log WHERE error_id > 0 ORDER BY error_id DESC LIMIT ?1", [most])
}

/// A log of the journal, and how much of it stays.
struct Log {
    table: &'static str,
    id: &'static str,
    time: Keep,
    rows: i64,
}

const CALL_LOG: Log =
    Log { table: "outside_call", id: "call_id", time: OUTSIDE_CALLS, rows: MOST_CALLS };
const ERROR_LOG: Log = Log { table: "error_log", id: "error_id", time: ERRORS, rows: MOST_ERRORS };

/// Removes calls that are old or too many, at most `most`; returns how many.
pub fn forget_calls(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    forget(tx, &CALL_LOG, most)
}

/// The same for errors.
pub fn forget_errors(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    forget(tx, &ERROR_LOG, most)
}

/// Looks at the oldest entries only, which are over first.
fn forget(tx: &WriteTx<'_>, log: &Log, most: usize) -> Result<usize> {
    let Log { table, id, time, rows } = log;
    tx.execute(
        &format!(
            "DELETE FROM {table} WHERE {id} IN (
                 SELECT {id} FROM (SELECT {id}, at FROM {table} WHERE {id} > 0 ORDER BY {id} LIMIT ?3)
                 WHERE at < ?1 OR {id} <= (SELECT max({id}) FROM {table}) - ?2)"
        ),
        (time.before(tx.now()), rows, i64::try_from(most).unwrap_or(1)),
    )
}
