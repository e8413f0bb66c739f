//! Teachers in the database.

use rusqlite::Row;

use super::{Links, Load, MOST, Teacher, TeacherEntry};
use crate::content::store::{Topic, containing, note_change};
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str = "teacher_id, name, bio, instagram, youtube, linkedin, site, photo,
    (SELECT count(*) FROM lesson JOIN course ON course.course_id = lesson.course_id
     WHERE lesson.teacher_id = teacher.teacher_id AND course.published = 1)";

fn read_teacher(row: &Row<'_>) -> rusqlite::Result<Teacher> {
    Ok(Teacher {
        id: row.get(0)?,
        entry: TeacherEntry {
            name: row.get(1)?,
            bio: row.get(2)?,
            links: Links {
                instagram: row.get(3)?,
                youtube: row.get(4)?,
                linkedin: row.get(5)?,
                site: row.get(6)?,
            },
        },
        photo: row.get(7)?,
        lessons: row.get(8)?,
    })
}

/// Everybody, by name.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<Teacher>> {
    tx.all(
        &format!("SELECT {COLUMNS} FROM teacher ORDER BY name COLLATE NOCASE, teacher_id"),
        [],
        read_teacher,
    )
}

/// Ids and names, by name.
pub fn names(tx: &ReadTx<'_>) -> Result<Vec<(i64, String)>> {
    tx.all(
        "SELECT teacher_id, name FROM teacher ORDER BY name COLLATE NOCASE, teacher_id",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// One page of those whose name contains a text, with their number.
pub fn page(
    tx: &ReadTx<'_>,
    search: &str,
    descending: bool,
    (limit, offset): (u32, u32),
) -> Result<(Vec<Teacher>, u64)> {
    let pattern = containing(search);
    let matching = "FROM teacher WHERE name LIKE ?1 ESCAPE '\\'";
    let total: i64 = tx.value(&format!("SELECT count(*) {matching}"), [&pattern])?;
    let order = if descending {
        "name COLLATE NOCASE DESC, teacher_id DESC"
    } else {
        "name COLLATE NOCASE, teacher_id"
    };
    let teachers = tx.all(
        &format!("SELECT {COLUMNS} {matching} ORDER BY {order} LIMIT ?2 OFFSET ?3"),
        (&pattern, limit, offset),
        read_teacher,
    )?;
    Ok((teachers, u64::try_from(total).unwrap_or(0)))
}

/// One teacher.
pub fn teacher(tx: &ReadTx<'_>, id: i64) -> Result<Option<Teacher>> {
    tx.optional(&format!("SELECT {COLUMNS} FROM teacher WHERE teacher_id = ?1"), [id], read_teacher)
}

/// What a teacher gives.
pub fn load(tx: &ReadTx<'_>, id: i64) -> Result<Load> {
    tx.one(
        "SELECT (SELECT count(*) FROM lesson WHERE teacher_id = ?1),
                (SELECT count(*) FROM meet WHERE teacher_id = ?1)",
        [id],
        |row| Ok(Load { lessons: row.get(0)?, meets: row.get(1)? }),
    )
}

/// Makes a teacher; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &TeacherEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM teacher", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let id = tx.insert(
        "INSERT INTO teacher (name, bio, instagram, youtube, linkedin, site, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        (
            &entry.name,
            &entry.bio,
            &entry.links.instagram,
            &entry.links.youtube,
            &entry.links.linkedin,
            &entry.links.site,
            tx.now().0,
        ),
    )?;
    note_change(tx, Topic::Teachers)?;
    Ok(Some(id))
}

/// Changes a teacher.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &TeacherEntry) -> Result<()> {
    tx.execute(
        "UPDATE teacher
         SET name = ?2, bio = ?3, instagram = ?4, youtube = ?5, linkedin = ?6, site = ?7, updated_at = ?8
         WHERE teacher_id = ?1",
        (
            id,
            &entry.name,
            &entry.bio,
            &entry.links.instagram,
            &entry.links.youtube,
            &entry.links.linkedin,
            &entry.links.site,
            tx.now().0,
        ),
    )?;
    note_change(tx, Topic::Teachers)
}

/// Removes a teacher who gives nothing.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.execute("DELETE FROM teacher WHERE teacher_id = ?1", [id])?;
    note_change(tx, Topic::Teachers)
}
