//! Teachers in the database.

use super::{Load, Teacher};
use crate::db::{ReadTx, Record as _, Result};

/// All teachers, by name.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<Teacher>> {
    tx.records("FROM teacher ORDER BY name COLLATE NOCASE, teacher_id", [])
}

/// Ids and names, by name.
pub fn names(tx: &ReadTx<'_>) -> Result<Vec<(i64, String)>> {
    tx.tuples("SELECT teacher_id, name FROM teacher ORDER BY name COLLATE NOCASE, teacher_id", [])
}

/// How many lessons and meets a teacher has.
pub fn load(tx: &ReadTx<'_>, id: i64) -> Result<Load> {
    tx.one(&format!("SELECT {}", Load::COLUMNS), [id], Load::read)
}
