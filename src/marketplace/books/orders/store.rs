//! Orders in the database, and the wording of what they sold.

use super::numbers::first_with;
use super::{StoredOrder, first_change, is_sale_status};
use crate::base::{Instant, MlUserId, OrderId, UserId};
use crate::db::{Column, ReadTx, Result, WriteTx};
use crate::marketplace::books::document::SoldItem;
use crate::marketplace::books::parcel::ParcelKnown;

/// How many of an item's latest versions are searched for the same title and
/// SKU.
const VERSIONS_SEEN: u32 = 20;

/// The orders of an account's parcel.
pub fn of_parcel(
    tx: &ReadTx<'_>,
    owner: UserId,
    seller: MlUserId,
    parcel: i64,
) -> Result<Vec<OrderId>> {
    tx.values(
        "SELECT order_id FROM sale_order WHERE owner_id = ?1 AND shipping_id = ?3 AND ml_user_id = ?2",
        (owner, seller, parcel),
    )
}

/// Has the claims about a cart or a payment name its order.
pub(super) fn name_in_claims(
    tx: &WriteTx<'_>,
    owner: UserId,
    resource: &str,
    number: i64,
) -> Result<()> {
    // Hardly any number is named by a claim.
    let named = "SELECT 1 FROM claim WHERE owner_id = ?1 AND resource_id = ?2 LIMIT 1";
    if tx.maybe::<i64>(named, (owner, number))?.is_none() {
        return Ok(());
    }
    tx.run(
        "UPDATE claim SET order_id = ?4
         WHERE owner_id = ?1 AND resource_id = ?3 AND resource = ?2 AND order_id IS NOT ?4",
        (owner, resource, number, first_with(tx, owner, resource, number)?),
    )
}

/// Whether an order is in an owner's books as a sale.
pub fn is_sale(tx: &WriteTx<'_>, owner: UserId, order: OrderId) -> Result<bool> {
    let status: Option<i64> = tx.maybe(
        "SELECT status FROM sale_order WHERE order_id = ?1 AND owner_id = ?2",
        (order, owner),
    )?;
    Ok(status.is_some_and(is_sale_status))
}

/// What the books know of the parcel of an order of an account as it is linked; `None`
/// when they do not have the order. Others may have it in theirs from when the account was
/// theirs.
pub fn known_of_parcel(tx: &ReadTx<'_>, order: OrderId) -> Result<Option<ParcelKnown>> {
    tx.record(
        "FROM sale_order o JOIN ml_account a ON a.ml_user_id = o.ml_user_id AND a.owner_id = o.owner_id
         WHERE o.order_id = ?1",
        [order],
    )
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

/// The version of title and SKU that a line has. Titles and SKUs of listings
/// change, but an order keeps those that it was sold with: `known` is the version that it
/// has already. A document without title and SKU changes nothing.
pub(super) fn ensure_item_version(
    tx: &WriteTx<'_>,
    item: &SoldItem,
    known: Option<i64>,
) -> Result<i64> {
    if let Some(known) = known
        && (item.title.is_empty() && item.sku.is_empty() || has_wording(tx, item, known)?)
    {
        return Ok(known);
    }
    // An old title or SKU seldom comes back, and then soon, so the latest
    // versions are enough.
    let mut latest = None;
    let versions: Vec<(i64, String, String)> = tx.tuples(
        "SELECT version, title, sku FROM sold_item
         WHERE item_id = ?1 AND variation_id = ?2
         ORDER BY version DESC
         LIMIT ?3",
        (item.number, item.variation, VERSIONS_SEEN),
    )?;
    for (version, title, sku) in versions {
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
