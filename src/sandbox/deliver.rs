//! Delivers notifications to the platform's receiver: at least once, with retries, and
//! signed when a switch says so.
//!
//! The marketplace waits half a second for the receiver and makes eight attempts
//! within an hour; here the pauses are shorter. A notification that was given up
//! appears in `/missed_feeds`. One thread sends everything, so a slow receiver
//! delays all later notifications, as it does at the real marketplace.

use std::sync::Arc;
use std::time::{Duration, Instant as Monotonic};

use hmac::Mac as _;
use serde_json::{Value, json};

use super::config::Config;
use super::logs::{Delivery, MissedNotification, Notification};
use super::state::{Sandbox, SandboxState};
use crate::base::secrets;
use crate::base::text::hex;

/// The pause after the first attempt; each further one is twice as long, so
/// that eight attempts take an hour.
const FIRST_PAUSE_S: f64 = 28.0;

/// Delivers until the sandbox stops.
pub fn run(sandbox: &Arc<Sandbox>) {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
    while let Some((notice, config)) = next(sandbox) {
        let sent = send(sandbox, &agent, &notice, &config);
        settle(sandbox, notice, &config, &sent);
    }
}

/// Waits for the next due notification; `None` when the sandbox stops.
fn next(sandbox: &Sandbox) -> Option<(Notification, Config)> {
    let mut state = sandbox.state();
    loop {
        if state.stopping {
            return None;
        }
        let now = Monotonic::now();
        let open = !state.config.hold && state.config.notify_url.is_some();
        let reorder = state.config.reorder;
        let due = state
            .queue
            .iter()
            .enumerate()
            .filter(|(_, notice)| open && notice.due <= now)
            .min_by_key(|(_, notice)| if reorder { -notice.number } else { notice.number })
            .map(|(index, _)| index);
        if let Some(index) = due {
            let notice = state.queue.swap_remove(index);
            state.in_flight = 1;
            return Some((notice, state.config.clone()));
        }
        let soonest = state.queue.iter().map(|notice| notice.due).min();
        // When nothing can become due, only the bell wakes this thread. The long
        // timeout is there so that both cases can use the same call.
        let wait = soonest.filter(|_| open).map_or(Duration::from_hours(1), |due| due - now);
        sandbox.bell.wait_for(&mut state, wait);
    }
}

struct Attempt {
    status: Option<u16>,
    detail: Option<String>,
    took: Duration,
}

fn send(sandbox: &Sandbox, agent: &ureq::Agent, notice: &Notification, config: &Config) -> Attempt {
    let url = config.notify_url.as_deref().unwrap_or_default();
    let started = Monotonic::now();
    let mut request = agent
        .post(url)
        .config()
        .timeout_global(Some(Duration::from_millis(config.answer_within_ms)))
        .build()
        .header("content-type", "application/json")
        .header("x-request-id", &notice.request_id);
    if config.sign {
        request = request.header("x-signature", signature(sandbox, notice, config));
    }
    let answer = request.send(body(sandbox, notice, config).to_string());
    let took = started.elapsed();
    match answer {
        Ok(mut answer) => {
            let status = answer.status().as_u16();
            let text = (status != 200).then(|| {
                let text = answer.body_mut().with_config().limit(4096).read_to_string();
                crate::base::text::shortened(&text.unwrap_or_default(), 200).to_owned()
            });
            Attempt { status: Some(status), detail: text, took }
        }
        Err(error) => Attempt { status: None, detail: Some(error.to_string()), took },
    }
}

/// The signature `ts=…;v1=…` over the manifest of this notification.
fn signature(sandbox: &Sandbox, notice: &Notification, config: &Config) -> String {
    let now = sandbox.clock.now().0;
    let ts = if config.ts_milliseconds { now * 1000 } else { now };
    let data_id = notice.resource.rsplit('/').next().unwrap_or_default();
    let manifest = format!("id:{data_id};request-id:{};ts:{ts};", notice.request_id);
    let key = sandbox.client_secret.reveal().as_bytes();
    let mut mac = secrets::hmac_sha256(key);
    mac.update(manifest.as_bytes());
    let digest = hex(&mac.finalize().into_bytes());
    format!("ts={ts}{}v1={digest}", config.separator)
}

fn body(sandbox: &Sandbox, notice: &Notification, config: &Config) -> Value {
    let id = |number: i64| {
        if config.string_ids { json!(number.to_string()) } else { json!(number) }
    };
    let mut body = json!({
        "_id": notice.id, "resource": shown_resource(notice, config), "user_id": id(notice.seller),
        "topic": notice.topic, "application_id": id(sandbox.application()),
        "attempts": notice.attempt, "sent": notice.sent, "received": notice.sent,
    });
    if !notice.actions.is_empty() {
        body["actions"] = json!(notice.actions);
    }
    body
}

fn shown_resource<'a>(notice: &'a Notification, config: &Config) -> &'a str {
    if config.missing_slash { notice.resource.trim_start_matches('/') } else { &notice.resource }
}

/// Logs an attempt, and queues the next one or gives up.
fn settle(sandbox: &Sandbox, mut notice: Notification, config: &Config, sent: &Attempt) {
    let now = sandbox.clock.now();
    let outcome = match sent.status {
        Some(200) => "delivered",
        _ if notice.attempt < config.attempts => "retry",
        _ => "missed",
    };
    let took_ms = u64::try_from(sent.took.as_millis()).unwrap_or(u64::MAX);
    let mut state = sandbox.state();
    state.deliveries.push(Delivery {
        at: now.rfc3339(),
        request_id: notice.request_id.clone(),
        topic: notice.topic.clone(),
        resource: shown_resource(&notice, config).to_owned(),
        ml_user_id: notice.seller,
        attempt: notice.attempt,
        status: sent.status,
        detail: sent.detail.clone(),
        took_ms,
        outcome,
    });
    count_missed(&mut state, &notice.topic, outcome);
    match outcome {
        "retry" => {
            let doubled = f64::from(1_u32 << (notice.attempt - 1).min(16));
            let pause = FIRST_PAUSE_S * doubled * config.retry_scale;
            notice.due = Monotonic::now() + Duration::from_secs_f64(pause.clamp(0.0, 3600.0));
            notice.attempt += 1;
            state.queue.push(notice);
        }
        "missed" => {
            let mut missed = body(sandbox, &notice, config);
            missed["request"] = json!({ "url": config.notify_url, "headers": {}, "data": "" });
            missed["response"] = json!({
                "req_time": took_ms, "http_code": sent.status, "body": sent.detail,
            });
            state.missed.push(MissedNotification { at: now, body: missed });
        }
        _ => {}
    }
    state.in_flight = 0;
    drop(state);
    sandbox.ring();
}

/// Counts the missed notifications of a topic in a row. Too many switch the topic
/// off; its later notifications are not stored.
fn count_missed(state: &mut SandboxState, topic: &str, outcome: &str) {
    match outcome {
        "delivered" => {
            state.misses.remove(topic);
        }
        "missed" => {
            let misses = state.misses.entry(topic.to_owned()).or_default();
            *misses += 1;
            if state.config.silence_after > 0 && *misses >= state.config.silence_after {
                state.silenced.insert(topic.to_owned());
                state.queue.retain(|waiting| waiting.topic != topic);
            }
        }
        _ => {}
    }
}
