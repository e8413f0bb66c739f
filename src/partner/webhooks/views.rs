//! Data of the templates for webhooks.

use askama::Template;

use crate::panel::{Badge, FormView, Layout, Table, Tick, When};

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

/// An endpoint in the list.
pub struct EndpointRow {
    pub id: String,
    pub url: String,
    pub state: Badge,
    /// Since when and why it fails; may be empty.
    pub note: String,
    /// Names of its event types.
    pub events: String,
    /// Time of the last success.
    pub delivered: Option<When>,
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
    /// The newest deliveries.
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

/// A delivery in a list.
pub struct DeliveryRow {
    pub number: String,
    /// `order.paid`.
    pub kind: &'static str,
    /// `Venda paga`.
    pub words: &'static str,
    pub state: Badge,
    /// When it is retried, or what it waits for; may be empty.
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
    /// Address of the endpoint.
    pub url: String,
    /// The value of `webhook-id`.
    pub message: String,
    /// Time of the last try.
    pub tried: Option<When>,
    pub row: DeliveryRow,
    /// The body, with line breaks and indentation.
    pub body: String,
    /// Beginning of the last answer; may be empty.
    pub answer: String,
}
