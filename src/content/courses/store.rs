//! Courses in the database.

use super::{Course, CourseEntry};
use crate::accounts::Role;
use crate::db::{ReadTx, Result, WriteTx};
use crate::noun;
use crate::row;

row!(CourseEntry {
    title,
    description,
    position,
    published,
    roles = "(SELECT group_concat(role) FROM course_role WHERE course_role.course_id = course.course_id)"
        => roles_of,
});

/// The roles in the order of [`Role::ALL`], whatever order they were stored in.
fn roles_of(names: Option<String>) -> Vec<Role> {
    let names = names.unwrap_or_default();
    let named = |role: &Role| names.split(',').any(|name| name == role.name());
    Role::ALL.into_iter().filter(named).collect()
}

/// Ids and titles, in the order of the courses.
pub fn titles(tx: &ReadTx<'_>) -> Result<Vec<(i64, String)>> {
    tx.tuples("SELECT course_id, title FROM course ORDER BY position, course_id", [])
}

/// Makes a course; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &CourseEntry) -> Result<Option<i64>> {
    if !noun::store::has_room::<Course>(tx)? {
        return Ok(None);
    }
    let id = tx.insert(
        "INSERT INTO course (title, description, position, published, created_at, updated_at)
         VALUES (?1, ?2, coalesce(?3, (SELECT max(position) FROM course) + 1, 1), ?4, ?5, ?5)",
        (&entry.title, &entry.description, entry.position, entry.published, tx.now()),
    )?;
    set_roles(tx, id, &entry.roles)?;
    Ok(Some(id))
}

/// Changes a course; without a position it keeps the one it has.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &CourseEntry) -> Result<()> {
    tx.execute(
        "UPDATE course
         SET title = ?2, description = ?3, position = coalesce(?4, position), published = ?5, updated_at = ?6
         WHERE course_id = ?1",
        (id, &entry.title, &entry.description, entry.position, entry.published, tx.now()),
    )?;
    set_roles(tx, id, &entry.roles)
}

fn set_roles(tx: &WriteTx<'_>, id: i64, roles: &[Role]) -> Result<()> {
    tx.execute("DELETE FROM course_role WHERE course_id = ?1", [id])?;
    for role in roles {
        tx.execute("INSERT INTO course_role (course_id, role) VALUES (?1, ?2)", (id, role))?;
    }
    Ok(())
}
