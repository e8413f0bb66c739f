//! API keys in the database.

use rusqlite::Row;

use super::{ApiKey, KeyEntry, LastUse, MOST_KEYS, PREFIX};
use crate::base::{Instant, TokenHash};
use crate::db::{ReadTx, Record, Result, WriteTx};

impl Record for Option<LastUse> {
    const COLUMNS: &'static str = "last_used_at, last_address, last_route";

    fn read_at(row: &Row<'_>, at: &mut usize) -> rusqlite::Result<Self> {
        *at += 3;
        let Some(used_at) = row.get(*at - 3)? else { return Ok(None) };
        Ok(Some(LastUse { at: used_at, address: row.get(*at - 2)?, route: row.get(*at - 1)? }))
    }
}

/// SQL condition of keys that work at `:now`.
pub const WORKS: &str = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
    AND (ends_at IS NULL OR ends_at > :now)";

/// The key with a digest.
pub fn by_hash(tx: &ReadTx<'_>, hash: &TokenHash) -> Result<Option<ApiKey>> {
    tx.record("FROM api_key WHERE key_hash = ?1", [hash])
}

/// All keys, the newest first.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<ApiKey>> {
    tx.records("FROM api_key ORDER BY key_id DESC", [])
}

/// Stores a new key by its digest; `None` when there are too many in force.
pub fn insert(tx: &WriteTx<'_>, key: &str, entry: &KeyEntry) -> Result<Option<i64>> {
    let now = tx.now();
    let sql = format!("SELECT count(*) FROM api_key WHERE {WORKS}");
    let living: i64 = tx.value(&sql, &[(":now", &now)])?;
    if living >= MOST_KEYS {
        return Ok(None);
    }
    let (hash, prefix) = (TokenHash::of(key), &key[..PREFIX]);
    tx.put(
        "INSERT INTO api_key",
        entry,
        &[("key_hash", &hash), ("prefix", &prefix), ("created_at", &now)],
    )
    .map(Some)
}

/// Makes a key end together with the overlap with its successor.
pub fn replace(tx: &WriteTx<'_>, id: i64, successor: i64, ends_at: Instant) -> Result<()> {
    tx.run(
        "UPDATE api_key SET replaced_by = ?2, ends_at = ?3 WHERE key_id = ?1",
        (id, successor, ends_at),
    )
}

/// Revokes a key; false when it is revoked already or not there.
pub fn revoke(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let revoked = tx.execute(
        "UPDATE api_key SET revoked_at = ?2 WHERE key_id = ?1 AND revoked_at IS NULL",
        (id, tx.now()),
    )?;
    Ok(revoked == 1)
}
