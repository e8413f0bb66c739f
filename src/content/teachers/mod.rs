//! Teachers, shown to anyone.

pub mod pages;
pub mod store;
pub mod views;

use schemars::JsonSchema;
use serde::Serialize;

use crate::row;
use crate::wire;

/// Most teachers; one public answer lists all of them.
pub const MOST: i64 = 1_000;

row! {
    #[derive(Clone, Debug)]
    pub struct Teacher {
        pub id: i64 = "teacher_id",
        pub entry: TeacherEntry as row,
        /// Path of the photo, empty without one.
        pub photo: String,
        /// Lessons in published courses.
        pub lessons: i64 = "(SELECT count(*) FROM lesson JOIN course ON course.course_id = lesson.course_id
         WHERE lesson.teacher_id = teacher.teacher_id AND course.published = 1)",
    }
}

row! {
    /// What an operator enters about a teacher. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct TeacherEntry: stored {
        #[serde(rename = "nome")]
        pub name: String,
        pub bio: String,
        #[serde(rename = "redes")]
        pub links: Links as row,
    }
}

row! {
    /// Addresses of a teacher on other sites; each may be empty.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct Links: stored {
        pub instagram: String,
        pub youtube: String,
        pub linkedin: String,
        pub site: String,
    }
}

wire! {
    /// A teacher on the wire.
    #[derive(Serialize, JsonSchema)]
    pub struct WireTeacher of(teacher: Teacher) after {
        let links = teacher.entry.links;
        let some = |address: String| Some(address).filter(|address| !address.is_empty());
    } {
        id: String = teacher.id.to_string(),
        nome: String = teacher.entry.name,
        /// Lessons in published courses.
        total_aulas: i64 = teacher.lessons,
        /// Path of the photo; empty without one.
        foto: String = teacher.photo,
        bio: String = teacher.entry.bio,
        redes: WireLinks = WireLinks {
            instagram: some(links.instagram),
            youtube: some(links.youtube),
            linkedin: some(links.linkedin),
            site: some(links.site),
        },
    }
}

/// Where else a teacher can be found; absent ones are left out.
#[derive(Serialize, JsonSchema)]
struct WireLinks {
    #[serde(skip_serializing_if = "Option::is_none")]
    instagram: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    youtube: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linkedin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
}

row! {
    /// How many lessons and meets a teacher has, published or not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Load {
        pub lessons: i64 = "(SELECT count(*) FROM lesson WHERE teacher_id = ?1)",
        pub meets: i64 = "(SELECT count(*) FROM meet WHERE teacher_id = ?1)",
    }
}

impl Load {
    /// Whether the teacher has no lessons and no meets, and so can be removed.
    pub const fn is_none(self) -> bool {
        self.lessons == 0 && self.meets == 0
    }
}
