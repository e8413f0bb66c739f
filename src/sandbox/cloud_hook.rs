//! Tells the webhook of the official chat API what becomes of messages: first asks whether
//! the address is the receiver's, then posts one body after the other, signed, and each
//! until it is accepted.

use std::sync::Arc;
use std::time::{Duration, Instant as Monotonic};

use hmac::Mac as _;
use serde_json::Value;

use super::retries;
use super::state::Sandbox;
use crate::base::{hex, secrets};

/// What the receiver must answer to the question.
const CHALLENGE: &str = "1158201444";

/// What is to be done next.
enum Step {
    Verify { url: String, token: String },
    Post { url: String, secret: String, body: Value },
}

/// Works until the sandbox stops.
pub fn run(sandbox: &Arc<Sandbox>) {
    let agent = retries::agent();
    while let Some(step) = next(sandbox) {
        settle(sandbox, &step, perform(&agent, &step).err());
    }
}

fn perform(agent: &ureq::Agent, step: &Step) -> Result<(), String> {
    let (mut answer, wanted) = match step {
        Step::Verify { url, token } => {
            let asked = agent
                .get(url)
                .query("hub.mode", "subscribe")
                .query("hub.verify_token", token)
                .query("hub.challenge", CHALLENGE);
            (asked.call(), Some(CHALLENGE))
        }
        Step::Post { url, secret, body } => {
            let body = body.to_string();
            let posted = agent
                .post(url)
                .header("content-type", "application/json")
                .header("x-hub-signature-256", signature(secret, body.as_bytes()));
            (posted.send(body), None)
        }
    };
    let answer = answer.as_mut().map_err(|error| error.to_string())?;
    if !answer.status().is_success() {
        return Err(format!("the receiver answered {}", answer.status()));
    }
    let text = answer.body_mut().with_config().limit(1_024).read_to_string().unwrap_or_default();
    match wanted {
        Some(wanted) if text != wanted => Err("the receiver answered something else".to_owned()),
        _ => Ok(()),
    }
}

/// The header's value.
fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = secrets::hmac_sha256(secret.as_bytes());
    mac.update(body);
    format!("sha256={}", hex(&mac.finalize().into_bytes()))
}

/// Waits for the next due step; `None` when the sandbox stops.
fn next(sandbox: &Sandbox) -> Option<Step> {
    let mut state = sandbox.state();
    loop {
        if state.stopping {
            return None;
        }
        let now = Monotonic::now();
        let wait = match (&state.chat.webhook, state.chat.posts.front()) {
            (Some(hook), _) if !hook.is_verified && hook.retries.due <= now => {
                let (url, token) = (hook.url.clone(), hook.verify_token.clone());
                return Some(Step::Verify { url, token });
            }
            (Some(hook), Some(body)) if hook.is_verified && hook.retries.due <= now => {
                let (url, secret) = (hook.url.clone(), hook.secret.clone());
                return Some(Step::Post { url, secret, body: body.clone() });
            }
            (Some(hook), body) if body.is_some() || !hook.is_verified => {
                hook.retries.due.saturating_duration_since(now)
            }
            // When there is nothing to do, only the bell wakes this thread.
            _ => Duration::from_hours(1),
        };
        sandbox.bell.wait_for(&mut state, wait);
    }
}

/// Notes that a step is done, or schedules its next try. Meanwhile the webhook may have
/// been set anew, or the body dropped.
fn settle(sandbox: &Sandbox, step: &Step, error: Option<String>) {
    let mut state = sandbox.state();
    let network = &mut state.chat;
    let (Step::Verify { url, .. } | Step::Post { url, .. }) = step;
    let Some(hook) = network.webhook.as_mut().filter(|hook| hook.url == *url) else { return };
    match step {
        _ if error.is_some() => {}
        Step::Verify { .. } => hook.is_verified = true,
        Step::Post { body, .. } if network.posts.front() == Some(body) => {
            network.posts.pop_front();
        }
        Step::Post { .. } => {}
    }
    hook.retries.settle(error);
}
