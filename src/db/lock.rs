//! The lock file: two servers never share a database.
//!
//! The lock belongs to an open file, so the system drops it when the process
//! ends however that happens. The file itself stays behind after a crash and
//! thereby tells the next start about it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{OpenError, access, beside};

/// The held lock. Dropping it removes the file and lets go.
pub struct LockFile {
    path: PathBuf,
    _file: File,
}

impl LockFile {
    /// Takes the lock of the database at `database`, and tells whether its
    /// file was left behind by a process that did not stop cleanly.
    pub fn take(database: &Path) -> Result<(Self, bool), OpenError> {
        let path = beside(database, ".lock");
        let left = path.exists();
        let file = match lock_path(&path) {
            Ok(Locked::Mine(file)) => file,
            Ok(Locked::Others(pid)) => {
                return Err(OpenError::Locked { path: database.to_owned(), pid });
            }
            Err(error) => return Err(refusal(database, &path, error)),
        };
        let write = || {
            file.set_len(0)?;
            writeln!(&file, "{}", std::process::id())
        };
        match write() {
            Ok(()) => Ok((Self { path, _file: file }, left)),
            Err(error) => Err(refusal(database, &path, error)),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // While it is still locked: whoever opened it meanwhile notices that
        // the name is gone, and makes a new one.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn refusal(database: &Path, path: &Path, error: std::io::Error) -> OpenError {
    match error.kind() {
        std::io::ErrorKind::NotFound => OpenError::NoFolder(database.to_owned()),
        _ => access::not_writable(database, path, "take the lock file", error),
    }
}

/// What came of an attempt to lock a file.
pub enum Locked {
    /// This process holds it now.
    Mine(File),
    /// Another one does; the text is what the file says.
    Others(String),
}

/// Opens (or makes, mode 0600) the file at `path` and locks it, without
/// waiting. The file is the one that the name stands for, even when others
/// remove or rename it at the same moment.
pub fn lock_path(path: &Path) -> std::io::Result<Locked> {
    loop {
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                return Ok(Locked::Others(text.trim().to_owned()));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        let held = file.metadata()?;
        let named = std::fs::metadata(path);
        if named.is_ok_and(|named| named.ino() == held.ino() && named.dev() == held.dev()) {
            return Ok(Locked::Mine(file));
        }
    }
}
