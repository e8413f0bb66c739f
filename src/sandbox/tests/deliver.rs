//! Notifications, sent to a receiver inside the test.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::Site;
use crate::sandbox::{CLIENT_ID, CLIENT_SECRET};

/// Accepts calls one by one, answers with the given statuses, returns the calls.
pub fn receiver(statuses: Vec<u16>) -> (String, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ml/notificacoes", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let take = |status: u16| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let count = stream.read(&mut buffer).unwrap();
                text.extend_from_slice(&buffer[..count]);
                let whole = String::from_utf8_lossy(&text).to_string();
                if let Some((head, body)) = whole.split_once("\r\n\r\n")
                    && let Ok(body) = serde_json::from_str(body)
                {
                    let reply = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    );
                    stream.write_all(reply.as_bytes()).unwrap();
                    return (head.to_lowercase(), body);
                }
                assert_ne!(count, 0, "the call ended early: {whole}");
            }
        };
        statuses.into_iter().map(take).collect()
    });
    (url, thread)
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines()
        .find_map(|line| line.strip_prefix(&format!("{name}: ")))
        .unwrap_or_else(|| panic!("no {name} in {head}"))
}

#[test]
fn notifications_are_signed_and_retried() {
    use hmac::{KeyInit as _, Mac as _};
    let site = Site::start();
    let (url, calls) = receiver(vec![500, 200]);
    site.control(
        "config",
        &json!({
            "notify_url": url, "topics": ["orders_v2"], "retry_scale": 0.0, "sign": true,
            "answer_within_ms": 20_000,
        }),
    );
    let id = site.sell(&json!({}));
    let deliveries = site.log("deliveries?settle_ms=20000");
    let outcomes: Vec<&Value> = deliveries["deliveries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|delivery| &delivery["outcome"])
        .collect();
    assert_eq!(outcomes, ["retry", "delivered"]);
    for (attempt, (head, body)) in (1..).zip(calls.join().unwrap()) {
        assert_eq!(body["resource"], format!("/orders/{id}"));
        assert_eq!(body["topic"], "orders_v2");
        assert_eq!(body["user_id"], 777);
        assert_eq!(body["application_id"].to_string(), CLIENT_ID);
        assert_eq!(body["attempts"], attempt);
        let (ts, v1) = header(&head, "x-signature").split_once(';').unwrap();
        let ts = ts.strip_prefix("ts=").unwrap();
        let manifest = format!("id:{id};request-id:{};ts:{ts};", header(&head, "x-request-id"));
        let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(CLIENT_SECRET.as_bytes()).unwrap();
        mac.update(manifest.as_bytes());
        let expected = crate::base::text::hex(&mac.finalize().into_bytes());
        assert_eq!(v1, format!("v1={expected}"));
    }
}

#[test]
fn notifications_follow_their_switches() {
    let site = Site::start();
    let (url, calls) = receiver(vec![200; 4]);
    site.control(
        "config",
        &json!({
            "notify_url": url, "topics": ["orders_v2"], "hold": true, "duplicates": 1, "reorder": true,
            "string_ids": true, "missing_slash": true, "separator": ",",
            "sign": true, "answer_within_ms": 20_000,
        }),
    );
    let first = site.sell(&json!({}));
    let second = site.sell(&json!({}));
    assert_eq!(site.log("deliveries")["waiting"], 4);
    site.control("config", &json!({ "hold": false }));
    let calls = calls.join().unwrap();
    let resources: Vec<&Value> = calls.iter().map(|(_, body)| &body["resource"]).collect();
    let [first, second] = [first, second].map(|id| format!("orders/{id}"));
    assert_eq!(resources, [&second, &second, &first, &first]);
    assert_eq!(calls[0].1["user_id"], "777");
    assert_eq!(calls[0].1["sent"], calls[1].1["sent"]);
    assert_ne!(header(&calls[0].0, "x-request-id"), header(&calls[1].0, "x-request-id"));
    assert!(header(&calls[0].0, "x-signature").contains(",v1="));
}

#[test]
fn what_was_given_up_is_a_missed_feed() {
    let (site, token) = Site::linked();
    let (url, calls) = receiver(vec![401]);
    site.control(
        "config",
        &json!({
            "notify_url": url, "topics": ["orders_v2"], "attempts": 1, "answer_within_ms": 20_000,
        }),
    );
    let id = site.sell(&json!({}));
    site.log("deliveries?settle_ms=20000");
    let (head, _) = calls.join().unwrap().remove(0);
    assert!(!head.contains("x-signature"));
    let missed = |more: &str| site.get(&format!("/missed_feeds?app_id={CLIENT_ID}{more}"), &token);
    let messages = missed("&topic=orders_v2").json()["messages"].clone();
    assert_eq!(messages[0]["resource"], format!("/orders/{id}"));
    assert_eq!(messages[0]["response"]["http_code"], 401);
    assert_eq!(missed("&topic=items").status, 400);
    assert_eq!(missed("&topic=claims").status, 400, "a topic of before");
    site.control("config", &json!({ "application_owner": 4 }));
    assert_eq!(missed("&topic=orders_v2").status, 403);
    site.control("config", &json!({ "application_owner": 777 }));
    assert_eq!(missed("&topic=orders_v2").status, 200);
    site.set_clock("2026-11-22T12:30:01Z");
    site.control("tokens", &json!({ "ml_user_id": 777, "action": "revoke" }));
    let (token, _) = site.connect(777);
    let later = format!("/missed_feeds?app_id={CLIENT_ID}");
    assert_eq!(site.get(&later, &token).json()["messages"], json!([]));
}
