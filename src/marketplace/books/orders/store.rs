//! Orders in the database, and the wording of what they sold.

use super::{StoredOrder, first_change, is_sale_status};
use crate::base::{Instant, MlUserId, OrderId, UserId};
use crate::db::{Column, ReadTx, Result, WriteTx};
use crate::marketplace::books::document::{OrderDocument, SoldItem};
use crate::marketplace::books::words::READY_TO_SHIP;

/// How many of an item's latest versions are searched for the same title and
/// SKU.
const VERSIONS_SEEN: u32 = 20;

/// The other orders with the same parcel that are still stored as ready to
/// ship. The marketplace does not always send a notification for each of them.
pub(super) fn waiting_with(
    tx: &WriteTx<'_>,
    owner: UserId,
    order: &OrderDocument,
    shipment: i64,
) -> Result<Vec<OrderId>> {
    // A literal, not a parameter, because the partial index has only this
    // status.
    let sql = format!(
        "SELECT order_id FROM sale_order
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND shipping_id = ?3
             AND shipping_status = {READY_TO_SHIP}"
    );
    let orders: Vec<OrderId> = tx.values(&sql, (owner, order.seller, shipment))?;
    Ok(orders.into_iter().filter(|id| *id != order.id).collect())
}

/// Whether an order is in an owner's books as a sale.
pub fn is_sale(tx: &WriteTx<'_>, owner: UserId, order: OrderId) -> Result<bool> {
    let status: Option<i64> = tx.maybe(
        "SELECT status FROM sale_order WHERE order_id = ?1 AND owner_id = ?2",
        (order, owner),
    )?;
    Ok(status.is_some_and(is_sale_status))
}

/// Whether it is not known yet what the parcel of an order costs the person whose
/// account sold it; so too when the order is not. Others may have it in their books
/// from when the account was theirs.
pub fn lacks_freight(tx: &ReadTx<'_>, order: OrderId) -> Result<bool> {
    let told: Option<bool> = tx.maybe(
        "SELECT o.freight_cents IS NOT NULL FROM sale_order o
         JOIN ml_account a ON a.ml_user_id = o.ml_user_id AND a.owner_id = o.owner_id
         WHERE o.order_id = ?1",
        [order],
    )?;
    Ok(!told.unwrap_or(false))
}

/// The account that made a sale of an owner, and the number of its shipment.
pub fn parcel_of(
    tx: &ReadTx<'_>,
    owner: UserId,
    order: OrderId,
) -> Result<Option<(MlUserId, Option<i64>)>> {
    tx.tuple(
        "SELECT ml_user_id, shipping_id FROM sale_order WHERE owner_id = ?1 AND order_id = ?2",
        (owner, order),
    )
}

/// The first order of an owner's parcel.
pub fn first_of_parcel(tx: &ReadTx<'_>, owner: UserId, parcel: i64) -> Result<Option<OrderId>> {
    tx.maybe(
        "SELECT order_id FROM sale_order WHERE owner_id = ?1 AND shipping_id = ?2
         ORDER BY created_at, order_id LIMIT 1",
        (owner, parcel),
    )
}

pub(super) fn stored(
    tx: &WriteTx<'_>,
    owner: UserId,
    order: OrderId,
) -> Result<Option<StoredOrder>> {
    tx.record("FROM sale_order WHERE order_id = ?1 AND owner_id = ?2", (order, owner))
}

pub(super) fn put(
    tx: &WriteTx<'_>,
    owner: UserId,
    order: OrderId,
    row: &StoredOrder,
) -> Result<()> {
    let key: [Column<'_>; 2] = [("owner_id", &owner), ("order_id", &order)];
    tx.put("INSERT OR REPLACE INTO sale_order", row, &key).map(drop)
}

/// The number of a change of an owner's orders: larger than those of all changes before,
/// so that programs that read up to one miss nothing that is stored later, also not in
/// the same second. Above its low bits it is the time in seconds.
pub(super) fn next_change(tx: &WriteTx<'_>, owner: UserId) -> Result<i64> {
    let last: i64 =
        tx.value("SELECT coalesce(max(changed), 0) FROM sale_order WHERE owner_id = ?1", [owner])?;
    Ok(first_change(tx.now()).max(last + 1))
}

pub(super) fn delete(
    tx: &WriteTx<'_>,
    owner: UserId,
    order: OrderId,
    created_at: Instant,
) -> Result<()> {
    tx.run(
        "DELETE FROM sale_order WHERE owner_id = ?1 AND created_at = ?2 AND order_id = ?3",
        (owner, created_at.0, order),
    )
}

/// The version of title and SKU that an order has. Titles and SKUs of listings
/// change, but an order keeps those that it was sold with. A document without
/// title and SKU changes nothing.
pub(super) fn ensure_item_version(
    tx: &WriteTx<'_>,
    item: &SoldItem,
    before: Option<&StoredOrder>,
) -> Result<i64> {
    let is_same = |before: &&StoredOrder| {
        (before.item_id, before.variation_id) == (item.number, item.variation)
    };
    if item.title.is_empty()
        && item.sku.is_empty()
        && let Some(before) = before.filter(is_same)
    {
        return Ok(before.item_version);
    }
    if let Some(before) = before.filter(is_same)
        && has_wording(tx, item, before.item_version)?
    {
        return Ok(before.item_version);
    }
    // An old title or SKU seldom comes back, and then soon, so the latest
    // versions are enough.
    let mut latest = None;
    let known: Vec<(i64, String, String)> = tx.tuples(
        "SELECT version, title, sku FROM sold_item
         WHERE item_id = ?1 AND variation_id = ?2
         ORDER BY version DESC
         LIMIT ?3",
        (item.number, item.variation, VERSIONS_SEEN),
    )?;
    for (version, title, sku) in known {
        if (&title, &sku) == (&item.title, &item.sku) {
            return Ok(version);
        }
        latest = latest.or(Some(version));
    }
    let version = latest.map_or(0, |latest: i64| latest + 1);
    tx.execute(
        "INSERT INTO sold_item (item_id, variation_id, version, site, title, sku) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (item.number, item.variation, version, &item.site, &item.title, &item.sku),
    )?;
    Ok(version)
}

fn has_wording(tx: &ReadTx<'_>, item: &SoldItem, version: i64) -> Result<bool> {
    let same = tx.optional(
        "SELECT 1 FROM sold_item
         WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3 AND title = ?4 AND sku = ?5",
        (item.number, item.variation, version, &item.title, &item.sku),
        |_| Ok(()),
    )?;
    Ok(same.is_some())
}
