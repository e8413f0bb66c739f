//! What a student sees of courses and lessons, in the database.

use super::{StudentCourse, StudentLesson};
use crate::accounts::Role;
use crate::base::UserId;
use crate::content::plans::store as plans;
use crate::db::{ReadTx, Result, WriteTx};

/// The course is published and visible to the role `?2`: the course names this
/// role, or it names no role and the role is not free.
const VISIBLE: &str = "course.published = 1 AND (
    EXISTS (SELECT 1 FROM course_role
            WHERE course_role.course_id = course.course_id AND course_role.role = ?2)
    OR (?2 <> 'free' AND NOT EXISTS
            (SELECT 1 FROM course_role WHERE course_role.course_id = course.course_id)))";

// The course, its counts and the next lesson for the student `?1`.

/// The courses that a student may see, in their order.
pub fn courses(tx: &ReadTx<'_>, student: UserId, role: Role) -> Result<Vec<StudentCourse>> {
    let rest = format!("FROM course WHERE {VISIBLE} ORDER BY course.position, course.course_id");
    tx.records(&rest, (student, role))
}

/// Titles of published courses that a role does not see, in their order, at most `most`,
/// and the roles that see one of them.
pub fn locked(tx: &ReadTx<'_>, role: Role, most: usize) -> Result<(Vec<String>, Vec<Role>)> {
    let courses = plans::courses(tx)?.into_iter().filter(|one| one.published && !one.is_for(role));
    let courses: Vec<_> = courses.take(most).collect();
    let sees = |role: &Role| courses.iter().any(|course| course.is_for(*role));
    let roles = Role::STUDENTS.into_iter().filter(sees).collect();
    Ok((courses.into_iter().map(|course| course.title).collect(), roles))
}

/// One of these courses; `None` when the student may not see it.
pub fn course(
    tx: &ReadTx<'_>,
    student: UserId,
    role: Role,
    course: i64,
) -> Result<Option<StudentCourse>> {
    let rest = format!("FROM course WHERE course.course_id = ?3 AND {VISIBLE}");
    tx.record(&rest, (student, role, course))
}

/// The lessons of a course in their order, with what the student has done.
pub fn lessons(tx: &ReadTx<'_>, student: UserId, course: i64) -> Result<Vec<StudentLesson>> {
    tx.records(
        "FROM lesson
         LEFT JOIN teacher ON teacher.teacher_id = lesson.teacher_id
         LEFT JOIN lesson_done
             ON lesson_done.user_id = ?1 AND lesson_done.lesson_id = lesson.lesson_id
         WHERE lesson.course_id = ?2
         ORDER BY lesson.position, lesson.lesson_id",
        (student, course),
    )
}

/// Marks a lesson as done, or removes the mark. A lesson that is marked already
/// keeps the time of its mark.
pub fn mark(tx: &WriteTx<'_>, student: UserId, lesson: i64, done: bool) -> Result<()> {
    if done {
        tx.execute(
            "INSERT INTO lesson_done (user_id, lesson_id, done_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (user_id, lesson_id) DO NOTHING",
            (student, lesson, tx.now()),
        )?;
    } else {
        tx.execute(
            "DELETE FROM lesson_done WHERE user_id = ?1 AND lesson_id = ?2",
            (student, lesson),
        )?;
    }
    Ok(())
}
