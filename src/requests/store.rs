//! The log of requests in the database.

use super::{Entry, FULL};
use crate::clock::Instant;
use crate::db::{ReadTx, Result, WriteTx};

/// Entries begin so far apart in a second that they can be numbered within it.
const PER_SECOND: i64 = 1_000_000;

/// The first number that an entry of an instant can have.
pub const fn first_of(at: Instant) -> i64 {
    at.0.saturating_mul(PER_SECOND)
}

/// Adds entries; gives back how many the log had no place for.
pub fn add(tx: &WriteTx<'_>, entries: &[Entry]) -> Result<usize> {
    if entries.is_empty() || count(tx)? >= FULL {
        return Ok(entries.len());
    }
    for entry in entries {
        let first = first_of(entry.at);
        tx.execute(
            "INSERT INTO request_log
                 (entry_id, at, request_id, method, path, status, us, caller, caller_id, address, sampled)
             VALUES (
                 1 + coalesce((SELECT max(entry_id) FROM request_log WHERE entry_id >= ?1 AND entry_id < ?2), ?1 - 1),
                 ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            rusqlite::params![
                first,
                first.saturating_add(PER_SECOND),
                entry.at.0,
                entry.request_id,
                entry.method,
                entry.path,
                entry.status,
                entry.us,
                entry.caller.kind,
                entry.caller.id,
                entry.address.map(|address| address.to_string()).unwrap_or_default(),
                entry.sampled,
            ],
        )?;
    }
    Ok(0)
}

/// Entries of the log.
pub fn count(tx: &ReadTx<'_>) -> Result<i64> {
    tx.one(
        "SELECT coalesce(sum(entries), 0) FROM request_log_count",
        [],
        |row| row.get(0),
    )
}
