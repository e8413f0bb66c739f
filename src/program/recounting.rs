//! The comparison of students with the ledger: how far it is, and the bells of its
//! worker (`recount.rs`).

use std::time::{Duration, Instant as Monotonic};

use crate::base::{Instant, Stop, UserId};
use crate::db::{DbError, Lane, ReadTx, Result, WriteTx};
use crate::row;
use crate::services::Services;

/// Signals: `begin` wakes the worker, `over` says that a comparison has ended.
#[derive(Default)]
pub struct Recount {
    pub(super) begin: Stop,
    pub(super) over: Stop,
}

row! {
    /// The last comparison, or the one that runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RecountRun {
        pub begun_at: Instant,
        /// The last student that was compared.
        pub position: UserId,
        /// Students compared so far.
        pub compared: i64 = "looked_at",
        /// Number of students when it began.
        pub students: i64,
        /// `None` while it runs.
        pub ended_at: Option<Instant>,
        /// Students whose sums were corrected.
        pub mended: i64,
    }
}

/// The last comparison; `None` when there never was one.
pub fn last(tx: &ReadTx<'_>) -> Result<Option<RecountRun>> {
    tx.record("FROM program_recount WHERE recount_id = 1", ())
}

/// Begins a comparison; one that runs starts over.
pub fn begin(tx: &WriteTx<'_>) -> Result<()> {
    tx.run("DELETE FROM program_mend", ())?;
    tx.run(
        "INSERT INTO program_recount (recount_id, begun_at, position, looked_at, students, ended_at, mended)
         VALUES (1, ?1, 0, 0, (SELECT count(*) FROM program_student), NULL, 0)
         ON CONFLICT DO UPDATE SET begun_at = ?1, position = 0, looked_at = 0, ended_at = NULL,
             mended = 0, students = excluded.students",
        [tx.now()],
    )
}

impl Recount {
    /// Wakes the worker, because the service stops.
    pub fn stop(&self) {
        self.begin.stop();
    }

    /// Begins a comparison unless one runs, and waits at most `at_most` for its
    /// end; returns its state.
    pub fn ask(&self, services: &Services, at_most: Duration) -> Result<RecountRun> {
        let end = Monotonic::now() + at_most;
        services.db.write(|tx| {
            if last(tx)?.is_none_or(|run| run.ended_at.is_some()) {
                begin(tx)?;
            }
            Ok::<_, DbError>(())
        })?;
        self.begin.ring();
        loop {
            // Rings are counted before the state is read, so that an end in
            // between still wakes this thread.
            let (rings, _) = self.over.wait_ring(u64::MAX, Duration::ZERO);
            let run = services.db.read(Lane::Slow, last)?;
            let run = run.ok_or_else(|| DbError::from(rusqlite::Error::QueryReturnedNoRows))?;
            let left = end.saturating_duration_since(Monotonic::now());
            if run.ended_at.is_some() || left.is_zero() {
                return Ok(run);
            }
            self.over.wait_ring(rings, left);
        }
    }
}
