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

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{ErrorCode, OpenFlags};

use super::{DbError, OpenError, ReadTx, Result, file_size, migrate, pragmas};
use crate::base::Instant;
use crate::base::files::{Scratch, beside};

/// How many times a file is read that changes while it is read.
const TRIES: usize = 5;
/// The name of a private copy.
const COPY: &str = "copy.db";
/// Characters that are percent-encoded in the URI of a file.
const URI_ENCODED_CHARS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// Runs `read` on the database at `path`, of whatever version, and leaves
/// nothing behind. It runs again when the file was changed meanwhile.
pub fn read_without_traces<T>(
    path: &Path,
    now: Instant,
    read: impl Fn(&ReadTx<'_>) -> Result<T>,
) -> Result<T, OpenError> {
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
            let copy = copied(path)?;
            through(&copy.0.join(COPY), "mode=rw", now, &read)
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

/// Copies a database with its log or journal into a folder of our own.
fn copied(path: &Path) -> Result<Scratch, OpenError> {
    let name = format!("seller-platform-look-{}", crate::base::secrets::random_hex::<6>());
    let folder = std::env::temp_dir().join(name);
    let refused = OpenError::io("make a copy to look at in", &folder);
    let scratch = Scratch::make(folder.clone()).map_err(&refused)?;
    for suffix in ["", "-wal", "-journal"] {
        let to = beside(&folder.join(COPY), suffix);
        match std::fs::copy(beside(path, suffix), &to) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound && !suffix.is_empty() => continue,
            Err(error) => return Err(refused(error)),
        }
        std::fs::set_permissions(to, Permissions::from_mode(0o600)).map_err(&refused)?;
    }
    Ok(scratch)
}
