//! Webhook events of orders. Only news raises events; history that is read when
//! an account is linked does not.

use super::StoredOrder;
use super::change::OrderChange;
use crate::db::{Result, WriteTx};
use crate::events::{self, EventType};
use crate::marketplace::books::order_status::{OrderStatus, SaleState};
use crate::marketplace::books::parcel::Marks;

/// The states of a parcel that is on its way or was, and of one that arrived.
const LEFT: [&str; 3] = ["shipped", "delivered", "not_delivered"];
const ARRIVED: [&str; 1] = ["delivered"];

/// Raises the events of a change, each time that an order comes to a state. Documents that
/// repeat or come late are no changes.
pub fn raise_webhook_events(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let tell = |kind| events::raise(tx, change.owner, kind, change.order.0);
    if change.document.is_some() {
        let (before, after, news_from) = (change.before, change.after, change.news_from);
        let is_new = after.created_at >= news_from;
        if before.is_none() && is_new {
            tell(EventType::OrderCreated)?;
        }
        if change.is_sale() && !change.was_sale() && change.sold_at() >= news_from {
            tell(EventType::OrderPaid)?;
        }
        // For an older order only a change since `news_from` is news.
        let is_news = is_new || before.is_some() && after.updated_at >= news_from;
        if is_called_off(after) && !before.is_some_and(is_called_off) && is_news {
            tell(EventType::OrderCancelled)?;
        }
    }
    if is_now(tx, change, &LEFT)? {
        tell(EventType::OrderShipped)?;
    }
    if is_now(tx, change, &ARRIVED)? {
        tell(EventType::OrderDelivered)?;
    }
    if is_update(tx, change)? { tell(EventType::OrderUpdated) } else { Ok(()) }
}

/// Whether the change is one of an order that programs may know: told of whatever the other
/// events tell, so that who follows this one has all. The history of an account that
/// was linked is read piece by piece; what is first learned so of an old parcel is none.
fn is_update(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<bool> {
    let Some(before) = change.before else { return Ok(false) };
    let after = change.after;
    if before.shipping_status.is_some() && before.shipping_status != after.shipping_status {
        return Ok(true);
    }
    if change.is_of_parcel() && !is_shown(before, after) {
        return Ok(false);
    }
    if change.document.is_some() {
        return Ok(after.created_at.max(after.updated_at) >= change.news_from);
    }
    Ok(change.linked_at(tx)?.is_some_and(|at| after.created_at >= at))
}

/// Whether programs see a difference of two rows whose parcel alone changed.
fn is_shown(before: &StoredOrder, after: &StoredOrder) -> bool {
    (before.shipping_status, before.logistic_type) != (after.shipping_status, after.logistic_type)
}

/// Whether it is no sale any more. What was divided into other orders is still sold.
fn is_called_off(row: &StoredOrder) -> bool {
    OrderStatus::sale_of(row.status) == SaleState::Cancelled && !row.marks.has(Marks::SPLIT)
}

/// Whether the parcel has come to one of these states since the order was last read. The
/// first reading of an old order may find a parcel that was there long ago.
fn is_now(tx: &WriteTx<'_>, change: &OrderChange<'_>, states: &[&str]) -> Result<bool> {
    let known = change.before.and_then(|before| before.shipping_status);
    let status = change.after.shipping_status;
    if known == status || !is_one_of(tx, change, status, states)? {
        return Ok(false);
    }
    if known.is_some() {
        return Ok(!is_one_of(tx, change, known, states)?);
    }
    Ok(change.linked_at(tx)?.is_some_and(|at| change.after.created_at >= at))
}

fn is_one_of(
    tx: &WriteTx<'_>,
    change: &OrderChange<'_>,
    status: Option<i64>,
    states: &[&str],
) -> Result<bool> {
    let Some(status) = status else { return Ok(false) };
    let word = change.context.words.text(tx, status)?;
    Ok(states.contains(&&*word))
}
