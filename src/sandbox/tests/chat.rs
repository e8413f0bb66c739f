//! The gateways to the chat network answer and tell as is documented, field by field: the
//! samples of `tests/witness/chat` have the documented fields, and the code that reads them
//! is tested with them, too.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::Site;

/// Paths of all fields, with `[]` for the entries of lists.
fn paths(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    found.insert(path.clone());
                    walk(field, &path, found);
                }
            }
            Value::Array(parts) => {
                let path = format!("{path}[]");
                for part in parts {
                    walk(part, &path, found);
                }
            }
            _ => {
                found.insert(format!("{path}: {}", kind(value)));
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(value, "", &mut found);
    found
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Requires that what the sandbox sends has the fields of a sample: none more, and none
/// less but those that are not always there.
#[track_caller]
fn is_as_documented(name: &str, sent: &Value) {
    let path = format!("{}/tests/witness/chat/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let list = file["optional"].as_array().cloned().unwrap_or_default();
    let optional: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    let (sent, documented) = (paths(sent), paths(&file["sample"]));
    let more: Vec<_> = sent.difference(&documented).collect();
    assert!(more.is_empty(), "{name}: no document has {more:?}");
    let is_needed = |path: &&String| !optional.contains(&path.split(": ").next().unwrap());
    let less: Vec<_> = documented.difference(&sent).filter(is_needed).collect();
    assert!(less.is_empty(), "{name}: the sandbox lacks {less:?}");
}

impl Site {
    /// Sends JSON with a key; returns status and answer.
    #[track_caller]
    fn send_with_key(&self, path: &str, (header, key): (&str, &str), body: &Value) -> (u16, Value) {
        let url = format!("{}{path}", self.running.url());
        let mut answer = self.agent.post(url).header(header, key).send(body.to_string()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap())
    }

    #[track_caller]
    fn write_by_evolution(&self, instance: &str, key: &str, body: &Value) -> (u16, Value) {
        self.send_with_key(&format!("/message/sendText/{instance}"), ("apikey", key), body)
    }

    #[track_caller]
    fn write_by_cloud(&self, key: &str, to: &str, text: &str) -> (u16, Value) {
        let body = json!({
            "messaging_product": "whatsapp", "to": to, "type": "template",
            "biz_opaque_callback_data": "42.ab",
            "template": { "name": "aviso", "components": [{ "type": "body", "parameters": [{ "type": "text", "text": text }] }] },
        });
        self.send_with_key(
            "/106540352242922/messages",
            ("authorization", &format!("Bearer {key}")),
            &body,
        )
    }
}

#[test]
fn the_self_hosted_gateway_answers_as_documented() {
    let site = Site::start();
    let to = |number: &str| json!({ "number": number, "text": "Olá" });
    let known = to("5511987654321");
    let answered = |wanted: u16, name: &str, (status, body): (u16, Value)| {
        assert_eq!(status, wanted, "{name}: {body}");
        is_as_documented(name, &body);
    };
    answered(201, "evolution_sent", site.write_by_evolution("escola", "k", &known));
    let nobody = to("5511987654000");
    answered(400, "evolution_not_on_network", site.write_by_evolution("escola", "k", &nobody));
    let invalid = json!({ "number": "5511987654321" });
    answered(400, "evolution_invalid", site.write_by_evolution("escola", "k", &invalid));
    answered(401, "evolution_unauthorized", site.write_by_evolution("escola", "recusada", &known));
    let unknown = site.write_by_evolution("desconhecida", "k", &known);
    answered(404, "evolution_unknown_instance", unknown);
    let state = |site: &Site| {
        let url = format!("{}/instance/connectionState/escola", site.running.url());
        let mut answer = site.agent.get(url).header("apikey", "k").call().unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    is_as_documented("evolution_state", &state(&site));
    assert_eq!(state(&site)["instance"]["state"], "open");

    site.control("chat/phone", &json!({ "connected": false }));
    answered(400, "evolution_closed", site.write_by_evolution("escola", "k", &known));
    let other = to("5511987654322");
    answered(500, "evolution_closed_at_lookup", site.write_by_evolution("escola", "k", &other));
    is_as_documented("evolution_state", &state(&site));
    assert_eq!(state(&site)["instance"]["state"], "close");
    site.control("chat/phone", &json!({ "connected": true }));
    answered(201, "evolution_sent", site.write_by_evolution("escola", "k", &other));
    let (status, _) = site.write_by_evolution("desligada", "k", &known);
    assert_eq!(status, 400, "the phone of this instance has no connection");
}

#[test]
fn the_official_api_answers_as_documented() {
    let site = Site::start();
    let (status, body) = site.write_by_cloud("k", "5511987654321", "Olá");
    assert_eq!(status, 200, "{body}");
    is_as_documented("cloud_accepted", &body);
    // Taken, although it goes nowhere.
    let (status, body) = site.write_by_cloud("k", "5511987654000", "Olá");
    assert_eq!(status, 200, "{body}");
    for (text, code) in [("Olá\nAna".to_owned(), 132_012), ("a".repeat(1_025), 132_005)] {
        let (status, body) = site.write_by_cloud("k", "5511987654321", &text);
        assert_eq!((status, &body["error"]["code"]), (400, &json!(code)), "{body}");
        is_as_documented("cloud_error", &body);
    }
    let (status, body) = site.write_by_cloud("recusada", "5511987654321", "Olá");
    assert_eq!(status, 401);
    is_as_documented("cloud_token_error", &body);
    site.control(
        "chat/fate",
        &json!({ "number": "5511987654322", "code": 131_042, "at_once": true }),
    );
    let (status, body) = site.write_by_cloud("k", "5511987654322", "Olá");
    assert_eq!((status, &body["error"]["code"]), (400, &json!(131_042)));
    is_as_documented("cloud_phone", &site.get("/106540352242922", "k").json());
}

/// Answers as many requests as `answers` has; returns head and body of each.
fn received(listener: &TcpListener, answers: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for answer in answers {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim_end().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let (status, text) = answer.split_once(' ').unwrap();
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        )
        .unwrap();
        found.push((head, String::from_utf8(body).unwrap()));
    }
    found
}

#[test]
fn the_official_api_tells_as_documented() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let site = Site::start();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let hook = json!({ "url": url, "app_secret": "segredo", "verify_token": "ficha" });
    site.control("chat/webhook", &hook);
    let (_, ok) = site.write_by_cloud("k", "5511987654321", "Olá");
    let (_, nobody) = site.write_by_cloud("k", "5511987654000", "Olá");
    // The first post is refused, and comes again.
    let got = received(&listener, &["200 1158201444", "500 no", "200 ok", "200 ok", "200 ok"]);
    assert!(
        got[0].0.contains("hub.mode=subscribe&hub.verify_token=ficha&hub.challenge=1158201444")
    );
    assert_eq!(got[1].1, got[2].1);
    let posted: Vec<Value> =
        got[2..].iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
    let statuses: Vec<&Value> =
        posted.iter().map(|body| &body["entry"][0]["changes"][0]["value"]["statuses"][0]).collect();
    let words: Vec<&Value> = statuses.iter().map(|status| &status["status"]).collect();
    assert_eq!(words, ["sent", "delivered", "failed"]);
    assert_eq!(statuses[0]["id"], ok["messages"][0]["id"]);
    assert_eq!(statuses[2]["id"], nobody["messages"][0]["id"]);
    assert_eq!(statuses[2]["errors"][0]["code"], 131_026);
    for (name, body) in
        ["cloud_status_sent", "cloud_status_delivered", "cloud_status_failed"].iter().zip(&posted)
    {
        is_as_documented(name, body);
    }
    assert!(got[2].0.to_ascii_lowercase().contains("x-hub-signature-256: sha256="));
    let read = json!({ "statuses": [{ "id": ok["messages"][0]["id"], "status": "read" }] });
    site.control("chat/statuses", &read);
    let (_, body) = &received(&listener, &["200 ok"])[0];
    is_as_documented("cloud_status_read", &serde_json::from_str(body).unwrap());
}
