//! What the students' pages for courses and lessons print.

use askama::Template;

use crate::panel::{Layout, Progress};

/// `GET /painel/aulas`: the courses.
#[derive(Template)]
#[template(path = "student_courses.html", config = "assets/askama.toml")]
pub struct StudentCoursesPage {
    pub layout: Layout,
    /// The courses that the student may see.
    pub courses: Vec<StudentCourseCard>,
}

/// A course on the list.
pub struct StudentCourseCard {
    pub id: String,
    pub title: String,
    /// What one learns in it; may be empty.
    pub description: String,
    /// How much of it is done; `None` without lessons.
    pub progress: Option<Progress>,
    /// Address of the lesson to go on with; empty when all are done.
    pub next: String,
    /// What the button says.
    pub button: &'static str,
}

/// `GET /painel/aulas/{curso}`: the lessons of a course.
#[derive(Template)]
#[template(path = "student_course.html", config = "assets/askama.toml")]
pub struct StudentCoursePage {
    pub layout: Layout,
    pub course: StudentCourseCard,
    /// Its lessons, in their order.
    pub lessons: Vec<StudentLessonLine>,
}

/// A lesson among those of its course.
pub struct StudentLessonLine {
    /// Where it is watched.
    pub href: String,
    pub title: String,
    /// Who gives it; may be empty.
    pub teacher: String,
    /// Whether the student has marked it.
    pub done: bool,
    /// Whether it is the one that is shown.
    pub here: bool,
}

/// `GET /painel/aulas/{curso}/{aula}`: a lesson to watch.
#[derive(Template)]
#[template(path = "watch.html", config = "assets/askama.toml")]
pub struct WatchPage {
    pub layout: Layout,
    pub course: StudentCourseCard,
    pub lessons: Vec<StudentLessonLine>,
    pub title: String,
    /// `Aula 2 de 12, com Rita Prado`.
    pub place: String,
    /// Address to watch at.
    pub video_url: String,
    /// Address of the player that loads after a click; `None` when the video
    /// only opens elsewhere.
    pub player: Option<String>,
    /// Where the video is, such as `youtu.be`.
    pub host: String,
    /// Path of the form that marks the lesson.
    pub mark: String,
    /// Whether the student has marked it.
    pub done: bool,
    /// Address of the lesson before; empty at the first.
    pub previous: String,
    /// Address of the lesson after; empty at the last.
    pub next: String,
}
