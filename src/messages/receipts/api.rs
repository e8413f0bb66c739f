//! `/api/v1/webhook/chat`: where the official chat API tells what became of messages.
//!
//! It tells again after any answer but 2xx, for days, so what we do not know is answered
//! with success, too. A body is only read once its signature was found right
//! (`identity/guard/chat.rs`).

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::apply::{self, Network};
use super::status;
use crate::app::App;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::identity::{ChatSender, guard};

/// The answer to all that is told.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChatReceiptsReceived")]
pub struct Received {
    success: bool,
}

/// What stands in the address when the API asks whether it is ours.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the schema: the guard reads the query")]
pub struct Question {
    /// `subscribe`.
    #[schemars(rename = "hub.mode")]
    mode: String,
    /// The configured `chat.verify_token`.
    #[schemars(rename = "hub.verify_token")]
    verify_token: String,
    /// What is to be answered: 1 to 256 letters, digits, `_`, `-` or `.`.
    #[schemars(rename = "hub.challenge", regex(pattern = "^[A-Za-z0-9_.-]{1,256}$"))]
    challenge: String,
}

/// Schema of the body, as far as it is read.
pub fn body(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "A webhook of the official chat API; only its statuses are read.",
        "properties": {
            "entry": { "description": "A list whose entries hold changes[].value.statuses[]; anything else tells nothing." }
        }
    })
}

/// `GET`: shows that this address is ours, when it is entered at the API.
pub fn confirm(_: &App, _: &ChatSender, request: &Request) -> Result<Reply, Problem> {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes())
        .filter(|(name, _)| name == "hub.challenge")
        .map(|(_, value)| value.into_owned());
    let is_plain = |text: &String| {
        (1..=256).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    match (given.next().filter(is_plain), given.next()) {
        (Some(challenge), None) => Ok(Reply::of(media::TEXT, challenge)),
        _ => Err(Problem::field(
            "hub.challenge",
            "must have 1 to 256 letters, digits, underscores, dashes or dots",
        )),
    }
}

/// `POST`: applies what is told of messages.
pub fn receive(app: &App, sender: &ChatSender, request: &Request) -> Result<Job, Problem> {
    guard::prove_signature(app, request, sender)?;
    let told: Value = request.signed_json()?;
    let statuses = status::read(&told)?;
    let network = Network::of(app).ok_or_else(Problem::not_found)?;
    let answer = || Reply::json(&Received { success: true });
    if statuses.is_empty() {
        return Ok(nothing_to_do(answer()?));
    }
    let (counts, bell) = (Arc::clone(&app.messages.receipts), app.messages.delivery.bell.clone());
    Ok(Box::new(move |tx| {
        let mut outcomes = Vec::with_capacity(statuses.len());
        for status in &statuses {
            outcomes.push(apply::apply(tx, &network, status)?);
        }
        tx.after_commit(move || {
            for outcome in outcomes {
                counts.add(outcome);
            }
            bell.ring();
        });
        answer()
    }))
}
