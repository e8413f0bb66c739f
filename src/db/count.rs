//! The number of commits: a row in the database, and the same number in a file
//! beside it.
//!
//! The file is written after each commit and not synced: it survives the end of
//! the process, and after a power cut it is at most behind. So when a start finds
//! a smaller number in the database than in the file, commits are missing that
//! were answered: their log was removed or damaged. A clean stop removes the file.

use std::fs::File;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::base::Instant;
use crate::base::files::beside;

/// End of the file's name.
pub const SUFFIX: &str = ".commits";
/// The row of `setting`.
const ROW: &str = "commits";

/// The file beside the database, and whether it is the server's.
pub struct CountFile(Option<File>, bool);

impl CountFile {
    /// Opens the file of the database at `path`; the server makes it when it is missing.
    pub fn open(path: &Path, make: bool) -> Self {
        let file = File::options()
            .read(true)
            .write(true)
            .create(make)
            .truncate(false)
            .mode(0o600)
            .open(beside(path, SUFFIX));
        Self(file.ok(), make)
    }

    /// Writes the number.
    pub fn note(&self, commits: i64) {
        let mut before = [0; 20];
        if let Some(file) = &self.0 {
            // A command that runs before the next start must not hide a loss.
            if !self.1 && file.read_exact_at(&mut before, 0).is_ok() {
                let before = std::str::from_utf8(&before).ok().and_then(|text| text.parse().ok());
                if before.is_some_and(|before: i64| before > commits) {
                    return;
                }
            }
            // On a full disk the number stays behind, which hides a loss at most.
            let _ = file.write_all_at(format!("{commits:020}\n").as_bytes(), 0);
        }
    }
}

/// The number in the file beside the database at `path`.
pub fn noted(path: &Path) -> Option<i64> {
    std::fs::read_to_string(beside(path, SUFFIX)).ok()?.trim().parse().ok()
}

/// Forgets the number: the database was stopped cleanly or replaced.
pub fn forget(path: &Path) {
    let _ = std::fs::remove_file(beside(path, SUFFIX));
}

/// The number in the database; 0 when nothing was counted yet.
pub fn stored(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT CAST(value AS INTEGER) FROM setting WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([ROW], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Counts the commit that is under way; returns its number.
pub fn raise(connection: &Connection, now: Instant) -> rusqlite::Result<i64> {
    let commits = stored(connection)? + 1;
    let sql = "INSERT INTO setting (name, value, updated_at)
               VALUES (?1, CAST(CAST(?2 AS TEXT) AS BLOB), ?3)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    connection.prepare_cached(sql)?.execute((ROW, commits, now.0))?;
    Ok(commits)
}
