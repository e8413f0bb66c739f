//! The audit log in the database, newest first.
//!
//! A list is a walk down one index that also answers its filters; a search
//! asks the index of words. Whatever is asked, at most [`MOST`] entries are
//! looked at: who looks for older ones narrows the search.

use rusqlite::{ToSql, params_from_iter};

use super::Entry;
use crate::base::clock::Instant;
use crate::base::ids::UserId;
use crate::db::{ReadTx, Result};
use crate::row;

/// Entries that a list, a search or an export looks at.
pub const MOST: u32 = 20_000;
/// Words of a search that count.
const MOST_WORDS: usize = 8;

/// Which entries.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// As typed.
    pub search: String,
    pub actor_kind: Option<&'static str>,
    pub object_kind: Option<&'static str>,
    /// Not before.
    pub since: Option<Instant>,
}

row!(Entry {
    id = "audit_id",
    at,
    actor_kind,
    actor_id,
    actor_name,
    address,
    request_id,
    action,
    object_kind,
    object_id,
    object_name,
    before,
    after,
});

/// One page, and how many entries there are among those looked at.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &Wanted,
    limit: u32,
    offset: u32,
) -> Result<(Vec<Entry>, u64)> {
    let ids = ids(tx, wanted)?;
    let total = ids.len() as u64;
    let shown = ids.into_iter().skip(offset as usize).take(limit as usize);
    let entries = shown.filter_map(|id| one(tx, id).transpose());
    Ok((entries.collect::<Result<_>>()?, total))
}

/// Numbers of the entries, newest first.
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted) -> Result<Vec<i64>> {
    let first = match wanted.since {
        None => Some(0),
        Some(since) => tx.maybe(
            "SELECT audit_id FROM audit WHERE at >= ?1 ORDER BY at, audit_id LIMIT 1",
            [since.0],
        )?,
    };
    let Some(first) = first else {
        return Ok(Vec::new());
    };
    let Some(words) = words(&wanted.search) else {
        return Ok(Vec::new());
    };
    let (source, number) = match (words.is_empty(), wanted.object_kind, wanted.actor_kind) {
        (false, ..) => ("audit_search s CROSS JOIN audit a ON a.audit_id = s.rowid", "s.rowid"),
        (true, None, None) => ("audit a", "a.audit_id"),
        (true, None, Some(_)) => ("audit a INDEXED BY audit_of_actors", "a.audit_id"),
        (true, Some(_), _) => ("audit a INDEXED BY audit_of_objects", "a.audit_id"),
    };
    let mut sql = format!("SELECT a.audit_id FROM {source} WHERE {number} >= ?");
    let mut values: Vec<&dyn ToSql> = vec![&first];
    if !words.is_empty() {
        sql.push_str(" AND audit_search MATCH ?");
        values.push(&words);
    }
    if let Some(kind) = &wanted.object_kind {
        sql.push_str(" AND a.object_kind = ?");
        values.push(kind);
    }
    if let Some(kind) = &wanted.actor_kind {
        sql.push_str(" AND a.actor_kind = ?");
        values.push(kind);
    }
    let sql = format!("{sql} ORDER BY {number} DESC LIMIT {MOST}");
    tx.values(&sql, params_from_iter(values))
}

/// A search as the index of words takes it: beginnings of words, all of which
/// must be there. `None` when the search has no word at all.
fn words(search: &str) -> Option<String> {
    let words: Vec<String> = search
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .map(|word| format!("\"{word}\"*"))
        .collect();
    (search.is_empty() || !words.is_empty()).then(|| words.join(" "))
}

/// One entry.
pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Entry>> {
    tx.record("FROM audit a WHERE a.audit_id = ?1", [id])
}

/// The newest entries about a person.
pub fn about_person(tx: &ReadTx<'_>, person: UserId, limit: u32) -> Result<Vec<Entry>> {
    tx.records(
        "FROM audit a
             WHERE a.object_kind IN ('aluno', 'equipe') AND a.object_id = ?1
             ORDER BY a.audit_id DESC LIMIT ?2",
        (person.to_string(), limit),
    )
}
