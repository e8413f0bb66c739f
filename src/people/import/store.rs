//! Imports in the database: the rows that were sent, and their outcomes.

use serde::{Deserialize, Serialize};

use super::{Counts, Row};
use crate::base::{Instant, grouped};
use crate::db::{Json, ReadTx, Result, WriteTx};
use crate::row;

/// Most imports that are kept for reference; they hold people's data.
const KEPT: i64 = 20;
const KEPT_S: i64 = 7 * 86_400;

row! {
    /// An import without its rows.
    #[derive(Clone, Debug)]
    pub struct Import {
        pub id: i64 = "import_id",
        pub file_name: String,
        /// Who sent it.
        pub by_name: String,
        pub created_at: Instant,
        /// When its students were made; `None` before.
        pub done_at: Option<Instant>,
        /// Whether its students are being made or were made.
        pub is_begun: bool = "begun_by IS NOT NULL",
        pub counts: Counts as row,
    }
}

impl Import {
    /// `12 a importar, 3 já existem, 1 com erro`.
    pub fn told(&self) -> String {
        let counts = self.counts;
        let part =
            |count: u32, words: &str| (count > 0).then(|| format!("{} {words}", grouped(count)));
        let parts = [
            part(counts.to_make, "a importar"),
            part(counts.made, if counts.made == 1 { "importado" } else { "importados" }),
            part(counts.existing, if counts.existing == 1 { "já existe" } else { "já existem" }),
            part(counts.faulty, "com erro"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() && self.done_at.is_some() {
            return "nada importado".to_owned();
        }
        parts.join(", ")
    }
}

/// Stores a checked import and removes old ones.
pub fn insert(tx: &WriteTx<'_>, file_name: &str, by_name: &str, rows: &[Row]) -> Result<i64> {
    let now = tx.now();
    tx.execute(
        "DELETE FROM student_import
         WHERE (begun_by IS NULL OR done_at IS NOT NULL) AND (created_at < ?1
            OR import_id NOT IN (SELECT import_id FROM student_import ORDER BY import_id DESC LIMIT ?2))",
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

/// Who had the students of an import made, for the audit log.
#[derive(Clone, Serialize, Deserialize)]
pub struct BegunBy {
    pub id: Option<i64>,
    pub name: String,
    pub address: String,
    pub request_id: String,
}

row! {
    /// An import whose students are being made, and how far that came.
    pub struct UnderWay {
        pub id: i64 = "import_id",
        pub file_name: String,
        pub by: Json<BegunBy> = "begun_by",
        /// Rows that were worked.
        pub position: u32,
        /// Lines whose address got an account before their turn.
        pub late: Json<Vec<usize>>,
    }
}

/// The import whose students are being made.
pub fn under_way(tx: &ReadTx<'_>) -> Result<Option<UnderWay>> {
    tx.record(
        "FROM student_import WHERE begun_by IS NOT NULL AND done_at IS NULL ORDER BY import_id LIMIT 1",
        [],
    )
}

/// Notes that the students of an import are to be made: from then on all are.
/// False when that was noted before.
pub fn begin(tx: &WriteTx<'_>, id: i64, by: BegunBy) -> Result<bool> {
    let begun = tx.execute(
        "UPDATE student_import SET begun_by = ?2 WHERE import_id = ?1 AND begun_by IS NULL",
        (id, Json(by)),
    )?;
    Ok(begun == 1)
}

/// Stores how far an import came.
pub fn move_on(tx: &WriteTx<'_>, id: i64, position: u32, late: &[usize]) -> Result<()> {
    tx.run(
        "UPDATE student_import SET position = ?2, late = ?3 WHERE import_id = ?1",
        (id, position, Json(late)),
    )
}

/// Stores the outcomes of the rows, as JSON.
pub fn finish(tx: &WriteTx<'_>, id: i64, counts: Counts, rows: &str) -> Result<()> {
    tx.change(
        "student_import",
        &Counts { to_make: 0, ..counts },
        &[("done_at", &tx.now()), ("rows", &rows)],
        &[("import_id", &id)],
    )?;
    Ok(())
}

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
