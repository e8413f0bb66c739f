//! Data of the templates for webhooks.

use askama::Template;

use super::attempts::Attempt;
use super::store::Delivery;
use super::{DeliveryState, Endpoint, EndpointState};
use crate::base::{Instant, Zone};
use crate::panel::{Badge, FormView, Layout, Table, Tick, When};
use crate::wire;

/// `GET …/webhooks`, also with errors in the form.
#[derive(Template)]
#[template(path = "webhooks.html", config = "assets/askama.toml")]
pub struct WebhooksPage {
    pub layout: Layout,
    /// Path of the list.
    pub base: &'static str,
    pub endpoints: Vec<EndpointRow>,
    /// The form with `url` of a new endpoint.
    pub form: FormView,
    /// The checkboxes of `eventos`.
    pub ticks: Vec<Tick>,
    /// Whether the account has the most endpoints allowed.
    pub is_full: bool,
    /// Whether an API plan is in force.
    pub has_plan: bool,
}

wire! {
    pub struct EndpointRow of(endpoint: &Endpoint, zone: Zone, now: Instant) after {
        let said = endpoint.error.as_deref().unwrap_or_default();
        let (state, note) = match (endpoint.state, endpoint.failing_since) {
            (EndpointState::On, Some(since)) => {
                let rests = endpoint.paused_until.filter(|until| now < *until);
                let rests = rests.map(|until| format!("; espera até {}, como pediu", zone.page(until)));
                (Badge::Failing, format!("desde {}: {said}{}", zone.page(since), rests.unwrap_or_default()))
            }
            (EndpointState::On, None) => (Badge::Telling, String::new()),
            (EndpointState::Off, _) => (Badge::Off, said.to_owned()),
            (EndpointState::Gone, _) => (Badge::Stopped, "o destino respondeu 410".to_owned()),
            (EndpointState::GivenUp, _) => {
                (Badge::Stopped, format!("cinco dias só de falhas: {said}"))
            }
        };
    } {
        pub id: String = endpoint.id.to_string(),
        pub url: String = endpoint.entry.url.clone(),
        pub state: Badge = state,
        /// Since when and why it fails; may be empty.
        pub note: String = note,
        /// Names of its event types.
        pub events: String = endpoint.entry.eventos.names().join(", "),
        /// Time of the last success.
        pub delivered: Option<When> = endpoint.delivered_at.map(|at| When::new(zone, at, now)),
    }
}

/// `GET …/webhooks/{id}`, also with errors in the forms.
#[derive(Template)]
#[template(path = "webhook.html", config = "assets/askama.toml")]
pub struct EndpointPage {
    pub layout: Layout,
    pub base: &'static str,
    /// The address without the query.
    pub title: String,
    pub row: EndpointRow,
    pub is_on: bool,
    /// Whether an API plan is in force.
    pub has_plan: bool,
    pub created: When,
    /// Until when the previous secret signs too; empty without one.
    pub old_until: String,
    /// Number of events that were dropped because the queue was full; empty for
    /// none.
    pub lost: String,
    /// Deliveries by state.
    pub waiting: String,
    pub delivered: String,
    pub given_up: String,
    pub newest: Vec<DeliveryRow>,
    pub form: FormView,
    pub ticks: Vec<Tick>,
    /// The form with `de` and `ate` of the period to send again.
    pub span: FormView,
}

/// The answer to a browser that created an endpoint or replaced its secret. No
/// other page shows the secret.
#[derive(Template)]
#[template(path = "webhook_secret.html", config = "assets/askama.toml")]
pub struct SecretPage {
    pub layout: Layout,
    pub base: &'static str,
    pub url: String,
    pub secret: String,
    /// Until when the previous secret signs too; `None` for a new endpoint.
    pub until: Option<String>,
}

/// `GET …/webhooks/{id}/entregas`.
#[derive(Template)]
#[template(path = "webhook_deliveries.html", config = "assets/askama.toml")]
pub struct DeliveriesPage {
    pub layout: Layout,
    pub base: &'static str,
    pub id: String,
    /// Address of the endpoint.
    pub url: String,
    pub table: Table,
    pub deliveries: Vec<DeliveryRow>,
}

wire! {
    pub struct DeliveryRow of(delivery: &Delivery, zone: Zone, now: Instant) {
        pub number: String = delivery.number.to_string(),
        /// `order.paid`.
        pub kind: &'static str = delivery.kind.name(),
        /// `Venda paga`.
        pub words: &'static str = delivery.kind.words(),
        pub state: Badge = match delivery.state {
            DeliveryState::Waiting => Badge::Pending,
            DeliveryState::Delivered => Badge::Delivered,
            DeliveryState::GivenUp => Badge::Failed,
        },
        /// When it is retried, or what it waits for; may be empty.
        pub next: String = match (delivery.state, delivery.next_try()) {
            (DeliveryState::Waiting, Some(at)) if at > now => format!("de novo {}", zone.page(at)),
            (DeliveryState::Waiting, Some(_)) => "sai agora".to_owned(),
            (DeliveryState::Waiting, None) => "espera a anterior do mesmo objeto".to_owned(),
            _ => String::new(),
        },
        /// `200 em 31 ms`, or why it failed; empty before the first try.
        pub answer: String = match (&delivery.error, delivery.status, delivery.ms) {
            (Some(error), _, _) => error.clone(),
            (None, Some(status), Some(ms)) => format!("{status} em {ms} ms"),
            _ => String::new(),
        },
        pub tries: String = delivery.tries.to_string(),
        pub created: When = When::new(zone, delivery.created_at, now),
        /// Whether it can be sent again.
        pub is_over: bool = delivery.state != DeliveryState::Waiting,
    }
}

wire! {
    pub struct AttemptRow of(attempt: &Attempt, zone: Zone, now: Instant) {
        pub at: When = When::new(zone, attempt.at, now),
        pub answer: String = match (&attempt.error, attempt.status) {
            (Some(error), _) => error.clone(),
            (None, Some(status)) => format!("respondeu {status}"),
            (None, None) => String::new(),
        },
        pub took: String = format!("{} ms", attempt.ms),
    }
}

/// `GET …/webhooks/{id}/entregas/{numero}`.
#[derive(Template)]
#[template(path = "webhook_delivery.html", config = "assets/askama.toml")]
pub struct DeliveryPage {
    pub layout: Layout,
    pub base: &'static str,
    pub id: String,
    /// Address of the endpoint.
    pub url: String,
    /// The value of `webhook-id`.
    pub message: String,
    /// Its attempts, the first one first.
    pub attempts: Vec<AttemptRow>,
    pub row: DeliveryRow,
    /// The body, with line breaks and indentation.
    pub body: String,
    /// Beginning of the last answer; may be empty.
    pub answer: String,
}
