//! The chat network's gateways: a self-hosted one (Evolution, version 2) and
//! the official API, as far as sending and asking for their state goes.
//!
//! Any key is good but `recusada`. A number that ends in `000` is not on the
//! network. The official API takes free text for 24 hours after somebody wrote
//! (`POST /_sandbox/chat/wrote`), and templates at any time.

use serde::Serialize;
use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::state::World;
use crate::base::clock::{DAY_S, Instant};

/// A message that a gateway took.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    pub at: String,
    /// `evolution`, `cloud` or `telegram`.
    pub gateway: &'static str,
    pub to: String,
    pub text: String,
    /// The template, at the official API.
    pub template: Option<String>,
    pub id: String,
}

impl Message {
    pub(super) fn new(
        now: Instant,
        gateway: &'static str,
        to: &str,
        text: &str,
        template: Option<&str>,
    ) -> Self {
        Self {
            at: now.rfc3339(),
            gateway,
            to: to.to_owned(),
            text: text.to_owned(),
            template: template.map(str::to_owned),
            id: String::new(),
        }
    }
}

/// `GET /instance/connectionState/{instance}`. The phone of `desligada` is not
/// connected.
pub fn connection(request: &Request, instance: &str) -> Reply {
    let refused = |status: u16, error: &str| {
        Reply::json(status, &json!({ "status": status, "error": error }))
    };
    if matches!(request.header("apikey"), None | Some("recusada")) {
        return refused(401, "Unauthorized");
    }
    let state = match instance {
        "desconhecida" => return refused(404, "Not Found"),
        "desligada" => "close",
        _ => "open",
    };
    let answer = json!({ "instance": { "instanceName": instance, "state": state } });
    Reply::json(200, &answer)
}

/// `GET /{phone number id}` of the official API.
pub fn phone(request: &Request, id: &str) -> Reply {
    let key = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if key.is_none_or(|key| key == "recusada") {
        let error = json!({ "message": "Error validating access token", "type": "OAuthException", "code": 190 });
        return Reply::json(401, &json!({ "error": error }));
    }
    Reply::json(200, &json!({ "verified_name": "Escola", "id": id }))
}

/// `POST /message/sendText/{instance}`.
pub fn evolution(world: &mut World, request: &Request, instance: &str, now: Instant) -> Reply {
    let refused = |status: u16, error: &str, message: Value| {
        let body = json!({ "status": status, "error": error, "response": { "message": message } });
        Reply::json(status, &body)
    };
    match request.header("apikey") {
        None | Some("recusada") => return refused(401, "Unauthorized", json!("Unauthorized")),
        Some(_) => {}
    }
    if instance == "desconhecida" {
        let message = json!(["The \"desconhecida\" instance does not exist"]);
        return refused(404, "Not Found", message);
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let (Some(number), Some(text)) = (body["number"].as_str(), body["text"].as_str()) else {
        let message = json!([["instance requires property \"text\""]]);
        return refused(400, "Bad Request", message);
    };
    if !is_on_network(number) {
        let jid = format!("{number}@s.whatsapp.net");
        let message = json!([{ "jid": jid, "exists": false, "number": number }]);
        return refused(400, "Bad Request", message);
    }
    let message = Message::new(now, "evolution", number, text, None);
    let id = note(world, message);
    let answer = json!({
        "key": { "remoteJid": format!("{number}@s.whatsapp.net"), "fromMe": true, "id": id },
        "message": { "conversation": text },
        "messageTimestamp": now.0.to_string(),
        "status": "PENDING",
    });
    Reply::json(201, &answer)
}

/// `POST /{phone number id}/messages` of the official API.
pub fn cloud(world: &mut World, request: &Request, now: Instant) -> Reply {
    let refused = |status: u16, code: i64, message: &str| {
        let error = json!({ "message": message, "type": "OAuthException", "code": code, "fbtrace_id": "A1" });
        Reply::json(status, &json!({ "error": error }))
    };
    let key = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if key.is_none_or(|key| key == "recusada") {
        return refused(401, 190, "Error validating access token");
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let parameter = &body["template"]["components"][0]["parameters"][0]["text"];
    let (template, text) = match body["type"].as_str() {
        Some("template") => (body["template"]["name"].as_str(), parameter.as_str()),
        _ => (None, body["text"]["body"].as_str()),
    };
    let (Some(to), Some(text)) = (body["to"].as_str(), text) else {
        return refused(400, 131_008, "Required parameter is missing");
    };
    let wrote = world.wrote.get(to).copied();
    let is_open = wrote.is_some_and(|at| now.since(at) < DAY_S);
    if template.is_none() && !is_open {
        return refused(400, 131_047, "Re-engagement message");
    }
    if template.is_some() && (text.contains(['\n', '\t']) || text.contains("     ")) {
        return refused(400, 132_012, "Parameter format does not match");
    }
    if !is_on_network(to) {
        return refused(400, 131_026, "Message undeliverable");
    }
    let message = Message::new(now, "cloud", to, text, template);
    let id = note(world, message);
    let answer = json!({
        "messaging_product": "whatsapp",
        "contacts": [{ "input": to, "wa_id": to }],
        "messages": [{ "id": id, "message_status": "accepted" }],
    });
    Reply::json(200, &answer)
}

fn is_on_network(number: &str) -> bool {
    !number.ends_with("000")
}

/// Keeps a message; gives back its id.
fn note(world: &mut World, message: Message) -> String {
    let id = format!("{}-{}", message.gateway, world.next_number());
    keep(world, message, id.clone());
    id
}

/// Keeps a message under an id.
pub(super) fn keep(world: &mut World, message: Message, id: String) {
    world.messages.push(Message { id, ..message });
}
