//! From consent to sale, with the simulated marketplace: linking, tokens,
//! signatures, and a marketplace that cannot be reached for a while.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::{Actor, signed_notification};
use crate::support::client::Request;
use crate::support::site::{Builder, CLIENT_ID, Site};
use crate::support::wait::until;
use crate::support::world::{CONSENT_S, World};

const LOJA: u64 = 900_000_001;

/// Longest real time to wait for the workers.
const PATIENCE: Duration = Duration::from_mins(1);

/// Lifetime of an access token at the marketplace.
const ACCESS_S: i64 = 6 * 3600;

/// A shop with a listing.
fn shop() -> World {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica 1 litro", 89.9);
    world
}

fn joined(world: &World) -> Builder {
    Site::builder().unlimited().world(world)
}

/// Ana with her linked shop, and her integration.
fn linked<'s>(world: &World, site: &'s Site) -> Actor<'s> {
    world.link(&site.person("ana"), LOJA);
    let ana = site.seller("ana").plan("starter");
    crate::support::sync::wait_until_read(site, &site.person("ana"));
    ana
}

#[track_caller]
fn total(ana: &Actor<'_>) -> i64 {
    let orders = ana.get("/api/v1/partner/orders").ok();
    orders["pagination"]["total"].as_i64().unwrap()
}

/// Waits for `count` orders; each check advances the clock, so that retries run.
#[track_caller]
fn wait_for_orders(site: &Site, ana: &Actor<'_>, wanted: i64) {
    until("the orders are there", PATIENCE, || {
        site.clock().advance_s(60);
        (total(ana) == wanted).then_some(())
    });
}

#[track_caller]
fn all_received(world: &World) {
    for delivery in world.deliveries() {
        assert_eq!(delivery["status"], 200, "{delivery}");
    }
}

fn calls_of(world: &World, path: &str) -> usize {
    let calls = world.requests();
    calls.iter().filter(|call| call["path"] == path).count()
}

#[test]
fn a_sale_shows_in_the_partner_api_as_the_marketplace_shows_it() {
    let world = shop();
    let site = joined(&world).start();
    let before = json!({ "notify": false, "buyer_nickname": "COMPRADORA" });
    let before = world.sale_with(LOJA, &before);
    let ana = linked(&world, &site);
    until("the sale before the link is read", PATIENCE, || (total(&ana) == 1).then_some(()));
    let order = world.sale(LOJA);
    all_received(&world);
    until("the announced sale is there", PATIENCE, || (total(&ana) == 2).then_some(()));
    let orders = ana.get("/api/v1/partner/orders").ok();
    for sale in [&before, &order] {
        let id = sale["id"].to_string();
        let shown = orders["data"].as_array().unwrap().iter();
        let shown = shown.clone().find(|shown| shown["order_id"] == *id);
        let shown = shown.unwrap_or_else(|| panic!("{id} is missing"));
        assert_eq!(shown["status"], "paid");
        assert_eq!(shown["ml_id"], sale["item"]);
        assert_eq!(shown["total_amount"], 89.9);
        assert_eq!(shown["shipping"]["id"], sale["shipment"]["id"].to_string());
        if sale["id"] == order["id"] {
            assert_eq!(shown["shipping"]["status"], "ready_to_ship");
        } else {
            assert_eq!(shown["buyer_nickname"], "COMPRADORA");
        }
    }
    world.no_violations();
}

#[test]
fn a_marketplace_that_is_away_delays_and_loses_nothing() {
    let world = shop();
    let site = joined(&world).start();
    let ana = linked(&world, &site);
    // A renewal with an unreadable answer would lose the link, so these faults
    // leave `/oauth/token` out.
    for fault in [
        json!({ "path_prefix": "/", "times": 0, "kind": "status", "code": 500 }),
        json!({ "path_prefix": "/orders", "times": 0, "kind": "garbage" }),
        json!({ "path_prefix": "/orders", "times": 0, "kind": "truncated" }),
        json!({ "path_prefix": "/orders", "times": 0, "kind": "lost_response" }),
        json!({ "path_prefix": "/", "times": 0, "kind": "rate_limited", "retry_after": 7 }),
    ] {
        let had = total(&ana);
        world.forget_requests();
        world.fault(&fault);
        for _ in 0..5 {
            world.sale(LOJA);
        }
        all_received(&world);
        until("the platform asks in vain", PATIENCE, || {
            (!world.requests().is_empty()).then_some(())
        });
        assert_eq!(total(&ana), had, "{fault}");
        world.clear_faults();
        wait_for_orders(&site, &ana, had + 5);
    }
}

#[test]
fn what_waits_survives_a_kill() {
    let world = shop();
    let site = joined(&world).start();
    let ana = linked(&world, &site);
    world.fault(&json!({ "path_prefix": "/", "times": 0, "kind": "status", "code": 503 }));
    for _ in 0..5 {
        world.sale(LOJA);
    }
    all_received(&world);
    site.kill();
    site.start_again();
    world.clear_faults();
    wait_for_orders(&site, &ana, 5);
}

#[test]
fn an_expired_token_is_refreshed_once_and_again_with_the_new_one() {
    let world = shop();
    let site = joined(&world).start();
    let ana = linked(&world, &site);
    for round in 1..=3 {
        world.forget_requests();
        site.clock().advance_s(ACCESS_S + 1);
        world.configure(&json!({ "hold": true }));
        for _ in 0..4 {
            world.sale(LOJA);
        }
        world.configure(&json!({ "hold": false }));
        all_received(&world);
        until("the sales are there", PATIENCE, || (total(&ana) == 4 * round).then_some(()));
        assert_eq!(calls_of(&world, "/oauth/token"), 1, "round {round}");
    }
    // A token that ended early is refreshed, too.
    world.forget_requests();
    world.end_tokens(LOJA, "expire_access");
    world.sale(LOJA);
    until("the sale is there", PATIENCE, || (total(&ana) == 13).then_some(()));
    assert_eq!(calls_of(&world, "/oauth/token"), 1);
    world.no_violations();
}

#[test]
fn a_refused_refresh_is_told_once_and_ends_the_calls() {
    let world = shop();
    let site = joined(&world).start();
    linked(&world, &site);
    let extension = site.extension("ana");
    world.end_tokens(LOJA, "revoke");
    let account = || {
        let check = format!("/api/ext/ml/check?seller_id={LOJA}");
        extension.get(&check).ok()["conta"].clone()
    };
    assert_eq!(account()["erro"], Value::Null);
    world.sale(LOJA);
    until("the link is lost", PATIENCE, || (account()["token_ok"] == false).then_some(()));
    assert!(account()["erro"].as_str().is_some_and(|e| !e.is_empty()));
    world.deliveries();
    world.forget_requests();
    for _ in 0..3 {
        world.sale(LOJA);
    }
    all_received(&world);
    site.clock().advance_s(3600);
    // A stop waits for running work, so nothing is requested after it.
    site.stop();
    site.start_again();
    assert_eq!(world.requests(), [json!(null); 0]);
    let me = extension.get("/api/ext/me").ok();
    let told = me["ml"]["notificacoes"].as_array().unwrap().iter();
    let told = told.filter(|one| one["tipo"] == "sistema").count();
    assert_eq!(told, 1, "{me}");
    world.link(&site.person("ana"), LOJA);
    assert_eq!(account()["token_ok"], true);
    assert_eq!(account()["erro"], Value::Null);
}

#[test]
fn an_account_has_one_owner_until_it_is_unlinked() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    let rui = site.person("rui");
    world.link(&rui, LOJA);
    let check = format!("/api/ext/ml/check?seller_id={LOJA}");
    let owns = |name: &str| site.extension(name).get(&check).ok()["vinculada"].clone();
    assert_eq!((owns("ana"), owns("rui")), (json!(true), json!(false)));
    let unlink = format!("/painel/ml/contas/{LOJA}/desvincular");
    rui.send(Request::new("POST", &unlink).form(&[]));
    assert_eq!(owns("ana"), true);
    ana.send(Request::new("POST", &unlink).form(&[])).expect(303);
    assert_eq!(owns("ana"), false);
    // The marketplace was told of it, and only by the owner of the account.
    let told = || {
        let calls = world.requests();
        let told = calls.iter().filter(|call| call["method"] == "DELETE");
        told.map(|call| call["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = told();
    assert_eq!(first.len(), 1, "{first:?}");
    let grant = format!("/users/{LOJA}/applications/");
    assert!(first[0].starts_with(&grant), "{first:?}");
    world.link(&rui, LOJA);
    assert_eq!((owns("ana"), owns("rui")), (json!(false), json!(true)));
    // When the marketplace cannot be reached, the account is unlinked as well.
    let away = json!({ "path_prefix": "/users/", "times": 0, "kind": "status", "code": 503 });
    world.fault(&away);
    rui.send(Request::new("POST", &unlink).form(&[])).expect(303);
    assert_eq!((owns("rui"), told().len()), (json!(false), 2));
}

#[test]
fn a_consent_counts_though_the_account_cannot_be_looked_at() {
    let world = shop();
    let site = joined(&world).start();
    for (kind, notice) in [("garbage", "foi vinculada"), ("truncated", "voltou a funcionar")] {
        let ana = site.person("ana");
        world.fault(&json!({ "path_prefix": "/users/me", "times": 0, "kind": kind }));
        let back = ana.get(&world.consent(&ana, LOJA)).expect(303);
        assert_eq!(back.header("location"), Some("/painel/ml"));
        let page = ana.get("/painel/ml").expect(200).text();
        assert!(page.contains(notice), "no {notice:?} in {page}");
        world.clear_faults();
        // The token pair from the consent is stored and works.
        crate::support::sync::run_after(&site, 7 * 3_600);
        let ana = site.person("ana");
        crate::support::sync::wait_until_read(&site, &ana);
        let account = &crate::support::sync::accounts(&ana)[0];
        assert_eq!(account["token_ok"], true, "{account}");
        assert_eq!(account["nickname"], "LOJA DA ANA");
    }
    world.no_violations();
}

#[test]
fn a_consent_works_once_for_who_asked_and_for_ten_minutes() {
    let world = shop();
    let site = joined(&world).start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let consent = |person: &Actor<'_>| world.consent(person, LOJA);
    // The notice on the page, which is shown once.
    let told = |person: &Actor<'_>, target: &str| {
        let reply = person.get(target).expect(303);
        let page = reply.header("location").unwrap();
        let said = person.get(page).expect(200).text();
        assert!(!person.get(page).expect(200).text().contains("class=\"notice good\""));
        said.contains("foi vinculada") || said.contains("voltou a funcionar")
    };
    let stolen = consent(&ana);
    assert!(!told(&rui, &stolen));
    let late = consent(&ana);
    site.clock().advance_s(CONSENT_S + 1);
    assert!(!told(&ana, &late));
    let good = consent(&ana);
    assert!(told(&ana, &good));
    assert!(!told(&ana, &good));
}

#[test]
fn a_forged_notification_changes_nothing() {
    let site = Site::builder().unlimited().config("marketplace.signature_max_age_s", 300).start();
    let nobody = site.anonymous();
    let now = || site.clock().now().as_second();
    let genuine = |id: &str| signed_notification("/orders/1", "orders_v2", LOJA, id, now());
    let refused = |what: &str, request: Request| {
        let reply = nobody.send(request);
        assert_eq!(reply.status, 401, "{what}\n{reply}");
        assert_eq!(reply.code(), "invalid_signature", "{what}\n{reply}");
    };
    let replaced = |name: &str, value: &str| {
        let mut request = genuine("um-pedido");
        request.headers.retain(|(known, _)| known != name);
        if value.is_empty() {
            return request;
        }
        request.header(name, value)
    };
    let zeros = "0".repeat(64);
    refused("no signature", replaced("X-Signature", ""));
    refused("zeros", replaced("X-Signature", &format!("ts={};v1={zeros}", now())));
    refused("rubbish", replaced("X-Signature", "ts;v1"));
    refused("another request id", replaced("X-Request-Id", "outro"));
    refused("no request id", replaced("X-Request-Id", ""));
    let stale = signed_notification("/orders/1", "orders_v2", LOJA, "a", now() - 301);
    refused("too old", stale);
    let early = signed_notification("/orders/1", "orders_v2", LOJA, "a", now() + 120);
    refused("from the future", early);
    let mut other = genuine("a");
    let body: Value = serde_json::from_slice(other.body.as_deref().unwrap()).unwrap();
    let mut body = body;
    body["resource"] = "/orders/2".into();
    other.body = Some(body.to_string().into_bytes());
    refused("another resource", other);
    let mut queried = genuine("a");
    queried.target = "/ml/notificacoes?data.id=2".to_owned();
    refused("a query for another resource", queried);
    let first = nobody.send(genuine("certo")).expect(200);
    assert_eq!(first.json()["data"]["status"], "received");
    let again = nobody.send(genuine("certo")).expect(200);
    assert_eq!(first.body, again.body, "the same again is answered alike");
}

#[test]
fn where_signatures_are_optional_only_our_own_unsigned_ones_pass() {
    let world = shop();
    let site = joined(&world).start();
    linked(&world, &site);
    let nobody = site.anonymous();
    let ours: u64 = CLIENT_ID.parse().unwrap();
    let unsigned = |user: u64, application: u64| {
        Request::new("POST", "/ml/notificacoes").json(&json!({
            "resource": "/orders/1", "topic": "orders_v2",
            "user_id": user, "application_id": application,
        }))
    };
    nobody.send(unsigned(LOJA, ours)).expect(200);
    nobody.send(unsigned(LOJA, ours + 1)).expect(401);
    nobody.send(unsigned(LOJA + 1, ours)).expect(401);
    let forged = format!("ts=1;v1={}", "0".repeat(64));
    let forged = unsigned(LOJA, ours).header("X-Signature", &forged).header("X-Request-Id", "a");
    nobody.send(forged).expect(401);
    world.configure(&json!({ "string_ids": true, "missing_slash": true }));
    world.sale(LOJA);
    all_received(&world);
}

#[test]
fn signatures_come_in_several_spellings() {
    let world = shop();
    world.configure(&json!({ "sign": true }));
    let site = joined(&world).config("marketplace.signature", "required").start();
    let ana = linked(&world, &site);
    for (count, switches) in (1..).zip([
        json!({ "separator": "," }),
        json!({ "ts_milliseconds": true }),
        json!({ "string_ids": true }),
        json!({ "missing_slash": true }),
        json!({ "mixed_dates": true }),
        json!({ "partial_orders": true }),
    ]) {
        world.configure(&switches);
        world.sale(LOJA);
        all_received(&world);
        until(&switches.to_string(), PATIENCE, || (total(&ana) == count).then_some(()));
    }
}
