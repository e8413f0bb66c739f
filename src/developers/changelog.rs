//! What changed in the Partner API, the newest first: the data file
//! `changelog.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::partner::texts::{self, Bilingual};

/// What changed on a day.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Civil day, as `YYYY-MM-DD`.
    pub day: String,
    pub title: Bilingual,
    /// One sentence each; code stands between backticks.
    pub points: Vec<Bilingual>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    changes: Vec<Change>,
}

/// Everything so far.
pub static CHANGES: LazyLock<Vec<Change>> =
    LazyLock::new(|| texts::read::<File>("changelog.toml").changes);
