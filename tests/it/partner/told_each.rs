//! Whatever happens is an event, and every event is one delivery: of states that come back, of
//! movements at once, and after kills.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::keeping_up::{entries, read, settled};
use super::mirror::happen;
use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::hooked::{Hit, Manner, Receiver, make, near};
use crate::support::random::Random;
use crate::support::shop::Shop;
use crate::support::sync::wait_until_worked;
use crate::support::wait::until;
use crate::support::world::LOJA;

const ALL: [&str; 13] = [
    "order.created",
    "order.paid",
    "order.cancelled",
    "order.shipped",
    "order.updated",
    "order.delivered",
    "question.received",
    "question.answered",
    "claim.opened",
    "claim.closed",
    "stock.changed",
    "listing.changed",
    "store.disconnected",
];
const ADJUST: &str = "/api/v1/partner/stock/adjust";

/// All events of an account, in their order.
fn events(ana: &Actor<'_>) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = read(ana, &format!("/events?limit=200{after}"));
        all.extend(entries(&page));
        if page["pagination"]["has_more"] == false {
            return all;
        }
        after = format!("&after={}", page["pagination"]["next_after"].as_str().unwrap());
    }
}

fn texts<'v>(events: &'v [Value], name: &str) -> Vec<&'v str> {
    events.iter().map(|event| event[name].as_str().unwrap()).collect()
}

/// The ids of all deliveries, in their order.
fn deliveries(shop: &Shop) -> Vec<String> {
    shop.site.stored("SELECT 'msg_' || lower(hex(message)) FROM webhook_delivery ORDER BY number")
}

fn product(panel: &Actor<'_>, stock: i64) -> String {
    let product = json!({ "sku": "GAR-1", "titulo": "Garrafa", "preco": 20, "estoque": stock });
    let made = panel.post("/painel/produtos", &product).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn states_that_come_back_are_told_each_time() {
    let shop = Shop::open_with(near);
    let (receiver, panel) = (Receiver::start(), shop.ana());
    let states = ["order.paid", "order.cancelled", "order.delivered"];
    make(&shop.site, &panel, &receiver.url("/"), &states);
    let order = shop.world.sale_with(LOJA, &json!({ "notify": true }))["id"].to_string();
    wait_until_worked(&shop.world, &shop.site);
    let path = format!("/_sandbox/orders/{order}");
    let mut told = vec!["order.paid"];
    for (field, state, kind) in [
        ("status", "cancelled", Some("order.cancelled")),
        ("status", "paid", Some("order.paid")),
        ("status", "cancelled", Some("order.cancelled")),
        ("status", "paid", Some("order.paid")),
        ("shipping_status", "shipped", None),
        ("shipping_status", "delivered", Some("order.delivered")),
        ("shipping_status", "shipped", None),
        ("shipping_status", "delivered", Some("order.delivered")),
    ] {
        shop.world.clock().advance_s(1);
        shop.world.control(&path, &json!({ field: state, "notify": true }));
        wait_until_worked(&shop.world, &shop.site);
        told.extend(kind);
    }
    let hits: Vec<Value> = receiver.wait_for(told.len()).iter().map(Hit::json).collect();
    assert_eq!(texts(&hits, "type"), told);
}

#[test]
fn each_movement_is_an_event_with_the_balance_after_it() {
    let shop = Shop::open_with(near);
    let (receiver, panel) = (Receiver::start(), shop.ana());
    make(&shop.site, &panel, &receiver.url("/"), &["stock.changed"]);
    let ana = shop.site.seller("ana").plan("scale");
    let product = product(&panel, 100);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let (ana, body) = (&ana, json!({ "product_id": product, "quantity": -1 }));
            scope.spawn(move || {
                ana.send_apart(Request::new("POST", ADJUST).json(&body)).expect(200);
            });
        }
    });
    let hits: Vec<Value> = receiver.wait_for(17).iter().map(Hit::json).collect();
    let balances: Vec<i64> =
        hits.iter().map(|hit| hit["data"]["balance"].as_i64().unwrap()).collect();
    assert_eq!(balances, (84..=100).rev().collect::<Vec<_>>());
    let movements: BTreeSet<&str> =
        hits.iter().map(|hit| hit["data"]["movements"][0]["id"].as_str().unwrap()).collect();
    assert_eq!(movements.len(), 17, "each with its own movement");
    settled(&shop);
    assert_eq!(events(&ana), hits);
}

#[test]
fn every_event_has_one_delivery_and_the_reverse_after_kills() {
    let shop = Shop::open_with(near);
    let receiver = Receiver::start();
    make(&shop.site, &shop.ana(), &receiver.url("/"), &ALL);
    let ana = shop.site.seller("ana").plan("scale");
    let product = product(&shop.ana(), 1_000);
    let (mut random, mut orders) = (Random::new(1), Vec::new());
    for kill in 0..4 {
        for _ in 0..12 {
            happen(&shop, &mut random, &mut orders);
            match random.below(6) {
                0 => receiver.answers(Manner::HangUp),
                1 => receiver.answers(Manner::Status(204, "")),
                2 => shop.world.clock().advance_s(1),
                _ => {
                    let moved = json!({ "product_id": product, "quantity": 1 });
                    ana.post(ADJUST, &moved).expect(200);
                }
            }
        }
        let asked = json!({ "ml_user_id": LOJA, "text": format!("Tem azul, {kill}?") });
        shop.world.control("/_sandbox/questions", &asked);
        shop.site.kill();
        shop.site.start_again();
    }
    receiver.answers(Manner::Status(204, ""));
    wait_until_worked(&shop.world, &shop.site);
    settled(&shop);
    let all = events(&ana);
    assert_eq!(texts(&all, "id"), deliveries(&shop), "one for one, and in order");
    assert!(all.len() > 50, "{}", all.len());
    let came = until("all are delivered", Duration::from_mins(1), || {
        shop.site.clock().advance_s(300);
        let came: BTreeSet<String> = receiver.hits().into_iter().map(|hit| hit.id).collect();
        (came.len() >= all.len()).then_some(came)
    });
    assert!(came.iter().map(String::as_str).eq(BTreeSet::from_iter(texts(&all, "id"))));
}
