//! What the operator's pages for lessons print.

use askama::Template;

use crate::panel::form::{FormView, Pick};
use crate::panel::list::Table;
use crate::panel::view::Layout;

/// `GET /admin/aulas`: the list of lessons.
#[derive(Debug, Template)]
#[template(path = "lessons.html", config = "assets/askama.toml")]
pub struct LessonsPage {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The frame of the list.
    pub table: Table,
    /// The one course that is shown; `None` for all.
    pub course: Option<Pick>,
    /// The lessons of this page.
    pub lessons: Vec<LessonRow>,
}

/// A lesson in the list.
#[derive(Debug)]
pub struct LessonRow {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Title of its course.
    pub course: String,
    /// Who gives it; may be empty.
    pub teacher: String,
    /// Place in its course.
    pub position: String,
}

/// `GET /admin/aulas/novo`, `GET /admin/aulas/{id}`, and their answers when
/// fields are at fault.
#[derive(Debug, Template)]
#[template(path = "lesson_form.html", config = "assets/askama.toml")]
pub struct LessonForm {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The lesson that is changed; `None` for a new one.
    pub existing: Option<ExistingLesson>,
    /// `titulo`, `video_url`, `curso_id`, `professor_id`, `ordem`.
    pub form: FormView,
    /// What `curso_id` offers.
    pub courses: Vec<Pick>,
    /// What `professor_id` offers.
    pub teachers: Vec<Pick>,
    /// Which videos play on our pages, in words.
    pub video_help: String,
}

/// The stored lesson that a form changes.
#[derive(Debug)]
pub struct ExistingLesson {
    /// Its id.
    pub id: String,
    /// Its stored title, whatever was typed since.
    pub title: String,
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

/// What to correct in a field of the form, in the words of its label.
pub fn fault_words(field: &str) -> &'static str {
    match field {
        "titulo" => "Dê um título de 2 a 120 letras.",
        "video_url" => "Informe o endereço do vídeo, que comece com https://.",
        "curso_id" => "Escolha um curso da lista.",
        "professor_id" => "Escolha um professor da lista.",
        "ordem" => "Informe um número de 1 a 9999, ou deixe em branco.",
        _ => "Confira este campo.",
    }
}
