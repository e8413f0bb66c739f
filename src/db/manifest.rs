//! The manifest beside a copy: what the copy was when it was made.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{backup, beside};
use crate::base::{Instant, text};

/// The part of a manifest that a copy is judged by.
#[derive(Deserialize)]
pub struct Manifest {
    /// Under either name.
    #[serde(alias = "created_at")]
    taken_at: Option<String>,
    /// Size of the copy.
    pub bytes: Option<u64>,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Where the manifest of a copy lies.
    pub fn path(copy: &Path) -> PathBuf {
        beside(copy, ".json")
    }

    /// The manifest of a copy; `None` when there is none. One without a SHA-256 is
    /// an error of the kind `InvalidData`.
    pub fn of(copy: &Path) -> Result<Option<Self>> {
        match std::fs::read(Self::path(copy)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| Error::new(ErrorKind::InvalidData, error)),
        }
    }

    /// Whether a SHA-256 is the one of the copy.
    pub fn is_of(&self, sha256: &str) -> bool {
        self.sha256.eq_ignore_ascii_case(sha256)
    }

    /// When the copy was begun.
    pub fn taken_at(&self) -> Option<Instant> {
        Instant::parse(self.taken_at.as_deref()?)
    }
}

/// The SHA-256 of a file, as a manifest writes it. Reads the whole file.
pub fn sha256_of(file: &Path) -> std::result::Result<String, backup::BackupError> {
    backup::digest(file).map(|(_, sha256)| text::hex(&sha256))
}
