//! Teachers in the database.

use rusqlite::Row;

use super::{Links, Teacher, TeacherEntry};
use crate::db::{ReadTx, Result};

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
