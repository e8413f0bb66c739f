//! The files of an open database, which must stay where they are.
//!
//! A file that was removed can still be written by whoever has it open, and what
//! is written is lost. So the files are looked at each half second, and after
//! each commit before its callers are answered. Decision db-14.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::io::Errno;

use super::alarm::Alarm;
use super::checkpoint::Checkpointer;
use crate::base::Stop;
use crate::base::files::beside;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(500);

crate::named! {
    /// A file of an open database.
    pub enum Kind: text {
        Database = "database";
        Log = "log";
        Lock = "lock";
        Key = "key";
    }
}

impl Kind {
    /// What programs are told of its absence.
    pub const fn absence(self) -> &'static str {
        match self {
            Self::Database => "file gone",
            Self::Log => "log gone",
            Self::Lock => "lock gone",
            Self::Key => "key gone",
        }
    }

    /// What happened, and what to do.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Database => {
                "the database file was removed or replaced while it was open; stop the server, put it or a copy in its place (`seller-platform restore`), and start again"
            }
            Self::Log => {
                "the write-ahead log (-wal, -shm) was removed or replaced while it was open; start again, and compare with the newest copy"
            }
            Self::Lock => {
                "the lock file (.lock) was removed or replaced while the database was open; start again"
            }
            Self::Key => {
                "the key file (.key) is not beside the database, or is another one; put it back: without it what is sealed cannot be opened after the next start"
            }
        }
    }
}

type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Whether a file is where it was. An error that says nothing about that, such as
/// one of the disk, is not taken for its absence.
fn is_there(path: &Path, known: Identity) -> bool {
    match std::fs::metadata(path) {
        Ok(found) => (found.dev(), found.ino()) == known,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// Whether a file could not be opened because the process or the system has too
/// many open, which passes by itself.
pub fn is_out_of_handles(error: &std::io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// The files, as they were when the database was opened.
pub struct Files {
    watched: Vec<(Kind, PathBuf, Identity)>,
    /// The key file and its content; `None` when the key is in the configuration.
    key: Mutex<Option<(PathBuf, Vec<u8>)>>,
    alarm: Arc<Alarm>,
}

impl Files {
    /// Remembers the files of the database at `path`, which is open.
    pub fn of(path: &Path, alarm: Arc<Alarm>) -> Self {
        let kinds =
            [(Kind::Database, ""), (Kind::Log, "-wal"), (Kind::Log, "-shm"), (Kind::Lock, ".lock")];
        let watched = kinds.into_iter().filter_map(|(kind, end)| {
            let file = beside(path, end);
            let identity = identity(&file)?;
            Some((kind, file, identity))
        });
        Self { watched: watched.collect(), key: Mutex::default(), alarm }
    }

    /// From now on the key file must stay too.
    pub fn hold_key(&self, path: &Path) {
        *self.key.lock() = std::fs::read(path).ok().map(|bytes| (path.to_owned(), bytes));
    }

    /// Whether all files are where they were. Raises the alarm when not.
    pub fn are_there(&self) -> bool {
        let gone = self.watched.iter().find(|(_, path, known)| !is_there(path, *known));
        if let Some((kind, ..)) = gone {
            self.alarm.went_away(*kind);
        }
        gone.is_none()
    }

    /// Whether another file took the place of the database.
    fn is_replaced(&self) -> bool {
        self.watched.iter().any(|(kind, path, known)| {
            *kind == Kind::Database && identity(path).is_some_and(|found| found != *known)
        })
    }

    /// The files of the log that are still where they were.
    fn of_log(&self) -> impl Iterator<Item = &Path> {
        self.watched
            .iter()
            .filter(|(kind, path, known)| *kind == Kind::Log && identity(path) == Some(*known))
            .map(|(_, path, _)| &**path)
    }

    /// After a file went away, puts what is in the log where it is safe; false
    /// when that is to be tried again.
    pub fn save_log(&self, gone: Kind, log: &Checkpointer<'_>) -> bool {
        if self.is_replaced() {
            // Applied to another database, the log would destroy it.
            for path in self.of_log() {
                if let Err(error) = std::fs::rename(path, beside(path, ".of-replaced")) {
                    tracing::error!(%error, "{} cannot be set aside", path.display());
                }
            }
            return true;
        }
        match gone {
            // This process still has the log, and the database is the right one.
            Kind::Log => match log.run("PRAGMA wal_checkpoint(TRUNCATE)") {
                Ok(true) => {
                    tracing::warn!("what was in the removed log was moved into the database");
                    true
                }
                // A read still needs the log.
                Ok(false) => false,
                Err(error) => {
                    tracing::error!(%error, "what was in the removed log cannot be moved into the database");
                    true
                }
            },
            // Another database may come in the place of this one, and the log may
            // go away after the lock.
            Kind::Database | Kind::Lock | Kind::Key => false,
        }
    }

    fn look_at_key(&self) {
        if let Some((path, known)) = &*self.key.lock() {
            // A few bytes that are in the system's memory.
            match std::fs::read(path) {
                Ok(found) => self.alarm.key_is(found == *known),
                Err(error) if is_out_of_handles(&error) => {}
                Err(_) => self.alarm.key_is(false),
            }
        }
    }

    /// Looks at everything until `stop`.
    pub fn watch(&self, stop: &Stop) {
        while !stop.wait(LOOK) {
            self.are_there();
            self.look_at_key();
            self.alarm.look_beside();
        }
    }
}
