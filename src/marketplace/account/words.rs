//! The state of a linked account, in words of the pages that show it.

use super::store::AccountSummary;
use crate::base::{Instant, Zone};
use crate::marketplace::sync::health::{Health, Trouble};
use crate::marketplace::sync::orders;
use crate::marketplace::sync::store::AreaState;
use crate::panel::Badge;

/// The areas of one account, taken from those of all accounts.
pub fn own_areas<'a>(
    account: &AccountSummary,
    areas: &'a [AreaState],
) -> impl Iterator<Item = &'a AreaState> + use<'a> {
    let id = account.linked.ml_user_id;
    areas.iter().filter(move |state| state.account == id)
}

/// The time since which the account's orders are stored; `None` when all are.
pub fn history_from(account: &AccountSummary, areas: &[AreaState]) -> Option<Instant> {
    orders::history_from(account.linked.linked_at, own_areas(account, areas))
}

pub fn link_badge(account: &AccountSummary, health: &Health) -> Badge {
    match (account.linked.token_ok, &health.trouble) {
        (false, _) => Badge::LinkLost,
        (true, Some(_)) => Badge::Attention,
        (true, None) => Badge::Linked,
    }
}

/// The areas that cannot be read and may be incomplete, and since when.
pub fn missing(trouble: &Trouble, zone: Zone) -> String {
    format!("{}: sem leitura desde {}.", trouble.areas, zone.page(trouble.since))
}
