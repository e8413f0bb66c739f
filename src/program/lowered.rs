//! Tells students of a milestone that was lowered to the points they have.
//!
//! A level is computed from the points, so a lowered milestone is reached at
//! once. A worker tells those who reach it that way, some students in each job
//! of the writer, and stores how far it came. Who was told of the milestone
//! before is not told again. Decision program-3.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::worker::steps;
use super::{Milestone, ledger, milestones, store};
use crate::app::App;
use crate::base::{Stop, UserId};
use crate::db::{Lane, ReadTx, Result, WriteTx};
use crate::row;
use crate::services::Services;

/// Students of one job of the writer.
const PIECE: usize = 25;

row! {
    /// A milestone that was lowered, and how far its news came.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Lowered {
        number: i64,
        /// Who has as many points had reached it before.
        until_xp: i64,
        /// The last student that was told.
        position: UserId,
    }
}

/// Notes that a milestone was changed. Wakes nobody: the caller rings the bell
/// after the commit.
pub fn note(tx: &WriteTx<'_>, before: &Milestone, after: &Milestone) -> Result<()> {
    if after.xp >= before.xp {
        return Ok(());
    }
    tx.run(
        "INSERT INTO milestone_lowered (number, until_xp, position) VALUES (?1, ?2, 0)
         ON CONFLICT DO UPDATE SET until_xp = max(until_xp, ?2), position = 0",
        (before.number, before.xp),
    )
}

/// Starts the worker. It continues what a stop interrupted.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<JoinHandle<()>> {
    let failure = "students were not told of a milestone";
    steps("milestones", app, stop, |app| &app.work.milestone_bell, failure, |app| step(app))
}

/// Tells the next students; false when there is nobody left to be told.
pub(super) fn step(services: &Services) -> Result<bool> {
    let Some((lowered, students)) = services.db.read(Lane::Slow, next)? else { return Ok(false) };
    services.db.write(move |tx| tell(tx, lowered, &students))?;
    Ok(true)
}

/// The first lowered milestone with the next students who reach it that way.
fn next(tx: &ReadTx<'_>) -> Result<Option<(Lowered, Vec<UserId>)>> {
    let lowered: Option<Lowered> =
        tx.record("FROM milestone_lowered ORDER BY number LIMIT 1", ())?;
    let Some(lowered) = lowered else { return Ok(None) };
    let students = tx.values(
        "SELECT s.student_id FROM program_student s
         WHERE s.student_id > ?1 AND s.xp < ?2
             AND s.xp >= (SELECT xp FROM milestone WHERE number = ?3)
         ORDER BY s.student_id LIMIT ?4",
        (lowered.position, lowered.until_xp, lowered.number, i64::try_from(PIECE).unwrap_or(1)),
    )?;
    Ok(Some((lowered, students)))
}

fn tell(tx: &WriteTx<'_>, lowered: Lowered, students: &[UserId]) -> Result<()> {
    let number = lowered.number;
    let now: Option<Lowered> = tx.record("FROM milestone_lowered WHERE number = ?1", [number])?;
    // The milestone was lowered once more since the students were read.
    if now != Some(lowered) {
        return Ok(());
    }
    let Some(milestone) = milestones::one(tx, number)? else { return Ok(()) };
    for student in students {
        let totals = store::ledger_totals(tx, *student)?;
        if totals.is_some_and(|totals| totals.xp >= milestone.xp) {
            ledger::tell_milestone(tx, *student, &milestone)?;
        }
    }
    match students.last() {
        Some(last) if students.len() == PIECE => {
            tx.run("UPDATE milestone_lowered SET position = ?2 WHERE number = ?1", (number, last))
        }
        _ => tx.run("DELETE FROM milestone_lowered WHERE number = ?1", [number]),
    }
}
