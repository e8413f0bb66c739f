//! Parses updates of Telegram leniently: it reads only what we use, and ignores
//! what is not valid.

use serde_json::Value;

use crate::base::shortened;
use crate::http::input::whole;

/// Longest name of a person that is stored.
const LONGEST_NAME: usize = 64;
/// Most of a text that is parsed; a command with its code is shorter.
const LONGEST_ORDER: usize = 200;

/// Something that happened in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub id: i64,
    /// `None` when the update is of no interest.
    pub kind: Option<UpdateKind>,
}

/// What happened, in a private chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// The person said something.
    Said { chat: i64, name: String, order: ChatCommand },
    /// The person blocked the bot, or no longer does.
    Blocked { chat: i64, blocked: bool },
}

/// The command in a person's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatCommand {
    /// To link the chat, with the code of a link when there is one.
    Start { code: Option<String> },
    /// To unlink it.
    Stop,
    /// Something that the bot does not understand.
    Other,
}

/// Parses an update; `None` without an id, because only an id can be confirmed.
pub fn parse(update: &Value) -> Option<Update> {
    let id = update["update_id"].as_number().and_then(whole)?;
    let kind = said(&update["message"]).or_else(|| membership(&update["my_chat_member"]));
    Some(Update { id, kind })
}

fn said(message: &Value) -> Option<UpdateKind> {
    let chat = private_chat(message)?;
    Some(UpdateKind::Said {
        chat,
        name: name(&message["from"]),
        order: order(message["text"].as_str().unwrap_or_default()),
    })
}

fn membership(change: &Value) -> Option<UpdateKind> {
    let chat = private_chat(change)?;
    let blocked = match change["new_chat_member"]["status"].as_str()? {
        "kicked" | "left" => true,
        "member" => false,
        _ => return None,
    };
    Some(UpdateKind::Blocked { chat, blocked })
}

/// The chat's id, when it is a private chat.
fn private_chat(update: &Value) -> Option<i64> {
    let chat = &update["chat"];
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
    // A command may name the bot, as in `/stop@bot`.
    match command.split('@').next().unwrap_or_default() {
        "/start" => ChatCommand::Start { code: words.next().map(str::to_owned) },
        "/stop" => ChatCommand::Stop,
        _ => ChatCommand::Other,
    }
}
