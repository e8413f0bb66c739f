//! The kept views in the database.

use super::{MOST, MOST_IN_ALL, SavedView};
use crate::base::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// What a person has kept of a list, by name.
pub fn of_list(tx: &ReadTx<'_>, owner: UserId, path: &str) -> Result<Vec<SavedView>> {
    tx.records("FROM saved_view WHERE user_id = ?1 AND path = ?2 ORDER BY name", (owner, path))
}

/// One view of a person.
pub fn one(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<SavedView>> {
    tx.record("FROM saved_view WHERE view_id = ?1 AND user_id = ?2", (id, owner))
}

/// Keeps a view; one of the same name gives way. False when there are too many.
pub fn keep(tx: &WriteTx<'_>, owner: UserId, path: &str, query: &str, name: &str) -> Result<bool> {
    let (own, all): (i64, i64) = tx.one(
        "SELECT count(*) FILTER (WHERE path = ?2), count(*)
         FROM saved_view WHERE user_id = ?1 AND NOT (path = ?2 AND name = ?3)",
        (owner, path, name),
        |row| row.try_into(),
    )?;
    if own >= MOST || all >= MOST_IN_ALL {
        return Ok(false);
    }
    tx.run(
        "INSERT INTO saved_view (user_id, path, name, query, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (user_id, path, name) DO UPDATE SET query = ?4",
        (owner, path, name, query, tx.now()),
    )?;
    Ok(true)
}

/// Forgets a view of a person.
pub fn remove(tx: &WriteTx<'_>, owner: UserId, id: i64) -> Result<()> {
    tx.run("DELETE FROM saved_view WHERE view_id = ?1 AND user_id = ?2", (id, owner))
}
