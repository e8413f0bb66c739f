//! The attempts of deliveries: each as it ended.

use super::queue::TryResult;
use crate::base::Instant;
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

/// Most attempts that are kept of a delivery, which can be sent again any number of times.
const MOST: i64 = 100;

row! {
    /// An attempt of a delivery.
    #[derive(Clone, Debug)]
    pub struct Attempt {
        /// From 1 on, by delivery.
        pub count: i64 = "attempt",
        pub at: Instant,
        pub ms: i64,
        /// Status of the answer; `None` without an answer.
        pub status: Option<i64>,
        /// Why it failed; `None` for a success.
        pub error: Option<String>,
    }
}

/// Keeps the attempt of a result.
pub fn keep(tx: &WriteTx<'_>, result: &TryResult) -> Result<()> {
    let TryResult { endpoint, number, at, ms, status, error, .. } = result;
    let attempt: i64 = tx.value(
        "SELECT coalesce(max(attempt), 0) + 1 FROM webhook_attempt
         WHERE endpoint_id = ?1 AND number = ?2",
        (endpoint, number),
    )?;
    tx.run(
        "INSERT INTO webhook_attempt (endpoint_id, number, attempt, at, ms, status, error)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (endpoint, number, attempt, at, ms, status, error),
    )?;
    tx.run(
        "DELETE FROM webhook_attempt WHERE endpoint_id = ?1 AND number = ?2 AND attempt <= ?3",
        (endpoint, number, attempt - MOST),
    )
}

/// The attempts of a delivery, the first one first.
pub fn of_delivery(tx: &ReadTx<'_>, endpoint: i64, number: i64) -> Result<Vec<Attempt>> {
    tx.records(
        "FROM webhook_attempt WHERE endpoint_id = ?1 AND number = ?2 ORDER BY attempt",
        (endpoint, number),
    )
}
