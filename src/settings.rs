//! What the service keeps for itself in the table `setting`: generated secrets, and when
//! the whole database was last found sound.

use crate::base::secrets::SealContext;
use crate::base::{Instant, Sealer, Secret};
use crate::db::{ReadTx, Result, WriteTx};

/// A generated secret, decrypted; `None` when there is none. Fails when this
/// installation's key cannot decrypt it.
pub fn secret(tx: &ReadTx<'_>, sealer: &Sealer, name: &str) -> Result<Option<Secret>> {
    let sealed: Option<Vec<u8>> = tx.maybe("SELECT value FROM setting WHERE name = ?1", [name])?;
    Ok(sealed.map(|sealed| sealer.open_text(&sealed, place(name))).transpose()?)
}

/// Whether a generated secret is stored, even if it cannot be decrypted.
pub fn has_secret(tx: &ReadTx<'_>, name: &str) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM setting WHERE name = ?1)", [name])
}

/// Stores a generated secret, encrypted.
pub fn keep_secret(tx: &WriteTx<'_>, sealer: &Sealer, name: &str, secret: &Secret) -> Result<()> {
    tx.run(
        "INSERT INTO setting (name, value, updated_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET value = ?2, updated_at = ?3",
        (name, sealer.seal(secret.reveal().as_bytes(), place(name)), tx.now().0),
    )
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
    tx.run(
        "INSERT INTO setting (name, value, updated_at) VALUES (?1, x'', ?2)
         ON CONFLICT (name) DO UPDATE SET updated_at = ?2",
        (WHOLE_CHECK, tx.now()),
    )
}

/// Removes a generated secret.
pub fn forget_secret(tx: &WriteTx<'_>, name: &str) -> Result<()> {
    tx.run("DELETE FROM setting WHERE name = ?1", [name])
}

const fn place(name: &str) -> SealContext<'_> {
    SealContext { table: "setting", column: "value", row: name }
}
