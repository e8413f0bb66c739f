//! The database: one SQLite file, one writer, a few readers.
//!
//! All changes go through one thread. It puts many jobs into one commit and
//! answers each caller after the commit, so an answered write survives a power
//! cut and costs little. Reads run on pooled read-only connections, each in one
//! snapshot. This folder knows no domain: SQL is in the domains' `store.rs`.
//!
//! Look next: `tx.rs` (what jobs and reads may do), `writer.rs` (the group
//! commit), `checkpoint.rs` (how the log stays small), `alarm.rs` (damage, and
//! files that went away), `migrate.rs`, `backup.rs`.
//!
//! While a database is open no code of this process may open its file by any
//! other way than SQLite: closing such a handle would drop SQLite's locks.

pub mod access;
pub mod alarm;
pub mod backup;
mod checkpoint;
mod commits;
mod condition;
pub mod copying;
mod count;
mod error;
mod files;
mod filters;
mod free_space;
mod good_copy;
mod json;
mod lock;
mod look;
mod manifest;
pub mod migrate;
mod pragmas;
mod queued;
mod reader;
mod readers;
mod replicated;
pub mod restore;
pub mod rounds;
pub mod row;
mod soundness;
mod tx;
mod watch;
mod writer;

#[cfg(test)]
mod tests;

#[cfg(test)]
use std::collections::BTreeSet;

use parking_lot::{Mutex, RwLock};
use rusqlite::config::DbConfig;
#[cfg(test)]
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::base::files::beside;
use crate::base::{Clock, Stop, trace, worker};

pub use alarm::Trouble;
pub use condition::Condition;
pub use error::{DbError, OpenError, Result};
pub use files::Kind as FileKind;
pub use filters::{Filters, Page, RowWindow, in_list, sorted};
pub use free_space::{ROOM, has_free_space};
pub use good_copy::{
    BackupCopy, contents, copies_in, is_left, key_id, lead_latest_to, newest as newest_good_copy,
};
pub use json::Json;
pub use lock::{
    LockFile, address_of_holder as server_address, holder, is_held as is_served, locked,
    missed_file,
};
pub use look::read_without_traces;
pub use manifest::Manifest;
pub use migrate::SCHEMA;
pub use readers::Lane;
pub use row::{Record, Stored};
pub use soundness::Depth;
pub use tx::{Column, ReadTx, WriteTx};
pub use watch::Watch;
pub use writer::Pending;

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database file.
    pub path: PathBuf,
    /// Where transactions get their `now` from.
    pub clock: Clock,
    /// Connections for reads in place: workers + 2.
    pub readers: usize,
    /// Connections for slow reads.
    pub slow_readers: usize,
}

/// What [`Db::open_exclusive`] found and did.
#[derive(Debug)]
pub struct Opened {
    /// False after a crash or kill.
    pub was_clean: bool,
    /// One line for each migration that was applied.
    pub migrated: Vec<String>,
}

/// The open database. Clones share it; dropping the last one stops it as
/// [`Db::close`] does.
#[derive(Clone)]
pub struct Db {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    clock: Clock,
    writer: writer::Handle,
    gate: Arc<checkpoint::Gate>,
    /// `None` once closed.
    readers: RwLock<Option<readers::Readers>>,
    alarm: Arc<alarm::Alarm>,
    /// Held by the server, not by commands beside it.
    held: Mutex<Option<ServerParts>>,
}

/// What only a server has.
struct ServerParts {
    lock: LockFile,
    files: Arc<files::Files>,
    stop: Stop,
    /// Looks at the files.
    watcher: JoinHandle<()>,
}

impl Db {
    /// Opens the database for a server: takes the lock file, checks the file,
    /// migrates it (after a backup copy when it holds data) and starts the
    /// writer. A missing file is made, with mode 0600.
    pub fn open_exclusive(options: &Options) -> Result<(Self, Opened), OpenError> {
        pragmas::check_version()?;
        let path = &options.path;
        let (mut lock, lock_was_left) = LockFile::take(path)?;
        backup::forget_unsent(path);
        let log = file_size(&beside(path, "-wal"));
        let noted = count::noted(path);
        if !path.exists() && (noted.is_some() || alarm::saved_damage(path).is_some()) {
            return Err(OpenError::Gone(path.clone()));
        }
        let was_clean = !lock_was_left && log == 0 && noted.is_none();
        let migrated = migrate::bring_up(path, &options.clock)?;
        lock.hold_database(path)?;
        let db = Self::start(options, true)?;
        db.compare_commits(noted.unwrap_or(0), log > 0)?;
        db.hold(lock)?;
        Ok((db, Opened { was_clean, migrated }))
    }

    /// Tells of commits that the file beside the database knows and the database
    /// does not. If their log is there, it is damaged.
    fn compare_commits(&self, noted: i64, had_log: bool) -> Result<(), OpenError> {
        let path = &self.inner.path;
        let stored = self
            .read(Lane::Slow, |tx| Ok::<_, DbError>(count::stored(tx.connection())?))
            .map_err(|error| OpenError::of(path, error))?;
        if noted > stored {
            let count = noted - stored;
            self.inner.alarm.misses(&format!(
                "the last {count} commits that were answered are not in the database"
            ));
            if had_log {
                self.inner.alarm.raise(&format!(
                    "the write-ahead log is damaged, the last {count} commits are not in it"
                ));
            }
        }
        count::CountFile::open(path, true).note(stored);
        Ok(())
    }

    /// Begins to look at the files.
    fn hold(&self, lock: LockFile) -> Result<(), OpenError> {
        let path = &self.inner.path;
        let files = Arc::new(files::Files::of(path, Arc::clone(&self.inner.alarm)));
        // Set once, here.
        let _ = self.inner.writer.shared.files.set(Arc::clone(&files));
        let (stop, watched) = (Stop::default(), Arc::clone(&files));
        let watcher = worker::start("db-files", &stop, move |stop| watched.watch(stop));
        let watcher =
            watcher.map_err(OpenError::io("start the thread that looks at the files of", path))?;
        *self.inner.held.lock() = Some(ServerParts { lock, files, stop, watcher });
        Ok(())
    }

    /// Opens the database for a command, also while a server runs on it. Makes
    /// nothing and migrates nothing: a missing, older or newer file is refused.
    pub fn open_beside(options: &Options) -> Result<Self, OpenError> {
        pragmas::check_version()?;
        migrate::require_current(&options.path)?;
        Self::start(options, false)
    }

    fn start(options: &Options, is_server: bool) -> Result<Self, OpenError> {
        let connection = pragmas::open_writer(&options.path)?;
        let gate = Arc::new(checkpoint::Gate::default());
        let commits = Arc::<commits::Commits>::default();
        let alarm = Arc::new(alarm::Alarm::new(&options.path, &options.clock));
        // A kept snapshot holds up checkpoints, so only a process that also
        // runs them may keep one.
        let readers = readers::Readers::open(options, is_server.then(|| Arc::clone(&commits)))?;
        let writer = writer::Handle::start(writer::Setup {
            connection,
            clock: options.clock.clone(),
            gate: Arc::clone(&gate),
            worker_connections: readers.worker_connections(),
            commits,
            is_server,
            alarm: Arc::clone(&alarm),
            count: count::CountFile::open(&options.path, is_server),
        })
        .map_err(OpenError::io("start the writer thread for", &options.path))?;
        Ok(Self {
            inner: Arc::new(Inner {
                path: options.path.clone(),
                clock: options.clock.clone(),
                writer,
                gate,
                readers: RwLock::new(Some(readers)),
                alarm,
                held: Mutex::new(None),
            }),
        })
    }

    /// Runs `f` in one read snapshot on a pooled connection, on this thread.
    ///
    /// Fails with [`DbError::Busy`] when no connection is free for 2 seconds
    /// and with [`DbError::Deadline`] when the lane's time is over (5 seconds
    /// in place and for brief reads, 30 seconds slow).
    pub fn read<T, E: From<DbError>>(
        &self,
        lane: Lane,
        f: impl FnOnce(&ReadTx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let readers = self.inner.readers.read();
        let Some(readers) = readers.as_ref() else {
            return Err(DbError::Stopped.into());
        };
        // Left by another database on this thread.
        alarm::take_fault();
        let _noting = NoteFault(&self.inner.alarm);
        // Before a connection is taken, so that waiting here blocks nobody else.
        let _pass = (lane == Lane::InPlace).then(|| self.inner.gate.enter());
        let reader = readers.take(lane)?;
        let snapshot = reader.begin(lane)?;
        f(&ReadTx::new(snapshot.connection(), self.inner.clock.now()))
    }

    /// Queues a job for the writer and returns a future that resolves after
    /// its commit, or with the job's own error after its changes were undone.
    ///
    /// The job runs even when the future is dropped. A full queue answers
    /// [`DbError::Busy`] at once.
    pub fn submit<T, E>(
        &self,
        job: impl FnOnce(&WriteTx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Pending<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let request = trace::current();
        let job = move |tx: &WriteTx<'_>| trace::within(request, || job(tx));
        self.inner.writer.submit(writer::Class::Prompt, job)
    }

    /// [`Db::submit`], waiting for the answer. For worker threads and
    /// commands; panics on a thread that runs async tasks or in a write job,
    /// where waiting would block all others.
    pub fn write<T, E>(
        &self,
        job: impl FnOnce(&WriteTx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.refuse_to_wait_in_a_job();
        self.submit(job).wait()
    }

    fn refuse_to_wait_in_a_job(&self) {
        let is_job = self.inner.writer.is_this_thread();
        assert!(!is_job, "a write job must not wait for another write job");
    }

    /// [`Db::submit`] for a piece of long work, which ends when
    /// [`WriteTx::is_spent`] says so and goes on in another job. It has a
    /// commit of its own, by turns with the jobs for which somebody waits.
    pub fn submit_piece<T, E>(
        &self,
        job: impl FnOnce(&WriteTx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Pending<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.inner.writer.submit(writer::Class::Piece, job)
    }

    /// [`Db::submit_piece`], waiting for the answer; see [`Db::write`].
    pub fn write_piece<T, E>(
        &self,
        job: impl FnOnce(&WriteTx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.refuse_to_wait_in_a_job();
        self.submit_piece(job).wait()
    }

    /// Repeats a piece of long work until it returns true: nothing is left.
    pub fn write_pieces<E>(
        &self,
        job: impl Fn(&WriteTx<'_>) -> Result<bool, E> + Clone + Send + 'static,
    ) -> Result<(), E>
    where
        E: From<DbError> + Send + 'static,
    {
        while !self.write_piece(job.clone())? {}
        Ok(())
    }

    /// Calls `f`, within about half a second, after another process has
    /// changed the database. `f` runs on the writer's thread and must be short.
    pub fn on_outside_change(&self, f: impl Fn() + Send + Sync + 'static) {
        self.inner.writer.shared.watchers.lock().push(Box::new(f));
    }

    /// Calls `changed` for each key that a commit of this process changes in
    /// the watched tables, after the commit and before callers are answered.
    /// `changed` runs on the writer's thread and must be short.
    pub fn watch<T: Copy + Send + Sync + 'static>(
        &self,
        watches: &'static [Watch<T>],
        changed: impl Fn(T, i64) + Send + Sync + 'static,
    ) -> Result<()> {
        self.inner.writer.watch(watches, changed)
    }

    /// Whether writes succeed, as far as the writer knows. The answer comes
    /// from memory; the call makes an idle writer try a write.
    pub fn condition(&self) -> Condition {
        self.inner.writer.condition()
    }

    /// Why nothing is written; `None` while all is well with the files.
    pub fn trouble(&self) -> Option<Trouble> {
        self.inner.alarm.trouble()
    }

    /// Whether writes are refused, for workers that then have nothing to do.
    pub fn is_blocked(&self) -> bool {
        self.inner.alarm.is_blocked()
    }

    /// What is said of answered writes that are missing.
    pub fn missing(&self) -> Option<String> {
        self.inner.alarm.missing()
    }

    /// The key file must stay where it is, too, from now on.
    pub fn hold_key(&self, path: &Path) {
        if let Some(held) = &*self.inner.held.lock() {
            held.files.hold_key(path);
        }
    }

    /// See [`backup::copy_unnamed`]. Damage that the copy shows raises the alarm.
    pub fn copy_unnamed(&self) -> Result<backup::Unnamed, backup::BackupError> {
        let copy = backup::copy_unnamed(&self.inner.path);
        if let Err(backup::BackupError::Damaged { detail, .. }) = &copy {
            self.inner.alarm.raise(detail);
        }
        copy
    }

    /// Whether there is space for what the service can do without. Copies stop
    /// before that, and what is answered goes on as long as a page fits.
    pub fn has_space_to_spare(&self) -> bool {
        free_space::free_and_reserve(access::folder_of(&self.inner.path))
            .is_none_or(|(free, reserve)| free >= reserve / 4)
    }

    /// See [`backup::make`]. Damage that the copy shows raises the alarm.
    pub fn copy_to(
        &self,
        to: &Path,
        making: &copying::Making<'_>,
    ) -> Result<backup::Report, backup::BackupError> {
        let made = backup::make(&self.inner.path, to, making);
        if let Err(backup::BackupError::Damaged { detail, .. }) = &made {
            self.inner.alarm.raise(detail);
        }
        made
    }

    /// Notes the address of this server for commands that run beside it, as
    /// long as it holds the database; see [`server_address`].
    pub fn note_address(&self, address: SocketAddr) -> std::io::Result<()> {
        let held = self.inner.held.lock();
        held.as_ref().map_or(Ok(()), |held| held.lock.note_address(address))
    }

    /// Tables and columns that the statements of `f` read, for tests.
    #[cfg(test)]
    pub fn columns_read(&self, f: impl FnOnce(&ReadTx<'_>)) -> BTreeSet<(String, String)> {
        let read = Arc::new(Mutex::new(BTreeSet::new()));
        let mut connection = pragmas::open_reader(&self.inner.path).unwrap();
        let noting = Arc::clone(&read);
        let note = move |context: AuthContext<'_>| {
            if let AuthAction::Read { table_name, column_name } = context.action {
                noting.lock().insert((table_name.to_owned(), column_name.to_owned()));
            }
            Authorization::Allow
        };
        connection.authorizer(Some(note)).unwrap();
        f(&ReadTx::new(&connection, self.inner.clock.now()));
        drop(connection);
        Arc::into_inner(read).unwrap().into_inner()
    }

    /// Where transactions get their `now` from.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Present size of the write-ahead log in bytes.
    pub fn wal_bytes(&self) -> u64 {
        file_size(&beside(&self.inner.path, "-wal"))
    }

    /// How long ago the log was last copied into the file; `None` before the first time.
    pub fn since_checkpoint(&self) -> Option<Duration> {
        self.inner.gate.since_checkpoint()
    }

    /// Jobs that wait for the writer.
    pub fn queue_depth(&self) -> usize {
        self.inner.writer.queue_depth()
    }

    /// From now on another program copies the log away and checkpoints it, or no
    /// longer does.
    pub fn leave_log(&self, to_another: bool) {
        self.inner.writer.shared.is_replicated.store(to_another, Ordering::Release);
    }

    /// The epoch of another server is higher: nothing is written any more.
    pub fn supersede(&self, by: &str) {
        self.inner.alarm.superseded(by);
    }

    /// Rows that the largest job of the writer changed since the start.
    pub fn largest_job(&self) -> u64 {
        self.inner.writer.shared.largest.load(Ordering::Relaxed)
    }

    /// Runs the queued jobs, ends the reads that still run, moves the content of
    /// the log into the file and leaves exactly that one file, and what is kept of
    /// a damage. Later calls on
    /// clones fail with [`DbError::Stopped`].
    pub fn close(self) -> Result<()> {
        self.inner.stop()
    }
}

impl Inner {
    /// Does nothing the second time.
    fn stop(&self) -> Result<()> {
        let Some(connection) = self.writer.stop() else {
            return Ok(());
        };
        // Reads were served until here. The writer's connection is closed last:
        // SQLite removes the log only if the last connection may write.
        if let Some(readers) = self.readers.read().as_ref() {
            readers.interrupt();
        }
        let readers = self.readers.write().take();
        if let Some(readers) = readers {
            readers.close();
        }
        let Some(ServerParts { lock, files, stop, watcher }) = self.held.lock().take() else {
            // A command leaves the log to the server. Without a server, SQLite
            // runs a checkpoint when the connection closes.
            return Ok(connection.close().map_err(|(_, error)| error)?);
        };
        stop.stop();
        // It ends with an error only after a panic, which is in the log.
        let _ = watcher.join();
        files.are_there();
        if let Some(FileKind::Database | FileKind::Log) = self.alarm.gone() {
            // What has those names now belongs to others: it is left alone, and
            // the next start knows that this was no clean stop.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.close().map_err(|(_, error)| error)?;
            lock.leave();
            return Err(DbError::Refused);
        }
        let folded = match checkpoint::fold(&connection) {
            Err(DbError::Busy) if replicated::is_known(&connection) => {
                tracing::warn!(
                    "Litestream still reads the write-ahead log, which stays beside the database"
                );
                Ok(())
            }
            folded => folded,
        };
        connection.close().map_err(|(_, error)| error)?;
        count::forget(&self.path);
        drop(lock);
        folded
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::error!(%error, "the database was not closed cleanly");
        }
    }
}

/// Raises what a read has seen, when it ends.
struct NoteFault<'a>(&'a alarm::Alarm);

impl Drop for NoteFault<'_> {
    fn drop(&mut self) {
        self.0.note_fault();
    }
}

/// The write-ahead log of the database at `path`.
pub fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// Size of a file, 0 when there is none.
fn file_size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
