//! Whether writes succeed: the last result that the writer saw, for code that
//! must not wait for the writer.
//!
//! After a write that failed, for example for lack of space or because another
//! process blocked it, the writer makes a trial write each second until one
//! succeeds. An idle writer makes one when the condition was read and it has not
//! written for two seconds. Only a trial write, which also checks the free space
//! (`free_space.rs`), ends the condition `Full`. Decisions db-2, db-3.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{ErrorCode, ffi};

use super::{DbError, access, free_space};

/// Time between two trial writes after a failure.
const TRY_EVERY: Duration = Duration::from_secs(1);
/// How old the last write may be when the condition is read.
const FRESH: Duration = Duration::from_secs(2);
/// A commit that takes longer is stuck. An import of people or products is one
/// job and takes some seconds.
const STUCK: Duration = Duration::from_secs(20);

/// Whether writes succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The last one did.
    Writable = 0,
    /// The last one found no space.
    Full = 1,
    /// The last one failed for another reason, or does not end.
    NotWritable = 2,
    /// The file system is read-only.
    ReadOnly = 3,
}

/// What the writer saw last.
pub struct Observed {
    /// The folder of the database, to tell a read-only file system from a full one.
    folder: Option<PathBuf>,
    started: Instant,
    condition: AtomicU8,
    asked: AtomicBool,
    /// When a write was tried last, and when the running one began, in
    /// milliseconds since `started`; 0 when none runs.
    tried_ms: AtomicU64,
    began_ms: AtomicU64,
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            folder: None,
            started: Instant::now(),
            condition: AtomicU8::new(Condition::Writable as u8),
            asked: AtomicBool::new(false),
            tried_ms: AtomicU64::new(0),
            began_ms: AtomicU64::new(0),
        }
    }
}

impl Observed {
    /// For the database at `path`.
    pub fn of(path: Option<&Path>) -> Self {
        let folder = path.map(|path| access::folder_of(path).to_owned());
        Self { folder, ..Self::default() }
    }

    /// Whether writes succeed.
    pub fn condition(&self) -> Condition {
        self.asked.store(true, Ordering::Relaxed);
        let began = self.began_ms.load(Ordering::Relaxed);
        if began > 0 && self.since(began) > STUCK {
            return Condition::NotWritable;
        }
        match self.condition.load(Ordering::Relaxed) {
            0 => Condition::Writable,
            1 => Condition::Full,
            3 => Condition::ReadOnly,
            _ => Condition::NotWritable,
        }
    }

    /// Whether the writer should make a trial write.
    pub fn wants_try(&self) -> bool {
        let idle = self.since(self.tried_ms.load(Ordering::Relaxed));
        match self.condition.load(Ordering::Relaxed) {
            0 => idle >= FRESH && self.asked.swap(false, Ordering::Relaxed),
            _ => idle >= TRY_EVERY,
        }
    }

    /// A write begins.
    pub fn begin(&self) {
        self.began_ms.store(self.now_ms().max(1), Ordering::Relaxed);
    }

    /// A write ended. `None` means that there was nothing to write, which says
    /// nothing about the disk.
    pub fn end(&self, outcome: Option<Result<(), ffi::Error>>) {
        self.began_ms.store(0, Ordering::Relaxed);
        // A violated constraint says nothing about the disk either.
        let is_rule = |code: ffi::Error| code.code == ErrorCode::ConstraintViolation;
        let Some(outcome) = outcome.filter(|outcome| !outcome.is_err_and(is_rule)) else {
            return;
        };
        // On a full disk a small write may succeed although the next one fails.
        let is_full = self.condition.load(Ordering::Relaxed) == Condition::Full as u8;
        if !(is_full && outcome.is_ok()) {
            self.note(outcome);
        }
    }

    /// A trial write ended.
    pub fn tried(&self, outcome: Result<(), ffi::Error>) {
        self.began_ms.store(0, Ordering::Relaxed);
        self.note(outcome);
    }

    fn note(&self, outcome: Result<(), ffi::Error>) {
        let (condition, error) = match outcome.map_err(DbError::of_code) {
            Ok(()) => (Condition::Writable, None),
            // SQLite reports both by the same code.
            Err(DbError::Full) if self.is_read_only() => {
                (Condition::ReadOnly, Some(DbError::ReadOnly))
            }
            Err(error @ DbError::Full) => (Condition::Full, Some(error)),
            Err(error @ DbError::ReadOnly) => (Condition::ReadOnly, Some(error)),
            Err(error) => (Condition::NotWritable, Some(error)),
        };
        self.tried_ms.store(self.now_ms(), Ordering::Relaxed);
        let before = self.condition.swap(condition as u8, Ordering::Relaxed);
        if before == condition as u8 {
            return;
        }
        match error {
            None => tracing::info!("the database takes writes again"),
            Some(error) => {
                tracing::error!(%error, "the database takes no writes; it is tried each second");
            }
        }
    }

    fn is_read_only(&self) -> bool {
        self.folder.as_ref().is_some_and(|folder| free_space::is_read_only(folder))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn since(&self, ms: u64) -> Duration {
        Duration::from_millis(self.now_ms().saturating_sub(ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_ago(time: Duration) -> Instant {
        Instant::now().checked_sub(time * 3).unwrap()
    }

    #[test]
    fn what_hangs_is_not_writable() {
        let seen = Observed { started: long_ago(STUCK), ..Observed::default() };
        assert_eq!(seen.condition(), Condition::Writable);
        seen.began_ms.store(1, Ordering::Relaxed);
        assert_eq!(seen.condition(), Condition::NotWritable);
        seen.end(None);
        assert_eq!(seen.condition(), Condition::Writable);
    }

    #[test]
    fn an_idle_writer_tries_when_asked_and_a_failing_one_by_itself() {
        let seen = Observed { started: long_ago(FRESH), ..Observed::default() };
        assert!(!seen.wants_try(), "nobody asked");
        seen.condition();
        assert!(seen.wants_try());
        assert!(!seen.wants_try(), "once for each asking");
        for (code, condition) in [
            (ffi::SQLITE_FULL, Condition::Full),
            (ffi::SQLITE_IOERR_WRITE, Condition::Full),
            (ffi::SQLITE_IOERR_SHMSIZE, Condition::Full),
            (ffi::SQLITE_BUSY, Condition::NotWritable),
            (ffi::SQLITE_READONLY, Condition::ReadOnly),
        ] {
            seen.end(Some(Err(ffi::Error::new(code))));
            assert_eq!(seen.condition(), condition, "{code}");
            assert!(!seen.wants_try(), "it was tried just now");
            seen.tried_ms.store(0, Ordering::Relaxed);
            assert!(seen.wants_try());
        }
        seen.end(Some(Ok(())));
        assert_eq!(seen.condition(), Condition::Writable);
    }

    #[test]
    fn a_full_disk_ends_with_a_try_and_not_with_a_small_write() {
        let seen = Observed { started: long_ago(FRESH), ..Observed::default() };
        seen.end(Some(Err(ffi::Error::new(ffi::SQLITE_FULL))));
        seen.tried_ms.store(0, Ordering::Relaxed);
        seen.end(Some(Ok(())));
        assert_eq!(seen.condition(), Condition::Full);
        assert!(seen.wants_try(), "writes that go through do not put it off");
        seen.tried(Ok(()));
        assert_eq!(seen.condition(), Condition::Writable);
    }
}
