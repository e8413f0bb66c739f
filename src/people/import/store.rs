//! Imports in the database: what was sent, and what became of each row.

use super::{Counts, Row};
use crate::base::clock::Instant;
use crate::db::{ReadTx, Result, WriteTx};

/// Imports that are kept, for looking back; they hold people's data.
const KEPT: i64 = 20;
/// How long.
const KEPT_S: i64 = 7 * 86_400;

/// An import without its rows.
#[derive(Clone, Debug)]
pub struct Import {
    pub id: i64,
    pub file_name: String,
    /// Who sent it.
    pub by_name: String,
    pub created_at: Instant,
    /// When its students were made; `None` before.
    pub done_at: Option<Instant>,
    pub counts: Counts,
}

/// Keeps what was checked; imports that are old go.
pub fn insert(tx: &WriteTx<'_>, file_name: &str, by_name: &str, rows: &[Row]) -> Result<i64> {
    let now = tx.now();
    tx.execute(
        "DELETE FROM student_import
         WHERE created_at < ?1
            OR import_id NOT IN (SELECT import_id FROM student_import ORDER BY import_id DESC LIMIT ?2)",
        (now.minus(KEPT_S).0, KEPT - 1),
    )?;
    let counts = Counts::of(rows);
    tx.insert(
        "INSERT INTO student_import (file_name, by_name, created_at, total, to_make, made, existing, faulty, rows)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8)",
        (
            file_name,
            by_name,
            now.0,
            number(counts.total),
            number(counts.to_make),
            number(counts.existing),
            number(counts.faulty),
            json(rows),
        ),
    )
}

/// Stores what became of the rows.
pub fn finish(tx: &WriteTx<'_>, id: i64, rows: &[Row]) -> Result<()> {
    let counts = Counts::of(rows);
    tx.execute(
        "UPDATE student_import SET done_at = ?2, to_make = 0, made = ?3, existing = ?4, faulty = ?5, rows = ?6
         WHERE import_id = ?1",
        (
            id,
            tx.now().0,
            number(counts.made),
            number(counts.existing),
            number(counts.faulty),
            json(rows),
        ),
    )?;
    Ok(())
}

const IMPORT: &str =
    "import_id, file_name, by_name, created_at, done_at, total, to_make, made, existing, faulty";

fn import(row: &rusqlite::Row<'_>) -> rusqlite::Result<Import> {
    let count =
        |column| Ok::<_, rusqlite::Error>(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(0));
    Ok(Import {
        id: row.get(0)?,
        file_name: row.get(1)?,
        by_name: row.get(2)?,
        created_at: row.get(3)?,
        done_at: row.get(4)?,
        counts: Counts {
            total: count(5)?,
            to_make: count(6)?,
            made: count(7)?,
            existing: count(8)?,
            faulty: count(9)?,
        },
    })
}

/// The newest imports.
pub fn newest(tx: &ReadTx<'_>) -> Result<Vec<Import>> {
    tx.all(
        &format!("SELECT {IMPORT} FROM student_import ORDER BY import_id DESC LIMIT ?1"),
        [KEPT],
        import,
    )
}

/// One import.
pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Import>> {
    tx.optional(&format!("SELECT {IMPORT} FROM student_import WHERE import_id = ?1"), [id], import)
}

/// The rows of an import.
pub fn rows(tx: &ReadTx<'_>, id: i64) -> Result<Option<Vec<Row>>> {
    tx.optional("SELECT rows FROM student_import WHERE import_id = ?1", [id], |row| {
        serde_json::from_str(row.get_ref(0)?.as_str()?).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
        })
    })
}

/// Removes an import; what it made stays.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    Ok(tx.execute("DELETE FROM student_import WHERE import_id = ?1", [id])? == 1)
}

/// Whether an address has an account.
pub fn has_account(tx: &ReadTx<'_>, email: &str) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM user WHERE email = ?1)", [email])
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn json(rows: &[Row]) -> String {
    serde_json::to_string(rows).expect("plain values become JSON")
}
