//! The Bot API of Telegram, as far as it is used here.
//!
//! The token is part of the address of every call. So no error contains an
//! address, and texts from Telegram go through [`Bot::told`] first.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::header;

use crate::base::{Secret, shortened};
use crate::config;
use crate::messages::delivery::{agent_config, json_of, retry_after, was_nobody_there};

/// How long a short call may take.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout of the call that asks for the bot's name, while a person waits.
const SOON: Duration = Duration::from_secs(8);
/// Longest text of a message, in characters.
const LONGEST: usize = 4_096;
/// Most updates in one answer, and the largest answer. The size is far above
/// what so many updates need: an answer that is never read completely is never
/// confirmed, and comes again and again.
const UPDATES: u32 = 25;
const MAX_ANSWER: u64 = 8 * 1024 * 1024;
/// Longest description that is kept.
const LONGEST_WORDS: usize = 200;
/// Kinds of updates that are requested.
const KINDS: [&str; 2] = ["message", "my_chat_member"];

/// A bot, called by its token.
#[derive(Clone)]
pub struct Bot {
    agent: Agent,
    api_base: String,
    token: Secret,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotFault {
    /// Telegram rejected the call.
    Refused(Refusal),
    /// Telegram cannot be reached.
    Away(&'static str),
    /// No answer, or an answer that is not valid.
    Silent(&'static str),
}

/// An error answer of the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    pub code: i64,
    pub description: String,
    /// The pause that Telegram asks for.
    pub retry_after_s: Option<i64>,
    /// The new id of a chat that was migrated.
    pub moved_to: Option<i64>,
}

impl BotFault {
    /// In words for staff.
    pub fn words(&self) -> String {
        match self {
            Self::Away(words) | Self::Silent(words) => (*words).to_owned(),
            Self::Refused(refusal) if refusal.description.is_empty() => {
                format!("o Telegram respondeu {}", refusal.code)
            }
            Self::Refused(refusal) => {
                format!("o Telegram respondeu {}: {}", refusal.code, refusal.description)
            }
        }
    }

    /// The refusal, when it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Away(_) | Self::Silent(_) => None,
        }
    }
}

impl Bot {
    /// The configured bot; `None` without a token.
    pub fn new(config: &config::Telegram) -> Option<Self> {
        if config.bot_token.is_empty() {
            return None;
        }
        let agent = agent_config().accept("application/json").build().new_agent();
        Some(Self { agent, api_base: config.api_base.clone(), token: config.bot_token.clone() })
    }

    /// Asks for the bot's name, without the at sign.
    pub fn identity(&self) -> Result<String, BotFault> {
        let found = self.call("getMe", &json!({}), SOON)?;
        let username = found["username"].as_str().unwrap_or_default();
        let is_sound =
            !username.is_empty() && username.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_sound {
            return Err(BotFault::Silent("o Telegram não disse o nome do bot"));
        }
        Ok(username.to_owned())
    }

    /// Sends a text to a chat; returns the id of the message.
    pub fn say(&self, chat: i64, text: &str, timeout: Duration) -> Result<String, BotFault> {
        let body = json!({
            "chat_id": chat,
            "text": shortened(text, LONGEST),
            "link_preview_options": { "is_disabled": true },
        });
        let sent = self.call("sendMessage", &body, timeout)?;
        match sent["message_id"].as_i64() {
            Some(id) => Ok(id.to_string()),
            // Unknown whether the message was accepted. A retry may deliver it
            // twice; without a retry it may be lost.
            None => {
                Err(BotFault::Silent("a resposta do Telegram não diz se a mensagem foi aceita"))
            }
        }
    }

    /// Waits at most `wait` for updates from `offset` on. The offset confirms
    /// all updates before it.
    pub fn updates(&self, offset: Option<i64>, wait: Duration) -> Result<Vec<Value>, BotFault> {
        let mut body =
            json!({ "timeout": wait.as_secs(), "limit": UPDATES, "allowed_updates": KINDS });
        if let Some(offset) = offset {
            body["offset"] = offset.into();
        }
        match self.call("getUpdates", &body, wait + TIMEOUT)? {
            Value::Array(updates) => Ok(updates),
            _ => Err(BotFault::Silent("a resposta do Telegram não faz sentido")),
        }
    }

    /// Makes Telegram send updates to an address, one at a time, with a secret.
    pub fn set_webhook(&self, url: &str, secret: &Secret) -> Result<(), BotFault> {
        let body = json!({
            "url": url,
            "secret_token": secret.reveal(),
            "allowed_updates": KINDS,
            "max_connections": 1,
        });
        self.call("setWebhook", &body, TIMEOUT).map(drop)
    }

    /// Makes Telegram stop sending updates, so that they can be polled.
    pub fn delete_webhook(&self) -> Result<(), BotFault> {
        self.call("deleteWebhook", &json!({}), TIMEOUT).map(drop)
    }

    /// Calls a method; returns its result.
    fn call(&self, method: &str, body: &Value, timeout: Duration) -> Result<Value, BotFault> {
        let address = format!("{}/bot{}/{method}", self.api_base, self.token.reveal());
        let request = self
            .agent
            .post(address)
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header(header::CONTENT_TYPE, "application/json");
        let mut answer = request.send(body.to_string()).map_err(|error| {
            let words = "o Telegram não pôde ser alcançado";
            match error {
                error if was_nobody_there(&error) => BotFault::Away(words),
                ureq::Error::Timeout(_) => BotFault::Silent("o Telegram não respondeu a tempo"),
                _ => BotFault::Silent(words),
            }
        })?;
        let status = i64::from(answer.status().as_u16());
        let pause = retry_after(&answer);
        let mut told = json_of(&mut answer, MAX_ANSWER);
        if told["ok"] == true {
            return Ok(told["result"].take());
        }
        let code = told["error_code"].as_i64();
        if code.is_none() && status < 400 {
            return Err(BotFault::Silent("a resposta do Telegram não faz sentido"));
        }
        let parameters = &told["parameters"];
        Err(BotFault::Refused(Refusal {
            code: code.unwrap_or(status),
            description: self.told(told["description"].as_str().unwrap_or_default()),
            retry_after_s: parameters["retry_after"].as_i64().or(pause),
            moved_to: parameters["migrate_to_chat_id"].as_i64(),
        }))
    }

    /// A text from Telegram, made safe for logs and pages.
    fn told(&self, words: &str) -> String {
        let words = words.replace(self.token.reveal(), "***");
        let plain = shortened(&words, LONGEST_WORDS).chars();
        plain.map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
}
