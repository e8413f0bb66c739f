//! Notifications: how they are queued, and the list of those that were given up.
//! `deliver.rs` sends them.

use std::time::Instant as Monotonic;

use serde::Deserialize;
use serde_json::json;

use super::call::{Answer, Call, Outcome, Pressed};
use super::http::Reply;
use super::logs::Notification;
use super::state::{QUEUE_MAX, World};
use super::things::Event;
use crate::base::text::hex;
use crate::base::{DAY_S, Instant};

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

/// Queues a notification, unless its topic is not subscribed or is switched off.
pub fn notify(world: &mut World, event: Event, seller: i64, topic: &str, resource: &str) {
    announce(world, event, &NewNotification { seller, topic, resource, actions: &[] });
}

/// Queues a notification as [`notify`] does, also with actions.
pub fn announce(world: &mut World, event: Event, news: &NewNotification<'_>) {
    let is_wanted = world.config.topics.iter().any(|topic| topic == news.topic);
    if event.notify && is_wanted && !world.silenced.contains(news.topic) {
        send_out(world, event.now, news);
    }
}

/// Queues a notification of any topic, with the copies that `duplicates` sets.
fn send_out(world: &mut World, now: Instant, news: &NewNotification<'_>) {
    let (number, id) = (world.next_number(), crate::base::secrets::random_hex::<12>());
    // `sent` must differ: two changes within a second are two notifications.
    let fraction = number.rem_euclid(1_000_000_000);
    let sent = now.rfc3339().replace('Z', &format!(".{fraction:09}Z"));
    for _ in 0..=world.config.duplicates {
        if world.queue.len() >= QUEUE_MAX {
            tracing::warn!("the sandbox's queue is full; a notification is lost");
            return;
        }
        let number = world.next_number();
        world.queue.push(Notification {
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
pub fn missed_feeds(call: &mut Call<'_>) -> Answer {
    if !call.asks("app_id", &call.sandbox.client_id) {
        return Err(Reply::forbidden("app_id is not the token's application"));
    }
    let topic = call.query("topic");
    if topic == Some("items") && !call.asks("site_id", "MLB") {
        return Err(Reply::bad_request("topic items needs site_id"));
    }
    let (limit, offset) = call.paging(10)?;
    let missed = call.world.missed.iter().rev();
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
pub fn control_announce(call: &mut Call<'_>) -> Outcome {
    let Announcement { ml_user_id: seller, topic, resource } = call.body()?;
    let news = NewNotification { seller, topic: &topic, resource: &resource, actions: &[] };
    send_out(call.world, call.now, &news);
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
pub fn control_switch_topic(call: &mut Call<'_>) -> Outcome {
    let TopicSwitch { topic, on } = call.body()?;
    if on {
        switch_on(call.world, &topic);
    } else if call.world.silenced.len() < SILENCED_MAX {
        call.world.silenced.insert(topic);
    }
    Ok(json!({ "ok": true }))
}

fn switch_on(world: &mut World, topic: &str) {
    world.silenced.remove(topic);
    world.misses.remove(topic);
}

/// `POST /acoes/topico`.
pub fn press_topic(call: &mut Call<'_>) -> Pressed {
    let topic = call.field("topico");
    switch_on(call.world, &topic);
    Ok(format!("O tópico {topic} voltou a ser enviado."))
}
