//! Notifications through the Partner API: queued once, however often the call
//! is repeated, sent by the chosen channel, and listed later.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::run;
use crate::support::site::Site;
use crate::support::telegram;
use crate::support::wait::until;
use crate::support::world::World;

const NOTIFY: &str = "/api/v1/partner/notify";
const SENT: &str = "/api/v1/partner/notifications";

fn notice(channel: &str, title: &str) -> Value {
    json!({ "channel": channel, "event": "custom", "title": title, "body": "Há 3 pedidos.\nVeja." })
}

fn keyed(key: &str, body: &Value) -> Request {
    Request::new("POST", NOTIFY).header("Idempotency-Key", key).json(body)
}

#[track_caller]
fn told(actor: &Actor<'_>) -> Vec<Value> {
    actor.get(SENT).expect(200).json()["data"].as_array().unwrap().clone()
}

/// A site whose mail server cannot be reached, so that messages wait.
fn waiting() -> Site {
    let site = Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "loja@example.com")
        .start();
    site.seller("ana").plan("pro");
    site
}

#[test]
fn a_notification_leaves_by_the_channel_that_was_asked_for() {
    let world = World::start();
    let site = telegram::start(telegram::with_bot(&world));
    let (person, ana) = (site.person("ana"), site.seller("ana").plan("pro"));
    let refused = ana.post(NOTIFY, &notice("telegram", "Vendas")).expect(400);
    assert_eq!(refused.code(), "channel_not_connected");
    assert!(told(&ana).is_empty());
    telegram::connect(&world, &person, telegram::ANA);
    let before = telegram::said(&world, telegram::ANA).len();
    let queued = ana.post(NOTIFY, &notice("telegram", "Vendas de hoje {link}")).expect(200).json();
    assert_eq!(queued["data"], json!({ "id": "1", "channel": "telegram", "status": "queued" }));
    run(&site);
    let text = telegram::answer(&world, telegram::ANA, before + 1);
    assert!(text.contains("Vendas de hoje {link}") && text.contains("Há 3 pedidos.\nVeja."));
    let sent = until("it was sent", Duration::from_mins(1), || {
        told(&ana).into_iter().find(|one| one["status"] == "sent")
    });
    for (field, value) in [
        ("id", json!("1")),
        ("channel", json!("telegram")),
        ("event", json!("custom")),
        ("title", json!("Vendas de hoje {link}")),
        ("body", json!("Há 3 pedidos.\nVeja.")),
        ("error", Value::Null),
    ] {
        assert_eq!(sent[field], value, "{field}: {sent}");
    }
    assert!(sent["sent_at"].as_str() >= sent["created_at"].as_str(), "{sent}");
    assert!(told(&site.seller("rui").plan("pro")).is_empty());
}

#[test]
fn what_is_wrong_with_a_notification_is_said_field_by_field() {
    let site = waiting();
    let ana = site.seller("ana");
    let good = notice("email", "Olá");
    for (field, value) in [
        ("channel", json!("chat")),
        ("channel", json!(null)),
        ("event", json!("order.paid")),
        ("title", json!("")),
        ("title", json!("a\nb")),
        ("title", json!("a".repeat(121))),
        ("body", json!("  ")),
        ("body", json!("a\u{7}b")),
        ("body", json!("é".repeat(2001))),
    ] {
        let mut body = good.clone();
        body[field] = value;
        let refused = ana.post(NOTIFY, &body).expect(400);
        assert_eq!(refused.code(), "validation_failed", "{body}");
        let fields = &refused.json()["error"]["fields"];
        assert!(fields[field].is_string(), "{field}: {fields}");
    }
    for field in ["channel", "event", "title", "body"] {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(field);
        assert_eq!(ana.post(NOTIFY, &body).expect(400).code(), "validation_failed", "{field}");
    }
    let mut typed = good.clone();
    for wrong in [json!(7), json!(["a"])] {
        typed["title"] = wrong;
        assert_eq!(ana.post(NOTIFY, &typed).expect(400).code(), "invalid_body", "{typed}");
    }
    for broken in ["", "{", "[]", "\"x\"", r#"{"channel":"email","channel":"push"}"#] {
        let sent = Request::new("POST", NOTIFY).body("application/json", broken.as_bytes());
        assert_eq!(ana.send(sent).expect(400).code(), "invalid_body", "{broken}");
    }
    ana.post(&format!("{NOTIFY}?dry=1"), &good).expect(400);
    ana.send(Request::new("GET", NOTIFY)).expect(405);
    assert!(told(&ana).is_empty(), "nothing was queued");
    let longest = json!({ "channel": "email", "event": "custom", "title": "é".repeat(120),
                          "body": "é".repeat(2000) });
    ana.post(NOTIFY, &longest).expect(200);
}

#[test]
fn the_same_key_and_body_get_the_first_answer_for_a_day() {
    let site = waiting();
    let (ana, rui) = (site.seller("ana"), site.seller("rui").plan("pro"));
    let body = notice("email", "Olá");
    let answer = |reply: Reply| reply.expect(200).text();
    let first = answer(ana.send(keyed("um", &body)));
    let again = ana.send(keyed("um", &body));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(answer(again), first);
    let other = ana.send(keyed("outro", &body));
    assert_eq!(other.header("idempotency-replayed"), None);
    assert_ne!(answer(ana.send(keyed("dois", &body))), first);
    assert_ne!(answer(ana.post(NOTIFY, &body)), first);
    assert_eq!(told(&ana).len(), 4);
    // Another token of the account is the same caller; another account is not.
    assert_eq!(answer(site.seller("ana").send(keyed("um", &body))), first);
    answer(rui.send(keyed("um", &notice("email", "Outra"))));
    assert_eq!((told(&rui).len(), told(&ana).len()), (1, 4));
    let refused = ana.send(keyed("um", &notice("email", "Outra"))).expect(400);
    assert_eq!(refused.code(), "idempotency_key_reused");
    assert_eq!(refused.header("idempotency-replayed"), None);
    for wrong in ["a".repeat(129), "é".to_owned(), String::new()] {
        ana.send(keyed(&wrong, &body)).expect(400);
    }
    let twice = keyed("a", &body).header("Idempotency-Key", "b");
    ana.send(twice).expect(400);
    assert_eq!(told(&ana).len(), 4);
    // A rejected call did nothing, so its key can be used again.
    ana.send(keyed("tres", &notice("telegram", "Olá"))).expect(400);
    answer(ana.send(keyed("tres", &body)));

    site.kill();
    site.start_again();
    assert_eq!(answer(ana.send(keyed("um", &body))), first, "after a kill");
    site.clock().advance_s(24 * 3600 + 1);
    assert_ne!(answer(ana.send(keyed("um", &body))), first, "a day later");
}

#[test]
fn a_hundred_calls_with_one_key_do_the_work_once() {
    let site = waiting();
    let body = notice("email", "Uma vez");
    let ana = site.seller("ana");
    let token = ana.bearer_token().to_owned();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..100)
            .map(|_| {
                scope.spawn(|| {
                    let caller = site.bearer(&token);
                    caller.send_apart(keyed("corrida", &body)).expect(200).text()
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(told(&ana).len(), 1);
    assert_eq!(site.stored("SELECT count(*) || '' FROM outbox"), ["1"]);
}

#[test]
fn a_poller_by_date_misses_no_notification() {
    let site = waiting();
    let ana = site.seller("ana");
    let ask = |since: &str| {
        let request = Request::new("GET", SENT).header("If-Modified-Since", since);
        ana.send(request)
    };
    let dated = |reply: &Reply| reply.header("last-modified").unwrap().to_owned();
    let mut since = dated(&ana.get(SENT).expect(200));
    // The clock of the site is stopped: all of this happens within one second.
    for number in 1..=4 {
        ask(&since).expect(304);
        ana.post(NOTIFY, &notice("email", &format!("Aviso {number}"))).expect(200);
        let fresh = ask(&since).expect(200);
        assert_eq!(fresh.json()["pagination"]["total"], number);
        since = dated(&fresh);
    }
    // A new state of a notification is a change, too.
    ask(&since).expect(304);
    let admin = site.administrator();
    let person = site.stored("SELECT owner_id || '' FROM partner_notification LIMIT 1");
    let suspend = json!({ "motivo": "teste" });
    admin.post(&format!("/admin/alunos/{}/suspender", person[0]), &suspend).ok();
    admin.post(&format!("/admin/alunos/{}/reativar", person[0]), &json!({})).ok();
    let ended = ask(&since).expect(200).json();
    assert_eq!(ended["data"][0]["status"], "failed", "{ended}");
    assert!(!ended["data"][0]["error"].as_str().unwrap().is_empty());
}

#[test]
fn history_is_paged_and_forgotten_after_ninety_days() {
    let site = waiting();
    let ana = site.seller("ana");
    for number in 1..=5 {
        ana.post(NOTIFY, &notice("email", &format!("Aviso {number}"))).expect(200);
    }
    let titles = |query: &str| {
        let page = ana.get(&format!("{SENT}?{query}")).expect(200).json();
        assert_eq!(page["pagination"]["total"], 5, "{page}");
        let rows = page["data"].as_array().unwrap().clone();
        rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles("limit=2"), ["Aviso 5", "Aviso 4"]);
    assert_eq!(titles("limit=2&offset=4"), ["Aviso 1"]);
    assert!(titles("offset=5").is_empty());
    for wrong in ["limit=0", "limit=201", "offset=-1", "status=sent"] {
        ana.get(&format!("{SENT}?{wrong}")).expect(400);
    }
    site.clock().advance_s(91 * 24 * 3600);
    let left = until("the old ones are forgotten", Duration::from_mins(1), || {
        site.clock().advance_s(3600);
        let left = told(&ana);
        (left.len() == 1).then_some(left)
    });
    assert_eq!(left[0]["title"], "Aviso 5", "the newest holds the numbers");
    let next = ana.post(NOTIFY, &notice("email", "Novo")).expect(200).json();
    assert_eq!(next["data"]["id"], "6");
}
