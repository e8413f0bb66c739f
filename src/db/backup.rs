//! Copies of the database, and putting one back.
//!
//! A copy is one file that needs nothing beside it. It is made by SQLite's
//! backup interface in a single step (in several it would start again at each
//! write), under a name ending in `.partial`, and gets its final name only
//! after it has passed the checks and lies on the disk. So a file with the
//! final name is always whole, whatever was killed when.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::lock::{LockFile, Locked, lock_path};
use super::{OpenError, beside, file_size, migrate, pragmas};
use crate::clock::{Clock, Instant};
use crate::text;

type Result<T> = std::result::Result<T, BackupError>;

/// Why a copy was not made or not put back. The present database and earlier
/// copies are as they were.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Source and target are one file.
    #[error("{0} is the database itself; choose another file")]
    SameFile(PathBuf),
    /// Somebody is writing that copy right now.
    #[error("another backup to {0} is running; wait for it or choose another file")]
    InProgress(PathBuf),
    /// The target's folder does not exist.
    #[error("the folder of {0} does not exist; create it")]
    NoFolder(PathBuf),
    /// No space for the copy.
    #[error("the disk is full, so no copy was made at {0}; free some space")]
    Full(PathBuf),
    /// The checks found something.
    #[error("{path} is damaged and was not used: {detail}")]
    Damaged {
        /// The copy.
        path: PathBuf,
        /// The first thing that the checks found.
        detail: String,
    },
    /// The source has no schema yet.
    #[error("{0} holds no data; is this the right file?")]
    Empty(PathBuf),
    /// A command or another program has the present database open.
    #[error("{0} is open in another program; stop it first")]
    InUse(PathBuf),
    /// One of the two databases was refused.
    #[error(transparent)]
    Open(Box<OpenError>),
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
    #[error("cannot copy to {path}: {source}")]
    Sqlite {
        /// The copy.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
}

impl From<OpenError> for BackupError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

impl BackupError {
    /// Whether it failed because the process or the system has as many files
    /// open as it may, which passes by itself.
    pub fn is_out_of_handles(&self) -> bool {
        let io = |error: &std::io::Error| {
            matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
        };
        // SQLite does not say why it cannot open a file; this one is open already.
        let sqlite =
            |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::CannotOpen);
        match self {
            Self::Io { source, .. } => io(source),
            Self::Sqlite { source, .. } => sqlite(source),
            Self::Open(error) => match &**error {
                OpenError::Io { source, .. } => io(source),
                OpenError::Sqlite { source, .. } => sqlite(source),
                _ => false,
            },
            _ => false,
        }
    }

    fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| {
            let path = path.to_owned();
            match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(path),
                _ => Self::Io { doing, path, source },
            }
        }
    }

    fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |source| {
            let path = path.to_owned();
            match source.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => Self::Full(path),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Self::Damaged { path, detail: source.to_string() }
                }
                _ => Self::Sqlite { path, source },
            }
        }
    }
}

/// A finished copy; what its manifest says too.
#[derive(Debug, serde::Serialize)]
pub struct Report {
    /// Name of the copy, without folder.
    pub file: String,
    /// When it was begun, RFC 3339.
    pub taken_at: String,
    /// Its size.
    pub bytes: u64,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
    /// Version of its schema.
    pub schema_version: i64,
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// How long it took, checks included.
    #[serde(skip)]
    pub took: Duration,
}

/// Copies the database at `database`, live or at rest, to the file `to`,
/// checks the copy and writes the manifest `to`.json. An earlier copy of that
/// name is replaced at the end, in one move.
pub fn copy(database: &Path, to: &Path, clock: &Clock) -> Result<Report> {
    let started = std::time::Instant::now();
    let taken_at = clock.now();
    refuse_same(database, to)?;
    let partial = Partial::claim(to)?;
    copy_pages(database, &partial.path)?;
    let (schema_version, rows) = check(&partial.path)?;
    let (bytes, sha256) = digest(&partial.path)?;
    let mut report = Report {
        file: file_name(to),
        taken_at: taken_at.rfc3339(),
        bytes,
        sha256: text::hex(&sha256),
        schema_version,
        rows,
        took: Duration::ZERO,
    };
    let manifest = write_manifest(&report, to)?;
    partial.finish(to)?;
    rename(&manifest, &beside(to, ".json"))?;
    sync_folder(to)?;
    report.took = started.elapsed();
    Ok(report)
}

/// A checked copy that has no name: its file is gone when it is closed.
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
    copy_pages(database, &partial.path)?;
    check(&partial.path)?;
    let (bytes, sha256) = digest(&partial.path)?;
    let file = File::open(&partial.path).map_err(BackupError::io("open", &partial.path))?;
    Ok(Unnamed { file, bytes, sha256 })
}

/// Removes what a killed process left of a copy it was making to send.
pub(super) fn forget_unsent(database: &Path) {
    // Worth nothing, and made anew by the next copy if it stays.
    let _ = std::fs::remove_file(beside(&unsent(database), ".partial"));
}

fn unsent(database: &Path) -> PathBuf {
    beside(database, ".sent")
}

/// What [`restore`] did.
#[derive(Debug)]
pub struct Restored {
    /// Where the replaced database is now; `None` when there was none.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the lines tell it to people; tests read it here")
    )]
    pub aside: Option<PathBuf>,
    /// What was done and how to undo it, a sentence a line.
    pub lines: Vec<String>,
}

/// Puts the copy `file` in the place of the database at `database`.
///
/// The copy is checked first. The present database, its log folded in, is kept
/// beside it under a name with the time. Refused while a server or a command
/// has the database open.
pub fn restore(file: &Path, database: &Path, clock: &Clock) -> Result<Restored> {
    pragmas::check_version()?;
    refuse_same(database, file)?;
    migrate::refuse_by_header(file)?;
    let (_lock, _) = LockFile::take(database)?;
    let incoming = Partial::claim(database)?;
    copy_file(file, &incoming.path)?;
    if file_size(&beside(file, "-wal")) > 0 {
        copy_file(&beside(file, "-wal"), &beside(&incoming.path, "-wal"))?;
    }
    let (version, rows) = check(&incoming.path)?;
    incoming.give_to_owner_of(database)?;
    let aside = set_aside(database, clock.now())?;
    incoming.finish(database)?;
    sync_folder(database)?;

    let rows: u64 = rows.values().sum();
    let mut lines = vec![format!(
        "{} is now the content of {} (schema version {version}, {rows} rows).",
        database.display(),
        file.display()
    )];
    if let Some(aside) = &aside {
        lines.push(format!("The replaced database is {}.", aside.display()));
        lines.push(format!("To undo this: seller-platform restore {}", aside.display()));
    }
    Ok(Restored { aside, lines })
}

/// A file in the making, locked so that two do not write the same one.
struct Partial {
    path: PathBuf,
    file: File,
}

impl Partial {
    /// Claims `to`.partial and empties what a killed attempt left in it.
    fn claim(to: &Path) -> Result<Self> {
        let path = beside(to, ".partial");
        let file = match lock_path(&path) {
            Ok(Locked::Mine(file)) => file,
            Ok(Locked::Others(_)) => return Err(BackupError::InProgress(to.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(BackupError::NoFolder(to.to_owned()));
            }
            Err(error) => return Err(BackupError::io("create", &path)(error)),
        };
        remove_companions(&path)?;
        file.set_len(0).map_err(BackupError::io("empty", &path))?;
        Ok(Self { path, file })
    }

    /// Gives the file to whom `present` belongs: an administrator restores,
    /// and the service's own account must still be able to write.
    fn give_to_owner_of(&self, present: &Path) -> Result<()> {
        let (Ok(present), Ok(own)) = (std::fs::metadata(present), self.file.metadata()) else {
            return Ok(());
        };
        if (present.uid(), present.gid()) == (own.uid(), own.gid()) {
            return Ok(());
        }
        std::os::unix::fs::fchown(&self.file, Some(present.uid()), Some(present.gid()))
            .map_err(BackupError::io("change the owner of", &self.path))
    }

    /// Gives the file its final name once it lies on the disk.
    fn finish(self, to: &Path) -> Result<()> {
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

/// Copies all pages in one step, and makes the copy a single file.
fn copy_pages(database: &Path, to: &Path) -> Result<()> {
    if !database.exists() {
        return Err(OpenError::Missing(database.to_owned()).into());
    }
    // It only reads, but is opened for writing: when no server runs, it is
    // the last connection, and one that may not write would leave an empty
    // log behind.
    let source = pragmas::open_plain(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    source
        .execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 17179869184;")
        .map_err(BackupError::sqlite(database))?;
    if migrate::stamp(&source, database)?.is_none() {
        return Err(BackupError::Empty(database.to_owned()));
    }
    let mut target = pragmas::open_plain(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let sqlite = BackupError::sqlite(to);
    // Synced once, at the end.
    target
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
        .map_err(&sqlite)?;
    let copied =
        Backup::new(&source, &mut target).and_then(|backup| backup.step(-1)).map_err(&sqlite)?;
    if copied != StepResult::Done {
        return Err(BackupError::InUse(database.to_owned()));
    }
    // The copy says that it has a log, as its source does.
    target.execute_batch("PRAGMA journal_mode = DELETE").map_err(&sqlite)?;
    target.close().map_err(|(_, error)| sqlite(error))
}

/// Checks a copy thoroughly and leaves it a single file; gives back its
/// schema version and the rows of each table.
fn check(path: &Path) -> Result<(i64, BTreeMap<String, u64>)> {
    let connection = pragmas::open_plain(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let sqlite = BackupError::sqlite(path);
    connection.execute_batch("PRAGMA journal_mode = DELETE").map_err(&sqlite)?;
    let Some(version) = migrate::stamp(&connection, path)? else {
        return Err(BackupError::Empty(path.to_owned()));
    };
    if let Some(detail) = first_fault(&connection).map_err(&sqlite)? {
        return Err(BackupError::Damaged { path: path.to_owned(), detail });
    }
    let rows = count_rows(&connection).map_err(&sqlite)?;
    connection.close().map_err(|(_, error)| sqlite(error))?;
    Ok((version, rows))
}

fn first_fault(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let integrity: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if integrity != "ok" {
        return Ok(Some(integrity));
    }
    let mut keys = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = keys.query([])?;
    Ok(match rows.next()? {
        Some(row) => {
            let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
            Some(format!("a row of {table} refers to no row of {parent}"))
        }
        None => None,
    })
}

/// Rows of each table; search indexes repeat what stands in one.
fn count_rows(connection: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
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
fn digest(path: &Path) -> Result<(u64, [u8; 32])> {
    let read = || -> std::io::Result<(u64, [u8; 32])> {
        let mut file = File::open(path)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        let mut bytes = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            bytes += read as u64;
        }
        Ok((bytes, hasher.finalize().into()))
    };
    read().map_err(BackupError::io("read", path))
}

/// Writes the manifest under its temporary name, which it gives back.
fn write_manifest(report: &Report, to: &Path) -> Result<PathBuf> {
    let path = beside(to, ".json.partial");
    let write = || -> std::io::Result<()> {
        let mut file =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        serde_json::to_writer_pretty(&file, report)?;
        file.write_all(b"\n")?;
        file.sync_all()
    };
    write().map_err(BackupError::io("write", &path))?;
    Ok(path)
}

/// Keeps the present database under another name, the log folded in. The
/// database keeps its own name too until it is replaced, so that there is no
/// moment without one.
fn set_aside(database: &Path, now: Instant) -> Result<Option<PathBuf>> {
    if !database.exists() {
        remove_companions(database)?;
        return Ok(None);
    }
    let folded = fold_log(database)?;
    let aside = free_name(database, now);
    std::fs::hard_link(database, &aside)
        // Where the disk knows no links.
        .or_else(|_| std::fs::rename(database, &aside))
        .map_err(BackupError::io("set aside", database))?;
    if !folded {
        let log = beside(database, "-wal");
        if log.exists() {
            rename(&log, &beside(&aside, "-wal"))?;
        }
    }
    remove_companions(database)?;
    Ok(Some(aside))
}

/// Folds the log of the present database into it; false when it is too
/// damaged for that.
fn fold_log(database: &Path) -> Result<bool> {
    let folded = pragmas::open_plain(database, OpenFlags::SQLITE_OPEN_READ_WRITE).ok().and_then(
        |connection| {
            let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
            let busy: rusqlite::Result<i64> = connection.query_row(fold, [], |row| row.get(0));
            busy.ok()
        },
    );
    // The last connection removes the log, so whoever still has one is not us.
    if folded == Some(1) || (folded.is_some() && beside(database, "-wal").exists()) {
        return Err(BackupError::InUse(database.to_owned()));
    }
    Ok(folded.is_some())
}

/// `<database>.before-restore-YYYYMMDD-HHMMSS`, with a number behind it when
/// that is taken.
fn free_name(database: &Path, now: Instant) -> PathBuf {
    let digits: String = now.rfc3339().chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    let name = beside(database, &format!(".before-restore-{day}-{time}"));
    let others = (2_u32..).map(|number| beside(&name, &format!("-{number}")));
    std::iter::once(name.clone())
        .chain(others)
        .find(|candidate| !candidate.exists())
        .unwrap_or(name)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let copy = || -> std::io::Result<()> {
        let mut source = File::open(from)?;
        let mut target =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(to)?;
        std::io::copy(&mut source, &mut target)?;
        target.sync_all()
    };
    copy().map_err(BackupError::io("copy to", to))
}

fn refuse_same(database: &Path, other: &Path) -> Result<()> {
    let same = match (std::fs::metadata(database), std::fs::metadata(other)) {
        (Ok(a), Ok(b)) => a.ino() == b.ino() && a.dev() == b.dev(),
        _ => database == other,
    };
    if same {
        return Err(BackupError::SameFile(other.to_owned()));
    }
    Ok(())
}

/// Removes the files that SQLite keeps beside a database.
fn remove_companions(path: &Path) -> Result<()> {
    for suffix in ["-wal", "-shm", "-journal"] {
        let companion = beside(path, suffix);
        match std::fs::remove_file(&companion) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(BackupError::io("remove", &companion)(error)),
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(BackupError::io("rename to", to))
}

/// A new name is on the disk only after its folder is.
fn sync_folder(path: &Path) -> Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::io("sync", folder))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
