//! Stock movements: made by hand, by files and by orders.
//!
//! A movement changes the balance of its product in the same transaction, so the
//! two never differ. People cannot take out more units than there are. An order
//! can, because its units were sold already; the balance is then below zero.

pub mod pages;

use crate::base::{Instant, OrderId, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::named;
use crate::row;
use crate::webhooks::{self, EventType};

/// Longest reason.
pub const LONGEST_REASON: usize = 120;

named! {
    /// Whether a movement adds, removes or corrects.
    pub enum StockMovementKind: number {
        In = 1, "entrada", "Entrada";
        Out = 2, "saida", "Saída";
        /// The units were counted.
        Adjust = 3, "ajuste", "Ajuste";
    }
}

/// A movement as it is stored.
#[derive(Clone, Debug)]
pub struct Movement {
    /// Of this movement alone, over all products; never given again.
    pub id: i64,
    pub kind: StockMovementKind,
    /// The number of units that it adds to the balance.
    pub change: i64,
    /// The balance after the movement.
    pub balance: i64,
    pub reason: String,
    pub order_id: Option<OrderId>,
    pub created_at: Instant,
}
row!(Movement { id = "number", kind, change, balance, reason, order_id, created_at });

/// A movement to be made.
#[derive(Clone, Debug)]
pub struct NewMovement<'m> {
    pub kind: StockMovementKind,
    /// The number of units that it adds to the balance.
    pub change: i64,
    pub reason: &'m str,
    pub order: Option<OrderId>,
}

/// Makes a movement; returns the new balance.
pub fn record_movement(tx: &WriteTx<'_>, product: i64, movement: &NewMovement<'_>) -> Result<i64> {
    let (owner, balance): (UserId, i64) = tx.one(
        "UPDATE product SET stock = stock + ?2, updated_at = ?3 WHERE product_id = ?1
         RETURNING owner_id, stock",
        (product, movement.change, tx.now()),
        |row| row.try_into(),
    )?;
    let number: i64 = tx.value(
        "UPDATE stock_movement_last SET number = number + 1 WHERE only = 1 RETURNING number",
        [],
    )?;
    tx.execute(
        "INSERT INTO stock_movement
             (product_id, movement_id, kind, quantity, change, balance, reason, order_id, created_at, number)
         VALUES (?1, (SELECT coalesce(max(movement_id), 0) + 1 FROM stock_movement WHERE product_id = ?1),
                 ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            product,
            movement.kind,
            movement.change.abs(),
            movement.change,
            balance,
            movement.reason,
            movement.order,
            tx.now(),
            number,
        ),
    )?;
    webhooks::raise(tx, owner, EventType::StockChanged, (product, 0))?;
    Ok(balance)
}

/// Sets the balance to what was counted, unless it is the same already.
pub fn set_counted_stock(
    tx: &WriteTx<'_>,
    product: i64,
    present: i64,
    counted: i64,
    reason: &str,
) -> Result<()> {
    if present != counted {
        let movement = NewMovement {
            kind: StockMovementKind::Adjust,
            change: counted - present,
            reason,
            order: None,
        };
        record_movement(tx, product, &movement)?;
    }
    Ok(())
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

/// State of an order: it decides what the order does to stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaleState {
    /// It was paid: its goods go out.
    Paid,
    /// It was cancelled: the units it took out come back.
    Cancelled,
    /// Any other state: nothing moves.
    Open,
}

/// The data of an order that stock needs.
#[derive(Clone, Copy, Debug)]
pub struct SoldOrder<'o> {
    pub id: OrderId,
    pub created_at: Instant,
    /// Number of the listing that sold it.
    pub item: i64,
    /// The SKU on the order; empty when it has none.
    pub sku: &'o str,
    pub quantity: i64,
    pub sale: SaleState,
}

/// Moves stock for an order of a person (contract §9): out once when the order is
/// paid, back once when it is cancelled. The product is found by the SKU of the
/// order, or else by the SKU of its listing. The order must not be older than the
/// product's record, because the stock entered with the record does not include
/// earlier sales. An order that arrives again or late moves nothing a second time.
pub fn move_for_order(tx: &WriteTx<'_>, owner: UserId, order: &SoldOrder<'_>) -> Result<()> {
    match order.sale {
        SaleState::Open => Ok(()),
        SaleState::Paid => go_out(tx, owner, order),
        SaleState::Cancelled => come_back(tx, owner, order.id),
    }
}

fn go_out(tx: &WriteTx<'_>, owner: UserId, order: &SoldOrder<'_>) -> Result<()> {
    let of_listing = if order.sku.is_empty() {
        tx.maybe::<String>(
            "SELECT sku FROM listing WHERE owner_id = ?1 AND item_id = ?2",
            (owner, order.item),
        )?
    } else {
        None
    };
    let sku = of_listing.as_deref().unwrap_or(order.sku);
    if sku.is_empty() || order.quantity < 1 {
        return Ok(());
    }
    let product: Option<i64> = tx.maybe(
        "SELECT product_id FROM product WHERE owner_id = ?1 AND sku = ?2 AND created_at <= ?3",
        (owner, sku, order.created_at),
    )?;
    let Some(product) = product else {
        return Ok(());
    };
    // The order's SKU may have changed since; the order moved stock all the same.
    if moved(tx, owner, order.id, StockMovementKind::Out)?.is_some() {
        return Ok(());
    }
    let movement = NewMovement {
        kind: StockMovementKind::Out,
        change: -order.quantity,
        reason: &format!("Venda {}", order.id),
        order: Some(order.id),
    };
    record_movement(tx, product, &movement)?;
    Ok(())
}

fn come_back(tx: &WriteTx<'_>, owner: UserId, order: OrderId) -> Result<()> {
    let Some((product, quantity)) = moved(tx, owner, order, StockMovementKind::Out)? else {
        return Ok(());
    };
    if moved(tx, owner, order, StockMovementKind::In)?.is_some() {
        return Ok(());
    }
    let movement = NewMovement {
        kind: StockMovementKind::In,
        change: quantity,
        reason: &format!("Venda {order} cancelada"),
        order: Some(order),
    };
    record_movement(tx, product, &movement)?;
    Ok(())
}

/// Product and units that an order moved in or out.
fn moved(
    tx: &ReadTx<'_>,
    owner: UserId,
    order: OrderId,
    kind: StockMovementKind,
) -> Result<Option<(i64, i64)>> {
    tx.tuple(
        "SELECT m.product_id, m.quantity
         FROM stock_movement m JOIN product p ON p.product_id = m.product_id
         WHERE m.order_id = ?1 AND m.kind = ?2 AND p.owner_id = ?3",
        (order, kind, owner),
    )
}
