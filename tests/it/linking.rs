//! From consent to sale: a seller links an account, a sale arrives, and the
//! platform shows what the marketplace shows.

use std::time::Duration;

use serde_json::json;

use crate::process::until;
use crate::site::Site;
use crate::world::World;

const LOJA: u64 = 900_000_001;

#[test]
fn a_sale_shows_in_the_partner_api_whether_or_not_it_was_announced() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica 1 litro", 89.9);
    let site = Site::builder().unlimited().world(&world).start();
    let person = site.person("ana");
    world.link(&person, LOJA);
    let ana = site.seller("ana").plan("starter");
    assert_eq!(
        ana.get("/api/v1/partner/health").ok()["user"]["id"],
        person.person().id.as_str()
    );

    let order = world.sale(LOJA);
    for delivery in world.deliveries() {
        assert_eq!(delivery["status"], 200, "{delivery}");
    }
    let orders = || ana.get("/api/v1/partner/orders").ok();
    let first = until("the sale is there", Duration::from_secs(10), || {
        orders()["data"].get(0).cloned()
    });
    assert_eq!(first["order_id"], order["id"].to_string());
    assert_eq!(first["status"], "paid");

    // Nobody tells the platform about the second; the next sync finds it.
    world.sale_with(LOJA, &json!({ "notify": false }));
    site.clock().advance_s(3600);
    site.cron();
    assert_eq!(orders()["pagination"]["total"], 2);
    assert!(!world.requests().is_empty(), "the marketplace was asked");
    assert_eq!(world.violations(), [json!(null); 0]);
}

#[test]
fn a_forged_notification_changes_nothing() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    let site = Site::builder().world(&world).start();
    let signed = crate::actors::signed_notification("/orders/1", "orders_v2", LOJA, "um-pedido");
    let nobody = site.anonymous();
    let mut forged = signed.clone();
    forged.headers[0].1 = format!("ts=1795176000;v1={}", "0".repeat(64));
    assert_eq!(nobody.send(forged).expect(401).code(), "invalid_signature");
    let mut other = signed.clone();
    other.headers[1].1 = "outro-pedido".to_owned();
    assert_eq!(nobody.send(other).expect(401).code(), "invalid_signature");
    let mut unsigned = signed.clone();
    unsigned.headers.remove(0);
    nobody.send(unsigned).expect(401);
    let received = nobody.send(signed).ok();
    assert_eq!(received["data"]["status"], "received");
}

#[test]
fn an_unreachable_marketplace_delays_and_loses_nothing() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica 1 litro", 89.9);
    let site = Site::builder().unlimited().world(&world).start();
    let person = site.person("ana");
    world.link(&person, LOJA);
    let ana = site.seller("ana").plan("starter");
    world.fault(&json!({
        "path_prefix": "/orders", "times": 1, "kind": "status", "code": 500,
    }));

    world.sale(LOJA);
    for delivery in world.deliveries() {
        assert_eq!(delivery["status"], 200, "{delivery}");
    }
    until("the sale is there", Duration::from_secs(20), || {
        // Each look lets the time pass that a retry waits for.
        site.clock().advance_s(60);
        ana.get("/api/v1/partner/orders").ok()["data"]
            .get(0)
            .cloned()
    });
    world.end_tokens(LOJA, "revoke");
    world.notify(LOJA, "items", "/items/MLB1");
    assert_eq!(world.deliveries().last().unwrap()["status"], 200);
}
