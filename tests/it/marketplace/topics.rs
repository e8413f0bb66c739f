//! Notifications of all topics that concern what is read, and those that the marketplace
//! could not deliver.

use serde_json::{Value, json};

use crate::support::shops::{LISTINGS, listed};
use crate::support::site::Site;
use crate::support::sync::{PATIENCE, mirrored, run_after, shop};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const TOLD: &str = "Notificações perdidas não são recuperadas";
const WHY: &str = "Só a conta dona do aplicativo pode pedi-las";

/// Tells the platform that something changed.
fn announce(world: &World, topic: &str, resource: &str) {
    let notice = json!({ "ml_user_id": LOJA, "topic": topic, "resource": resource });
    world.control("/_sandbox/notifications", &notice);
}

#[test]
fn each_topic_causes_the_reading_that_it_is_about() {
    let world = shop();
    let site = mirrored(&world);
    let ana = site.person("ana");
    let item = listed(&ana, LISTINGS, 1)[0]["id"].as_str().unwrap().to_owned();
    let change = |mut fields: Value| {
        fields["notify"] = json!(false);
        world.control(&format!("/_sandbox/items/{item}"), &fields);
    };
    let shows = |field: &str, value: Value| {
        until(field, PATIENCE, || (listed(&ana, LISTINGS, 1)[0][field] == value).then_some(()));
    };
    change(json!({ "price": 77.7 }));
    announce(&world, "items_prices", &format!("/items/{item}/prices"));
    shows("preco", json!(77.7));
    for (topic, stock) in [("stock-locations", 41), ("stock-location", 42)] {
        change(json!({ "stock": stock }));
        announce(&world, topic, &format!("/user-products/MLBU{}/stock", &item[3..]));
        shows("disponivel", json!(stock));
    }
    for (count, topic) in [(1, "created_orders"), (2, "orders")] {
        let order = world.sale_with(LOJA, &json!({ "notify": false }))["id"].to_string();
        announce(&world, topic, &format!("/orders/{order}"));
        let known = format!("SELECT count(*) || '' FROM sale_order WHERE order_id = {order}");
        until(topic, PATIENCE, || (site.stored(&known) == ["1"]).then_some(()));
        assert_eq!(site.stored("SELECT count(*) || '' FROM sale_order"), [count.to_string()]);
    }
    announce(&world, "stock-locations", "/user-products/MLBU1/stock");
    let outcome =
        "SELECT outcome FROM ml_notification WHERE resource = '/user-products/MLBU1/stock'
        AND outcome IS NOT NULL";
    until("a product of nobody is settled", PATIENCE, || {
        (site.stored(outcome) == ["no listing sells the user product"]).then_some(())
    });
    world.no_violations();
}

/// Switches the platform off, changes a listing and asks a question, and switches it on.
/// No notification of it arrives.
fn miss(world: &World, site: &Site, item: &str) {
    world.configure(&json!({ "attempts": 2, "retry_scale": 0.0003 }));
    site.stop();
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "price": 25 }));
    world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA, "text": "Serve?" }));
    world.sale(LOJA);
    world.deliveries();
    site.start_again();
}

#[test]
fn a_refused_topic_does_not_end_the_round_of_missed_notifications() {
    let world = shop();
    let item = world.item(LOJA, "Cabo USB-C", 19.9);
    let site = mirrored(&world);
    run_after(&site, 1);
    miss(&world, &site, &item);
    // Topics that come first are refused; `claims` is by itself.
    let refused =
        json!({ "path_prefix": "/missed_feeds", "times": 2, "kind": "status", "code": 400 });
    world.fault(&refused);
    run_after(&site, 1_000);
    let received = "SELECT DISTINCT topic FROM ml_notification ORDER BY topic";
    until("the others are there", PATIENCE, || {
        (site.stored(received) == ["items", "questions"]).then_some(())
    });
    let calls = world.requests();
    let asked = |topic: &str| {
        let named = format!("topic={topic}");
        calls.iter().any(|call| {
            let query = call["query"].as_str().unwrap_or_default();
            call["path"] == "/missed_feeds" && query.split('&').any(|part| part == named)
        })
    };
    for topic in ["orders_v2", "items", "questions", "post_purchase", "shipments", "claims"] {
        assert!(asked(topic), "{topic}: {calls:#?}");
    }
    // What was refused is asked for in the next round.
    run_after(&site, 1_000);
    until("the sale is there", PATIENCE, || {
        site.stored(received).contains(&"orders_v2".to_owned()).then_some(())
    });
}

#[test]
fn that_nobody_may_ask_for_missed_notifications_is_told() {
    let world = shop();
    let site = mirrored(&world);
    let admin = site.administrator();
    let home = || admin.get("/admin").expect(200).text();
    let inside = || admin.get("/admin/diagnostico").expect(200).text();
    run_after(&site, 1_000);
    assert!(!home().contains(TOLD) && !inside().contains(WHY));
    world.configure(&json!({ "application_owner": 4_242 }));
    run_after(&site, 1_000);
    assert!(home().contains(TOLD) && inside().contains(WHY), "{}", home());
    world.configure(&json!({ "application_owner": LOJA }));
    run_after(&site, 7 * 3_600);
    assert!(!home().contains(TOLD) && !inside().contains(WHY));
}
