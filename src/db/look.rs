//! Reading a database without leaving files behind, under any user account, with
//! or without a running server.
//!
//! When a file with a log is opened, SQLite makes an index (`-shm`) beside it. If
//! another account makes it, or the file is read-only, the index stays behind and
//! blocks the server. So:
//!
//! - if the log is empty, only the file is read, and again when it changed
//!   meanwhile;
//! - if the log has content and an index, the index is only read;
//! - if it has no index, or one that we may not read, file and log are copied
//!   and the copy is read.
//!
//! A rollback journal beside the file means that a change was cut off. It is undone
//! in such a copy as well, because the file alone shows half of that change. Decision db-17.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{ErrorCode, OpenFlags};

use super::{DbError, OpenError, ReadTx, Result, beside, file_size, migrate, pragmas};
use crate::base::Instant;

/// How many times a file is read that changes while it is read.
const TRIES: usize = 5;
/// Characters that are percent-encoded in the URI of a file.
const URI_ENCODED_CHARS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// Runs `read` on the database at `path`, of whatever version, and leaves
/// nothing behind. It runs again when the file was changed meanwhile.
pub fn read_without_traces<T>(
    path: &Path,
    now: Instant,
    read: impl Fn(&ReadTx<'_>) -> Result<T>,
) -> std::result::Result<T, OpenError> {
    let mut found = Err(DbError::Busy);
    for _ in 0..TRIES {
        migrate::refuse_by_header(path)?;
        let before = file_fingerprints(path);
        let is_cut_off = file_size(&beside(path, "-journal")) > 0;
        found = if !is_cut_off && file_size(&beside(path, "-wal")) == 0 {
            through(path, "immutable=1", now, &read)
        } else {
            if !is_cut_off && beside(path, "-shm").exists() {
                match through(path, "mode=ro&readonly_shm=1", now, &read) {
                    Err(DbError::ReadOnly | DbError::Busy) => {}
                    Err(DbError::Sqlite(error)) if is_closed(&error) => {}
                    found => return found.map_err(|error| OpenError::of(path, error)),
                }
            }
            let copy = Copied::of(path)?;
            through(&copy.file, "mode=rw", now, &read)
        };
        if file_fingerprints(path) == before {
            break;
        }
    }
    found.map_err(|error| OpenError::of(path, error))
}

fn through<T>(
    path: &Path,
    how: &str,
    now: Instant,
    read: impl Fn(&ReadTx<'_>) -> Result<T>,
) -> Result<T> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let encoded = percent_encode(absolute.as_os_str().as_bytes(), URI_ENCODED_CHARS);
    let address = PathBuf::from(format!("file:{encoded}?{how}"));
    let read_only = if how == "mode=rw" {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    let connection = pragmas::open(&address, read_only | OpenFlags::SQLITE_OPEN_URI)?;
    connection.execute_batch("PRAGMA query_only = ON; BEGIN")?;
    read(&ReadTx::new(&connection, now))
}

/// Whether the error is about access to the files, not about their content.
fn is_closed(error: &rusqlite::Error) -> bool {
    let closed = [
        ErrorCode::CannotOpen,
        ErrorCode::PermissionDenied,
        ErrorCode::SystemIoFailure,
        ErrorCode::FileLockingProtocolFailed,
    ];
    error.sqlite_error_code().is_some_and(|code| closed.contains(&code))
}

/// Values that differ after a change of the database: identity, size and time of
/// the file, of its log and of its journal.
fn file_fingerprints(path: &Path) -> [Option<(u64, u64, i64, i64)>; 3] {
    ["", "-wal", "-journal"].map(|suffix| {
        let file = beside(path, suffix);
        let found = std::fs::metadata(file).ok()?;
        Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
    })
}

/// A private copy of a database with its log or journal, removed when the value is dropped.
struct Copied {
    folder: PathBuf,
    file: PathBuf,
}

impl Copied {
    fn of(path: &Path) -> std::result::Result<Self, OpenError> {
        let name = format!("seller-platform-look-{}", crate::base::secrets::random_hex::<6>());
        let folder = std::env::temp_dir().join(name);
        let file = folder.join("copy.db");
        let refused = |cause| OpenError::Io {
            doing: "make a copy to look at in",
            path: folder.clone(),
            cause,
        };
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(refused)?;
        let copied = Self { folder: folder.clone(), file };
        for suffix in ["", "-wal", "-journal"] {
            let (from, to) = (beside(path, suffix), beside(&copied.file, suffix));
            match std::fs::copy(from, &to) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound && !suffix.is_empty() => continue,
                Err(error) => return Err(refused(error)),
            }
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(to, mode).map_err(refused)?;
        }
        Ok(copied)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
