//! The body of an event, with its object in the form of the Partner API.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::MessageId;
use crate::app::App;
use crate::base::{Instant, OrderId, Sealer, UserId, Zone};
use crate::catalog::{self, Product, stock};
use crate::db::{ReadTx, Result};
use crate::dropshipping::orders::{self as drop_orders, Whose};
use crate::edge::docs::{SchemaOf, referred};
use crate::events::{self, DisconnectedStore, EventType};
use crate::marketplace::books::claims::store::Claim;
use crate::marketplace::books::listings::store::SellerListing;
use crate::marketplace::books::questions::store::Question;
use crate::marketplace::books::words::Words;
use crate::marketplace::books::{BookWrite, listed};
use crate::partner::seller;
use crate::partner::seller::announcements::Announcement;
use crate::partner::seller::claims::WireClaim;
use crate::partner::seller::orders::OneOrder;
use crate::partner::seller::questions::WireQuestion;
use crate::partner::seller::stock::ProductStock;
use crate::partner::supplier::orders::WireDropOrder;

/// What is needed to build bodies, besides the database.
#[derive(Clone)]
pub struct EventBodyBuilder {
    words: Arc<Words>,
    zone: Zone,
    site: String,
    /// What signs the ids of events.
    pub sealer: Arc<Sealer>,
}

/// An event to be delivered.
#[derive(Clone, Debug)]
pub struct Event {
    pub user: UserId,
    pub kind: EventType,
    pub object: i64,
    /// Of a product's stock: the movement that is told, by its number within the product.
    pub movement: Option<i64>,
    pub at: Instant,
    /// What is told, where it was written down when it happened.
    pub data: Option<String>,
}

impl EventBodyBuilder {
    pub fn of(app: &App) -> Self {
        Self {
            words: Arc::clone(&app.marketplace.words),
            zone: app.zone(),
            site: app.config.marketplace.site.clone(),
            sealer: Arc::clone(&app.sealer),
        }
    }

    /// The zone of civil time.
    pub const fn zone(&self) -> Zone {
        self.zone
    }

    /// The body of an event; `None` when its object no longer exists.
    pub fn body(
        &self,
        tx: &ReadTx<'_>,
        message: MessageId,
        event: &Event,
    ) -> Result<Option<String>> {
        let Some(data) = self.data(tx, event)? else {
            return Ok(None);
        };
        Ok(Some(body(message, event.kind, event.at, &data)))
    }

    /// The object of an event as JSON.
    fn data(&self, tx: &ReadTx<'_>, event: &Event) -> Result<Option<String>> {
        let Event { user, object, .. } = *event;
        Ok(match event.kind {
            EventType::OrderCreated
            | EventType::OrderPaid
            | EventType::OrderCancelled
            | EventType::OrderShipped
            | EventType::OrderUpdated
            | EventType::OrderDelivered => {
                seller::orders::one(tx, &self.words, user, OrderId(object), self.zone)?
            }
            EventType::QuestionReceived | EventType::QuestionAnswered => {
                let question = listed::one::<Question>(tx, user, object)?;
                question.map(|question| json_of(&WireQuestion::of(question, &self.site, self.zone)))
            }
            EventType::ClaimOpened | EventType::ClaimClosed => {
                let claim = listed::one::<Claim>(tx, user, object)?;
                claim.map(|claim| json_of(&WireClaim::of(claim, self.zone)))
            }
            EventType::StockChanged => {
                let movement = stock::movement(tx, object, event.movement.unwrap_or_default())?;
                match (catalog::store::product(tx, user, object)?, movement) {
                    // With the movement that caused the event alone, and the balance after it;
                    // the rest can be read by the API.
                    (Some(product), Some(movement)) => {
                        let product = Product { stock: movement.balance, ..product };
                        Some(json_of(&ProductStock::of(product, vec![movement], self.zone)))
                    }
                    _ => None,
                }
            }
            EventType::ListingChanged if event.data.is_none() => {
                let listing = listed::one::<SellerListing>(tx, user, object)?;
                listing.map(|listing| json_of(&Announcement::of(listing, self.zone)))
            }
            EventType::ListingChanged | EventType::StoreDisconnected => event.data.clone(),
            EventType::DropOrderCreated
            | EventType::DropOrderPaid
            | EventType::DropOrderCancelled => {
                let order = drop_orders::one(tx, Whose::Supplier(user), object)?;
                order.map(|order| json_of(&WireDropOrder::of(order, tx.now(), self.zone)))
            }
            EventType::Test => {
                let said = "Este é um teste. Se a assinatura confere, o endereço está pronto.";
                Some(json_of(&TestShape { message: said }))
            }
        })
    }
}

/// Tells of a listing that the marketplace does not have any more: as it last was, but closed.
pub fn tell_gone_listing((tx, context, owner): BookWrite<'_, '_>, item: i64) -> Result<()> {
    let Some(listing) = listed::one::<SellerListing>(tx, owner, item)? else { return Ok(()) };
    let shown = Announcement::of(listing, context.zone).closed(tx.now(), context.zone);
    events::raise_gone_listing(tx, owner, item, &json_of(&shown))
}

/// What a test shows.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EndpointTest")]
pub struct TestShape {
    /// Words for whoever reads the message.
    pub message: &'static str,
}

/// The schema of what an event shows.
pub const fn schema(kind: EventType) -> SchemaOf {
    match kind {
        EventType::OrderCreated
        | EventType::OrderPaid
        | EventType::OrderCancelled
        | EventType::OrderShipped
        | EventType::OrderUpdated
        | EventType::OrderDelivered => referred::<OneOrder>,
        EventType::QuestionReceived | EventType::QuestionAnswered => referred::<WireQuestion>,
        EventType::ClaimOpened | EventType::ClaimClosed => referred::<WireClaim>,
        EventType::StockChanged => referred::<ProductStock>,
        EventType::ListingChanged => referred::<Announcement>,
        EventType::StoreDisconnected => referred::<DisconnectedStore<'static>>,
        EventType::DropOrderCreated | EventType::DropOrderPaid | EventType::DropOrderCancelled => {
            referred::<WireDropOrder>
        }
        EventType::Test => referred::<TestShape>,
    }
}

fn json_of(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).expect("shapes have texts as keys")
}

/// Written by hand, to keep the members in this order.
fn body(message: MessageId, kind: EventType, at: Instant, data: &str) -> String {
    let (kind, at) = (kind.name(), at.rfc3339());
    format!(r#"{{"type":"{kind}","id":"{message}","timestamp":"{at}","data":{data}}}"#)
}
