//! What the database knows of its copies: since when it is, which key sealed it, and
//! why the last copy failed.

use super::Failure;
use crate::base::Instant;
use crate::db::{ReadTx, Result, WriteTx};

/// The setting with the last failure.
const FAILURE: &str = "copies_failure";
/// The setting that only the key of the installation opens (`cli/seal.rs`).
const KEY_MARK: &str = "key_check";

/// When the platform first ran, as far as its settings tell.
pub fn first_start(tx: &ReadTx<'_>) -> Result<Option<Instant>> {
    tx.value("SELECT min(updated_at) FROM setting", [])
}

/// A value that was sealed with the key of the installation.
pub fn key_mark(tx: &ReadTx<'_>) -> Result<Option<Vec<u8>>> {
    tx.maybe("SELECT value FROM setting WHERE name = ?1", [KEY_MARK])
}

/// Why the last try to make or check a copy failed; `None` when it did not.
pub fn failure(tx: &ReadTx<'_>) -> Result<Option<Failure>> {
    let stored: Option<Vec<u8>> =
        tx.maybe("SELECT value FROM setting WHERE name = ?1", [FAILURE])?;
    Ok(stored.and_then(|stored| serde_json::from_slice(&stored).ok()))
}

/// Keeps it.
pub fn keep_failure(tx: &WriteTx<'_>, failure: &Failure) -> Result<()> {
    let text = serde_json::to_vec(failure).unwrap_or_default();
    tx.run(
        "INSERT INTO setting (name, value, updated_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET value = ?2, updated_at = ?3",
        (FAILURE, text, tx.now()),
    )
}

/// A later try went well.
pub fn forget_failure(tx: &WriteTx<'_>) -> Result<()> {
    tx.run("DELETE FROM setting WHERE name = ?1", [FAILURE])
}
