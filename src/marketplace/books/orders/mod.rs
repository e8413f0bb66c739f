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
pub mod lines;
pub mod list;
mod narrow;
mod numbers;
pub mod of_listing;
pub mod pages;
mod runs;
pub mod sold;
mod store;
pub mod sums;
pub mod top;
pub mod views;
mod webhook_events;

pub use numbers::{all_with, first_with, of_number};
pub use store::{first_of_parcel, is_sale, known_of_parcel, of_parcel, parcel_of};

use std::sync::Arc;

use self::change::OrderChange;
use self::effects::Effects;
use self::lines::StoredLine;
use super::document::{OrderDocument, Shipment};
use super::order_status::{OrderStatus, SaleState};
use super::parcel::{Marks, ParcelStage};
use super::words::{BRL, Words};
use crate::app::App;
use crate::base::{Cents, Day, Instant, MlUserId, OrderId, UserId, Zone};
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
        /// Its lines, when it has several; the columns above have the first.
        basket: Option<i64> = "basket_id",
        pack_id: Option<i64>,
        substatus: Option<i64>,
        stage: ParcelStage,
        marks: Marks,
        refunded: Cents = "refunded_cents",
        deadline_asked_at: Option<Instant>,
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
    if let Some(shipment) = &order.shipment {
        // The marketplace does not always send a notification for each order of a parcel.
        let stage = ParcelStage::of(&shipment.status, &shipment.substatus, &shipment.logistic_type);
        if order.pack_id.is_some() || !stage.is_to_send() {
            for other in of_parcel(tx, owner, order.seller, number)? {
                if other != order.id {
                    apply_shipment((tx, context, owner), other, number, shipment)?;
                }
            }
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
    let mut after = to_store(tx, context, owner, order, before.as_ref())?;
    numbers::note(tx, owner, order, before.as_ref().and_then(|before| before.pack_id))?;
    if before.as_ref() == Some(&after) {
        return Ok(Applied::Unchanged);
    }
    if let Some(before) = &before
        && after.is_quietly_other(before, lines::are_same_goods(tx, before, &after)?)
    {
        store::put(tx, owner, order.id, &after)?;
        sums::follow(tx, context.zone, owner, Some(before), &after)?;
        return Ok(Applied::Unchanged);
    }
    if let Some(before) = before.as_ref().filter(|before| before.created_at != after.created_at) {
        store::delete(tx, owner, order.id, before.created_at)?;
    }
    after.changed = store::next_change(tx, owner)?;
    store::put(tx, owner, order.id, &after)?;
    lines::index(tx, owner, order.id, before.as_ref(), &after)?;
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
    owner: UserId,
    order: &OrderDocument,
    before: Option<&StoredOrder>,
) -> Result<StoredOrder> {
    let same_shipment = before.filter(|before| before.shipping_id == order.shipping_id);
    let known_nickname =
        before.map(|before| &before.buyer_nickname).filter(|_| order.buyer_nickname.is_empty());
    let marks = match before {
        Some(before) => before.marks,
        None => Marks::default().with(Marks::CAME_BACK, numbers::came_back(tx, owner, order)?),
    };
    let lines = to_lines(tx, order, before)?;
    let (first, fee) = (lines[0], lines::fee(&lines));
    let without_parcel = StoredOrder {
        created_at: order.created_at,
        ml_user_id: order.seller,
        status: context.words.number(tx, &order.status)?,
        total: order.total,
        currency: context.words.number(tx, &order.currency)?,
        closed_at: order.closed_at,
        updated_at: order.updated_at,
        item_id: first.item_id,
        variation_id: first.variation_id,
        item_version: first.item_version,
        quantity: order.units(),
        buyer_nickname: known_nickname.unwrap_or(&order.buyer_nickname).clone(),
        shipping_id: order.shipping_id,
        shipping_status: same_shipment.and_then(|before| before.shipping_status),
        logistic_type: same_shipment.and_then(|before| before.logistic_type),
        shipment_at: same_shipment.and_then(|before| before.shipment_at),
        // What was told of these goods stays; of others it says nothing.
        fee: fee.or_else(|| {
            let goods = (first.item_id, order.units(), order.total);
            let same = before.filter(|one| (one.item_id, one.quantity, one.total) == goods);
            same.and_then(|before| before.fee)
        }),
        freight: match same_shipment.and_then(|before| before.freight) {
            // Nothing is sent, so nothing is paid for it.
            None if order.is_to_agree => Some(Cents(0)),
            known => known,
        },
        paid_at: order.paid_at.or(before.and_then(|before| before.paid_at)),
        printed_at: same_shipment.and_then(|before| before.printed_at),
        sent_at: same_shipment.and_then(|before| before.sent_at),
        delivered_at: same_shipment.and_then(|before| before.delivered_at),
        dispatch_by: same_shipment.and_then(|before| before.dispatch_by),
        changed: before.map_or(0, |before| before.changed),
        basket: if lines.len() > 1 { Some(lines::ensure_basket(tx, &lines)?) } else { None },
        pack_id: order.pack_id,
        substatus: same_shipment.and_then(|before| before.substatus),
        stage: same_shipment.map_or(ParcelStage::Unknown, |before| before.stage),
        marks: marks.with(Marks::FRAUD, order.is_fraud_risk).with(Marks::SPLIT, order.is_split),
        refunded: order.refunded,
        deadline_asked_at: same_shipment.and_then(|before| before.deadline_asked_at),
    };
    let default = Shipment::default();
    let read = order.shipment.as_ref();
    with_shipment(tx, context, &without_parcel, read.unwrap_or(&default))
}

/// The lines of a document, each with the wording that it was sold with.
fn to_lines(
    tx: &WriteTx<'_>,
    order: &OrderDocument,
    before: Option<&StoredOrder>,
) -> Result<Vec<StoredLine>> {
    let known = match before {
        Some(before) if before.basket.is_some() || order.lines.len() > 1 => before.lines(tx)?,
        _ => Vec::new(),
    };
    order
        .lines
        .iter()
        .map(|line| {
            let thing = (line.item.number, line.item.variation);
            let version = known
                .iter()
                .find(|known| (known.item_id, known.variation_id) == thing)
                .map(|known| known.item_version)
                .or_else(|| {
                    let before = before.filter(|one| (one.item_id, one.variation_id) == thing);
                    before.map(|before| before.item_version)
                });
            let line = StoredLine {
                item_id: line.item.number,
                variation_id: line.item.variation,
                item_version: store::ensure_item_version(tx, &line.item, version)?,
                units: line.units,
                unit: line.unit_price,
                fee: line.fee,
            };
            let told = known.iter().find(|known| known.goods() == line.goods());
            Ok(StoredLine { fee: line.fee.or_else(|| told.and_then(|known| known.fee)), ..line })
        })
        .collect()
}

/// A row with what was read of its shipment; the later of two states of a shipment wins,
/// as with the order. What the reading leaves out stays as it was: dates of what happened
/// first, and the last deadline that was told.
fn with_shipment(
    tx: &WriteTx<'_>,
    context: &BookContext,
    row: &StoredOrder,
    read: &Shipment,
) -> Result<StoredOrder> {
    let word = |text: &str| match text {
        "" => Ok(None),
        text => context.words.number(tx, text).map(Some),
    };
    let is_told = !read.status.is_empty();
    let is_older = read.updated_at.is_some() && read.updated_at < row.shipment_at;
    let mut after = StoredOrder {
        printed_at: read.printed_at.or(row.printed_at),
        sent_at: read.sent_at.or(row.sent_at),
        delivered_at: read.delivered_at.or(row.delivered_at),
        dispatch_by: read.dispatch_by.or(row.dispatch_by),
        deadline_asked_at: read.deadline_asked_at.or(row.deadline_asked_at),
        ..row.clone()
    };
    if is_told && !is_older {
        after.shipping_status = word(&read.status)?;
        after.substatus = word(&read.substatus)?;
        after.logistic_type = word(&read.logistic_type)?;
        after.shipment_at = read.updated_at.or(row.shipment_at);
        after.marks = row.marks.with(Marks::SAME_DAY, read.is_same_day);
        if read.status == "to_be_agreed" {
            after.freight = after.freight.or(Some(Cents(0)));
        }
    }
    let is_risk = after.marks.has(Marks::FRAUD);
    if is_told && !is_older || is_risk != (after.stage == ParcelStage::DoNotSend) {
        after.stage = stage(tx, context, &after)?;
    }
    if !after.stage.is_to_send() {
        after.deadline_asked_at = None;
        after.marks = after.marks.with(Marks::REPRINT, false);
    }
    Ok(after)
}

/// The stage of a row's parcel.
fn stage(tx: &WriteTx<'_>, context: &BookContext, row: &StoredOrder) -> Result<ParcelStage> {
    let text = |number: Option<i64>| match number {
        None => Ok(Arc::from("")),
        Some(number) => context.words.text(tx, number),
    };
    let (status, substatus) = (text(row.shipping_status)?, text(row.substatus)?);
    let stage = ParcelStage::of(&status, &substatus, &text(row.logistic_type)?);
    Ok(match stage {
        _ if row.marks.has(Marks::FRAUD) && stage.is_to_send() => ParcelStage::DoNotSend,
        ParcelStage::Printed if row.marks.has(Marks::REPRINT) => ParcelStage::ToPrint,
        stage => stage,
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
    let after = with_shipment(tx, context, &before, read)?;
    let applied = put_parcel((tx, context, owner), order, &before, after)?;
    if read.cost.is_some() {
        freight::share((tx, context, owner), number, before.created_at, read.cost)?;
    }
    Ok(applied)
}

/// Notes that nothing is sent for an order, so that nothing is paid for sending it.
pub fn note_without_parcel((tx, context, owner): BookWrite<'_, '_>, order: OrderId) -> Result<()> {
    let before = store::stored(tx, owner, order)?;
    let Some(before) = before.filter(|one| one.shipping_id.is_none() && one.freight.is_none())
    else {
        return Ok(());
    };
    let after = StoredOrder { freight: Some(Cents(0)), ..before.clone() };
    put_parcel((tx, context, owner), order, &before, after).map(drop)
}

/// Notes that the goods of an order, which had left, are back with their seller.
pub fn note_return((tx, context, owner): BookWrite<'_, '_>, order: OrderId) -> Result<Applied> {
    let Some(before) = store::stored(tx, owner, order)? else { return Ok(Applied::Stale) };
    let after = StoredOrder { marks: before.marks.with(Marks::CAME_BACK, true), ..before.clone() };
    put_parcel((tx, context, owner), order, &before, after)
}

/// Has the label of a parcel that was printed here printed again, or not any more. The
/// marketplace goes on calling it printed.
pub fn mark_reprint(
    tx: &WriteTx<'_>,
    owner: UserId,
    seller: MlUserId,
    parcel: i64,
    again: bool,
) -> Result<()> {
    for order in of_parcel(tx, owner, seller, parcel)? {
        let Some(before) = store::stored(tx, owner, order)? else { continue };
        let stage =
            if before.stage.has_label() && again { ParcelStage::ToPrint } else { before.stage };
        let after = StoredOrder {
            stage,
            marks: before.marks.with(Marks::REPRINT, again && before.stage.has_label()),
            ..before.clone()
        };
        if after != before {
            store::put(tx, owner, order, &after)?;
        }
    }
    Ok(())
}

/// Stores a row that differs in its parcel alone, with the effects of what is seen of it.
fn put_parcel(
    (tx, context, owner): BookWrite<'_, '_>,
    order: OrderId,
    before: &StoredOrder,
    after: StoredOrder,
) -> Result<Applied> {
    if after == *before {
        return Ok(Applied::Unchanged);
    }
    // Others are told of the state alone; the finer one says what its seller has to do.
    let shown = |row: &StoredOrder| {
        (row.shipping_status, row.logistic_type, row.marks, row.has_left(), row.is_back())
    };
    let is_shown = shown(before) != shown(&after);
    let changed = if is_shown { store::next_change(tx, owner)? } else { before.changed };
    let after = StoredOrder { changed, ..after };
    store::put(tx, owner, order, &after)?;
    if !is_shown {
        // Else the effects do so.
        sums::follow(tx, context.zone, owner, Some(before), &after)?;
        let fine = |row: &StoredOrder| (row.substatus, row.stage);
        let is_told = fine(before) != fine(&after);
        return Ok(if is_told { Applied::Stored } else { Applied::Unchanged });
    }
    let (before, after, news_from) = (Some(before), &after, tx.now());
    let change = OrderChange { context, owner, order, before, after, document: None, news_from };
    effects::run(tx, &change)?;
    Ok(Applied::Stored)
}

impl StoredOrder {
    /// Whether it differs from an older row, and only in what nobody is told of: times,
    /// the finer state of its parcel, and what the marketplace takes.
    fn is_quietly_other(&self, before: &Self, are_same_goods: bool) -> bool {
        let quiet = Self {
            basket: if are_same_goods { self.basket } else { before.basket },
            shipment_at: self.shipment_at,
            dispatch_by: self.dispatch_by,
            fee: self.fee,
            freight: self.freight,
            paid_at: self.paid_at,
            printed_at: self.printed_at,
            sent_at: self.sent_at,
            delivered_at: self.delivered_at,
            pack_id: self.pack_id,
            substatus: self.substatus,
            stage: self.stage,
            deadline_asked_at: self.deadline_asked_at,
            ..before.clone()
        };
        let whereabouts = |row: &Self| (row.has_left(), row.is_back());
        quiet == *self && whereabouts(self) == whereabouts(before)
    }

    /// What the row adds to the sales of a day; `None` when it is no sale.
    fn sale(&self, zone: Zone) -> Option<Sale> {
        is_sale_status(self.status).then(|| Sale {
            day: zone.day(self.closed_at.unwrap_or(self.created_at)),
            units: self.quantity,
            gross: self.reais(),
        })
    }

    /// Its total where that is in reais; an amount in another currency is never added to
    /// them.
    fn reais(&self) -> Cents {
        if self.currency == BRL { self.total } else { Cents(0) }
    }

    /// Whether its goods, when they had left, are with their seller again, or are sold by
    /// other orders now.
    const fn is_back(&self) -> bool {
        self.marks.has(Marks::CAME_BACK)
            || self.marks.has(Marks::SPLIT)
            || matches!(self.stage, ParcelStage::Returned)
    }

    /// Whether its parcel has left its seller, as far as was told.
    fn has_left(&self) -> bool {
        self.sent_at.is_some() || self.stage.is_away()
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
