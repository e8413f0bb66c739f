//! Copying the pages of a live database, without holding up its writer.
//!
//! The pages are copied by SQLite's backup interface in steps, inside one read
//! transaction: all of them are of one moment, and no write makes it start again.
//! As long as that transaction lasts, the log cannot start anew. So a gentle copy
//! rests between steps only for a few seconds, and no longer once the log grows.
//! What was copied is brought to the disk every few megabytes; in one piece at the
//! end, it would hold up the writer's own syncs.

use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant as Monotonic};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::backup::{BackupError, Partial, Result};
use super::look::read_without_traces;
use super::{OpenError, ReadTx, access, beside, file_size, free_space, migrate, pragmas};
use crate::base::{Clock, Instant, Stop};

/// Pages of a step: one megabyte.
const STEP_PAGES: c_int = 256;
/// Bytes after which the copy is brought to the disk.
pub(super) const SYNC_BYTES: u64 = 8 << 20;
/// Longest rest after a step; a rest is as long as its step otherwise.
const LONGEST_REST: Duration = Duration::from_millis(50);
/// Time after which a copy does not rest any more.
const RESTS_FOR: Duration = Duration::from_secs(20);
/// Growth of the log after which a copy does not rest any more.
const LOG_GROWTH: u64 = 32 << 20;
/// Instructions of SQLite after which a check looks whether it should end.
pub(super) const LOOK_AFTER: c_int = 50_000;

/// What a domain reads in a finished copy for its manifest.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Facts {
    /// Which key sealed the secrets in it; `None` when nothing is sealed.
    pub key_id: Option<String>,
    /// The newest hash of the audit chain; `None` without a chain.
    pub audit_head: Option<String>,
}

/// How far a copy is, for whoever watches.
#[derive(Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Percent of the pages that are copied; the checks come after that.
    pub fn percent(&self) -> u64 {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed) * 100).checked_div(total).unwrap_or(0)
    }

    fn set(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }
}

/// How a copy is made.
#[derive(Clone, Copy)]
pub struct Making<'m> {
    pub clock: &'m Clock,
    /// Read in the finished copy.
    pub facts: fn(&ReadTx<'_>) -> super::Result<Facts>,
    /// Ends the copy when it is set.
    pub stop: Option<&'m Stop>,
    /// Told how far the copy is.
    pub progress: Option<&'m Progress>,
    /// Whether it gives way to a service that works: it rests between steps, and
    /// leaves room on the disk.
    pub is_gentle: bool,
}

impl<'m> Making<'m> {
    /// A copy that nobody watches, for a database of any version.
    pub fn plain(clock: &'m Clock) -> Self {
        let facts = |_: &ReadTx<'_>| Ok(Facts::default());
        Self { clock, facts, stop: None, progress: None, is_gentle: false }
    }

    /// Fails when the copy should end.
    pub fn goes_on(&self) -> Result<()> {
        goes_on(self.stop)
    }

    /// Interrupts the statements of a connection when the copy should end.
    pub(super) fn interrupts(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let Some(stop) = self.stop.cloned() else {
            return Ok(());
        };
        connection.progress_handler(LOOK_AFTER, Some(move || stop.is_set()))
    }
}

/// Fails when `stop` is set.
pub(super) fn goes_on(stop: Option<&Stop>) -> Result<()> {
    match stop {
        Some(stop) if stop.is_set() => Err(BackupError::Stopped),
        _ => Ok(()),
    }
}

/// Refuses a gentle copy for which there is too little space.
pub(super) fn require_room(database: &Path, to: &Path, making: &Making<'_>) -> Result<()> {
    let bytes = file_size(database).max(file_size(&beside(database, "-wal")));
    if making.is_gentle { require(bytes, to) } else { Ok(()) }
}

/// Refuses to go on when fewer than so many bytes and the reserve are free.
pub fn require(bytes: u64, to: &Path) -> Result<()> {
    let folder = access::folder_of(to);
    match free_space::free_and_reserve(folder) {
        Some((free, reserve)) if free < bytes.saturating_add(reserve) => Err(BackupError::Short {
            folder: folder.to_owned(),
            free,
            needed: bytes.saturating_add(reserve),
        }),
        _ => Ok(()),
    }
}

/// Copies all pages, and makes the copy a single file.
pub(super) fn copy_pages(database: &Path, to: &Partial, making: &Making<'_>) -> Result<()> {
    if !database.exists() {
        return Err(OpenError::Missing(database.to_owned()).into());
    }
    // The file is not opened to find that out: in a server, closing it would
    // drop SQLite's locks.
    if rustix::fs::access(database, rustix::fs::Access::WRITE_OK).is_err() {
        return read_without_traces(database, Instant(0), |tx| {
            Ok(copy_from(tx.connection(), database, to, making))
        })?;
    }
    // It only reads, but is opened for writing: when no server runs, it is
    // the last connection, and one that may not write would leave an empty
    // log behind.
    let source = pragmas::open_plain(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    source
        .execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 17179869184;")
        .map_err(BackupError::sqlite(database))?;
    copy_from(&source, database, to, making)
}

fn copy_from(
    source: &Connection,
    database: &Path,
    to: &Partial,
    making: &Making<'_>,
) -> Result<()> {
    if migrate::stamp(source, database)?.is_none() {
        return Err(BackupError::Empty(database.to_owned()));
    }
    let mut target = pragmas::open_plain(&to.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let sqlite = BackupError::sqlite(&to.path);
    // Synced by us.
    target
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
        .map_err(&sqlite)?;
    // The first statement after BEGIN takes the snapshot that all steps read.
    let is_ours = source.is_autocommit();
    if is_ours {
        source
            .execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1;")
            .map_err(BackupError::sqlite(database))?;
    }
    let copied = Backup::new(source, &mut target)
        .map_err(&sqlite)
        .and_then(|backup| step(&backup, database, to, making));
    if is_ours {
        // Nothing was changed; closing the connection would end it, too.
        let _ = source.execute_batch("ROLLBACK");
    }
    copied?;
    // The copy has the journal mode of its source, WAL. This turns it off.
    target.execute_batch("PRAGMA journal_mode = DELETE").map_err(&sqlite)?;
    target.close().map_err(|(_, error)| sqlite(error))
}

/// Does all steps of a copy.
fn step(backup: &Backup<'_, '_>, database: &Path, to: &Partial, making: &Making<'_>) -> Result<()> {
    let began = Monotonic::now();
    let log = beside(database, "-wal");
    // The log file keeps the length that it once had.
    let log_limit = file_size(&log) + LOG_GROWTH;
    let mut unsynced = 0;
    loop {
        making.goes_on()?;
        let at = Monotonic::now();
        let copied = backup.step(STEP_PAGES).map_err(BackupError::sqlite(&to.path))?;
        let pages = backup.progress();
        let (left, all) = (count(pages.remaining), count(pages.pagecount));
        if let Some(progress) = making.progress {
            progress.set(all.saturating_sub(left), all);
        }
        match copied {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => return Err(BackupError::InUse(database.to_owned())),
        }
        unsynced += 1 << 20;
        if making.is_gentle && unsynced >= SYNC_BYTES {
            unsynced = 0;
            to.file.sync_data().map_err(BackupError::io("sync", &to.path))?;
            require(0, &to.path)?;
        }
        let may_rest = began.elapsed() < RESTS_FOR && file_size(&log) < log_limit;
        if let Some(stop) = making.stop.filter(|_| making.is_gentle && may_rest) {
            stop.wait(at.elapsed().min(LONGEST_REST));
        }
    }
}

fn count(pages: c_int) -> u64 {
    u64::try_from(pages).unwrap_or(0)
}
