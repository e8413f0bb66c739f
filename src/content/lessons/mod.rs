//! Lessons of the courses, each a video.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

/// Most lessons of a course, which a page shows at once, and of all courses.
pub const MOST_OF_A_COURSE: i64 = 500;
pub const MOST: i64 = 10_000;

#[derive(Clone, Debug)]
pub struct Lesson {
    pub id: i64,
    pub entry: LessonEntry,
    /// Title of its course.
    pub course: String,
    /// Name of the teacher.
    pub teacher: Option<String>,
}

/// What an operator enters about a lesson. The audit log uses the field names
/// of the form.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LessonEntry {
    #[serde(rename = "titulo")]
    pub title: String,
    #[serde(rename = "curso_id")]
    pub course_id: i64,
    #[serde(rename = "professor_id")]
    pub teacher_id: Option<i64>,
    pub video_url: String,
    /// Position in the course. `None` means last for a new lesson, and no
    /// change for an existing one.
    #[serde(rename = "ordem")]
    pub position: Option<i64>,
}
