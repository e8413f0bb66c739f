//! Actions of people in their chats with the bot: write, block, unblock. Errors are
//! sentences for the control interface and the pages.

use serde_json::{Value, json};

use super::{CHATS_MAX, Chat, Line, NAME_MAX, TEXT_MAX, Telegram, bot_json};
use crate::base::Instant;

/// A person writes a message. The first message of a person opens the chat; a
/// message to a blocked bot unblocks it.
pub fn say(
    telegram: &mut Telegram,
    chat_id: i64,
    name: &str,
    text: &str,
    now: Instant,
) -> Result<(), String> {
    let (name, text) = (name.trim(), text.trim());
    if text.is_empty() || text.chars().count() > TEXT_MAX {
        return Err(format!("a text has 1 to {TEXT_MAX} characters"));
    }
    if !telegram.chats.contains_key(&chat_id) {
        if chat_id <= 0 || name.is_empty() || name.chars().count() > NAME_MAX {
            return Err(format!(
                "a new chat has a positive number and a name of 1 to {NAME_MAX} characters"
            ));
        }
        if telegram.chats.len() >= CHATS_MAX {
            return Err(format!("there are {CHATS_MAX} chats already"));
        }
        let chat = Chat {
            id: chat_id,
            name: name.to_owned(),
            blocked: false,
            lines: std::collections::VecDeque::new(),
        };
        telegram.chats.insert(chat_id, chat);
    }
    set_blocked(telegram, chat_id, false, now)?;
    let number = telegram.next_message();
    let chat = existing_chat(telegram, chat_id)?;
    chat.push(Line { at: now.rfc3339(), bot: false, text: text.to_owned() });
    let mut message = json!({
        "message_id": number, "from": chat.person(), "chat": chat.as_json(),
        "date": now.0, "text": text,
    });
    let command = text.split_whitespace().next().unwrap_or_default();
    if command.starts_with('/') {
        message["entities"] =
            json!([{ "type": "bot_command", "offset": 0, "length": command.len() }]);
    }
    telegram.tell("message", &message);
    Ok(())
}

/// A person blocks or unblocks the bot; does nothing if that is the state already.
pub fn set_blocked(
    telegram: &mut Telegram,
    chat_id: i64,
    blocked: bool,
    now: Instant,
) -> Result<(), String> {
    let chat = existing_chat(telegram, chat_id)?;
    if chat.blocked == blocked {
        return Ok(());
    }
    chat.blocked = blocked;
    let member = |is_blocked: bool| {
        if is_blocked {
            json!({ "user": bot_json(), "status": "kicked", "until_date": 0 })
        } else {
            json!({ "user": bot_json(), "status": "member" })
        }
    };
    let change = json!({
        "chat": chat.as_json(), "from": chat.person(), "date": now.0,
        "old_chat_member": member(!blocked), "new_chat_member": member(blocked),
    });
    telegram.tell("my_chat_member", &change);
    Ok(())
}

/// Queues an update as a test wrote it. It gets an `update_id` when it has none.
pub fn tell_raw(telegram: &mut Telegram, mut body: Value) -> Result<(), String> {
    if !body.is_object() {
        return Err("an update is an object".to_owned());
    }
    let id = body["update_id"].as_i64();
    let id = id.unwrap_or(telegram.last_update + 1);
    body["update_id"] = id.into();
    telegram.tell_as(id, body);
    Ok(())
}

fn existing_chat(telegram: &mut Telegram, chat_id: i64) -> Result<&mut Chat, String> {
    let chat = telegram.chats.get_mut(&chat_id);
    chat.ok_or_else(|| format!("there is no chat {chat_id}"))
}
