//! API keys in the database.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::Type;

use super::{ApiKey, KeyEntry, LastUse, MOST_KEYS, PREFIX, Scope, network, network_text};
use crate::base::cache::Versions;
use crate::base::clock::Instant;
use crate::base::ids::TokenHash;
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str = "key_id, name, prefix, scopes, networks, rate_limit, created_at, expires_at, \
                       revoked_at, replaced_by, ends_at, last_used_at, last_address, last_route";

/// The key of a digest.
pub fn by_hash(tx: &ReadTx<'_>, hash: &TokenHash) -> Result<Option<ApiKey>> {
    tx.optional(&format!("SELECT {COLUMNS} FROM api_key WHERE key_hash = ?1"), [hash], read)
}

/// One key.
pub fn key(tx: &ReadTx<'_>, id: i64) -> Result<Option<ApiKey>> {
    tx.optional(&format!("SELECT {COLUMNS} FROM api_key WHERE key_id = ?1"), [id], read)
}

/// All keys, the newest first.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<ApiKey>> {
    tx.all(&format!("SELECT {COLUMNS} FROM api_key ORDER BY key_id DESC"), [], read)
}

/// How a list of keys is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Newest,
    Oldest,
    NameUp,
    NameDown,
    UsedLast,
    UsedFirst,
}

impl Order {
    const fn sql(self) -> &'static str {
        match self {
            Self::Newest => "key_id DESC",
            Self::Oldest => "key_id",
            Self::NameUp => "name COLLATE NOCASE, key_id",
            Self::NameDown => "name COLLATE NOCASE DESC, key_id DESC",
            Self::UsedLast => "last_used_at DESC, key_id DESC",
            Self::UsedFirst => "last_used_at, key_id",
        }
    }
}

/// What a list of keys shows.
pub struct Wanted<'q> {
    /// Part of a name or of a key's beginning.
    pub search: &'q str,
    /// Only those that work, or only those that no longer do.
    pub works: Option<bool>,
    pub order: Order,
    pub limit: u32,
    pub offset: u32,
}

/// One page of keys with the number of all that match. Operators make keys
/// by hand and a thousand at most are in force, so the table is walked.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<ApiKey>, u64)> {
    const WORKS: &str = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)
                         AND (ends_at IS NULL OR ends_at > ?2)";
    let state = match wanted.works {
        None => "?2 IS NOT NULL".to_owned(),
        Some(true) => WORKS.to_owned(),
        Some(false) => format!("NOT ({WORKS})"),
    };
    let matching = format!(
        "FROM api_key
         WHERE (name LIKE ?1 ESCAPE '\\' OR prefix LIKE ?1 ESCAPE '\\') AND {state}"
    );
    let pattern = crate::base::text::like_pattern(wanted.search);
    let now = tx.now().0;
    let total: i64 = tx.value(&format!("SELECT count(*) {matching}"), (&pattern, now))?;
    let keys = tx.all(
        &format!("SELECT {COLUMNS} {matching} ORDER BY {} LIMIT ?3 OFFSET ?4", wanted.order.sql()),
        (&pattern, now, wanted.limit, wanted.offset),
        read,
    )?;
    Ok((keys, u64::try_from(total).unwrap_or(0)))
}

/// Keeps a new key by its digest; `None` when there are too many in force.
pub fn insert(tx: &WriteTx<'_>, key: &str, entry: &KeyEntry) -> Result<Option<i64>> {
    let living: i64 = tx.value(
        "SELECT count(*) FROM api_key WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)
           AND (ends_at IS NULL OR ends_at > ?1)",
        [tx.now().0]
    )?;
    if living >= MOST_KEYS {
        return Ok(None);
    }
    tx.insert(
        "INSERT INTO api_key (key_hash, name, prefix, scopes, networks, rate_limit, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (
            TokenHash::of(key),
            &entry.name,
            &key[..PREFIX],
            scopes_text(&entry.scopes),
            networks_text(entry),
            entry.rate_limit,
            tx.now().0,
            entry.expires_at.map(|at| at.0),
        ),
    )
    .map(Some)
}

/// Changes what an operator entered; false when there is no such key.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &KeyEntry) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE api_key SET name = ?2, scopes = ?3, networks = ?4, rate_limit = ?5, expires_at = ?6
         WHERE key_id = ?1",
        (
            id,
            &entry.name,
            scopes_text(&entry.scopes),
            networks_text(entry),
            entry.rate_limit,
            entry.expires_at.map(|at| at.0),
        ),
    )?;
    Ok(changed == 1)
}

/// Has a key end when the overlap with its successor does.
pub fn replace(tx: &WriteTx<'_>, id: i64, successor: i64, ends_at: Instant) -> Result<()> {
    tx.execute(
        "UPDATE api_key SET replaced_by = ?2, ends_at = ?3 WHERE key_id = ?1",
        (id, successor, ends_at.0),
    )?;
    Ok(())
}

/// Revokes a key; false when it is revoked already or not there.
pub fn revoke(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let revoked = tx.execute(
        "UPDATE api_key SET revoked_at = ?2 WHERE key_id = ?1 AND revoked_at IS NULL",
        (id, tx.now().0),
    )?;
    Ok(revoked == 1)
}

/// Has whoever remembers keys look again, after the commit.
pub fn changed(tx: &WriteTx<'_>, versions: &Arc<Versions>) {
    let versions = Arc::clone(versions);
    tx.after_commit(move || versions.raise_keys());
}

fn scopes_text(scopes: &[Scope]) -> String {
    let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    names.join(" ")
}

fn networks_text(entry: &KeyEntry) -> String {
    let texts: Vec<String> = entry.networks.iter().map(network_text).collect();
    texts.join(" ")
}

fn read(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let instant = |column: usize| -> rusqlite::Result<Option<Instant>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Instant))
    };
    // A list that cannot be read must not pass for an empty one.
    let broken = |column: usize, text: &str| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, text.to_owned().into())
    };
    let scopes = row.get_ref(3)?.as_str()?.split_whitespace();
    let scopes = scopes.map(|name| Scope::from_name(name).ok_or_else(|| broken(3, name)));
    let networks = row.get_ref(4)?.as_str()?.split_whitespace();
    let networks = networks.map(|text| network(text).map_err(|_| broken(4, text)));
    let last_use = match instant(11)? {
        Some(at) => Some(LastUse { at, address: row.get(12)?, route: row.get(13)? }),
        None => None,
    };
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        prefix: row.get(2)?,
        scopes: scopes.collect::<rusqlite::Result<_>>()?,
        networks: networks.collect::<rusqlite::Result<_>>()?,
        rate_limit: row.get(5)?,
        created_at: row.get(6)?,
        expires_at: instant(7)?,
        revoked_at: instant(8)?,
        replaced_by: row.get(9)?,
        ends_at: instant(10)?,
        last_use,
    })
}
