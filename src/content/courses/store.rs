//! Courses in the database.

use rusqlite::Row;

use super::{Course, CourseEntry, MOST};
use crate::accounts::Role;
use crate::content::store::{Topic, containing, note_change};
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str = "course.course_id, title, description, position, published,
    (SELECT group_concat(role) FROM course_role WHERE course_role.course_id = course.course_id),
    (SELECT count(*) FROM lesson WHERE lesson.course_id = course.course_id)";

fn read_course(row: &Row<'_>) -> rusqlite::Result<Course> {
    let roles: Option<String> = row.get(5)?;
    let roles = roles.unwrap_or_default();
    // In the order of the roles, whatever order they were stored in.
    let named = |role: &Role| roles.split(',').any(|name| name == role.name());
    Ok(Course {
        id: row.get(0)?,
        entry: CourseEntry {
            title: row.get(1)?,
            description: row.get(2)?,
            position: row.get(3)?,
            published: row.get(4)?,
            roles: Role::ALL.into_iter().filter(named).collect(),
        },
        lessons: row.get(6)?,
    })
}

/// Ids and titles, in the order of the courses.
pub fn titles(tx: &ReadTx<'_>) -> Result<Vec<(i64, String)>> {
    tx.all("SELECT course_id, title FROM course ORDER BY position, course_id", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// One page of those whose title contains a text, with their number.
pub fn page(
    tx: &ReadTx<'_>,
    search: &str,
    order: &str,
    (limit, offset): (u32, u32),
) -> Result<(Vec<Course>, u64)> {
    let pattern = containing(search);
    let matching = "FROM course WHERE title LIKE ?1 ESCAPE '\\'";
    let total: i64 = tx.value(&format!("SELECT count(*) {matching}"), [&pattern])?;
    let courses = tx.all(
        &format!("SELECT {COLUMNS} {matching} ORDER BY {order} LIMIT ?2 OFFSET ?3"),
        (&pattern, limit, offset),
        read_course,
    )?;
    Ok((courses, u64::try_from(total).unwrap_or(0)))
}

/// One course.
pub fn course(tx: &ReadTx<'_>, id: i64) -> Result<Option<Course>> {
    tx.optional(
        &format!("SELECT {COLUMNS} FROM course WHERE course.course_id = ?1"),
        [id],
        read_course,
    )
}

/// Makes a course; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &CourseEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM course", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let id = tx.insert(
        "INSERT INTO course (title, description, position, published, created_at, updated_at)
         VALUES (?1, ?2, coalesce(?3, (SELECT max(position) FROM course) + 1, 1), ?4, ?5, ?5)",
        (&entry.title, &entry.description, entry.position, entry.published, tx.now().0),
    )?;
    set_roles(tx, id, &entry.roles)?;
    note_change(tx, Topic::Teachers)?;
    Ok(Some(id))
}

/// Changes a course; without a place it stays where it is.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &CourseEntry) -> Result<()> {
    tx.execute(
        "UPDATE course
         SET title = ?2, description = ?3, position = coalesce(?4, position), published = ?5, updated_at = ?6
         WHERE course_id = ?1",
        (
            id,
            &entry.title,
            &entry.description,
            entry.position,
            entry.published,
            tx.now().0,
        ),
    )?;
    set_roles(tx, id, &entry.roles)?;
    // Lessons of published courses are part of what is said of teachers.
    note_change(tx, Topic::Teachers)
}

fn set_roles(tx: &WriteTx<'_>, id: i64, roles: &[Role]) -> Result<()> {
    tx.execute("DELETE FROM course_role WHERE course_id = ?1", [id])?;
    for role in roles {
        tx.execute("INSERT INTO course_role (course_id, role) VALUES (?1, ?2)", (id, role))?;
    }
    Ok(())
}

/// Removes a course without lessons.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.execute("DELETE FROM course WHERE course_id = ?1", [id])?;
    Ok(())
}
