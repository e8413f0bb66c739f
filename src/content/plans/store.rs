//! Plans in the database.

use rusqlite::Row;

use super::{Plan, PlanEntry};
use crate::content::store::{Topic, containing, note_change};
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str =
    "plan_id, slug, title, price_cents, currency, period, benefits, checkout_link, active";

/// Plans on sale, the cheapest first.
pub fn active_plans(tx: &ReadTx<'_>) -> Result<Vec<Plan>> {
    tx.all(
        &format!("SELECT {COLUMNS} FROM plan WHERE active = 1 ORDER BY price_cents, plan_id"),
        [],
        read_plan,
    )
}

/// How a list of plans is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    TitleUp,
    TitleDown,
    PriceUp,
    PriceDown,
}

impl Order {
    const fn sql(self) -> &'static str {
        match self {
            Self::TitleUp => "title COLLATE NOCASE, plan_id",
            Self::TitleDown => "title COLLATE NOCASE DESC, plan_id DESC",
            Self::PriceUp => "price_cents, plan_id",
            Self::PriceDown => "price_cents DESC, plan_id DESC",
        }
    }
}

/// One page of all plans whose title or slug contains a text, with their number.
pub fn page(
    tx: &ReadTx<'_>,
    search: &str,
    order: Order,
    limit: u32,
    offset: u32,
) -> Result<(Vec<Plan>, u64)> {
    let pattern = containing(search);
    let matching = "FROM plan WHERE title LIKE ?1 ESCAPE '\\' OR slug LIKE ?1 ESCAPE '\\'";
    let total: i64 = tx.value(&format!("SELECT count(*) {matching}"), [&pattern])?;
    let plans = tx.all(
        &format!("SELECT {COLUMNS} {matching} ORDER BY {} LIMIT ?2 OFFSET ?3", order.sql()),
        (&pattern, limit, offset),
        read_plan,
    )?;
    Ok((plans, u64::try_from(total).unwrap_or(0)))
}

/// One plan.
pub fn plan(tx: &ReadTx<'_>, id: i64) -> Result<Option<Plan>> {
    tx.optional(&format!("SELECT {COLUMNS} FROM plan WHERE plan_id = ?1"), [id], read_plan)
}

/// Makes a plan; `None` when its slug is taken.
pub fn insert(tx: &WriteTx<'_>, entry: &PlanEntry) -> Result<Option<i64>> {
    let made = tx.maybe(
        "INSERT INTO plan
             (slug, title, price_cents, currency, period, benefits, checkout_link, active, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
         ON CONFLICT (slug) DO NOTHING
         RETURNING plan_id",
        rusqlite::params![
            entry.slug,
            entry.title,
            entry.price.0,
            entry.currency,
            entry.period,
            benefits_json(&entry.benefits),
            entry.checkout_link,
            entry.active,
            tx.now().0,
        ]
    )?;
    if made.is_some() {
        note_change(tx, Topic::Plans)?;
    }
    Ok(made)
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    Done,
    NotThere,
    SlugTaken,
}

/// Changes a plan.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &PlanEntry) -> Result<Changed> {
    let other = tx.maybe::<i64>(
        "SELECT plan_id FROM plan WHERE slug = ?1 AND plan_id <> ?2",
        (&entry.slug, id),
    )?;
    if other.is_some() {
        return Ok(Changed::SlugTaken);
    }
    let changed = tx.execute(
        "UPDATE plan
         SET slug = ?2, title = ?3, price_cents = ?4, currency = ?5, period = ?6, benefits = ?7,
             checkout_link = ?8, active = ?9, updated_at = ?10
         WHERE plan_id = ?1",
        rusqlite::params![
            id,
            entry.slug,
            entry.title,
            entry.price.0,
            entry.currency,
            entry.period,
            benefits_json(&entry.benefits),
            entry.checkout_link,
            entry.active,
            tx.now().0,
        ],
    )?;
    note_change(tx, Topic::Plans)?;
    Ok(if changed == 0 { Changed::NotThere } else { Changed::Done })
}

/// Removes a plan; false when there is none.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let deleted = tx.execute("DELETE FROM plan WHERE plan_id = ?1", [id])? == 1;
    if deleted {
        note_change(tx, Topic::Plans)?;
    }
    Ok(deleted)
}

fn benefits_json(benefits: &[String]) -> String {
    serde_json::Value::from(benefits).to_string()
}

fn read_plan(row: &Row<'_>) -> rusqlite::Result<Plan> {
    let benefits: String = row.get(6)?;
    Ok(Plan {
        id: row.get(0)?,
        slug: row.get(1)?,
        title: row.get(2)?,
        price: row.get(3)?,
        currency: row.get(4)?,
        period: row.get(5)?,
        benefits: serde_json::from_str(&benefits).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(6, rusqlite::types::Type::Text, error.into())
        })?,
        checkout_link: row.get(7)?,
        active: row.get(8)?,
    })
}
