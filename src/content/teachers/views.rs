//! What the pages for teachers print.

use askama::Template;

use super::{Load, Teacher};
use crate::base::shortened;
use crate::panel::{FormView, Layout, Table};

/// `GET /admin/professores`: the list of teachers.
#[derive(Template)]
#[template(path = "teachers.html", config = "assets/askama.toml")]
pub struct TeachersPage {
    pub layout: Layout,
    pub table: Table,
    pub teachers: Vec<Teacher>,
}

/// Letters of the bio that the list shows.
const GLIMPSE: usize = 90;

impl Teacher {
    /// First words about the person; may be empty.
    pub fn glimpse(&self) -> String {
        let bio = &self.entry.bio;
        let start = shortened(bio, GLIMPSE);
        let more = if start.len() < bio.len() { "…" } else { "" };
        format!("{}{more}", start.replace('\n', " "))
    }
}

/// `GET /admin/professores/novo`, `GET /admin/professores/{id}`, and their
/// answers when fields are invalid.
#[derive(Template)]
#[template(path = "teacher_form.html", config = "assets/askama.toml")]
pub struct TeacherForm {
    pub layout: Layout,
    /// The stored teacher; `None` for a new one.
    pub existing: Option<Teacher>,
    pub load: Load,
    pub form: FormView,
}

impl Load {
    /// Why a teacher cannot be removed now; empty when that is possible.
    pub fn words(&self) -> String {
        let count = |count: i64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let given =
            [count(self.lessons, "aula", "aulas"), count(self.meets, "encontro", "encontros")];
        let given: Vec<String> = given.into_iter().flatten().collect();
        if given.is_empty() { String::new() } else { format!("Dá {}.", given.join(" e ")) }
    }
}
