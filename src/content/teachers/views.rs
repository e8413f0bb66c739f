//! What the pages for teachers print.

use askama::Template;

use super::Load;
use crate::panel::{FormView, Layout, Table};

/// `GET /admin/professores`: the list of teachers.
#[derive(Template)]
#[template(path = "teachers.html", config = "assets/askama.toml")]
pub struct TeachersPage {
    pub layout: Layout,
    pub table: Table,
    pub teachers: Vec<TeacherRow>,
}

/// A teacher in the list.
pub struct TeacherRow {
    pub id: String,
    pub name: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// First words about the person; may be empty.
    pub bio: String,
    /// Lessons in published courses.
    pub lessons: String,
}

/// `GET /admin/professores/novo`, `GET /admin/professores/{id}`, and their
/// answers when fields are invalid.
#[derive(Template)]
#[template(path = "teacher_form.html", config = "assets/askama.toml")]
pub struct TeacherForm {
    pub layout: Layout,
    /// The teacher that is changed; `None` for a new one.
    pub existing: Option<ExistingTeacher>,
    /// `nome`, `bio` and the addresses.
    pub form: FormView,
}

/// The stored teacher that a form changes.
pub struct ExistingTeacher {
    pub id: String,
    /// The stored name, not the one typed in the form.
    pub name: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// Why it cannot be removed now; empty when it can.
    pub busy: String,
}

/// Why a teacher cannot be removed now; empty when that is possible.
pub fn busy_words(load: Load) -> String {
    let lessons = match load.lessons {
        0 => None,
        1 => Some("1 aula".to_owned()),
        many => Some(format!("{many} aulas")),
    };
    let meets = match load.meets {
        0 => None,
        1 => Some("1 encontro".to_owned()),
        many => Some(format!("{many} encontros")),
    };
    match (lessons, meets) {
        (None, None) => String::new(),
        (Some(one), None) | (None, Some(one)) => format!("Dá {one}."),
        (Some(one), Some(other)) => format!("Dá {one} e {other}."),
    }
}
