//! An answer is sent once: when it is not known whether it arrived, the
//! marketplace is asked before another is sent.

use crate::base::DAY_S;
use crate::db::{ReadTx, Result, WriteTx};

/// Notes of sent answers are deleted after this time, when nobody waits any
/// more.
const KEPT_S: i64 = 30 * DAY_S;

/// Notes that an answer is sent now; returns whether one was sent before and
/// its result is not known.
pub fn begin(tx: &WriteTx<'_>, question: i64) -> Result<bool> {
    let was_sent = is_unclear(tx, question)?;
    // More than come in, and few at a time.
    tx.execute(
        "DELETE FROM answer_sent WHERE question_id IN (
             SELECT question_id FROM answer_sent WHERE sent_at < ?1 LIMIT 20)",
        [tx.now().minus(KEPT_S)],
    )?;
    tx.execute(
        "INSERT OR REPLACE INTO answer_sent (question_id, sent_at) VALUES (?1, ?2)",
        (question, tx.now()),
    )?;
    Ok(was_sent)
}

/// Whether an answer was sent and its result is not known.
pub fn is_unclear(tx: &ReadTx<'_>, question: i64) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM answer_sent WHERE question_id = ?1)", [question])
}

/// Notes that the result of the answer is known.
pub fn end(tx: &WriteTx<'_>, question: i64) -> Result<()> {
    tx.run("DELETE FROM answer_sent WHERE question_id = ?1", [question])
}
