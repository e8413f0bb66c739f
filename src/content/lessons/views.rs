//! What the operator's pages for lessons print.

use askama::Template;

use super::Lesson;
use crate::panel::{FormView, Layout, Pick, Table};

/// `GET /admin/aulas`: the list of lessons.
#[derive(Template)]
#[template(path = "lessons.html", config = "assets/askama.toml")]
pub struct LessonsPage {
    pub layout: Layout,
    pub table: Table,
    /// The one course that is shown; `None` for all.
    pub course: Option<Pick>,
    pub lessons: Vec<Lesson>,
}

/// `GET /admin/aulas/novo`, `GET /admin/aulas/{id}`, and their answers when
/// fields are invalid.
#[derive(Template)]
#[template(path = "lesson_form.html", config = "assets/askama.toml")]
pub struct LessonForm {
    pub layout: Layout,
    /// The stored lesson; `None` for a new one.
    pub existing: Option<Lesson>,
    pub form: FormView,
    /// What `curso_id` offers.
    pub courses: Vec<Pick>,
    /// What `professor_id` offers.
    pub teachers: Vec<Pick>,
    /// Which videos play on our pages, in words.
    pub video_help: String,
}

/// Which videos play on our pages, in words.
pub fn video_words(hosts: &[String]) -> String {
    if hosts.is_empty() {
        return "Os alunos abrem o vídeo por um link.".to_owned();
    }
    format!(
        "Cole o endereço como ele aparece no YouTube ou no Vimeo. Tocam na página da aula os vídeos de {}; os de outros lugares abrem por um link.",
        hosts.join(", ")
    )
}
