//! Listings, questions, claims and shipments of a linked account: after a
//! notification of the marketplace, the database has what the marketplace has.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::sync::{wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::World;

const LOJA: u64 = 900_000_001;
const OUTRA: u64 = 900_000_002;

/// Longest real time to wait for the workers.
const PATIENCE: Duration = Duration::from_mins(1);

/// Ana's linked shop with one listing, completely read, on a site that gets
/// notifications of changes.
fn linked(world: &World) -> (Site, String) {
    world.seller(LOJA, "LOJA DA ANA");
    let item = world.item(LOJA, "Garrafa térmica", 89.9);
    let site = Site::builder().unlimited().world(world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    (site, item)
}

/// Waits until a query finds these texts.
#[track_caller]
fn shows(site: &Site, sql: &str, expected: &[&str]) {
    until(sql, PATIENCE, || {
        site.clock().advance_s(7);
        (site.stored(sql) == expected).then_some(())
    });
}

fn told(site: &Site) -> Vec<String> {
    site.stored(
        "SELECT kind || ' ' || title FROM notification WHERE kind <> 8 ORDER BY notification_id",
    )
}

fn account(ana: &Actor<'_>) -> Value {
    ana.get("/api/ext/me").ok()["ml"]["contas"][0].clone()
}

const LISTING: &str = "SELECT w.text || ' ' || l.sub_status || ' ' || l.price_cents || ' ' || l.available || ' ' || l.sku
                       FROM listing l JOIN word w ON w.word_id = l.status";
const QUESTION: &str =
    "SELECT state || ' ' || status || ' ' || coalesce(answer, '-') FROM question";
const CLAIM: &str = "SELECT state || ' ' || stage || ' ' || action || ' ' || resolution FROM claim";

#[test]
fn a_listing_is_mirrored_and_told_of_when_it_ends_by_itself() {
    let world = World::start();
    let (site, item) = linked(&world);
    let change = |what: &Value| world.control(&format!("/_sandbox/items/{item}"), what);
    change(&json!({ "price": 79.5, "stock": 3, "sku": "GAR-1" }));
    wait_until_worked(&world, &site);
    shows(&site, LISTING, &["active  7950 3 GAR-1"]);

    site.clock().advance_s(60);
    change(&json!({ "stock": 0 }));
    wait_until_worked(&world, &site);
    shows(&site, LISTING, &["paused out_of_stock 7950 0 GAR-1"]);
    assert_eq!(told(&site), ["4 Anúncio sem estoque"]);
    let ana = site.extension("ana");
    assert_eq!(account(&ana)["anuncios"], 1);

    site.clock().advance_s(60);
    change(&json!({ "status": "closed" }));
    wait_until_worked(&world, &site);
    until("it has ended", PATIENCE, || {
        site.clock().advance_s(7);
        site.stored(LISTING)[0].starts_with("closed").then_some(())
    });
    assert_eq!(told(&site).len(), 1, "it was not active any more");
    world.no_violations();
}

#[test]
fn a_question_waits_once_and_its_answer_is_seen() {
    let world = World::start();
    let (site, _) = linked(&world);
    site.clock().advance_s(60);
    world.configure(
        &json!({ "duplicates": 2, "reorder": true, "missing_slash": true, "string_ids": true }),
    );
    let asked = world.control(
        "/_sandbox/questions",
        &json!({ "ml_user_id": LOJA, "text": "Serve na bicicleta?" }),
    );
    wait_until_worked(&world, &site);
    shows(&site, QUESTION, &["1 UNANSWERED -"]);
    assert_eq!(told(&site), ["3 Nova pergunta"]);
    let ana = site.extension("ana");
    assert_eq!(account(&ana)["perguntas"], 1);

    let question = format!("/_sandbox/questions/{}", asked["id"]);
    world.control(&question, &json!({ "answer": "Serve sim" }));
    wait_until_worked(&world, &site);
    shows(&site, QUESTION, &["2 ANSWERED Serve sim"]);
    assert_eq!(account(&ana)["perguntas"], 0);
    assert_eq!(told(&site).len(), 1);
    world.no_violations();
}

#[test]
fn a_claim_is_told_and_counted_until_it_ends() {
    let world = World::start();
    let (site, _) = linked(&world);
    site.clock().advance_s(60);
    world.sale(LOJA);
    wait_until_worked(&world, &site);
    let opened = world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    wait_until_worked(&world, &site);
    until("the claim is here", PATIENCE, || {
        site.clock().advance_s(7);
        (site.stored(CLAIM).len() == 1).then_some(())
    });
    assert_eq!(told(&site), ["1 Nova venda", "2 Nova reclamação"]);
    let ana = site.extension("ana");
    assert_eq!(account(&ana)["reclamacoes"], 1);

    let claim = format!("/_sandbox/claims/{}", opened["id"]);
    world.control(&claim, &json!({ "status": "closed", "resolution": "payment_refunded" }));
    wait_until_worked(&world, &site);
    until("the claim has ended", PATIENCE, || {
        site.clock().advance_s(7);
        let shown = site.stored(CLAIM);
        (shown[0].starts_with('2') && shown[0].ends_with("payment_refunded")).then_some(())
    });
    assert_eq!(account(&ana)["reclamacoes"], 0);
    world.no_violations();
}

#[test]
fn a_shipment_moves_its_order() {
    let world = World::start();
    let (site, _) = linked(&world);
    let sale = world.sale_with(LOJA, &json!({ "shipping": "now", "notify": true }));
    wait_until_worked(&world, &site);
    let shipping = "SELECT w.text FROM sale_order o JOIN word w ON w.word_id = o.shipping_status";
    shows(&site, shipping, &["ready_to_ship"]);
    // The change itself sends no notification; that of the shipment does.
    let order = format!("/_sandbox/orders/{}", sale["id"]);
    world.control(&order, &json!({ "shipping_status": "shipped", "notify": false }));
    let shipment = format!("/shipments/{}", sale["shipment"]["id"]);
    let told = json!({ "ml_user_id": LOJA, "topic": "shipments", "resource": shipment });
    world.control("/_sandbox/notifications", &told);
    wait_until_worked(&world, &site);
    shows(&site, shipping, &["shipped"]);
    world.no_violations();
}

#[test]
fn an_area_that_refuses_does_not_end_the_link() {
    let world = World::start();
    let (site, item) = linked(&world);
    wait_until_worked(&world, &site);
    world.forget_requests();
    world.fault(&json!({ "path_prefix": "/questions", "times": 0, "kind": "status", "code": 401 }));
    world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA }));
    world.deliveries();
    for _ in 0..40 {
        site.clock().advance_s(30);
    }
    let waiting =
        "SELECT topic || ' ' || outcome FROM ml_notification WHERE state = 0 AND attempts > 1";
    shows(&site, waiting, &["questions refused with 401 area_refused"]);
    // Listings are still read, and the link is valid.
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "stock": 5 }));
    until("the listing is here", PATIENCE, || {
        (site.stored("SELECT available || '' FROM listing") == ["5"]).then_some(())
    });
    let ana = site.extension("ana");
    assert_eq!(account(&ana)["token_ok"], true);
    let refreshed = world.requests().iter().filter(|call| call["path"] == "/oauth/token").count();
    assert!(refreshed <= 6, "{refreshed} times renewed");

    world.clear_faults();
    until("the question comes in after all", PATIENCE, || {
        site.clock().advance_s(60);
        (site.stored(QUESTION) == ["1 UNANSWERED -"]).then_some(())
    });
}

#[test]
fn what_is_anothers_or_leads_elsewhere_is_passed_over() {
    let world = World::start();
    let (site, _) = linked(&world);
    world.seller(OUTRA, "OUTRA LOJA");
    let theirs = world.item(OUTRA, "Panela", 10.0);
    wait_until_worked(&world, &site);
    world.forget_requests();
    for (topic, resource) in [
        ("items", format!("/items/{theirs}")),
        ("items", "/items/../users/555".to_owned()),
        ("questions", "/questions/1/x".to_owned()),
        ("post_purchase", "/post-purchase/v2/returns/1".to_owned()),
        ("shipments", "/shipments/1/../../users/555".to_owned()),
    ] {
        let told = json!({ "ml_user_id": LOJA, "topic": topic, "resource": resource });
        world.control("/_sandbox/notifications", &told);
    }
    wait_until_worked(&world, &site);
    assert_eq!(
        site.stored("SELECT state || ' ' || outcome FROM ml_notification WHERE outcome <> 'applied' ORDER BY outcome"),
        [
            "2 the listing is another account's",
            "2 the resource is not a claim",
            "2 the resource is not a listing",
            "2 the resource is not a question",
            "2 the resource is not a shipment",
        ]
    );
    let calls = world.requests();
    let paths: Vec<&str> = calls.iter().filter_map(|call| call["path"].as_str()).collect();
    for part in ["users/555", "returns", "/questions/1", "/shipments/"] {
        assert!(!paths.iter().any(|path| path.contains(part)), "{paths:?}");
    }
}

#[test]
fn unlinking_takes_away_what_only_shows_how_things_stand() {
    let world = World::start();
    let (site, item) = linked(&world);
    site.clock().advance_s(60);
    world.sale(LOJA);
    world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA }));
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "stock": 5 }));
    wait_until_worked(&world, &site);
    let rows =
        "SELECT (SELECT count(*) FROM listing) || ' ' || (SELECT count(*) FROM question) || ' '
                || (SELECT count(*) FROM claim) || ' ' || (SELECT count(*) FROM sale_order)";
    shows(&site, rows, &["1 1 1 1"]);
    let ana = site.person("ana");
    ana.post(&format!("/painel/ml/contas/{LOJA}/desvincular"), &json!({})).ok();
    shows(&site, rows, &["0 0 0 1"]);
    shows(&site, "SELECT count(*) || '' FROM ml_unlinked", &["0"]);
    assert_eq!(site.stored("SELECT count(*) || '' FROM listing_count"), ["0"]);
    // The sales are kept, and can be filtered by their account.
    let sales = crate::support::cron::json_of(&ana, &format!("/painel/vendas?conta={LOJA}"));
    assert_eq!(sales["total"], 1, "{sales}");
}

#[test]
fn what_was_given_up_is_worked_from_the_panel() {
    let world = World::start();
    let (site, item) = linked(&world);
    wait_until_worked(&world, &site);
    world.fault(&json!({ "path_prefix": "/items/", "times": 0, "kind": "status", "code": 403 }));
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "stock": 8 }));
    world.deliveries();
    let id = "SELECT notification_id || '' FROM ml_notification WHERE topic = 'items' AND attempts > 0 AND state = 0";
    until("it was tried", PATIENCE, || (site.stored(id).len() == 1).then_some(()));
    let id = site.stored(id).remove(0);
    for _ in 0..3 {
        site.clock().advance_s(3 * 86_400);
    }
    until("it is given up", PATIENCE, || {
        site.clock().advance_s(300);
        let state = "SELECT state || '' FROM ml_notification WHERE topic = 'items' ORDER BY notification_id DESC LIMIT 1";
        (site.stored(state) == ["3"]).then_some(())
    });
    world.clear_faults();
    let admin = site.administrator();
    admin.post(&format!("/admin/notificacoes/{id}/reprocessar"), &json!({})).ok();
    until("the listing is here", PATIENCE, || {
        (site.stored("SELECT available || '' FROM listing") == ["8"]).then_some(())
    });
}

#[test]
fn notifications_are_marked_as_read_by_their_owner_alone() {
    let world = World::start();
    let (site, _) = linked(&world);
    site.clock().advance_s(60);
    for _ in 0..3 {
        world.sale(LOJA);
    }
    wait_until_worked(&world, &site);
    let (ana, rui) = (site.extension("ana"), site.extension("rui"));
    let shown = ana.get("/api/ext/me").ok()["ml"].take();
    assert_eq!(shown["total_notifs"], 3);
    let ids: Vec<&Value> =
        shown["notificacoes"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    let read = |who: &Actor<'_>, body: &Value| who.post("/api/ext/notificacoes/lidas", body);

    // Another person's ids and unknown ids mark nothing.
    assert_eq!(read(&rui, &json!({ "ids": ids })).ok(), json!({ "ok": true, "lidas": 0 }));
    assert_eq!(read(&rui, &json!({ "todas": true })).ok()["lidas"], 0);
    assert_eq!(read(&ana, &json!({ "ids": ["999999"] })).ok()["lidas"], 0);
    assert_eq!(ana.get("/api/ext/me").ok()["ml"]["total_notifs"], 3);

    // One twice counts once.
    assert_eq!(read(&ana, &json!({ "ids": [ids[0], ids[0]] })).ok()["lidas"], 1);
    assert_eq!(ana.get("/api/ext/me").ok()["ml"]["total_notifs"], 2);

    // The same in the panel, where each leads to its subject.
    let (panel, others) = (site.person("ana"), site.person("rui"));
    let page = panel.get("/painel/avisos").expect(200).text();
    assert_eq!(page.matches("href=\"/painel/vendas/").count(), 3, "{page}");
    let form = || {
        let fields = [("ids", ids[1].as_str().unwrap()), ("pagina", "2")];
        Request::new("POST", "/painel/avisos/lidos").form(&fields)
    };
    others.send(form()).expect(303);
    assert_eq!(ana.get("/api/ext/me").ok()["ml"]["total_notifs"], 2);
    let back = panel.send(form()).expect(303);
    assert_eq!(back.header("location"), Some("/painel/avisos?pagina=2"));
    assert_eq!(ana.get("/api/ext/me").ok()["ml"]["total_notifs"], 1);
    let many = json!({ "ids": ["um"] });
    panel.post("/painel/avisos/lidos", &many).expect(422);

    assert_eq!(read(&ana, &json!({ "todas": true })).ok(), json!({ "ok": true, "lidas": 1 }));
    let after = ana.get("/api/ext/me").ok()["ml"].take();
    assert_eq!((&after["total_notifs"], &after["notificacoes"]), (&json!(0), &json!([])));

    // All or nothing: every invalid field is named and nothing is marked.
    for (body, field) in [
        (json!({}), "ids"),
        (json!({ "todas": false }), "ids"),
        (json!({ "ids": "1" }), "ids"),
        (json!({ "ids": ["um"] }), "ids"),
        (json!({ "ids": vec!["1"; 501] }), "ids"),
        (json!({ "todas": "sim" }), "todas"),
    ] {
        let refused = read(&ana, &body).expect(422).json();
        assert_eq!(refused["code"], "validation_failed", "{body}");
        assert!(refused["fields"].get(field).is_some(), "{body}: {refused}");
    }
    site.anonymous().post("/api/ext/notificacoes/lidas", &json!({ "todas": true })).expect(401);
}
