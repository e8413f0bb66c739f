//! Keeping the write-ahead log small.
//!
//! Only the writer runs checkpoints, between commits. A passive checkpoint every
//! 4,000 pages copies the log into the file, but the log restarts from its
//! beginning only at a moment when nothing reads. Under steady reads that moment
//! never comes by itself, and the log would grow to gigabytes. So above some
//! 47 MB a gate holds back new reads in place for the few milliseconds that a
//! restart of the log takes. Snapshots that workers keep between two reads
//! (`reader.rs`) end before each checkpoint.
//!
//! Slow reads and backups do not pass the gate. While one of them pins the log,
//! the restart is retried each second. The log file keeps its length after a
//! restart, because overwriting is cheaper than growing; an idle writer
//! truncates it.
//!
//! While another program copies the log away (`replicated.rs`), that program checkpoints:
//! what it has not copied yet must not be overwritten. The writer then only ends kept
//! snapshots, which would hold its checkpoints up, and steps in when the log has grown
//! to the room that is left for a program that went away.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::readers::WorkerConnections;
use super::{DbError, Result};

/// Pages of log after which it is copied into the file.
const PASSIVE_PAGES: i64 = 4_000;
/// Pages of log, some 47 MB, above which the gate closes. What one more batch
/// adds must stay under 64 MB.
const GATE_PAGES: i64 = 11_500;
/// Pages of log, some 99 MB, above which it is restarted although another program copies
/// it, which succeeds only when that program is not there.
const ROOM_PAGES: i64 = 24_000;
/// How long a closing gate waits for reads in place to end.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time between two attempts to restart the log.
const RETRY: Duration = Duration::from_secs(1);
/// How long the writer must have nothing to do before it truncates a log
/// that is still small.
const IDLE: Duration = Duration::from_secs(2);

/// Lets reads in place through, except while the log is being restarted.
#[derive(Default)]
pub struct Gate {
    state: Mutex<CheckpointState>,
    changed: Condvar,
    /// When a checkpoint last came to its end.
    done: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct CheckpointState {
    inside: usize,
    closed: bool,
}

impl Gate {
    /// Passes the gate, after waiting while it is closed.
    pub fn enter(&self) -> Pass<'_> {
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| state.closed);
        state.inside += 1;
        Pass(self)
    }

    /// How long ago a checkpoint last came to its end; `None` before the first.
    pub fn since_checkpoint(&self) -> Option<Duration> {
        self.done.lock().map(|done| done.elapsed())
    }

    /// Closes the gate and waits for the reads inside; `None`, with the gate open
    /// again, when they take too long.
    fn close(&self) -> Option<Closed<'_>> {
        let mut state = self.state.lock();
        state.closed = true;
        let closed = Closed(self);
        self.changed.wait_while_for(&mut state, |state| state.inside > 0, PATIENCE);
        let empty = state.inside == 0;
        drop(state);
        empty.then_some(closed)
    }
}

/// Proof of having passed; dropped when the read has ended.
pub struct Pass<'g>(&'g Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.inside -= 1;
        if state.closed && state.inside == 0 {
            self.0.changed.notify_all();
        }
    }
}

/// A closed gate; opens when dropped.
struct Closed<'g>(&'g Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.state.lock().closed = false;
        self.0.changed.notify_all();
    }
}

/// What a checkpoint works with.
pub struct Checkpointer<'w> {
    /// The writer's connection.
    pub connection: &'w Connection,
    pub gate: &'w Gate,
    pub worker_connections: &'w WorkerConnections,
    /// Whether another program copies the log and checkpoints it.
    pub is_replicated: bool,
}

impl Checkpointer<'_> {
    /// Ends the kept snapshots and runs a checkpoint; false when other connections kept
    /// it from finishing.
    pub fn run(&self, pragma: &str) -> Result<bool> {
        self.worker_connections.end_kept();
        let is_done = checkpoint(self.connection, pragma)?;
        if is_done {
            *self.gate.done.lock() = Some(Instant::now());
        }
        Ok(is_done)
    }
}

/// What the writer remembers about the log.
pub struct Log {
    /// Length at which the next passive checkpoint is due.
    next_passive: i64,
    /// When a restart was tried last.
    tried: Option<Instant>,
}

impl Default for Log {
    /// The state before the first commit.
    fn default() -> Self {
        Self { next_passive: PASSIVE_PAGES, tried: None }
    }
}

impl Log {
    /// After a commit: copies the log when it is long enough, and restarts a longer one.
    pub fn after_commit(&mut self, with: &Checkpointer<'_>) -> Result<()> {
        let pages = pages(with.connection)?;
        if with.is_replicated {
            with.worker_connections.end_kept();
            return self.keep_room(with, pages);
        }
        if pages + PASSIVE_PAGES < self.next_passive {
            // The log was restarted.
            self.next_passive = PASSIVE_PAGES;
        }
        if pages >= self.next_passive {
            with.run("PRAGMA wal_checkpoint(PASSIVE)")?;
            self.next_passive = pages + PASSIVE_PAGES;
        }
        if pages >= GATE_PAGES {
            self.start_again(with, "PRAGMA wal_checkpoint(RESTART)")?;
        }
        Ok(())
    }

    /// After `idle` without work: truncates the log.
    pub fn when_idle(&mut self, with: &Checkpointer<'_>, idle: Duration) -> Result<()> {
        let pages = pages(with.connection)?;
        if with.is_replicated {
            return self.keep_room(with, pages);
        }
        if pages >= GATE_PAGES || (pages > 0 && idle >= IDLE) {
            self.start_again(with, "PRAGMA wal_checkpoint(TRUNCATE)")?;
        }
        Ok(())
    }

    fn keep_room(&mut self, with: &Checkpointer<'_>, pages: i64) -> Result<()> {
        if pages >= ROOM_PAGES {
            self.start_again(with, "PRAGMA wal_checkpoint(RESTART)")?;
        }
        Ok(())
    }

    /// Restarts the log, at most once a second. It does not wait for slow
    /// readers, because nothing could be written in that time.
    fn start_again(&mut self, with: &Checkpointer<'_>, how: &str) -> Result<()> {
        if self.tried.is_some_and(|tried| tried.elapsed() < RETRY) {
            return Ok(());
        }
        self.tried = Some(Instant::now());
        // The long part happens while reads go on.
        with.run("PRAGMA wal_checkpoint(PASSIVE)")?;
        let Some(_closed) = with.gate.close() else {
            return Ok(());
        };
        with.connection.busy_timeout(Duration::ZERO)?;
        let done = with.run(how);
        with.connection.busy_timeout(super::pragmas::WRITER_PATIENCE)?;
        if done? {
            self.tried = None;
            self.next_passive = PASSIVE_PAGES;
        }
        Ok(())
    }
}

/// Moves the whole log into the file, when the database is closed. Fails with
/// [`DbError::Busy`] when another process still reads the log. Nothing is lost
/// then: the log stays beside the file.
pub fn fold(connection: &Connection) -> Result<()> {
    if checkpoint(connection, "PRAGMA wal_checkpoint(TRUNCATE)")? {
        return Ok(());
    }
    Err(DbError::Busy)
}

fn pages(connection: &Connection) -> Result<i64> {
    let mut statement = connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
    Ok(statement.query_row([], |row| row.get(1))?)
}

/// Runs a checkpoint; false when other connections kept it from finishing.
fn checkpoint(connection: &Connection, pragma: &str) -> Result<bool> {
    let mut statement = connection.prepare_cached(pragma)?;
    let busy: rusqlite::Result<i64> = statement.query_row([], |row| row.get(0));
    match busy.map_err(DbError::from) {
        Ok(busy) => Ok(busy == 0),
        Err(DbError::Busy) => Ok(false),
        Err(error) => Err(error),
    }
}
