//! What the service keeps for itself in the table `setting`, by name: generated secrets,
//! and what rooms must still know after a restart.

use crate::base::secrets::SealContext;
use crate::base::{Instant, Sealer, Secret};
use crate::db::{ReadTx, Result, WriteTx};

/// What is kept under a name.
pub fn value(tx: &ReadTx<'_>, name: &str) -> Result<Option<Vec<u8>>> {
    tx.maybe("SELECT value FROM setting WHERE name = ?1", [name])
}

/// Keeps a value under a name, in place of the one before.
pub fn keep(tx: &WriteTx<'_>, name: &str, value: &[u8]) -> Result<()> {
    tx.run(
        "INSERT INTO setting (name, value, updated_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET value = ?2, updated_at = ?3",
        (name, value, tx.now()),
    )
}

/// Removes what is kept under a name.
pub fn forget(tx: &WriteTx<'_>, name: &str) -> Result<()> {
    tx.run("DELETE FROM setting WHERE name = ?1", [name])
}

/// When the oldest of them was kept: when the platform first ran, as far as they tell.
pub fn first_start(tx: &ReadTx<'_>) -> Result<Option<Instant>> {
    tx.value("SELECT min(updated_at) FROM setting", [])
}

/// A generated secret, decrypted; `None` when there is none. Fails when this
/// installation's key cannot decrypt it.
pub fn secret(tx: &ReadTx<'_>, sealer: &Sealer, name: &str) -> Result<Option<Secret>> {
    Ok(value(tx, name)?.map(|sealed| sealer.open_text(&sealed, place(name))).transpose()?)
}

/// Stores a generated secret, encrypted.
pub fn keep_secret(tx: &WriteTx<'_>, sealer: &Sealer, name: &str, secret: &Secret) -> Result<()> {
    keep(tx, name, &sealer.seal(secret.reveal().as_bytes(), place(name)))
}

/// The setting that says when the whole database was last found sound.
const WHOLE_CHECK: &str = "whole_check";

/// When the whole database was last found sound; 0 before the first time.
pub fn last_whole_check(tx: &ReadTx<'_>) -> Result<Instant> {
    let at = tx.maybe("SELECT updated_at FROM setting WHERE name = ?1", [WHOLE_CHECK])?;
    Ok(at.unwrap_or(Instant(0)))
}

/// The whole database was found sound.
pub fn note_whole_check(tx: &WriteTx<'_>) -> Result<()> {
    keep(tx, WHOLE_CHECK, &[])
}

const fn place(name: &str) -> SealContext<'_> {
    SealContext { table: "setting", column: "value", row: name }
}
