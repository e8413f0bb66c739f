//! The chat network, by the official API (`cloud`) or a self-hosted gateway
//! (`evolution`, version 2 of its API).

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::header;

use super::letter::Letter;
use super::store::Claimed;
use super::{SendOutcome, json_of, retry_after, was_nobody_there};
use crate::base::queue::CHAT;
use crate::config::{self, Config, Gateway};

const TIMEOUT: Duration = Duration::from_secs(15);
const MAX_ANSWER: u64 = 64 * 1024;
/// Longest text of a message.
const LONGEST: usize = 4_096;
/// The official API, in the version that this code was written for.
const CLOUD: &str = "https://graph.facebook.com/v26.0";

/// Error code for free text outside of the 24-hour window.
const OUTSIDE_WINDOW: i64 = 131_047;

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
        let text = crate::base::text::shortened(&letter.text, LONGEST);
        match self.config.gateway {
            Gateway::Cloud => self.by_cloud(number, text),
            Gateway::Evolution | Gateway::None => self.by_evolution(number, text),
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

    fn by_evolution(&self, number: &str, text: &str) -> SendOutcome {
        let (base, instance) = (&self.config.base_url, &self.config.instance);
        let instance = escaped(instance);
        let address = format!("{base}/message/sendText/{instance}");
        let key = self.config.api_key.reveal().to_owned();
        let answer = self.post(&address, "apikey", key, &json!({ "number": number, "text": text }));
        match answer {
            Err(sent) => sent,
            Ok((200 | 201, body, _)) => accepted(&body["key"]["id"]),
            Ok((400, body, _)) if body["response"]["message"][0]["exists"] == false => {
                SendOutcome::Never("o número não está na rede de chat".into())
            }
            Ok((400 | 422, body, _)) => {
                let said = &body["response"]["message"];
                SendOutcome::Never(format!("o gateway recusou a mensagem: {said}"))
            }
            Ok((401 | 403, ..)) => {
                SendOutcome::Down("o gateway de chat não aceita a chave (chat.api_key)".into())
            }
            Ok((404, ..)) => SendOutcome::Down(
                "o gateway de chat não conhece a instância (chat.instance)".into(),
            ),
            Ok((429, _, after_s)) => held("o gateway de chat pede uma pausa".into(), after_s, 60),
            Ok((status @ 502..=504, ..)) => {
                SendOutcome::Away(format!("o gateway de chat respondeu {status}"))
            }
            Ok((status, ..)) => SendOutcome::Later(format!("o gateway de chat respondeu {status}")),
        }
    }

    /// Sends with an approved template, which is always allowed. Without a
    /// template it sends free text, which the network accepts only within 24
    /// hours of the person's last message.
    fn by_cloud(&self, number: &str, text: &str) -> SendOutcome {
        let address = format!("{}/{}/messages", self.cloud(), self.config.instance);
        let key = format!("Bearer {}", self.config.api_key.reveal());
        let body = match &*self.config.template {
            "" => free_text(number, text),
            name => template(number, name, text),
        };
        match self.post(&address, header::AUTHORIZATION.as_str(), key, &body) {
            Err(sent) => sent,
            Ok((200..=299, body, _)) => accepted(&body["messages"][0]["id"]),
            Ok((_, body, _)) if body["error"]["code"] == OUTSIDE_WINDOW => SendOutcome::Never(
                "fora da janela de 24 horas só se envia com um modelo aprovado (chat.template)"
                    .into(),
            ),
            Ok((status, body, after_s)) => cloud_verdict(status, &body["error"], after_s),
        }
    }

    /// Posts JSON. Returns status, body and the pause in `Retry-After`.
    fn post(
        &self,
        address: &str,
        name: &str,
        key: String,
        body: &Value,
    ) -> Result<(u16, Value, Option<i64>), SendOutcome> {
        let request = self
            .agent
            .post(address)
            .header(name, key)
            .header(header::CONTENT_TYPE, "application/json");
        // The error may contain the address, which the operator knows, but
        // never the key.
        let mut answer = request.send(body.to_string()).map_err(|error| {
            let words = format!("o gateway de chat não respondeu: {error}");
            if was_nobody_there(&error) {
                SendOutcome::Away(words)
            } else {
                SendOutcome::Later(words)
            }
        })?;
        let after_s = retry_after(&answer);
        let body = json_of(&mut answer, MAX_ANSWER);
        Ok((answer.status().as_u16(), body, after_s))
    }
}

fn escaped(part: &str) -> percent_encoding::PercentEncode<'_> {
    percent_encoding::utf8_percent_encode(part, percent_encoding::NON_ALPHANUMERIC)
}

/// The body of a free-text message, which is allowed within the window.
fn free_text(number: &str, text: &str) -> Value {
    json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": number,
        "type": "text",
        "text": { "preview_url": false, "body": text },
    })
}

/// A template message: the whole text is its one parameter, which must be one
/// line.
fn template(number: &str, name: &str, text: &str) -> Value {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": number,
        "type": "template",
        "template": {
            "name": name,
            "language": { "code": "pt_BR" },
            "components": [{
                "type": "body",
                "parameters": [{ "type": "text", "text": line }],
            }],
        },
    })
}

/// What the official API's error code means for the message. The vendor says to
/// use the code, not the status or the text.
fn cloud_verdict(status: u16, error: &Value, after_s: Option<i64>) -> SendOutcome {
    let code = error["code"].as_i64().unwrap_or_default();
    let said = format!(
        "a API de chat respondeu {status}, código {code}: {}",
        error["message"].as_str().unwrap_or("sem explicação")
    );
    match code {
        // Token and permissions; the account or the number is locked; billing.
        190 | 3 | 10 | 200..=299 | 368 | 131_031 | 131_042 | 133_010 => SendOutcome::Down(said),
        // Rate limits: of this recipient; of our number; of the account.
        131_056 => SendOutcome::Held { error: said, after_s: after_s.unwrap_or(30), all: false },
        4 | 80_007 | 130_429 => held(said, after_s, 60),
        131_048 => held(said, after_s, 1800),
        // The recipient cannot be reached, opted out, or may not get this
        // message; the message or its template is wrong.
        131_026 | 131_047 | 131_049 | 131_050 | 100 | 131_008 | 131_009 | 132_000..=132_099 => {
            SendOutcome::Never(said)
        }
        0 if (400..500).contains(&status) && status != 429 => SendOutcome::Never(said),
        _ if status == 429 => held(said, after_s, 60),
        _ if (502..=504).contains(&status) => SendOutcome::Away(said),
        _ => SendOutcome::Later(said),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_official_api_decide() {
        let verdict = |code: i64, status| {
            cloud_verdict(status, &json!({ "code": code, "message": "x" }), None)
        };
        for code in [190, 10, 200, 368, 131_031] {
            assert!(matches!(verdict(code, 400), SendOutcome::Down { .. }), "{code}");
        }
        for code in [131_026, 131_047, 131_050, 100, 132_001] {
            assert!(matches!(verdict(code, 400), SendOutcome::Never { .. }), "{code}");
        }
        for (code, whole) in [(130_429, true), (131_056, false), (131_048, true)] {
            let SendOutcome::Held { all, .. } = verdict(code, 400) else { panic!("{code}") };
            assert_eq!(all, whole, "{code}");
        }
        for (code, status) in [(1, 500), (131_000, 500), (999_999, 400)] {
            assert!(matches!(verdict(code, status), SendOutcome::Later { .. }), "{code}");
        }
        assert!(matches!(verdict(0, 502), SendOutcome::Away { .. }));
        assert!(matches!(verdict(0, 429), SendOutcome::Held { .. }));
    }

    #[test]
    fn a_template_parameter_is_one_line() {
        let body = template("5511987654321", "aviso", "Olá,\n\n  Ana\t!     Fim");
        let text = &body["template"]["components"][0]["parameters"][0]["text"];
        assert_eq!(text, "Olá, Ana ! Fim");
    }
}
