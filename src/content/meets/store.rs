//! Meets in the database.

use super::{MOST, Meet, MeetEntry};
use crate::base::Instant;
use crate::content::store::containing;
use crate::db::{Filters, ReadTx, Result, WriteTx, sorted};
use crate::row;

row!(stored MeetEntry {
    title,
    description,
    teacher_id,
    starts_at,
    minutes,
    link,
    public,
});

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

/// Filters and order of a list of meets.
pub struct Wanted<'w> {
    /// Part of the title.
    pub search: &'w str,
    /// Only those that begin after now (true) or have begun (false).
    pub upcoming: Option<bool>,
    pub now: Instant,
    /// By title instead of by time.
    pub by_title: bool,
    pub descending: bool,
    /// Rows to show and rows before them.
    pub window: (u32, u32),
}

/// One page of meets, with the total.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<Meet>, u64)> {
    let pattern = containing(wanted.search);
    let mut filters = Filters::new("title LIKE ?1 ESCAPE '\\'", &[("?1", &pattern)]);
    match wanted.upcoming {
        Some(true) => filters.and("starts_at > :now", &[(":now", &wanted.now)]),
        Some(false) => filters.and("starts_at <= :now", &[(":now", &wanted.now)]),
        None => {}
    }
    let order =
        if wanted.by_title { "title COLLATE NOCASE, meet_id" } else { "starts_at, meet_id" };
    filters.page(tx, ("meet", ""), &sorted(order, wanted.descending), wanted.window)
}

pub fn meet(tx: &ReadTx<'_>, id: i64) -> Result<Option<Meet>> {
    tx.record("FROM meet WHERE meet_id = ?1", [id])
}

/// Makes a meet; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &MeetEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM meet", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let now = tx.now();
    tx.put("INSERT INTO meet", entry, &[("created_at", &now), ("updated_at", &now)]).map(Some)
}

pub fn update(tx: &WriteTx<'_>, id: i64, entry: &MeetEntry) -> Result<()> {
    tx.change("meet", entry, &[("updated_at", &tx.now())], &[("meet_id", &id)])?;
    Ok(())
}

pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.run("DELETE FROM meet WHERE meet_id = ?1", [id])
}
