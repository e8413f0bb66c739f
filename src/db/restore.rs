//! Replacing the database with a copy.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::OpenFlags;

use super::backup::{
    BackupError, Checked, Partial, Result, dated, examine, refuse_same, remove_companions, rename,
    sync_folder,
};
use super::copying::{Making, SYNC_BYTES, require};
use super::lock::LockFile;
use super::manifest::{Manifest, sha256_of};
use super::soundness::Depth;
use super::{OpenError, access, alarm, count, file_size, migrate, pragmas, read_without_traces};
use crate::base::files::{beside, give_to_owner_of};
use crate::base::{Clock, Instant, Stop, shortened};

/// What [`restore`] did.
#[derive(Debug)]
pub struct Restored {
    /// Where the replaced database is now; `None` when there was none.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the lines tell it to people; tests read it here")
    )]
    pub aside: Option<PathBuf>,
    /// What was done and how to undo it, one sentence in each line.
    pub lines: Vec<String>,
}

/// Puts the copy `file` in the place of the database at `database`.
///
/// The copy is checked first. The present database is kept beside it under a
/// name with the time, with the content of its log. Refused while a server or a
/// command has the database open.
pub fn restore(file: &Path, database: &Path, clock: &Clock) -> Result<Restored> {
    restore_as(file, database, &Making::plain(clock))
}

/// The same beside a service that works, if it is to be gentle.
pub fn restore_as(file: &Path, database: &Path, making: &Making<'_>) -> Result<Restored> {
    pragmas::check_version()?;
    refuse_same(database, file)?;
    require_copy(file)?;
    let (_lock, _) = LockFile::take(database)?;
    let incoming = Partial::claim(database)?;
    copy_file(file, &incoming.path, making)?;
    if file_size(&beside(file, "-wal")) > 0 {
        copy_file(&beside(file, "-wal"), &beside(&incoming.path, "-wal"), making)?;
    }
    let has_manifest = compare_with_manifest(file, &incoming.path, making.stop)?;
    let checked = examine(&incoming.path, making).map_err(|error| unfit(error, file))?;
    let Checked { schema: version, rows, .. } = checked;
    if database.exists() {
        // Another account may run this, and the service's own must still be able to write.
        give_to_owner_of(&incoming.file, database)
            .map_err(BackupError::io("change the owner of", &incoming.path))?;
    }
    let aside = set_aside(database, making.clock.now())?;
    incoming.finish(database)?;
    // What was known of the replaced database does not hold for this one.
    count::forget(database);
    alarm::forget_all(database);
    sync_folder(database)?;

    let rows: u64 = rows.values().sum();
    let mut lines = vec![format!(
        "{} is now the content of {} (schema version {version}, {rows} rows).",
        database.display(),
        file.display()
    )];
    let manifest = Manifest::path(file);
    lines.push(if has_manifest {
        format!("It is as its manifest {} says.", manifest.display())
    } else {
        format!(
            "It has no manifest ({}), so only its own soundness was checked.",
            manifest.display()
        )
    });
    if let Some(aside) = &aside {
        lines.push(format!("The replaced database is {}.", aside.display()));
        lines.push(match unrestorable(aside) {
            None => format!("To undo this: seller-platform restore {}", aside.display()),
            Some(why) => format!(
                "It {why}, so `restore` would refuse it; it is kept for whoever can read what is left in it."
            ),
        });
    }
    Ok(Restored { aside, lines })
}

/// Refuses a copy that is not what its manifest says; whether it has one.
/// `incoming` has the same bytes.
fn compare_with_manifest(file: &Path, incoming: &Path, stop: Option<&Stop>) -> Result<bool> {
    let why = match Manifest::of(file) {
        Ok(None) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            "has a manifest without a SHA-256".to_owned()
        }
        Err(error) => format!("has a manifest that cannot be read ({error})"),
        Ok(Some(manifest)) => {
            let found = sha256_of(incoming, stop)?;
            if manifest.is_of(&found) {
                return Ok(true);
            }
            format!(
                "is not what its manifest says (SHA-256 {found} instead of {})",
                shortened(&manifest.sha256, 64)
            )
        }
    };
    let advice = "it was not used; take another copy, or move the manifest away to restore this one without it";
    Err(BackupError::Unfit { file: file.to_owned(), why, advice })
}

/// Why `restore` would refuse a file, for a sentence; `None` when it would not.
fn unrestorable(file: &Path) -> Option<String> {
    let fault = match migrate::version_of_file(file) {
        Ok(Some(_)) => read_without_traces(file, Instant(0), |tx| tx.first_fault(Depth::Whole)),
        Ok(None) => return Some("holds no data".to_owned()),
        Err(error) => Err(error),
    };
    let fault = fault.map_err(|error| match unfit(error.into(), file) {
        BackupError::Unfit { why, .. } => why,
        other => format!("cannot be read ({other})"),
    });
    match fault {
        Ok(fault) => fault.map(|detail| format!("is damaged ({})", detail.replace('\n', " "))),
        Err(why) => Some(why),
    }
}

/// Refuses a file whose first bytes show that it is not a copy.
pub fn require_copy(file: &Path) -> Result<()> {
    migrate::refuse_by_header(file).map_err(|error| unfit(error.into(), file))
}

/// Why `file` cannot be restored.
fn unfit(error: BackupError, file: &Path) -> BackupError {
    const OTHER: &str = "name a file that `seller-platform backup` made";
    const EARLIER: &str = "it was not used; take an earlier copy";
    const NEWER: &str = "restore it with the newer program";
    let (why, advice) = match error {
        BackupError::Damaged { detail, .. } => (format!("is damaged ({detail})"), EARLIER),
        BackupError::Empty(_) => ("holds no data".to_owned(), OTHER),
        BackupError::Sqlite { cause, .. } => (format!("cannot be read ({cause})"), EARLIER),
        BackupError::Open(error) => match *error {
            OpenError::Missing(_) | OpenError::NoFolder(_) => ("does not exist".to_owned(), OTHER),
            OpenError::NotADatabase(_) if file.is_dir() => {
                ("is a folder".to_owned(), "name a file in it that `seller-platform backup` made")
            }
            OpenError::NotADatabase(_) => ("is not a SQLite database".to_owned(), OTHER),
            OpenError::Foreign(_) => ("is a database of another program".to_owned(), OTHER),
            OpenError::Damaged { detail, .. } => (format!("is damaged ({detail})"), EARLIER),
            OpenError::Newer { file: version, program, .. } => {
                let why = format!("has schema version {version}, this program knows {program}");
                (why, NEWER)
            }
            OpenError::Io { cause, .. } => {
                (format!("cannot be read ({cause})"), "check its owner and mode")
            }
            OpenError::Sqlite { cause, .. } => (format!("cannot be read ({cause})"), EARLIER),
            other => return BackupError::Open(Box::new(other)),
        },
        other => return other,
    };
    BackupError::Unfit { file: file.to_owned(), why, advice }
}

/// Keeps the present database under another name, with the content of its log.
/// It keeps its own name too until it is replaced, so that there is a database
/// at every moment.
fn set_aside(database: &Path, now: Instant) -> Result<Option<PathBuf>> {
    if !database.exists() {
        remove_companions(database)?;
        return Ok(None);
    }
    let folded = fold_log(database)?;
    let aside = dated(database, ".before-restore-", "", now);
    std::fs::hard_link(database, &aside)
        // For file systems without hard links.
        .or_else(|_| std::fs::rename(database, &aside))
        .map_err(BackupError::io("set aside", database))?;
    if !folded {
        for suffix in ["-wal", "-journal"] {
            let log = beside(database, suffix);
            if log.exists() {
                rename(&log, &beside(&aside, suffix))?;
            }
        }
    }
    remove_companions(database)?;
    Ok(Some(aside))
}

/// Moves the content of the log into the present database, or undoes by its journal
/// what was cut off; false when it is too damaged for that.
fn fold_log(database: &Path) -> Result<bool> {
    let folded = pragmas::open_plain(database, OpenFlags::SQLITE_OPEN_READ_WRITE).ok().and_then(
        |connection| {
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).ok()?;
            let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
            let busy: rusqlite::Result<i64> = connection.query_row(fold, [], |row| row.get(0));
            busy.ok()
        },
    );
    // The last connection removes the log. If it is still there, another program
    // has the database open.
    if folded == Some(1) || (folded.is_some() && beside(database, "-wal").exists()) {
        return Err(BackupError::InUse(database.to_owned()));
    }
    Ok(folded.is_some())
}

fn copy_file(from: &Path, to: &Path, making: &Making<'_>) -> Result<()> {
    let failed = |cause| BackupError::io("copy to", to)(cause);
    let source = File::open(from).map_err(failed)?;
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(access::no_link());
    let mut target = options.open(to).map_err(failed)?;
    loop {
        making.goes_on()?;
        let piece = &mut (&source).take(SYNC_BYTES);
        if std::io::copy(piece, &mut target).map_err(failed)? < SYNC_BYTES {
            return target.sync_all().map_err(failed);
        }
        // In one piece at the end, it would hold up the syncs of the service's writer.
        if making.is_gentle {
            target.sync_data().map_err(failed)?;
            require(0, to)?;
        }
    }
}
