//! What the pages of webhooks print.

use askama::Template;

use crate::panel::{Badge, FormView, Layout, Table, Tick, When};

/// `GET …/webhooks`, and its answer when a field is at fault.
#[derive(Template)]
#[template(path = "webhooks.html", config = "assets/askama.toml")]
pub struct WebhooksPage {
    pub layout: Layout,
    /// Where the list is.
    pub base: &'static str,
    pub endpoints: Vec<EndpointRow>,
    /// `url` of a new endpoint.
    pub form: FormView,
    /// The boxes of `eventos`.
    pub ticks: Vec<Tick>,
    /// Whether there are as many as there may be.
    pub is_full: bool,
}

/// An endpoint in the list.
pub struct EndpointRow {
    pub id: String,
    pub url: String,
    pub state: Badge,
    /// Since when and why it is in trouble; may be empty.
    pub note: String,
    /// Names of the events that it is told.
    pub events: String,
    /// The last success.
    pub delivered: Option<When>,
}

/// `GET …/webhooks/{id}`, and its answer when a field is at fault.
#[derive(Template)]
#[template(path = "webhook.html", config = "assets/askama.toml")]
pub struct EndpointPage {
    pub layout: Layout,
    pub base: &'static str,
    /// Its address without the query.
    pub title: String,
    pub row: EndpointRow,
    pub is_on: bool,
    pub created: When,
    /// Until when the secret before signs as well; empty without one.
    pub old_until: String,
    /// Events that found no place in a full queue; empty when all did.
    pub lost: String,
    /// Deliveries by state.
    pub waiting: String,
    pub delivered: String,
    pub given_up: String,
    /// The newest deliveries.
    pub newest: Vec<DeliveryRow>,
    pub form: FormView,
    pub ticks: Vec<Tick>,
    /// `de` and `ate` of what is sent again.
    pub span: FormView,
}

/// The answer to a browser that made an endpoint or asked for another secret:
/// the only page that shows it.
#[derive(Template)]
#[template(path = "webhook_secret.html", config = "assets/askama.toml")]
pub struct SecretPage {
    pub layout: Layout,
    pub base: &'static str,
    pub url: String,
    /// The secret itself.
    pub secret: String,
    /// Until when the one before signs as well; none for a new endpoint.
    pub until: Option<String>,
}

/// `GET …/webhooks/{id}/entregas`.
#[derive(Template)]
#[template(path = "webhook_deliveries.html", config = "assets/askama.toml")]
pub struct DeliveriesPage {
    pub layout: Layout,
    pub base: &'static str,
    pub id: String,
    /// Of the endpoint.
    pub url: String,
    pub table: Table,
    pub deliveries: Vec<DeliveryRow>,
}

/// A delivery in a list.
pub struct DeliveryRow {
    pub number: String,
    /// `order.paid`.
    pub kind: &'static str,
    /// `Venda paga`.
    pub words: &'static str,
    pub state: Badge,
    /// When it is tried again, or what it waits for; may be empty.
    pub next: String,
    /// `200 em 31 ms`, or why it failed; empty before the first try.
    pub answer: String,
    pub tries: String,
    pub created: When,
    /// Whether it can be sent again.
    pub is_over: bool,
}

/// `GET …/webhooks/{id}/entregas/{numero}`.
#[derive(Template)]
#[template(path = "webhook_delivery.html", config = "assets/askama.toml")]
pub struct DeliveryPage {
    pub layout: Layout,
    pub base: &'static str,
    pub id: String,
    /// Of the endpoint.
    pub url: String,
    /// What `webhook-id` says.
    pub message: String,
    /// The last try.
    pub tried: Option<When>,
    pub row: DeliveryRow,
    /// What is sent, laid out.
    pub body: String,
    /// Beginning of the last answer; may be empty.
    pub answer: String,
}
