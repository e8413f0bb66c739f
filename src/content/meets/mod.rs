//! Meets: live mentoring sessions.

pub mod pages;
pub mod store;
pub mod views;

use serde::{Serialize, Serializer};

use crate::base::Instant;
use crate::panel::Badge;
use crate::row;
use crate::usual;

/// Most meets, past ones included.
pub const MOST: i64 = 10_000;

row! {
    /// A live mentoring session.
    #[derive(Clone, Debug)]
    pub struct Meet {
        pub id: i64 = "meet_id",
        pub entry: MeetEntry as row,
        /// Name of the teacher.
        pub teacher: Option<String> = "(SELECT name FROM teacher WHERE teacher.teacher_id = meet.teacher_id)",
        pub updated_at: Instant,
    }
}

impl Meet {
    /// When the meet ends.
    pub const fn ends_at(&self) -> Instant {
        self.entry.starts_at.plus(self.entry.minutes * 60)
    }
}

usual! {
    /// What an operator enters about a meet. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Serialize)]
    pub struct MeetEntry {
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "descricao")]
        pub description: String,
        #[serde(rename = "professor_id")]
        pub teacher_id: Option<i64>,
        #[serde(rename = "data_hora", serialize_with = "as_text")]
        pub starts_at: Instant = Instant(0),
        #[serde(rename = "duracao_minutos")]
        pub minutes: i64 = 60,
        /// Where to join, empty until it is known.
        pub link: String,
        /// Whether anyone may join.
        #[serde(rename = "publico")]
        pub public: bool,
    }
}

fn as_text<S: Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.rfc3339())
}

/// Whether a meet is in the future, running or over.
pub fn state(meet: &Meet, now: Instant) -> Badge {
    if now < meet.entry.starts_at {
        Badge::Scheduled
    } else if now < meet.ends_at() {
        Badge::Live
    } else {
        Badge::Over
    }
}
