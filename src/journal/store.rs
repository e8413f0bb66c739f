//! The journal in the database.

use super::{LoggedError, OutsideCall};
use crate::base::Instant;
use crate::base::retention::{ERRORS, OUTSIDE_CALLS};
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

/// Removes calls that are old or too many, at most `most`; returns how many.
pub fn forget_calls(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    let is_over = "at < ?1 OR call_id <= (SELECT max(call_id) FROM outside_call) - ?2";
    let bounds = (OUTSIDE_CALLS.before(tx.now()), MOST_CALLS, most);
    forget(tx, ("outside_call", "call_id"), is_over, bounds)
}

/// The same for errors.
pub fn forget_errors(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    let is_over = "at < ?1 OR error_id <= (SELECT max(error_id) FROM error_log) - ?2";
    let bounds = (ERRORS.before(tx.now()), MOST_ERRORS, most);
    forget(tx, ("error_log", "error_id"), is_over, bounds)
}

/// Looks at the oldest entries only, which are over first.
fn forget(
    tx: &WriteTx<'_>,
    (table, id): (&str, &str),
    is_over: &str,
    (before, keep, most): (Instant, i64, usize),
) -> Result<usize> {
    tx.execute(
        &format!(
            "DELETE FROM {table} WHERE {id} IN (
                 SELECT {id} FROM (SELECT {id}, at FROM {table} WHERE {id} > 0 ORDER BY {id} LIMIT ?3)
                 WHERE {is_over})"
        ),
        (before, keep, i64::try_from(most).unwrap_or(1)),
    )
}
