//! Telegram: a bot, the chats that people have with it, and its updates.
//!
//! `api.rs` is the Bot API that the platform calls, `people.rs` has the actions of
//! people in their chats, `hook.rs` sends updates to a webhook, `pages.rs` shows
//! the chats in the browser.
//!
//! A bot's token is digits, a colon and a key; a token with the key `recusada` is
//! rejected. There is only one bot: all tokens belong to it.

pub mod api;
pub mod control;
pub mod hook;
pub mod pages;
pub mod people;

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::{Value, json};

use crate::base::shortened;
use crate::sandbox::retries::Retries;

/// The bot's name in links.
pub const USERNAME: &str = "escola_de_mentira_bot";
/// The bot's number.
const BOT_ID: i64 = 7_000_000_001;
/// Most chats, most lines of a chat, and most updates that wait.
const CHATS_MAX: usize = 256;
const LINES_MAX: usize = 200;
const UPDATES_MAX: usize = 1_000;
/// Longest name of a person, and longest text of a message.
const NAME_MAX: usize = 64;
const TEXT_MAX: usize = 4_096;

/// The state of the simulated Telegram.
#[derive(Default)]
pub struct Telegram {
    /// By number.
    pub chats: BTreeMap<i64, Chat>,
    /// Not confirmed yet, oldest first.
    pub updates: VecDeque<Update>,
    /// The highest number of an update so far.
    last_update: i64,
    /// Number of messages so far.
    messages: i64,
    pub webhook: Option<Webhook>,
    /// Kinds of updates that the bot wants; empty for all.
    allowed: Vec<String>,
    /// Number of `getUpdates` calls so far: a newer call ends an older waiting one.
    pub pollers: u64,
}

/// A private chat of a person with the bot.
#[derive(Clone, Debug, Serialize)]
pub struct Chat {
    #[serde(rename = "chat_id")]
    pub id: i64,
    pub name: String,
    /// The person has blocked the bot.
    pub blocked: bool,
    /// Oldest first.
    pub lines: VecDeque<Line>,
}

/// A message in a chat.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// When, RFC 3339.
    pub at: String,
    /// Whether the bot wrote it; otherwise the person did.
    pub bot: bool,
    pub text: String,
}

/// An update for the bot.
#[derive(Clone, Debug)]
pub struct Update {
    pub id: i64,
    pub body: Value,
}

/// Where updates are sent.
pub struct Webhook {
    pub url: String,
    pub secret: Option<String>,
    /// The tries of the first update in the queue.
    pub retries: Retries,
}

/// The bot as the API shows it.
fn bot_json() -> Value {
    json!({ "id": BOT_ID, "is_bot": true, "first_name": "Escola", "username": USERNAME })
}

impl Telegram {
    /// Queues an update, unless the bot did not ask for its kind.
    fn tell(&mut self, kind: &str, what: &Value) {
        if !self.allowed.is_empty() && !self.allowed.iter().any(|one| one == kind) {
            return;
        }
        let id = self.last_update.max(600_000_000) + 1;
        self.tell_as(id, json!({ "update_id": id, kind: what }));
    }

    /// Queues an update with this body.
    fn tell_as(&mut self, id: i64, body: Value) {
        self.last_update = self.last_update.max(id);
        if self.updates.len() == UPDATES_MAX {
            self.updates.pop_front();
        }
        self.updates.push_back(Update { id, body });
    }

    fn next_message(&mut self) -> i64 {
        self.messages += 1;
        self.messages
    }
}

impl Chat {
    fn push(&mut self, line: Line) {
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The beginning of the last line.
    pub fn last(&self) -> &str {
        self.lines.back().map_or("", |line| shortened(&line.text, 80))
    }

    /// The chat as updates contain it.
    fn as_json(&self) -> Value {
        json!({ "id": self.id, "first_name": self.name, "type": "private" })
    }

    /// The person of the chat as updates contain it.
    fn person(&self) -> Value {
        json!({ "id": self.id, "is_bot": false, "first_name": self.name, "language_code": "pt-br" })
    }
}
