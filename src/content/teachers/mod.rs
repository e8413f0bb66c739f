//! Teachers, shown to anyone.

pub mod store;

use serde::Serialize;

/// A teacher.
#[derive(Clone, Debug)]
pub struct Teacher {
    pub id: i64,
    pub entry: TeacherEntry,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// Lessons in published courses.
    pub lessons: i64,
}

/// What an operator enters of a teacher.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TeacherEntry {
    pub name: String,
    pub bio: String,
    pub links: Links,
}

/// Addresses elsewhere, each empty without one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Links {
    pub instagram: String,
    pub youtube: String,
    pub linkedin: String,
    pub site: String,
}
