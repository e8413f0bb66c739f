//! Questions that were asked at one listing.

use super::QuestionState;
use crate::base::UserId;
use crate::db::{ReadTx, Result};
use crate::marketplace::books::document::QuestionRow;

pub struct ListingQuestions {
    /// Those that wait for an answer, the oldest first.
    pub open: Vec<QuestionRow>,
    /// How many wait in all.
    pub waiting: u64,
    /// The last that were answered.
    pub answered: Vec<QuestionRow>,
}

/// The questions of a listing, at most `most` of each kind.
pub fn read(tx: &ReadTx<'_>, owner: UserId, item: i64, most: u32) -> Result<ListingQuestions> {
    let open = QuestionState::Open;
    Ok(ListingQuestions {
        open: tx.records(
            "FROM question WHERE owner_id = ?1 AND item_id = ?2 AND state = ?3
             ORDER BY asked_at, question_id LIMIT ?4",
            (owner, item, open, most),
        )?,
        waiting: tx.count(
            "SELECT count(*) FROM question WHERE owner_id = ?1 AND item_id = ?2 AND state = ?3",
            (owner, item, open),
        )?,
        answered: tx.records(
            "FROM question WHERE owner_id = ?1 AND item_id = ?2 AND state = ?3
             ORDER BY asked_at DESC, question_id DESC LIMIT ?4",
            (owner, item, QuestionState::Answered, most),
        )?,
    })
}
