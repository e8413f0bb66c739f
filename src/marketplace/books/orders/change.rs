//! A change of an order, as effects see it.

use super::{BookContext, StoredOrder, is_sale_status};
use crate::base::{Instant, OrderId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::document::OrderDocument;
use crate::marketplace::books::order_status::{OrderStatus, SaleState};
use crate::marketplace::books::parcel::Marks;

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
#[derive(Clone, Debug)]
pub struct SoldOrder {
    pub id: OrderId,
    pub created_at: Instant,
    pub goods: Vec<SoldGoods>,
    pub sale: SaleState,
    /// Whether its goods are out of its seller's stock.
    pub is_out: bool,
    /// Whether it was cancelled because other orders took its place.
    pub is_divided: bool,
}

/// What a line of an order takes out of the stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoldGoods {
    /// Number of the listing that sold it.
    pub item: i64,
    pub variation: i64,
    /// The SKU on the order; empty when it has none.
    pub sku: String,
    pub units: i64,
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

    /// Whether only its parcel changed, not what the marketplace says of the order.
    pub const fn is_of_parcel(&self) -> bool {
        self.document.is_none()
    }

    /// Its goods as it is now.
    pub fn goods(&self, tx: &ReadTx<'_>) -> Result<SoldOrder> {
        Ok(SoldOrder {
            id: self.order,
            created_at: self.after.created_at,
            goods: match self.document.and_then(named_goods) {
                Some(goods) => goods,
                None => self.goods_of(tx, self.after)?,
            },
            sale: OrderStatus::sale_of(self.after.status),
            is_out: self.is_out(tx, self.after)?,
            is_divided: self.after.marks.has(Marks::SPLIT),
        })
    }

    /// Whether the goods of the order are out of its seller's stock now, and whether they
    /// were.
    pub fn are_out(&self, tx: &ReadTx<'_>) -> Result<(bool, bool)> {
        let was = self.before.map_or(Ok(false), |before| self.is_out(tx, before))?;
        Ok((was, self.is_out(tx, self.after)?))
    }

    /// Whether the order named other goods before: other listings, other SKUs, or another
    /// time of the sale.
    pub fn names_other_goods(&self, tx: &ReadTx<'_>) -> Result<bool> {
        let Some(before) = self.before else { return Ok(false) };
        let same = |row: &StoredOrder| {
            (row.created_at, row.item_id, row.variation_id, row.item_version, row.basket)
        };
        if same(before) == same(self.after) {
            return Ok(false);
        }
        let named = |goods: Vec<SoldGoods>| -> Vec<(i64, String)> {
            goods.into_iter().map(|one| (one.item, one.sku)).collect()
        };
        Ok(before.created_at != self.after.created_at
            || named(self.goods_of(tx, before)?) != named(self.goods_of(tx, self.after)?))
    }

    /// When the owner linked the account that sold it; `None` when they did
    /// not.
    pub fn linked_at(&self, tx: &ReadTx<'_>) -> Result<Option<Instant>> {
        tx.maybe(
            "SELECT linked_at FROM ml_account WHERE ml_user_id = ?1 AND owner_id = ?2",
            (self.after.ml_user_id, self.owner),
        )
    }

    fn goods_of(&self, tx: &ReadTx<'_>, row: &StoredOrder) -> Result<Vec<SoldGoods>> {
        let lines = row.lines(tx)?.into_iter();
        let goods = lines.map(|line| {
            let sku: Option<String> = tx.maybe(
                "SELECT sku FROM sold_item WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3",
                (line.item_id, line.variation_id, line.item_version),
            )?;
            Ok(SoldGoods {
                item: line.item_id,
                variation: line.variation_id,
                sku: sku.unwrap_or_default(),
                units: line.units,
            })
        });
        goods.collect()
    }

    /// Whether the goods of a row are out of its seller's stock: while it is a sale, and
    /// when it was cancelled after they had left, until they are back. What the
    /// marketplace sends from its own warehouse never is.
    fn is_out(&self, tx: &ReadTx<'_>, row: &StoredOrder) -> Result<bool> {
        let is_out = match OrderStatus::sale_of(row.status) {
            SaleState::Paid => true,
            SaleState::Cancelled => row.has_left() && !row.is_back(),
            SaleState::Open => false,
        };
        Ok(is_out && !self.is_word(tx, row.logistic_type, "fulfillment")?)
    }

    fn is_word(&self, tx: &ReadTx<'_>, number: Option<i64>, word: &str) -> Result<bool> {
        let Some(number) = number else { return Ok(false) };
        Ok(&*self.context.words.text(tx, number)? == word)
    }
}

/// The goods of a document that says what each line sold; what it leaves out is stored.
fn named_goods(order: &OrderDocument) -> Option<Vec<SoldGoods>> {
    let goods = order.lines.iter().map(|line| {
        let item = &line.item;
        (!item.title.is_empty() || !item.sku.is_empty()).then(|| SoldGoods {
            item: item.number,
            variation: item.variation,
            sku: item.sku.clone(),
            units: line.units,
        })
    });
    goods.collect()
}
