//! What the pages for courses print.

use askama::Template;

use crate::accounts::Role;
use crate::panel::form::FormView;
use crate::panel::list::Table;
use crate::panel::view::{Badge, Layout, Tick};

/// `GET /admin/cursos`: the list of courses.
#[derive(Debug, Template)]
#[template(path = "courses.html", config = "assets/askama.toml")]
pub struct CoursesPage {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The frame of the list.
    pub table: Table,
    /// The courses of this page.
    pub courses: Vec<CourseRow>,
}

/// A course in the list.
#[derive(Debug)]
pub struct CourseRow {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who sees it, in words.
    pub audience: String,
    /// Place among the courses.
    pub position: String,
    /// Its lessons.
    pub lessons: i64,
    /// Published or not.
    pub state: Badge,
}

/// `GET /admin/cursos/novo`, `GET /admin/cursos/{id}`, and their answers when
/// fields are at fault.
#[derive(Debug, Template)]
#[template(path = "course_form.html", config = "assets/askama.toml")]
pub struct CourseForm {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The course that is changed; `None` for a new one.
    pub existing: Option<ExistingCourse>,
    /// `titulo`, `descricao`, `ordem`, `papeis`, `publicado`.
    pub form: FormView,
    /// The boxes of `papeis`.
    pub ticks: Vec<Tick>,
}

/// The stored course that a form changes.
#[derive(Debug)]
pub struct ExistingCourse {
    /// Its id.
    pub id: String,
    /// Its stored title, whatever was typed since.
    pub title: String,
    /// Its lessons, in their order.
    pub lessons: Vec<LessonLine>,
}

/// A lesson among those of its course.
#[derive(Debug)]
pub struct LessonLine {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who gives it; may be empty.
    pub teacher: String,
}

/// What to correct in a field of the form, in the words of its label.
pub fn fault_words(field: &str) -> &'static str {
    match field {
        "titulo" => "Dê um título de 2 a 120 letras.",
        "descricao" => "Use até 2.000 letras.",
        "ordem" => "Informe um número de 1 a 9999, ou deixe em branco.",
        "papeis" => "Escolha entre os papéis da lista.",
        _ => "Confira este campo.",
    }
}

/// Who sees a course, in words.
pub fn audience_words(roles: &[Role]) -> String {
    if roles.is_empty() {
        return "Todos os planos pagos".to_owned();
    }
    let titles: Vec<&str> = roles.iter().map(|role| role.title()).collect();
    titles.join(", ")
}

/// The boxes for the roles that a course can be for.
pub fn role_ticks(ticked: impl Fn(Role) -> bool) -> Vec<Tick> {
    super::student_roles().map(|role| Tick::new(role.name(), role.title(), ticked(role))).collect()
}
