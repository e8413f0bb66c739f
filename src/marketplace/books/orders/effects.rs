//! Effects of a change of an order, in one list. Each runs in the transaction
//! that stores the change, after it is stored, with the old and the new row. A
//! further effect is a function here and a line in [`EFFECTS`].

use super::{
    BookContext, StoredOrder, count, goods, is_sale_status, move_sale, notify_owner,
    sells_other_goods, webhook_events,
};
use crate::base::{Instant, OrderId, UserId};
use crate::catalog::stock::follow_order;
use crate::changes;
use crate::db::{Result, WriteTx};
use crate::drop;
use crate::marketplace::books::document::OrderDocument;
use crate::program::Action;
use crate::program::ledger::{self, Cause};

/// A change of an order: what it was and what it is.
pub(super) struct OrderChange<'c> {
    pub context: &'c BookContext,
    pub owner: UserId,
    pub order: OrderId,
    /// `None` for a new order.
    pub before: Option<&'c StoredOrder>,
    pub after: &'c StoredOrder,
    /// What the marketplace said of the order; `None` when only its shipment
    /// changed.
    pub document: Option<&'c OrderDocument>,
    /// The owner is notified of what happened from here on.
    pub news_from: Instant,
}

type Effect = fn(&WriteTx<'_>, &OrderChange<'_>) -> Result<()>;

const EFFECTS: &[Effect] = &[
    count_orders,
    sum_sales,
    move_stock,
    bill_for_supplier,
    stamp,
    notify,
    webhook_events::raise_webhook_events,
    reward,
];

/// Runs all effects of a change.
pub(super) fn run(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    EFFECTS.iter().try_for_each(|effect| effect(tx, change))
}

/// Updates the counts of orders by store, state and day.
fn count_orders(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let OrderChange { context, owner, before, after, .. } = change;
    let key = |row: &StoredOrder| (row.ml_user_id, row.status, row.created_at);
    if before.map(key) == Some(key(after)) {
        return Ok(());
    }
    if let Some(before) = before {
        count((tx, context, *owner), before, -1)?;
    }
    count((tx, context, *owner), after, 1)
}

/// Updates the sums of sales by store and day.
fn sum_sales(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    move_sale((tx, change.context, change.owner), change.before, change.after)
}

/// Updates the owner's stock of what was sold.
fn move_stock(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let Some(document) = change.document else { return Ok(()) };
    let is_other = || match change.before {
        Some(before) => sells_other_goods(tx, before, document),
        None => Ok(false),
    };
    follow_order(tx, change.owner, &goods(document), is_other)
}

/// Updates what the owner owes the supplier of what was sold.
fn bill_for_supplier(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    match change.document {
        Some(document) => {
            drop::orders::follow(tx, change.owner, &goods(document), change.context.payment_days)
        }
        None => Ok(()),
    }
}

/// Notes the time of the change for pollers.
fn stamp(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    changes::stamp(tx, &change.context.issued, change.owner)
}

/// Notifies the owner of a sale, once for each order.
fn notify(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let sale = change.document.filter(|order| order.is_sale());
    match sale.filter(|order| order.sold_at() >= change.news_from) {
        Some(order) => notify_owner((tx, change.context, change.owner), order),
        None => Ok(()),
    }
}

/// Gives points for a sale, once, and takes them back when the order is no
/// longer a sale. Sales from before the account was linked give none.
fn reward(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let OrderChange { context, owner, order, before, after, .. } = change;
    let was = before.is_some_and(|before| is_sale_status(before.status));
    let is = is_sale_status(after.status);
    if was == is {
        return Ok(());
    }
    let sold_at = after.closed_at.unwrap_or(after.created_at);
    let day = context.program.zone.day(sold_at);
    let cause = Cause { action: Action::Sale, id: order.0, day };
    if !is {
        return ledger::take_back(tx, context.program, *owner, cause);
    }
    let linked_at: Option<Instant> = tx.maybe(
        "SELECT linked_at FROM ml_account WHERE ml_user_id = ?1 AND owner_id = ?2",
        (after.ml_user_id, owner),
    )?;
    if linked_at.is_some_and(|at| day >= context.program.zone.day(at)) {
        ledger::give(tx, context.program, *owner, cause)?;
    }
    Ok(())
}
