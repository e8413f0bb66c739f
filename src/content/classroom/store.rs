//! What a student sees of courses and lessons, in the database.

use super::{Shelf, Step};
use crate::accounts::Role;
use crate::base::ids::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// Published, and for the role `?2`: one of its roles, or none named and not free.
const VISIBLE: &str = "course.published = 1 AND (
    EXISTS (SELECT 1 FROM course_role
            WHERE course_role.course_id = course.course_id AND course_role.role = ?2)
    OR (?2 <> 'free' AND NOT EXISTS
            (SELECT 1 FROM course_role WHERE course_role.course_id = course.course_id)))";

/// Title, description and counts of a course for the student `?1`.
const SHELF: &str = "course.course_id, course.title, course.description,
    (SELECT count(*) FROM lesson WHERE lesson.course_id = course.course_id),
    (SELECT count(*) FROM lesson JOIN lesson_done
         ON lesson_done.user_id = ?1 AND lesson_done.lesson_id = lesson.lesson_id
     WHERE lesson.course_id = course.course_id),
    (SELECT lesson.lesson_id FROM lesson
     WHERE lesson.course_id = course.course_id AND NOT EXISTS
         (SELECT 1 FROM lesson_done
          WHERE lesson_done.user_id = ?1 AND lesson_done.lesson_id = lesson.lesson_id)
     ORDER BY lesson.position, lesson.lesson_id LIMIT 1)";

fn read_shelf(row: &rusqlite::Row<'_>) -> rusqlite::Result<Shelf> {
    Ok(Shelf {
        course: row.get(0)?,
        title: row.get(1)?,
        description: row.get(2)?,
        lessons: row.get(3)?,
        done: row.get(4)?,
        next: row.get(5)?,
    })
}

/// The courses that a student may see, in their order.
pub fn shelves(tx: &ReadTx<'_>, student: UserId, role: Role) -> Result<Vec<Shelf>> {
    tx.all(
        &format!(
            "SELECT {SHELF} FROM course WHERE {VISIBLE} ORDER BY course.position, course.course_id"
        ),
        (student, role),
        read_shelf,
    )
}

/// One of these courses; `None` when the student may not see it.
pub fn shelf(tx: &ReadTx<'_>, student: UserId, role: Role, course: i64) -> Result<Option<Shelf>> {
    tx.optional(
        &format!("SELECT {SHELF} FROM course WHERE course.course_id = ?3 AND {VISIBLE}"),
        (student, role, course),
        read_shelf,
    )
}

/// The lessons of a course in their order, with what the student has done.
pub fn steps(tx: &ReadTx<'_>, student: UserId, course: i64) -> Result<Vec<Step>> {
    tx.all(
        "SELECT lesson.lesson_id, lesson.title, teacher.name, lesson.video_url,
                lesson_done.done_at IS NOT NULL
         FROM lesson
         LEFT JOIN teacher ON teacher.teacher_id = lesson.teacher_id
         LEFT JOIN lesson_done
             ON lesson_done.user_id = ?1 AND lesson_done.lesson_id = lesson.lesson_id
         WHERE lesson.course_id = ?2
         ORDER BY lesson.position, lesson.lesson_id",
        (student, course),
        |row| {
            Ok(Step {
                lesson: row.get(0)?,
                title: row.get(1)?,
                teacher: row.get(2)?,
                video_url: row.get(3)?,
                done: row.get(4)?,
            })
        },
    )
}

/// Marks a lesson as done, or takes the mark away. A mark keeps its first time.
pub fn mark(tx: &WriteTx<'_>, student: UserId, lesson: i64, done: bool) -> Result<()> {
    if done {
        tx.execute(
            "INSERT INTO lesson_done (user_id, lesson_id, done_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (user_id, lesson_id) DO NOTHING",
            (student, lesson, tx.now().0),
        )?;
    } else {
        tx.execute(
            "DELETE FROM lesson_done WHERE user_id = ?1 AND lesson_id = ?2",
            (student, lesson),
        )?;
    }
    Ok(())
}
