//! Questions in the database.

use rusqlite::Row;

use super::State;
use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, UserId};
use crate::db::{ReadTx, Result, WriteTx};

/// A question as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub id: i64,
    pub asked_at: Instant,
    pub ml_user_id: MlUserId,
    pub item_id: i64,
    /// As in [`State`].
    pub state: u8,
    pub status: String,
    pub text: String,
    pub answer: Option<String>,
    pub answered_at: Option<Instant>,
    pub asker_id: Option<i64>,
    pub updated_at: Option<Instant>,
}

impl Stored {
    /// Whether it waits for an answer.
    pub const fn is_open(&self) -> bool {
        self.state == State::Open as u8
    }
}

/// One question of an owner.
pub fn stored(tx: &ReadTx<'_>, owner: UserId, question: i64) -> Result<Option<Stored>> {
    tx.optional(
        "SELECT question_id, asked_at, ml_user_id, item_id, state, status, text, answer, answered_at, asker_id, updated_at
         FROM question
         WHERE question_id = ?1 AND owner_id = ?2",
        (question, owner),
        read,
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        id: row.get(0)?,
        asked_at: row.get(1)?,
        ml_user_id: row.get(2)?,
        item_id: row.get(3)?,
        state: row.get(4)?,
        status: row.get(5)?,
        text: row.get(6)?,
        answer: row.get(7)?,
        answered_at: row.get(8)?,
        asker_id: row.get(9)?,
        updated_at: row.get(10)?,
    })
}

/// Stores a question.
pub fn put(tx: &WriteTx<'_>, owner: UserId, row: &Stored) -> Result<()> {
    tx.execute(
        "INSERT OR REPLACE INTO question
             (owner_id, asked_at, question_id, ml_user_id, item_id, state, status, text, answer, answered_at,
              asker_id, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        (
            owner,
            row.asked_at.0,
            row.id,
            row.ml_user_id,
            row.item_id,
            row.state,
            &row.status,
            &row.text,
            &row.answer,
            row.answered_at.map(|at| at.0),
            row.asker_id,
            row.updated_at.map(|at| at.0),
        ),
    )?;
    Ok(())
}

/// Removes a question from where it stood.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, row: &Stored) -> Result<()> {
    tx.execute(
        "DELETE FROM question WHERE owner_id = ?1 AND asked_at = ?2 AND question_id = ?3",
        (owner, row.asked_at.0, row.id),
    )?;
    Ok(())
}

/// Changes an account's number of open questions.
pub fn count(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, by: i64) -> Result<()> {
    tx.execute(
        "UPDATE ml_account SET open_questions = open_questions + ?3 WHERE ml_user_id = ?2 AND owner_id = ?1",
        (owner, account, by),
    )?;
    Ok(())
}
