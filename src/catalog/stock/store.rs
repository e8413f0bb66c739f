//! Movements and balances in the database.

use super::{Movement, StockMovementKind};
use crate::accounts::Role;
use crate::accounts::person::Group;
use crate::base::{Instant, OrderId, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::events;
use crate::marketplace::books::orders::change::SoldGoods;

/// Makes a movement that adds `change` units to the balance; returns the new balance.
pub fn record_movement(
    tx: &WriteTx<'_>,
    product: i64,
    kind: StockMovementKind,
    change: i64,
    reason: &str,
    order: Option<OrderId>,
) -> Result<i64> {
    let (owner, balance): (UserId, i64) = tx.one(
        "UPDATE product SET stock = stock + ?2, updated_at = ?3 WHERE product_id = ?1
         RETURNING owner_id, stock",
        (product, change, tx.now()),
        |row| row.try_into(),
    )?;
    let number: i64 = tx.value(
        "UPDATE stock_movement_last SET number = number + 1 WHERE only = 1 RETURNING number",
        [],
    )?;
    let movement: i64 = tx.value(
        "INSERT INTO stock_movement
             (product_id, movement_id, kind, quantity, change, balance, reason, order_id, created_at, number)
         VALUES (?1, (SELECT coalesce(max(movement_id), 0) + 1 FROM stock_movement WHERE product_id = ?1),
                 ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         RETURNING movement_id",
        (product, kind, change.abs(), change, balance, reason, order, tx.now(), number),
    )?;
    events::raise_moved(tx, owner, product, movement)?;
    Ok(balance)
}

/// How many movements a product has. Movements are numbered without gaps.
pub fn total(tx: &ReadTx<'_>, product: i64) -> Result<u64> {
    tx.count(
        "SELECT coalesce(max(movement_id), 0) FROM stock_movement WHERE product_id = ?1",
        [product],
    )
}

/// Movements of a product, newest first, without the first `skipped`.
pub fn page(tx: &ReadTx<'_>, product: i64, skipped: u64, most: u32) -> Result<Vec<Movement>> {
    let newest = total(tx, product)?.saturating_sub(skipped);
    tx.records(
        "FROM stock_movement
         WHERE product_id = ?1 AND movement_id <= ?2 ORDER BY movement_id DESC LIMIT ?3",
        (product, i64::try_from(newest).unwrap_or(i64::MAX), most),
    )
}

/// A movement of a product, by its number within the product.
pub fn movement(tx: &ReadTx<'_>, product: i64, number: i64) -> Result<Option<Movement>> {
    tx.record("FROM stock_movement WHERE product_id = ?1 AND movement_id = ?2", (product, number))
}

/// The product that a line of an order placed at an instant sold, when its stock includes
/// the order.
pub(super) fn product_of(
    tx: &ReadTx<'_>,
    owner: UserId,
    ordered_at: Instant,
    goods: &SoldGoods,
) -> Result<Option<i64>> {
    let of_listing = if goods.sku.is_empty() {
        tx.maybe::<String>(
            "SELECT sku FROM listing WHERE owner_id = ?1 AND item_id = ?2",
            (owner, goods.item),
        )?
    } else {
        None
    };
    let sku = of_listing.as_deref().unwrap_or(&goods.sku);
    if sku.is_empty() {
        return Ok(None);
    }
    tx.maybe(
        "SELECT product_id FROM product WHERE owner_id = ?1 AND sku = ?2 AND created_at <= ?3",
        (owner, sku, ordered_at),
    )
}

/// The products of which an order has units out, and how many.
pub(super) fn taken_by(tx: &ReadTx<'_>, owner: UserId, order: OrderId) -> Result<Vec<(i64, i64)>> {
    tx.tuples(
        "SELECT m.product_id, -sum(m.change)
         FROM stock_movement m JOIN product p ON p.product_id = m.product_id
         WHERE m.order_id = ?1 AND p.owner_id = ?2
         GROUP BY m.product_id HAVING sum(m.change) <> 0",
        (order, owner),
    )
}

/// Owner, balance and title of a product that a movement of `change` units has brought
/// down to what the owner wants to be warned of.
pub(super) fn fallen(
    tx: &ReadTx<'_>,
    product: i64,
    change: i64,
) -> Result<Option<(UserId, i64, String)>> {
    tx.tuple(
        "SELECT owner_id, stock, title FROM product
         WHERE product_id = ?1 AND stock <= low_stock AND stock - ?2 > low_stock",
        (product, change),
    )
}

/// Number of a product's newest movement.
pub(super) fn newest(tx: &ReadTx<'_>, product: i64) -> Result<i64> {
    tx.value(
        "SELECT number FROM stock_movement WHERE product_id = ?1 ORDER BY movement_id DESC LIMIT 1",
        [product],
    )
}

/// The role of somebody with a catalog in the seller's panel who may sign in.
pub(super) fn role_of_seller(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<Role>> {
    tx.maybe(
        "SELECT role FROM user WHERE user_id = ?1 AND suspended_at IS NULL AND kind IN (?2, ?3)",
        (owner, Group::Students, Group::Staff),
    )
}
