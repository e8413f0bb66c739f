//! `POST /api/v1/webhook/telegram`: updates that Telegram sends.
//!
//! Telegram sends an update again after any answer but 2xx, so updates that we
//! ignore are answered with success, too. Telegram is asked to send one update
//! at a time, which keeps their order.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::bot::Bot;
use super::poll::Trouble;
use super::{HOOK_PATH, apply, ensure_hook_secret, poll, update};
use crate::app::App;
use crate::base::Stop;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::TelegramSender;

/// The answer to every update.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TelegramUpdateReceived")]
pub struct Received {
    success: bool,
}

/// Schema of the body, as far as it is read.
pub fn body(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "An Update of the Bot API.",
        "required": ["update_id"],
        "properties": {
            "update_id": { "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX, "description": "Makes the update idempotent." },
            "message": { "description": "Something that was said in a chat; anything else than an object says nothing." },
            "my_chat_member": { "description": "The bot was blocked, or no longer is." }
        }
    })
}

/// Applies an update.
pub fn receive(app: &App, _: &TelegramSender, request: &Request) -> Result<Job, Problem> {
    let told: Value = request.json()?;
    let update = update::parse(&told)
        .ok_or_else(|| Problem::field("update_id", "must be the number of the update"))?;
    let info = poll::platform_info(app);
    let replies = Arc::clone(&app.messages.telegram.replies);
    Ok(Box::new(move |tx| {
        let answers = apply::apply(tx, &info, &[update])?;
        tx.after_commit(move || replies.add(answers));
        Reply::json(&Received { success: true })
    }))
}

/// Tells Telegram where to send updates, and retries until that succeeds.
pub fn register(app: &Arc<App>, bot: &Bot, stop: &Stop) {
    let url = format!("{}{HOOK_PATH}", app.server.addresses.base_url);
    let mut pause = poll::Pause::default();
    while !stop.is_set() {
        let secret = match ensure_hook_secret(app) {
            Ok(secret) => secret,
            Err(error) => {
                pause.take(&Trouble::Database(error), stop);
                continue;
            }
        };
        let (bot, url) = (bot.clone(), url.clone());
        match poll::apart(stop, move || bot.set_webhook(&url, &secret)) {
            None => return,
            Some(Ok(())) => {
                tracing::info!("Telegram sends what people say to the bot");
                return;
            }
            Some(Err(fault)) => pause.take(&Trouble::Fault(fault), stop),
        }
    }
}
