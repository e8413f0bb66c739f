//! Claims in the database.

use rusqlite::Row;

use super::State;
use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, UserId};
use crate::db::{ReadTx, Result, WriteTx};

/// A claim as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub opened_at: Instant,
    pub ml_user_id: MlUserId,
    /// As in [`State`].
    pub state: u8,
    pub kind: String,
    pub stage: String,
    pub reason: String,
    pub resource: String,
    pub resource_id: Option<i64>,
    pub due_at: Option<Instant>,
    pub action: String,
    pub resolution: String,
    pub updated_at: Instant,
}

impl Stored {
    /// Whether it waits for an end.
    pub const fn is_open(&self) -> bool {
        self.state == State::Open as u8
    }
}

/// One claim of an owner.
pub fn stored(tx: &ReadTx<'_>, owner: UserId, claim: i64) -> Result<Option<Stored>> {
    tx.optional(
        "SELECT opened_at, ml_user_id, state, kind, stage, reason, resource, resource_id, due_at, action, resolution,
                updated_at
         FROM claim
         WHERE claim_id = ?1 AND owner_id = ?2",
        (claim, owner),
        read,
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        opened_at: row.get(0)?,
        ml_user_id: row.get(1)?,
        state: row.get(2)?,
        kind: row.get(3)?,
        stage: row.get(4)?,
        reason: row.get(5)?,
        resource: row.get(6)?,
        resource_id: row.get(7)?,
        due_at: row.get(8)?,
        action: row.get(9)?,
        resolution: row.get(10)?,
        updated_at: row.get(11)?,
    })
}

/// Stores a claim.
pub fn put(tx: &WriteTx<'_>, owner: UserId, claim: i64, row: &Stored) -> Result<()> {
    tx.execute(
        "INSERT OR REPLACE INTO claim
             (owner_id, opened_at, claim_id, ml_user_id, state, kind, stage, reason, resource, resource_id, due_at,
              action, resolution, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        (
            owner,
            row.opened_at.0,
            claim,
            row.ml_user_id,
            row.state,
            &row.kind,
            &row.stage,
            &row.reason,
            &row.resource,
            row.resource_id,
            row.due_at.map(|at| at.0),
            &row.action,
            &row.resolution,
            row.updated_at.0,
        ),
    )?;
    Ok(())
}

/// Removes a claim from where it stood.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, claim: i64, opened_at: Instant) -> Result<()> {
    tx.execute(
        "DELETE FROM claim WHERE owner_id = ?1 AND opened_at = ?2 AND claim_id = ?3",
        (owner, opened_at.0, claim),
    )?;
    Ok(())
}

/// Changes an account's number of open claims.
pub fn count(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, by: i64) -> Result<()> {
    tx.execute(
        "UPDATE ml_account SET open_claims = open_claims + ?3 WHERE ml_user_id = ?2 AND owner_id = ?1",
        (owner, account, by),
    )?;
    Ok(())
}
