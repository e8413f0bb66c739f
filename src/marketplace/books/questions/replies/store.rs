//! Saved replies in the database.

use super::{MOST, ReplyEntry, SavedReply};
use crate::base::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// All replies of a seller or of the agency, by title.
pub fn all(tx: &ReadTx<'_>, owner: Option<UserId>) -> Result<Vec<SavedReply>> {
    tx.records(
        "FROM saved_reply WHERE owner_id IS ?1 ORDER BY title COLLATE NOCASE, reply_id",
        [owner],
    )
}

/// One reply of a seller or of the agency.
pub fn one(tx: &ReadTx<'_>, owner: Option<UserId>, id: i64) -> Result<Option<SavedReply>> {
    tx.record("FROM saved_reply WHERE reply_id = ?2 AND owner_id IS ?1", (owner, id))
}

/// Makes a reply; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, owner: Option<UserId>, entry: &ReplyEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM saved_reply WHERE owner_id IS ?1", [owner])?;
    if there >= MOST {
        return Ok(None);
    }
    let now = tx.now();
    tx.put("INSERT INTO saved_reply", entry, &[("owner_id", &owner), ("updated_at", &now)])
        .map(Some)
}

/// Changes a reply.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &ReplyEntry) -> Result<()> {
    tx.change("saved_reply", entry, &[("updated_at", &tx.now())], &[("reply_id", &id)])?;
    Ok(())
}

/// Removes a reply.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.run("DELETE FROM saved_reply WHERE reply_id = ?1", [id])
}
