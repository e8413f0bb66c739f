//! Endpoints and their deliveries as the API shows them.

use schemars::JsonSchema;
use serde::Serialize;

use super::attempts::Attempt;
use super::pages::without_query;
use super::store::{Counts, Delivery};
use super::{DeliveryState, Endpoint, EndpointState};
use crate::base::{Instant, OffsetTime, Zone};
use crate::wire;

wire! {
    /// An address that is told of events.
    #[derive(Serialize, JsonSchema)]
    pub struct Webhook of(endpoint: Endpoint, counts: Counts, time: (Zone, Instant), shows_query: bool) after {
        let (zone, now) = time;
        let at = |at| zone.with_offset(at);
        let to_come = |until: Option<Instant>| until.filter(|until| now < *until).map(at);
        let url = endpoint.entry.url;
    } {
        /// Number of the address.
        #[serde(rename = "webhook_id")]
        id: String = endpoint.id.to_string(),
        /// Where events are posted to; without its query for an app that may only read.
        url: String = if shows_query { url } else { without_query(&url).to_owned() },
        /// Types of events that it is told of.
        events: Vec<&'static str> = endpoint.entry.eventos.names(),
        /// `off` was switched off, `gone` answered 410, `given_up` failed for five days.
        status: WebhookStatus = endpoint.state.into(),
        /// When it was made, with its offset from UTC.
        created_at: OffsetTime = at(endpoint.created_at),
        /// When it stopped being told; null while it is on.
        off_at: Option<OffsetTime> = endpoint.off_at.map(at),
        /// The first failure since the last success; null without one.
        failing_since: Option<OffsetTime> = endpoint.failing_since.map(at),
        /// What failed last since then, in words for its owner; null otherwise.
        error: Option<String> = endpoint.error,
        /// The last success; null before.
        delivered_at: Option<OffsetTime> = endpoint.delivered_at.map(at),
        /// Until when it asked to be left alone by `Retry-After`; null when it did not.
        paused_until: Option<OffsetTime> = to_come(endpoint.paused_until),
        /// Until when the secret before signs as well; null without one.
        old_secret_until: Option<OffsetTime> = to_come(endpoint.old_until),
        /// Events that found no place, because too many waited.
        events_lost: i64 = endpoint.lost,
        /// Deliveries of the last 30 days, by what became of them.
        deliveries: DeliveryCounts = DeliveryCounts {
            waiting: counts.waiting,
            delivered: counts.delivered,
            failed: counts.given_up,
        },
    }
}

/// State of an address.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    On,
    Off,
    Gone,
    GivenUp,
}

impl From<EndpointState> for WebhookStatus {
    fn from(state: EndpointState) -> Self {
        match state {
            EndpointState::On => Self::On,
            EndpointState::Off => Self::Off,
            EndpointState::Gone => Self::Gone,
            EndpointState::GivenUp => Self::GivenUp,
        }
    }
}

/// Deliveries by what became of them.
#[derive(Serialize, JsonSchema)]
pub struct DeliveryCounts {
    /// Not delivered yet.
    waiting: i64,
    /// Accepted with a status from 200 to 299.
    delivered: i64,
    /// Given up after all attempts.
    failed: i64,
}

/// An address as it stands after it was made or changed.
#[derive(Serialize, JsonSchema)]
pub struct KeptWebhook {
    /// The address.
    pub webhook: Webhook,
    /// The secret that signs, shown this once; null when there is no new one.
    pub secret: Option<String>,
}

/// A test that will leave.
#[derive(Serialize, JsonSchema)]
pub struct TestedWebhook {
    /// Number of the address.
    pub webhook_id: String,
    /// Number of its delivery, as the list of deliveries has it.
    pub delivery: i64,
}

/// An address that is gone.
#[derive(Serialize, JsonSchema)]
pub struct RemovedWebhook {
    /// Number of the address.
    pub webhook_id: String,
    /// Always true.
    #[schemars(extend("const" = true))]
    pub removed: bool,
}

wire! {
    /// An event on its way to an address, and what became of it.
    #[derive(Serialize, JsonSchema)]
    pub struct WebhookDelivery of(found: (Delivery, Vec<Attempt>), zone: Zone) after {
        let (delivery, attempts) = found;
        let next = delivery.next_try();
    } {
        /// From 1 on, by address.
        number: i64 = delivery.number,
        /// Id of the event, as `webhook-id` has it.
        event_id: String = delivery.message.to_string(),
        /// What happened, such as `order.paid`.
        #[serde(rename = "type")]
        kind: &'static str = delivery.kind.name(),
        /// What became of it.
        status: DeliveryStatus = delivery.state.into(),
        /// When it happened, with its offset from UTC.
        created_at: OffsetTime = zone.with_offset(delivery.created_at),
        /// When it is tried next; null when it is over, or waits for an earlier one about the same object.
        next_attempt_at: Option<OffsetTime> = next.map(|at| zone.with_offset(at)),
        /// Every attempt, the first one first.
        attempts: Vec<WebhookAttempt> =
            attempts.into_iter().map(|one| WebhookAttempt::of(one, zone)).collect(),
    }
}

/// What became of a delivery.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    Waiting,
    Delivered,
    Failed,
}

impl From<DeliveryState> for DeliveryStatus {
    fn from(state: DeliveryState) -> Self {
        match state {
            DeliveryState::Waiting => Self::Waiting,
            DeliveryState::Delivered => Self::Delivered,
            DeliveryState::GivenUp => Self::Failed,
        }
    }
}

wire! {
    /// An attempt of a delivery.
    #[derive(Serialize, JsonSchema)]
    pub struct WebhookAttempt of(attempt: Attempt, zone: Zone) {
        /// From 1 on, by delivery.
        number: i64 = attempt.count,
        /// When it ended, with its offset from UTC.
        at: OffsetTime = zone.with_offset(attempt.at),
        /// Status of the answer; null without an answer.
        status: Option<i64> = attempt.status,
        /// Why it failed, in words for its owner; null when it was accepted.
        error: Option<String> = attempt.error,
        /// How long it took, in milliseconds.
        duration_ms: i64 = attempt.ms,
    }
}
