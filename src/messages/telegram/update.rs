//! What Telegram tells, read leniently: of an update only what we act on, and
//! nothing of what makes no sense.

use serde_json::Value;

use crate::base::shortened;
use crate::http::input::whole;

/// Longest name that is kept of a person.
const LONGEST_NAME: usize = 64;
/// Longest command that is looked at: more than a command with its code.
const LONGEST_ORDER: usize = 200;

/// Something that happened in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub id: i64,
    /// Nothing, when it is of no concern.
    pub what: Option<What>,
}

/// What happened, in a private chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The person said something.
    Said { chat: i64, name: String, order: ChatCommand },
    /// The person blocked the bot, or no longer does.
    Blocked { chat: i64, blocked: bool },
}

/// What a person wants by what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatCommand {
    /// To link the chat, with the code of a link when there is one.
    Start { code: Option<String> },
    /// To unlink it.
    Stop,
    /// Something that the bot does not understand.
    Other,
}

/// Reads an update; `None` without a number, by which alone it is confirmed.
pub fn parse(update: &Value) -> Option<Update> {
    let id = update["update_id"].as_number().and_then(whole)?;
    let what = said(&update["message"]).or_else(|| membership(&update["my_chat_member"]));
    Some(Update { id, what })
}

fn said(message: &Value) -> Option<What> {
    let chat = private_chat(message)?;
    Some(What::Said {
        chat,
        name: name(&message["from"]),
        order: order(message["text"].as_str().unwrap_or_default()),
    })
}

fn membership(change: &Value) -> Option<What> {
    let chat = private_chat(change)?;
    let blocked = match change["new_chat_member"]["status"].as_str()? {
        "kicked" | "left" => true,
        "member" => false,
        _ => return None,
    };
    Some(What::Blocked { chat, blocked })
}

/// The chat's number, when it is a person's own.
fn private_chat(what: &Value) -> Option<i64> {
    let chat = &what["chat"];
    (chat["type"] == "private").then(|| chat["id"].as_i64())?
}

fn name(person: &Value) -> String {
    let part = |name: &str| person[name].as_str().unwrap_or_default().trim().to_owned();
    let whole = format!("{} {}", part("first_name"), part("last_name"));
    let plain: String = whole.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(plain.trim(), LONGEST_NAME).trim().to_owned()
}

fn order(text: &str) -> ChatCommand {
    let mut words = shortened(text, LONGEST_ORDER).split_whitespace();
    let command = words.next().unwrap_or_default();
    // In a command a bot may be named.
    match command.split('@').next().unwrap_or_default() {
        "/start" => ChatCommand::Start { code: words.next().map(str::to_owned) },
        "/stop" => ChatCommand::Stop,
        _ => ChatCommand::Other,
    }
}
