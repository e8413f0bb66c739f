//! The readers: pooled read-only connections in three lanes.
//!
//! Reads in place have a connection for every async worker, so they never wait.
//! Slow reads have a few connections of their own, and so have brief reads, for
//! requests that read little and then wait for something else. So slow reads
//! cannot block the others. Every read has a deadline, so that no snapshot pins
//! the log for long.

use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};

use super::commits::Commits;
use super::reader::{Reader, Shared, Snapshot};
use super::{DbError, OpenError, Options, Result, pragmas};

/// How long a caller waits for a free connection.
const CHECKOUT: Duration = Duration::from_secs(2);
/// Connections for reads in place that no worker keeps.
const SPARE: usize = 2;
const BRIEF: usize = 2;

/// Which connections a read uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Bounded, indexed reads on an async worker: 5 seconds at most.
    InPlace,
    /// Indexed reads on a worker thread, between calls to the outside or
    /// before a password is checked: 5 seconds at most.
    Brief,
    /// Exports and aggregates on a worker thread: 30 seconds at most.
    Slow,
}

impl Lane {
    /// The longest that a read may take.
    pub const fn deadline(self) -> Duration {
        match self {
            Self::InPlace | Self::Brief => Duration::from_secs(5),
            Self::Slow => Duration::from_secs(30),
        }
    }
}

pub struct Readers {
    worker_connections: Arc<WorkerConnections>,
    in_place: Pool<Manager>,
    brief: Pool<Manager>,
    slow: Pool<Manager>,
    path: PathBuf,
    shared: Arc<Shared>,
    /// Of checks, which are stopped before all others.
    checks: Arc<Shared>,
}

impl Readers {
    /// Opens all connections. Snapshots of reads in place are kept until the next
    /// commit; without `commits` none is kept.
    pub fn open(options: &Options, commits: Option<Arc<Commits>>) -> Result<Self, OpenError> {
        // Opened once here, because the pools would hide what is wrong with the file.
        drop(pragmas::open_reader(&options.path).map_err(OpenError::sqlite(&options.path))?);
        let shared = Arc::new(Shared::new(commits));
        let worker_connections =
            (0..options.readers.saturating_sub(SPARE)).map(|_| WorkerSlot::default());
        Ok(Self {
            worker_connections: Arc::new(WorkerConnections(worker_connections.collect())),
            in_place: pool(&options.path, &shared, options.readers)?,
            brief: pool(&options.path, &shared, BRIEF)?,
            slow: pool(&options.path, &shared, options.slow_readers)?,
            path: options.path.clone(),
            shared,
            checks: Arc::new(Shared::new(None)),
        })
    }

    /// A free connection of the lane.
    pub fn take(&self, lane: Lane) -> Result<Taken<'_>> {
        let pool = match lane {
            Lane::InPlace => &self.in_place,
            Lane::Brief => &self.brief,
            Lane::Slow => &self.slow,
        };
        let get = || pool.get().map_err(|_| DbError::Busy);
        let slot = match lane {
            Lane::InPlace => self.worker_connections.of_this_thread(),
            Lane::Brief | Lane::Slow => None,
        };
        let Some(mut slot) = slot else {
            return Ok(Taken::Pooled(Box::new(get()?)));
        };
        // A connection with an open transaction goes back to the pool, which closes it.
        if let Some(reader) = slot.take_if(|reader| reader.is_broken()) {
            drop(reader);
        }
        if slot.is_none() {
            *slot = Some(get()?);
        }
        Ok(Taken::Slot(slot))
    }

    /// Where the workers keep their connections, with their snapshots.
    pub fn worker_connections(&self) -> Arc<WorkerConnections> {
        Arc::clone(&self.worker_connections)
    }

    /// A connection for a check of the file, without deadline.
    pub fn for_check(&self) -> Result<Reader> {
        Ok(Reader::open(&self.path, &self.checks)?)
    }

    /// Stops the checks that run at present, and all later ones.
    pub fn stop_checks(&self) {
        self.checks.interrupt();
    }

    /// Stops the statements that run at present; they end with
    /// [`DbError::Deadline`] within milliseconds.
    pub fn interrupt(&self) {
        self.shared.interrupt();
    }

    /// Closes all connections and waits until they are.
    pub fn close(self) {
        let shared = Arc::clone(&self.shared);
        self.worker_connections.release_all();
        drop(self);
        // The pool's own thread may still hold one for an instant.
        shared.wait_closed();
    }
}

/// Four connections open in less than a millisecond, so a pool is complete
/// from the start and never grows or shrinks.
fn pool(path: &Path, shared: &Arc<Shared>, size: usize) -> Result<Pool<Manager>, OpenError> {
    Pool::builder()
        .max_size(u32::try_from(size.max(1)).unwrap_or(u32::MAX))
        .test_on_check_out(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connection_timeout(CHECKOUT)
        .error_handler(Box::new(NopErrorHandler))
        .build(Manager { path: path.to_owned(), shared: Arc::clone(shared) })
        .map_err(std::io::Error::other)
        .map_err(OpenError::io("open read connections to", path))
}

type Pooled = PooledConnection<Manager>;

/// Where one worker keeps its connection, on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct WorkerSlot(Mutex<Option<Pooled>>);

/// The connections of the workers. A connection that moved to another core with
/// each read would halve the speed, so each worker keeps the one that it used last.
pub struct WorkerConnections(Vec<WorkerSlot>);

impl WorkerConnections {
    /// This thread's place; `None` while it is in use: by an outer read of this
    /// thread, or by another thread with the same place.
    fn of_this_thread(&self) -> Option<MutexGuard<'_, Option<Pooled>>> {
        if self.0.is_empty() {
            return None;
        }
        let number = THREAD.with(|number| *number);
        self.0[number % self.0.len()].0.try_lock()
    }

    /// Ends the snapshots that are kept. Those in use are left alone.
    pub fn end_kept(&self) {
        for slot in self.0.iter().filter_map(|slot| slot.0.try_lock()) {
            if let Some(reader) = slot.as_ref() {
                reader.end();
            }
        }
    }

    fn release_all(&self) {
        self.end_kept();
        for slot in &self.0 {
            drop(slot.0.lock().take());
        }
    }
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Number of the thread among those that read.
    static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// A connection for one read.
pub enum Taken<'r> {
    /// The connection of this thread, which keeps it.
    Slot(MutexGuard<'r, Option<Pooled>>),
    /// A connection that returns to the pool.
    Pooled(Box<Pooled>),
}

impl Taken<'_> {
    /// Begins a snapshot that ends when the value is dropped.
    pub fn begin(&self, lane: Lane) -> Result<Snapshot<'_>> {
        match self {
            Self::Slot(slot) => slot.as_ref().ok_or(DbError::Busy)?.go_on(lane),
            Self::Pooled(reader) => reader.begin(lane),
        }
    }
}

pub struct Manager {
    path: PathBuf,
    shared: Arc<Shared>,
}

impl ManageConnection for Manager {
    type Connection = Reader;
    type Error = rusqlite::Error;

    fn connect(&self) -> rusqlite::Result<Reader> {
        Reader::open(&self.path, &self.shared)
    }

    fn is_valid(&self, _: &mut Reader) -> rusqlite::Result<()> {
        Ok(())
    }

    fn has_broken(&self, reader: &mut Reader) -> bool {
        !reader.connection().is_autocommit()
    }
}
