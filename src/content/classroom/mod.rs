//! The students' side of courses and lessons: what a role may see, what the
//! student has done, and how a video is shown.

pub mod pages;
pub mod store;
pub mod video;
pub mod views;

/// A course on a student's list.
#[derive(Clone, Debug)]
pub struct StudentCourse {
    pub course_id: i64,
    pub title: String,
    pub description: String,
    pub lessons: u32,
    /// Lessons that the student has marked.
    pub done: u32,
    /// The first lesson that is not marked.
    pub next: Option<i64>,
}

/// A lesson of a course, as one student sees it.
#[derive(Clone, Debug)]
pub struct StudentLesson {
    pub lesson_id: i64,
    pub title: String,
    /// Who gives it.
    pub teacher: Option<String>,
    pub video_url: String,
    pub done: bool,
}
