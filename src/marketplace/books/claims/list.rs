//! Pages of the claims against a seller.

use rusqlite::{Row, ToSql};

use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, UserId};
use crate::db::{ReadTx, Result};

/// A claim as lists show it.
#[derive(Clone, Debug)]
pub struct Claim {
    pub id: i64,
    pub ml_user_id: MlUserId,
    pub state: i64,
    /// Such as `mediations`.
    pub kind: String,
    /// Such as `claim` or `dispute`.
    pub stage: String,
    /// The marketplace's code for the reason.
    pub reason: String,
    /// What it is about: order, shipment, payment or purchase.
    pub resource: String,
    pub resource_id: Option<i64>,
    /// Until when the seller has to act.
    pub due_at: Option<Instant>,
    /// What the seller has to do; may be empty.
    pub action: String,
    /// How it ended; empty while it is open.
    pub resolution: String,
    pub opened_at: Instant,
    pub updated_at: Instant,
    /// What the sale that it is about sold; empty when that is not known.
    pub title: String,
}

/// What a list shows.
pub struct Wanted {
    pub owner: UserId,
    pub store: Option<MlUserId>,
    pub state: Option<i64>,
    /// The number of a claim or of what it is about; empty for all.
    pub search: String,
    pub limit: u32,
    pub offset: u32,
}

const COLUMNS: &str =
    "claim_id, ml_user_id, state, kind, stage, reason, resource, resource_id, due_at,
    action, resolution, opened_at, updated_at";
/// Looked up for the rows of the page only.
const TITLE: &str = "coalesce(
    (SELECT i.title FROM sale_order o
     JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
     WHERE c.resource = 'order' AND o.order_id = c.resource_id AND o.owner_id = :owner), '')";

fn read(row: &Row<'_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        id: row.get(0)?,
        ml_user_id: row.get(1)?,
        state: row.get(2)?,
        kind: row.get(3)?,
        stage: row.get(4)?,
        reason: row.get(5)?,
        resource: row.get(6)?,
        resource_id: row.get(7)?,
        due_at: row.get(8)?,
        action: row.get(9)?,
        resolution: row.get(10)?,
        opened_at: row.get(11)?,
        updated_at: row.get(12)?,
        title: row.get(13)?,
    })
}

/// One page of an owner's claims, newest first, with the number of all that
/// match.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted) -> Result<(Vec<Claim>, u64)> {
    select(tx, wanted, &format!("{COLUMNS}, {TITLE}"), read)
}

/// Numbers of the claims that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted) -> Result<Vec<i64>> {
    select(tx, wanted, "claim_id", |row| row.get(0)).map(|(ids, _)| ids)
}

/// One claim against an owner.
pub fn claim(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<Claim>> {
    tx.optional(
        &format!(
            "SELECT {COLUMNS}, {TITLE} FROM claim c WHERE claim_id = :id AND +owner_id = :owner"
        ),
        &[(":id", &id as &dyn ToSql), (":owner", &owner)][..],
        read,
    )
}

fn select<T>(
    tx: &ReadTx<'_>,
    wanted: &Wanted,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let mut values: Vec<(&str, &dyn ToSql)> = vec![(":owner", &wanted.owner)];
    let mut filters = String::new();
    if let Some(state) = &wanted.state {
        filters.push_str(" AND state = :state");
        values.push((":state", state));
    }
    if let Some(store) = &wanted.store {
        filters.push_str(" AND ml_user_id = :store");
        values.push((":store", store));
    }
    // What is no number is nobody's.
    let number = wanted.search.parse().unwrap_or(-1_i64);
    if !wanted.search.is_empty() {
        filters.push_str(" AND (claim_id = :number OR resource_id = :number)");
        values.push((":number", &number));
    }
    let count = format!("SELECT count(*) FROM claim WHERE owner_id = :owner{filters}");
    let total: i64 = tx.value(&count, &values[..])?;
    values.push((":limit", &wanted.limit));
    values.push((":offset", &wanted.offset));
    let claims = tx.all(
        &format!(
            "SELECT {columns} FROM (
                 SELECT * FROM claim WHERE owner_id = :owner{filters}
                 ORDER BY opened_at DESC, claim_id DESC LIMIT :limit OFFSET :offset) c
             ORDER BY opened_at DESC, claim_id DESC"
        ),
        &values[..],
        read,
    )?;
    Ok((claims, u64::try_from(total).unwrap_or(0)))
}
