//! What the database knows of its copies: which key sealed it, and why the last one failed.

use super::Failure;
use crate::db::{ReadTx, Result, WriteTx};
use crate::settings;

/// The setting with the last failure.
const FAILURE: &str = "copies_failure";
/// The setting that only the key of the installation opens (`cli/seal.rs`).
const KEY_MARK: &str = "key_check";

/// A value that was sealed with the key of the installation.
pub fn key_mark(tx: &ReadTx<'_>) -> Result<Option<Vec<u8>>> {
    settings::value(tx, KEY_MARK)
}

/// Why the last try to make or check a copy failed; `None` when it did not.
pub fn failure(tx: &ReadTx<'_>) -> Result<Option<Failure>> {
    Ok(settings::value(tx, FAILURE)?.and_then(|stored| serde_json::from_slice(&stored).ok()))
}

/// Keeps it.
pub fn keep_failure(tx: &WriteTx<'_>, failure: &Failure) -> Result<()> {
    let text = serde_json::to_vec(failure).unwrap_or_default();
    settings::keep(tx, FAILURE, &text)
}

/// A later try went well.
pub fn forget_failure(tx: &WriteTx<'_>) -> Result<()> {
    settings::forget(tx, FAILURE)
}
