//! The readers: pooled read-only connections in three lanes.
//!
//! Reads in place have enough connections for every async worker, so they
//! never wait; slow work has a few of its own and cannot take theirs, nor
//! those of requests that read little and then wait for something else. Every
//! read has a deadline, so that a snapshot never pins the log for long.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use rusqlite::Connection;

use super::{DbError, OpenError, Options, Result, pragmas};

/// How long a caller waits for a free connection.
const CHECKOUT: Duration = Duration::from_secs(2);
/// How long closing waits for the last connection to go.
const CLOSING: Duration = Duration::from_secs(5);
/// Virtual machine steps between two looks at the deadline, some 20 µs.
const STEPS_BETWEEN_LOOKS: i32 = 2_000;
/// Connections in place that no worker keeps.
const SPARE: usize = 2;
/// Connections for brief reads.
const BRIEF: usize = 2;
/// A deadline that never comes.
const NEVER: u64 = u64::MAX;

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
    const fn deadline(self) -> Duration {
        match self {
            Self::InPlace | Self::Brief => Duration::from_secs(5),
            Self::Slow => Duration::from_secs(30),
        }
    }
}

/// All pools.
pub struct Readers {
    /// A connection that moved between cores with each read would cost half
    /// of their speed, so each worker keeps the one that it used last.
    homes: Vec<Home>,
    in_place: Pool<Manager>,
    brief: Pool<Manager>,
    slow: Pool<Manager>,
    path: PathBuf,
    shared: Arc<Shared>,
}

impl Readers {
    /// Opens all connections.
    pub fn open(options: &Options) -> std::result::Result<Self, OpenError> {
        // Once here, so that what is wrong with the file is told as it is.
        drop(
            pragmas::open_reader(&options.path)
                .map_err(|error| OpenError::sqlite(&options.path, error))?,
        );
        let shared = Arc::new(Shared {
            started: Instant::now(),
            interrupted: AtomicBool::new(false),
            open: Mutex::new(0),
            closed: Condvar::new(),
        });
        Ok(Self {
            homes: (0..options.readers.saturating_sub(SPARE)).map(|_| Home::default()).collect(),
            in_place: pool(&options.path, &shared, options.readers)?,
            brief: pool(&options.path, &shared, BRIEF)?,
            slow: pool(&options.path, &shared, options.slow_readers)?,
            path: options.path.clone(),
            shared,
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
        let home = match lane {
            Lane::InPlace => self.home(),
            Lane::Brief | Lane::Slow => None,
        };
        let Some(mut home) = home else {
            return Ok(Taken::Pooled(Box::new(get()?)));
        };
        // One that was left in the middle of something goes back to be closed.
        if let Some(reader) = home.take_if(|reader| reader.is_broken()) {
            drop(reader);
        }
        if home.is_none() {
            *home = Some(get()?);
        }
        Ok(Taken::Home(home))
    }

    /// This thread's place, unless it is taken: by a read around this one, or
    /// by another thread that came to the same place.
    fn home(&self) -> Option<MutexGuard<'_, Option<Pooled>>> {
        if self.homes.is_empty() {
            return None;
        }
        let number = THREAD.with(|number| *number);
        self.homes[number % self.homes.len()].0.try_lock()
    }

    /// `PRAGMA quick_check` on a connection of its own.
    pub fn quick_check(&self) -> Result<Vec<String>> {
        let reader = Reader::open(&self.path, &self.shared)?;
        let mut statement = reader.connection.prepare("PRAGMA quick_check")?;
        let lines = statement
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Stops the statements that run at present; they end with
    /// [`DbError::Deadline`] within milliseconds.
    pub fn interrupt(&self) {
        self.shared.interrupted.store(true, Ordering::Relaxed);
    }

    /// Closes all connections and waits until they are.
    pub fn close(self) {
        let shared = Arc::clone(&self.shared);
        drop(self);
        // The pool's own thread may still hold one for an instant.
        let mut open = shared.open.lock();
        shared.closed.wait_while_for(&mut open, |open| *open > 0, CLOSING);
    }
}

/// Four connections open in less than a millisecond, so a pool is complete
/// from the start and never grows or shrinks.
fn pool(
    path: &Path,
    shared: &Arc<Shared>,
    size: usize,
) -> std::result::Result<Pool<Manager>, OpenError> {
    Pool::builder()
        .max_size(u32::try_from(size.max(1)).unwrap_or(u32::MAX))
        .test_on_check_out(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connection_timeout(CHECKOUT)
        .error_handler(Box::new(NopErrorHandler))
        .build(Manager { path: path.to_owned(), shared: Arc::clone(shared) })
        .map_err(|error| OpenError::Io {
            doing: "open read connections to",
            path: path.to_owned(),
            cause: std::io::Error::other(error),
        })
}

type Pooled = PooledConnection<Manager>;

/// Where one worker keeps its connection, on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Home(Mutex<Option<Pooled>>);

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Number of the thread among those that read.
    static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// A connection for one read.
pub enum Taken<'r> {
    /// Of this thread; it stays there.
    Home(MutexGuard<'r, Option<Pooled>>),
    /// Of the pool; it goes back.
    Pooled(Box<Pooled>),
}

impl Taken<'_> {
    /// Begins a snapshot that ends when the value is dropped.
    pub fn begin(&self, lane: Lane) -> Result<Snapshot<'_>> {
        match self {
            Self::Home(home) => home.as_ref().ok_or(DbError::Busy)?.begin(lane),
            Self::Pooled(reader) => reader.begin(lane),
        }
    }
}

/// What all readers have in common.
struct Shared {
    /// Origin of the deadlines.
    started: Instant,
    interrupted: AtomicBool,
    /// Connections that are not closed yet.
    open: Mutex<usize>,
    closed: Condvar,
}

impl Shared {
    /// Nanoseconds since the start, on the monotonic clock.
    fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(NEVER)
    }
}

/// Opens readers for the pools.
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
        reader.is_broken()
    }
}

/// A read-only connection with a deadline.
pub struct Reader {
    connection: Connection,
    /// When the running statement is stopped, as [`Shared::elapsed`] counts.
    deadline: Arc<AtomicU64>,
    /// Dropped after the connection: fields go in this order.
    open: Open,
}

impl Reader {
    fn open(path: &Path, shared: &Arc<Shared>) -> rusqlite::Result<Self> {
        let mut reader = Self {
            connection: pragmas::open_reader(path)?,
            deadline: Arc::new(AtomicU64::new(NEVER)),
            open: Open::count(shared),
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

    /// Whether a transaction was left open that could not be ended.
    fn is_broken(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn begin(&self, lane: Lane) -> Result<Snapshot<'_>> {
        self.connection.prepare_cached("BEGIN")?.execute([])?;
        let length = u64::try_from(lane.deadline().as_nanos()).unwrap_or(NEVER);
        let end = self.open.shared.elapsed().saturating_add(length);
        self.deadline.store(end, Ordering::Relaxed);
        Ok(Snapshot { reader: self })
    }
}

/// A read transaction.
pub struct Snapshot<'r> {
    reader: &'r Reader,
}

impl Snapshot<'_> {
    /// The connection it runs on.
    pub fn connection(&self) -> &Connection {
        &self.reader.connection
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // Before the COMMIT, which must not be stopped.
        self.reader.deadline.store(NEVER, Ordering::Relaxed);
        // What fails here leaves the transaction open, and the pool then
        // throws the connection away.
        if let Ok(mut commit) = self.reader.connection.prepare_cached("COMMIT") {
            let _ = commit.execute([]);
        }
    }
}

/// Counts an open connection.
struct Open {
    shared: Arc<Shared>,
}

impl Open {
    fn count(shared: &Arc<Shared>) -> Self {
        *shared.open.lock() += 1;
        Self { shared: Arc::clone(shared) }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        *self.shared.open.lock() -= 1;
        self.shared.closed.notify_all();
    }
}
