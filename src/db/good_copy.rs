//! The copies in a folder: which there are, and whether they are still good.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::backup::{BackupError, count_rows, is_same};
use super::copying::goes_on;
use super::manifest::{Manifest, sha256_of};
use super::{Depth, OpenError, ReadTx, access, migrate, read_without_traces};
use crate::base::{Clock, Instant, Stop, text};

/// Copies that are looked at before the search for a good one ends.
const TRIES: usize = 5;
/// By how much the clocks of two machines may differ, in seconds.
const SKEW_S: i64 = 300;
/// The name that leads to the newest good copy.
const LATEST: &str = "latest.db";

/// A copy in a folder.
pub struct BackupCopy {
    pub path: PathBuf,
    /// Size of the file.
    pub bytes: u64,
    /// When the file was last written, by the clock of the system.
    pub written_at: Option<Instant>,
    /// `None` without a manifest; the text says why it cannot be read.
    pub manifest: Result<Option<Manifest>, String>,
    /// When it was looked at.
    seen_at: Instant,
}

impl BackupCopy {
    fn of(entry: &DirEntry, database: &Path, now: Instant) -> Option<Self> {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let found = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        if !name.ends_with(".db") || name == LATEST || is_left(&name) {
            return None;
        }
        // A server that opens and closes its own file drops SQLite's locks on it.
        if is_same(&path, database) {
            return None;
        }
        let written_at = found.modified().ok().and_then(instant);
        let manifest = Manifest::of(&path).map_err(|error| error.to_string());
        Some(Self { path, bytes: found.len(), written_at, manifest, seen_at: now })
    }

    /// Its name without the folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The manifest, if it can be read.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref().ok()?.as_ref()
    }

    /// Version of its schema, as the manifest says.
    pub fn schema(&self) -> Option<i64> {
        self.manifest()?.schema
    }

    /// When it was made: by its manifest, else by its file.
    pub fn made_at(&self) -> Option<Instant> {
        self.manifest().and_then(Manifest::created_at).or(self.written_at)
    }

    /// Whether its date lies ahead: it was made while the clock was wrong, or the
    /// clock is wrong now. What is newest cannot be told by such a date.
    pub fn is_from_future(&self) -> bool {
        match self.manifest().and_then(Manifest::created_at) {
            Some(at) => at > self.seen_at.plus(SKEW_S),
            None => self.written_at.is_some_and(is_ahead),
        }
    }

    /// When it was last found to be what it was, unless that lies ahead.
    pub fn checked_at(&self) -> Option<Instant> {
        self.manifest()?.checked_at().filter(|at| *at <= self.seen_at.plus(SKEW_S))
    }

    /// What is known to be wrong with it, without reading it.
    pub fn known_fault(&self) -> Option<String> {
        let manifest = match &self.manifest {
            Err(problem) => return Some(format!("its manifest cannot be read ({problem})")),
            Ok(manifest) => manifest.as_ref()?,
        };
        match manifest.bytes {
            Some(said) if said != self.bytes => {
                Some(format!("it has {} bytes instead of {said}", self.bytes))
            }
            _ => manifest.fault.clone(),
        }
    }

    /// Why it could not be restored; `None` when it could. Reads the whole file. An
    /// error says nothing of the copy, only that it could not be looked at now.
    pub fn fault(&self, stop: Option<&Stop>) -> Result<Option<String>, BackupError> {
        match &self.manifest {
            Err(_) => Ok(self.known_fault()),
            Ok(Some(manifest)) => {
                let is_as_made = manifest.is_of(&sha256_of(&self.path, stop)?);
                let other = "it is not what its manifest says (another SHA-256)";
                Ok((!is_as_made).then(|| other.to_owned()))
            }
            Ok(None) => {
                let look = |tx: &ReadTx<'_>| tx.first_fault(Depth::Light);
                read_without_traces(&self.path, Instant(0), look)
                    .or_else(|error| damage(error).map(Some))
            }
        }
    }

    /// Compares it with its manifest: every byte, then, opened as a database, its
    /// schema and the rows of its tables. What differs, or `None`; an error as in
    /// [`BackupCopy::fault`].
    pub fn compare(&self, stop: Option<&Stop>) -> Result<Option<String>, BackupError> {
        let Ok(Some(manifest)) = &self.manifest else {
            return self.fault(stop);
        };
        // Before every byte is read: it could not be opened then.
        if let Some(file) = manifest.schema.filter(|schema| *schema > migrate::VERSION) {
            let (path, program) = (self.path.clone(), migrate::VERSION);
            return Err(OpenError::Newer { path, file, program }.into());
        }
        if let Some(fault) = self.fault(stop)? {
            return Ok(Some(fault));
        }
        let (schema, rows) = match contents(&self.path, stop) {
            Ok(contents) => contents,
            Err(BackupError::Open(error)) => {
                return damage(*error).map(|said| Some(format!("it cannot be opened ({said})")));
            }
            Err(error) => return Err(error),
        };
        if manifest.schema.is_some_and(|said| said != schema) {
            return Ok(Some(format!("its schema version is {schema}, not that of its manifest")));
        }
        let other = manifest.rows.as_ref().is_some_and(|said| *said != rows);
        Ok(other.then(|| "its tables have other rows than its manifest says".to_owned()))
    }
}

/// What an error tells of the file itself; the error again when it may pass.
fn damage(error: OpenError) -> Result<String, BackupError> {
    match error {
        OpenError::Damaged { .. } | OpenError::NotADatabase(_) | OpenError::Foreign(_) => {
            Ok(error.to_string())
        }
        error => Err(error.into()),
    }
}

fn instant(time: SystemTime) -> Option<Instant> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok().map(Instant)
}

/// Whether the time of a file lies ahead of the clock that wrote it, the system's.
fn is_ahead(written_at: Instant) -> bool {
    written_at > Clock::System.now().plus(SKEW_S)
}

/// Schema version and rows of each table of a file that nobody changes.
pub fn contents(
    file: &Path,
    stop: Option<&Stop>,
) -> Result<(i64, BTreeMap<String, u64>), BackupError> {
    let schema = migrate::version_of_file(file)?.unwrap_or(0);
    let rows = read_without_traces(file, Instant(0), |tx| Ok(count_rows(tx.connection(), stop)?));
    // What ended it may be `stop`.
    goes_on(stop)?;
    Ok((schema, rows?))
}

/// The copies in a folder, the newest first and those from the future last; none when
/// it cannot be read. The database itself, should it lie there, is none of them.
pub fn copies_in(folder: &Path, database: &Path, now: Instant) -> Vec<BackupCopy> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<BackupCopy> =
        entries.filter_map(|entry| BackupCopy::of(&entry, database, now)).collect();
    kept.sort_by_cached_key(|copy| {
        std::cmp::Reverse((!copy.is_from_future(), copy.made_at(), copy.name()))
    });
    kept
}

/// Whether a name is that of an unfinished copy or of a database that was set aside.
pub fn is_left(name: &str) -> bool {
    // The manifest and the log of one are not counted by themselves.
    let belongs = [".json", "-wal", "-shm", "-journal"].iter().any(|end| name.ends_with(end));
    name.ends_with(".partial")
        || (name.contains(".before-") || name.starts_with("before-")) && !belongs
}

/// The key that sealed values of a database, as manifests name it, told from one
/// of these values.
pub fn key_id(sealed: &[u8]) -> Option<String> {
    // A version, then the id (`base/secrets.rs`).
    sealed.get(1..5).map(text::hex)
}

/// The newest copy beside the database or among its backups that is as its
/// manifest says. Reads whole files: not for requests.
pub fn newest(database: &Path, backup_dir: Option<&Path>) -> Option<PathBuf> {
    let folders = [Some(access::folder_of(database)), backup_dir];
    let entries = folders.into_iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok());
    let files = entries.flatten().flatten().map(|entry| entry.path());
    let mut copies: Vec<_> = files
        // Only complete copies have their manifest beside them.
        .filter(|file| Manifest::path(file).is_file() && !is_same(file, database))
        .filter_map(|file| {
            let written_at = instant(std::fs::metadata(&file).ok()?.modified().ok()?)?;
            Some((!is_ahead(written_at), written_at, file))
        })
        .collect();
    copies.sort_unstable();
    copies.into_iter().rev().map(|(.., file)| file).take(TRIES).find(|file| is_as_made(file))
}

fn is_as_made(copy: &Path) -> bool {
    let manifest = Manifest::of(copy).ok().flatten();
    manifest.is_some_and(|manifest| sha256_of(copy, None).is_ok_and(|found| manifest.is_of(&found)))
}

/// Lets [`LATEST`] in the folder of a copy lead to it, in one step.
pub fn lead_latest_to(copy: &Path) -> Result<(), BackupError> {
    let latest = copy.with_file_name(LATEST);
    if latest == copy {
        // A copy of that name is the newest without a link.
        return Ok(());
    }
    let next = copy.with_file_name(format!("{LATEST}.partial"));
    let _ = std::fs::remove_file(&next);
    let name = copy.file_name().unwrap_or_default();
    std::os::unix::fs::symlink(name, &next)
        // For file systems without symbolic links.
        .or_else(|_| std::fs::hard_link(copy, &next))
        .map_err(BackupError::io("make", &next))?;
    super::backup::rename(&next, &latest)?;
    super::backup::sync_folder(&latest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_told_by_their_names() {
        for name in
            ["a.db.partial", "seller-platform.before-v2.db", "a.db.before-restore-20261120-070700"]
        {
            assert!(is_left(name), "{name}");
        }
        for name in
            ["a.db", "seller-platform.before-v2.db.json", "seller-platform-20261120.db", "a.db-wal"]
        {
            assert!(!is_left(name), "{name}");
        }
    }
}
