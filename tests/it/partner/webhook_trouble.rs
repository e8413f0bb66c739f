//! Webhooks when receivers are in trouble: retries, order, fairness, and kills.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::hooked::{Hit, Made, Manner, Receiver, make, near};
use crate::support::site::Site;
use crate::support::wait::until;

const STOCK: [&str; 1] = ["stock.changed"];
/// Pauses before each further try, in seconds.
const PAUSES: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

fn open() -> (Site, Receiver) {
    (near(Site::builder().unlimited()).start(), Receiver::start())
}

/// Puts a product into stock; returns its id.
#[track_caller]
fn stocked(actor: &Actor<'_>, sku: &str) -> String {
    let product = json!({ "sku": sku, "titulo": "Garrafa", "preco": 20, "estoque": 10 });
    let made = actor.post("/painel/produtos", &product).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn take_out(actor: &Actor<'_>, product: &str) {
    let moved = json!({ "tipo": "saida", "quantidade": 1, "motivo": "" });
    actor.post(&format!("/painel/produtos/{product}/movimentos"), &moved).expect(201);
}

/// Whether this many tries of a delivery have ended.
fn tried(times: i64) -> impl Fn(&Value) -> bool {
    move |delivery| delivery["tentativas"] == times
}

#[test]
fn a_failed_delivery_is_tried_ten_times_in_three_days_with_one_id_and_body() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    receiver.answers(Manner::Status(500, ""));
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    made.test(&ana);
    for (pause, times) in PAUSES.into_iter().zip(1..) {
        // A session ends before three days do.
        let ana = site.person("ana");
        let delivery = made.wait(&ana, 1, tried(times));
        assert_eq!(
            (&delivery["estado"], &delivery["erro"]),
            (&json!("pendente"), &json!("respondeu 500"))
        );
        site.clock().advance_s(pause - 1);
        // A check of the queue in between finds nothing due.
        let waiting = made.wait(&site.person("ana"), 1, |_| true);
        assert_eq!(waiting["tentativas"], times, "after {pause} seconds but one");
        site.clock().advance_s(1);
        receiver.wait_for(usize::try_from(times).unwrap() + 1);
    }
    let ana = site.person("ana");
    let ended = made.wait(&ana, 1, tried(10));
    assert_eq!(ended["estado"], "falhou");
    let hits = receiver.hits();
    assert!(hits.iter().all(|hit| (&hit.id, &hit.body) == (&hits[0].id, &hits[0].body)));
    assert_eq!(made.read(&ana)["situacao"], "ligado", "three days are not five");
}

#[test]
fn a_receiver_may_ask_for_a_longer_pause() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    receiver.answers(Manner::Status(503, "retry-after: 120\r\n"));
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    made.test(&ana);
    made.wait(&ana, 1, tried(1));
    receiver.answers(Manner::Status(204, ""));
    site.clock().advance_s(119);
    assert_eq!(made.wait(&ana, 1, |_| true)["tentativas"], 1);
    site.clock().advance_s(1);
    made.wait(&ana, 1, |delivery| delivery["estado"] == "entregue");
}

#[test]
fn what_a_receiver_asks_for_is_kept_to_the_second_and_for_all_deliveries() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    // The second pause would be of five minutes; a date asks for one.
    receiver.answers(Manner::Status(500, ""));
    made.test(&ana);
    made.wait(&ana, 1, tried(1));
    let at = site.clock().now() + Duration::from_secs(5 + 60);
    let date = at.strftime("retry-after: %a, %d %b %Y %H:%M:%S GMT\r\n").to_string();
    receiver.answers(Manner::Status(429, date.leak()));
    site.clock().advance_s(5);
    let delivery = made.wait(&ana, 1, tried(2));
    assert_eq!(
        delivery["proxima_tentativa"].as_str().map(|at| &at[17..]),
        Some(&*at.strftime("%S").to_string())
    );
    receiver.answers(Manner::Status(204, ""));
    // Another delivery waits as well.
    let other = made.test(&ana);
    site.clock().advance_s(59);
    assert_eq!(made.wait(&ana, 1, |_| true)["tentativas"], 2);
    assert_eq!(receiver.hits().len(), 2);
    site.clock().advance_s(1);
    made.wait(&ana, 1, |delivery| delivery["estado"] == "entregue");
    made.wait(&ana, other, |delivery| delivery["estado"] == "entregue");
}

#[test]
fn who_asks_for_short_pauses_loses_nothing() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    receiver.answers(Manner::Status(429, "retry-after: 2\r\n"));
    made.test(&ana);
    for times in 1..=14 {
        made.wait(&ana, 1, tried(times));
        site.clock().advance_s(2);
    }
    made.wait(&ana, 1, tried(15));
    receiver.answers(Manner::Status(204, ""));
    site.clock().advance_s(2);
    let delivery = made.wait(&ana, 1, |delivery| delivery["estado"] == "entregue");
    assert_eq!(delivery["tentadas"].as_array().unwrap().len(), 16);
}

#[test]
fn what_is_no_answer_is_a_failure_and_redirects_are_not_followed() {
    let (site, receiver) = open();
    let elsewhere = Receiver::start();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    let location = format!("location: {}\r\n", elsewhere.url("/"));
    let location: &'static str = location.leak();
    for (manner, said) in [
        (Manner::Status(302, location), "respondeu 302: redirecionamentos não são seguidos"),
        (Manner::Status(404, ""), "respondeu 404"),
        (Manner::Garbage, "a resposta não é HTTP"),
        (Manner::HangUp, "não respondeu"),
    ] {
        receiver.answers(manner);
        site.clock().advance_s(2);
        let number = made.test(&ana);
        let delivery = made.wait(&ana, number, tried(1));
        let error = delivery["erro"].as_str().unwrap();
        assert!(error.starts_with(said), "{error}");
        assert_eq!(delivery["estado"], "pendente");
    }
    assert!(elsewhere.hits().is_empty());
    assert!(made.read(&ana)["falhando_desde"].is_string());
}

#[test]
fn gone_switches_an_endpoint_off_and_its_owner_is_told() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    receiver.answers(Manner::Status(410, ""));
    made.test(&ana);
    let off = until("it is off", Duration::from_secs(20), || {
        let off = made.read(&ana);
        (off["situacao"] == "encerrado").then_some(off)
    });
    assert!(off["desligado_em"].is_string());
    let told = site.stored("SELECT title || ': ' || message FROM notification");
    assert!(told[0].starts_with("Webhook desligado: http://127.0.0.1"), "{told:?}");
    assert_eq!(told.len(), 1);
    let mail = "SELECT count(*) || '' FROM audit WHERE action = 'webhook.desligar' AND actor_kind = 'sistema'";
    assert_eq!(site.stored(mail), ["1"]);
    // Nothing new is stored for it, and a waiting delivery is sent when it is
    // switched on.
    stocked(&ana, "A-1");
    until("it was given to all who want it", Duration::from_secs(20), || {
        (site.stored("SELECT count(*) || '' FROM webhook_event") == ["0"]).then_some(())
    });
    receiver.answers(Manner::Status(204, ""));
    ana.post(&made.path("/ligar"), &json!({})).expect(200);
    site.clock().advance_s(5);
    made.wait(&ana, 1, |delivery| delivery["estado"] == "entregue");
    assert_eq!(made.deliveries(&ana).len(), 1);
}

#[test]
fn five_days_of_failures_switch_an_endpoint_off() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    receiver.answers(Manner::Status(500, ""));
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    made.test(&ana);
    made.wait(&ana, 1, tried(1));
    site.clock().advance_s(5 * 86_400 - 1);
    let ana = site.person("ana");
    let number = made.test(&ana);
    made.wait(&ana, number, tried(1));
    assert_eq!(made.read(&ana)["situacao"], "ligado");
    site.clock().advance_s(2);
    let number = made.test(&ana);
    made.wait(&ana, number, tried(1));
    until("it is off", Duration::from_secs(20), || {
        (made.read(&ana)["situacao"] == "desistimos").then_some(())
    });
    assert_eq!(site.stored("SELECT title FROM notification"), ["Webhook desligado"]);
}

#[test]
fn events_of_one_object_wait_for_each_other_and_for_nothing_else() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    receiver.answers(Manner::Status(500, ""));
    let first = stocked(&ana, "A-1");
    made.wait(&ana, 1, tried(1));
    take_out(&ana, &first);
    let held = made.wait(&ana, 2, |_| true);
    assert_eq!((&held["estado"], &held["proxima_tentativa"]), (&json!("pendente"), &Value::Null));
    receiver.answers(Manner::Status(204, ""));
    stocked(&ana, "B-1");
    let other = made.wait(&ana, 3, |delivery| delivery["estado"] == "entregue");
    assert_eq!(other["corpo"]["data"]["sku"], "B-1");
    // A newer movement waits behind it, and takes nothing's place.
    take_out(&ana, &first);
    made.wait(&ana, 4, |held| held["proxima_tentativa"].is_null());
    site.clock().advance_s(5);
    made.wait(&ana, 4, |delivery| delivery["estado"] == "entregue");
    let balances: Vec<i64> = receiver
        .hits()
        .iter()
        .map(Hit::json)
        .filter(|body| body["data"]["sku"] == "A-1")
        .map(|body| body["data"]["balance"].as_i64().unwrap())
        .collect();
    assert_eq!(balances, [10, 10, 9, 8]);
    assert_eq!(made.deliveries(&ana).len(), 4);
}

#[test]
fn a_receiver_that_hangs_costs_nobody_else_anything() {
    let (site, good) = open();
    let bad = Receiver::start();
    bad.answers(Manner::Hang);
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let hung: Vec<Made> =
        (0..20).map(|number| make(&site, &rui, &bad.url(&format!("/{number}")), &STOCK)).collect();
    let quick = make(&site, &ana, &good.url("/"), &STOCK);
    for made in &hung {
        made.test(&rui);
    }
    bad.wait_for(1);
    for number in 1..=20 {
        let began = Instant::now();
        stocked(&ana, &format!("A-{number}"));
        good.wait_for(number);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
    assert_eq!(quick.read(&ana)["falhando_desde"], Value::Null);
    assert!(bad.hits().len() <= 4, "few of one account at a time: {}", bad.hits().len());
}

#[test]
fn dead_receivers_of_many_accounts_keep_nobody_waiting_after_a_restart() {
    const ACCOUNTS: usize = 9;
    let (site, good) = open();
    let bad = Receiver::start();
    bad.answers(Manner::Hang);
    let ana = site.person("ana");
    make(&site, &ana, &good.url("/"), &STOCK);
    for account in 0..ACCOUNTS {
        let dead = site.person(&format!("morta{account}"));
        for number in 0..20 {
            make(&site, &dead, &bad.url(&format!("/{account}/{number}")), &STOCK);
        }
    }
    site.stop();
    let database =
        rusqlite::Connection::open_with_flags(site.database(), rusqlite::OpenFlags::default())
            .unwrap();
    let dead = "(SELECT endpoint_id FROM webhook_endpoint WHERE url LIKE '%/_/%')";
    database
        .execute_batch(&format!(
            "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 25)
             INSERT INTO webhook_delivery
                 (endpoint_id, number, message, kind, object, body, state, created_at, run_at)
             SELECT endpoint_id, n, randomblob(16), 40, n, '{{}}', 0, created_at, created_at
             FROM webhook_endpoint, n WHERE endpoint_id IN {dead};
             UPDATE webhook_endpoint SET last_number = 25, next_at = created_at, failing_since = created_at
             WHERE endpoint_id IN {dead}"
        ))
        .unwrap();
    drop(database);
    site.start_again();
    let ana = site.person("ana");
    bad.wait_for(ACCOUNTS);
    let began = Instant::now();
    stocked(&ana, "A-1");
    good.wait_for(1);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn a_kill_loses_nothing_and_repeats_with_the_same_id() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    receiver.answers(Manner::Hang);
    for number in 1..=10 {
        stocked(&ana, &format!("A-{number}"));
    }
    let before = receiver.wait_for(1);
    site.kill();
    receiver.answers(Manner::Status(204, ""));
    site.start_again();
    let ana = site.person("ana");
    until("all are delivered", Duration::from_secs(30), || {
        (made.read(&ana)["entregues"] == 10).then_some(())
    });
    let hits = receiver.hits();
    let again: Vec<&Hit> = hits.iter().filter(|hit| hit.id == before[0].id).collect();
    assert!(again.len() >= 2, "what was under way is sent again");
    assert!(again.iter().all(|hit| hit.body == before[0].body));
    let mut skus: Vec<String> =
        hits.iter().map(|hit| hit.json()["data"]["sku"].to_string()).collect();
    skus.sort();
    skus.dedup();
    assert_eq!(skus.len(), 10);
}

#[test]
fn one_or_a_span_is_sent_again_by_hand() {
    let (site, receiver) = open();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    let zone_time = || {
        let at = site.clock().now() - jiff::SignedDuration::from_hours(3);
        at.strftime("%Y-%m-%d %H:%M:%S").to_string()
    };
    let first = zone_time();
    for number in 1..=3 {
        stocked(&ana, &format!("A-{number}"));
        made.wait(&ana, number, |delivery| delivery["estado"] == "entregue");
        site.clock().advance_s(60);
    }
    ana.post(&made.path("/entregas/2/reenviar"), &json!({})).expect(200);
    let hits = receiver.wait_for(4);
    assert_eq!((&hits[3].id, &hits[3].body), (&hits[1].id, &hits[1].body));
    assert!(hits[3].timestamp > hits[1].timestamp, "signed anew");
    ana.post(&made.path("/entregas/9/reenviar"), &json!({})).expect(404);
    made.wait(&ana, 2, |delivery| delivery["estado"] == "entregue");
    let span = json!({ "de": first, "ate": zone_time() });
    let answer = ana.post(&made.path("/reenviar"), &span).expect(200).json();
    assert_eq!(answer["reenviadas"], 3);
    receiver.wait_for(7);
    let late = json!({ "de": zone_time(), "ate": first });
    let refused = ana.post(&made.path("/reenviar"), &late).expect(422).json();
    assert!(refused["fields"]["ate"].is_string(), "{refused}");
    ana.post(&made.path("/reenviar"), &json!({ "de": "ontem" })).expect(422);
}

#[test]
fn names_that_lead_inside_are_not_called() {
    // The name is checked at each connection: its earlier address does not count.
    let site = near(Site::builder().unlimited()).start();
    let (ana, receiver) = (site.person("ana"), Receiver::start());
    let made = make(&site, &ana, &receiver.url("/"), &STOCK);
    site.stop();
    let file = site.folder().join("seller-platform.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("loopback"), "{text}");
    std::fs::write(&file, text.replace("loopback", "10.0.0.5:8443")).unwrap();
    site.start_again();
    let ana = site.person("ana");
    made.test(&ana);
    let delivery = made.wait(&ana, 1, tried(1));
    assert!(delivery["erro"].as_str().unwrap().contains("https://"), "{delivery}");
    assert!(receiver.hits().is_empty());
}

/// The median time of a page, of many requests.
fn middle(ana: &Actor<'_>, path: &str) -> Duration {
    let mut took: Vec<Duration> = (0..101)
        .map(|_| {
            let began = Instant::now();
            ana.get(path).expect(200);
            began.elapsed()
        })
        .collect();
    took.sort();
    took[50]
}

#[test]
fn ten_thousand_waiting_deliveries_slow_no_request() {
    let (site, receiver) = open();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    receiver.answers(Manner::Hang);
    let list = "/painel/produtos";
    stocked(&rui, "B-1");
    let before = middle(&rui, list);
    let made: Vec<Made> =
        ["/a", "/b"].map(|path| make(&site, &ana, &receiver.url(path), &STOCK)).into();
    let rows: Vec<String> = (1..=5_000).map(|n| format!("A-{n},Garrafa {n},20,7")).collect();
    let file = format!("sku,title,price,stock\n{}\n", rows.join("\n"));
    let request = Request::new("POST", "/painel/produtos/importar")
        .header("Accept", "application/json")
        .body("text/csv", file.as_bytes());
    ana.send(request).expect(200);
    until("all wait", Duration::from_mins(1), || {
        made.iter().all(|one| one.read(&ana)["pendentes"] == 5_000).then_some(())
    });
    let after = middle(&rui, list);
    assert!(after < before * 2 + Duration::from_millis(2), "{before:?}, then {after:?}");
    let page = middle(&ana, &made[0].path("/entregas?pagina=20&estado=pendente"));
    assert!(page < before * 10 + Duration::from_millis(20), "{page:?}");
}
