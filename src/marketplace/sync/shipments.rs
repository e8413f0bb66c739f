//! Shipments: their state and kind, which searches of orders do not return.
//!
//! Each reading fetches the shipments of recent orders that have not arrived
//! yet. With the time that is left, it fetches shipments of older orders that
//! were never read, until there are none left.

use super::records::{self, FetchedRecord, Forbidden};
use super::{Asked, Step, StepContext, count_of};
use crate::base::{DAY_S, Instant, MlUserId, OrderId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::order_status::{OrderStatus, SaleState};
use crate::marketplace::books::orders;
use crate::marketplace::books::parcel::ParcelKnown;
use crate::row;

/// Shipments of orders older than this are read once.
const SPAN_S: i64 = 30 * DAY_S;
/// Orders that are checked at a time, and most shipments that a step requests.
const ORDERS: usize = 500;
const SHIPMENTS: usize = 40;
/// Most shipments of a reading, and most of older orders among them.
const MOST: i64 = 1_000;
const MOST_OLD: i64 = 200;
/// Final states of shipments.
const ENDED: [&str; 4] = ["delivered", "not_delivered", "cancelled", "closed"];
/// A sale that has no shipment so long after it was made is delivered as seller and buyer
/// agreed.
const AGREED_S: i64 = 2 * DAY_S;
/// Within this time after an order was called off, its shipment may still be on
/// its way to a final state.
const CALLING_OFF_S: i64 = 7 * DAY_S;

row! {
    /// A position in the list of all orders, the newest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct OrderPlace {
        created_at: Instant,
        order: OrderId = "order_id",
    }
}

impl OrderPlace {
    const NEWEST: Self = Self::at(Instant(i64::MAX));
    const END: Self = Self::at(Instant(i64::MIN));

    /// Smaller than all orders of an instant.
    const fn at(created_at: Instant) -> Self {
        let order = OrderId(i64::MIN);
        Self { created_at, order }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    /// The last order that was checked.
    at: OrderPlace,
    /// How far older orders were checked, in all readings.
    old: OrderPlace,
    /// How many shipments of older orders this reading may still request.
    left: i64,
}

impl Position {
    /// The beginning of a reading; `old` is from the readings before it.
    const fn beginning(old: OrderPlace) -> Self {
        Self { at: OrderPlace::NEWEST, old, left: MOST_OLD }
    }

    fn of(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        let mut place = || {
            Some(OrderPlace {
                created_at: Instant(numbers.next()??),
                order: OrderId(numbers.next()??),
            })
        };
        let (at, old) = (place()?, place()?);
        let left = numbers.next()??;
        Some(Self { at, old, left })
    }

    /// Moves on after a piece; returns whether the reading is over.
    fn pass(&mut self, piece: &Piece, edge: OrderPlace) -> bool {
        if self.at > edge {
            self.at = piece.last.unwrap_or_else(|| self.old.min(edge));
            return false;
        }
        self.old = piece.last.unwrap_or(OrderPlace::END);
        self.at = self.old;
        self.left -= count_of(piece.sent.len());
        let ends_reading = self.left <= 0 || self.old == OrderPlace::END;
        if ends_reading {
            *self = Self::beginning(self.old);
        }
        ends_reading
    }

    fn text(self) -> String {
        let Self { at, old, left } = self;
        format!("{} {} {} {} {left}", at.created_at.0, at.order, old.created_at.0, old.order)
    }
}

row! {
    /// The columns of an order that the check needs.
    struct SeenOrder {
        place: OrderPlace as row,
        account: MlUserId = "ml_user_id",
        status: i64,
        shipment: Option<i64> = "shipping_id",
        /// State of the shipment.
        state: Option<i64> = "shipping_status",
        updated_at: Instant,
        known: ParcelKnown as row,
    }
}

/// An order whose shipment is to be requested.
#[derive(Clone, Copy)]
struct Sent {
    order: OrderId,
    shipment: i64,
    known: ParcelKnown,
}

/// The shipments to request in one part of the list of orders.
struct Piece {
    sent: Vec<Sent>,
    /// Sales that have no shipment, and will have none.
    agreed: Vec<OrderId>,
    /// The last order that was checked; `None` when there are no more.
    last: Option<OrderPlace>,
}

/// Reads some shipments, those of the newest orders first.
pub fn read(reading: &StepContext<'_>) -> Asked<Step> {
    let known = Position::of(&reading.state.position);
    let mut position = known.unwrap_or(Position::beginning(OrderPlace::NEWEST));
    let edge = OrderPlace::at(reading.began.minus(SPAN_S));
    let (mut sent, mut agreed) = (Vec::new(), Vec::new());
    let mut ends_reading = false;
    // Orders with nothing to request take no step of their own.
    while !ends_reading && sent.len() < SHIPMENTS && !reading.is_time_over() {
        let piece = reading.look_up(|tx| piece(tx, reading, position, edge))?;
        let asked = count_of(sent.len() + piece.sent.len());
        ends_reading = position.pass(&piece, edge) || reading.done_before() + asked >= MOST;
        sent.extend(piece.sent);
        agreed.extend(piece.agreed);
    }
    if !agreed.is_empty() {
        reading.write(move |tx, account, context| {
            let write = (tx, context, account.owner);
            agreed.iter().try_for_each(|order| orders::note_without_parcel(write, *order))
        })?;
    }
    let zone = reading.app.zone();
    let read = records::fetch_each(
        reading,
        sent,
        Forbidden::Area,
        |client, caller, sent| client.parcel(caller, sent.shipment, &sent.known, zone),
        |tx, account, context, sent, fetched| {
            if let FetchedRecord::Found(shipment) = fetched {
                let write = (tx, context, account.owner);
                orders::apply_shipment(write, sent.order, sent.shipment, shipment)?;
            }
            Ok(())
        },
    )?;
    Ok(Step {
        ends_reading,
        position: position.text(),
        read: count_of(read),
        expected: None,
        good_until: if ends_reading { Some(reading.began) } else { reading.state.good_until },
    })
}

fn piece(
    tx: &ReadTx<'_>,
    reading: &StepContext<'_>,
    from: Position,
    edge: OrderPlace,
) -> Result<Piece> {
    let account = reading.account;
    let is_recent = from.at > edge;
    let words = &reading.app.marketplace.words;
    let done: Vec<_> = ENDED.iter().map(|word| words.find(tx, word)).collect::<Result<_>>()?;
    let oldest = if is_recent { edge } else { OrderPlace::END };
    let orders: Vec<SeenOrder> = tx.records(
        "FROM sale_order o
         WHERE owner_id = ?1 AND created_at >= ?2 AND (created_at, order_id) < (?3, ?4)
         ORDER BY created_at DESC, order_id DESC
         LIMIT ?5",
        (account.owner, oldest.created_at, from.at.created_at, from.at.order, count_of(ORDERS)),
    )?;
    let is_own = |order: &SeenOrder| order.account == account.ml_user_id;
    let wanted = |order: &SeenOrder| {
        let is_late = reading.began.since(order.updated_at) > CALLING_OFF_S;
        let is_off = is_late && OrderStatus::sale_of(order.status) == SaleState::Cancelled;
        let is_done = done.contains(&order.state) || is_off || !is_recent;
        order.shipment.filter(|_| is_own(order) && (order.state.is_none() || !is_done))
    };
    let most =
        if is_recent { SHIPMENTS } else { SHIPMENTS.min(usize::try_from(from.left).unwrap_or(0)) };
    let (mut sent, mut agreed) = (Vec::new(), Vec::new());
    for order in &orders {
        let is_old = reading.began.since(order.place.created_at) > AGREED_S;
        if order.shipment.is_none() && is_old && is_own(order) && order.known.wants_cost() {
            agreed.push(order.place.order);
        }
        if let Some(shipment) = wanted(order) {
            sent.push(Sent { order: order.place.order, shipment, known: order.known });
        }
        if sent.len() == most {
            return Ok(Piece { sent, agreed, last: Some(order.place) });
        }
    }
    let last = orders.last().map(|order| order.place);
    Ok(Piece { sent, agreed, last: last.filter(|_| orders.len() == ORDERS) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_written() {
        let place = OrderPlace { created_at: Instant(1_795_140_600), order: OrderId(2_000_001) };
        for (at, old) in [(OrderPlace::NEWEST, place), (place, OrderPlace::END)] {
            let position = Position { at, old, left: 7 };
            assert_eq!(Position::of(&position.text()), Some(position));
        }
        assert_eq!(Position::of(""), None);
        assert_eq!(Position::of("1 2"), None);
    }
}
