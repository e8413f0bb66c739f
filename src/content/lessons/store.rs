//! Lessons in the database.

use rusqlite::Row;

use super::{Lesson, LessonEntry, MOST, MOST_OF_A_COURSE};
use crate::content::store::{Topic, containing, note_change};
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str = "lesson.lesson_id, lesson.title, lesson.course_id, lesson.teacher_id,
    lesson.video_url, lesson.position, course.title, teacher.name";
const BESIDE: &str = "JOIN course ON course.course_id = lesson.course_id
    LEFT JOIN teacher ON teacher.teacher_id = lesson.teacher_id";

fn read_lesson(row: &Row<'_>) -> rusqlite::Result<Lesson> {
    Ok(Lesson {
        id: row.get(0)?,
        entry: LessonEntry {
            title: row.get(1)?,
            course_id: row.get(2)?,
            teacher_id: row.get(3)?,
            video_url: row.get(4)?,
            position: row.get(5)?,
        },
        course: row.get(6)?,
        teacher: row.get(7)?,
    })
}

/// The lessons of a course, in their order.
pub fn of_course(tx: &ReadTx<'_>, course: i64) -> Result<Vec<Lesson>> {
    tx.all(
        &format!(
            "SELECT {COLUMNS} FROM lesson {BESIDE} WHERE lesson.course_id = ?1
             ORDER BY lesson.position, lesson.lesson_id"
        ),
        [course],
        read_lesson,
    )
}

/// What a list of lessons shows.
pub struct Wanted<'w> {
    /// Part of the title.
    pub search: &'w str,
    /// One course alone.
    pub course: Option<i64>,
    /// By title instead of by course and place.
    pub by_title: bool,
    pub descending: bool,
    /// Rows to show and rows before them.
    pub window: (u32, u32),
}

/// One page of lessons, with their number.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<Lesson>, u64)> {
    let pattern = containing(wanted.search);
    let of_course = match wanted.course {
        Some(_) => "AND lesson.course_id = ?2",
        None => "AND ?2 IS NULL",
    };
    let matching = format!("WHERE lesson.title LIKE ?1 ESCAPE '\\' {of_course}");
    let total: i64 =
        tx.value(&format!("SELECT count(*) FROM lesson {matching}"), (&pattern, wanted.course))?;
    let order = match (wanted.by_title, wanted.descending) {
        (true, false) => "lesson.title COLLATE NOCASE, lesson.lesson_id",
        (true, true) => "lesson.title COLLATE NOCASE DESC, lesson.lesson_id DESC",
        (false, false) => "course.position, course.course_id, lesson.position, lesson.lesson_id",
        (false, true) => {
            "course.position DESC, course.course_id DESC, lesson.position DESC, lesson.lesson_id DESC"
        }
    };
    let (limit, offset) = wanted.window;
    let lessons = tx.all(
        &format!(
            "SELECT {COLUMNS} FROM lesson {BESIDE} {matching} ORDER BY {order} LIMIT ?3 OFFSET ?4"
        ),
        (&pattern, wanted.course, limit, offset),
        read_lesson,
    )?;
    Ok((lessons, u64::try_from(total).unwrap_or(0)))
}

/// One lesson.
pub fn lesson(tx: &ReadTx<'_>, id: i64) -> Result<Option<Lesson>> {
    tx.optional(
        &format!("SELECT {COLUMNS} FROM lesson {BESIDE} WHERE lesson.lesson_id = ?1"),
        [id],
        read_lesson,
    )
}

/// Whether there is room for one more lesson in a course.
pub fn has_room(tx: &ReadTx<'_>, course: i64) -> Result<bool> {
    tx.value(
        "SELECT (SELECT count(*) FROM lesson WHERE course_id = ?1) < ?2
            AND (SELECT count(*) FROM lesson) < ?3",
        (course, MOST_OF_A_COURSE, MOST),
    )
}

/// Makes a lesson; without a place it is the last of its course.
pub fn insert(tx: &WriteTx<'_>, entry: &LessonEntry) -> Result<i64> {
    let id = tx.insert(
        "INSERT INTO lesson (title, course_id, teacher_id, video_url, position, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4,
                 coalesce(?5, (SELECT max(position) FROM lesson WHERE course_id = ?2) + 1, 1), ?6, ?6)",
        (
            &entry.title,
            entry.course_id,
            entry.teacher_id,
            &entry.video_url,
            entry.position,
            tx.now().0,
        ),
    )?;
    note_change(tx, Topic::Teachers)?;
    Ok(id)
}

/// Changes a lesson. Without a place it stays where it is, or comes last in
/// another course.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &LessonEntry) -> Result<()> {
    tx.execute(
        "UPDATE lesson
         SET title = ?2, teacher_id = ?4, video_url = ?5, updated_at = ?7, course_id = ?3,
             position = coalesce(?6, iif(course_id = ?3, position,
                 (SELECT max(other.position) FROM lesson AS other WHERE other.course_id = ?3) + 1), 1)
         WHERE lesson_id = ?1",
        (
            id,
            &entry.title,
            entry.course_id,
            entry.teacher_id,
            &entry.video_url,
            entry.position,
            tx.now().0,
        ),
    )?;
    note_change(tx, Topic::Teachers)
}

/// Removes a lesson, with what students have marked of it.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.execute("DELETE FROM lesson WHERE lesson_id = ?1", [id])?;
    note_change(tx, Topic::Teachers)
}

/// Lets a lesson change places with the one before it (`up`) or after it. The
/// first stays the first, and the last the last. Places are numbered anew, so
/// that equal ones come apart.
pub fn shift(tx: &WriteTx<'_>, course: i64, id: i64, up: bool) -> Result<()> {
    let mut places: Vec<(i64, i64)> = tx.all(
        "SELECT lesson_id, position FROM lesson WHERE course_id = ?1 ORDER BY position, lesson_id",
        [course],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some(at) = places.iter().position(|(one, _)| *one == id) else {
        return Ok(());
    };
    let other = if up { at.checked_sub(1) } else { Some(at + 1) };
    match other.filter(|other| *other < places.len()) {
        Some(other) => places.swap(at, other),
        None => return Ok(()),
    }
    for ((lesson, before), place) in places.into_iter().zip(1..) {
        if before != place {
            tx.execute("UPDATE lesson SET position = ?2 WHERE lesson_id = ?1", (lesson, place))?;
        }
    }
    Ok(())
}
