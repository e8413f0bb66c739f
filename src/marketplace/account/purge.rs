//! Deletes what was read of an account that was unlinked: records of the kinds
//! that do not outlive the link.
//!
//! Unlinking ends the permission to show this data. A first piece is deleted at
//! once, and a worker deletes the rest piece by piece, so that no write takes long.
//! `ml_unlinked` has the accounts that are not finished, so the worker
//! continues after a restart. Orders stay with their owner.

use crate::base::{MlUserId, UserId};
use crate::db::{Filters, Lane, Result, WriteTx, in_list};
use crate::marketplace::kinds::{BookTable, KindRow, RecordKind};
use crate::services::Services;

/// Starts to delete what was read of an account that was unlinked.
pub fn start(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    tx.execute(
        "INSERT INTO ml_unlinked (owner_id, ml_user_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (owner, account),
    )?;
    delete_piece(tx, owner, account)
}

/// Takes an account off the list of accounts to delete. Rows that are left
/// stay, such as when the account was linked again.
pub fn unmark(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    tx.run("DELETE FROM ml_unlinked WHERE owner_id = ?1 AND ml_user_id = ?2", (owner, account))
}

/// Deletes a piece of the rest; false when there is none.
pub fn work_one(services: &Services) -> Result<bool> {
    let next = services.db.read(Lane::Slow, |tx| {
        let sql =
            "SELECT owner_id, ml_user_id FROM ml_unlinked ORDER BY owner_id, ml_user_id LIMIT 1";
        tx.tuple(sql, [])
    })?;
    let Some((owner, account)) = next else { return Ok(false) };
    services.db.write_piece(move |tx| delete_piece(tx, owner, account))?;
    Ok(true)
}

/// Deletes one piece, unless the account was linked again meanwhile.
fn delete_piece(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    let is_noted: bool = tx.value(
        "SELECT EXISTS (SELECT 1 FROM ml_unlinked WHERE owner_id = ?1 AND ml_user_id = ?2)",
        (owner, account),
    )?;
    if !is_noted {
        return Ok(());
    }
    if !tx.work_off(|most| remove(tx, owner, Some(account), most))? {
        return Ok(());
    }
    for table in rows_of(true).flat_map(|row| row.counts) {
        let sql = format!("DELETE FROM {table} WHERE owner_id = ?1 AND ml_user_id = ?2");
        tx.execute(&sql, (owner, account))?;
    }
    unmark(tx, owner, account)
}

/// Deletes all records of a person, and their sums, at most `most` rows of each
/// table; returns how many. When it returns 0, nothing is left.
pub fn delete_all(tx: &WriteTx<'_>, person: UserId, most: usize) -> Result<usize> {
    let removed = remove(tx, person, None, most)?;
    if removed == 0 {
        for table in rows_of(false).flat_map(|row| row.counts) {
            tx.execute(&format!("DELETE FROM {table} WHERE owner_id = ?1"), [person])?;
        }
        tx.execute("DELETE FROM ml_unlinked WHERE owner_id = ?1", [person])?;
    }
    Ok(removed)
}

/// Deletes at most `most` rows of each table: those of an owner, or of one of
/// the owner's accounts.
fn remove(
    tx: &WriteTx<'_>,
    owner: UserId,
    account: Option<MlUserId>,
    most: usize,
) -> Result<usize> {
    let (most, mut removed) = (i64::try_from(most).unwrap_or(1), 0);
    let rows = rows_of(account.is_some());
    for BookTable { name, key, states } in rows.flat_map(|row| row.tables) {
        let condition = match states {
            [] => "ml_user_id = :account".to_owned(),
            _ => format!("state IN ({}) AND ml_user_id = :account", in_list(states)),
        };
        let mut rows = Filters::new("owner_id = :owner", &[(":owner", &owner)]);
        rows.and_if(&condition, ":account", &account);
        rows.bind(&[(":most", &most)]);
        let sql = format!(
            "DELETE FROM {name} WHERE owner_id = :owner AND ({key}) IN (
                 SELECT {key} FROM {name} WHERE {} LIMIT :most)",
            rows.sql()
        );
        removed += tx.execute(&sql, rows.values())?;
    }
    Ok(removed)
}

/// The kinds of records to delete: all, or those that end with their link.
fn rows_of(ends_link: bool) -> impl Iterator<Item = &'static KindRow> {
    let rows = RecordKind::ALL.into_iter().map(RecordKind::row);
    rows.filter(move |row| !ends_link || !row.outlives_link)
}
