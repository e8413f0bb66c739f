//! Payment reminders of suppliers to sellers.
//!
//! A seller is reminded of an order at most once in 24 hours, however often the
//! supplier asks. The supplier cannot change the text.

use std::sync::Arc;

use serde_json::json;

use super::orders::DropOrder;
use crate::base::{Cents, DAY_S, Instant, UserId};
use crate::db::{Db, DbError, Lane, ReadTx, Result, WriteTx};
use crate::messages::choices::{self, ChannelSet};
use crate::messages::{self, News};
use crate::outbox::{Channel, MessageKind};

/// Seconds after a reminder in which no further one is sent.
pub const STANDS_S: i64 = DAY_S;

/// How a reminder is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A message by this channel, and a notice in the panel.
    Message(Channel),
    /// A notice in the seller's panel only, because no channel is connected.
    Panel,
}

impl Way {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message(channel) => channel.name(),
            Self::Panel => "panel",
        }
    }
}

/// How many sellers and orders the reminders are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub sellers: i64,
    /// Overdue orders of these sellers.
    pub orders: i64,
}

/// Reminds a seller of an open drop order; returns how the reminder is sent.
/// After a recent reminder none is sent, and the result says how it would be.
pub fn of_order(tx: &WriteTx<'_>, channel_set: ChannelSet, order: &DropOrder) -> Result<Way> {
    debug_assert!(order.status(tx.now()).is_open());
    if stands(tx, order.reminded_at) {
        return way(tx, channel_set, order.seller_id);
    }
    mark(tx, order.id)?;
    let (seller, amount) = (order.seller_id, order.amount);
    let owed = Overdue { seller, amount, orders: vec![order.id] };
    let what = format!("{}× {}", order.quantity, order.title);
    let key = format!("cobranca:{}:{}", order.id, tx.now().0);
    send(tx, channel_set, order.supplier_id, &order.supplier, &owed, &what, &key)
}

/// What a seller owes a supplier and is late with.
struct Overdue {
    seller: UserId,
    amount: Cents,
    orders: Vec<i64>,
}

/// Reminds all related sellers that have overdue orders, each in one message
/// about all of them. Works in pieces; what an interruption leaves is done when
/// it is asked for again.
pub fn of_all(db: &Db, channel_set: ChannelSet, supplier: UserId) -> Result<Told> {
    let (name, sellers) = db.read(Lane::Slow, |tx| overdue(tx, supplier, None))?;
    tell(db, channel_set, supplier, name, sellers)
}

/// The same for one seller.
pub fn of_seller(
    db: &Db,
    channel_set: ChannelSet,
    supplier: UserId,
    seller: UserId,
) -> Result<Told> {
    let (name, sellers) = db.read(Lane::Slow, |tx| overdue(tx, supplier, Some(seller)))?;
    tell(db, channel_set, supplier, name, sellers)
}

fn tell(
    db: &Db,
    channel_set: ChannelSet,
    supplier: UserId,
    name: String,
    sellers: Vec<Overdue>,
) -> Result<Told> {
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let told = Told {
        sellers: count(sellers.len()),
        orders: count(sellers.iter().map(|one| one.orders.len()).sum()),
    };
    let all = Arc::new((name, sellers));
    // The next seller, and how many of their orders are marked.
    let mut next = (0, 0);
    while next.0 < all.1.len() {
        let all = Arc::clone(&all);
        next = db.write_piece(move |tx| {
            let (mut place, mut marked) = next;
            while let Some(one) = all.1.get(place) {
                // Another call may have been faster.
                let stands = marked == 0 && stands(tx, last_told(tx, supplier, one.seller)?);
                while !stands && marked < one.orders.len() {
                    mark(tx, one.orders[marked])?;
                    marked += 1;
                    if tx.is_spent() && marked < one.orders.len() {
                        return Ok((place, marked));
                    }
                }
                if !stands {
                    bill(tx, channel_set, supplier, &all.0, one)?;
                }
                (place, marked) = (place + 1, 0);
                if tx.is_spent() {
                    break;
                }
            }
            Ok::<_, DbError>((place, marked))
        })?;
    }
    Ok(told)
}

/// The supplier's name, and the related sellers that have overdue orders, or one of them.
fn overdue(
    tx: &ReadTx<'_>,
    supplier: UserId,
    only: Option<UserId>,
) -> Result<(String, Vec<Overdue>)> {
    let rows: Vec<(UserId, i64, i64)> = tx.tuples(
        "SELECT seller_id, drop_order_id, amount_cents
         FROM drop_order
         WHERE supplier_id = ?1 AND state = 1 AND due_at <= ?2
           AND seller_id IN (SELECT seller_id FROM drop_relation WHERE supplier_id = ?1 AND state = 2)
           AND (?3 IS NULL OR seller_id = ?3)
         ORDER BY seller_id",
        (supplier, tx.now(), only),
    )?;
    let mut sellers: Vec<Overdue> = Vec::new();
    for (seller, order, cents) in rows {
        match sellers.last_mut().filter(|last| last.seller == seller) {
            Some(last) => {
                last.amount.0 += cents;
                last.orders.push(order);
            }
            None => sellers.push(Overdue { seller, amount: Cents(cents), orders: vec![order] }),
        }
    }
    let name = tx.maybe("SELECT name FROM user WHERE user_id = ?1", [supplier])?;
    Ok((name.unwrap_or_default(), sellers))
}

/// When a seller was told of the overdue order that was told longest ago.
fn last_told(tx: &ReadTx<'_>, supplier: UserId, seller: UserId) -> Result<Option<Instant>> {
    tx.value(
        "SELECT min(coalesce(reminded_at, 0)) FROM drop_order
         WHERE supplier_id = ?1 AND seller_id = ?2 AND state = 1 AND due_at <= ?3",
        (supplier, seller, tx.now()),
    )
}

fn mark(tx: &WriteTx<'_>, order: i64) -> Result<()> {
    tx.run("UPDATE drop_order SET reminded_at = ?2 WHERE drop_order_id = ?1", (order, tx.now()))
}

/// Tells a seller of all that is overdue.
fn bill(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    supplier: UserId,
    name: &str,
    late: &Overdue,
) -> Result<Way> {
    let what = match late.orders.len() {
        1 => "1 pedido em atraso".to_owned(),
        orders => format!("{orders} pedidos em atraso"),
    };
    let key = format!("cobranca:{supplier}:{}:{}", late.seller, tx.now().0);
    send(tx, channel_set, supplier, name, late, &what, &key)
}

fn stands(tx: &ReadTx<'_>, reminded_at: Option<Instant>) -> bool {
    reminded_at.is_some_and(|at| tx.now().since(at) < STANDS_S)
}

fn way(tx: &ReadTx<'_>, channel_set: ChannelSet, seller: UserId) -> Result<Way> {
    let channels = choices::channels_to(tx, channel_set, seller, MessageKind::DropReminder)?;
    Ok(channels.first().map_or(Way::Panel, |channel| Way::Message(*channel)))
}

fn send(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    supplier: UserId,
    name: &str,
    owed: &Overdue,
    what: &str,
    key: &str,
) -> Result<Way> {
    let amount = owed.amount.page();
    let news = News {
        title: "Pagamento a fornecedor",
        text: &format!("{amount} a {name}: {what}"),
        params: json!({
            "supplier_id": supplier.0, "supplier": name, "orders": owed.orders.len(),
            "amount": amount, "what": what,
        }),
        ..News::message(MessageKind::DropReminder, channel_set, key)
    };
    let told = messages::tell(tx, owed.seller, news)?;
    Ok(told.first().map_or(Way::Panel, |channel| Way::Message(*channel)))
}
