//! Points for what happens at the marketplace: sales and linked accounts.

use super::ledger::{self, Cause};
use super::{Action, ProgramSettings};
use crate::base::{MlUserId, UserId};
use crate::db::{Result, WriteTx};
use crate::marketplace::books::orders::BookContext;
use crate::marketplace::books::orders::change::OrderChange;

/// Gives points for a sale, once, and takes them back when the order is no
/// longer a sale. Sales from before the account was linked give none.
pub fn reward_sale(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    if change.was_sale() == change.is_sale() {
        return Ok(());
    }
    let settings = ProgramSettings::of(&change.context.config);
    let day = settings.zone.day(change.sold_at());
    let cause = Cause { action: Action::Sale, id: change.order.0, day };
    if !change.is_sale() {
        return ledger::take_back(tx, settings, change.owner, cause);
    }
    if change.linked_at(tx)?.is_some_and(|at| day >= settings.zone.day(at)) {
        ledger::give(tx, settings, change.owner, cause)?;
    }
    Ok(())
}

/// Gives points for a linked account, once.
pub fn reward_link(
    tx: &WriteTx<'_>,
    context: &BookContext,
    owner: UserId,
    account: MlUserId,
) -> Result<()> {
    let settings = ProgramSettings::of(&context.config);
    let day = settings.zone.day(tx.now());
    ledger::give(tx, settings, owner, Cause { action: Action::Linked, id: account.0, day })?;
    Ok(())
}
