//! Removing what was read of an account: listings, questions and claims.
//!
//! Unlinking ends the leave to show them, so they go: a piece at once, the
//! rest in pieces by a worker, so that no write takes long. What is still to
//! be removed is noted, so a restart goes on. Orders stay with their owner.

use crate::app::App;
use crate::base::{MlUserId, Stop, UserId};
use crate::db::{Filters, Lane, Result, WriteTx};
use crate::marketplace::work_off;

/// Rows of each kind that are removed in one write.
const AT_ONCE: i64 = 1_000;

/// What is read of an account: its tables with their keys behind the owner, and
/// what names all states, so that the index of accounts serves.
const TABLES: [(&str, &str, &str); 3] = [
    ("listing", "item_id", ""),
    ("question", "asked_at, question_id", "state IN (1, 2, 3) AND "),
    ("claim", "opened_at, claim_id", "state IN (1, 2) AND "),
];

/// Begins to remove what was read of an account that was unlinked.
pub fn begin(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    tx.execute(
        "INSERT INTO ml_unlinked (owner_id, ml_user_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (owner, account),
    )?;
    go_on(tx, owner, account, AT_ONCE)
}

/// Leaves what is still there to an account that was linked again.
pub fn stop(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    tx.run("DELETE FROM ml_unlinked WHERE owner_id = ?1 AND ml_user_id = ?2", (owner, account))
}

/// Removes what is still to be removed.
pub fn work(app: &App, stop: &Stop) {
    work_off(stop, "removing what was read of an unlinked account", || {
        let next = app.db.read(Lane::Slow, |tx| {
            let sql =
                "SELECT owner_id, ml_user_id FROM ml_unlinked ORDER BY owner_id, ml_user_id LIMIT 1";
            tx.tuple(sql, [])
        })?;
        let Some((owner, account)) = next else { return Ok(false) };
        app.db.write(move |tx| go_on(tx, owner, account, AT_ONCE))?;
        Ok(true)
    });
}

/// Removes a piece, unless the account was linked again meanwhile.
fn go_on(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, most: i64) -> Result<()> {
    let is_noted: bool = tx.value(
        "SELECT EXISTS (SELECT 1 FROM ml_unlinked WHERE owner_id = ?1 AND ml_user_id = ?2)",
        (owner, account),
    )?;
    if !is_noted {
        return Ok(());
    }
    if remove(tx, owner, Some(account), most)? > 0 {
        return Ok(());
    }
    tx.execute(
        "DELETE FROM listing_count WHERE owner_id = ?1 AND ml_user_id = ?2",
        (owner, account),
    )?;
    stop(tx, owner, account)
}

/// Removes listings, questions and claims of a person, at most so many rows of
/// each; returns how many. Nothing is left when that is none.
pub fn everything(tx: &WriteTx<'_>, person: UserId, most: i64) -> Result<usize> {
    let removed = remove(tx, person, None, most)?;
    if removed == 0 {
        tx.execute("DELETE FROM listing_count WHERE owner_id = ?1", [person])?;
        tx.execute("DELETE FROM ml_unlinked WHERE owner_id = ?1", [person])?;
    }
    Ok(removed)
}

/// Removes at most so many rows of each table: those of an owner, or of one of
/// the owner's accounts.
fn remove(tx: &WriteTx<'_>, owner: UserId, account: Option<MlUserId>, most: i64) -> Result<usize> {
    let mut removed = 0;
    for (table, key, run) in TABLES {
        let mut rows = Filters::new("owner_id = :owner", &[(":owner", &owner)]);
        rows.and_if(&format!("{run}ml_user_id = :account"), ":account", &account);
        rows.bind(&[(":most", &most)]);
        let sql = format!(
            "DELETE FROM {table} WHERE owner_id = :owner AND ({key}) IN (
                 SELECT {key} FROM {table} WHERE {} LIMIT :most)",
            rows.sql()
        );
        removed += tx.execute(&sql, rows.values())?;
    }
    Ok(removed)
}
