//! Teachers in the database.

use super::{Load, MOST, Teacher, TeacherEntry};
use crate::content::store::{Topic, containing, note_change};
use crate::db::{Column, Filters, ReadTx, Record as _, Result, WriteTx, sorted};

/// All teachers, by name.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<Teacher>> {
    tx.records("FROM teacher ORDER BY name COLLATE NOCASE, teacher_id", [])
}

/// Ids and names, by name.
pub fn names(tx: &ReadTx<'_>) -> Result<Vec<(i64, String)>> {
    tx.tuples("SELECT teacher_id, name FROM teacher ORDER BY name COLLATE NOCASE, teacher_id", [])
}

/// One page of the teachers whose name contains a text, with the total.
pub fn page(
    tx: &ReadTx<'_>,
    search: &str,
    descending: bool,
    window: (u32, u32),
) -> Result<(Vec<Teacher>, u64)> {
    let pattern = containing(search);
    let filters = Filters::new("name LIKE ?1 ESCAPE '\\'", &[("?1", &pattern)]);
    filters.page(
        tx,
        ("teacher", ""),
        &sorted("name COLLATE NOCASE, teacher_id", descending),
        window,
    )
}

pub fn teacher(tx: &ReadTx<'_>, id: i64) -> Result<Option<Teacher>> {
    tx.record("FROM teacher WHERE teacher_id = ?1", [id])
}

/// How many lessons and meets a teacher has.
pub fn load(tx: &ReadTx<'_>, id: i64) -> Result<Load> {
    tx.one(&format!("SELECT {}", Load::COLUMNS), [id], Load::read)
}

/// Makes a teacher; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &TeacherEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM teacher", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let now = tx.now();
    let times: [Column<'_>; 2] = [("created_at", &now), ("updated_at", &now)];
    let id = tx.put("INSERT INTO teacher", entry, &times)?;
    note_change(tx, Topic::Teachers)?;
    Ok(Some(id))
}

/// Changes a teacher.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &TeacherEntry) -> Result<()> {
    tx.change("teacher", entry, &[("updated_at", &tx.now())], &[("teacher_id", &id)])?;
    note_change(tx, Topic::Teachers)
}

/// Removes a teacher without lessons and meets.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.execute("DELETE FROM teacher WHERE teacher_id = ?1", [id])?;
    note_change(tx, Topic::Teachers)
}
