//! Meets in the database.

use rusqlite::Row;

use super::{MOST, Meet, MeetEntry};
use crate::base::clock::Instant;
use crate::content::store::containing;
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str = "meet_id, title, description, meet.teacher_id, starts_at, minutes, link,
    public, teacher.name, meet.updated_at";
const FROM: &str = "meet LEFT JOIN teacher ON teacher.teacher_id = meet.teacher_id";

fn read_meet(row: &Row<'_>) -> rusqlite::Result<Meet> {
    Ok(Meet {
        id: row.get(0)?,
        entry: MeetEntry {
            title: row.get(1)?,
            description: row.get(2)?,
            teacher_id: row.get(3)?,
            starts_at: row.get(4)?,
            minutes: row.get(5)?,
            link: row.get(6)?,
            public: row.get(7)?,
        },
        teacher: row.get(8)?,
        updated_at: row.get(9)?,
    })
}

/// The next meets that begin after `now`, the first one first.
pub fn upcoming(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<Vec<Meet>> {
    tx.all(
        &format!(
            "SELECT {COLUMNS} FROM {FROM} WHERE starts_at > ?1 ORDER BY starts_at, meet_id LIMIT ?2"
        ),
        (now.0, most),
        read_meet,
    )
}

/// Meets that go on at `now` or begin later, the first one first.
pub fn not_over(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<Vec<Meet>> {
    // None takes longer than a day, so the index finds where to begin.
    tx.all(
        &format!(
            "SELECT {COLUMNS} FROM {FROM}
             WHERE starts_at > ?1 - 86400 AND starts_at + minutes * 60 > ?1
             ORDER BY starts_at, meet_id LIMIT ?2"
        ),
        (now.0, most),
        read_meet,
    )
}

/// The last meets that are over at `now`, the latest first.
pub fn over(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<Vec<Meet>> {
    tx.all(
        &format!(
            "SELECT {COLUMNS} FROM {FROM}
             WHERE starts_at <= ?1 AND starts_at + minutes * 60 <= ?1
             ORDER BY starts_at DESC, meet_id DESC LIMIT ?2"
        ),
        (now.0, most),
        read_meet,
    )
}

/// What a list of meets shows.
pub struct Wanted<'w> {
    /// Part of the title.
    pub search: &'w str,
    /// Only those that begin after now (true) or have begun (false).
    pub upcoming: Option<bool>,
    pub now: Instant,
    /// Column to sort by.
    pub order: &'static str,
    /// Rows to show and rows before them.
    pub window: (u32, u32),
}

/// One page of meets, with their number.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<Meet>, u64)> {
    let pattern = containing(wanted.search);
    let when = match wanted.upcoming {
        Some(true) => "AND starts_at > ?2",
        Some(false) => "AND starts_at <= ?2",
        None => "AND ?2 IS NOT NULL",
    };
    let matching = format!("WHERE title LIKE ?1 ESCAPE '\\' {when}");
    let total: i64 =
        tx.value(&format!("SELECT count(*) FROM meet {matching}"), (&pattern, wanted.now.0))?;
    let (limit, offset) = wanted.window;
    let meets = tx.all(
        &format!(
            "SELECT {COLUMNS} FROM {FROM} {matching} ORDER BY {} LIMIT ?3 OFFSET ?4",
            wanted.order
        ),
        (&pattern, wanted.now.0, limit, offset),
        read_meet,
    )?;
    Ok((meets, u64::try_from(total).unwrap_or(0)))
}

/// One meet.
pub fn meet(tx: &ReadTx<'_>, id: i64) -> Result<Option<Meet>> {
    tx.optional(&format!("SELECT {COLUMNS} FROM {FROM} WHERE meet_id = ?1"), [id], read_meet)
}

/// Makes a meet; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &MeetEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM meet", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let id = tx.insert(
        "INSERT INTO meet (title, description, teacher_id, starts_at, minutes, link, public, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
        (
            &entry.title,
            &entry.description,
            entry.teacher_id,
            entry.starts_at.0,
            entry.minutes,
            &entry.link,
            entry.public,
            tx.now().0,
        ),
    )?;
    Ok(Some(id))
}

/// Changes a meet.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &MeetEntry) -> Result<()> {
    tx.execute(
        "UPDATE meet
         SET title = ?2, description = ?3, teacher_id = ?4, starts_at = ?5, minutes = ?6, link = ?7,
             public = ?8, updated_at = ?9
         WHERE meet_id = ?1",
        (
            id,
            &entry.title,
            &entry.description,
            entry.teacher_id,
            entry.starts_at.0,
            entry.minutes,
            &entry.link,
            entry.public,
            tx.now().0,
        ),
    )?;
    Ok(())
}

/// Removes a meet.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.execute("DELETE FROM meet WHERE meet_id = ?1", [id])?;
    Ok(())
}
