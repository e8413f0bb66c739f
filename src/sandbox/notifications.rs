//! Notifications: how they are queued, and the list of those that were given up.
//! `deliver.rs` sends them.

use std::fmt::Display;
use std::time::Instant as Monotonic;

use serde::Deserialize;
use serde_json::json;

use super::call::{ButtonResult, Call, ControlResult, HandlerResult};
use super::http::Reply;
use super::logs::Notification;
use super::state::{QUEUE_MAX, SandboxState};
use super::things::ChangeContext;
use crate::base::{DAY_S, Instant, hex};
use crate::marketplace::kinds::RecordKind;

/// How long `/missed_feeds` shows notifications that were given up.
const MISSED_S: i64 = 2 * DAY_S;
/// Most topics that a control can switch off.
const SILENCED_MAX: usize = 100;

/// The content of a notification.
pub struct NewNotification<'n> {
    /// The seller it is about.
    pub seller: i64,
    pub topic: &'n str,
    /// Path of the record that changed.
    pub resource: &'n str,
    /// Actions, for topics that carry them; otherwise empty.
    pub actions: &'n [&'n str],
}

/// Queues a notification about a record, unless its topic is not subscribed or is
/// switched off.
pub fn notify(
    state: &mut SandboxState,
    context: ChangeContext,
    seller: i64,
    kind: RecordKind,
    id: impl Display,
) {
    let (topic, resource) = kind.announcement(id);
    announce(state, context, &NewNotification { seller, topic, resource: &resource, actions: &[] });
}

/// Queues a notification as [`notify`] does, also with actions.
pub fn announce(state: &mut SandboxState, context: ChangeContext, news: &NewNotification<'_>) {
    let is_wanted = state.config.topics.iter().any(|topic| topic == news.topic);
    if context.notify && is_wanted && !state.silenced.contains(news.topic) {
        send_out(state, context.now, news);
    }
}

/// Queues a notification of any topic, with the copies that `duplicates` sets.
fn send_out(state: &mut SandboxState, now: Instant, news: &NewNotification<'_>) {
    let (number, id) = (state.next_number(), crate::base::secrets::random_hex::<12>());
    // `sent` must differ: two changes within a second are two notifications.
    let fraction = number.rem_euclid(1_000_000_000);
    let sent = now.rfc3339().replace('Z', &format!(".{fraction:09}Z"));
    for _ in 0..=state.config.duplicates {
        if state.queue.len() >= QUEUE_MAX {
            tracing::warn!("the sandbox's queue is full; a notification is lost");
            return;
        }
        let number = state.next_number();
        state.queue.push(Notification {
            number,
            id: id.clone(),
            request_id: uuid(),
            seller: news.seller,
            topic: news.topic.to_owned(),
            resource: news.resource.to_owned(),
            actions: news.actions.iter().map(|action| (*action).to_owned()).collect(),
            sent: sent.clone(),
            attempt: 1,
            due: Monotonic::now(),
        });
    }
}

/// A random UUID (version 4).
fn uuid() -> String {
    let mut bytes: [u8; 16] = crate::base::secrets::random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// `GET /missed_feeds`: notifications that were given up in the last two days.
pub fn missed_feeds(call: &mut Call<'_>) -> HandlerResult {
    if !call.asks("app_id", &call.sandbox.client_id) {
        return Err(Reply::forbidden("app_id is not the token's application"));
    }
    if call.state.config.application_owner.is_some_and(|owner| owner != call.seller) {
        return Err(Reply::forbidden("the token is not that of the application's owner"));
    }
    let topic = call.query("topic");
    if topic == Some("claims") && !call.state.config.legacy_claims {
        return Err(Reply::bad_request("invalid topic"));
    }
    if topic == Some("items") && !call.asks("site_id", "MLB") {
        return Err(Reply::bad_request("topic items needs site_id"));
    }
    let (limit, offset) = call.paging(10)?;
    let missed = call.state.missed.iter().rev();
    let messages = missed
        .filter(|missed| call.now.since(missed.at) <= MISSED_S)
        .filter(|missed| topic.is_none_or(|topic| missed.body["topic"] == topic))
        .skip(offset)
        .take(limit)
        .map(|missed| &missed.body);
    Ok(Reply::json(200, &json!({ "messages": messages.collect::<Vec<_>>() })))
}

/// A notification about any topic and resource, known or not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Announcement {
    ml_user_id: i64,
    topic: String,
    resource: String,
}

/// `POST /_sandbox/notifications`.
pub fn control_announce(call: &mut Call<'_>) -> ControlResult {
    let Announcement { ml_user_id: seller, topic, resource } = call.body()?;
    let news = NewNotification { seller, topic: &topic, resource: &resource, actions: &[] };
    send_out(call.state, call.now, &news);
    Ok(json!({ "ok": true }))
}

/// A topic to be switched on or off. The marketplace switches topics off when the
/// receiver is slow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicSwitch {
    topic: String,
    on: bool,
}

/// `POST /_sandbox/topics`.
pub fn control_switch_topic(call: &mut Call<'_>) -> ControlResult {
    let TopicSwitch { topic, on } = call.body()?;
    if on {
        switch_on(call.state, &topic);
    } else if call.state.silenced.len() < SILENCED_MAX {
        call.state.silenced.insert(topic);
    }
    Ok(json!({ "ok": true }))
}

fn switch_on(state: &mut SandboxState, topic: &str) {
    state.silenced.remove(topic);
    state.misses.remove(topic);
}

/// `POST /acoes/topico`.
pub fn press_topic(call: &mut Call<'_>) -> ButtonResult {
    let topic = call.field("topico");
    switch_on(call.state, &topic);
    Ok(format!("O tópico {topic} voltou a ser enviado."))
}
