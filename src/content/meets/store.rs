//! Meets in the database.

use super::Meet;
use crate::base::Instant;
use crate::db::{ReadTx, Result};

/// The next meets that begin after `now`, the first one first.
pub fn upcoming(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<Vec<Meet>> {
    tx.records("FROM meet WHERE starts_at > ?1 ORDER BY starts_at, meet_id LIMIT ?2", (now, most))
}

/// Meets that go on at `now` or begin later, the first one first.
pub fn not_over(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<Vec<Meet>> {
    // No meet is longer than a day, so the index scan starts one day before.
    tx.records(
        "FROM meet WHERE starts_at > ?1 - 86400 AND starts_at + minutes * 60 > ?1
         ORDER BY starts_at, meet_id LIMIT ?2",
        (now, most),
    )
}

/// The last meets that are over at `now`, the latest first.
pub fn over(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<Vec<Meet>> {
    tx.records(
        "FROM meet WHERE starts_at <= ?1 AND starts_at + minutes * 60 <= ?1
         ORDER BY starts_at DESC, meet_id DESC LIMIT ?2",
        (now, most),
    )
}
