//! Fetching what a notification is about, and bringing it into the books.

use super::subject::{Nothing, Subject};
use super::{Outcome, Reach, again};
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, OrderId, UserId};
use crate::db::{Result, WriteTx};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::books::claims;
use crate::marketplace::books::document::{
    ClaimDocument, ItemId, ListingDocument, OrderDocument, QuestionDocument, Shipment,
};
use crate::marketplace::books::listings;
use crate::marketplace::books::orders;
use crate::marketplace::books::orders::{Applied, Books};
use crate::marketplace::books::questions;
use crate::marketplace::client::{Caller, Client, Failure};
use crate::marketplace::inbox::hook::State;

/// Orders that one shipment may carry; more are a mistake.
const MOST_ORDERS: usize = 50;

/// What is said of a notification whose account is to be linked again.
pub const LINK_LOST: &str = "the account must be linked again";

/// What the marketplace has, to be brought into the books.
pub enum Found {
    Orders(Vec<OrderDocument>),
    Listing(Box<ListingDocument>),
    Question(Box<QuestionDocument>),
    Claim(Box<ClaimDocument>),
    NoListing(ItemId),
    NoQuestion(i64),
    NoClaim(i64),
}

/// Whose books it is for.
pub struct Link {
    pub owner: UserId,
    pub account: MlUserId,
    /// What happened before is history.
    pub since: Instant,
}

/// Fetches what a notification is about. That there is no such thing is
/// believed the second time: what is new may not be everywhere yet, and `said`
/// is what the last try brought.
pub fn look(
    app: &App,
    seller: MlUserId,
    topic: &str,
    resource: &str,
    said: Option<&str>,
) -> Outcome {
    let subject = match Subject::of(topic, resource) {
        Ok(subject) => subject,
        Err(Nothing::Topic) => {
            return Outcome::Settled(State::Ignored, "the topic is not one this service follows");
        }
        Err(Nothing::Resource(what)) => return Outcome::Settled(State::Ignored, what),
    };
    let client = &app.marketplace.client;
    match with_token(app, seller, |caller| fetch(client, caller, &subject)) {
        Ok(Some(found)) => Outcome::Found(found),
        Ok(None) => Outcome::Settled(State::Ignored, subject.of_another()),
        Err(CallError::NotLinked) => {
            Outcome::Settled(State::Ignored, "the account is not linked any more")
        }
        // Linking again reads what there is, but for what made no sense then.
        Err(CallError::LinkLost) => again(LINK_LOST, None, Reach::Itself),
        Err(CallError::Failed(failure))
            if failure.is_not_found() && said != Some(subject.not_found()) =>
        {
            again(subject.not_found(), None, Reach::Itself)
        }
        Err(CallError::Failed(failure)) if failure.is_not_found() => match subject {
            Subject::Item(item) => Outcome::Found(Found::NoListing(item)),
            Subject::Question(question) => Outcome::Found(Found::NoQuestion(question)),
            Subject::Claim(claim) => Outcome::Found(Found::NoClaim(claim)),
            other => Outcome::Settled(State::Done, other.not_found()),
        },
        Err(CallError::Failed(failure)) => {
            let (asked_s, reach) = match failure {
                Failure::RateLimited { retry_after_s } => (retry_after_s, Reach::Topic),
                Failure::Unreachable => (None, Reach::Seller),
                _ => (None, Reach::Itself),
            };
            Outcome::Again {
                error: failure.to_string(),
                asked_s,
                reach,
                is_refused: matches!(failure, Failure::Refused { .. }),
            }
        }
        Err(CallError::Db(error)) => again(error.to_string(), None, Reach::Seller),
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
            (order.seller == seller).then(|| Found::Orders(vec![order]))
        }
        Subject::Item(item) => {
            let listing = client.item(caller, item)?;
            (listing.seller == seller).then(|| Found::Listing(Box::new(listing)))
        }
        Subject::Question(question) => {
            let question = client.question(caller, *question)?;
            (question.seller == seller).then(|| Found::Question(Box::new(question)))
        }
        Subject::Claim(claim) => {
            let claim = client.claim(caller, *claim)?;
            (claim.seller == seller).then(|| Found::Claim(Box::new(claim)))
        }
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
            Some(Found::Orders(own))
        }
    })
}

/// An order with its shipment and its buyer's name, as far as they are to be had.
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

impl Found {
    /// Brings it into an owner's books; gives back what is said of it.
    pub fn apply(&self, tx: &WriteTx<'_>, books: &Books, link: &Link) -> Result<&'static str> {
        let Link { owner, account, since: news_from } = *link;
        let applied = match self {
            Self::Orders(orders) => return apply_orders(tx, books, owner, orders, news_from),
            Self::Listing(listing) => listings::apply(tx, books, owner, listing, news_from)?,
            Self::Question(question) => questions::apply(tx, books, owner, question, news_from)?,
            Self::Claim(claim) => claims::apply(tx, books, owner, claim, news_from)?,
            Self::NoListing(item) => {
                listings::gone(tx, books, owner, account, item)?;
                return Ok("the marketplace has no such listing");
            }
            Self::NoQuestion(question) => {
                questions::gone(tx, books, owner, account, *question)?;
                return Ok("the marketplace has no such question");
            }
            Self::NoClaim(claim) => {
                claims::gone(tx, books, owner, account, *claim)?;
                return Ok("the marketplace has no such claim");
            }
        };
        Ok(words(applied))
    }
}

fn apply_orders(
    tx: &WriteTx<'_>,
    books: &Books,
    owner: UserId,
    orders: &[OrderDocument],
    news_from: Instant,
) -> Result<&'static str> {
    let mut said = "the shipment carries no order";
    for order in orders {
        let applied = orders::apply(tx, books, owner, order, news_from)?;
        // Of several what changed something is said.
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
