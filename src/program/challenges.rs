//! Challenges in the database, and how far a student is with one.

use super::{Action, Challenge, ChallengeEntry};
use crate::base::{Day, Instant, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

/// Most challenges of an installation; all of them are on one page.
pub const MOST: u64 = 1_000;

/// The challenges of an action whose period contains a day.
pub fn open_for(tx: &ReadTx<'_>, action: Action, day: Day) -> Result<Vec<Challenge>> {
    tx.records(
        "FROM challenge WHERE action = ?1 AND ends_on >= ?2 AND starts_on <= ?2 ORDER BY challenge_id",
        (action, day),
    )
}

/// All challenges, those that end last first.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<Challenge>> {
    tx.records("FROM challenge ORDER BY ends_on DESC, challenge_id DESC", ())
}

/// The challenges that are active on a day, in the order in which they end.
pub fn active(tx: &ReadTx<'_>, day: Day) -> Result<Vec<Challenge>> {
    tx.records(
        "FROM challenge WHERE ends_on >= ?1 AND starts_on <= ?1 ORDER BY ends_on, challenge_id",
        [day],
    )
}

pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Challenge>> {
    tx.record("FROM challenge WHERE challenge_id = ?1", [id])
}

/// Creates a challenge; `None` when there are already [`MOST`].
pub fn insert(tx: &WriteTx<'_>, entry: &ChallengeEntry) -> Result<Option<i64>> {
    if tx.count("SELECT count(*) FROM challenge", ())? >= MOST {
        return Ok(None);
    }
    let now = tx.now();
    let more = [("created_at", &now as _), ("updated_at", &now as _)];
    tx.put("INSERT INTO challenge", entry, &more).map(Some)
}

/// Changes a challenge.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &ChallengeEntry) -> Result<()> {
    let now = tx.now();
    let more = [("updated_at", &now as _), ("settled", &0 as _)];
    tx.change("challenge", entry, &more, &[("challenge_id", &id)]).map(drop)
}

/// Counts a student who reached a challenge's goal.
pub fn count_met(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.run("UPDATE challenge SET met = met + 1 WHERE challenge_id = ?1", [id])
}

/// Removes a challenge. What it gave stays in the ledger.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.run("DELETE FROM challenge WHERE challenge_id = ?1", [id])
}

/// How often a student did a challenge's action within its period.
pub fn progress(tx: &ReadTx<'_>, student: UserId, challenge: &ChallengeEntry) -> Result<i64> {
    tx.value(
        "SELECT coalesce(sum(1 - 2 * (turn & 1)), 0) FROM program_entry
         WHERE student_id = ?1 AND day BETWEEN ?2 AND ?3 AND action = ?4",
        (student, challenge.starts_on, challenge.ends_on, challenge.action),
    )
}

/// Whether a student has the reward of a challenge.
pub fn is_met(tx: &ReadTx<'_>, student: UserId, challenge: i64) -> Result<bool> {
    let found: Option<i64> = tx.maybe(
        "SELECT turn FROM program_entry
         WHERE student_id = ?1 AND action = ?2 AND cause = ?3 AND action > 1",
        (student, Action::Challenge, challenge),
    )?;
    Ok(found.is_some())
}

/// Challenges that have begun and for which students were not checked since the
/// challenge was created or changed, with the time of that change. Some
/// students may have reached the goal before.
pub fn unsettled(tx: &ReadTx<'_>, today: Day) -> Result<Vec<(Challenge, Instant)>> {
    let rows: Vec<Unsettled> = tx.records(
        "FROM challenge WHERE settled = 0 AND starts_on <= ?1 ORDER BY challenge_id",
        [today],
    )?;
    Ok(rows.into_iter().map(|row| (row.challenge, row.updated_at)).collect())
}

row! {
    struct Unsettled {
        challenge: Challenge as row,
        updated_at: Instant,
    }
}

/// Stores that all students were checked for a challenge, unless it changed
/// after `changed_at`.
pub fn note_settled(tx: &WriteTx<'_>, id: i64, changed_at: Instant) -> Result<()> {
    tx.run(
        "UPDATE challenge SET settled = 1 WHERE challenge_id = ?1 AND updated_at = ?2",
        (id, changed_at),
    )
}

/// Checks the next `limit` students with ids above `after`. Returns those who
/// reached a challenge's goal without getting the reward, because the challenge
/// was created or changed after its period began. Also returns the last student
/// that was checked.
pub fn owed(
    tx: &ReadTx<'_>,
    challenge: &Challenge,
    after: UserId,
    limit: u32,
) -> Result<(Vec<UserId>, Option<UserId>)> {
    let students: Vec<UserId> = tx.values(
        "SELECT student_id FROM program_student WHERE student_id > ?1 ORDER BY student_id LIMIT ?2",
        (after, limit),
    )?;
    let last = students.last().copied();
    let mut owed = Vec::new();
    for student in students {
        if progress(tx, student, &challenge.entry)? >= challenge.entry.goal
            && !is_met(tx, student, challenge.id)?
        {
            owed.push(student);
        }
    }
    Ok((owed, last))
}
