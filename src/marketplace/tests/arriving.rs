//! Notifications: from delivery to the books, and what happens when things go
//! wrong on the way.

use serde_json::{Value, json};

use super::*;

#[test]
fn a_sale_arrives_however_often_it_is_announced() {
    let world = World::linked();
    let order = world.sell(&json!({ "shipping": "now" }));
    let notice = order_notice(order, "2026-11-20T12:00:00.001Z");
    for (notice, request_id) in [(&notice, "a"), (&notice, "a"), (&notice, "b")] {
        assert_eq!(world.notify(notice, request_id).unwrap().status, http::StatusCode::OK);
    }
    world.notify(&order_notice(order, "2026-11-20T12:00:01.002Z"), "c").unwrap();
    world.work_inbox();

    assert_eq!(
        world.rows("SELECT state, attempts, outcome FROM ml_notification"),
        ["1 1 applied"; 2]
    );
    assert_eq!(world.calls(&format!("/orders/{order}")), 1, "two notifications, one look");
    let shown = world.rows(
        "SELECT o.owner_id, w.text, o.total_cents, o.quantity, s.text, o.buyer_nickname <> ''
         FROM sale_order o JOIN word w ON w.word_id = o.status LEFT JOIN word s ON s.word_id = o.shipping_status",
    );
    assert_eq!(shown, ["1 paid 11980 2 ready_to_ship 1"]);
    assert_eq!(
        world.rows("SELECT message FROM notification"),
        ["2× Cabo USB-C — R$ 119,80 na LOJA_X"]
    );
    let today = world.app.day(NOW);
    let accounts =
        world.app.db.read(Lane::Slow, |tx| account::store::accounts_of(tx, ANA, today)).unwrap();
    assert_eq!(
        (accounts[0].sales_today, accounts[0].sales_30d, accounts[0].gmv_30d.0),
        (1, 1, 11_980)
    );
    assert_eq!(world.log("violations")["violations"], json!([]));
}

#[test]
fn what_is_not_ours_to_work_is_kept_and_answered() {
    let world = World::linked();
    for (number, (topic, user)) in
        [("orders_v2", 999), ("claims", SHOP.0), ("post_purchase", SHOP.0), ("invoices", SHOP.0)]
            .into_iter()
            .enumerate()
    {
        let notice = json!({ "resource": format!("/x/{number}"), "topic": topic, "user_id": user });
        world.notify(&notice, "r").unwrap();
    }
    world.notify(&json!({ "resource": "/orders/1/../../users/me", "topic": "orders_v2", "user_id": SHOP.0 }), "r").unwrap();
    world.notify(&order_notice(1, "x"), "r").unwrap();
    world.work_inbox();
    // "Not found" counts only again, and after minutes.
    let last = "SELECT state, outcome FROM ml_notification ORDER BY notification_id DESC LIMIT 1";
    assert_eq!(world.rows(last), ["0 the marketplace has no such order"]);
    for pause_s in [10, 20, 40, 80] {
        world.advance(pause_s);
        world.work_inbox();
        assert_eq!(world.rows(last), ["0 the marketplace has no such order"]);
    }
    world.advance(160);
    world.work_inbox();
    let states = world.rows(
        "SELECT topic, state, coalesce(outcome, '') FROM ml_notification ORDER BY notification_id",
    );
    let expected = [
        "orders_v2 2 the account is not linked",
        "claims 2 the resource is not a claim",
        "post_purchase 2 the resource is not a claim",
        "invoices 2 the topic is not one this service follows",
        "orders_v2 2 the resource is not an order",
        "orders_v2 1 the marketplace has no such order",
    ];
    assert_eq!(states, expected);
}

#[test]
fn a_forged_notification_leaves_nothing() {
    let world = World::linked();
    let notice = order_notice(5, "x");
    let forged = format!("ts=1;v1={}", "0".repeat(64));
    for signature in [Some(forged), Some("nonsense".to_owned()), None] {
        let refused = world.deliver(&notice, signature, "r").unwrap_err();
        assert_eq!(refused.code, crate::http::Code::InvalidSignature);
    }
    assert_eq!(world.rows("SELECT count(*) FROM ml_notification"), ["0"]);
}

#[test]
fn an_outage_delays_and_loses_nothing() {
    let world = World::linked();
    let orders = [world.sell(&json!({})), world.sell(&json!({})), world.sell(&json!({}))];
    world.control("faults", &json!({ "path_prefix": "/orders/", "kind": "status", "code": 500 }));
    for (order, id) in orders.into_iter().zip(["a", "b", "c"]) {
        world.notify(&order_notice(order, id), id).unwrap();
    }
    world.work_inbox();
    let waiting = "SELECT state, attempts FROM ml_notification ORDER BY notification_id";
    assert_eq!(world.rows(waiting), ["0 1", "0 0", "0 0"], "one try tells for all");
    world.work_inbox();
    assert_eq!(world.rows(waiting), ["0 1", "0 0", "0 0"], "not before its time");
    world.advance(10);
    world.work_inbox();
    assert_eq!(world.rows(waiting), ["1 2", "1 1", "1 1"]);
    assert_eq!(world.rows("SELECT count(*) FROM sale_order"), ["3"]);
}

#[test]
fn an_order_that_always_fails_ends_after_days_and_delays_no_other() {
    let world = World::linked();
    let (odd, good) = (world.sell(&json!({})), world.sell(&json!({})));
    let always = json!({ "path_prefix": format!("/orders/{odd}"), "times": 0, "kind": "garbage" });
    world.control("faults", &always);
    world.notify(&order_notice(odd, "a"), "a").unwrap();
    world.notify(&order_notice(good, "b"), "b").unwrap();
    world.work_inbox();
    let states = "SELECT state FROM ml_notification ORDER BY notification_id";
    assert_eq!(world.rows(states), ["0", "1"]);
    for _ in 0..20 {
        world.advance(5 * 3600);
        world.work_inbox();
    }
    assert_eq!(world.rows(states), ["3", "1"]);
    assert!(
        world.rows("SELECT outcome FROM ml_notification WHERE state = 3")[0]
            .contains("makes no sense")
    );
}

#[test]
fn what_is_refused_is_set_aside_within_hours() {
    let world = World::linked();
    let order = world.sell(&json!({}));
    let refused = json!({ "path_prefix": "/orders/", "times": 0, "kind": "status", "code": 403 });
    world.control("faults", &refused);
    world.notify(&order_notice(order, "a"), "a").unwrap();
    let state = "SELECT state FROM ml_notification";
    for _ in 0..11 {
        world.work_inbox();
        assert_eq!(world.rows(state), ["0"]);
        world.advance(4_500);
    }
    world.work_inbox();
    assert_eq!(world.rows(state), ["3"]);
}

#[test]
fn an_outage_is_waited_out_for_days() {
    let world = World::linked();
    let order = world.sell(&json!({}));
    let down = json!({ "path_prefix": "/orders/", "times": 0, "kind": "status", "code": 503 });
    world.control("faults", &down);
    world.notify(&order_notice(order, "a"), "a").unwrap();
    let state = "SELECT state FROM ml_notification";
    for _ in 0..19 {
        world.work_inbox();
        assert_eq!(world.rows(state), ["0"]);
        world.advance(5 * 3600);
    }
    world.advance(3_600);
    world.work_inbox();
    assert_eq!(world.rows(state), ["3"]);
}

#[test]
fn the_pages_show_what_is_there() {
    let world = World::linked();
    let text = |reply: Reply| String::from_utf8(reply.body.in_memory().to_vec()).unwrap();
    let order = world.sell(&json!({}));
    world.notify(&order_notice(order, "a"), "a").unwrap();
    world.work_inbox();
    let home = text(
        crate::home::pages::home(
            &world.app,
            &person_of(&world, ANA),
            &world.request("/painel", b""),
        )
        .unwrap(),
    );
    for shown in ["LOJA_X", "Cabo USB-C", "R$ 119,80", "1 venda hoje"] {
        assert!(home.contains(shown), "{shown}");
    }
    let other = text(
        crate::home::pages::home(
            &world.app,
            &person_of(&world, RUI),
            &world.request("/painel", b""),
        )
        .unwrap(),
    );
    assert!(!other.contains("LOJA_X") && !other.contains("Cabo"));

    let accounts = |word: &str| {
        let request = world.request("/painel/ml", b"");
        let request = Request { notice: Some(word.to_owned()), ..request };
        text(account::pages::accounts(&world.app, &person_of(&world, ANA), &request).unwrap())
    };
    assert!(accounts("vinculada").contains("LOJA_X foi vinculada"));
    assert!(!accounts("outra").contains("foi vinculada"));
    let mut request = world.request("/painel", b"");
    request
        .head
        .headers
        .insert(http::header::ACCEPT, http::HeaderValue::from_static("application/json"));
    let json: Value = serde_json::from_str(&text(
        crate::home::pages::home(&world.app, &person_of(&world, ANA), &request).unwrap(),
    ))
    .unwrap();
    assert_eq!(
        (&json["vendas_hoje"], &json["gmv_30d"], &json["contas"][0]["nickname"]),
        (&json!(1), &json!(119.8), &json!("LOJA_X"))
    );
}
