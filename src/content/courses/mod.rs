//! Courses: lessons in an order, for students of some roles.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::accounts::Role;
use crate::usual;

/// Most courses; a student's list shows all of them.
pub const MOST: i64 = 500;

/// A course.
#[derive(Clone, Debug)]
pub struct Course {
    pub id: i64,
    pub entry: CourseEntry,
    /// How many lessons it has.
    pub lessons: i64,
}

usual! {
    /// What an operator enters of a course, in the audit log by the names it is sent with.
    #[derive(Clone, Debug, Serialize)]
    pub struct CourseEntry {
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "descricao")]
        pub description: String,
        /// Place among the courses; `None` for the last, or where it is.
        #[serde(rename = "ordem")]
        pub position: Option<i64>,
        #[serde(rename = "publicado")]
        pub published: bool = true,
        /// Who sees it; empty for every student but free ones.
        #[serde(rename = "papeis")]
        pub roles: Vec<Role>,
    }
}

/// Roles that a course can be for.
pub fn student_roles() -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(|role| role.is_student())
}
