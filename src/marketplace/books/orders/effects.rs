//! Effects of a change, in the transaction that stores it: what an effect is,
//! and those of an order on the books themselves. `src/effects.rs` lists all of
//! them, so that the books do not know the rooms with the others.

use super::change::OrderChange;
use super::numbers::NumberKind;
use super::{ALL_DAYS, BookContext, EVERY_KIND, Sale, StoredOrder, first_of_parcel, store, sums};
use crate::base::{MlUserId, UserId};
use crate::changes;
use crate::db::{Result, WriteTx};
use crate::marketplace::books::document::OrderDocument;
use crate::marketplace::books::parcel::Marks;
use crate::marketplace::books::{BookWrite, news};
use crate::messages::{News, NotificationKind};

pub use super::webhook_events::raise_webhook_events;

/// An effect of a change of an order. It runs after the change is stored, with
/// the old and the new row.
pub type OrderEffect = fn(&WriteTx<'_>, &OrderChange<'_>) -> Result<()>;

/// An effect of an account that was linked, also when it was linked before.
pub type LinkEffect = fn(&WriteTx<'_>, &BookContext, UserId, MlUserId) -> Result<()>;

/// An effect of a listing that the marketplace does not have any more, before it is removed.
pub type GoneListingEffect = fn(BookWrite<'_, '_>, i64) -> Result<()>;

/// All effects, each list in the order in which they run.
#[derive(Clone, Copy)]
pub struct Effects {
    pub orders: &'static [OrderEffect],
    pub links: &'static [LinkEffect],
    pub gone_listings: &'static [GoneListingEffect],
}

pub(super) fn run(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    change.context.effects.orders.iter().try_for_each(|effect| effect(tx, change))
}

/// Names the order of claims about its parcel, which may have been read before it.
pub fn name_in_claims(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let OrderChange { owner, before, after, .. } = change;
    let key = |row: &StoredOrder| (row.shipping_id, row.created_at);
    if before.map(key) == Some(key(after)) {
        return Ok(());
    }
    if before.is_none() {
        // A cart of one order may be named by that order's number.
        store::name_in_claims(tx, *owner, NumberKind::Pack.resource(), change.order.0)?;
    }
    for parcel in [before.and_then(|before| before.shipping_id), after.shipping_id] {
        let Some(parcel) = parcel else { continue };
        tx.execute(
            "UPDATE claim SET order_id = ?3
             WHERE owner_id = ?1 AND resource_id = ?2 AND resource = 'shipment' AND order_id IS NOT ?3",
            (owner, parcel, first_of_parcel(tx, *owner, parcel)?),
        )?;
    }
    Ok(())
}

/// Updates the counts of orders by store, state and day.
pub fn count_orders(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let OrderChange { before, after, .. } = change;
    let key = |row: &StoredOrder| (row.ml_user_id, row.status, row.created_at);
    if before.map(key) == Some(key(after)) {
        return Ok(());
    }
    if let Some(before) = before {
        count(tx, change, before, -1)?;
    }
    count(tx, change, after, 1)
}

/// Adds `by` to the counts of an order: those of its store, state and day, and
/// the sums over all days and over all stores and states.
fn count(tx: &WriteTx<'_>, change: &OrderChange<'_>, order: &StoredOrder, by: i64) -> Result<()> {
    let owner = change.owner;
    let day = change.context.zone.day(order.created_at);
    for (seller, status) in [(order.ml_user_id.0, order.status), EVERY_KIND] {
        for day in [day, ALL_DAYS] {
            tx.execute(
                "INSERT INTO order_count (owner_id, ml_user_id, status, day, orders) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (owner_id, ml_user_id, status, day) DO UPDATE SET orders = orders + ?5",
                (owner, seller, status, day.0, by),
            )?;
            if by < 0 {
                tx.execute(
                    "DELETE FROM order_count
                     WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND day = ?4 AND orders = 0",
                    (owner, seller, status, day.0),
                )?;
            }
        }
    }
    Ok(())
}

/// Updates the sums of sales by store and day.
pub fn sum_sales(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let (owner, zone) = (change.owner, change.context.zone);
    let was = change.before.and_then(|before| Some((before.ml_user_id, before.sale(zone)?)));
    let is = change.after.sale(zone).map(|sale| (change.after.ml_user_id, sale));
    if was == is {
        return Ok(());
    }
    if let Some((seller, sale)) = was {
        add_sale(tx, owner, seller, sale, -1)?;
        tx.execute(
            "DELETE FROM sales_day WHERE owner_id = ?1 AND ml_user_id = ?2 AND day = ?3 AND orders = 0",
            (owner, seller, sale.day.0),
        )?;
    }
    match is {
        Some((seller, sale)) => add_sale(tx, owner, seller, sale, 1),
        None => Ok(()),
    }
}

/// Updates the sums by what was sold.
pub fn sum_sold(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    sums::follow(tx, change.context.zone, change.owner, change.before, change.after)
}

fn add_sale(
    tx: &WriteTx<'_>,
    owner: UserId,
    seller: MlUserId,
    sale: Sale,
    sign: i64,
) -> Result<()> {
    tx.run(
        "INSERT INTO sales_day (owner_id, ml_user_id, day, orders, units, gross_cents)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (owner_id, ml_user_id, day) DO UPDATE
         SET orders = orders + ?4, units = units + ?5, gross_cents = gross_cents + ?6",
        (owner, seller, sale.day.0, sign, sign * sale.units, sign * sale.gross.0),
    )
}

/// Notes the time of the change for pollers.
pub fn stamp(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    changes::stamp(tx, &change.context.issued, change.owner)
}

/// Notifies the owner of a sale, once for each order. What a parcel was divided into was
/// sold, and told, before.
pub fn notify(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let sale = change.document.filter(|order| order.is_sale() && !change.was_sale());
    let is_news = |order: &&OrderDocument| {
        let is_sibling = order.shipment.as_ref().is_some_and(|shipment| shipment.is_sibling);
        order.sold_at() >= change.news_from && !is_sibling
    };
    let Some(order) = sale.filter(is_news) else { return Ok(()) };
    let reference = order.id.to_string();
    let cause = format!("venda:{reference}");
    let total = order.total.in_currency(&order.currency);
    let told = News {
        title: "Nova venda",
        text: &format!("{} — {total}", words_of(order)),
        reference: Some(&reference),
        ..News::notice(NotificationKind::Venda, &cause)
    };
    news::tell((tx, change.context, change.owner), order.seller, told)
}

/// What an order sold, in words: `2× Cabo e mais 1 produto`.
fn words_of(order: &OrderDocument) -> String {
    let first = order.first();
    let title = if first.item.title.is_empty() { "Venda" } else { &first.item.title };
    let more = and_more(order.lines.len());
    format!("{}× {title}{more}", first.units)
}

/// What stands behind the first of some lines: ` e mais 2 produtos`; empty with one.
pub fn and_more(lines: usize) -> String {
    match lines {
        ..2 => String::new(),
        2 => " e mais 1 produto".to_owned(),
        lines => format!(" e mais {} produtos", lines - 1),
    }
}

/// Tells the owner that the marketplace says not to send an order, once, and only while it
/// can still be kept from being sent.
pub fn warn_of_fraud(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let OrderChange { before, after, .. } = change;
    let was_risk = before.is_some_and(|before| before.marks.has(Marks::FRAUD));
    let is_over = after.stage.is_over() || after.has_left();
    let is_risk = after.marks.has(Marks::FRAUD) && change.is_sale() && !is_over;
    if was_risk || !is_risk || change.sold_at() < change.news_from {
        return Ok(());
    }
    let reference = change.order.to_string();
    let cause = format!("fraude:{reference}");
    let told = News {
        title: "Não envie esta venda",
        text: &format!(
            "O marketplace suspeita de fraude na venda {reference}. Não envie; cancele."
        ),
        reference: Some(&reference),
        ..News::notice(NotificationKind::Venda, &cause)
    };
    news::tell((tx, change.context, change.owner), after.ml_user_id, told)
}
