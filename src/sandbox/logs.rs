//! The logs of what the sandbox received and sent.

use std::collections::VecDeque;
use std::time::Instant as Monotonic;

use serde::Serialize;
use serde_json::{Value, json};

use crate::base::Instant;

/// Most entries of each log.
pub const LOG_MAX: usize = 1_000;

/// A log that drops its oldest entry when it is full.
pub struct Log<T> {
    entries: VecDeque<T>,
    total: u64,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), total: 0 }
    }
}

impl<T> Log<T> {
    pub fn push(&mut self, entry: T) {
        if self.entries.len() == LOG_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
        self.total += 1;
    }

    /// Entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.entries.iter()
    }

    /// Number of entries so far, including the dropped ones.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Removes all entries and resets the total.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl<T: Serialize> Log<T> {
    /// The log as controls show it, its entries under `name`.
    pub fn shown(&self, name: &str) -> Value {
        json!({ "total": self.total, name: self.entries })
    }
}

/// One call that arrived.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoggedRequest {
    /// Running number.
    pub number: u64,
    /// RFC 3339.
    pub at: String,
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Query with secrets masked.
    pub query: String,
    /// Whether the call had a bearer token.
    pub bearer: bool,
    /// The seller of the token, if the token was valid.
    pub ml_user_id: Option<i64>,
    /// The answer; none when the connection ended without one.
    pub status: Option<u16>,
    /// The fault that was applied.
    pub fault: Option<String>,
}

impl LoggedRequest {
    /// The answer as a text for the overview.
    pub fn words(&self) -> String {
        match (self.status, self.fault.as_deref()) {
            (Some(status), None) => status.to_string(),
            (Some(status), Some(fault)) => format!("{status} ({fault})"),
            (None, fault) => format!("sem resposta ({})", fault.unwrap_or("—")),
        }
    }

    /// Whether the answer was not an error.
    pub fn is_good(&self) -> bool {
        self.status.is_some_and(|status| status < 400)
    }
}

/// A use of the interface that differs from the marketplace's documentation.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    /// RFC 3339.
    pub at: String,
    pub rule: &'static str,
    /// What was requested, without secrets.
    pub detail: String,
}

/// A notification that is to be sent.
#[derive(Clone)]
pub struct Notification {
    /// Running number.
    pub number: i64,
    pub id: String,
    pub request_id: String,
    pub seller: i64,
    pub topic: String,
    pub resource: String,
    /// Actions, for topics that carry them; otherwise empty.
    pub actions: Vec<String>,
    /// RFC 3339 with a fraction.
    pub sent: String,
    /// 1 for the first.
    pub attempt: u32,
    /// When the next attempt is due.
    pub due: Monotonic,
}

/// One attempt to deliver a notification, and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Delivery {
    /// RFC 3339.
    pub at: String,
    /// `X-Request-Id`.
    pub request_id: String,
    pub topic: String,
    /// Resource, as sent.
    pub resource: String,
    pub ml_user_id: i64,
    /// 1 for the first.
    pub attempt: u32,
    /// The receiver's status; none without an answer.
    pub status: Option<u16>,
    /// Why there was no answer, or how the answer began when it was not 200.
    pub detail: Option<String>,
    /// How long the receiver took.
    pub took_ms: u64,
    /// `delivered`, `retry` or `missed`.
    pub outcome: &'static str,
}

impl Delivery {
    /// The receiver's answer as a text for the overview.
    pub fn words(&self) -> String {
        match (self.status, &self.detail) {
            (Some(200), _) => format!("200 em {} ms", self.took_ms),
            (Some(status), Some(text)) => format!("{status} {text}"),
            (Some(status), None) => status.to_string(),
            (None, detail) => detail.clone().unwrap_or_default(),
        }
    }
}

/// A notification that was given up.
pub struct MissedNotification {
    pub at: Instant,
    /// What `/missed_feeds` says about it.
    pub body: Value,
}

/// A message that a chat gateway or Telegram accepted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChatMessage {
    /// RFC 3339.
    pub at: String,
    /// `evolution`, `cloud` or `telegram`.
    pub gateway: &'static str,
    pub to: String,
    pub text: String,
    /// The template, at the official API.
    pub template: Option<String>,
    pub id: String,
}

/// A message that the push service accepted.
#[derive(Clone, Debug, Serialize)]
pub struct PushMessage {
    /// RFC 3339.
    pub at: String,
    /// Id of the browser.
    pub device: String,
    pub ttl: i64,
    pub urgency: Option<String>,
    pub topic: Option<String>,
    /// The public key of the signature.
    pub key: String,
    /// The contact in the signed token.
    pub subject: String,
    /// The encrypted body, base64url.
    pub body: String,
}
