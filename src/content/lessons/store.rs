//! Lessons in the database.

use super::{Lesson, LessonEntry, MOST_OF_A_COURSE};
use crate::db::{ReadTx, Result, WriteTx};
use crate::noun::Noun as _;

/// The lessons of a course, in their order.
pub fn of_course(tx: &ReadTx<'_>, course: i64) -> Result<Vec<Lesson>> {
    let (beside, order) = (Lesson::ROWS.joins, "ORDER BY lesson.position, lesson.lesson_id");
    tx.records(&format!("FROM lesson {beside} WHERE lesson.course_id = ?1 {order}"), [course])
}

/// Whether there is room for one more lesson in a course.
pub fn has_room(tx: &ReadTx<'_>, course: i64) -> Result<bool> {
    tx.value(
        "SELECT (SELECT count(*) FROM lesson WHERE course_id = ?1) < ?2
            AND (SELECT count(*) FROM lesson) < ?3",
        (course, MOST_OF_A_COURSE, Lesson::ROWS.most.0),
    )
}

/// Makes a lesson; without a position it is the last of its course.
pub fn insert(tx: &WriteTx<'_>, entry: &LessonEntry) -> Result<i64> {
    tx.insert(
        "INSERT INTO lesson (title, course_id, teacher_id, video_url, position, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4,
                 coalesce(?5, (SELECT max(position) FROM lesson WHERE course_id = ?2) + 1, 1), ?6, ?6)",
        (
            &entry.title,
            entry.course_id,
            entry.teacher_id,
            &entry.video_url,
            entry.position,
            tx.now(),
        ),
    )
}

/// Changes a lesson. Without a position it keeps the one it has, or comes last
/// in another course.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &LessonEntry) -> Result<()> {
    tx.run(
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
            tx.now(),
        ),
    )
}

/// Removes marks that students have set on a lesson; false when some are left.
pub fn empty(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    tx.work_off(|most| {
        tx.execute(
            "DELETE FROM lesson_done WHERE (user_id, lesson_id) IN (
                 SELECT user_id, lesson_id FROM lesson_done WHERE lesson_id = ?1 LIMIT ?2)",
            (id, i64::try_from(most).unwrap_or(1)),
        )
    })
}

/// Swaps a lesson with the one before it (`up`) or after it. At either end of
/// the course nothing changes. All positions are renumbered, so that equal ones
/// become different.
pub fn shift(tx: &WriteTx<'_>, course: i64, id: i64, up: bool) -> Result<()> {
    let mut places: Vec<(i64, i64)> = tx.tuples(
        "SELECT lesson_id, position FROM lesson WHERE course_id = ?1 ORDER BY position, lesson_id",
        [course],
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
