//! What the pages for courses print.

use askama::Template;

use super::Course;
use crate::accounts::Role;
use crate::content::lessons::Lesson;
use crate::panel::{Badge, FormView, Layout, Table, Tick};

/// `GET /admin/cursos`: the list of courses.
#[derive(Template)]
#[template(path = "courses.html", config = "assets/askama.toml")]
pub struct CoursesPage {
    pub layout: Layout,
    pub table: Table,
    pub courses: Vec<Course>,
}

/// `GET /admin/cursos/novo`, `GET /admin/cursos/{id}`, and their answers when
/// fields are invalid.
#[derive(Template)]
#[template(path = "course_form.html", config = "assets/askama.toml")]
pub struct CourseForm {
    pub layout: Layout,
    /// The stored course with its lessons, in their order; `None` for a new one.
    pub existing: Option<(Course, Vec<Lesson>)>,
    pub form: FormView,
    /// The boxes of `papeis`.
    pub ticks: Vec<Tick>,
}

impl Course {
    /// Who sees it, in words.
    pub fn audience(&self) -> String {
        if self.entry.roles.is_empty() {
            return "Todos os planos pagos".to_owned();
        }
        let titles: Vec<&str> = self.entry.roles.iter().map(|role| role.words()).collect();
        titles.join(", ")
    }

    /// Published or not.
    pub const fn badge(&self) -> Badge {
        if self.entry.published { Badge::Published } else { Badge::Draft }
    }
}

/// The boxes for the roles that a course can be for.
pub fn role_ticks(ticked: impl Fn(Role) -> bool) -> Vec<Tick> {
    super::student_roles().map(|role| Tick::new(role.name(), role.words(), ticked(role))).collect()
}
