//! Renewal of an account's tokens: once, however many requests need it at the
//! same time, and whatever happens in between.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::sync::{PATIENCE, accounts, joined, shop, wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const FEES: &str = "/painel/ml/calculadora/taxas-json";
/// An access token lives six hours.
const ACCESS_S: i64 = 6 * 3600;

/// Ana's shop, completely read.
fn linked<'s>(world: &World, site: &'s Site) -> Actor<'s> {
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(site, &ana);
    world.forget_requests();
    ana
}

fn refreshes(world: &World) -> Vec<Value> {
    let calls = world.requests().into_iter();
    calls.filter(|call| call["path"] == "/oauth/token").collect()
}

fn is_well(ana: &Actor<'_>) -> bool {
    let account = &accounts(ana)[0];
    account["token_ok"] == true && account["erro"] == Value::Null
}

/// Waits until `count` sales are here.
#[track_caller]
fn arrived(site: &Site, sales: usize) {
    until("the sales are here", PATIENCE, || {
        site.clock().advance_s(5);
        let found = site.stored("SELECT count(*) || '' FROM sale_order");
        (found == [sales.to_string()]).then_some(())
    });
}

#[test]
fn a_hundred_callers_renew_an_ended_token_once() {
    let world = shop();
    let site = joined(&world).start();
    let ana = linked(&world, &site);
    for round in 1..=2 {
        // Remaining work of the round before would renew the token first.
        wait_until_read(&site, &ana);
        wait_until_worked(&world, &site);
        world.forget_requests();
        // The token ends on time, which we know, or early, which we do not know.
        if round == 1 {
            site.clock().advance_s(ACCESS_S + 1);
        } else {
            site.clock().advance_s(61);
            world.end_tokens(LOJA, "expire_access");
        }
        world.configure(&json!({ "hold": true }));
        for _ in 0..10 {
            world.sale(LOJA);
        }
        world.configure(&json!({ "hold": false }));
        ana.post(&format!("/painel/ml/contas/{LOJA}/sincronizar"), &json!({})).ok();
        std::thread::scope(|scope| {
            for turn in 0..20 {
                let ana = &ana;
                scope.spawn(move || {
                    for question in 0..5 {
                        let price = 50 + turn * 5 + question + round * 1_000;
                        let fees = format!("{FEES}?conta={LOJA}&preco={price}&categoria=MLB31447");
                        ana.send_apart(Request::new("GET", &fees)).expect(200);
                    }
                });
            }
        });
        arrived(&site, 10 * round);
        let calls = world.requests();
        let asked = calls.iter().filter(|call| call["ml_user_id"] == LOJA).count();
        assert!(asked >= 100, "{asked} calls");
        assert_eq!(refreshes(&world).len(), 1, "round {round}");
        assert!(is_well(&ana));
    }
    world.no_violations();
}

/// Ends the token and announces a sale; returns when the renewal got this fault.
#[track_caller]
fn renew_with(world: &World, site: &Site, fault: &Value) {
    site.clock().advance_s(ACCESS_S + 1);
    world.fault(fault);
    world.sale(LOJA);
    until("the token is being renewed", PATIENCE, || (!refreshes(world).is_empty()).then_some(()));
}

#[test]
fn a_kill_before_the_marketplace_acted_loses_nothing() {
    let world = shop();
    let site = joined(&world).start();
    linked(&world, &site);
    renew_with(
        &world,
        &site,
        &json!({ "path_prefix": "/oauth/token", "kind": "hang", "ms": 2_000 }),
    );
    site.kill();
    site.start_again();
    arrived(&site, 1);
    assert_eq!(refreshes(&world).len(), 2);
    assert!(is_well(&site.person("ana")));
    world.no_violations();
}

#[test]
fn a_kill_after_the_pair_was_stored_loses_nothing() {
    let world = shop();
    let site = joined(&world).start();
    linked(&world, &site);
    let slow = json!({ "path_prefix": "/orders/", "kind": "slow", "ms": 2_000 });
    renew_with(&world, &site, &slow);
    until("the new token is used", PATIENCE, || {
        let calls = world.requests();
        calls.iter().any(|call| call["fault"] == "slow").then_some(())
    });
    site.kill();
    site.start_again();
    arrived(&site, 1);
    assert_eq!(refreshes(&world).len(), 1, "the stored pair is good");
    assert!(is_well(&site.person("ana")));
    world.no_violations();
}

/// The one moment in which a link is lost: the marketplace has issued a new
/// pair, nobody has received it, and the old one is used up.
#[track_caller]
fn is_lost_and_says_so(world: &World, site: &Site) {
    let ana = site.person("ana");
    until("the link is lost", PATIENCE, || {
        site.clock().advance_s(60);
        (accounts(&ana)[0]["token_ok"] == false).then_some(())
    });
    let account = &accounts(&ana)[0];
    let said = account["erro"].as_str().unwrap();
    assert!(said.contains("Vincule a conta de novo"), "{account}");
    let page = ana.get("/painel/ml").expect(200).text();
    assert!(page.contains(said) && page.contains("/painel/ml/conectar"), "{page}");
    let told = "SELECT title FROM notification WHERE title = 'Vínculo perdido'";
    assert_eq!(site.stored(told).len(), 1);
    // It is not retried repeatedly.
    world.forget_requests();
    for _ in 0..3 {
        site.clock().advance_s(3_600);
        crate::support::cron::run(site);
    }
    assert_eq!(world.requests(), [json!(null); 0]);
    world.link(&site.person("ana"), LOJA);
    arrived(site, 1);
    let ana = site.person("ana");
    wait_until_read(site, &ana);
    assert!(is_well(&ana));
    assert_eq!(site.stored(told).len(), 1);
}

#[test]
fn a_kill_between_the_new_pair_and_its_storing_loses_the_link_and_says_so() {
    let world = shop();
    let site = joined(&world).start();
    linked(&world, &site);
    renew_with(
        &world,
        &site,
        &json!({ "path_prefix": "/oauth/token", "kind": "slow", "ms": 20_000 }),
    );
    site.kill();
    site.start_again();
    is_lost_and_says_so(&world, &site);
    // The marketplace cannot know that its answer did not arrive.
    let broken = world.violations();
    let rules: Vec<&Value> = broken.iter().map(|one| &one["rule"]).collect();
    assert_eq!(rules, ["refresh_reused"]);
    world.forget_violations();
}

#[test]
fn an_answer_that_is_lost_on_its_way_loses_the_link_and_says_so() {
    for kind in ["lost_response", "truncated"] {
        let world = shop();
        let site = joined(&world).start();
        linked(&world, &site);
        renew_with(&world, &site, &json!({ "path_prefix": "/oauth/token", "kind": kind }));
        is_lost_and_says_so(&world, &site);
        world.no_violations();
    }
}

#[test]
fn a_token_endpoint_in_trouble_is_no_lost_link() {
    let world = shop();
    let site = joined(&world).start();
    let ana = linked(&world, &site);
    site.clock().advance_s(ACCESS_S + 1);
    for fault in [
        json!({ "kind": "status", "code": 500 }),
        json!({ "kind": "status", "code": 401 }),
        json!({ "kind": "status", "code": 400, "body": "Bad Request" }),
        json!({ "kind": "garbage" }),
        json!({ "kind": "rate_limited", "retry_after": 3 }),
        json!({ "kind": "redirect", "location": "http://127.0.0.1:9/" }),
        json!({ "kind": "hang", "ms": 50 }),
    ] {
        let mut fault = fault;
        fault["path_prefix"] = "/oauth/token".into();
        world.fault(&fault);
    }
    world.sale(LOJA);
    arrived(&site, 1);
    assert_eq!(refreshes(&world).len(), 8, "seven in vain");
    assert!(is_well(&ana));
    let told = site.stored("SELECT title FROM notification WHERE kind = 8");
    assert_eq!(told, [""; 0]);
    world.no_violations();
}

#[test]
fn a_second_of_patience_is_not_a_lost_link() {
    // During a slow renewal the other requests wait and do not fail.
    let world = shop();
    let site = joined(&world).start();
    linked(&world, &site);
    let begun = std::time::Instant::now();
    renew_with(
        &world,
        &site,
        &json!({ "path_prefix": "/oauth/token", "kind": "slow", "ms": 1_000 }),
    );
    for _ in 0..3 {
        world.sale(LOJA);
    }
    arrived(&site, 4);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(refreshes(&world).len(), 1);
    world.no_violations();
}
