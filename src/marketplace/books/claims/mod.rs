//! Claims of buyers.
//!
//! Each document has the whole state of a claim. The document with the later
//! change wins, in whatever order they come. The owner is notified once when a
//! claim is opened, and once each time it is opened again.

pub mod pages;
pub mod store;
pub mod views;

#[cfg(test)]
mod tests;

pub use super::document::ClaimState;

use super::document::ClaimDocument;
use super::news;
use super::orders::{self, Applied};
use crate::base::{Instant, MlUserId};
use crate::db::Result;
use crate::events::{self, EventType};
use crate::marketplace::account::store::count_open;
use crate::marketplace::books::BookWrite;
use crate::messages::{News, NotificationKind};

/// Updates an owner's claims from a document. The owner is notified of claims
/// opened from `news_from` on; older ones are history.
pub fn apply(
    (tx, context, owner): BookWrite<'_, '_>,
    claim: &ClaimDocument,
    news_from: Instant,
) -> Result<Applied> {
    let before = store::stored(tx, owner, claim.id)?;
    if before.as_ref().is_some_and(|before| claim.updated_at < before.updated_at) {
        return Ok(Applied::Stale);
    }
    // Lists do not say where the goods are; what was said once stays.
    let was_back = before.as_ref().is_some_and(|before| before.came_back);
    let claim = &ClaimDocument { came_back: claim.came_back || was_back, ..claim.clone() };
    if before.as_ref() == Some(claim) {
        return Ok(Applied::Unchanged);
    }
    if let Some(before) = before.as_ref().filter(|before| before.opened_at != claim.opened_at) {
        store::delete(tx, owner, claim.id, before.opened_at)?;
    }
    store::put(tx, owner, claim)?;
    if claim.came_back && !was_back {
        // Orders that are not known yet ask for it when they come.
        for order in store::orders_of(tx, owner, claim)? {
            orders::note_return((tx, context, owner), order)?;
        }
    }
    let was_open = before.as_ref().is_some_and(ClaimDocument::is_open);
    if was_open != claim.is_open() {
        let by = if was_open { -1 } else { 1 };
        count_open(tx, "open_claims", owner, claim.seller, by)?;
    }
    // A claim that is first read closed is news only when it was opened since.
    let closed_from = if was_open { claim.updated_at } else { claim.opened_at };
    if !claim.is_open() && (was_open || before.is_none()) && closed_from >= news_from {
        events::raise(tx, owner, EventType::ClaimClosed, claim.id)?;
    }
    let is_again = before.is_some();
    let happened = if is_again { claim.updated_at } else { claim.opened_at };
    if claim.is_open() && !was_open && happened >= news_from {
        notify_owner((tx, context, owner), claim, is_again)?;
        events::raise(tx, owner, EventType::ClaimOpened, claim.id)?;
    }
    Ok(Applied::Stored)
}

/// Closes a claim that the marketplace does not have any more.
pub fn gone((tx, _, owner): BookWrite<'_, '_>, account: MlUserId, claim: i64) -> Result<Applied> {
    let before = store::stored(tx, owner, claim)?;
    let Some(before) = before.filter(|before| before.seller == account && before.is_open()) else {
        return Ok(Applied::Unchanged);
    };
    let after =
        ClaimDocument { state: ClaimState::Closed, due_at: None, action: String::new(), ..before };
    store::put(tx, owner, &after)?;
    count_open(tx, "open_claims", owner, account, -1)?;
    events::raise(tx, owner, EventType::ClaimClosed, claim)?;
    Ok(Applied::Stored)
}

fn notify_owner(write: BookWrite<'_, '_>, claim: &ClaimDocument, is_again: bool) -> Result<()> {
    let reference = claim.id.to_string();
    let about = match store::order_of(write.0, write.2, claim)? {
        Some(order) => format!("Venda {order}"),
        None => format!("Reclamação {reference}"),
    };
    let (title, cause) = if is_again {
        let again = format!("reclamacao:{reference}:{}", claim.updated_at.0);
        ("Reclamação reaberta", again)
    } else {
        ("Nova reclamação", format!("reclamacao:{reference}"))
    };
    let told = News {
        title,
        text: &about,
        reference: Some(&reference),
        ..News::notice(NotificationKind::Reclamacao, &cause)
    };
    news::tell(write, claim.seller, told)
}
