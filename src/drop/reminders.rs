//! Payment reminders of suppliers to sellers.
//!
//! A seller is reminded of an order at most once in 24 hours, however often the
//! supplier asks. The supplier cannot change the text.

use serde_json::json;

use super::orders::{DropOrder, Standing};
use crate::base::{Cents, DAY_S, Instant, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::messages::choices::{self, ChannelSet};
use crate::messages::{self, NewNotification, NotificationKind};
use crate::outbox::{self, Channel, MessageKind, NewMessage};

/// Seconds after a reminder in which no further one is sent.
const STANDS_S: i64 = DAY_S;

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
    debug_assert!(matches!(order.standing(tx.now()), Standing::Pending | Standing::Overdue));
    if stands(tx, order.reminded_at) {
        return way(tx, channel_set, order.seller_id);
    }
    tx.run(
        "UPDATE drop_order SET reminded_at = ?2 WHERE drop_order_id = ?1",
        (order.id, tx.now()),
    )?;
    let bill = Bill {
        supplier: order.supplier_id,
        name: &order.supplier,
        seller: order.seller_id,
        orders: 1,
        amount: order.amount,
        what: format!("{}× {}", order.quantity, order.title),
        key: format!("cobranca:{}:{}", order.id, tx.now().0),
    };
    send(tx, channel_set, &bill)
}

/// Reminds all related sellers that have overdue orders, each in one message
/// about all of them.
pub fn of_all(tx: &WriteTx<'_>, channel_set: ChannelSet, supplier: UserId) -> Result<Told> {
    let now = tx.now();
    let sellers: Vec<(UserId, i64, i64, Option<Instant>)> = tx.tuples(
        "SELECT seller_id, count(*), sum(amount_cents), min(coalesce(reminded_at, 0))
         FROM drop_order
         WHERE supplier_id = ?1 AND state = 1 AND due_at <= ?2
           AND seller_id IN (SELECT seller_id FROM drop_relation WHERE supplier_id = ?1 AND state = 2)
         GROUP BY seller_id",
        (supplier, now),
    )?;
    let name: String =
        tx.maybe("SELECT name FROM user WHERE user_id = ?1", [supplier])?.unwrap_or_default();
    let mut told = Told::default();
    for (seller, orders, cents, oldest) in sellers {
        told.sellers += 1;
        told.orders += orders;
        if stands(tx, oldest) {
            continue;
        }
        tx.run(
            "UPDATE drop_order SET reminded_at = ?3
             WHERE supplier_id = ?1 AND seller_id = ?2 AND state = 1 AND due_at <= ?3",
            (supplier, seller, now),
        )?;
        let what = match orders {
            1 => "1 pedido vencido".to_owned(),
            orders => format!("{orders} pedidos vencidos"),
        };
        let bill = Bill {
            supplier,
            name: &name,
            seller,
            orders,
            amount: Cents(cents),
            what,
            key: format!("cobranca:{supplier}:{seller}:{}", now.0),
        };
        send(tx, channel_set, &bill)?;
    }
    Ok(told)
}

fn stands(tx: &ReadTx<'_>, reminded_at: Option<Instant>) -> bool {
    reminded_at.is_some_and(|at| tx.now().since(at) < STANDS_S)
}

/// The content of a reminder.
struct Bill<'b> {
    supplier: UserId,
    /// Name of the supplier.
    name: &'b str,
    seller: UserId,
    orders: i64,
    amount: Cents,
    what: String,
    key: String,
}

fn way(tx: &ReadTx<'_>, channel_set: ChannelSet, seller: UserId) -> Result<Way> {
    let channels = choices::channels_to(tx, channel_set, seller, MessageKind::DropReminder)?;
    Ok(channels.first().map_or(Way::Panel, |channel| Way::Message(*channel)))
}

fn send(tx: &WriteTx<'_>, channel_set: ChannelSet, bill: &Bill<'_>) -> Result<Way> {
    let about = format!("{} a {}: {}", bill.amount.page(), bill.name, bill.what);
    let told = NewNotification {
        kind: NotificationKind::Parceiro,
        title: "Pagamento a fornecedor",
        message: &about,
        ml_user_id: None,
        reference: None,
        cause: &bill.key,
    };
    messages::store::notify(tx, bill.seller, &told)?;
    let way = way(tx, channel_set, bill.seller)?;
    if let Way::Message(channel) = way {
        let new = NewMessage {
            channel,
            user: bill.seller,
            kind: MessageKind::DropReminder,
            params: json!({
                "supplier_id": bill.supplier.0, "supplier": bill.name, "orders": bill.orders,
                "amount": bill.amount.page(), "what": bill.what,
            }),
            key: &bill.key,
            expires_at: Some(tx.now().plus(DAY_S)),
        };
        outbox::enqueue(tx, &new)?;
    }
    Ok(way)
}
