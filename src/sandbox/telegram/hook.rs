//! Sends updates to a webhook: one at a time, in order, with retries until they
//! are accepted.

use std::sync::Arc;
use std::time::{Duration, Instant as Monotonic};

use super::Update;
use crate::sandbox::retries;
use crate::sandbox::state::Sandbox;

/// Sends updates until the sandbox stops.
pub fn run(sandbox: &Arc<Sandbox>) {
    let agent = retries::agent();
    while let Some((update, url, secret)) = next(sandbox) {
        let mut request = agent.post(&url).header("content-type", "application/json");
        if let Some(secret) = secret {
            request = request.header("x-telegram-bot-api-secret-token", secret);
        }
        let error = match request.send(update.body.to_string()) {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("Wrong response from the webhook: {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        settle(sandbox, &update, error);
    }
}

/// Waits for the next due update; `None` when the sandbox stops.
fn next(sandbox: &Sandbox) -> Option<(Update, String, Option<String>)> {
    let mut state = sandbox.state();
    loop {
        if state.stopping {
            return None;
        }
        let now = Monotonic::now();
        let telegram = &state.telegram;
        let wait = match (&telegram.webhook, telegram.updates.front()) {
            (Some(hook), Some(update)) if hook.retries.due <= now => {
                return Some((update.clone(), hook.url.clone(), hook.secret.clone()));
            }
            (Some(hook), Some(_)) => hook.retries.due - now,
            // When there is nothing to send, only the bell wakes this thread.
            _ => Duration::from_hours(1),
        };
        sandbox.bell.wait_for(&mut state, wait);
    }
}

/// Removes an update that was accepted, or schedules its next try.
fn settle(sandbox: &Sandbox, update: &Update, error: Option<String>) {
    let mut state = sandbox.state();
    let telegram = &mut state.telegram;
    let Some(hook) = &mut telegram.webhook else {
        return;
    };
    if error.is_none() && telegram.updates.front().map(|first| first.id) == Some(update.id) {
        telegram.updates.pop_front();
    }
    hook.retries.settle(error);
}
