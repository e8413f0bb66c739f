//! The self-hosted chat gateway (Evolution, version 2.3).
//!
//! Every key except `recusada` is accepted. A number that ends in `000` is not on the
//! network. The phone of the instance `desligada` is not connected: the state says `close`,
//! and each message is 400. That of the others is not after `POST /_sandbox/chat/phone`:
//! then a message to a number that was not written to before is 500, because it is looked
//! up first.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::chat::{is_on_network, keep};
use super::chat_network::NUMBERS_MAX;
use super::http::{Reply, Request};

/// What it says while its phone is not connected.
pub const CLOSED: &str = "Error: Connection Closed";

/// An error; all have one shape.
fn refused(status: u16, message: &Value) -> Reply {
    let error = match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        _ => "Internal Server Error",
    };
    let body = json!({ "status": status, "error": error, "response": { "message": message } });
    Reply::json(status, &body)
}

/// Checks the key and the name of the instance.
fn check(request: &Request, instance: &str) -> Result<(), Reply> {
    if matches!(request.header("apikey"), None | Some("recusada")) {
        return Err(refused(401, &json!("Unauthorized")));
    }
    if instance == "desconhecida" {
        let message = "The \"desconhecida\" instance does not exist";
        return Err(refused(404, &json!([message])));
    }
    Ok(())
}

/// What is said instead of sending; `None` while the phone is connected.
fn trouble(call: &Call<'_>) -> Option<String> {
    let says = call.state.chat.phone_says.clone();
    says.or_else(|| (call.id() == "desligada").then(|| CLOSED.to_owned()))
}

/// `GET /instance/connectionState/{instance}`.
pub fn connection(call: &mut Call<'_>) -> HandlerResult {
    check(call.request, call.id())?;
    let state = if trouble(call).is_some() { "close" } else { "open" };
    Reply::ok(json!({ "instance": { "instanceName": call.id(), "state": state } }))
}

/// `POST /message/sendText/{instance}`.
pub fn send(call: &mut Call<'_>) -> HandlerResult {
    check(call.request, call.id())?;
    let body = call.request.json();
    let missing = ["number", "text"].map(|name| (name, body[name].as_str().is_none()));
    let missing: Vec<String> = missing
        .iter()
        .filter(|(_, is_missing)| *is_missing)
        .map(|(name, _)| format!("requires property \"{name}\""))
        .collect();
    if !missing.is_empty() {
        return Err(refused(400, &json!([missing])));
    }
    let (number, text) = (body["number"].as_str(), body["text"].as_str());
    let (number, text) = (number.unwrap_or_default(), text.unwrap_or_default());
    if let Some(says) = trouble(call) {
        let is_known = call.id() == "desligada" || call.state.chat.written.contains(number);
        return Err(if is_known {
            refused(400, &json!([says]))
        } else {
            refused(500, &json!(says.trim_start_matches("Error: ")))
        });
    }
    let jid = format!("{number}@s.whatsapp.net");
    if !is_on_network(number) {
        return Err(refused(400, &json!([{ "jid": jid, "exists": false, "number": number }])));
    }
    if call.state.chat.written.len() < NUMBERS_MAX {
        call.state.chat.written.insert(number.to_owned());
    }
    let id = format!("evolution-{}", call.state.next_number());
    keep(call, "evolution", &id, (number, text), None);
    let answer = json!({
        "key": { "remoteJid": jid, "fromMe": true, "id": id },
        "message": { "conversation": text },
        "messageTimestamp": call.now.0.to_string(),
        "status": "PENDING",
    });
    Ok(Reply::json(201, &answer))
}
