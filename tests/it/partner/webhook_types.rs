//! What else than orders is told when it ends or changes: once for each change, and nothing
//! of the history of an account.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dropshipping::{Trade, data, done, path};
use crate::support::hooked::{Hit, Receiver, make, near};
use crate::support::shop::Shop;
use crate::support::sync::{joined, shop, wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::LOJA;

const ENDS: [&str; 3] = ["order.delivered", "question.answered", "claim.closed"];
const UNLINK: &str = "/desvincular";

fn kinds(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(Hit::kind).collect()
}

#[test]
fn what_ends_is_told_once_with_its_object() {
    let shop = Shop::open_with(near);
    let (ana, receiver) = (shop.ana(), Receiver::start());
    let made = make(&shop.site, &ana, &receiver.url("/"), &ENDS);
    let change = |path: &str, fields: &Value| {
        let made = shop.world.control(&format!("/_sandbox/{path}"), fields);
        wait_until_worked(&shop.world, &shop.site);
        made
    };
    let (order, _) = shop.sell(LOJA, true);
    let question = change("questions", &json!({ "ml_user_id": LOJA, "text": "Tem azul?" }));
    let number: i64 = order.parse().unwrap();
    let claim = change("claims", &json!({ "ml_user_id": LOJA, "order": number }));
    let (order, question, claim) = (
        format!("orders/{order}"),
        format!("questions/{}", question["id"]),
        format!("claims/{}", claim["id"]),
    );
    change(&order, &json!({ "shipping_status": "shipped", "notify": true }));
    change(&order, &json!({ "shipping_status": "delivered", "notify": true }));
    let delivered = receiver.wait_for(1).remove(0).json();
    assert_eq!(delivered["data"]["shipping"]["status"], "delivered");
    change(&question, &json!({ "answer": "Tem sim." }));
    let answered = receiver.wait_for(2).remove(1).json();
    let data = &answered["data"];
    assert_eq!((&data["status"], &data["answer"]), (&json!("answered"), &json!("Tem sim.")));
    assert!(data["answered_at_rfc3339"].is_string(), "{answered}");
    change(&claim, &json!({ "status": "closed", "resolution": "payment_refunded" }));
    let closed = receiver.wait_for(3).remove(2).json();
    assert_eq!(closed["data"]["status"], "closed");
    assert!(closed["data"]["updated_at"].is_string(), "{closed}");

    // The same again is no change, and a claim that was opened again closes again.
    change(&order, &json!({ "status": "paid", "notify": true }));
    shop.world.clock().advance_s(5);
    change(&claim, &json!({ "status": "opened" }));
    shop.world.clock().advance_s(5);
    change(&claim, &json!({ "status": "closed" }));
    shop.world.link(&ana, LOJA);
    wait_until_read(&shop.site, &ana);
    made.test(&ana);
    let told = kinds(&receiver.wait_for(5));
    let expected = [ENDS[0], ENDS[1], ENDS[2], "claim.closed", "endpoint.test"];
    assert_eq!(told, expected);
}

/// A shop whose owner's program is told of listings, and a listing that just came.
fn shop_with_a_new_listing() -> (Shop, Receiver, String) {
    let shop = Shop::open_with(near);
    let receiver = Receiver::start();
    make(&shop.site, &shop.ana(), &receiver.url("/"), &["listing.changed"]);
    shop.world.clock().advance_s(5);
    let item =
        json!({ "ml_user_id": LOJA, "title": "Copo", "price": 10, "stock": 5, "notify": true });
    let id = shop.world.control("/_sandbox/items", &item)["id"].as_str().unwrap().to_owned();
    wait_until_worked(&shop.world, &shop.site);
    (shop, receiver, id)
}

#[test]
fn a_listing_is_told_as_it_is_listed() {
    let (shop, receiver, id) = shop_with_a_new_listing();
    let new = receiver.wait_for(1).remove(0).json();
    assert_eq!((&new["data"]["ml_id"], &new["data"]["title"]), (&json!(id), &json!("Copo")));
    shop.world.clock().advance_s(5);
    shop.world.control(&format!("/_sandbox/items/{id}"), &json!({ "price": 12, "notify": true }));
    wait_until_worked(&shop.world, &shop.site);
    let changed = receiver.wait_for(2).remove(1).json();
    assert_eq!(changed["data"]["price"], 12);
    let seller = shop.site.seller("ana").plan("pro");
    let listed = until("the plan is known", Duration::from_secs(20), || {
        let reply = seller.get(&format!("/api/v1/partner/announcements?q={id}"));
        (reply.status == 200).then(|| reply.json())
    });
    assert_eq!(changed["data"], listed["data"][0], "the object is as the API shows it");
}

#[test]
fn a_listing_that_is_gone_is_told_as_it_was_but_closed() {
    let (shop, receiver, id) = shop_with_a_new_listing();
    let new = receiver.wait_for(1).remove(0).json()["data"].take();
    shop.world.clock().advance_s(5);
    shop.world
        .fault(&json!({ "path_prefix": "/items", "times": 0, "kind": "status", "code": 404 }));
    shop.world.control(&format!("/_sandbox/items/{id}"), &json!({ "price": 12, "notify": true }));
    let gone = until("that it is gone is told", Duration::from_secs(20), || {
        shop.site.clock().advance_s(60);
        receiver.hits().into_iter().nth(1)
    });
    let gone = gone.json()["data"].take();
    assert_eq!(
        (&gone["status"], &gone["available_quantity"]),
        (&json!("closed"), &json!(0)),
        "{gone}"
    );
    for same in ["ml_id", "ml_user_id", "title", "price", "currency"] {
        assert_eq!(gone[same], new[same], "{same}");
    }
    assert_ne!(gone["updated_at"], new["updated_at"]);
    let seller = shop.site.seller("ana").plan("pro");
    let listed = seller.get(&format!("/api/v1/partner/announcements?q={id}")).ok();
    assert_eq!(listed["pagination"]["total"], 0, "it is in no list: {listed}");
}

#[test]
fn a_drop_order_that_comes_back_is_told_each_time() {
    let trade = Trade::open_with(near);
    let (sol, receiver) = (trade.sol(), Receiver::start());
    let types = ["drop_order.created", "drop_order.paid", "drop_order.cancelled"];
    let asked = json!({ "url": receiver.url("/"), "events": types });
    let made = sol.post(&path("/webhooks"), &asked).ok()["data"].clone();
    trade.shop.site.keep_secret("webhook secret", made["secret"].as_str().unwrap());
    trade.link_and_sell(&[1]);
    let told = |number: usize| {
        let hit = receiver.wait_for(number).remove(number - 1);
        let said = hit.json();
        (said["type"].as_str().unwrap().to_owned(), said["data"].clone())
    };
    let (first, order) = told(1);
    assert_eq!(first, "drop_order.created");
    let sale = order["order_id"].as_str().unwrap();
    let becomes = |status: &str| {
        trade.shop.world.clock().advance_s(5);
        trade.change(sale, &json!({ "status": status, "notify": true }));
    };
    let expect = |number: usize, kind: &str, status: &str| {
        let (said, data) = told(number);
        assert_eq!((&*said, data["status"].as_str()), (kind, Some(status)), "{number}: {data}");
    };
    becomes("cancelled");
    expect(2, "drop_order.cancelled", "cancelled");
    becomes("paid");
    expect(3, "drop_order.created", "pending");
    done(&sol, "/orders/paid", &json!({ "order_id": sale }));
    expect(4, "drop_order.paid", "paid");
    becomes("cancelled");
    expect(5, "drop_order.cancelled", "cancelled");
    becomes("paid");
    expect(6, "drop_order.paid", "paid");
    // What changes nothing of it is not told.
    trade.change(sale, &json!({ "shipping_status": "shipped", "notify": true }));
    becomes("cancelled");
    expect(7, "drop_order.cancelled", "cancelled");
    let kept = data(&sol, "/events?type=drop_order.cancelled");
    assert_eq!(kept.len(), 3);
}

#[test]
fn who_loses_an_account_is_told_why() {
    let shop = Shop::open_with(near);
    let (ana, receiver) = (shop.ana(), Receiver::start());
    make(&shop.site, &ana, &receiver.url("/"), &["store.disconnected"]);
    let account = format!("/painel/ml/contas/{LOJA}");
    ana.post(&format!("{account}{UNLINK}"), &json!({})).ok();
    let told = receiver.wait_for(1).remove(0).json();
    let expected = json!({
        "ml_user_id": LOJA.to_string(), "nickname": "LOJA DA ANA", "reason": "unlinked", "error": null
    });
    assert_eq!((&told["type"], &told["data"]), (&json!("store.disconnected"), &expected));
    shop.world.link(&ana, LOJA);
    wait_until_read(&shop.site, &ana);
    shop.world.end_tokens(LOJA, "revoke");
    shop.site.clock().advance_s(7 * 3600);
    shop.world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA, "text": "Oi?" }));
    let told = receiver.wait_for(2).remove(1).json();
    assert_eq!(told["data"]["reason"], "refused");
    assert!(told["data"]["error"].as_str().unwrap().contains("Vincule"), "{told}");
}

#[test]
fn the_history_of_an_account_is_not_told() {
    let (world, receiver) = (shop(), Receiver::start());
    let question = world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA }));
    let path = format!("/_sandbox/questions/{}", question["id"]);
    world.control(&path, &json!({ "answer": "Tem." }));
    let order = world.sale(LOJA)["id"].clone();
    let claim = world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA, "order": order }));
    world.control(&format!("/_sandbox/claims/{}", claim["id"]), &json!({ "status": "closed" }));
    let delivered = json!({ "shipping_status": "delivered", "notify": false });
    world.control(&format!("/_sandbox/orders/{order}"), &delivered);
    let site = near(joined(&world)).start();
    let ana = site.person("ana");
    let all = [&ENDS[..], &["listing.changed", "store.disconnected"]].concat();
    let made = make(&site, &ana, &receiver.url("/"), &all);
    world.clock().advance_s(60);
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    made.test(&ana);
    assert_eq!(receiver.wait_for(1)[0].kind(), "endpoint.test");
    let waiting = site.stored("SELECT count(*) || '' FROM webhook_event");
    assert_eq!((waiting, made.deliveries(&ana).len()), (vec!["0".to_owned()], 1));
}
