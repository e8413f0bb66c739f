//! The Bot API as a bot uses it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Site;

const TOKEN: &str = "4242:AA-bb_cc";

impl Site {
    fn bot(&self, token: &str, method: &str, body: &Value) -> (u16, Value) {
        let url = format!("{}/bot{token}/{method}", self.running.url());
        let request = self.agent.post(url).content_type("application/json");
        let mut answer = request.send(body.to_string()).unwrap();
        let status = answer.status().as_u16();
        let told: Value = answer.body_mut().read_json().unwrap();
        assert_eq!(told["ok"] == true, status == 200, "{told}");
        if status != 200 {
            assert_eq!(told["error_code"], status, "{told}");
        }
        (status, told)
    }

    fn call(&self, method: &str, body: &Value) -> (u16, Value) {
        self.bot(TOKEN, method, body)
    }

    fn say(&self, text: &str) {
        let said = json!({ "chat_id": 5, "name": "Ana", "text": text });
        self.control("telegram/say", &said);
    }
}

fn refusal((status, told): (u16, Value)) -> (u16, String) {
    (status, told["description"].as_str().unwrap().to_owned())
}

#[test]
fn a_bot_is_known_by_its_token() {
    let site = Site::start();
    let (status, me) = site.call("getMe", &json!({}));
    assert_eq!((status, &me["result"]["is_bot"]), (200, &json!(true)));
    // Names of methods are case-insensitive.
    assert_eq!(site.call("GETME", &json!({})).0, 200);
    for (token, status) in [("4242:recusada", 401), ("4242", 404), ("a:b", 404), ("4:", 404)] {
        assert_eq!(site.bot(token, "getMe", &json!({})).0, status, "{token}");
    }
    assert_eq!(site.call("getNothing", &json!({})).0, 404);
    // The log never contains a token.
    assert!(!site.log("requests").to_string().contains("AA-bb_cc"));
}

#[test]
fn messages_go_to_those_who_came_and_did_not_leave() {
    let site = Site::start();
    let send = |chat: Value, text: &str| {
        site.call("sendMessage", &json!({ "chat_id": chat, "text": text }))
    };
    let stranger = refusal(send(json!(5), "oi"));
    assert_eq!(stranger, (400, "Bad Request: chat not found".to_owned()));
    site.say("/start");
    assert_eq!(send(json!(5), "oi").1["result"]["text"], "oi");
    assert_eq!(send(json!("5"), "oi").0, 200, "a number as text");
    let empty = refusal(send(json!(5), " "));
    assert_eq!(empty.1, "Bad Request: message text is empty");
    assert_eq!(send(json!(5), &"á".repeat(4096)).0, 200);
    let long = refusal(send(json!(5), &"á".repeat(4097)));
    assert_eq!(long.1, "Bad Request: message is too long");
    site.control("telegram/block", &json!({ "chat_id": 5 }));
    let blocked = refusal(send(json!(5), "oi"));
    let words = "Forbidden: bot was blocked by the user".to_owned();
    assert_eq!(blocked, (403, words));
}

#[test]
fn updates_come_until_they_are_confirmed() {
    let site = Site::start();
    let ask = |body: Value| {
        let (status, told) = site.call("getUpdates", &body);
        assert_eq!(status, 200, "{told}");
        told["result"].as_array().unwrap().clone()
    };
    assert!(ask(json!({})).is_empty());
    site.say("um");
    site.say("dois");
    let both = ask(json!({}));
    assert_eq!(both.len(), 2);
    assert_eq!(ask(json!({})), both, "not confirmed yet");
    assert_eq!(ask(json!({ "limit": 1 })), both[..1]);
    let second = both[1]["update_id"].as_i64().unwrap();
    assert_eq!(ask(json!({ "offset": second })), both[1..]);
    assert_eq!(ask(json!({})), both[1..], "the first is gone");
    assert!(ask(json!({ "offset": second + 1 })).is_empty());
    site.control("telegram/block", &json!({ "chat_id": 5 }));
    let change = &ask(json!({}))[0]["my_chat_member"];
    assert_eq!(change["new_chat_member"]["status"], "kicked");
    // From now on, only the requested kind of update is queued.
    let only = json!({ "offset": -1, "allowed_updates": ["my_chat_member"] });
    assert_eq!(ask(only).len(), 1);
    site.say("três");
    let kinds: Vec<bool> =
        ask(json!({})).iter().map(|update| update["message"].is_object()).collect();
    assert_eq!(kinds, [false, false], "blocked, and back");
}

#[test]
fn a_call_waits_for_news_and_gives_way_to_a_newer_one() {
    let site = Site::start();
    let begun = Instant::now();
    let waiting = json!({ "timeout": 20 });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| site.call("getUpdates", &waiting));
        site.until_pollers(1);
        let second = scope.spawn(|| site.call("getUpdates", &waiting));
        let (status, words) = refusal(first.join().unwrap());
        assert_eq!(status, 409);
        assert!(words.contains("terminated by other getUpdates"), "{words}");
        site.say("oi");
        let told = second.join().unwrap().1;
        assert_eq!(told["result"][0]["message"]["text"], "oi");
    });
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_webhook_and_asking_exclude_each_other() {
    let site = Site::start();
    let hook = |url: &str, secret: &str| {
        site.call("setWebhook", &json!({ "url": url, "secret_token": secret }))
    };
    let plain = refusal(hook("http://example.com/x", "a"));
    assert!(plain.1.contains("HTTPS"), "{plain:?}");
    assert_eq!(hook("https://example.com/x", "a b").0, 400);
    // Nothing listens on port 9.
    assert_eq!(hook("http://127.0.0.1:9/x", "a").0, 200);
    let (status, words) = refusal(site.call("getUpdates", &json!({})));
    assert_eq!(status, 409);
    assert!(words.contains("webhook is active"), "{words}");
    let info = site.call("getWebhookInfo", &json!({})).1;
    assert_eq!(info["result"]["url"], "http://127.0.0.1:9/x");
    assert_eq!(site.call("deleteWebhook", &json!({})).0, 200);
    assert_eq!(site.call("getUpdates", &json!({})).0, 200);
}

#[test]
fn faults_have_the_shape_of_this_api() {
    let site = Site::start();
    let fault = json!({ "path_prefix": "/bot/getMe", "kind": "rate_limited", "retry_after": 7 });
    site.control("faults", &fault);
    let (status, told) = site.call("getMe", &json!({}));
    assert_eq!((status, &told["parameters"]["retry_after"]), (429, &json!(7)));
    assert_eq!(site.call("getMe", &json!({})).0, 200);
}

impl Site {
    /// Waits until `count` calls for updates have arrived.
    fn until_pollers(&self, count: u64) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.log("telegram")["pollers"].as_u64() < Some(count) {
            assert!(Instant::now() < deadline, "nobody asked for updates");
            std::thread::yield_now();
        }
    }
}
