//! The manifest beside a copy: what the copy was when it was made, and how it was
//! found since.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::backup::{self, BackupError, Partial};
use crate::base::files::beside;
use crate::base::{Instant, Stop, text};

/// The part of a manifest that a copy is judged by.
#[derive(Deserialize)]
pub struct Manifest {
    /// Earlier versions wrote the other name.
    #[serde(alias = "taken_at")]
    created_at: Option<String>,
    checked_at: Option<String>,
    /// What a later check found; `None` for a good copy.
    pub fault: Option<String>,
    /// Size of the copy.
    pub bytes: Option<u64>,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
    /// Version of its schema.
    #[serde(alias = "schema_version")]
    pub schema: Option<i64>,
    /// Rows of each table.
    pub rows: Option<BTreeMap<String, u64>>,
    /// Which key sealed the secrets in it.
    pub key_id: Option<String>,
    /// The newest entry of the audit log and its hash.
    pub audit_head: Option<String>,
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

    /// Notes in the manifest of a copy how it was found now.
    pub fn note_check(
        copy: &Path,
        now: Instant,
        fault: Option<&str>,
    ) -> std::result::Result<(), BackupError> {
        let path = Self::path(copy);
        let read = std::fs::read(&path).and_then(|text| {
            serde_json::from_slice::<Value>(&text)
                .map_err(|error| Error::new(ErrorKind::InvalidData, error))
        });
        let mut manifest = read.map_err(BackupError::io("read", &path))?;
        match fault {
            None => manifest["checked_at"] = now.rfc3339().into(),
            Some(fault) => manifest["fault"] = fault.into(),
        }
        let partial = Partial::claim(&path)?;
        partial.write(&manifest)?;
        partial.finish(&path)
    }

    /// Whether a SHA-256 is the one of the copy.
    pub fn is_of(&self, sha256: &str) -> bool {
        self.sha256.eq_ignore_ascii_case(sha256)
    }

    /// When the copy was begun.
    pub fn created_at(&self) -> Option<Instant> {
        Instant::parse(self.created_at.as_deref()?)
    }

    /// When the copy was last found to be what it was.
    pub fn checked_at(&self) -> Option<Instant> {
        Instant::parse(self.checked_at.as_deref()?)
    }
}

/// The SHA-256 of a file, as a manifest writes it. Reads the whole file, unless `stop`
/// is set meanwhile.
pub fn sha256_of(file: &Path, stop: Option<&Stop>) -> std::result::Result<String, BackupError> {
    backup::digest(file, stop).map(|(_, sha256)| text::hex(&sha256))
}
