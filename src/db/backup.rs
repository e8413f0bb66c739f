//! Copies of the database.
//!
//! A copy is one file that needs nothing beside it. Its pages are those of one
//! moment (`copying.rs`). It is made under a name ending in `.partial`, and gets
//! its final name only after it has passed the checks and is on the disk, and its
//! manifest beside it. So a file with the final name is always complete, even if
//! the process was killed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use sha2::{Digest as _, Sha256};

use super::copying::{Facts, Making, copy_pages, goes_on, require_room};
use super::error::is_refused_write;
use super::files::is_out_of_handles;
use super::lock::{Locked, lock_path};
use super::manifest::Manifest;
use super::soundness::Depth;
use super::{DbError, OpenError, ReadTx, access, alarm, migrate, pragmas};
use crate::base::files::{beside, remove_if_there};
use crate::base::{Clock, Instant, Stop, text};

pub(super) type Result<T, E = BackupError> = std::result::Result<T, E>;

/// Why a copy was not made or not put back. The present database and earlier
/// copies are as they were.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{0} is the database itself; choose another file")]
    SameFile(PathBuf),
    #[error("{0} belongs to the database; choose another file")]
    Companion(PathBuf),
    #[error("{0} exists already; choose another name, or replace it with --force")]
    Exists(PathBuf),
    #[error("{0} is not a plain file and cannot be replaced; choose another name")]
    NotAFile(PathBuf),
    #[error("{file} {why}; {advice}")]
    Unfit { file: PathBuf, why: String, advice: &'static str },
    #[error("{0} is a file, and copies go into a folder of that name; move the file away")]
    NotAFolder(PathBuf),
    #[error("another backup to {0} is running; wait for it or choose another file")]
    InProgress(PathBuf),
    #[error("the folder of {0} does not exist; create it, or choose another file")]
    NoFolder(PathBuf),
    #[error("cannot make a file in {}: {cause}; choose another folder, or have its owner let you write there", folder.display())]
    ClosedFolder { folder: PathBuf, cause: std::io::Error },
    #[error("the disk is full, so no copy was made at {0}; free some space")]
    Full(PathBuf),
    #[error(
        "disk space is short, so no copy was made: {} MB are free in {}, and a copy takes {} MB with what the service needs itself; free some space",
        free >> 20, folder.display(), needed.div_ceil(1 << 20)
    )]
    Short { folder: PathBuf, free: u64, needed: u64 },
    #[error("the copy was broken off, because the service stops")]
    Stopped,
    #[error(
        "{path} is damaged ({detail}), so no copy was kept; \
         restore an earlier one with `seller-platform restore FILE`"
    )]
    Damaged { path: PathBuf, detail: String },
    #[error("{0} holds no data; is this the right file?")]
    Empty(PathBuf),
    #[error("{0} is open in another program; stop it first")]
    InUse(PathBuf),
    #[error(transparent)]
    Open(Box<OpenError>),
    /// The operating system refused something. The message contains the cause,
    /// so it is not also the `source`: it would be printed twice.
    #[error("cannot {doing} {path}: {cause}")]
    Io { doing: &'static str, path: PathBuf, cause: std::io::Error },
    #[error("cannot copy to {path}: {cause}")]
    Sqlite { path: PathBuf, cause: rusqlite::Error },
}

impl From<OpenError> for BackupError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

impl BackupError {
    /// Whether it failed because the process or the system has too many files
    /// open, which passes by itself.
    pub fn is_out_of_handles(&self) -> bool {
        // SQLite does not say why it cannot open a file. This one is open
        // already, so too many open files are the likely reason.
        let sqlite =
            |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::CannotOpen);
        match self {
            Self::Io { cause, .. } => is_out_of_handles(cause),
            Self::Sqlite { cause, .. } => sqlite(cause),
            Self::Open(error) => match &**error {
                OpenError::Io { cause, .. } => is_out_of_handles(cause),
                OpenError::Sqlite { cause, .. } => sqlite(cause),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether there is no space for a copy.
    pub const fn is_for_want_of_space(&self) -> bool {
        matches!(self, Self::Full(_) | Self::Short { .. })
    }

    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |cause| {
            let path = path.to_owned();
            match cause.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(path),
                _ => Self::Io { doing, path, cause },
            }
        }
    }

    pub(super) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |cause| {
            let path = path.to_owned();
            match cause.sqlite_error_code() {
                _ if is_refused_write(&cause) => Self::Full(path),
                Some(ErrorCode::DiskFull) => Self::Full(path),
                Some(ErrorCode::OperationInterrupted) => Self::Stopped,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Self::Damaged { path, detail: cause.to_string() }
                }
                _ => Self::Sqlite { path, cause },
            }
        }
    }

    /// The same error, naming the database or its copy instead of the
    /// unfinished file.
    fn about(self, database: &Path, copy: &Path) -> Self {
        let (database, path) = (database.to_owned(), copy.to_owned());
        match self {
            Self::Full(_) => Self::Full(path),
            Self::Damaged { detail, .. } => Self::Damaged { path: database, detail },
            Self::Empty(_) => Self::Empty(database),
            Self::Sqlite { cause, .. } => Self::Sqlite { path, cause },
            Self::Io { doing, cause, .. } => Self::Io { doing, path, cause },
            other => other,
        }
    }
}

/// A finished copy; also the content of its manifest.
#[derive(Debug, serde::Serialize)]
pub struct Report {
    /// Name of the copy, without folder.
    pub file: String,
    /// When it was begun, RFC 3339.
    pub created_at: String,
    /// When it was found sound, RFC 3339.
    pub checked_at: String,
    /// Its size.
    pub bytes: u64,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
    /// Version of its schema.
    pub schema: i64,
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// What a domain read in it.
    #[serde(flatten)]
    pub facts: Facts,
    /// How long it took, checks included.
    #[serde(skip)]
    pub took: Duration,
}

/// Copies the database at `database`, live or at rest, to the file `to`,
/// checks the copy and writes the manifest `to`.json. Existing files of these
/// names are replaced at the end, each by one rename. After a failure nothing
/// of the copy is left.
pub fn make(database: &Path, to: &Path, making: &Making<'_>) -> Result<Report> {
    let started = std::time::Instant::now();
    let created_at = making.clock.now();
    refuse_same(database, to)?;
    require_room(database, to, making)?;
    let partial = Partial::claim(to)?;
    let about = |error: BackupError| error.about(database, to);
    let checked =
        copy_pages(database, &partial, making).and_then(|()| examine(&partial.path, making));
    if let Err(BackupError::Damaged { .. }) = &checked {
        keep_damage_of(database, created_at);
    }
    let Checked { schema, rows, facts } = checked.map_err(about)?;
    let (bytes, sha256) = digest(&partial.path, making.stop).map_err(about)?;
    let mut report = Report {
        file: file_name(to),
        created_at: created_at.rfc3339(),
        checked_at: making.clock.now().rfc3339(),
        bytes,
        sha256: text::hex(&sha256),
        schema,
        rows,
        facts,
        took: Duration::ZERO,
    };
    let manifest = Partial::claim(&Manifest::path(to))?;
    manifest.write(&report).map_err(about)?;
    partial.file.sync_all().map_err(BackupError::io("sync", to))?;
    // First, so that whoever finds the copy finds its manifest too.
    manifest.finish(&Manifest::path(to))?;
    partial.finish(to)?;
    sync_folder(to)?;
    report.took = started.elapsed();
    Ok(report)
}

/// A checked copy without a name: its file disappears when it is closed.
pub struct Unnamed {
    /// Open for reading, at its beginning.
    pub file: File,
    /// Its size.
    pub bytes: u64,
    /// Of its bytes.
    pub sha256: [u8; 32],
}

/// Copies the live database at `database` for sending it away, and checks the
/// copy. It is made beside the database, where there is room for it.
pub fn copy_unnamed(database: &Path) -> Result<Unnamed> {
    let partial = Partial::claim(&unsent(database))?;
    let about = |error: BackupError| error.about(database, &partial.path);
    let making = Making::plain(&Clock::System);
    copy_pages(database, &partial, &making).map_err(about)?;
    examine(&partial.path, &making).map_err(about)?;
    let (bytes, sha256) = digest(&partial.path, None)?;
    let file = File::open(&partial.path).map_err(BackupError::io("open", &partial.path))?;
    Ok(Unnamed { file, bytes, sha256 })
}

/// Removes the unfinished copy that a killed process left when it was about to
/// send one.
pub(super) fn forget_unsent(database: &Path) {
    // If this fails, the next copy overwrites the file.
    let _ = std::fs::remove_file(beside(&unsent(database), ".partial"));
}

fn unsent(database: &Path) -> PathBuf {
    beside(database, ".sent")
}

/// Makes a folder for copies, unless it is there.
pub fn make_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if folder.exists() {
        return Err(BackupError::NotAFolder(folder.to_owned()));
    }
    let made = std::fs::DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|cause| BackupError::ClosedFolder { folder: folder.to_owned(), cause })
}

/// The file for a copy of `database`: `target`, or a new name with the time in
/// it if `target` is a folder. A file that exists is refused unless `force`.
/// Anything else than a plain file, and files of the database, are always refused.
pub fn target(database: &Path, target: &Path, force: bool, clock: &Clock) -> Result<PathBuf> {
    if target.is_dir() {
        let stem = database.file_stem().unwrap_or_default();
        let first = target.join(stem);
        return Ok(dated(&first, "-", ".db", clock.now()));
    }
    refuse_same(database, target)?;
    for suffix in [".key", ".lock", ".commits", ".damaged", ".missing", "-wal", "-shm", "-journal"]
    {
        if is_same(&beside(database, suffix), target) {
            return Err(BackupError::Companion(target.to_owned()));
        }
    }
    for name in [target.to_owned(), Manifest::path(target)] {
        match std::fs::symlink_metadata(&name) {
            Ok(found) if found.is_dir() || !found.is_file() && !found.is_symlink() => {
                return Err(BackupError::NotAFile(name));
            }
            // The manifest of an earlier copy is replaced with it.
            Ok(_) if !force && name == target => return Err(BackupError::Exists(name)),
            _ => {}
        }
    }
    Ok(target.to_owned())
}

/// An unfinished file, locked so that two processes do not write the same one.
pub(super) struct Partial {
    pub path: PathBuf,
    pub file: File,
}

impl Partial {
    /// Claims `to`.partial and empties it, as a killed attempt may have left it.
    pub fn claim(to: &Path) -> Result<Self> {
        let path = beside(to, ".partial");
        let failed = |cause: std::io::Error| match cause.kind() {
            ErrorKind::NotFound => BackupError::NoFolder(to.to_owned()),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                BackupError::ClosedFolder { folder: access::folder_of(to).to_owned(), cause }
            }
            _ => BackupError::io("create", &path)(cause),
        };
        let Locked::Mine(file) = lock_path(&path).map_err(failed)? else {
            return Err(BackupError::InProgress(to.to_owned()));
        };
        remove_companions(&path)?;
        file.set_len(0).map_err(BackupError::io("empty", &path))?;
        Ok(Self { path, file })
    }

    /// Writes the manifest of a copy.
    pub fn write(&self, manifest: &impl serde::Serialize) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let text = serde_json::to_string_pretty(manifest)?;
            writeln!(&self.file, "{text}")
        };
        write().map_err(BackupError::io("write", &self.path))
    }

    /// Syncs the file to the disk and gives it its final name.
    pub fn finish(self, to: &Path) -> Result<()> {
        self.file.sync_all().map_err(BackupError::io("sync", &self.path))?;
        rename(&self.path, to)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After `finish` the name is gone already.
        let _ = std::fs::remove_file(&self.path);
        let _ = remove_companions(&self.path);
    }
}

/// What the checks of a copy found.
pub(super) struct Checked {
    pub schema: i64,
    pub rows: BTreeMap<String, u64>,
    pub facts: Facts,
}

/// Checks a copy thoroughly and leaves it a single file.
pub(super) fn examine(path: &Path, making: &Making<'_>) -> Result<Checked> {
    let mut connection = pragmas::open_plain(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let sqlite = BackupError::sqlite(path);
    making.interrupts(&mut connection).map_err(&sqlite)?;
    connection.execute_batch("PRAGMA journal_mode = DELETE").map_err(&sqlite)?;
    let Some(schema) = migrate::stamp(&connection, path)? else {
        return Err(BackupError::Empty(path.to_owned()));
    };
    if let Some(detail) = Depth::Whole.first_fault(&connection).map_err(&sqlite)? {
        let detail = detail.replace('\n', " ");
        return Err(BackupError::Damaged { path: path.to_owned(), detail });
    }
    let rows = count_rows(&connection, making.stop).map_err(&sqlite)?;
    let facts = (making.facts)(&ReadTx::new(&connection, making.clock.now()))
        .map_err(|error| OpenError::of(path, error))?;
    connection.close().map_err(|(_, error)| sqlite(error))?;
    Ok(Checked { schema, rows, facts })
}

/// Keeps the damage of a database, if it is the database that is damaged and not
/// the disk of its copy.
fn keep_damage_of(database: &Path, now: Instant) {
    let fault =
        pragmas::open_plain(database, OpenFlags::SQLITE_OPEN_READ_WRITE).ok().and_then(|source| {
            match Depth::Whole.first_fault(&source) {
                Ok(fault) => fault,
                Err(error) => match DbError::from(error) {
                    DbError::Damaged(error) => Some(error.to_string()),
                    _ => None,
                },
            }
        });
    if let Some(fault) = fault {
        alarm::keep_damage(database, &fault, now);
    }
}

/// Rows of each table. Search indexes are left out: they repeat a table. Ends like an
/// interrupted statement when `stop` is set.
pub(super) fn count_rows(
    connection: &Connection,
    stop: Option<&Stop>,
) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut tables = connection.prepare(
        "SELECT name
         FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         ORDER BY name",
    )?;
    let names =
        tables.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    names
        .into_iter()
        .map(|name| {
            if stop.is_some_and(Stop::is_set) {
                let interrupted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
                return Err(rusqlite::Error::SqliteFailure(interrupted, None));
            }
            let quoted = name.replace('"', "\"\"");
            let count: i64 =
                connection.query_row(&format!("SELECT count(*) FROM \"{quoted}\""), [], |row| {
                    row.get(0)
                })?;
            Ok((name, count.cast_unsigned()))
        })
        .collect()
}

/// Size and SHA-256 of a file.
pub(super) fn digest(path: &Path, stop: Option<&Stop>) -> Result<(u64, [u8; 32])> {
    let failed = |cause| BackupError::io("read", path)(cause);
    let mut file = File::open(path).map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        goes_on(stop)?;
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return Ok((bytes, hasher.finalize().into()));
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
}

/// `<path><between>YYYYMMDD-HHMMSS<end>` (UTC), with a number before the end
/// when that name is taken.
pub fn dated(path: &Path, between: &str, end: &str, now: Instant) -> PathBuf {
    let digits: String = now.rfc3339().chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    let name = beside(path, format!("{between}{day}-{time}"));
    let first = beside(&name, end);
    let others = (2_u32..).map(|number| beside(&name, format!("-{number}{end}")));
    std::iter::once(first.clone())
        .chain(others)
        .find(|candidate| !candidate.exists())
        .unwrap_or(first)
}

/// Removes what killed processes left of copies that they were making into a
/// folder, under names that begin with `stem`.
pub fn remove_unfinished(folder: &Path, stem: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if let Some(copy) = name.strip_suffix(".partial").filter(|name| name.starts_with(stem)) {
            // What another process is writing is locked, and stays.
            drop(Partial::claim(&folder.join(copy)));
        }
    }
}

pub(super) fn refuse_same(database: &Path, other: &Path) -> Result<()> {
    if is_same(database, other) {
        return Err(BackupError::SameFile(other.to_owned()));
    }
    Ok(())
}

/// Whether two names lead to one file.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => a.ino() == b.ino() && a.dev() == b.dev(),
        _ => a == b,
    }
}

/// Removes the files that SQLite keeps beside a database.
pub(super) fn remove_companions(path: &Path) -> Result<()> {
    for suffix in access::COMPANIONS {
        let companion = beside(path, suffix);
        remove_if_there(&companion).map_err(BackupError::io("remove", &companion))?;
    }
    Ok(())
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(BackupError::io("rename to", to))
}

/// Syncs the folder: a new name is on the disk only after that.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    let folder = access::folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::io("sync", folder))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
