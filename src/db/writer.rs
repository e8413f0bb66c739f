//! The writer: one thread, many jobs in one commit, answers after it.
//!
//! Jobs wait in a bounded queue. The writer takes those that are there, runs
//! each in a savepoint of one transaction, commits (which syncs), runs the
//! hooks and answers. A commit takes jobs for some milliseconds only, and a
//! piece of long work has one of its own, by turns with the others, so that
//! whoever writes a little waits for one piece at most. A job that fails or panics undoes its own changes only;
//! a commit that fails fails every job of it. A write that finds no space is
//! undone; from then on the writer itself checks each second whether there is
//! space (`condition.rs`). While the database is damaged or a file of it is gone
//! (`alarm.rs`), jobs are refused before they run. When the disk reports an error at a sync, it is
//! unknown what is stored: the process ends, and the next start finds
//! everything that was ever answered.

use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, ffi};
use tokio::sync::oneshot;

use super::alarm::Alarm;
use super::checkpoint::{Checkpointer, Gate, Log};
use super::commits::Commits;
use super::condition::{Condition, Observed};
use super::count::{self, CountFile};
use super::error::REFUSED;
use super::files::Files;
pub use super::queued::Class;
use super::queued::{BATCH, Job, Queued, Task};
use super::readers::WorkerConnections;
use super::replicated::{self, Foreign};
use super::tx::{Hook, WriteTx};
use super::watch::{self, Changes, Watch};
use super::{DbError, Result, free_space};
use crate::base::Clock;

/// Jobs that may wait; more are refused.
const QUEUE: usize = 1_024;
/// How often the writer looks for changes of other processes.
const LOOK: Duration = Duration::from_millis(500);
/// Exit code after a disk error at a commit, for the supervisor.
const EXIT_DISK_ERROR: i32 = 70;

/// What a writer is made of.
pub struct Setup {
    /// The only connection that writes.
    pub connection: Connection,
    /// Gives `now` to each transaction.
    pub clock: Clock,
    /// Closed while the log is being restarted.
    pub gate: Arc<Gate>,
    /// Where workers keep snapshots, which pin the log.
    pub worker_connections: Arc<WorkerConnections>,
    /// Counts what is committed.
    pub commits: Arc<Commits>,
    /// Whether it keeps the log small; beside a command a server does.
    pub is_server: bool,
    /// While it is raised, nothing is written.
    pub alarm: Arc<Alarm>,
    /// Where the number of commits is noted.
    pub count: CountFile,
}

type Watcher = Box<dyn Fn() + Send + Sync>;

/// By which other threads use the writer.
pub struct Handle {
    queue: SyncSender<Message>,
    pub shared: Arc<Shared>,
    id: ThreadId,
    /// `None` once stopped.
    thread: Mutex<Option<JoinHandle<Connection>>>,
}

/// What the writer and other threads know.
#[derive(Default)]
pub struct Shared {
    waiting: AtomicUsize,
    observed: Observed,
    closed: AtomicBool,
    /// Called after changes of other processes.
    pub watchers: Mutex<Vec<Watcher>>,
    changes: Arc<Changes>,
    /// The server's files, which each commit looks at.
    pub files: OnceLock<Arc<Files>>,
    /// Rows that the largest job changed.
    pub largest: AtomicU64,
    /// Whether another program copies the log and checkpoints it.
    pub is_replicated: AtomicBool,
}

impl Handle {
    /// Starts the thread.
    pub fn start(setup: Setup) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let shared = Arc::new(Shared {
            observed: Observed::of(setup.connection.path().map(Path::new)),
            ..Shared::default()
        });
        let writer = Writer {
            setup,
            jobs,
            queued: Queued::default(),
            shared: Arc::clone(&shared),
            log: Log::default(),
            log_stays: false,
            foreign: Foreign::default(),
            is_log_safe: false,
            stopping: false,
        };
        let thread =
            std::thread::Builder::new().name("writer".to_owned()).spawn(move || writer.run())?;
        Ok(Self { queue, shared, id: thread.thread().id(), thread: Mutex::new(Some(thread)) })
    }

    /// See [`Db::submit`](super::Db::submit) and [`Db::write_piece`](super::Db::write_piece).
    pub fn submit<T, E, F>(&self, class: Class, work: F) -> Pending<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
        F: FnOnce(&WriteTx<'_>) -> Result<T, E> + Send + 'static,
    {
        if self.shared.closed.load(Ordering::Acquire) {
            return Pending::Refused(Some(DbError::Stopped));
        }
        let (caller, answer) = oneshot::channel();
        let task = Task { work: Some(work), result: None, caller };
        let before = self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let refused = if before >= QUEUE {
            DbError::Busy
        } else {
            match self.queue.try_send(Message::Job(class, Box::new(task))) {
                Ok(()) => return Pending::Queued(answer),
                Err(TrySendError::Full(_)) => DbError::Busy,
                Err(TrySendError::Disconnected(_)) => DbError::Stopped,
            }
        };
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        Pending::Refused(Some(refused))
    }

    /// See [`Db::watch`](super::Db::watch).
    pub fn watch<T: Copy + Send + Sync + 'static>(
        &self,
        watches: &'static [Watch<T>],
        changed: impl Fn(T, i64) + Send + Sync + 'static,
    ) -> Result<()> {
        let changes = Arc::clone(&self.shared.changes);
        changes.listen(Box::new(move |watch: usize, key| changed(watches[watch].meaning, key)));
        let (caller, answer) = mpsc::sync_channel(1);
        // No job: the triggers are this connection's own, also while jobs are refused.
        let install = move |connection: &Connection| {
            let _ = caller.send(watch::install(connection, watches, changes));
        };
        self.queue.send(Message::Setup(Box::new(install))).map_err(|_| DbError::Stopped)?;
        answer.recv().map_err(|_| DbError::Stopped)?
    }

    /// Whether writes succeed, without asking the writer's thread.
    pub fn condition(&self) -> Condition {
        if self.shared.closed.load(Ordering::Acquire) || self.queue_depth() >= QUEUE {
            return Condition::NotWritable;
        }
        self.shared.observed.condition()
    }

    /// Jobs in the queue.
    pub fn queue_depth(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Whether the caller runs on the writer's thread.
    pub fn is_this_thread(&self) -> bool {
        std::thread::current().id() == self.id
    }

    /// Runs the queued jobs, ends the thread and returns its connection; `None`
    /// when it was stopped before.
    pub fn stop(&self) -> Option<Connection> {
        let thread = self.thread.lock().take()?;
        self.shared.closed.store(true, Ordering::Release);
        // Fails only when the thread is gone already.
        let _ = self.queue.send(Message::Stop);
        if self.is_this_thread() {
            // A job held the last clone of the database: the thread ends by itself.
            return None;
        }
        thread.join().ok()
    }
}

/// The answer to a queued job.
pub enum Pending<T, E> {
    Queued(oneshot::Receiver<Result<T, E>>),
    Refused(Option<DbError>),
}

impl<T, E: From<DbError>> Pending<T, E> {
    /// Whether the queue was full, so that the writer never sees the job.
    pub fn is_refused_as_busy(&self) -> bool {
        matches!(self, Self::Refused(Some(DbError::Busy)))
    }

    /// Blocks this thread until the answer is there; like [`super::Db::write`]
    /// for worker threads and commands.
    pub fn wait(self) -> Result<T, E> {
        match self {
            Self::Queued(answer) => {
                answer.blocking_recv().unwrap_or_else(|_| Err(DbError::Stopped.into()))
            }
            Self::Refused(error) => Err(error.unwrap_or(DbError::Stopped).into()),
        }
    }
}

impl<T, E: From<DbError>> Future for Pending<T, E> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Queued(answer) => Pin::new(answer)
                .poll(context)
                .map(|answer| answer.unwrap_or_else(|_| Err(DbError::Stopped.into()))),
            Self::Refused(error) => {
                Poll::Ready(Err(error.take().unwrap_or(DbError::Stopped).into()))
            }
        }
    }
}

enum Message {
    Job(Class, Box<dyn Job>),
    Setup(Box<dyn FnOnce(&Connection) + Send>),
    Stop,
}

struct Writer {
    setup: Setup,
    jobs: Receiver<Message>,
    queued: Queued,
    shared: Arc<Shared>,
    log: Log,
    /// Whether the last checkpoint failed, which is logged once.
    log_stays: bool,
    /// By which changes of the program that copies the log are told from others.
    foreign: Foreign,
    /// Whether what is in the log of a vanished file was taken care of.
    is_log_safe: bool,
    stopping: bool,
}

/// The hooks of a commit, and the error of a job that found no space.
type Committed = (Vec<Hook>, Option<ffi::Error>);

impl Writer {
    /// Works until it is stopped and the queue is empty.
    fn run(mut self) -> Connection {
        let mut batch = Vec::with_capacity(BATCH);
        let mut looked = Instant::now();
        let mut worked = Instant::now();
        let mut version = self.data_version();
        self.foreign.look(&self.setup.connection);
        loop {
            self.receive();
            if !self.queued.is_empty() {
                self.commit_and_answer(&mut batch);
                worked = Instant::now();
            } else if self.stopping {
                if let Some(files) = self.shared.files.get() {
                    files.are_there();
                }
                self.save_log();
                return self.setup.connection;
            }
            if self.shared.observed.wants_try() {
                self.try_writing();
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                version = self.look_outside(version);
                self.keep_log_small(|log, with| log.when_idle(with, worked.elapsed()));
                self.save_log();
            }
            self.setup.alarm.note_fault();
        }
    }

    /// Takes all jobs that are in the channel, after waiting for one when there
    /// is nothing else to do.
    fn receive(&mut self) {
        // While stopping, no new jobs come, so there is nothing to wait for.
        let has_work = self.stopping || !self.queued.is_empty();
        let wait = if has_work { Duration::ZERO } else { LOOK };
        let mut next = match self.jobs.recv_timeout(wait) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::Stop),
        };
        while let Some(message) = next {
            match message {
                Message::Job(Class::Prompt, job) => self.queued.prompt.push_back(job),
                Message::Job(Class::Piece, job) => self.queued.pieces.push_back(job),
                Message::Setup(run) => run(&self.setup.connection),
                Message::Stop => self.stopping = true,
            }
            next = self.jobs.try_recv().ok();
        }
    }

    fn commit_and_answer(&mut self, batch: &mut Vec<Box<dyn Job>>) {
        if self.setup.alarm.is_blocked() {
            for job in self.queued.take_all() {
                self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                job.answer(Some(REFUSED));
            }
            return;
        }
        self.shared.observed.begin();
        let changes = self.setup.connection.total_changes();
        let committed = self.commit(batch);
        let has_changed = self.setup.connection.total_changes() > changes;
        let lost = match committed {
            Ok((hooks, refused)) => {
                let outcome = refused.map(Err).or(has_changed.then_some(Ok(())));
                self.shared.observed.end(outcome);
                self.shared.changes.committed();
                for hook in hooks {
                    if catch_unwind(AssertUnwindSafe(hook)).is_err() {
                        tracing::error!("a hook after a commit panicked; the commit stands");
                    }
                }
                // What was written to a file without a name is not answered as stored.
                let is_stored = self.shared.files.get().is_none_or(|files| files.are_there());
                (has_changed && !is_stored).then_some(REFUSED)
            }
            Err(code) => {
                self.roll_back();
                self.shared.changes.undone();
                self.shared.observed.end(Some(Err(code)));
                let error = DbError::of_code(code);
                // Those are logged once, and not for each commit.
                if !error.is_told() {
                    tracing::error!(%error, jobs = batch.len(), "a commit failed and was undone");
                }
                Some(code)
            }
        };
        for job in batch.drain(..) {
            job.answer(lost);
        }
        self.keep_log_small(Log::after_commit);
    }

    /// Runs jobs in one transaction and moves them into the batch. Returns
    /// their hooks, and the error of a statement that found no space.
    fn commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> Result<Committed, ffi::Error> {
        let connection = &self.setup.connection;
        let mut taking = self.queued.begin();
        let mut begun = self.begin();
        let tx = WriteTx::new(connection, self.setup.clock.now());
        let before = connection.total_changes();
        let mut keeps = false;
        while let Some(job) = self.queued.next(&mut taking) {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            batch.push(job);
            if let (Ok(()), Some(job)) = (&begun, batch.last_mut()) {
                let changes = connection.total_changes();
                match run_in_savepoint(&tx, job.as_mut()) {
                    Ok(kept) => keeps |= kept,
                    Err(code) => begun = Err(code),
                }
                let rows = connection.total_changes().saturating_sub(changes);
                self.shared.largest.fetch_max(rows, Ordering::Relaxed);
            }
        }
        begun?;
        // Beside a job that met damage no other is answered as stored.
        if self.setup.alarm.note_fault() {
            return Err(REFUSED);
        }
        let counted = if keeps && connection.total_changes() > before {
            Some(count::raise(connection, tx.now()).map_err(|error| bare(&error))?)
        } else {
            None
        };
        self.commit_or_die()?;
        if let Some(commits) = counted {
            self.setup.count.note(commits);
            self.foreign.counted(commits);
        }
        // A statement may find no space and leave the transaction as it was.
        let is_full = |code: &ffi::Error| matches!(DbError::of_code(*code), DbError::Full);
        let refused = tx.failure.get().filter(is_full);
        Ok((tx.hooks.into_inner(), refused))
    }

    /// Writes a page without changing its content, if the disk has room for more.
    fn try_writing(&mut self) {
        if self.setup.alarm.is_blocked() {
            return;
        }
        let connection = &self.setup.connection;
        self.shared.observed.begin();
        let written = free_space::require(connection)
            .and_then(|()| self.begin())
            .and_then(|()| {
                // The value is the same as before; SQLite writes its page nevertheless.
                execute(connection, &format!("PRAGMA user_version = {}", super::migrate::VERSION))
            })
            .and_then(|()| self.commit_or_die());
        if written.is_err() {
            self.roll_back();
        }
        self.shared.observed.tried(written);
        self.keep_log_small(Log::after_commit);
    }

    /// Commits. Ends the process after a disk error: what is stored is unknown then.
    fn commit_or_die(&self) -> Result<(), ffi::Error> {
        let Setup { connection, commits, .. } = &self.setup;
        commits.count(|| execute(connection, "COMMIT")).inspect_err(|code| {
            if let DbError::Sqlite(error) = DbError::of_code(*code)
                && error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
            {
                die(&DbError::Sqlite(error), "commit");
            }
        })
    }

    fn roll_back(&self) {
        if !self.setup.connection.is_autocommit() {
            let _ = execute(&self.setup.connection, "ROLLBACK");
        }
    }

    /// Takes the lock of writers.
    fn begin(&self) -> Result<(), ffi::Error> {
        let Setup { connection, worker_connections, .. } = &self.setup;
        replicated::begin(connection, worker_connections)
    }

    fn of_log(&self) -> Checkpointer<'_> {
        Checkpointer {
            connection: &self.setup.connection,
            gate: &self.setup.gate,
            worker_connections: &self.setup.worker_connections,
            is_replicated: self.shared.is_replicated.load(Ordering::Acquire),
        }
    }

    fn keep_log_small(
        &mut self,
        checkpoint: impl FnOnce(&mut Log, &Checkpointer<'_>) -> Result<()>,
    ) {
        // While there is trouble, the log stays as it is.
        if !self.setup.is_server || self.setup.alarm.is_blocked() {
            return;
        }
        let mut log = std::mem::take(&mut self.log);
        let kept = checkpoint(&mut log, &self.of_log());
        self.log = log;
        match kept {
            Ok(()) | Err(DbError::Busy) => self.log_stays = false,
            // A sync that failed once may report success the next time.
            Err(DbError::Sqlite(error))
                if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) =>
            {
                die(&DbError::Sqlite(error), "checkpoint");
            }
            Err(error) if !self.log_stays => {
                self.log_stays = true;
                tracing::warn!(%error, "the write-ahead log cannot be folded in; it is tried again");
            }
            Err(_) => {}
        }
    }

    /// After a file went away, puts what is in the log where it is safe.
    fn save_log(&mut self) {
        let gone = self.setup.alarm.gone().filter(|_| !self.is_log_safe);
        if let (Some(gone), Some(files)) = (gone, self.shared.files.get()) {
            self.is_log_safe = files.save_log(gone, &self.of_log());
        }
    }

    /// Calls the watchers when another connection has changed the file.
    fn look_outside(&mut self, before: Option<i64>) -> Option<i64> {
        let now = self.data_version();
        if now != before && self.foreign.look(&self.setup.connection) {
            let watchers = self.shared.watchers.lock();
            for watcher in watchers.iter() {
                if catch_unwind(AssertUnwindSafe(watcher)).is_err() {
                    tracing::error!("a watcher of outside changes panicked");
                }
            }
        }
        now
    }

    /// Changes when, and only when, another connection commits.
    fn data_version(&self) -> Option<i64> {
        self.setup
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .ok()
    }
}

/// Runs one job so that its failure undoes its own changes only; whether they
/// are kept. An error means that the whole transaction is gone.
fn run_in_savepoint(tx: &WriteTx<'_>, job: &mut dyn Job) -> Result<bool, ffi::Error> {
    let connection = tx.connection();
    execute(connection, "SAVEPOINT job")?;
    tx.begin_job();
    let hooks = tx.hooks.borrow().len();
    let keep = catch_unwind(AssertUnwindSafe(|| job.run(tx))).unwrap_or_else(|_| {
        job.panicked();
        tracing::error!("a write job panicked; its changes were undone");
        false
    });
    if connection.is_autocommit() {
        // A full disk, for example, ends the transaction at any statement.
        return Err(tx.failure.get().unwrap_or_else(|| ffi::Error::new(ffi::SQLITE_ABORT)));
    }
    if !keep {
        tx.hooks.borrow_mut().truncate(hooks);
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")?;
    Ok(keep)
}

pub(super) fn execute(connection: &Connection, sql: &str) -> Result<(), ffi::Error> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]))
        .map(|_| ())
        .map_err(|error| bare(&error))
}

/// The code of an error of SQLite.
pub(super) fn bare(error: &rusqlite::Error) -> ffi::Error {
    error.sqlite_error().copied().unwrap_or_else(|| ffi::Error::new(ffi::SQLITE_ERROR))
}

/// Ends the process: after a disk error only a fresh start, which reads what
/// the disk really holds, can be trusted. No caller is answered.
fn die(error: &DbError, during: &str) -> ! {
    tracing::error!(%error, "disk error at a {during}: stopping, to start again from what the disk holds");
    std::process::exit(EXIT_DISK_ERROR);
}
