//! Courses: lessons in an order, for students of some roles.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::accounts::Role;
use crate::row;
use crate::usual;

/// Most courses; a student's list shows all of them.
pub const MOST: i64 = 500;

row! {
    #[derive(Clone, Debug)]
    pub struct Course {
        pub id: i64 = "course_id",
        pub entry: CourseEntry as row,
        /// How many lessons it has.
        pub lessons: i64 = "(SELECT count(*) FROM lesson WHERE lesson.course_id = course.course_id)",
    }
}

usual! {
    /// What an operator enters about a course. The audit log uses the field
    /// names of the form.
    #[derive(Clone, Debug, Serialize)]
    pub struct CourseEntry {
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "descricao")]
        pub description: String,
        /// Position among the courses. `None` means last for a new course, and
        /// no change for an existing one.
        #[serde(rename = "ordem")]
        pub position: Option<i64>,
        #[serde(rename = "publicado")]
        pub published: bool = true,
        /// Roles that see the course; empty means all students except free
        /// ones.
        #[serde(rename = "papeis")]
        pub roles: Vec<Role>,
    }
}

/// Roles that a course can be for.
pub fn student_roles() -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(|role| role.is_student())
}
