//! The section `webhooks` of the document: every event as it is posted to those who
//! subscribe, from the same shapes that make it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::SchemaGenerator;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::developers::titles::TITLES;
use crate::edge::route::Surface;
use crate::events::{Audience, EventType};
use crate::partner::{texts, webhooks};

/// Examples of what events show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examples {
    /// JSON by kind of object.
    objects: BTreeMap<String, String>,
    /// By type of event.
    events: BTreeMap<String, Example>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    object: String,
    /// Members that differ from the object's, as JSON.
    #[serde(default)]
    with: String,
}

static EXAMPLES: LazyLock<Examples> = LazyLock::new(|| texts::read("events.toml"));

/// Every event by its type.
pub fn all(schemas: &mut SchemaGenerator) -> Map<String, Value> {
    EventType::ALL
        .into_iter()
        .map(|kind| (kind.name().to_owned(), json!({ "post": posted(kind, schemas) })))
        .collect()
}

fn posted(kind: EventType, schemas: &mut SchemaGenerator) -> Value {
    let name = kind.name();
    let about = &TITLES.events[name].en;
    let whose = match kind.audience() {
        Some(Audience::Seller) => " Sellers subscribe to it.",
        Some(Audience::Supplier) => " Suppliers subscribe to it.",
        None => "",
    };
    let schema = json!({
        "type": "object",
        "required": ["type", "id", "timestamp", "data"],
        "properties": {
            "type": { "type": "string", "const": name, "description": "What happened." },
            "id": {
                "type": "string", "pattern": "^msg_[0-9a-f]{32}$",
                "description": "Its id, as `webhook-id` has it: the same in every attempt, in `list_events` too."
            },
            "timestamp": {
                "type": "string", "format": "date-time",
                "description": "When it happened, in UTC."
            },
            "data": webhooks::schema(kind)(schemas)
        }
    });
    let example = json!({
        "type": name, "id": "msg_00000000002a5f0c3b7e91d2c4a87766",
        "timestamp": "2026-11-20T11:52:03Z", "data": example(name)
    });
    json!({
        // OpenAPI Generator makes clients of these that do not compile, unless it is told that
        // they are not for it: nobody calls them but this service.
        "x-internal": true,
        "summary": about.trim_end_matches('.'),
        "description": format!("{about}{whose} Any status from 200 to 299 accepts it; 410 switches the \
            address off; anything else is tried again, at the time of `Retry-After` where there is one."),
        "operationId": format!("on_{}", name.replace('.', "_")),
        "tags": [Surface::Partner.tag()],
        "security": [],
        "parameters": headers(),
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": schema, "example": example } }
        },
        "responses": {
            "200": { "description": "Accepted, as by any status from 200 to 299." },
            "410": { "description": "No more events are wanted." }
        }
    })
}

/// The headers of Standard Webhooks.
fn headers() -> Value {
    let header = |name: &str, kind: &str, about: &str| {
        json!({
            "name": name, "in": "header", "required": true,
            "schema": { "type": kind }, "description": about
        })
    };
    json!([
        header("webhook-id", "string", "Id of the event."),
        header(
            "webhook-timestamp",
            "integer",
            "When this attempt was sent, in seconds since 1970."
        ),
        header(
            "webhook-signature",
            "string",
            "`v1,` and the HMAC-SHA256 of id, timestamp and body with points between, in Base64; \
             two with a blank between for a day after the secret was replaced."
        ),
    ])
}

/// What the kinds of objects look like, by name, as JSON.
pub fn objects() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES.objects.iter().map(|(name, json)| (&**name, json.trim()))
}

/// What an event shows, for example. A test reads each.
fn example(name: &str) -> Value {
    let Example { object, with } = &EXAMPLES.events[name];
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut shown = read(&EXAMPLES.objects[object]);
    if let (Value::Object(shown), Value::Object(with)) = (&mut shown, read(with)) {
        shown.extend(with);
    }
    shown
}
