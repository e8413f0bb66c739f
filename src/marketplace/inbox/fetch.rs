//! Fetches the record that a notification is about, and brings it into the
//! books.

use super::subject::{Nothing, Subject};
use super::{FailureScope, FetchOutcome, again};
use crate::app::App;
use crate::base::{Instant, MlUserId, OrderId, UserId};
use crate::db::{Result, WriteTx};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::books::BookWrite;
use crate::marketplace::books::booked::Booked;
use crate::marketplace::books::document::{
    ClaimDocument, ListingDocument, OrderDocument, QuestionDocument, Shipment,
};
use crate::marketplace::books::orders::{self, Applied, BookContext};
use crate::marketplace::client::{Caller, Client, Failure};
use crate::marketplace::inbox::hook::NotificationState;

/// Most orders of one shipment that are read; more are a mistake.
const MOST_ORDERS: usize = 50;

/// The outcome of a notification whose account must be linked again.
pub const LINK_LOST: &str = "the account must be linked again";

/// Brings a fetched record into the books; returns the outcome.
pub type Found = Box<dyn FnOnce(&WriteTx<'_>, &BookContext, &Link) -> Result<&'static str> + Send>;

/// The account whose books a record goes into, and its owner.
pub struct Link {
    pub owner: UserId,
    pub account: MlUserId,
    /// When the account was linked. Earlier changes are history, not news.
    pub since: Instant,
}

/// Fetches the record that a notification is about. A "not found" counts only
/// the second time, because a new record may not be visible everywhere yet.
/// `said` is the outcome of the last try.
pub fn fetch_subject(
    app: &App,
    seller: MlUserId,
    topic: &str,
    resource: &str,
    said: Option<&str>,
) -> FetchOutcome {
    let subject = match Subject::of(topic, resource) {
        Ok(subject) => subject,
        Err(Nothing::Topic) => {
            return FetchOutcome::Settled(
                NotificationState::Ignored,
                "the topic is not one this service follows",
            );
        }
        Err(Nothing::Resource(what)) => {
            return FetchOutcome::Settled(NotificationState::Ignored, what);
        }
    };
    let client = &app.marketplace.client;
    match with_token(app, seller, |caller| fetch(client, caller, &subject)) {
        Ok(Some(found)) => FetchOutcome::Found(found),
        Ok(None) => FetchOutcome::Settled(NotificationState::Ignored, subject.of_another()),
        Err(CallError::NotLinked) => {
            FetchOutcome::Settled(NotificationState::Ignored, "the account is not linked any more")
        }
        // Retried: linking again reads the account, except records that cannot
        // be read in lists.
        Err(CallError::LinkLost) => again(LINK_LOST, None, FailureScope::Itself),
        Err(CallError::Failed(failure))
            if failure.is_not_found() && said != Some(subject.not_found()) =>
        {
            again(subject.not_found(), None, FailureScope::Itself)
        }
        Err(CallError::Failed(failure)) if failure.is_not_found() => {
            let said = subject.not_found();
            match subject {
                Subject::Item(item) => FetchOutcome::Found(gone::<ListingDocument>(item, said)),
                Subject::Question(id) => FetchOutcome::Found(gone::<QuestionDocument>(id, said)),
                Subject::Claim(claim) => FetchOutcome::Found(gone::<ClaimDocument>(claim, said)),
                _ => FetchOutcome::Settled(NotificationState::Done, said),
            }
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
        Err(CallError::Db(error)) => again(error.to_string(), None, FailureScope::Seller),
    }
}

/// Fetches a subject; `None` when it is not the caller's.
fn fetch(
    client: &Client,
    caller: &Caller<'_>,
    subject: &Subject,
) -> std::result::Result<Option<Found>, Failure> {
    let seller = caller.ml_user_id;
    Ok(match subject {
        Subject::Order(order) => {
            let order = fetch_order(client, caller, *order, None)?;
            (order.seller == seller).then(|| orders_found(vec![order]))
        }
        Subject::Item(item) => own(caller, client.item(caller, item)?),
        Subject::Question(question) => own(caller, client.question(caller, *question)?),
        Subject::Claim(claim) => own(caller, client.claim(caller, *claim)?),
        Subject::Shipment(number) => {
            let mut carried = client.orders_of_shipment(caller, *number)?;
            carried.truncate(MOST_ORDERS);
            let shipment = client.shipment(caller, *number)?;
            let mut own = Vec::new();
            for order in carried {
                let order = fetch_order(client, caller, order, Some((*number, &shipment)))?;
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
    client: &Client,
    caller: &Caller<'_>,
    order: OrderId,
    known: Option<(i64, &Shipment)>,
) -> std::result::Result<OrderDocument, Failure> {
    let mut order = client.order(caller, order)?;
    if order.seller != caller.ml_user_id {
        return Ok(order);
    }
    if let Some(shipping) = order.shipping_id {
        let shipment = match known.filter(|(number, _)| *number == shipping) {
            Some((_, shipment)) => Ok(shipment.clone()),
            None => client.shipment(caller, shipping),
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

/// A fetched record; `None` when it is not the caller's.
fn own<D: Booked>(caller: &Caller<'_>, document: D) -> Option<Found> {
    let is_own = document.seller() == caller.ml_user_id;
    is_own.then(|| -> Found {
        Box::new(move |tx, context, link| {
            document.apply((tx, context, link.owner), link.since).map(words)
        })
    })
}

/// Stores that the marketplace has no such record.
fn gone<D: Booked>(id: D::Id, said: &'static str) -> Found {
    Box::new(move |tx, _, link| {
        D::gone(tx, link.owner, link.account, &id)?;
        Ok(said)
    })
}

fn orders_found(orders: Vec<OrderDocument>) -> Found {
    Box::new(move |tx, context, link| apply_orders((tx, context, link.owner), &orders, link.since))
}

fn apply_orders(
    (tx, context, owner): BookWrite<'_, '_>,
    orders: &[OrderDocument],
    news_from: Instant,
) -> Result<&'static str> {
    let mut said = "the shipment carries no order";
    for order in orders {
        let applied = orders::apply((tx, context, owner), order, news_from)?;
        // Of several orders, the outcome of one that changed is returned.
        if applied == Applied::Stored || said != words(Applied::Stored) {
            said = words(applied);
        }
    }
    Ok(said)
}

const fn words(applied: Applied) -> &'static str {
    match applied {
        Applied::Stored => "applied",
        Applied::Unchanged => "known already",
        Applied::Stale => "a newer state was known already",
    }
}
