//! The body of an event, with its object in the form of the Partner API.
//! Questions and claims have forms of their own, defined here with the names that the
//! Partner API uses.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::MessageId;
use crate::app::App;
use crate::base::{Instant, MlUserId, OffsetTime, OrderId, Sealer, UserId, Zone};
use crate::catalog;
use crate::catalog::stock;
use crate::db::{ReadTx, Result};
use crate::dropshipping::orders::{self as drop_orders, Whose};
use crate::edge::docs::{SchemaOf, referred};
use crate::events::{DisconnectedStore, EventType};
use crate::marketplace::books::claims::ClaimState;
use crate::marketplace::books::claims::store::Claim;
use crate::marketplace::books::listed;
use crate::marketplace::books::listings::store::SellerListing;
use crate::marketplace::books::questions::QuestionState;
use crate::marketplace::books::questions::store::Question;
use crate::marketplace::books::words::Words;
use crate::partner::seller;
use crate::partner::seller::announcements::Announcement;
use crate::partner::seller::orders::OneOrder;
use crate::partner::seller::stock::ProductStock;
use crate::partner::supplier::orders::WireDropOrder;
use crate::wire;

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
                let order = (user, OrderId(object));
                seller::orders::one(tx, &self.words, order, self.zone)?
            }
            EventType::QuestionReceived | EventType::QuestionAnswered => {
                let question = listed::one::<Question>(tx, user, object)?;
                question
                    .map(|question| json_of(&QuestionShape::of(question, &self.site, self.zone)))
            }
            EventType::ClaimOpened | EventType::ClaimClosed => {
                let claim = listed::one::<Claim>(tx, user, object)?;
                claim.map(|claim| json_of(&ClaimShape::of(claim, self.zone)))
            }
            EventType::StockChanged => match catalog::store::product(tx, user, object)? {
                // Includes only the newest movement, which caused the event;
                // the rest can be read by the API.
                Some(product) => {
                    let movements = stock::page(tx, object, 0, 1)?;
                    Some(json_of(&ProductStock::of(product, movements, self.zone)))
                }
                None => None,
            },
            EventType::ListingChanged => {
                let listing = listed::one::<SellerListing>(tx, user, object)?;
                listing.map(|listing| json_of(&Announcement::of(listing, self.zone)))
            }
            EventType::StoreDisconnected => event.data.clone(),
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

wire! {
    /// A question of somebody who saw a listing.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "WebhookQuestion")]
    pub struct QuestionShape of(question: Question, site: &str, zone: Zone) after {
        let Question { row, title } = question;
    } {
        /// Number of the question at the marketplace.
        question_id: String = row.id.to_string(),
        /// Marketplace listing id of what was asked about.
        ml_id: String = format!("{site}{}", row.item_id),
        /// Marketplace seller id of the account.
        ml_user_id: MlUserId = row.ml_user_id,
        /// Title of the listing; empty when unknown.
        title: String = title,
        /// What was asked.
        text: String = row.text,
        /// `unanswered`, `answered` or `closed`.
        #[schemars(extend("enum" = ["unanswered", "answered", "closed"]))]
        status: &'static str = match row.state {
            QuestionState::Open => "unanswered",
            QuestionState::Answered => "answered",
            QuestionState::Closed => "closed",
        },
        /// When it was asked, as civil time of the service.
        date_created: String = zone.partner(row.asked_at),
        /// The same instant with its offset from UTC.
        date_created_at: OffsetTime = zone.with_offset(row.asked_at),
        /// What was answered; null before.
        answer: Option<String> = row.answer,
        /// When it was answered, as civil time of the service; null before.
        date_answered: Option<String> = row.answered_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        date_answered_at: Option<OffsetTime> = row.answered_at.map(|at| zone.with_offset(at)),
    }
}

wire! {
    /// A claim of a buyer.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "WebhookClaim")]
    pub struct ClaimShape of(claim: Claim, zone: Zone) after {
        let Claim { claim: row, title, .. } = claim;
    } {
        /// Number of the claim at the marketplace.
        claim_id: String = row.id.to_string(),
        /// The marketplace's order; null when the claim is not about one.
        order_id: Option<OrderId> = row.order(),
        /// Marketplace seller id of the account.
        ml_user_id: MlUserId = row.seller,
        /// Title of what was sold; empty when unknown.
        title: String = title,
        /// `opened` or `closed`.
        #[schemars(extend("enum" = ["opened", "closed"]))]
        status: &'static str = match row.state {
            ClaimState::Open => "opened",
            ClaimState::Closed => "closed",
        },
        /// The marketplace's word, such as `mediations`.
        #[serde(rename = "type")]
        kind: String = row.kind,
        /// The marketplace's word for how far it is, such as `claim` or `dispute`.
        stage: String = row.stage,
        /// The marketplace's code of the reason.
        reason: String = row.reason,
        /// Until when the seller has to act, as civil time of the service, or null.
        due_at: Option<String> = row.due_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        due_at_rfc3339: Option<OffsetTime> = row.due_at.map(|at| zone.with_offset(at)),
        /// When it was opened, as civil time of the service.
        date_created: String = zone.partner(row.opened_at),
        /// The same instant with its offset from UTC.
        date_created_at: OffsetTime = zone.with_offset(row.opened_at),
        /// When it last changed at the marketplace, as civil time of the service.
        updated_at: String = zone.partner(row.updated_at),
        /// The same instant with its offset from UTC.
        updated_at_rfc3339: OffsetTime = zone.with_offset(row.updated_at),
    }
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
        EventType::QuestionReceived | EventType::QuestionAnswered => referred::<QuestionShape>,
        EventType::ClaimOpened | EventType::ClaimClosed => referred::<ClaimShape>,
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
