//! A receiver of webhooks. It shows what it received, and whether the signature is
//! valid for the configured secrets (Standard Webhooks).
//!
//! It answers 204 or the configured status. Faults for its path
//! (`/_sandbox/faults` with `/webhooks/NAME`) apply first, so it can hang,
//! redirect, fail or answer 429.

use serde::Deserialize;
use serde_json::json;

use super::call::{Call, ControlResult, HandlerResult};
use super::http::Reply;
use super::receivers::{Received, Receiver, judge, key_of};

/// Most receivers that are configured.
const RECEIVERS_MAX: usize = 1_000;
/// Most secrets of one receiver.
const SECRETS_MAX: usize = 4;
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setup {
    name: String,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    status: Option<u16>,
}

/// `POST /_sandbox/webhooks`: sets the secrets (`whsec_…`) and the status of a
/// receiver.
pub fn control_set_up(call: &mut Call<'_>) -> ControlResult {
    let Setup { name, secrets, status } = call.body()?;
    let known = &mut call.state.receivers;
    if known.len() >= RECEIVERS_MAX && !known.contains_key(&name) {
        return Err(format!("at most {RECEIVERS_MAX} receivers are known"));
    }
    if secrets.len() > SECRETS_MAX || secrets.iter().any(|secret| key_of(secret).is_none()) {
        return Err(format!("secrets must be at most {SECRETS_MAX} texts like whsec_BASE64"));
    }
    if status.is_some_and(|status| !(200..=599).contains(&status)) {
        return Err("status must be from 200 to 599".to_owned());
    }
    known.insert(name, Receiver { secrets, status });
    Ok(json!({ "ok": true }))
}

/// `POST /webhooks/{name}`.
pub fn receive(call: &mut Call<'_>) -> HandlerResult {
    let name = call.id().to_owned();
    let receiver = call.state.receivers.get(&name).cloned().unwrap_or_default();
    let header = |name: &str| call.request.header(name).unwrap_or_default();
    let received = Received {
        at: call.now.rfc3339(),
        receiver: name,
        id: header("webhook-id").to_owned(),
        timestamp: header("webhook-timestamp").parse().unwrap_or_default(),
        signature: judge(call.request, &receiver.secrets, call.now).to_owned(),
        signatures: header("webhook-signature").split_whitespace().count(),
        body: call.request.json(),
    };
    call.state.webhooks.push(received);
    Err(Reply::empty(receiver.status.unwrap_or(204)))
}
