//! Teachers, shown to anyone.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

/// Most teachers; everybody stands in one public answer.
pub const MOST: i64 = 1_000;

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

/// What an operator enters of a teacher, in the audit log by the names it is sent with.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TeacherEntry {
    #[serde(rename = "nome")]
    pub name: String,
    pub bio: String,
    #[serde(rename = "redes")]
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

/// What a teacher gives, published or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    pub lessons: i64,
    pub meets: i64,
}

impl Load {
    /// Whether somebody else must take over before the teacher can go.
    pub const fn is_none(self) -> bool {
        self.lessons == 0 && self.meets == 0
    }
}
