//! What can go wrong with the database, named by what the caller does about it.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use super::backup::BackupError;
use super::{access, alarm};
use crate::base::secrets::SealError;

/// The result of database calls.
pub type Result<T, E = DbError> = std::result::Result<T, E>;

/// Why a read or a write failed.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// The queue or a pool is full, or another process holds the file: 503.
    #[error("the database is busy, try again shortly")]
    Busy,
    /// No space is left for the write, or a quota allows none; reads still work: 503.
    #[error("the disk is full, free some space")]
    Full,
    /// The file cannot be written.
    #[error("the database is read-only")]
    ReadOnly,
    /// SQLite met a page that it cannot read: 503. It is told by [`super::Trouble`].
    #[error("the database is damaged: {0}")]
    Damaged(rusqlite::Error),
    /// Nothing is written, for a reason that [`super::Trouble`] names: 503.
    #[error("the database takes no writes until its trouble is ended")]
    Refused,
    /// A sealed value cannot be decrypted. It is left unchanged.
    #[error(transparent)]
    Sealed(#[from] SealError),
    /// A read took longer than its lane allows.
    #[error("the query took too long and was stopped")]
    Deadline,
    /// The database was closed.
    #[error("the database is closed")]
    Stopped,
    /// The write job panicked; its changes were undone.
    #[error("a write job panicked and was undone")]
    JobPanicked,
    /// Anything else that SQLite reports.
    #[error(transparent)]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            _ if is_refused_write(&error) => Self::Full,
            _ if error.sqlite_error() == Some(&REFUSED) => Self::Refused,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                alarm::saw_fault(&error);
                Self::Damaged(error)
            }
            Some(ErrorCode::OperationInterrupted) => Self::Deadline,
            _ => Self::Sqlite(error),
        }
    }
}

/// The code by which the writer refuses jobs. SQLite has it for a database whose
/// file was moved away.
pub(super) const REFUSED: ffi::Error =
    ffi::Error { code: ErrorCode::ReadOnly, extended_code: ffi::SQLITE_READONLY_DBMOVED };

/// Whether the system refused to write more, which leaves stored data unchanged.
/// SQLite has an error code for a full disk, but none for a quota, a limit on
/// the size of files, or no space for the log's index.
pub(super) fn is_refused_write(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|code| {
        matches!(code.extended_code, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
    })
}

impl DbError {
    /// Whether the file itself is the reason: it is damaged, or we may not write it.
    pub fn is_about_the_file(&self) -> bool {
        matches!(self, Self::ReadOnly | Self::Damaged(_) | Self::Refused)
    }

    /// Whether the writer has told the reason already, so that a worker that
    /// tries again need not log it each time.
    pub fn is_told(&self) -> bool {
        matches!(self, Self::Full | Self::Damaged(_) | Self::Refused)
    }

    /// The error of a bare SQLite code, for answering several callers.
    pub(super) fn of_code(code: ffi::Error) -> Self {
        rusqlite::Error::SqliteFailure(code, None).into()
    }
}

/// Why a database was not opened. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{path} is in use by another server (process {pid}); stop it first")]
    Locked { path: PathBuf, pid: String },
    #[error(
        "there is no folder for {}; create it, or name the file with --db, --config or database.path",
        absolute(.0)
    )]
    NoFolder(PathBuf),
    #[error(
        "there is no database at {}; name the file with --db or database.path, or its configuration \
         with --config; `seller-platform serve` makes a new one",
        absolute(.0)
    )]
    Missing(PathBuf),
    #[error(
        "{} is not a SQLite database; check database.path, \
         or put a backup there with `seller-platform restore FILE`",
        absolute(.0)
    )]
    NotADatabase(PathBuf),
    #[error(
        "the database {} is gone, although files beside it belong to one that did not stop cleanly or \
         was damaged; put it back, or a copy with `seller-platform restore FILE`, or remove {}.commits \
         and {}.damaged, as far as they are there, to begin with an empty one",
        absolute(.0),
        absolute(.0),
        absolute(.0)
    )]
    Gone(PathBuf),
    #[error("{} is a database of another program; check database.path", absolute(.0))]
    Foreign(PathBuf),
    #[error(
        "{path} has schema version {file}, this program knows {program}; \
         use the newer program, or restore the backup made before the update"
    )]
    Newer { path: PathBuf, file: i64, program: i64 },
    #[error(
        "{path} has schema version {file}, this program needs {program}; \
         start the server, or run `seller-platform migrate`"
    )]
    Older { path: PathBuf, file: i64, program: i64 },
    #[error("{path} cannot be written: {why}")]
    ReadOnly { path: PathBuf, why: String },
    #[error(
        "{} is damaged ({detail}); restore a backup with `seller-platform restore FILE`",
        absolute(path)
    )]
    Damaged { path: PathBuf, detail: String },
    #[error("SQLite {found} is too old, this program needs 3.51.3 or later; rebuild it")]
    OldSqlite { found: &'static str },
    #[error(
        "{path}: SQLite did not accept {setting} = {wanted}, it is {found}; is this a network disk?"
    )]
    Setting { path: PathBuf, setting: &'static str, wanted: &'static str, found: String },
    #[error("migration {step} of {path} failed and {outcome}: {detail}")]
    Migration { path: PathBuf, step: String, outcome: &'static str, detail: String },
    #[error("no backup copy could be made before the migration")]
    Backup(#[from] BackupError),
    /// The operating system refused something. The message contains the cause,
    /// so it is not also the `source`: it would be printed twice.
    #[error("cannot {doing} {path}: {cause}")]
    Io { doing: &'static str, path: PathBuf, cause: std::io::Error },
    #[error("cannot open {path}: {cause}")]
    Sqlite { path: PathBuf, cause: rusqlite::Error },
    #[error("cannot read {path}: {cause}")]
    Read { path: PathBuf, cause: DbError },
}

impl OpenError {
    /// Turns an error of SQLite into the one for opening the file at `path`.
    pub(super) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |cause| {
            let owned = path.to_owned();
            match cause.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => Self::NotADatabase(owned),
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                    Self::read_only(path, path)
                }
                Some(ErrorCode::DatabaseCorrupt) => {
                    Self::Damaged { path: owned, detail: cause.to_string() }
                }
                _ => Self::Sqlite { path: owned, cause },
            }
        }
    }

    /// An error of the system.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |cause| Self::Io { doing, path: path.to_owned(), cause }
    }

    /// Turns the error of a statement into one that names the file.
    pub fn of(path: &Path, error: DbError) -> Self {
        match error {
            DbError::Sqlite(cause) | DbError::Damaged(cause) => Self::sqlite(path)(cause),
            // Without damage that is known, a file of the server went away.
            DbError::Refused if let Some(detail) = alarm::saved_damage(path) => {
                Self::Damaged { path: path.to_owned(), detail }
            }
            DbError::ReadOnly => match access::require_writable(path) {
                Err(named) => named,
                Ok(()) => Self::read_only(path, path),
            },
            cause => Self::Read { path: path.to_owned(), cause },
        }
    }

    /// `file`, which belongs to a database, cannot be written.
    pub(super) fn read_only(database: &Path, file: &Path) -> Self {
        Self::ReadOnly { path: file.to_owned(), why: access::why_not(database, file) }
    }
}

/// The absolute path, which is clear in any working directory.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
