//! Meets in the database.

use rusqlite::Row;

use super::{Meet, MeetEntry};
use crate::clock::Instant;
use crate::db::{ReadTx, Result};

const COLUMNS: &str = "meet_id, title, description, meet.teacher_id, starts_at, minutes, link,
    public, teacher.name";
const FROM: &str = "meet LEFT JOIN teacher ON teacher.teacher_id = meet.teacher_id";

fn read_meet(row: &Row<'_>) -> rusqlite::Result<Meet> {
    Ok(Meet {
        id: row.get(0)?,
        entry: MeetEntry {
            title: row.get(1)?,
            description: row.get(2)?,
            teacher_id: row.get(3)?,
            starts_at: Instant(row.get(4)?),
            minutes: row.get(5)?,
            link: row.get(6)?,
            public: row.get(7)?,
        },
        teacher: row.get(8)?,
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
