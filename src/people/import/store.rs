//! Imports in the database: the rows that were sent, and their outcomes.

use super::{Counts, Row};
use crate::base::Instant;
use crate::db::{Json, ReadTx, Result, WriteTx};
use crate::row;

/// Most imports that are kept for reference; they hold people's data.
const KEPT: i64 = 20;
/// How long an import is kept.
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

row!(stored Counts { total, to_make, made, existing, faulty });
row!(Import {
    id = "import_id",
    file_name,
    by_name,
    created_at,
    done_at,
    counts as Counts,
});

/// Stores a checked import and removes old ones.
pub fn insert(tx: &WriteTx<'_>, file_name: &str, by_name: &str, rows: &[Row]) -> Result<i64> {
    let now = tx.now();
    tx.execute(
        "DELETE FROM student_import
         WHERE created_at < ?1
            OR import_id NOT IN (SELECT import_id FROM student_import ORDER BY import_id DESC LIMIT ?2)",
        (now.minus(KEPT_S), KEPT - 1),
    )?;
    tx.put(
        "INSERT INTO student_import",
        &Counts::of(rows),
        &[
            ("file_name", &file_name),
            ("by_name", &by_name),
            ("created_at", &now),
            ("rows", &Json(rows)),
        ],
    )
}

/// Stores the outcomes of the rows.
pub fn finish(tx: &WriteTx<'_>, id: i64, rows: &[Row]) -> Result<()> {
    tx.change(
        "student_import",
        &Counts { to_make: 0, ..Counts::of(rows) },
        &[("done_at", &tx.now()), ("rows", &Json(rows))],
        &[("import_id", &id)],
    )?;
    Ok(())
}

/// The newest imports.
pub fn newest(tx: &ReadTx<'_>) -> Result<Vec<Import>> {
    tx.records("FROM student_import ORDER BY import_id DESC LIMIT ?1", [KEPT])
}

pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Import>> {
    tx.record("FROM student_import WHERE import_id = ?1", [id])
}

/// The rows of an import.
pub fn rows(tx: &ReadTx<'_>, id: i64) -> Result<Option<Vec<Row>>> {
    let rows = tx.maybe("SELECT rows FROM student_import WHERE import_id = ?1", [id])?;
    Ok(rows.map(|Json(rows)| rows))
}

/// Removes an import; students that it made stay.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    Ok(tx.execute("DELETE FROM student_import WHERE import_id = ?1", [id])? == 1)
}

/// Whether an address has an account.
pub fn has_account(tx: &ReadTx<'_>, email: &str) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM user WHERE email = ?1)", [email])
}
