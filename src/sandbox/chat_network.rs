//! The state of the chat network: the phone of the self-hosted gateway, what becomes of
//! numbers, and the webhook of the official API.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::retries::Retries;

use serde::Deserialize;
use serde_json::Value;

/// Most phone numbers that are known of by any of the lists here.
pub const NUMBERS_MAX: usize = 1_000;
/// Most messages whose ids are known, and most bodies that wait for the webhook.
const MESSAGES_MAX: usize = 1_000;

/// What the simulated chat network knows.
#[derive(Default)]
pub struct ChatNetwork {
    /// What the self-hosted gateway says of every message while its phone is not
    /// connected.
    pub phone_says: Option<String>,
    /// Numbers that the self-hosted gateway wrote to, and does not look up again.
    pub written: BTreeSet<String>,
    /// What becomes of messages to a number, when it is not the usual.
    pub fates: HashMap<String, Fate>,
    /// Messages that the official API took, oldest first.
    pub taken: VecDeque<Taken>,
    pub webhook: Option<Webhook>,
    /// Bodies for the webhook, oldest first.
    pub posts: VecDeque<Value>,
}

/// What becomes of messages to a number, at the official API.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fate {
    pub number: String,
    /// The error's code; without one they are delivered.
    pub code: Option<i64>,
    /// The answer says so; otherwise the message is taken, and the webhook tells.
    #[serde(default)]
    pub at_once: bool,
}

/// A message that the official API took.
#[derive(Clone, Debug)]
pub struct Taken {
    pub id: String,
    pub to: String,
    /// Id of the phone number that it went from.
    pub phone: String,
    /// What the sender wants to be told with each status.
    pub tracking: Option<String>,
}

/// Where the official API tells what becomes of messages.
pub struct Webhook {
    pub url: String,
    /// The app's secret, which signs.
    pub secret: String,
    pub verify_token: String,
    /// The receiver has shown that the address is its own.
    pub is_verified: bool,
    /// Nothing is told by itself.
    pub hold: bool,
    /// The tries of what is done next.
    pub retries: Retries,
}

impl ChatNetwork {
    /// Remembers a message that was taken.
    pub fn take(&mut self, message: Taken) {
        if self.taken.len() == MESSAGES_MAX {
            self.taken.pop_front();
        }
        self.taken.push_back(message);
    }

    /// Has a body posted to the webhook, if there is one.
    pub fn post(&mut self, body: Value) {
        if self.webhook.is_none() {
            return;
        }
        if self.posts.len() == MESSAGES_MAX {
            self.posts.pop_front();
        }
        self.posts.push_back(body);
    }
}
