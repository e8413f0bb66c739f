//! A change of an order, as effects see it.

use super::{BookContext, StoredOrder, is_sale_status};
use crate::base::{Instant, OrderId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::document::{OrderDocument, SoldItem};
use crate::marketplace::books::order_status::{OrderStatus, SaleState};

/// A change of an order: what it was and what it is.
pub struct OrderChange<'c> {
    pub context: &'c BookContext,
    pub owner: UserId,
    pub order: OrderId,
    /// `None` for a new order.
    pub(super) before: Option<&'c StoredOrder>,
    pub(super) after: &'c StoredOrder,
    /// What the marketplace said of the order; `None` when only its shipment
    /// changed.
    pub(super) document: Option<&'c OrderDocument>,
    /// The owner is notified of what happened from here on.
    pub(super) news_from: Instant,
}

/// The goods of an order.
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

impl OrderChange<'_> {
    /// Whether the order counted as a sale.
    pub fn was_sale(&self) -> bool {
        self.before.is_some_and(|before| is_sale_status(before.status))
    }

    pub const fn is_sale(&self) -> bool {
        is_sale_status(self.after.status)
    }

    /// When it was sold, if it is a sale.
    pub fn sold_at(&self) -> Instant {
        self.after.closed_at.unwrap_or(self.after.created_at)
    }

    /// Its goods; `None` when only its shipment changed.
    pub fn goods(&self) -> Option<SoldOrder<'_>> {
        let order = self.document?;
        Some(SoldOrder {
            id: order.id,
            created_at: order.created_at,
            item: order.item.number,
            sku: &order.item.sku,
            quantity: order.quantity,
            sale: OrderStatus::from_name(&order.status).map_or(SaleState::Open, OrderStatus::sale),
        })
    }

    /// Whether the order names other goods than before: another listing,
    /// another SKU, or another time of the sale.
    pub fn names_other_goods(&self, tx: &ReadTx<'_>) -> Result<bool> {
        let (Some(before), Some(order)) = (self.before, self.document) else {
            return Ok(false);
        };
        let SoldItem { number, sku, .. } = &order.item;
        if (before.created_at, before.item_id) != (order.created_at, *number) {
            return Ok(true);
        }
        let known: Option<String> = tx.maybe(
            "SELECT sku FROM sold_item WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3",
            (before.item_id, before.variation_id, before.item_version),
        )?;
        Ok(known.is_none_or(|known| known != *sku))
    }

    /// When the owner linked the account that sold it; `None` when they did
    /// not.
    pub fn linked_at(&self, tx: &ReadTx<'_>) -> Result<Option<Instant>> {
        tx.maybe(
            "SELECT linked_at FROM ml_account WHERE ml_user_id = ?1 AND owner_id = ?2",
            (self.after.ml_user_id, self.owner),
        )
    }
}
