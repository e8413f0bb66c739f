//! Effects of a change, in the transaction that stores it: what an effect is,
//! and those of an order on the books themselves. `src/effects.rs` lists all of
//! them, so that the books do not know the rooms with the others.

use super::change::OrderChange;
use super::{BookContext, StoredOrder, count, move_sale, notify_owner};
use crate::base::{MlUserId, UserId};
use crate::changes;
use crate::db::{Result, WriteTx};

pub use super::webhook_events::raise_webhook_events;

/// An effect of a change of an order. It runs after the change is stored, with
/// the old and the new row.
pub type OrderEffect = fn(&WriteTx<'_>, &OrderChange<'_>) -> Result<()>;

/// An effect of an account that was linked, also when it was linked before.
pub type LinkEffect = fn(&WriteTx<'_>, &BookContext, UserId, MlUserId) -> Result<()>;

/// All effects, each list in the order in which they run.
#[derive(Clone, Copy)]
pub struct Effects {
    pub of_orders: &'static [OrderEffect],
    pub of_links: &'static [LinkEffect],
}

/// Runs all effects of a change.
pub(super) fn run(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    change.context.effects.of_orders.iter().try_for_each(|effect| effect(tx, change))
}

/// Updates the counts of orders by store, state and day.
pub fn count_orders(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
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
pub fn sum_sales(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    move_sale((tx, change.context, change.owner), change.before, change.after)
}

/// Notes the time of the change for pollers.
pub fn stamp(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    changes::stamp(tx, &change.context.issued, change.owner)
}

/// Notifies the owner of a sale, once for each order.
pub fn notify(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let sale = change.document.filter(|order| order.is_sale());
    match sale.filter(|order| order.sold_at() >= change.news_from) {
        Some(order) => notify_owner((tx, change.context, change.owner), order),
        None => Ok(()),
    }
}
