//! Plans in the database.

use super::{Plan, PlanEntry};
use crate::content::store::{Topic, containing, note_change};
use crate::db::{Filters, ReadTx, Result, WriteTx, sorted};
use crate::row;

row!(stored PlanEntry {
    slug,
    title,
    price = "price_cents",
    currency,
    period,
    benefits,
    checkout_link,
    active,
});

/// Plans on sale, the cheapest first.
pub fn active_plans(tx: &ReadTx<'_>) -> Result<Vec<Plan>> {
    tx.records("FROM plan WHERE active = 1 ORDER BY price_cents, plan_id", [])
}

/// One page of all plans whose title or slug contains a text, with the total.
pub fn page(
    tx: &ReadTx<'_>,
    search: &str,
    by_title: bool,
    descending: bool,
    window: (u32, u32),
) -> Result<(Vec<Plan>, u64)> {
    let pattern = containing(search);
    let filters = Filters::new(
        "(title LIKE ?1 ESCAPE '\\' OR slug LIKE ?1 ESCAPE '\\')",
        &[("?1", &pattern)],
    );
    let order = if by_title { "title COLLATE NOCASE, plan_id" } else { "price_cents, plan_id" };
    filters.page(tx, ("plan", ""), &sorted(order, descending), window)
}

pub fn plan(tx: &ReadTx<'_>, id: i64) -> Result<Option<Plan>> {
    tx.record("FROM plan WHERE plan_id = ?1", [id])
}

/// Whether another plan has this slug.
fn is_taken(tx: &ReadTx<'_>, slug: &str, own: Option<i64>) -> Result<bool> {
    let holder: Option<i64> = tx.maybe("SELECT plan_id FROM plan WHERE slug = ?1", [slug])?;
    Ok(holder.is_some() && holder != own)
}

/// Makes a plan; `None` when its slug is taken.
pub fn insert(tx: &WriteTx<'_>, entry: &PlanEntry) -> Result<Option<i64>> {
    if is_taken(tx, &entry.slug, None)? {
        return Ok(None);
    }
    let now = tx.now();
    let id = tx.put("INSERT INTO plan", entry, &[("created_at", &now), ("updated_at", &now)])?;
    note_change(tx, Topic::Plans)?;
    Ok(Some(id))
}

/// Changes a plan; false when its slug is taken.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &PlanEntry) -> Result<bool> {
    if is_taken(tx, &entry.slug, Some(id))? {
        return Ok(false);
    }
    tx.change("plan", entry, &[("updated_at", &tx.now())], &[("plan_id", &id)])?;
    note_change(tx, Topic::Plans)?;
    Ok(true)
}

/// Removes a plan.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.execute("DELETE FROM plan WHERE plan_id = ?1", [id])?;
    note_change(tx, Topic::Plans)
}
