//! Controls of the chat network.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, ControlResult};
use super::chat_network::{Fate, NUMBERS_MAX, Taken, Webhook};
use super::cloud;
use super::evolution::CLOSED;
use super::retries::Retries;

fn done() -> ControlResult {
    Ok(json!({ "ok": true }))
}

/// `GET /_sandbox/chat`.
pub fn state(call: &mut Call<'_>) -> ControlResult {
    let network = &call.state.chat;
    let webhook = network.webhook.as_ref().map(|hook| {
        json!({
            "url": hook.url, "verified": hook.is_verified, "hold": hook.hold, "error": hook.retries.error,
        })
    });
    Ok(json!({
        "connected": network.phone_says.is_none(), "says": network.phone_says,
        "webhook": webhook, "waiting": network.posts.len(),
        "taken": network.taken.iter().map(|one| &one.id).collect::<Vec<_>>(),
    }))
}

#[derive(Deserialize)]
struct IncomingMessage {
    number: String,
}

/// `POST /_sandbox/chat/wrote`: a person writes to us by chat, which opens the
/// window for free text.
pub fn wrote(call: &mut Call<'_>) -> ControlResult {
    let wrote: IncomingMessage = call.body()?;
    if call.state.wrote.len() >= NUMBERS_MAX {
        return Err(format!("at most {NUMBERS_MAX} numbers write"));
    }
    call.state.wrote.insert(wrote.number, call.now);
    done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phone {
    connected: bool,
    /// What the gateway says of each message.
    says: Option<String>,
}

/// `POST /_sandbox/chat/phone`: the phone of the self-hosted gateway loses its
/// connection, or has it again.
pub fn phone(call: &mut Call<'_>) -> ControlResult {
    let Phone { connected, says } = call.body()?;
    let says = says.unwrap_or_else(|| CLOSED.to_owned());
    call.state.chat.phone_says = (!connected).then_some(says);
    done()
}

/// `POST /_sandbox/chat/fate`: what becomes of messages to a number, at the official API.
pub fn fate(call: &mut Call<'_>) -> ControlResult {
    let fate: Fate = call.body()?;
    let fates = &mut call.state.chat.fates;
    if fates.len() >= NUMBERS_MAX {
        return Err(format!("at most {NUMBERS_MAX} numbers have a fate"));
    }
    fates.insert(fate.number.clone(), fate);
    done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewWebhook {
    /// Null for none.
    url: Option<String>,
    #[serde(default)]
    app_secret: String,
    #[serde(default)]
    verify_token: String,
    #[serde(default)]
    hold: bool,
}

/// `POST /_sandbox/chat/webhook`: where the official API tells what becomes of messages.
pub fn webhook(call: &mut Call<'_>) -> ControlResult {
    let new: NewWebhook = call.body()?;
    let network = &mut call.state.chat;
    network.posts.clear();
    network.webhook = new.url.map(|url| Webhook {
        url,
        secret: new.app_secret,
        verify_token: new.verify_token,
        is_verified: false,
        hold: new.hold,
        retries: Retries::new(),
    });
    done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewStatus {
    id: String,
    status: String,
    code: Option<i64>,
    /// Whether our own name for the message is told with it.
    #[serde(default = "is_usual")]
    tracking: bool,
}

const fn is_usual() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewStatuses {
    statuses: Vec<NewStatus>,
}

/// `POST /_sandbox/chat/statuses`: the official API tells these things in one body, in
/// this order, of messages that exist or not.
pub fn statuses(call: &mut Call<'_>) -> ControlResult {
    let new: NewStatuses = call.body()?;
    let taken = |id: &str| {
        let known = call.state.chat.taken.iter().find(|one| one.id == id).cloned();
        known.unwrap_or_else(|| Taken {
            id: id.to_owned(),
            to: "5511900000000".to_owned(),
            phone: "1".to_owned(),
            tracking: None,
        })
    };
    let status = |one: NewStatus| {
        let mut message = taken(&one.id);
        message.tracking = message.tracking.filter(|_| one.tracking);
        cloud::status(&message, &one.status, one.code, call.now)
    };
    let statuses: Vec<Value> = new.statuses.into_iter().map(status).collect();
    call.state.chat.post(cloud::notice("1", &statuses));
    done()
}
