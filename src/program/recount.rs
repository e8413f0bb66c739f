//! Compares the stored sums of students with the ledger (`recalcular`).
//!
//! A worker compares students in batches, on a reader, and stores the ids of
//! those whose sums differ. At the end they are corrected, some in each job of
//! the writer. So a comparison that is killed half-way continues where it was,
//! a student's sums are all old or all new and never a mix, and correct data is
//! not written at all.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::recounting::last;
use super::rules::{LedgerTotals, Posting};
use super::worker::steps;
use super::{ledger, store};
use crate::app::App;
use crate::base::{Day, Instant, Stop, UserId};
use crate::db::{Lane, ReadTx, Record as _, Result, WriteTx};
use crate::row;
use crate::services::Services;

/// Students of one batch.
const PIECE: u32 = 200;
/// Starts the worker. It continues a comparison that a stop interrupted.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<JoinHandle<()>> {
    let failure = "a piece of the points was not compared with the ledger";
    steps(
        "recount",
        app,
        stop,
        |app| &app.work.recount.begin,
        failure,
        |app| {
            let goes_on = step(app)?;
            if !goes_on {
                app.work.recount.over.ring();
            }
            Ok(goes_on)
        },
    )
}

/// Compares the next batch; false when no comparison runs.
pub(super) fn step(services: &Services) -> Result<bool> {
    let Some(run) = services.db.read(Lane::Slow, last)?.filter(|run| run.ended_at.is_none()) else {
        return Ok(false);
    };
    let today = services.day(services.clock.now());
    let piece = services.db.read(Lane::Slow, |tx| compare(tx, run.position, today))?;
    services.db.write_piece(move |tx| {
        for student in &piece.wrong {
            tx.run("INSERT OR IGNORE INTO program_mend (student_id) VALUES (?1)", [student])?;
        }
        if let Some(position) = piece.last {
            tx.run(
                "UPDATE program_recount SET position = ?1, looked_at = looked_at + ?2 WHERE recount_id = 1",
                (position, piece.students),
            )
        } else {
            mend(tx, today)
        }
    })?;
    Ok(true)
}

/// The result of comparing a batch of students.
struct Piece {
    students: i64,
    /// The last student of the batch; `None` when it is empty.
    last: Option<UserId>,
    /// Students whose stored sums differ from the ledger.
    wrong: Vec<UserId>,
}

/// Compares the next students with ids above `after`.
fn compare(tx: &ReadTx<'_>, after: UserId, today: Day) -> Result<Piece> {
    let sql = "FROM program_student WHERE student_id > ?1 ORDER BY student_id LIMIT ?2";
    let stored: Vec<StoredTotals> = tx.records(sql, (after, PIECE))?;
    let last = stored.last().map(|one| one.student);
    let mut found = vec![LedgerTotals::default(); stored.len()];
    let mut place = 0;
    each_posting(tx, after, last.unwrap_or(after), |student, posting| {
        while place < stored.len() && stored[place].student < student {
            place += 1;
        }
        // Entries of a student without totals are ignored.
        if stored.get(place).is_some_and(|one| one.student == student) {
            found[place].add(&posting);
        }
    })?;
    let students = i64::try_from(stored.len()).unwrap_or(i64::from(PIECE));
    let wrong = stored.iter().zip(&mut found).filter_map(|(stored, found)| {
        settle(found, &stored.totals, today);
        (*found != stored.totals).then_some(stored.student)
    });
    Ok(Piece { students, last, wrong: wrong.collect() })
}

row! {
    struct StoredTotals {
        student: UserId = "student_id",
        totals: LedgerTotals as row,
    }
}

/// Calls `show` with the postings of students with ids above `after` and up to
/// `last`, in order.
fn each_posting(
    tx: &ReadTx<'_>,
    after: UserId,
    last: UserId,
    mut show: impl FnMut(UserId, Posting),
) -> Result<()> {
    tx.each(
        &format!(
            "SELECT {}, student_id FROM program_entry
             WHERE student_id > ?1 AND student_id <= ?2
             ORDER BY student_id, day, at, action, cause, turn",
            Posting::COLUMNS
        ),
        (after, last),
        |row| {
            let mut at = 0;
            let posting = Posting::read_at(row, &mut at)?;
            show(row.get(at)?, posting);
            Ok(())
        },
    )
}

/// Copies from the stored sums what the ledger does not say: whether a missed
/// day already reset the streak, and when a student without points joined.
fn settle(found: &mut LedgerTotals, stored: &LedgerTotals, today: Day) {
    if found.streak_on(today) == 0 && stored.streak != found.streak {
        found.streak = 0;
    }
    if found.xp_at == Instant(0) {
        found.xp_at = stored.xp_at;
    }
}

/// Corrects students whose sums differ, and ends the comparison with the last
/// one.
fn mend(tx: &WriteTx<'_>, today: Day) -> Result<()> {
    let students: Vec<UserId> =
        tx.values("SELECT student_id FROM program_mend ORDER BY student_id LIMIT ?1", [PIECE])?;
    for student in students {
        tx.run("DELETE FROM program_mend WHERE student_id = ?1", [student])?;
        let Some(stored) = store::ledger_totals(tx, student)? else { continue };
        let mut found = LedgerTotals::default();
        each_posting(tx, UserId(student.0 - 1), student, |_, posting| found.add(&posting))?;
        settle(&mut found, &stored, today);
        if found != stored {
            store::put(tx, student, &found)?;
            ledger::tell_reached(tx, student, stored.xp, found.xp)?;
            tx.run("UPDATE program_recount SET mended = mended + 1 WHERE recount_id = 1", ())?;
        }
        if tx.is_spent() {
            break;
        }
    }
    tx.run(
        "UPDATE program_recount SET ended_at = ?1
         WHERE recount_id = 1 AND NOT EXISTS (SELECT 1 FROM program_mend)",
        [tx.now()],
    )
}
