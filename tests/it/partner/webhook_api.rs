//! Endpoints of webhooks made, changed, tested and removed by token and by app.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agents::{call, tools};
use crate::support::client::{Reply, Request};
use crate::support::hooked::{Manner, Receiver, WEBHOOKS, json_of, make, near, signature};
use crate::support::oauth::{Program, REDIRECT};
use crate::support::site::Site;
use crate::support::wait::until;

const BASE: &str = "/api/v1/partner/webhooks";
const LIMIT: Duration = Duration::from_secs(30);

fn open() -> (Site, Receiver) {
    (near(Site::builder().unlimited()).start(), Receiver::start())
}

/// An address made through the API, with its number and its secret.
#[track_caller]
fn made(program: &Actor<'_>, url: &str, events: &[&str]) -> (String, String) {
    let reply = program.post(BASE, &json!({ "url": url, "events": events })).ok();
    let data = &reply["data"];
    let secret = data["secret"].as_str().unwrap().to_owned();
    program.site().keep_secret("webhook secret", &secret);
    (data["webhook"]["webhook_id"].as_str().unwrap().to_owned(), secret)
}

/// Does something to an address.
fn act(program: &Actor<'_>, what: &str, id: &str, fields: &Value) -> Reply {
    let mut body = fields.clone();
    body["webhook_id"] = id.into();
    program.post(&format!("{BASE}/{what}"), &body)
}

#[track_caller]
fn deliveries(program: &Actor<'_>, id: &str) -> Vec<Value> {
    let list = program.get(&format!("{BASE}/{id}/deliveries")).ok();
    list["data"].as_array().unwrap().clone()
}

/// The newest delivery, once it is as wanted.
#[track_caller]
fn wait(program: &Actor<'_>, id: &str, is: impl Fn(&Value) -> bool) -> Value {
    until("the delivery is so", LIMIT, || {
        deliveries(program, id).into_iter().next().filter(|one| is(one))
    })
}

/// How often each operation on addresses was called this month.
fn calls(program: &Actor<'_>) -> Vec<(String, i64)> {
    let usage = program.get("/api/v1/partner/usage").ok();
    let all = usage["endpoints"].as_array().unwrap().iter();
    let name = |one: &Value| one["operation"].as_str().unwrap().to_owned();
    let mut all: Vec<_> = all.map(|one| (name(one), one["calls"].as_i64().unwrap())).collect();
    all.retain(|(name, _)| name.contains("webhook"));
    all.sort();
    all
}

#[test]
fn an_address_is_made_changed_tested_and_removed_by_token() {
    let (site, receiver) = open();
    let ana = site.seller("ana").plan("scale");
    let (id, secret) = made(&ana, &receiver.url("/a?chave=1"), &["stock.changed"]);
    let shown = ana.get(&format!("{BASE}/{id}")).ok();
    assert_eq!(
        (&shown["status"], &shown["events"], &shown["url"]),
        (&json!("on"), &json!(["stock.changed"]), &json!(receiver.url("/a?chave=1")))
    );
    assert_eq!(ana.get(BASE).ok()["data"], json!([shown]));
    assert!(!shown.to_string().contains("whsec_"), "{shown}");
    let sent = act(&ana, "test", &id, &json!({})).ok();
    assert_eq!(sent["data"], json!({ "webhook_id": id, "delivery": 1 }));
    let hit = receiver.wait_for(1).remove(0);
    assert_eq!(hit.signature, signature(&secret, &hit.id, hit.timestamp, &hit.body));
    let delivery = wait(&ana, &id, |one| one["status"] == "delivered");
    assert_eq!(
        (&delivery["type"], &delivery["event_id"]),
        (&json!("endpoint.test"), &json!(hit.id))
    );
    let attempt = &delivery["attempts"][0];
    assert_eq!((&attempt["number"], &attempt["status"]), (&json!(1), &json!(204)), "{delivery}");
    assert!(attempt["duration_ms"].is_i64() && attempt["error"].is_null(), "{delivery}");

    let change = json!({ "events": ["order.paid", "listing.changed"], "enabled": false, "new_secret": true });
    let changed = act(&ana, "change", &id, &change).ok()["data"].clone();
    let new = changed["secret"].as_str().unwrap();
    site.keep_secret("webhook secret", new);
    assert!(new.starts_with("whsec_") && new != secret);
    assert_eq!(changed["webhook"]["status"], "off");
    assert_eq!(changed["webhook"]["events"], json!(["order.paid", "listing.changed"]));
    assert!(changed["webhook"]["old_secret_until"].is_string(), "{changed}");
    assert_eq!(act(&ana, "test", &id, &json!({})).expect(409).code(), "conflict");
    let on = act(&ana, "change", &id, &json!({ "enabled": true })).ok()["data"].clone();
    assert_eq!((&on["webhook"]["status"], &on["secret"]), (&json!("on"), &Value::Null));
    site.clock().advance_s(2);
    act(&ana, "test", &id, &json!({})).ok();
    let hit = receiver.wait_for(2).remove(1);
    let by = |secret: &str| signature(secret, &hit.id, hit.timestamp, &hit.body);
    assert_eq!(hit.signature, format!("{} {}", by(new), by(&secret)));

    let gone = act(&ana, "remove", &id, &json!({})).ok();
    assert_eq!(gone["data"], json!({ "webhook_id": id, "removed": true }));
    act(&ana, "remove", &id, &json!({})).expect(404);
    ana.get(&format!("{BASE}/{id}/deliveries")).expect(404);
    assert_eq!(ana.get(BASE).ok()["pagination"]["total"], 0);
    let audit = "SELECT action || ' ' || actor_kind || ' ' || object_name FROM audit
                 WHERE object_kind = 'webhook' ORDER BY audit_id";
    let audited = site.stored(audit);
    let acts: Vec<_> = audited.iter().map(|one| one.split(' ').next().unwrap()).collect();
    let all = ["criar", "alterar", "desligar", "trocar_segredo", "ligar", "excluir"];
    assert_eq!(acts, all.map(|act| format!("webhook.{act}")));
    assert!(audited.iter().all(|one| one.contains(" pessoa http") && !one.contains("chave=1")));
}

#[test]
fn every_operation_on_addresses_counts_once_for_its_account() {
    let (site, receiver) = open();
    let (ana, rui) = (site.seller("ana").plan("scale"), site.seller("rui").plan("scale"));
    let (id, _) = made(&ana, &receiver.url("/"), &["stock.changed"]);
    ana.get(BASE).ok();
    ana.get(&format!("{BASE}/{id}")).ok();
    ana.get(&format!("/v1/partner/webhooks/{id}/deliveries")).ok();
    act(&ana, "change", &id, &json!({ "enabled": true })).ok();
    act(&ana, "test", &id, &json!({})).ok();
    call(&ana, "get_webhook", &json!({ "webhook_id": id }));
    act(&ana, "remove", &id, &json!({})).ok();
    let counted = [
        ("change_webhook", 1),
        ("create_webhook", 1),
        ("get_webhook", 2),
        ("list_webhook_deliveries", 1),
        ("list_webhooks", 1),
        ("remove_webhook", 1),
        ("test_webhook", 1),
    ];
    assert_eq!(calls(&ana), counted.map(|(name, calls)| (name.to_owned(), calls)));
    assert_eq!(calls(&rui), []);
}

#[test]
fn a_call_that_is_repeated_makes_one_address_and_its_secret_is_kept_sealed() {
    let (site, receiver) = open();
    let ana = site.seller("ana").plan("scale");
    let body = json!({ "url": receiver.url("/"), "events": ["order.paid"] });
    let send = || ana.send(Request::new("POST", BASE).json(&body).header("Idempotency-Key", "um"));
    let first = send().expect(200).json();
    let again = send().expect(200);
    site.keep_secret("webhook secret", first["data"]["secret"].as_str().unwrap());
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.json(), first);
    assert_eq!(ana.get(BASE).ok()["pagination"]["total"], 1);
    let kept = site.stored("SELECT hex(reply) FROM partner_call");
    // What begins every secret, `whsec_`, in hexadecimal.
    let hex = "77687365635F";
    assert!(kept.len() == 1 && !kept[0].contains(hex), "{kept:?}");
}

#[test]
fn addresses_are_public_few_and_of_their_account_alone() {
    let site = Site::builder().unlimited().start();
    let (ana, rui) = (site.seller("ana").plan("scale"), site.seller("rui").plan("scale"));
    let panel = site.person("ana");
    for url in [
        "http://example.com/",
        "https://localhost/x",
        "https://10.1.2.3/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:10.0.0.1]/x",
        "https://ana:b@example.com/x",
        "https://example.com:22/x",
        "",
    ] {
        let refused = ana.post(BASE, &json!({ "url": url, "events": ["order.paid"] })).expect(400);
        assert!(refused.json()["error"]["fields"]["url"].is_string(), "{url}: {refused}");
    }
    for events in
        [json!([]), json!(["order.lost"]), json!(["drop_order.paid"]), json!(["endpoint.test"])]
    {
        let refused =
            ana.post(BASE, &json!({ "url": "https://example.com/", "events": events })).expect(400);
        assert!(refused.json()["error"]["fields"]["events"].is_string(), "{events}: {refused}");
    }
    let (id, _) = made(&ana, "https://example.com/", &["order.paid"]);
    let inside = json!({ "url": "https://127.0.0.1/" });
    act(&ana, "change", &id, &inside).expect(400);
    act(&ana, "test", &id, &json!({})).ok();
    for path in [format!("{BASE}/{id}"), format!("{BASE}/{id}/deliveries")] {
        assert_eq!(rui.get(&path).expect(404).code(), "not_found");
    }
    for what in ["change", "test", "remove"] {
        act(&rui, what, &id, &json!({})).expect(404);
    }
    let told = call(&rui, "get_webhook", &json!({ "webhook_id": id }));
    assert_eq!(told["isError"], true);
    assert_eq!(rui.get(BASE).ok()["data"], json!([]));
    // The panel and the API have one budget, and show the same.
    for number in 2..=20 {
        make(&site, &panel, &format!("https://example.com/{number}"), &["order.paid"]);
    }
    let one_more = json!({ "url": "https://example.com/21", "events": ["order.paid"] });
    assert_eq!(ana.post(BASE, &one_more).expect(409).code(), "conflict");
    assert_eq!(json_of(&panel, WEBHOOKS)["total"], 20);
    assert_eq!(
        ana.get(&format!("{BASE}?limit=5&offset=18")).ok()["data"].as_array().unwrap().len(),
        2
    );
    act(&ana, "remove", &id, &json!({})).ok();
    made(&ana, "https://example.com/21", &["order.paid"]);
}

#[test]
fn suppliers_have_addresses_of_their_own() {
    let trade = crate::support::dropshipping::Trade::open_with(near);
    let receiver = Receiver::start();
    let (sol, ana) = (trade.sol(), trade.shop.site.seller("ana").plan("scale"));
    let base = "/api/v1/partner/drop/webhooks";
    let asked = json!({ "url": receiver.url("/"), "events": ["drop_order.created"] });
    let data = sol.post(base, &asked).ok()["data"].clone();
    trade.shop.site.keep_secret("webhook secret", data["secret"].as_str().unwrap());
    let id = data["webhook"]["webhook_id"].as_str().unwrap();
    let wrong = json!({ "url": receiver.url("/"), "events": ["order.paid"] });
    sol.post(base, &wrong).expect(400);
    trade.link();
    trade.sell(1);
    assert_eq!(receiver.wait_for(1)[0].kind(), "drop_order.created");
    let path = format!("{base}/{id}/deliveries?status=delivered");
    until("it is noted", LIMIT, || (sol.get(&path).ok()["pagination"]["total"] == 1).then_some(()));
    let of_type = |kind: &str| sol.get(&format!("{base}/{id}/deliveries?type={kind}"));
    assert_eq!(of_type("drop_order.created").ok()["pagination"]["total"], 1);
    assert_eq!(of_type("drop_order.paid,endpoint.test").ok()["data"], json!([]));
    of_type("order.paid").expect(400);
    ana.get(&format!("{BASE}/{id}")).expect(404);
    ana.get(&format!("{base}/{id}")).expect(403);
    let told = call(&sol, "drop_remove_webhook", &json!({ "webhook_id": id }));
    assert_eq!(told["structuredContent"]["data"]["removed"], true, "{told}");
    let removal = tools(&sol)["drop_remove_webhook"].clone();
    assert_eq!(removal["annotations"]["destructiveHint"], true);
}

#[test]
fn what_an_app_made_ends_with_its_connection() {
    let (site, receiver) = open();
    let (panel, other) = (site.person("ana"), site.person("rui"));
    let (ana, _rui) = (site.seller("ana").plan("scale"), site.seller("rui").plan("scale"));
    let program = Program::registered(&site, "App", REDIRECT);
    let reading = site.bearer(&program.connect(&panel, "partner:read").access).get(BASE);
    assert_eq!(reading.ok()["data"], json!([]));
    let own = made(&ana, &receiver.url("/x?chave=1"), &["order.paid"]).0;
    let reader = site.bearer(&program.connect(&panel, "partner:read").access).get(BASE).ok();
    assert_eq!(
        reader["data"][0]["url"],
        json!(receiver.url("/x")),
        "no query for who may only read"
    );
    let narrow = program.connect(&panel, "partner:read");
    let body = json!({ "url": receiver.url("/"), "events": ["order.paid"] });
    let refused = site.bearer(&narrow.access).post(BASE, &body).expect(403);
    assert_eq!(refused.code(), "insufficient_scope");

    let wide = program.connect(&panel, "partner:read partner:write");
    let of_app = made(&site.bearer(&wide.access), &receiver.url("/app"), &["order.paid"]).0;
    // The same program, connected by somebody else, sees nothing of it.
    let elsewhere = site.bearer(&program.connect(&other, "partner:read partner:write").access);
    assert_eq!(elsewhere.get(BASE).ok()["data"], json!([]));
    act(&elsewhere, "remove", &of_app, &json!({})).expect(404);

    let apps = site.stored(
        "SELECT grant_id || '' FROM oauth_grant JOIN user USING (user_id) WHERE email LIKE 'ana@%'",
    );
    for app in apps {
        panel.post(&format!("/painel/parceiro/aplicativos/{app}/desconectar"), &json!({})).ok();
    }
    let states: Vec<_> = [&own, &of_app].map(|id| ana.get(&format!("{BASE}/{id}")).ok()).into();
    assert_eq!((&states[0]["status"], &states[1]["status"]), (&json!("on"), &json!("off")));
    assert!(states[1]["error"].as_str().unwrap().contains("desconectado"), "{states:?}");
}

#[test]
fn tests_of_an_address_are_limited_and_every_attempt_is_kept() {
    let (site, receiver) = open();
    let ana = site.seller("ana").plan("scale");
    let (id, _) = made(&ana, &receiver.url("/"), &["stock.changed"]);
    for _ in 0..10 {
        site.clock().advance_s(1);
        act(&ana, "test", &id, &json!({})).ok();
    }
    site.clock().advance_s(1);
    let limited = act(&ana, "test", &id, &json!({})).expect(429);
    assert_eq!(
        (limited.code(), limited.header("retry-after")),
        ("rate_limited".into(), Some("50"))
    );
    site.clock().advance_s(50);
    receiver.wait_for(10);
    receiver.answers(Manner::Status(500, ""));
    act(&ana, "test", &id, &json!({})).ok();
    wait(&ana, &id, |one| one["attempts"].as_array().unwrap().len() == 1);
    receiver.answers(Manner::Status(204, ""));
    site.clock().advance_s(5);
    let delivery = wait(&ana, &id, |one| one["status"] == "delivered");
    let attempts = delivery["attempts"].as_array().unwrap();
    let said: Vec<_> = attempts.iter().map(|one| (&one["status"], &one["error"])).collect();
    assert_eq!(said, [(&json!(500), &json!("respondeu 500")), (&json!(204), &Value::Null)]);
    let panel = site.person("ana");
    let path = format!("{WEBHOOKS}/{id}/entregas/11");
    assert_eq!(json_of(&panel, &path)["tentadas"].as_array().unwrap().len(), 2);
    assert!(panel.get(&path).expect(200).text().contains("respondeu 500"));
    assert_eq!(walked(&ana, &id, ""), (1..=11).rev().collect::<Vec<_>>());
}

/// The numbers of the deliveries that match, by cursor.
fn walked(program: &Actor<'_>, id: &str, filters: &str) -> Vec<i64> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = program.get(&format!("{BASE}/{id}/deliveries?limit=4{filters}{cursor}")).ok();
        seen.extend(
            page["data"].as_array().unwrap().iter().map(|one| one["number"].as_i64().unwrap()),
        );
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { return seen };
        cursor = format!("&cursor={next}");
    }
}

#[test]
fn deliveries_are_narrowed_by_type() {
    let (site, receiver) = open();
    let ana = site.seller("ana").plan("scale");
    let (id, _) = made(&ana, &receiver.url("/"), &["stock.changed"]);
    let cup = json!({ "titulo": "Copo", "sku": "COPO-1", "custo": 30, "preco": 100 });
    site.person("ana").post("/painel/produtos", &cup).expect(201);
    // Number 3, 6 and 9 are of the product, the others tests.
    for number in 1..=9 {
        site.clock().advance_s(1);
        if number % 3 == 0 {
            let counted = json!({ "sku": "COPO-1", "balance": number });
            ana.post("/api/v1/partner/stock/set", &counted).ok();
        } else {
            act(&ana, "test", &id, &json!({})).ok();
        }
        receiver.wait_for(number);
        wait(&ana, &id, |one| one["number"] == number && one["status"] == "delivered");
    }
    assert_eq!(walked(&ana, &id, "&type=stock.changed"), [9, 6, 3]);
    assert_eq!(walked(&ana, &id, "&type=endpoint.test"), [8, 7, 5, 4, 2, 1]);
    let both = "&type=endpoint.test,stock.changed";
    assert_eq!(walked(&ana, &id, both), (1..=9).rev().collect::<Vec<_>>());
    assert_eq!(walked(&ana, &id, "&type=stock.changed&status=failed"), [0; 0]);
    assert_eq!(walked(&ana, &id, "&type=stock.changed&status=delivered"), [9, 6, 3]);
    let list = |query: &str| ana.get(&format!("{BASE}/{id}/deliveries?{query}"));
    let page = list(&format!("limit=2&offset=3{both}")).ok();
    let numbers: Vec<_> =
        page["data"].as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!((numbers, &page["pagination"]["total"]), (vec![&json!(6), &json!(5)], &json!(9)));
    list("type=drop_order.paid").expect(400);
    // A cursor belongs to its filters.
    let next = list("limit=2&type=endpoint.test").ok()["pagination"]["next_cursor"].clone();
    list(&format!("limit=2&type=stock.changed&cursor={}", next.as_str().unwrap())).expect(400);
    let asked = json!({ "webhook_id": id, "type": "stock.changed" });
    let told = call(&ana, "list_webhook_deliveries", &asked);
    assert_eq!(told["structuredContent"]["pagination"]["total"], 3, "{told}");
}
