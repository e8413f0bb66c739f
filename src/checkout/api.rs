//! `POST /api/v1/webhook/checkout`: the checkout platform reports what happened
//! to a purchase.
//!
//! The event is stored and applied in one transaction before it is answered.
//! The platform takes every status but 2xx for a failure. So events that need
//! no action are a success: duplicates, unknown events, products without a plan.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use super::apply::Incoming;
use super::{Event, apply, parse};
use crate::accounts::students::AccountServices;
use crate::app::App;
use crate::audit::{Actor, ActorKind};
use crate::edge::route::Job;
use crate::http::input::is_form;
use crate::http::{Problem, Reply, Request, schema};
use crate::identity::CheckoutSender;
use crate::identity::guard;
use crate::services::Services;

/// The answer to every accepted event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PurchaseEventReceived")]
pub struct Received<'a> {
    success: bool,
    message: &'static str,
    data: ReceivedData<'a>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PurchaseEventName")]
struct ReceivedData<'a> {
    /// The event, or the one that the purchase's status stands for.
    event: &'a str,
}

/// Schema of the body, with the fields that this service reads, all of them
/// leniently. The full description is the platform's own documentation.
pub fn body(_: &mut SchemaGenerator) -> Schema {
    let name = || json_schema!({ "anyOf": [{ "type": "string", "pattern": schema::not_blank() }, { "type": "number" }] });
    json_schema!({
        "type": "object",
        "description": "The platform's payload: the envelope with data, or the older flat form. An event that changes what a person may do needs the buyer's e-mail address. What cannot be read counts as absent.",
        "properties": {
            "id": { "description": "Makes the event idempotent; text or number." },
            "creation_date": { "description": "Milliseconds, or an ISO date." },
            "event": { "description": "Such as PURCHASE_APPROVED; without it data.purchase.status decides." },
            "hottok": { "description": "The token, where it does not come in the header." },
            "data": { "description": "An object with buyer, product, purchase, subscription." },
            "status": { "description": "Of the flat form, such as approved." }
        },
        "anyOf": [
            { "required": ["event"], "properties": { "event": name() } },
            { "required": ["data"], "properties": { "data": {
                "type": "object", "required": ["purchase"], "properties": { "purchase": {
                    "type": "object", "required": ["status"], "properties": { "status": name() }
                } }
            } } },
            { "required": ["status"], "properties": { "status": name(), "event": { "not": {} }, "data": { "not": {} } } }
        ]
    })
}

/// Schema of the flat form as a browser would send it.
pub fn form(_: &mut SchemaGenerator) -> Schema {
    let name = || json_schema!({ "type": "string", "pattern": schema::not_blank() });
    json_schema!({
        "type": "object",
        "description": "The older flat form.",
        "properties": {
            "hottok": { "type": "string", "description": "The token, where it does not come in the header." },
            "status": { "type": "string", "description": "Such as approved." },
            "event": { "type": "string", "description": "The event, where there is one." }
        },
        "anyOf": [
            { "required": ["event"], "properties": { "event": name() } },
            { "required": ["status"], "properties": { "status": name(), "event": { "not": {} }, "data": { "not": {} } } }
        ]
    })
}

/// Reads an event and returns the job that stores and applies it.
pub fn receive(app: &App, sender: &CheckoutSender, request: &Request) -> Result<Job, Problem> {
    let mut read = request.form_or_json::<Map<String, Value>>();
    let clean = clean_json(request);
    let token = match clean {
        Some(_) => None,
        None => read.as_mut().ok().and_then(parse::take_token),
    };
    if !sender.is_proven {
        // A sender without a valid token must not learn anything about the body.
        guard::prove_in_body(app, request, token.as_deref())?;
    }
    let payload = read?;
    let event = parse::event(&payload, app.zone()).map_err(Problem::invalid)?;
    let reply = Reply::json(&Received {
        success: true,
        message: "event received",
        data: ReceivedData { event: &event.name },
    })?;
    let actor = Actor::requesting(ActorKind::Purchase, actor_name(&event), request);
    // An event without id and transaction is recognised by its whole body, so
    // that is stored in a normal form.
    let is_named = event.id.is_some() || event.transaction.is_some();
    let body = clean
        .filter(|_| is_named)
        .map_or_else(|| Value::Object(payload).to_string(), str::to_owned);
    let incoming = incoming(app, event, body, actor);
    let services = AccountServices::of(app);
    Ok(Box::new(move |tx| {
        apply::receive(tx, &services, &incoming)?;
        Ok(reply)
    }))
}

/// An event with all that is needed to apply it, such as the configured plan.
pub fn incoming(services: &Services, event: Event, body: String, actor: Actor) -> Incoming {
    let config = &services.config.checkout;
    Incoming {
        role: event.plan_by(config),
        api: None,
        event,
        body,
        actor,
        grace_days: config.late_grace_days,
        zone: services.zone(),
    }
}

/// The body as it was sent, if it is JSON that cannot contain a token.
fn clean_json(request: &Request) -> Option<&str> {
    let is_object = !is_form(request.headers()) && request.body.starts_with(b"{");
    is_object.then(|| parse::without_token(&request.body))?
}

/// Name of the actor in the audit log.
fn actor_name(event: &Event) -> String {
    event.transaction.clone().unwrap_or_else(|| event.name.clone())
}
