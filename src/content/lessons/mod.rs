//! Lessons of the courses, each a video.

pub mod pages;
pub mod store;
pub mod views;

use crate::row;
use serde::Serialize;

/// Most lessons of a course, which a page shows at once, and of all courses.
pub const MOST_OF_A_COURSE: i64 = 500;
pub const MOST: i64 = 10_000;

row! {
    #[derive(Clone, Debug)]
    pub struct Lesson {
        pub id: i64 = "lesson.lesson_id",
        pub entry: LessonEntry as row,
        /// Title of its course.
        pub course: String = "course.title",
        /// Name of the teacher.
        pub teacher: Option<String> = "teacher.name",
    }
}

row! {
    /// What an operator enters about a lesson. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct LessonEntry {
        #[serde(rename = "titulo")]
        pub title: String = "lesson.title",
        #[serde(rename = "curso_id")]
        pub course_id: i64 = "lesson.course_id",
        #[serde(rename = "professor_id")]
        pub teacher_id: Option<i64> = "lesson.teacher_id",
        pub video_url: String = "lesson.video_url",
        /// Position in the course. `None` means last for a new lesson, and no
        /// change for an existing one.
        #[serde(rename = "ordem")]
        pub position: Option<i64> = "lesson.position",
    }
}
