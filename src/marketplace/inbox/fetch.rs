//! Fetches the record that a notification is about, and brings it into the
//! books.

use super::outcome::InboxOutcome;
use super::state::NotificationState;
use super::subject::Subject;
use super::waiting::Waiting;
use super::{FailureScope, FetchOutcome, again};
use crate::app::App;
use crate::base::queue::INBOX_MISSING_S;
use crate::base::{MlUserId, OrderId};
use crate::db::{Lane, Result, WriteTx};
use crate::marketplace::account::store as accounts;
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::books::booked::Booked;
use crate::marketplace::books::document::{
    ClaimDocument, ListingDocument, OrderDocument, QuestionDocument, Shipment,
};
use crate::marketplace::books::orders::{self, Applied, BookContext};
use crate::marketplace::books::parcel::ParcelKnown;
use crate::marketplace::client::{Caller, Client, Failure};
use crate::marketplace::kinds::{KindRow, OutcomeCode, RecordKind};
use crate::marketplace::sync::store::Account;

/// Most orders of one shipment that are read; more are a mistake.
const MOST_ORDERS: usize = 50;

/// Brings a fetched record into the books of an account, as it is linked; returns
/// the outcome. What changed before the link is history, not news.
pub type Found =
    Box<dyn FnOnce(&WriteTx<'_>, &BookContext, &Account) -> Result<OutcomeCode> + Send>;

/// Fetches the record that a notification is about. A "not found" counts only
/// the second time and once the notification is some minutes old, because a new
/// record may not be visible everywhere yet.
pub fn fetch_subject(app: &App, seller: MlUserId, waiting: &Waiting) -> FetchOutcome {
    let subject = match Subject::of(&waiting.topic, &waiting.resource) {
        Ok(subject) => subject,
        Err(outcome) => return FetchOutcome::Settled(NotificationState::Ignored, outcome),
    };
    let KindRow { missing, of_another, .. } = subject.kind.row();
    // What is missing once, or is new, may be too young; later it is gone.
    let is_old = app.clock.now().since(waiting.received_at) >= INBOX_MISSING_S;
    let is_missing = is_old && waiting.outcome.as_deref() == Some(missing.stored);
    match with_token(app, seller, |caller| fetch(app, caller, &subject, is_missing)) {
        Ok(Some(found)) => FetchOutcome::Found(found),
        Ok(None) => FetchOutcome::Settled(NotificationState::Ignored, *of_another),
        Err(CallError::NotLinked) => {
            FetchOutcome::Settled(NotificationState::Ignored, InboxOutcome::Unlinked.code())
        }
        // Retried: linking again reads the account, except records that cannot
        // be read in lists.
        Err(CallError::LinkLost) => again(InboxOutcome::LinkLost.name(), FailureScope::Itself),
        Err(CallError::Failed(failure)) if failure.is_not_found() && !is_missing => {
            again(missing.stored, FailureScope::Itself)
        }
        Err(CallError::Failed(failure)) if failure.is_not_found() => {
            FetchOutcome::Settled(NotificationState::Done, *missing)
        }
        Err(CallError::Failed(failure)) => {
            let (asked_s, scope) = match failure {
                Failure::RateLimited { retry_after_s } => (retry_after_s, FailureScope::Topic),
                Failure::Unreachable => (None, FailureScope::Seller),
                _ => (None, FailureScope::Itself),
            };
            FetchOutcome::Again {
                error: failure.to_string(),
                asked_s,
                scope,
                is_refused: matches!(failure, Failure::Refused { .. }),
            }
        }
        Err(CallError::Db(error)) => again(error.to_string(), FailureScope::Seller),
    }
}

/// Fetches a subject that was missing the last time it was asked for, or not; `None`
/// when it is not the caller's.
fn fetch(
    app: &App,
    caller: &Caller<'_>,
    subject: &Subject,
    was_missing: bool,
) -> std::result::Result<Option<Found>, Failure> {
    let (seller, client) = (caller.ml_user_id, &app.marketplace.client);
    let number = subject.id.number;
    Ok(match subject.kind {
        RecordKind::Order => {
            let order = fetch_order(app, caller, OrderId(number), None)?;
            (order.seller == seller).then(|| orders_found(vec![order]))
        }
        RecordKind::Listing if subject.is_product => {
            Some(listings_found(client.items_of_product(caller, &subject.id)?))
        }
        RecordKind::Listing => one::<ListingDocument>(client, caller, subject, was_missing)?,
        RecordKind::Question => one::<QuestionDocument>(client, caller, subject, was_missing)?,
        RecordKind::Claim => one::<ClaimDocument>(client, caller, subject, was_missing)?,
        RecordKind::Shipment => {
            let mut carried = client.orders_of_shipment(caller, number)?;
            if carried.is_empty() {
                // A parcel that was cancelled or divided names no orders any more.
                carried = held_with(app, seller, number);
            }
            carried.truncate(MOST_ORDERS);
            let known = carried.first().and_then(|order| known_of(app, *order));
            let known = known.unwrap_or(ParcelKnown::nothing(app.clock.now()));
            let shipment = client.parcel(caller, number, &known, app.zone())?;
            let mut own = Vec::new();
            for order in carried {
                let order = fetch_order(app, caller, order, Some((number, &shipment)))?;
                if order.seller == seller {
                    own.push(order);
                }
            }
            Some(orders_found(own))
        }
    })
}

/// An order with its shipment and its buyer's name, as far as they are
/// available.
fn fetch_order(
    app: &App,
    caller: &Caller<'_>,
    order: OrderId,
    known: Option<(i64, &Shipment)>,
) -> std::result::Result<OrderDocument, Failure> {
    let client = &app.marketplace.client;
    let mut order = client.order(caller, order)?;
    if order.seller != caller.ml_user_id {
        return Ok(order);
    }
    if let Some(shipping) = order.shipping_id {
        let known = known.filter(|(number, _)| *number == shipping);
        let shipment = if let Some((_, shipment)) = known {
            Ok(shipment.clone())
        } else {
            let known = known_of(app, order.id).unwrap_or(ParcelKnown::nothing(order.created_at));
            let known = if order.is_sale() { known } else { known.without_cost() };
            client.parcel(caller, shipping, &known, app.zone())
        };
        match shipment {
            Ok(shipment) => order.shipment = Some(shipment),
            Err(failure) => {
                tracing::debug!(order = order.id.0, %failure, "an order was read without its shipment");
            }
        }
    }
    if let Some(buyer) = order.buyer_id.filter(|_| order.buyer_nickname.is_empty()) {
        order.buyer_nickname = client.nickname(caller, buyer).unwrap_or_default();
    }
    Ok(order)
}

/// What the books know of the parcel of an order. When they cannot be read now, the reading
/// of shipments asks for the rest later.
fn known_of(app: &App, order: OrderId) -> Option<ParcelKnown> {
    app.db.read(Lane::Brief, |tx| orders::known_of_parcel(tx, order)).ok().flatten()
}

/// The orders of an account that the books have with a parcel.
fn held_with(app: &App, seller: MlUserId, parcel: i64) -> Vec<OrderId> {
    let held = app.db.read(Lane::Brief, |tx| match accounts::owner_of(tx, seller)? {
        Some((owner, _)) => orders::of_parcel(tx, owner, seller, parcel),
        None => Ok(Vec::new()),
    });
    held.unwrap_or_default()
}

/// Fetches a record that is stored as it is; `None` when it is not the caller's. One
/// that is missing again is gone from the books as well.
fn one<D: Booked>(
    client: &Client,
    caller: &Caller<'_>,
    Subject { kind, id, .. }: &Subject,
    was_missing: bool,
) -> std::result::Result<Option<Found>, Failure> {
    let id = D::Id::from(id.clone());
    let document = match D::fetch(client, caller, &id) {
        Err(failure) if was_missing && failure.is_not_found() => {
            let missing = kind.row().missing;
            return Ok(Some(Box::new(move |tx, context, link| {
                D::gone((tx, context, link.owner), link.ml_user_id, &id)?;
                Ok(missing)
            })));
        }
        fetched => fetched?,
    };
    let is_own = document.seller() == caller.ml_user_id;
    Ok(is_own.then(|| -> Found {
        Box::new(move |tx, context, link| {
            document.apply((tx, context, link.owner), link.linked_at).map(outcome)
        })
    }))
}

fn orders_found(orders: Vec<OrderDocument>) -> Found {
    Box::new(move |tx, context, link| {
        let mut said = InboxOutcome::EmptyShipment.code();
        for order in &orders {
            let applied = orders::apply((tx, context, link.owner), order, link.linked_at)?;
            // Of several orders, the outcome of one that changed is returned.
            if applied == Applied::Stored || said != InboxOutcome::Applied.code() {
                said = outcome(applied);
            }
        }
        Ok(said)
    })
}

/// The listings of one user product, brought into the books together.
fn listings_found(listings: Vec<ListingDocument>) -> Found {
    Box::new(move |tx, context, link| {
        let mut said = InboxOutcome::NoListing.code();
        for listing in listings.iter().filter(|listing| listing.seller == link.ml_user_id) {
            let applied = listing.apply((tx, context, link.owner), link.linked_at)?;
            // Of several listings, the outcome of one that changed is returned.
            if applied == Applied::Stored || said != InboxOutcome::Applied.code() {
                said = outcome(applied);
            }
        }
        Ok(said)
    })
}

const fn outcome(applied: Applied) -> OutcomeCode {
    let outcome = match applied {
        Applied::Stored => InboxOutcome::Applied,
        Applied::Unchanged => InboxOutcome::Unchanged,
        Applied::Stale => InboxOutcome::Stale,
    };
    outcome.code()
}
