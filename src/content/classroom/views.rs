//! What the students' pages for courses and lessons print.

use askama::Template;

use super::{StudentCourse, StudentLesson};
use crate::content::plans::views::Offer;
use crate::panel::{Layout, Progress};

/// `GET /painel/aulas`: the courses.
#[derive(Template)]
#[template(path = "student_courses.html", config = "assets/askama.toml")]
pub struct StudentCoursesPage {
    pub layout: Layout,
    /// The courses that the student may see.
    pub courses: Vec<StudentCourse>,
    /// Titles of courses of other plans, and the plans with them.
    pub locked: Vec<String>,
    pub offer: Option<Offer>,
}

impl StudentCourse {
    /// How much of it is done; `None` without lessons.
    pub fn progress(&self) -> Option<Progress> {
        let label = format!("{} de {} aulas feitas", self.done, self.lessons);
        let progress = Progress::new(label, self.done.into(), self.lessons.into(), "");
        (self.lessons > 0).then_some(progress)
    }

    /// What the button says that leads to the next lesson.
    pub fn button(&self) -> &'static str {
        if self.done == 0 { "Começar" } else { "Continuar" }
    }
}

/// `GET /painel/aulas/{curso}`: the lessons of a course.
#[derive(Template)]
#[template(path = "student_course.html", config = "assets/askama.toml")]
pub struct StudentCoursePage {
    pub layout: Layout,
    pub course: StudentCourse,
    /// Its lessons, in their order.
    pub lessons: Vec<StudentLesson>,
}

/// `GET /painel/aulas/{curso}/{aula}`: a lesson to watch.
#[derive(Template)]
#[template(path = "watch.html", config = "assets/askama.toml")]
pub struct WatchPage {
    pub layout: Layout,
    pub course: StudentCourse,
    pub lessons: Vec<StudentLesson>,
    /// The place of the lesson among them, from 0.
    pub at: usize,
    /// Address of the player that loads after a click; `None` when the video
    /// only opens elsewhere.
    pub player: Option<String>,
    /// Where the video is, such as `youtu.be`.
    pub host: String,
}

impl WatchPage {
    pub fn lesson(&self) -> &StudentLesson {
        &self.lessons[self.at]
    }

    pub fn before(&self) -> Option<&StudentLesson> {
        self.lessons.get(self.at.checked_sub(1)?)
    }

    pub fn after(&self) -> Option<&StudentLesson> {
        self.lessons.get(self.at + 1)
    }

    pub fn is_here(&self, lesson: &StudentLesson) -> bool {
        lesson.lesson_id == self.lesson().lesson_id
    }
}
