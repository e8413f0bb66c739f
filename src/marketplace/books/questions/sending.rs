//! An answer is sent once: one at a time for a question, and when nobody saw
//! whether it arrived, the marketplace is asked before another is sent.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;

use crate::base::clock::DAY_S;
use crate::db::{ReadTx, Result, WriteTx};

/// Nobody waits for an answer any more after so long.
const KEPT_S: i64 = 30 * DAY_S;

/// Questions that are being answered.
#[derive(Debug, Default)]
pub struct Sending {
    questions: Mutex<HashSet<i64>>,
}

/// A question that this thread answers; free again when dropped.
pub struct Turn<'s> {
    sending: &'s Sending,
    question: i64,
}

impl Sending {
    /// Takes a question; `None` while somebody else answers it.
    pub fn take(&self, question: i64) -> Option<Turn<'_>> {
        // A turn that is made is given back when it is dropped.
        let is_free = self.questions().insert(question);
        is_free.then(|| Turn { sending: self, question })
    }

    fn questions(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.questions.lock()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.sending.questions().remove(&self.question);
    }
}

/// Notes that an answer goes out now; gives back whether one did before whose
/// end is not known.
pub fn begin(tx: &WriteTx<'_>, question: i64) -> Result<bool> {
    let was_sent = is_unclear(tx, question)?;
    tx.execute("DELETE FROM answer_sent WHERE sent_at < ?1", [tx.now().minus(KEPT_S).0])?;
    tx.execute(
        "INSERT OR REPLACE INTO answer_sent (question_id, sent_at) VALUES (?1, ?2)",
        (question, tx.now().0),
    )?;
    Ok(was_sent)
}

/// Whether an answer went out and nobody saw what became of it.
pub fn is_unclear(tx: &ReadTx<'_>, question: i64) -> Result<bool> {
    tx.one("SELECT EXISTS (SELECT 1 FROM answer_sent WHERE question_id = ?1)", [question], |row| {
        row.get(0)
    })
}

/// Notes that it is known what became of the answer.
pub fn end(tx: &WriteTx<'_>, question: i64) -> Result<()> {
    tx.execute("DELETE FROM answer_sent WHERE question_id = ?1", [question])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_persons_at_a_time() {
        let sending = Sending::default();
        let turn = sending.take(1);
        assert!(turn.is_some() && sending.take(1).is_none() && sending.take(2).is_some());
        drop(turn);
        assert!(sending.take(1).is_some());
    }
}
