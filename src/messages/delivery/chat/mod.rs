//! The chat network, by the official API (`cloud.rs`) or a self-hosted gateway
//! (`evolution.rs`, version 2 of its API).

pub mod cloud;
pub mod evolution;

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::header;

use super::letter::Letter;
use super::store::Claimed;
use super::{SendOutcome, json_of, retry_after, was_nobody_there};
use crate::base::queue::CHAT;
use crate::base::shortened;
use crate::config::{self, Config, Gateway};

const TIMEOUT: Duration = Duration::from_secs(15);
const MAX_ANSWER: u64 = 64 * 1024;
/// Longest text of a message.
const LONGEST: usize = 4_096;
/// The official API, in the version that this code was written for.
const CLOUD: &str = "https://graph.facebook.com/v26.0";

/// A gateway to the chat network.
pub struct Chat {
    agent: Agent,
    config: config::Chat,
}

impl Chat {
    /// The configured gateway.
    pub fn new(config: &Config) -> Self {
        let agent = super::agent_config()
            .timeout_global(Some(TIMEOUT))
            .max_idle_connections_per_host(CHAT.workers)
            .accept("application/json")
            .build()
            .new_agent();
        Self { agent, config: config.chat.clone() }
    }

    /// Sends a letter to its recipient's number.
    pub fn send(&self, claimed: &Claimed, letter: &Letter) -> SendOutcome {
        let Some(number) = &claimed.chat_number else {
            return SendOutcome::Never("a pessoa não tem número de chat".into());
        };
        let (instance, key) = (&self.config.instance, self.config.api_key.reveal());
        match self.config.gateway {
            Gateway::Cloud => {
                let address = format!("{}/{instance}/messages", self.cloud());
                let key = (header::AUTHORIZATION.as_str(), format!("Bearer {key}"));
                let name = cloud::Tracking::of(claimed).to_string();
                let body = cloud::message(number, &self.config.template, &letter.text, &name);
                self.post(&address, key, &body, cloud::answered)
            }
            Gateway::Evolution | Gateway::None => {
                let base = &self.config.base_url;
                let address = format!("{base}/message/sendText/{}", escaped(instance));
                let body = evolution::message(number, shortened(&letter.text, LONGEST));
                self.post(&address, ("apikey", key.to_owned()), &body, evolution::answered)
            }
        }
    }

    /// Asks the gateway about our number, without sending a message. Returns
    /// status and body, or why there is no answer.
    pub fn ask(&self, timeout: Duration) -> Result<(u16, Value), String> {
        let instance = &self.config.instance;
        let key = self.config.api_key.reveal();
        let (address, name, key) = match self.config.gateway {
            Gateway::Cloud => {
                let name = header::AUTHORIZATION.as_str();
                (format!("{}/{instance}", self.cloud()), name, format!("Bearer {key}"))
            }
            Gateway::Evolution | Gateway::None => {
                let base = &self.config.base_url;
                let instance = escaped(instance);
                let address = format!("{base}/instance/connectionState/{instance}");
                (address, "apikey", key.to_owned())
            }
        };
        let request = self.agent.get(address).config().timeout_global(Some(timeout)).build();
        let mut answer = request.header(name, key).call().map_err(|error| match error {
            ureq::Error::Timeout(_) => format!("no answer for {} s", timeout.as_secs()),
            error => error.to_string(),
        })?;
        Ok((answer.status().as_u16(), json_of(&mut answer, MAX_ANSWER)))
    }

    /// Base address of the official API.
    fn cloud(&self) -> &str {
        let base = Some(&*self.config.base_url).filter(|base| !base.is_empty());
        base.unwrap_or(CLOUD)
    }

    /// Posts JSON with a key under a header's name; `answered` reads the answer.
    fn post(
        &self,
        address: &str,
        (name, key): (&str, String),
        body: &Value,
        answered: fn(&Answer) -> SendOutcome,
    ) -> SendOutcome {
        let request = self
            .agent
            .post(address)
            .header(name, key)
            .header(header::CONTENT_TYPE, "application/json");
        match request.send(body.to_string()) {
            Ok(mut answer) => {
                let (status, after_s) = (answer.status().as_u16(), retry_after(&answer));
                answered(&Answer { status, body: json_of(&mut answer, MAX_ANSWER), after_s })
            }
            // The error may contain the address, which the operator knows, but
            // never the key.
            Err(error) => {
                let words = format!("o gateway de chat não respondeu: {error}");
                if was_nobody_there(&error) {
                    SendOutcome::Away(words)
                } else {
                    SendOutcome::Later(words)
                }
            }
        }
    }
}

/// What a gateway answered to a message.
pub struct Answer {
    pub status: u16,
    /// Null when it is not JSON.
    pub body: Value,
    /// `Retry-After` in seconds.
    pub after_s: Option<i64>,
}

fn escaped(part: &str) -> percent_encoding::PercentEncode<'_> {
    percent_encoding::utf8_percent_encode(part, percent_encoding::NON_ALPHANUMERIC)
}

fn accepted(id: &Value) -> SendOutcome {
    match id.as_str() {
        Some(id) if !id.is_empty() => SendOutcome::Accepted(id.to_owned()),
        // Unknown whether the message was accepted. A retry may deliver it
        // twice; without a retry it may be lost.
        _ => SendOutcome::Later(
            "a resposta do gateway de chat não diz se a mensagem foi aceita".into(),
        ),
    }
}

/// Pauses the whole channel, for as long as the gateway asks, else for
/// `otherwise_s`.
fn held(error: String, asked_s: Option<i64>, otherwise_s: i64) -> SendOutcome {
    SendOutcome::Held { error, after_s: asked_s.unwrap_or(otherwise_s), all: true }
}

/// A documented answer of a gateway, or what it posts to us, from `tests/witness/chat`.
#[cfg(test)]
pub fn sample(name: &str) -> Value {
    let path = format!("{}/tests/witness/chat/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str::<Value>(&text).unwrap()["sample"].take()
}
