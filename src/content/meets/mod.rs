//! Meets: live mentoring sessions.

pub mod store;

use serde::Serialize;

use crate::clock::Instant;

/// A live mentoring session.
#[derive(Clone, Debug)]
pub struct Meet {
    pub id: i64,
    pub entry: MeetEntry,
    /// Name of whoever holds it.
    pub teacher: Option<String>,
}

/// What an operator enters of a meet.
#[derive(Clone, Debug, Serialize)]
pub struct MeetEntry {
    pub title: String,
    pub description: String,
    pub teacher_id: Option<i64>,
    #[serde(serialize_with = "as_text")]
    pub starts_at: Instant,
    pub minutes: i64,
    /// Where to join, empty until it is known.
    pub link: String,
    /// Whether anyone may join.
    pub public: bool,
}

fn as_text<S: serde::Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.rfc3339())
}
