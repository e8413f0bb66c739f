//! Listings as the marketplace shows them to their seller.
//!
//! Each document has the whole state of a listing. The document with the later
//! change wins, in whatever order they come. The owner is notified each time a
//! listing stops being `active` without the seller's doing.

pub mod pages;
pub mod store;
pub mod views;

#[cfg(test)]
mod tests;

use self::store::ListingRow;
use super::document::{ItemId, ListingDocument};
use super::news;
use super::orders::{Applied, BookContext};
use crate::base::{Instant, MlUserId};
use crate::db::{Result, WriteTx};
use crate::events::{self, EventType};
use crate::marketplace::books::BookWrite;
use crate::messages::{News, NotificationKind};

/// The state in which buyers can buy.
const ACTIVE: &str = "active";
/// The state of one that is over.
pub const CLOSED: &str = "closed";
/// The states that the marketplace has for listings. Programs narrow by one of them.
pub const LISTING_STATES: [&str; 7] =
    [ACTIVE, "paused", CLOSED, "under_review", "inactive", "payment_required", "not_yet_active"];
/// The states that an account's number of listings counts (docs/contract.md, "Sales").
const COUNTED: [&str; 2] = [ACTIVE, "paused"];
/// Reasons that the seller caused.
const OWN_DOING: [&str; 2] = ["paused_by_seller", "deleted"];

/// Updates an owner's listings from a document. The owner is notified of
/// changes from `news_from` on; older ones are history.
pub fn apply(
    (tx, context, owner): BookWrite<'_, '_>,
    listing: &ListingDocument,
    news_from: Instant,
) -> Result<Applied> {
    let before = store::stored(tx, owner, listing.id.number)?;
    if before.as_ref().is_some_and(|before| listing.updated_at < before.updated_at) {
        return Ok(Applied::Stale);
    }
    let after = to_store(tx, context, listing, before.as_ref())?;
    if before.as_ref() == Some(&after) {
        return Ok(Applied::Unchanged);
    }
    store::put(tx, owner, listing.id.number, &after)?;
    let status_before = match &before {
        Some(before) => Some(context.words.text(tx, before.status)?),
        None => None,
    };
    let status_before = status_before.as_deref();
    if is_counted(status_before) != is_counted(Some(&listing.status)) {
        store::recount(tx, owner, listing.seller)?;
    }
    let changed_at = if before.is_some() { listing.updated_at } else { listing.created_at };
    if changed_at >= news_from {
        events::raise(tx, owner, EventType::ListingChanged, listing.id.number)?;
    }
    if status_before == Some(ACTIVE) && listing.updated_at >= news_from {
        notify_owner((tx, context, owner), listing)?;
    }
    Ok(Applied::Stored)
}

/// Removes a listing that the marketplace does not have any more.
pub fn gone(write: BookWrite<'_, '_>, account: MlUserId, item: &ItemId) -> Result<Applied> {
    let (tx, context, owner) = write;
    let before = store::stored(tx, owner, item.number)?;
    if before.is_none_or(|before| before.ml_user_id != account) {
        return Ok(Applied::Unchanged);
    }
    context.effects.gone_listings.iter().try_for_each(|effect| effect(write, item.number))?;
    store::delete(tx, owner, account, item.number)?;
    store::recount(tx, owner, account)?;
    Ok(Applied::Stored)
}

fn is_counted(status: Option<&str>) -> bool {
    status.is_some_and(|status| COUNTED.contains(&status))
}

/// The row to store for a document.
fn to_store(
    tx: &WriteTx<'_>,
    context: &BookContext,
    listing: &ListingDocument,
    before: Option<&ListingRow>,
) -> Result<ListingRow> {
    let word = |text: &str| context.words.number(tx, text);
    // Reading many at once may leave out codes that a single reading shows.
    let known = before.filter(|before| {
        !listing.is_whole && (listing.hides_codes || before.updated_at == listing.updated_at)
    });
    let code = |said: &str, known: Option<&String>| {
        let known = known.filter(|known| !known.is_empty());
        known.map_or_else(|| said.to_owned(), String::clone)
    };
    Ok(ListingRow {
        ml_user_id: listing.seller,
        site: listing.id.site.clone(),
        title: listing.title.clone(),
        status: word(&listing.status)?,
        sub_status: listing.sub_status.clone(),
        price: listing.price,
        currency: word(&listing.currency)?,
        available: listing.available,
        sold: listing.sold,
        listing_type: word(&listing.listing_type)?,
        logistic_type: match &*listing.logistic_type {
            "" => None,
            kind => Some(word(kind)?),
        },
        category: listing.category.clone(),
        sku: code(&listing.sku, known.map(|before| &before.sku)),
        ean: code(&listing.ean, known.map(|before| &before.ean)),
        permalink: listing.permalink.clone(),
        thumbnail: listing.thumbnail.clone(),
        created_at: listing.created_at,
        updated_at: listing.updated_at,
    })
}

/// Notifies the owner that an active listing is not active any more, unless the
/// owner caused it.
fn notify_owner(write: BookWrite<'_, '_>, listing: &ListingDocument) -> Result<()> {
    let mut reasons = listing.sub_status.split(' ');
    if listing.status == ACTIVE || reasons.clone().any(|reason| OWN_DOING.contains(&reason)) {
        return Ok(());
    }
    let title = match &*listing.status {
        _ if reasons.any(|reason| reason == "out_of_stock") => "Anúncio sem estoque",
        "paused" => "Anúncio pausado",
        CLOSED => "Anúncio encerrado",
        "under_review" => "Anúncio em revisão",
        _ => "Anúncio fora do ar",
    };
    let id = listing.id.to_string();
    let about = if listing.title.is_empty() { &id } else { &listing.title };
    let cause = format!("anuncio:{id}:{}", listing.updated_at.0);
    let told = News {
        title,
        text: about,
        reference: Some(&id),
        ..News::notice(NotificationKind::Anuncio, &cause)
    };
    news::tell(write, listing.seller, told)
}
