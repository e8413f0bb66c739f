//! Plans in the database.

use super::Plan;
use crate::db::{ReadTx, Result};

/// Plans on sale, the cheapest first.
pub fn active_plans(tx: &ReadTx<'_>) -> Result<Vec<Plan>> {
    tx.records("FROM plan WHERE active = 1 ORDER BY price_cents, plan_id", [])
}

/// The plan with a slug.
pub fn holder(tx: &ReadTx<'_>, slug: &str) -> Result<Option<i64>> {
    tx.maybe("SELECT plan_id FROM plan WHERE slug = ?1", [slug])
}
