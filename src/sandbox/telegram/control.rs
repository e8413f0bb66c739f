//! Controls of Telegram: actions of people in chats with the bot, and the current
//! state.

use serde::Deserialize;
use serde_json::json;

use super::{USERNAME, people};
use crate::sandbox::call::{Call, ControlResult};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InChat {
    chat_id: i64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    text: String,
}

/// `GET /_sandbox/telegram`.
pub fn state(call: &mut Call<'_>) -> ControlResult {
    let telegram = &call.state.telegram;
    let webhook = telegram
        .webhook
        .as_ref()
        .map(|hook| json!({ "url": hook.url, "secret": hook.secret, "error": hook.retries.error }));
    Ok(json!({
        "bot": USERNAME, "webhook": webhook, "pollers": telegram.pollers,
        "waiting": telegram.updates.len(),
        "chats": telegram.chats.values().collect::<Vec<_>>(),
    }))
}

/// `POST /_sandbox/telegram/say`.
pub fn say(call: &mut Call<'_>) -> ControlResult {
    let InChat { chat_id, name, text } = call.body()?;
    people::say(&mut call.state.telegram, chat_id, &name, &text, call.now)?;
    Ok(json!({ "ok": true }))
}

/// `POST /_sandbox/telegram/block`.
pub fn block(call: &mut Call<'_>) -> ControlResult {
    set_blocked(call, true)
}

/// `POST /_sandbox/telegram/unblock`.
pub fn unblock(call: &mut Call<'_>) -> ControlResult {
    set_blocked(call, false)
}

fn set_blocked(call: &mut Call<'_>, blocked: bool) -> ControlResult {
    let chat: InChat = call.body()?;
    people::set_blocked(&mut call.state.telegram, chat.chat_id, blocked, call.now)?;
    Ok(json!({ "ok": true }))
}

/// `POST /_sandbox/telegram/updates`: queues the given update.
pub fn update(call: &mut Call<'_>) -> ControlResult {
    let update = call.body()?;
    people::tell_raw(&mut call.state.telegram, update)?;
    Ok(json!({ "ok": true }))
}
