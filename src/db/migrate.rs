//! Making the file and bringing older ones to this program's schema.
//!
//! `schema.sql` is the truth for a new file. Older files run the numbered
//! steps of `migrations/`, each in a transaction with its stamp, after a
//! verified backup copy beside the file. There are no steps back: restore
//! that copy. A file of a newer program is refused before anything touches it.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OpenFlags};

use super::backup::BackupError;
use super::look::read_without_traces;
use super::{DbError, OpenError, access, backup, beside, copying, file_size, lock, pragmas};
use crate::base::{Clock, Instant, Stop, chain, text};

/// The whole schema of this version.
pub const SCHEMA: &str = include_str!("../../schema.sql");

/// Marks a SQLite file as ours: `SPLT`.
pub(super) const APPLICATION_ID: i64 = 0x5350_4C54;

/// One step of the schema. The first leads to version 2.
pub(super) struct Step {
    /// File name without ending, such as `0002_student_suspension`.
    pub name: &'static str,
    pub sql: &'static str,
}

/// All steps since the first release, in order; never edited afterwards. The list
/// is made from the files of `migrations/` when the program is built.
pub(super) const STEPS: &[Step] = &include!(concat!(env!("OUT_DIR"), "/steps.rs"));

/// Schema version of this program.
pub const VERSION: i64 = 1 + STEPS.len().cast_signed() as i64;

/// Brings the file at `path` to this version, under the lock of a server;
/// returns a line for each thing done. For the `migrate` command.
pub fn up(path: &Path, clock: &Clock) -> Result<Vec<String>, OpenError> {
    pragmas::check_version()?;
    if path.exists() && version_of_file(path)? == Some(VERSION) {
        // Nothing to do, also beside a running server.
        return Ok(Vec::new());
    }
    let _lock = lock::LockFile::take(path)?;
    bring_up(path, clock)
}

/// What `up` would do: the present version, then a line for each step to come.
pub fn status(path: &Path) -> Result<Vec<String>, OpenError> {
    let Some(version) = version_of_file(path)? else {
        return Ok(vec![format!("no schema yet; version {VERSION} to come")]);
    };
    let mut lines = vec![format!("schema version {version} of {VERSION}")];
    lines.extend(steps_after(version, STEPS).iter().map(|step| format!("to come: {}", step.name)));
    Ok(lines)
}

/// Refuses a file that is missing, of another version, or not ours.
pub fn require_current(path: &Path) -> Result<(), OpenError> {
    refuse_by_header(path)?;
    access::require_writable(path)?;
    match version_of_file(path)? {
        Some(VERSION) => Ok(()),
        other => Err(OpenError::Older {
            path: path.to_owned(),
            file: other.unwrap_or(0),
            program: VERSION,
        }),
    }
}

/// Refuses a path where there is no file.
pub fn require_present(path: &Path) -> Result<(), OpenError> {
    if path.exists() {
        return Ok(());
    }
    // This returns an error that says what is missing.
    refuse_by_header(path)
}

/// Makes or migrates the file at `path`. The caller holds the lock.
pub(super) fn bring_up(path: &Path, clock: &Clock) -> Result<Vec<String>, OpenError> {
    match refuse_by_header(path) {
        Ok(()) => {}
        Err(OpenError::Missing(_)) => make_file(path)?,
        Err(error) => return Err(error),
    }
    access::require_writable(path)?;
    let mut connection = pragmas::open_plain(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let Some(version) = stamp(&connection, path)? else {
        in_transaction(&mut connection, SCHEMA, VERSION)
            .map_err(|detail| step_failed(&connection, path, "schema.sql", detail))?;
        return Ok(vec![format!("created with schema version {VERSION}")]);
    };
    apply(&mut connection, path, steps_after(version, STEPS), clock)
}

/// Runs `steps` on a file, after a backup copy of it.
pub(super) fn apply(
    connection: &mut Connection,
    path: &Path,
    steps: &[Step],
    clock: &Clock,
) -> Result<Vec<String>, OpenError> {
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let from = stamp(connection, path)?.unwrap_or(0);
    let copy = copy_path(path, from + 1);
    backup::make(path, &copy, &copying::Making::plain(clock))?;
    let mut done = vec![format!("backup copy in {}", copy.display())];
    done.extend(run(connection, path, from, steps)?);
    Ok(done)
}

/// Brings a file that is only tried to this version: without a copy first, and
/// without syncs. Fails when `stop` is set meanwhile.
pub fn try_up(path: &Path, stop: &Stop) -> Result<(), BackupError> {
    let mut connection = pragmas::open_plain(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let looks = stop.clone();
    connection
        .progress_handler(copying::LOOK_AFTER, Some(move || looks.is_set()))
        .and_then(|()| connection.execute_batch("PRAGMA synchronous = OFF"))
        .map_err(OpenError::sqlite(path))?;
    let version = stamp(&connection, path)?.unwrap_or(VERSION);
    for (step, from) in steps_after(version, STEPS).iter().zip(version..) {
        copying::goes_on(Some(stop))?;
        run(&mut connection, path, from, std::slice::from_ref(step))?;
    }
    Ok(())
}

/// Runs the steps that come after a version; a line for each.
fn run(
    connection: &mut Connection,
    path: &Path,
    from: i64,
    steps: &[Step],
) -> Result<Vec<String>, OpenError> {
    let mut done = Vec::new();
    for (step, version) in steps.iter().zip(from + 1..) {
        in_transaction(connection, step.sql, version)
            .map_err(|detail| step_failed(connection, path, step.name, detail))?;
        done.push(format!("{} applied, now version {version}", step.name));
    }
    Ok(done)
}

/// Runs a script and stamps the version, both or neither.
///
/// Foreign keys are off meanwhile, because a table that is rebuilt is missing
/// for a moment; they are checked before the commit.
pub(super) fn in_transaction(
    connection: &mut Connection,
    sql: &str,
    version: i64,
) -> Result<(), String> {
    let run = |connection: &mut Connection| -> rusqlite::Result<bool> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        // For migration steps: an e-mail address in the form that is stored today.
        connection.create_scalar_function("stored_email", 1, flags, |call| {
            let typed: String = call.get(0)?;
            Ok(text::email(&typed).unwrap_or(typed))
        })?;
        connection.create_scalar_function("audit_link", 16, flags, audit_link)?;
        connection.execute_batch("PRAGMA foreign_keys = OFF")?;
        let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", version)?;
        let sound = !tx.prepare("PRAGMA foreign_key_check")?.exists([])?;
        if sound {
            tx.commit()?;
        }
        Ok(sound)
    };
    let outcome = run(connection);
    let restored = connection.execute_batch("PRAGMA foreign_keys = ON");
    match (outcome, restored) {
        (Ok(true), Ok(())) => Ok(()),
        (Ok(false), _) => Err("it leaves rows that refer to nothing".to_owned()),
        (Err(error), _) | (_, Err(error)) => Err(DbError::from(error).to_string()),
    }
}

/// For migration steps: the hash of an entry of the audit log.
fn audit_link(call: &Context<'_>) -> rusqlite::Result<Vec<u8>> {
    let text = |index| call.get_raw(index).as_str();
    let maybe = |index| call.get_raw(index).as_str_or_null();
    let previous = call.get_raw(0).as_blob()?.try_into();
    let fields = chain::FixedFields {
        number: call.get(1)?,
        at: call.get(2)?,
        actor_kind: text(3)?,
        actor_id: call.get(4)?,
        action: text(5)?,
        object_kind: text(6)?,
        object_id: text(7)?,
    };
    let part = |seal, first| -> rusqlite::Result<chain::Link> {
        let words = [maybe(first)?, maybe(first + 1)?, maybe(first + 2)?];
        let digest = chain::digest(call.get_raw(seal).as_blob()?, &words);
        Ok(digest.ok_or(FromSqlError::InvalidType)?)
    };
    let previous = previous.map_err(|_| FromSqlError::InvalidType)?;
    Ok(chain::link(&previous, &fields, [&part(8, 9)?, &part(12, 13)?]).to_vec())
}

fn steps_after(version: i64, steps: &[Step]) -> &[Step] {
    let done = usize::try_from(version - 1).unwrap_or(0);
    steps.get(done..).unwrap_or(&[])
}

fn copy_path(path: &Path, version: i64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.before-v{version}.db"))
}

/// After a write that the disk refused, SQLite undoes the change when the file is read again.
fn step_failed(connection: &Connection, path: &Path, step: &str, detail: String) -> OpenError {
    let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    let outcome = if read.is_ok() { "was undone" } else { "is undone at the next start" };
    OpenError::Migration { path: path.to_owned(), step: step.to_owned(), outcome, detail }
}

/// Undoes a change that a kill or a full disk has cut off, as its rollback journal shows.
/// Without it the file alone would look damaged.
pub fn undo_unfinished(path: &Path) -> Result<(), OpenError> {
    if file_size(&beside(path, "-journal")) == 0 {
        return Ok(());
    }
    match refuse_by_header(path) {
        // Perhaps the unfinished change is the migration to that newer version.
        Ok(()) | Err(OpenError::Newer { .. }) => {}
        // What is not ours stays as it is, and is refused later.
        Err(_) => return Ok(()),
    }
    access::require_writable(path)?;
    let connection = pragmas::open_plain(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    read.map_err(|error| OpenError::of(path, error.into()))
}

/// Version of the file at `path`, `None` while it holds nothing. Leaves
/// nothing behind.
pub(super) fn version_of_file(path: &Path) -> Result<Option<i64>, OpenError> {
    // The version does not depend on the time.
    let found = read_without_traces(path, Instant(0), |tx| Ok(read_stamp(tx.connection())?))?;
    judge_stamp(path, found)
}

/// The stamp as SQLite sees it, the log included: `None` for an empty
/// database; an error for a foreign or newer one.
pub(super) fn stamp(connection: &Connection, path: &Path) -> Result<Option<i64>, OpenError> {
    let found = read_stamp(connection).map_err(OpenError::sqlite(path))?;
    judge_stamp(path, found)
}

/// What a file says of itself.
struct Stamp {
    application: i64,
    version: i64,
    has_tables: bool,
}

fn read_stamp(connection: &Connection) -> rusqlite::Result<Stamp> {
    Ok(Stamp {
        application: connection.pragma_query_value(None, "application_id", |row| row.get(0))?,
        version: connection.pragma_query_value(None, "user_version", |row| row.get(0))?,
        has_tables: connection.prepare("SELECT 1 FROM sqlite_schema")?.exists([])?,
    })
}

fn judge_stamp(
    path: &Path,
    Stamp { application, version, has_tables }: Stamp,
) -> Result<Option<i64>, OpenError> {
    if application == 0 && version == 0 && !has_tables {
        return Ok(None);
    }
    judge(path, application, version)?;
    Ok(Some(version))
}

fn judge(path: &Path, application: i64, version: i64) -> Result<(), OpenError> {
    if application != APPLICATION_ID {
        return Err(OpenError::Foreign(path.to_owned()));
    }
    if version > VERSION {
        return Err(OpenError::Newer { path: path.to_owned(), file: version, program: VERSION });
    }
    Ok(())
}

/// Refuses a file by its first bytes where these suffice. SQLite then never opens
/// it, so neither the file nor anything beside it changes. [`stamp`] checks what
/// they do not show: a log that was not moved into the file yet.
pub(super) fn refuse_by_header(path: &Path) -> Result<(), OpenError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            return Err(if folder.is_none_or(Path::exists) {
                OpenError::Missing(path.to_owned())
            } else {
                OpenError::NoFolder(path.to_owned())
            });
        }
        Err(error) => return Err(OpenError::io("read", path)(error)),
    };
    let metadata = file.metadata().map_err(OpenError::io("read", path))?;
    if metadata.len() == 0 && metadata.is_file() {
        return Ok(());
    }
    let mut header = [0; 100];
    if !metadata.is_file()
        || file.read_exact(&mut header).is_err()
        || !header.starts_with(b"SQLite format 3\0")
    {
        return Err(OpenError::NotADatabase(path.to_owned()));
    }
    let number = |at: usize| {
        i64::from(i32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]))
    };
    let settled =
        file_size(&beside(path, "-wal")) == 0 && file_size(&beside(path, "-journal")) == 0;
    if settled && metadata.len() < expected_size(&header) {
        return Err(OpenError::Damaged {
            path: path.to_owned(),
            detail: "the file is shorter than it says".to_owned(),
        });
    }
    let (version, application) = (number(60), number(68));
    if application == 0 && version == 0 {
        return Ok(());
    }
    judge(path, application, version)
}

/// Size that the header of a database promises; 0 when it does not say.
fn expected_size(header: &[u8; 100]) -> u64 {
    // The page count is only right when both counters agree.
    if header[24..28] != header[92..96] {
        return 0;
    }
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
    page * u64::from(pages)
}

/// Makes an empty file that only its owner can read. The log beside it
/// inherits the mode.
fn make_file(path: &Path) -> Result<(), OpenError> {
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map(|_| ())
        .map_err(|cause| access::not_writable(path, path, "create", cause))
}
