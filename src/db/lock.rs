//! The lock file: two servers never share a database.
//!
//! The lock belongs to an open file, so the system releases it when the process
//! ends, however that happens. After a crash the file itself is still there,
//! which tells the next start about the crash.

use std::fs::File;
use std::io::{Write as _, read_to_string};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::files::Kind;
use super::{OpenError, access, beside};

/// A line of the lock file of a process that only follows a replica.
const STANDBY: &str = "standby";

/// The held lock. Dropping it removes the file and releases the lock.
pub struct LockFile {
    path: PathBuf,
    file: File,
    /// The database itself, locked too: the lock file can be removed. SQLite has
    /// locks of another kind on it, so this is closed after SQLite's connections.
    database: Option<File>,
}

impl LockFile {
    /// Takes the lock of the database at `database`. Also returns whether the
    /// lock file was left behind by a process that did not stop cleanly.
    pub fn take(database: &Path) -> Result<(Self, bool), OpenError> {
        let path = beside(database, ".lock");
        let left = path.exists();
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => OpenError::NoFolder(database.to_owned()),
            _ => access::not_writable(database, &path, "take the lock file", error),
        };
        let file = match lock_path(&path).map_err(failed)? {
            Locked::Mine(file) => file,
            Locked::Others(pid) => {
                let pid = pid.lines().next().unwrap_or_default().to_owned();
                return Err(OpenError::Locked { path: database.to_owned(), pid });
            }
        };
        let write = || {
            file.set_len(0)?;
            writeln!(&file, "{}", std::process::id())
        };
        let written = write().map_err(failed);
        let mut lock = Self { path, file, database: None };
        written?;
        lock.hold_database(database)?;
        Ok((lock, left))
    }

    /// Locks the database itself, once it exists.
    pub fn hold_database(&mut self, database: &Path) -> Result<(), OpenError> {
        if self.database.is_some() {
            return Ok(());
        }
        // What is wrong with the file is told by those who open it.
        let Ok(file) = File::open(database) else {
            return Ok(());
        };
        if matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)) {
            let pid = "unknown, its lock file was removed".to_owned();
            return Err(OpenError::Locked { path: database.to_owned(), pid });
        }
        self.database = Some(file);
        Ok(())
    }

    /// Releases the lock and leaves its file, as after a crash.
    pub fn leave(mut self) {
        self.path.clear();
    }

    /// Writes into the file that this process only follows a replica.
    pub fn note_standby(&self) -> std::io::Result<()> {
        writeln!(&self.file, "{STANDBY}")
    }

    /// Writes the address of this server into the file, after the process id.
    pub fn note_address(&self, address: SocketAddr) -> std::io::Result<()> {
        writeln!(&self.file, "{address}")
    }
}

/// The address of the server that holds the lock of the database at
/// `database`. An address that a crash left in the file is not returned.
pub fn address_of_holder(database: &Path) -> Option<SocketAddr> {
    let text = read_to_string(held(database)?).ok()?;
    text.lines().nth(1)?.parse().ok()
}

/// The process that holds a lock, as it says in the file.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    pub pid: u32,
    /// It only follows a replica.
    pub is_standby: bool,
}

/// The holder of the lock of the database at `database`.
pub fn holder(database: &Path) -> Option<Holder> {
    let text = read_to_string(held(database)?).ok()?;
    let pid = text.lines().next()?.parse().ok()?;
    Some(Holder { pid, is_standby: text.lines().any(|line| line == STANDBY) })
}

/// Whether a process holds the lock of the database at `database`.
pub fn is_held(database: &Path) -> bool {
    held(database).is_some()
}

/// The lock file of a database, while a process holds it.
fn held(database: &Path) -> Option<File> {
    locked(&beside(database, ".lock"))
}

/// A file, while a process has it locked.
pub fn locked(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)).then_some(file)
}

/// The file that the server on the database at `database` misses, as far as
/// another process can see.
pub fn missed_file(database: &Path) -> Option<Kind> {
    match (is_held(database), locked(database).is_some()) {
        (false, true) => Some(Kind::Lock),
        (true, false) => Some(Kind::Database),
        (true, true) if address_of_holder(database).is_some() => {
            let is_whole = ["-wal", "-shm"].iter().all(|end| beside(database, end).exists());
            (!is_whole).then_some(Kind::Log)
        }
        _ => None,
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Removed while it is still locked: a process that opened it meanwhile
        // notices that the name is gone, and makes a new file. What has the name
        // now may be another process's.
        if is_named(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The result of an attempt to lock a file.
pub enum Locked {
    /// This process holds it now.
    Mine(File),
    /// Another process holds it; the text is the content of the file.
    Others(String),
}

/// Opens (or makes, mode 0600) the file at `path` and locks it, without
/// waiting. The locked file is the one at `path`, even when other processes
/// remove or rename it at the same moment. A symbolic link is refused: whoever may
/// write to the folder could lead an account with more rights to another file.
pub fn lock_path(path: &Path) -> std::io::Result<Locked> {
    loop {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(access::no_link())
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Ok(Locked::Others(read_to_string(&file)?.trim().to_owned()));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        if is_named(&file, path)? {
            return Ok(Locked::Mine(file));
        }
    }
}

fn is_named(file: &File, path: &Path) -> std::io::Result<bool> {
    let held = file.metadata()?;
    let named = std::fs::metadata(path);
    Ok(named.is_ok_and(|named| named.ino() == held.ino() && named.dev() == held.dev()))
}
