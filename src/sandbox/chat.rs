//! The chat network's gateways: a self-hosted one (Evolution, version 2) and the
//! official API. Only sending and reading the state are simulated.
//!
//! Every key except `recusada` is accepted. A number that ends in `000` is not on
//! the network. The official API accepts free text for 24 hours after the person
//! wrote (`POST /_sandbox/chat/wrote`), and templates at any time.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, ControlResult, HandlerResult};
use super::http::{Reply, Request};
use super::logs::ChatMessage;
use crate::base::DAY_S;

/// Most phone numbers that are stored as having written.
const NUMBERS_MAX: usize = 1_000;

/// `GET /instance/connectionState/{instance}`. The phone of `desligada` is not
/// connected.
pub fn connection(call: &mut Call<'_>) -> HandlerResult {
    let refused = |status: u16, error: &str| {
        Reply::json(status, &json!({ "status": status, "error": error }))
    };
    if !has_api_key(call.request) {
        return Err(refused(401, "Unauthorized"));
    }
    let state = match call.id() {
        "desconhecida" => return Err(refused(404, "Not Found")),
        "desligada" => "close",
        _ => "open",
    };
    Reply::ok(json!({ "instance": { "instanceName": call.id(), "state": state } }))
}

fn has_api_key(request: &Request) -> bool {
    !matches!(request.header("apikey"), None | Some("recusada"))
}

/// `POST /message/sendText/{instance}`.
pub fn evolution(call: &mut Call<'_>) -> HandlerResult {
    let refused = |status: u16, error: &str, message: Value| {
        let body = json!({ "status": status, "error": error, "response": { "message": message } });
        Err(Reply::json(status, &body))
    };
    if !has_api_key(call.request) {
        return refused(401, "Unauthorized", json!("Unauthorized"));
    }
    if call.id() == "desconhecida" {
        let message = json!(["The \"desconhecida\" instance does not exist"]);
        return refused(404, "Not Found", message);
    }
    let body = call.request.json();
    let (Some(number), Some(text)) = (body["number"].as_str(), body["text"].as_str()) else {
        let message = json!([["instance requires property \"text\""]]);
        return refused(400, "Bad Request", message);
    };
    let jid = format!("{number}@s.whatsapp.net");
    if !is_on_network(number) {
        let message = json!([{ "jid": jid, "exists": false, "number": number }]);
        return refused(400, "Bad Request", message);
    }
    let id = keep(call, "evolution", number, text, None);
    let answer = json!({
        "key": { "remoteJid": jid, "fromMe": true, "id": id },
        "message": { "conversation": text },
        "messageTimestamp": call.now.0.to_string(),
        "status": "PENDING",
    });
    Ok(Reply::json(201, &answer))
}

/// An error of the official API.
fn graph_error(status: u16, code: i64, message: &str) -> Reply {
    let error =
        json!({ "message": message, "type": "OAuthException", "code": code, "fbtrace_id": "A1" });
    Reply::json(status, &json!({ "error": error }))
}

/// Checks the key of the official API.
fn check_graph_key(request: &Request) -> Result<(), Reply> {
    match request.bearer() {
        None | Some("recusada") => Err(graph_error(401, 190, "Error validating access token")),
        Some(_) => Ok(()),
    }
}

/// `GET /{phone number id}` of the official API.
pub fn phone(call: &mut Call<'_>) -> HandlerResult {
    check_graph_key(call.request)?;
    Ok(Reply::json(200, &json!({ "verified_name": "Escola", "id": call.id() })))
}

/// `POST /{phone number id}/messages` of the official API.
pub fn cloud(call: &mut Call<'_>) -> HandlerResult {
    let refused = |code: i64, message: &str| Err(graph_error(400, code, message));
    check_graph_key(call.request)?;
    let body = call.request.json();
    let parameter = &body["template"]["components"][0]["parameters"][0]["text"];
    let (template, text) = match body["type"].as_str() {
        Some("template") => (body["template"]["name"].as_str(), parameter.as_str()),
        _ => (None, body["text"]["body"].as_str()),
    };
    let (Some(to), Some(text)) = (body["to"].as_str(), text) else {
        return refused(131_008, "Required parameter is missing");
    };
    let wrote = call.state.wrote.get(to).copied();
    let is_open = wrote.is_some_and(|at| call.now.since(at) < DAY_S);
    if template.is_none() && !is_open {
        return refused(131_047, "Re-engagement message");
    }
    if template.is_some() && (text.contains(['\n', '\t']) || text.contains("     ")) {
        return refused(132_012, "Parameter format does not match");
    }
    if !is_on_network(to) {
        return refused(131_026, "Message undeliverable");
    }
    let id = keep(call, "cloud", to, text, template);
    Reply::ok(json!({
        "messaging_product": "whatsapp",
        "contacts": [{ "input": to, "wa_id": to }],
        "messages": [{ "id": id, "message_status": "accepted" }],
    }))
}

fn is_on_network(number: &str) -> bool {
    !number.ends_with("000")
}

/// Stores a message; returns its id.
fn keep(
    call: &mut Call<'_>,
    gateway: &'static str,
    to: &str,
    text: &str,
    template: Option<&str>,
) -> String {
    let id = format!("{gateway}-{}", call.state.next_number());
    call.state.messages.push(ChatMessage {
        at: call.now.rfc3339(),
        gateway,
        to: to.to_owned(),
        text: text.to_owned(),
        template: template.map(str::to_owned),
        id: id.clone(),
    });
    id
}

#[derive(Deserialize)]
struct IncomingMessage {
    number: String,
}

/// `POST /_sandbox/chat/wrote`: a person writes to us by chat, which opens the
/// window for free text.
pub fn control_wrote(call: &mut Call<'_>) -> ControlResult {
    let wrote: IncomingMessage = call.body()?;
    if call.state.wrote.len() >= NUMBERS_MAX {
        return Err(format!("at most {NUMBERS_MAX} numbers write"));
    }
    call.state.wrote.insert(wrote.number, call.now);
    Ok(json!({ "ok": true }))
}
