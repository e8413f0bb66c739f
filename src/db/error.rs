//! What can go wrong with the database, named by what the caller does about it.

use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};

use super::backup::BackupError;

/// The result of database calls.
pub type Result<T> = std::result::Result<T, DbError>;

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
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::OperationInterrupted) => Self::Deadline,
            _ => Self::Sqlite(error),
        }
    }
}

/// Whether the system refused to write more, which leaves what is stored as it
/// was: SQLite knows a full disk by one code, but not a quota, a limit on the
/// size of files, or no space for the log's index.
fn is_refused_write(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|code| {
        matches!(code.extended_code, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
    })
}

impl DbError {
    /// The error of a bare SQLite code, for answering several callers.
    pub(super) fn of_code(code: ffi::Error) -> Self {
        rusqlite::Error::SqliteFailure(code, None).into()
    }
}

/// Why a database was not opened. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A server holds the lock file.
    #[error("{path} is in use by another server (process {pid}); stop it first")]
    Locked {
        /// The database file.
        path: PathBuf,
        /// Process id as the lock file tells it.
        pid: String,
    },
    /// There is no folder to make the file in.
    #[error("the folder of {0} does not exist; create it or set database.path")]
    NoFolder(PathBuf),
    /// A command needs a database that a server or `migrate` has made.
    #[error("there is no database at {0}; start the server once, or run `seller-platform migrate`")]
    Missing(PathBuf),
    /// The file is something else.
    #[error("{0} is not a SQLite database; check database.path")]
    NotADatabase(PathBuf),
    /// A SQLite database of another program.
    #[error("{0} is a database of another program; check database.path")]
    Foreign(PathBuf),
    /// Made by a newer program.
    #[error(
        "{path} has schema version {file}, this program knows {program}; \
         use the newer program, or restore the backup made before the update"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Version of the file.
        file: i64,
        /// Version of this program.
        program: i64,
    },
    /// A command found a file that an update has not reached yet.
    #[error(
        "{path} has schema version {file}, this program needs {program}; \
         start the server, or run `seller-platform migrate`"
    )]
    Older {
        /// The database file.
        path: PathBuf,
        /// Version of the file.
        file: i64,
        /// Version of this program.
        program: i64,
    },
    /// The file or its disk cannot be written.
    #[error("{0} cannot be written; check its owner, its mode and the disk")]
    ReadOnly(PathBuf),
    /// The content is damaged.
    #[error("{path} is damaged ({detail}); restore a backup with `seller-platform restore FILE`")]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What SQLite says about it.
        detail: String,
    },
    /// The linked SQLite lacks a fix that this program relies on.
    #[error("SQLite {found} is too old, this program needs 3.51.3 or later; rebuild it")]
    OldSqlite {
        /// The linked version.
        found: &'static str,
    },
    /// A setting did not take effect.
    #[error(
        "{path}: SQLite did not accept {setting} = {wanted}, it is {found}; is this a network disk?"
    )]
    Setting {
        /// The database file.
        path: PathBuf,
        /// Name of the pragma.
        setting: &'static str,
        /// What was asked for.
        wanted: &'static str,
        /// What is in force.
        found: String,
    },
    /// A migration failed; the file is as it was before that step.
    #[error("migration {step} of {path} failed and was undone: {detail}")]
    Migration {
        /// The database file.
        path: PathBuf,
        /// Name of the step.
        step: String,
        /// What went wrong.
        detail: String,
    },
    /// The copy before a migration failed, so nothing was migrated.
    #[error("no backup copy could be made before the migration: {0}")]
    Backup(#[from] BackupError),
    /// The operating system refused something.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file it was done to.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// SQLite refused something.
    #[error("cannot open {path}: {source}")]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
}

impl OpenError {
    /// Names what SQLite said while the file at `path` was being opened.
    pub(super) fn sqlite(path: &std::path::Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, detail: source.to_string() },
            _ => Self::Sqlite { path, source },
        }
    }
}
