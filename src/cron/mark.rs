//! A mark: how far a task has come with work that it does once for many people.
//!
//! The mark moves in the transaction that does the work, so an interrupted task
//! continues where it stopped. Once the work is done, later runs only read the
//! mark.

use crate::base::{Instant, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

row! {
    /// A position in the list of people, which is ordered by id.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Mark {
        /// The last person that was processed.
        pub position: i64,
        /// Whether all people were processed.
        pub done: bool,
    }
}

/// The mark with a name; one at the beginning when there is none.
pub fn of(tx: &ReadTx<'_>, name: &str) -> Result<Mark> {
    let mark = tx.record("FROM cron_mark WHERE name = ?1", [name])?;
    Ok(mark.unwrap_or_default())
}

/// Moves a mark.
pub fn set(tx: &WriteTx<'_>, name: &str, mark: Mark, expires_at: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO cron_mark (name, position, done, expires_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET position = ?2, done = ?3, expires_at = ?4",
        (name, mark.position, mark.done, expires_at.0),
    )
}

/// Works for people in order, as many as one job of the writer may, and moves
/// the mark to the last of them, or to `end` after the last of all. Returns
/// where it came, and for how many `work` did something.
pub fn work_for(
    tx: &WriteTx<'_>,
    (name, expires_at): (&str, Instant),
    (people, end): (Vec<UserId>, Mark),
    work: impl Fn(&WriteTx<'_>, UserId) -> Result<bool>,
) -> Result<(Mark, usize)> {
    let (mut at, mut worked, last) = (end, 0, people.last().copied());
    for person in people {
        worked += usize::from(work(tx, person)?);
        if tx.is_spent() && Some(person) != last {
            at = Mark { position: person.0, done: false };
            break;
        }
    }
    set(tx, name, at, expires_at)?;
    Ok((at, worked))
}

/// Names of the marks of a kind, each with whether it has expired.
pub fn of_kind(tx: &ReadTx<'_>, kind: &str) -> Result<Vec<(String, bool)>> {
    let now = tx.now().0;
    tx.tuples(
        "SELECT name, expires_at <= ?3 FROM cron_mark WHERE name >= ?1 AND name < ?2",
        (format!("{kind}:"), format!("{kind};"), now),
    )
}

/// Deletes a mark.
pub fn forget(tx: &WriteTx<'_>, name: &str) -> Result<()> {
    tx.run("DELETE FROM cron_mark WHERE name = ?1", [name])
}
