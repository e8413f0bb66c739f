//! The official chat API.
//!
//! Every key except `recusada` is accepted. A message is taken first, and what becomes of
//! it is told by webhook, in the order of time: `sent`, `delivered`, or `failed` with an
//! error. A number that ends in `000` is not on the network. Free text is delivered for 24
//! hours after the person wrote (`POST /_sandbox/chat/wrote`), a template at any time.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::chat::{is_on_network, keep};
use super::chat_network::Taken;
use super::http::{Reply, Request};
use crate::base::{DAY_S, Instant};

/// Longest parameter of a template that has another component.
const PARAMETER_MAX: usize = 1_024;
/// Longest free text.
const TEXT_MAX: usize = 4_096;

/// An error's code, its title and what it says in detail.
type Error = (i64, &'static str, &'static str);

#[rustfmt::skip] // A table.
const ERRORS: &[Error] = &[
    (100, "Invalid parameter", "A parameter is not valid."),
    (190, "Error validating access token", ""),
    (130_429, "Rate limit hit", "Too many messages were sent from this number within a short time."),
    (130_497, "Business account is restricted from messaging users in this country.", "The account may not write to people there."),
    (131_000, "Something went wrong", "An unknown error kept the message from being sent."),
    (131_005, "Access denied", "A permission is missing or was taken away."),
    (131_008, "Required parameter is missing", "A parameter that is needed is missing."),
    (131_026, "Message undeliverable", "The recipient cannot receive the message."),
    (131_031, "Account has been locked", "The account broke a rule, or its data do not fit."),
    (131_037, "Display name approval is needed", "The number has no approved name yet."),
    (131_042, "Business eligibility payment issue", "The account has no valid way to pay."),
    (131_045, "Incorrect certificate", "The number is not registered."),
    (131_047, "Re-engagement message", "More than 24 hours passed since the person wrote last."),
    (131_048, "Spam rate limit hit", "Too many messages from this number were blocked or reported."),
    (131_049, "Message was not delivered", "It was held back to keep the network healthy."),
    (131_050, "Recipient has stopped marketing messages", "The person opted out of marketing messages."),
    (131_056, "Pair rate limit hit", "Too many messages to this person within a short time."),
    (131_057, "Account in maintenance mode", "The account is being moved."),
    (132_005, "Translated text is too long", "The text of the template is too long."),
    (132_012, "Parameter format does not match", "A parameter is not of the template's form."),
];

fn error_of(code: i64) -> Error {
    let known = ERRORS.iter().find(|(one, ..)| *one == code);
    known.copied().unwrap_or((code, "Unknown error", "Nothing is known of it."))
}

/// An error as an answer.
fn refused(code: i64) -> Reply {
    let (code, message, details) = error_of(code);
    let message = if code < 1_000 { message.to_owned() } else { format!("(#{code}) {message}") };
    let mut error =
        json!({ "message": message, "type": "OAuthException", "code": code, "fbtrace_id": "A1" });
    if !details.is_empty() {
        error["error_data"] = json!({ "messaging_product": "whatsapp", "details": details });
    }
    Reply::json(if code == 190 { 401 } else { 400 }, &json!({ "error": error }))
}

/// Checks the key.
fn check(request: &Request) -> Result<(), Reply> {
    match request.bearer() {
        None | Some("recusada") => Err(refused(190)),
        Some(_) => Ok(()),
    }
}

/// `GET /{phone number id}`.
pub fn phone(call: &mut Call<'_>) -> HandlerResult {
    check(call.request)?;
    let shown = json!({
        "verified_name": "Escola", "display_phone_number": DISPLAYED, "id": call.id(),
    });
    Ok(Reply::json(200, &shown))
}

/// Our number, as people see it.
const DISPLAYED: &str = "551130000000";

/// `POST /{phone number id}/messages`.
pub fn send(call: &mut Call<'_>) -> HandlerResult {
    check(call.request)?;
    let body = call.request.json();
    let parameter = &body["template"]["components"][0]["parameters"][0]["text"];
    let (template, text) = match body["type"].as_str() {
        Some("template") => (body["template"]["name"].as_str(), parameter.as_str()),
        _ => (None, body["text"]["body"].as_str()),
    };
    let (Some(to), Some(text)) = (body["to"].as_str(), text) else {
        return Err(refused(131_008));
    };
    let length = text.chars().count();
    match template {
        Some(_) if text.contains(['\n', '\t']) || text.contains("     ") => {
            return Err(refused(132_012));
        }
        Some(_) if length > PARAMETER_MAX => return Err(refused(132_005)),
        None if length > TEXT_MAX => return Err(refused(100)),
        _ => {}
    }
    let fate = call.state.chat.fates.get(to).cloned();
    if let Some(code) = fate.as_ref().filter(|fate| fate.at_once).and_then(|fate| fate.code) {
        return Err(refused(code));
    }
    let wrote = call.state.wrote.get(to).copied();
    let is_open = wrote.is_some_and(|at| call.now.since(at) < DAY_S);
    let code = match fate {
        Some(fate) => fate.code,
        None if !is_on_network(to) => Some(131_026),
        None if template.is_none() && !is_open => Some(131_047),
        None => None,
    };
    let message = Taken {
        id: format!("wamid.{}", call.state.next_number()),
        to: to.to_owned(),
        phone: call.id().to_owned(),
        tracking: body["biz_opaque_callback_data"].as_str().map(str::to_owned),
    };
    if code.is_none() {
        keep(call, "cloud", &message.id, (to, text), template);
    }
    let reply = json!({
        "messaging_product": "whatsapp",
        "contacts": [{ "input": to, "wa_id": to }],
        "messages": [{ "id": message.id, "message_status": "accepted" }],
    });
    tell_by_itself(call, &message, code);
    call.state.chat.take(message);
    Reply::ok(reply)
}

/// Tells the webhook what becomes of a message, one thing at a time.
fn tell_by_itself(call: &mut Call<'_>, message: &Taken, code: Option<i64>) {
    if call.state.chat.webhook.as_ref().is_none_or(|hook| hook.hold) {
        return;
    }
    let words: &[&str] = if code.is_some() { &["failed"] } else { &["sent", "delivered"] };
    for word in words {
        let status = status(message, word, code, call.now);
        call.state.chat.post(notice(&message.phone, &[status]));
    }
    call.sandbox.bell.notify_all();
}

/// What is told of a message, as it stands in a body of the webhook.
pub fn status(message: &Taken, word: &str, code: Option<i64>, at: Instant) -> Value {
    let mut status = json!({
        "id": message.id,
        "status": word,
        "timestamp": at.0.to_string(),
        "recipient_id": message.to,
    });
    if let Some(tracking) = &message.tracking {
        status["biz_opaque_callback_data"] = tracking.as_str().into();
    }
    if word == "failed" {
        let (code, title, details) = error_of(code.unwrap_or(131_000));
        status["errors"] = json!([{
            "code": code,
            "title": title,
            "message": title,
            "error_data": { "details": details },
            "href": "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
        }]);
    } else {
        status["pricing"] = json!({
            "billable": true, "pricing_model": "PMP", "category": "utility", "type": "regular",
        });
    }
    status
}

/// A body of the webhook.
pub fn notice(phone: &str, statuses: &[Value]) -> Value {
    json!({
        "object": "whatsapp_business_account",
        "entry": [{
            "id": "102290129340398",
            "changes": [{
                "field": "messages",
                "value": {
                    "messaging_product": "whatsapp",
                    "metadata": { "display_phone_number": DISPLAYED, "phone_number_id": phone },
                    "statuses": statuses,
                },
            }],
        }],
    })
}
