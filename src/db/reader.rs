//! A connection that reads, and its snapshots.
//!
//! Beginning and ending a snapshot takes system calls, a tenth of the time of a
//! usual page. So a worker of the server keeps the snapshot of its last read in
//! place, and its next read uses it again if nothing was committed since. The
//! checkpointer ends kept snapshots. Decision db-19.

use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::commits::Commits;
use super::readers::Lane;
use super::{Result, pragmas};

/// Virtual machine steps between two checks of the deadline, some 20 µs.
const STEPS_BETWEEN_LOOKS: i32 = 2_000;
/// Nanoseconds for which a snapshot is reusable. Under load many reads happen in that
/// time. A commit of another process is seen that much later at most.
const KEPT_NS: u64 = 500_000;
/// A deadline that never comes.
const NEVER: u64 = u64::MAX;
/// How long closing waits for the last connection to close.
const CLOSING: Duration = Duration::from_secs(5);

/// What all readers have in common.
pub struct Shared {
    /// Origin of the deadlines.
    started: Instant,
    interrupted: AtomicBool,
    /// Tells whether a snapshot is the newest; without it none is reusable.
    commits: Option<Arc<Commits>>,
    /// Connections that are not closed yet.
    open: Mutex<usize>,
    closed: Condvar,
}

impl Shared {
    /// Without commits to count, no snapshot is reusable.
    pub fn new(commits: Option<Arc<Commits>>) -> Self {
        Self {
            started: Instant::now(),
            interrupted: AtomicBool::new(false),
            commits,
            open: Mutex::new(0),
            closed: Condvar::new(),
        }
    }

    /// Stops the statements that run at present, and all later ones.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Waits until all connections are closed.
    pub fn wait_closed(&self) {
        let mut open = self.open.lock();
        self.closed.wait_while_for(&mut open, |open| *open > 0, CLOSING);
    }

    /// Nanoseconds since the start, on the monotonic clock.
    fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(NEVER)
    }
}

/// A read-only connection with a deadline.
pub struct Reader {
    connection: Connection,
    /// When the running statement is stopped, as [`Shared::elapsed`] counts.
    deadline: Arc<AtomicU64>,
    /// The snapshot that is reusable.
    reusable: Cell<Option<OpenSnapshot>>,
    /// Dropped after the connection: fields go in this order.
    open: Open,
}

impl Reader {
    pub fn open(path: &Path, shared: &Arc<Shared>) -> rusqlite::Result<Self> {
        let connection = pragmas::open_reader(path)?;
        *shared.open.lock() += 1;
        let mut reader = Self {
            connection,
            deadline: Arc::new(AtomicU64::new(NEVER)),
            reusable: Cell::new(None),
            open: Open { shared: Arc::clone(shared) },
        };
        let (deadline, shared) = (Arc::clone(&reader.deadline), Arc::clone(shared));
        reader.connection.progress_handler(
            STEPS_BETWEEN_LOOKS,
            Some(move || {
                let deadline = deadline.load(Ordering::Relaxed);
                shared.interrupted.load(Ordering::Relaxed)
                    || (deadline != NEVER && shared.elapsed() > deadline)
            }),
        )?;
        Ok(reader)
    }

    /// The connection, for a read outside of all snapshots.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether a transaction was left open that could not be ended.
    pub fn is_broken(&self) -> bool {
        self.reusable.get().is_none() && !self.connection.is_autocommit()
    }

    /// Begins a snapshot that ends with its read.
    pub fn begin(&self, lane: Lane) -> Result<Snapshot<'_>> {
        self.start()?;
        self.set_deadline(lane, self.open.shared.elapsed());
        Ok(Snapshot { reader: self, reused: None })
    }

    /// Uses the kept snapshot again if it is the newest, else begins one that
    /// will be reusable.
    pub fn go_on(&self, lane: Lane) -> Result<Snapshot<'_>> {
        let Some(commits) = &self.open.shared.commits else {
            return self.begin(lane);
        };
        let now = self.open.shared.elapsed();
        let is_newest = |reusable: &OpenSnapshot| {
            commits.is_current(reusable.number)
                && now.saturating_sub(reusable.begun) < KEPT_NS
                // An error may have ended the transaction.
                && !self.connection.is_autocommit()
        };
        let reusable = if let Some(reusable) = self.reusable.take().filter(is_newest) {
            reusable
        } else {
            self.end();
            let number = commits.current();
            self.start()?;
            OpenSnapshot { number, begun: now }
        };
        self.set_deadline(lane, now);
        Ok(Snapshot { reader: self, reused: Some(reusable) })
    }

    fn start(&self) -> Result<()> {
        self.connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(())
    }

    fn set_deadline(&self, lane: Lane, now: u64) {
        let length = u64::try_from(lane.deadline().as_nanos()).unwrap_or(NEVER);
        self.deadline.store(now.saturating_add(length), Ordering::Relaxed);
    }

    /// Ends the transaction, if there is one.
    pub fn end(&self) {
        self.reusable.set(None);
        if self.connection.is_autocommit() {
            return;
        }
        // An error here leaves the transaction open, and the pool then discards
        // the connection.
        if let Ok(mut commit) = self.connection.prepare_cached("COMMIT") {
            let _ = commit.execute([]);
        }
    }
}

/// A kept snapshot: the number of commits at its start, and when it began.
#[derive(Clone, Copy)]
struct OpenSnapshot {
    number: u64,
    begun: u64,
}

/// A read transaction.
pub struct Snapshot<'r> {
    reader: &'r Reader,
    /// `None` for a snapshot that ends with its read.
    reused: Option<OpenSnapshot>,
}

impl Snapshot<'_> {
    /// The connection it runs on.
    pub fn connection(&self) -> &Connection {
        &self.reader.connection
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // Before the COMMIT, which must not be stopped by the deadline.
        self.reader.deadline.store(NEVER, Ordering::Relaxed);
        match self.reused {
            Some(reusable) => self.reader.reusable.set(Some(reusable)),
            None => self.reader.end(),
        }
    }
}

struct Open {
    shared: Arc<Shared>,
}

impl Drop for Open {
    fn drop(&mut self) {
        *self.shared.open.lock() -= 1;
        self.shared.closed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Clock;
    use crate::db::{Db, Options};

    #[test]
    fn a_snapshot_is_gone_on_in_until_something_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seller.db");
        let options =
            Options { path: path.clone(), clock: Clock::System, readers: 1, slow_readers: 1 };
        let (db, _) = Db::open_exclusive(&options).unwrap();
        let commits = Arc::<Commits>::default();
        let reader =
            Reader::open(&path, &Arc::new(Shared::new(Some(Arc::clone(&commits))))).unwrap();
        let reused = || reader.go_on(Lane::InPlace).unwrap().reused.unwrap();
        // In 1,000 tries two reads follow each other fast enough at least once,
        // however busy the machine is.
        let goes_on = || (0..1_000).any(|_| reused().begun == reused().begun);
        assert!(goes_on());
        let before = reused();
        commits.count(|| {
            assert_ne!(reused().number, before.number);
            assert!(!goes_on(), "while a commit is under way");
        });
        assert_ne!(reused().number, before.number);
        assert!(goes_on());
        assert!(!reader.connection.is_autocommit() && !reader.is_broken());
        reader.end();
        assert!(reader.connection.is_autocommit());
        drop(reader);
        db.close().unwrap();
    }
}
