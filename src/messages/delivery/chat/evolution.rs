//! The self-hosted gateway: what is sent, and what its answers mean.
//!
//! It wraps whatever fails while sending, also the lost connection of its phone, into the
//! same 400 that a wrong message gets. Only what it says tells them apart, and of all that
//! only two things are about the message. Decision messages-29.

use serde_json::{Value, json};

use super::{Answer, accepted, held};
use crate::messages::delivery::SendOutcome;

/// Begins the reason of a message that waits because the gateway's phone has no connection.
pub const UNCONNECTED: &str = "o telefone do gateway de chat está sem conexão";
/// Begins the reason of one that waits because the network does not answer the gateway.
pub const UNANSWERED: &str = "a rede de chat não respondeu ao gateway";

/// Parts of what it says when the network does not answer its phone in time, or slows it
/// down, which often ends by itself.
const SLOWED: [&str; 2] = ["Timed Out", "rate-overlimit"];
/// What it says when its phone lost the connection.
const CLOSED: &str = "Connection Closed";

/// The body of a message.
pub fn message(number: &str, text: &str) -> Value {
    json!({ "number": number, "text": text })
}

/// What an answer to a message means.
pub fn answered(answer: &Answer) -> SendOutcome {
    let Answer { status, body, after_s } = answer;
    let message = &body["response"]["message"];
    let said = said(message).join("; ");
    match status {
        200 | 201 => accepted(&body["key"]["id"]),
        400 if message[0]["exists"] == false => {
            SendOutcome::NotThere("o número não está na rede de chat".into())
        }
        // What it finds wrong with the message itself comes as a list in the list.
        400 | 422 if message[0].is_array() => {
            SendOutcome::Never(format!("o gateway recusou a mensagem: {said}"))
        }
        401 | 403 => {
            SendOutcome::Down("o gateway de chat não aceita a chave (chat.api_key)".into())
        }
        404 => {
            SendOutcome::Down("o gateway de chat não conhece a instância (chat.instance)".into())
        }
        429 => held("o gateway de chat pede uma pausa".into(), *after_s, 60),
        _ if SLOWED.iter().any(|part| said.contains(part)) => {
            SendOutcome::Away(format!("{UNANSWERED}: {said}"))
        }
        _ if said.contains(CLOSED) || said.starts_with("Error:") => {
            SendOutcome::Down(format!("{UNCONNECTED}: {said}"))
        }
        502..=504 => SendOutcome::Away(format!("o gateway de chat respondeu {status}")),
        _ if said.is_empty() => SendOutcome::Later(format!("o gateway de chat respondeu {status}")),
        _ => SendOutcome::Later(format!("o gateway de chat respondeu {status}: {said}")),
    }
}

/// The texts in what it says, however deep they stand in lists.
fn said(message: &Value) -> Vec<&str> {
    match message {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().flat_map(said).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::delivery::chat::sample;

    fn verdict(status: u16, body: Value) -> SendOutcome {
        answered(&Answer { status, body, after_s: None })
    }

    fn told(status: u16, message: &Value) -> SendOutcome {
        verdict(status, json!({ "status": status, "response": { "message": message } }))
    }

    #[test]
    fn documented_answers_are_read() {
        let id = sample("evolution_sent")["key"]["id"].as_str().unwrap().to_owned();
        assert_eq!(verdict(201, sample("evolution_sent")), SendOutcome::Accepted(id));
        let not_there = SendOutcome::NotThere("o número não está na rede de chat".to_owned());
        assert_eq!(verdict(400, sample("evolution_not_on_network")), not_there);
        assert_eq!(
            verdict(400, sample("evolution_closed")),
            SendOutcome::Down(format!("{UNCONNECTED}: Error: Connection Closed"))
        );
        assert_eq!(
            verdict(500, sample("evolution_closed_at_lookup")),
            SendOutcome::Down(format!("{UNCONNECTED}: Connection Closed"))
        );
        assert_eq!(
            verdict(400, sample("evolution_invalid")),
            SendOutcome::Never("o gateway recusou a mensagem: requires property \"text\"".into())
        );
        for (status, name) in [(401, "evolution_unauthorized"), (404, "evolution_unknown_instance")]
        {
            assert!(matches!(verdict(status, sample(name)), SendOutcome::Down(_)), "{name}");
        }
    }

    #[test]
    fn only_an_unknown_number_and_a_wrong_message_are_final() {
        for text in ["Error: Timed Out", "Timed Out", "Error: rate-overlimit"] {
            assert!(matches!(told(400, &json!([text])), SendOutcome::Away(_)), "{text}");
        }
        for text in ["Error: Connection Closed", "Connection Closed", "Error: anything"] {
            for status in [400, 422, 500, 503] {
                let verdict = told(status, &json!([text]));
                assert!(matches!(verdict, SendOutcome::Down(_)), "{status} {text}");
            }
        }
        for message in
            [json!(null), json!([]), json!(["what is this"]), json!([{ "exists": true }])]
        {
            assert!(matches!(told(400, &message), SendOutcome::Later(_)), "{message}");
        }
        assert!(matches!(verdict(400, Value::Null), SendOutcome::Later(_)));
        assert!(matches!(verdict(502, Value::Null), SendOutcome::Away(_)));
        assert!(matches!(verdict(500, Value::Null), SendOutcome::Later(_)));
        assert!(matches!(
            verdict(429, Value::Null),
            SendOutcome::Held { after_s: 60, all: true, .. }
        ));
        assert!(matches!(verdict(201, json!({})), SendOutcome::Later(_)));
    }
}
