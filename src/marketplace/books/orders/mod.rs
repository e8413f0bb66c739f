//! Orders as the marketplace shows them, and their sums.
//!
//! Each document has the whole state of an order. Documents may come in any
//! order and repeatedly: rows and sums end as if only the newest had come. Sums
//! change by the difference between the stored row and the new one, in the
//! transaction that stores the row, so they always equal a recount. A sale is
//! notified once, when the order first becomes a sale.

pub mod change;
pub mod cost;
pub mod effects;
mod freight;
pub mod left;
pub mod list;
mod narrow;
pub mod of_listing;
pub mod pages;
mod runs;
pub mod sold;
mod store;
pub mod sums;
pub mod top;
pub mod views;
mod webhook_events;

pub use store::{first_of_parcel, is_sale, lacks_freight, parcel_of};

use std::sync::Arc;

use self::change::OrderChange;
use self::effects::Effects;
use super::document::{OrderDocument, Shipment};
use super::order_status::{OrderStatus, SaleState};
use super::words::Words;
use crate::app::App;
use crate::base::{Cents, Day, Instant, MlUserId, OrderId, Zone};
use crate::changes::IssuedSeconds;
use crate::config::Config;
use crate::db::{Result, WriteTx};
use crate::marketplace::Marketplace;
use crate::marketplace::books::BookWrite;
use crate::messages::choices::ChannelSet;
use crate::row;

/// The day of `order_count` that holds the sum of all days.
const ALL_DAYS: Day = Day(-1);
/// Store and state of the rows of `order_count` with the sum of all stores and
/// states.
pub const EVERY_KIND: (i64, i64) = (0, 0);

/// The context that changes of the books need besides the transaction.
#[derive(Clone)]
pub struct BookContext {
    pub words: Arc<Words>,
    pub issued: Arc<IssuedSeconds>,
    pub zone: Zone,
    /// Configured channels for messages to people.
    pub channel_set: ChannelSet,
    /// The settings in force, for effects.
    pub config: Arc<Config>,
    pub effects: Effects,
}

impl BookContext {
    /// The context of the running service.
    pub fn of(app: &App) -> Self {
        let Marketplace { words, issued, effects, .. } = &app.marketplace;
        Self {
            words: Arc::clone(words),
            issued: Arc::clone(issued),
            zone: app.zone(),
            channel_set: ChannelSet::of(&app.config),
            config: Arc::clone(&app.config),
            effects: *effects,
        }
    }
}

/// The result of applying a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The document brought a change, which is stored.
    Stored,
    /// The document brought no visible change.
    Unchanged,
    /// A newer state is stored already.
    Stale,
}

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct StoredOrder: stored {
        created_at: Instant,
        ml_user_id: MlUserId,
        status: i64,
        total: Cents = "total_cents",
        currency: i64,
        closed_at: Option<Instant>,
        updated_at: Instant,
        item_id: i64,
        variation_id: i64,
        item_version: i64,
        quantity: i64,
        buyer_nickname: String,
        shipping_id: Option<i64>,
        shipping_status: Option<i64>,
        logistic_type: Option<i64>,
        shipment_at: Option<Instant>,
        fee: Option<Cents> = "fee_cents",
        freight: Option<Cents> = "freight_cents",
        paid_at: Option<Instant>,
        printed_at: Option<Instant>,
        sent_at: Option<Instant>,
        delivered_at: Option<Instant>,
        dispatch_by: Option<Instant>,
        /// When what programs see of it changed here; see [`store::next_change`].
        changed: i64,
    }
}

/// What an order adds to a day's sales.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sale {
    day: Day,
    units: i64,
    gross: Cents,
}

/// Updates an owner's books from a document. The owner is notified of sales
/// made from `news_from` on; older ones are history.
pub fn apply(
    (tx, context, owner): BookWrite<'_, '_>,
    order: &OrderDocument,
    news_from: Instant,
) -> Result<Applied> {
    let applied = apply_alone((tx, context, owner), order, news_from)?;
    let Some(number) = order.shipping_id else {
        return Ok(applied);
    };
    if let Some(shipment) = order.shipment.as_ref().filter(|read| read.status != "ready_to_ship") {
        for other in store::waiting_with(tx, owner, order, number)? {
            apply_shipment((tx, context, owner), other, number, shipment)?;
        }
    }
    if applied != Applied::Stale {
        let told = order.shipment.as_ref().and_then(|shipment| shipment.cost);
        freight::share((tx, context, owner), number, order.created_at, told)?;
    }
    Ok(applied)
}

fn apply_alone(
    (tx, context, owner): BookWrite<'_, '_>,
    order: &OrderDocument,
    news_from: Instant,
) -> Result<Applied> {
    let before = store::stored(tx, owner, order.id)?;
    if before.as_ref().is_some_and(|before| order.updated_at < before.updated_at) {
        return Ok(Applied::Stale);
    }
    let mut after = to_store(tx, context, order, before.as_ref())?;
    if before.as_ref() == Some(&after) {
        return Ok(Applied::Unchanged);
    }
    if let Some(before) = before.as_ref().filter(|before| after.is_quietly_other(before)) {
        store::put(tx, owner, order.id, &after)?;
        sums::follow(tx, context.zone, owner, Some(before), &after)?;
        return Ok(Applied::Unchanged);
    }
    if let Some(before) = before.as_ref().filter(|before| before.created_at != after.created_at) {
        store::delete(tx, owner, order.id, before.created_at)?;
    }
    after.changed = store::next_change(tx, owner)?;
    store::put(tx, owner, order.id, &after)?;
    let change = OrderChange {
        context,
        owner,
        order: order.id,
        before: before.as_ref(),
        after: &after,
        document: Some(order),
        news_from,
    };
    effects::run(tx, &change)?;
    Ok(Applied::Stored)
}

const fn is_sale_status(status: i64) -> bool {
    matches!(OrderStatus::sale_of(status), SaleState::Paid)
}

/// The row to store for a document. What the document leaves out keeps its
/// stored value.
fn to_store(
    tx: &WriteTx<'_>,
    context: &BookContext,
    order: &OrderDocument,
    before: Option<&StoredOrder>,
) -> Result<StoredOrder> {
    let same_shipment = before.filter(|before| before.shipping_id == order.shipping_id);
    let (shipping_status, logistic_type, shipment_at) =
        shipped(tx, context, order.shipment.as_ref(), same_shipment)?;
    let [printed_at, sent_at, delivered_at] = way(order.shipment.as_ref(), same_shipment);
    let known_nickname =
        before.map(|before| &before.buyer_nickname).filter(|_| order.buyer_nickname.is_empty());
    Ok(StoredOrder {
        created_at: order.created_at,
        ml_user_id: order.seller,
        status: context.words.number(tx, &order.status)?,
        total: order.total,
        currency: context.words.number(tx, &order.currency)?,
        closed_at: order.closed_at,
        updated_at: order.updated_at,
        item_id: order.item.number,
        variation_id: order.item.variation,
        item_version: store::ensure_item_version(tx, &order.item, before)?,
        quantity: order.quantity,
        buyer_nickname: known_nickname.unwrap_or(&order.buyer_nickname).clone(),
        shipping_id: order.shipping_id,
        shipping_status,
        logistic_type,
        shipment_at,
        fee: order.fee.or(before.and_then(|before| before.fee)),
        freight: same_shipment.and_then(|before| before.freight),
        paid_at: order.paid_at.or(before.and_then(|before| before.paid_at)),
        printed_at,
        sent_at,
        delivered_at,
        dispatch_by: dispatch_by(order.shipment.as_ref(), same_shipment),
        changed: before.map_or(0, |before| before.changed),
    })
}

/// When the label of a shipment was printed, when it left and when it arrived. What
/// was known first stays: later documents only tell that it is still so.
fn way(read: Option<&Shipment>, before: Option<&StoredOrder>) -> [Option<Instant>; 3] {
    let of = |known: fn(&StoredOrder) -> Option<Instant>,
              told: fn(&Shipment) -> Option<Instant>| {
        before.and_then(known).or_else(|| read.and_then(told))
    };
    [
        of(|known| known.printed_at, |read| read.printed_at),
        of(|known| known.sent_at, |read| read.sent_at),
        of(|known| known.delivered_at, |read| read.delivered_at),
    ]
}

/// Until when a parcel is to be handed over; the last that was told stays.
fn dispatch_by(read: Option<&Shipment>, before: Option<&StoredOrder>) -> Option<Instant> {
    let told = read.and_then(|read| read.dispatch_by);
    told.or_else(|| before.and_then(|before| before.dispatch_by))
}

/// State and kind of a shipment, and the time of that state.
fn shipped(
    tx: &WriteTx<'_>,
    context: &BookContext,
    read: Option<&Shipment>,
    before: Option<&StoredOrder>,
) -> Result<(Option<i64>, Option<i64>, Option<Instant>)> {
    let word = |text: &str| match text {
        "" => Ok(None),
        text => context.words.number(tx, text).map(Some),
    };
    let known_at = before.and_then(|before| before.shipment_at);
    // The later of two states of a shipment wins, as with the order.
    let is_older = |read: &&Shipment| read.updated_at.is_some() && read.updated_at < known_at;
    Ok(match (read.filter(|read| !is_older(read)), before) {
        (Some(read), _) => {
            (word(&read.status)?, word(&read.logistic_type)?, read.updated_at.or(known_at))
        }
        (None, Some(before)) => (before.shipping_status, before.logistic_type, known_at),
        (None, None) => (None, None, None),
    })
}

/// Updates an owner's order from its shipment, unless the order has another
/// shipment by now.
pub fn apply_shipment(
    (tx, context, owner): BookWrite<'_, '_>,
    order: OrderId,
    number: i64,
    read: &Shipment,
) -> Result<Applied> {
    let before =
        store::stored(tx, owner, order)?.filter(|before| before.shipping_id == Some(number));
    let Some(before) = before else {
        return Ok(Applied::Stale);
    };
    let (shipping_status, logistic_type, shipment_at) =
        shipped(tx, context, Some(read), Some(&before))?;
    let [printed_at, sent_at, delivered_at] = way(Some(read), Some(&before));
    let dispatch_by = dispatch_by(Some(read), Some(&before));
    let is_seen =
        (shipping_status, logistic_type) != (before.shipping_status, before.logistic_type);
    let after = StoredOrder {
        shipping_status,
        logistic_type,
        shipment_at,
        printed_at,
        sent_at,
        delivered_at,
        dispatch_by,
        changed: if is_seen { store::next_change(tx, owner)? } else { before.changed },
        ..before.clone()
    };
    if after != before {
        store::put(tx, owner, order, &after)?;
    }
    if read.cost.is_some() {
        freight::share((tx, context, owner), number, before.created_at, read.cost)?;
    }
    if !is_seen {
        return Ok(Applied::Unchanged);
    }
    let (before, after, news_from) = (Some(&before), &after, tx.now());
    let change = OrderChange { context, owner, order, before, after, document: None, news_from };
    effects::run(tx, &change)?;
    Ok(Applied::Stored)
}

impl StoredOrder {
    /// Whether it differs from an older row, and only in what nobody is told of: times,
    /// and what the marketplace takes.
    fn is_quietly_other(&self, before: &Self) -> bool {
        let quiet = Self {
            shipment_at: self.shipment_at,
            dispatch_by: self.dispatch_by,
            fee: self.fee,
            freight: self.freight,
            paid_at: self.paid_at,
            printed_at: self.printed_at,
            sent_at: self.sent_at,
            delivered_at: self.delivered_at,
            ..before.clone()
        };
        quiet == *self
    }

    /// What the row adds to the sales of a day; `None` when it is no sale.
    fn sale(&self, zone: Zone) -> Option<Sale> {
        is_sale_status(self.status).then(|| Sale {
            day: zone.day(self.closed_at.unwrap_or(self.created_at)),
            units: self.quantity,
            gross: self.total,
        })
    }
}

/// Bits of a change's number below its second.
const CHANGE_BITS: u32 = 20;

/// The least number of a change at an instant.
pub const fn first_change(at: Instant) -> i64 {
    at.0.saturating_mul(1 << CHANGE_BITS)
}

/// When a change was.
const fn changed_at(change: i64) -> Instant {
    Instant(change >> CHANGE_BITS)
}

#[cfg(test)]
pub mod tests;
