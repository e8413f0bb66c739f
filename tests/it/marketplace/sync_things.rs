//! What the platform reads by itself besides orders: listings, questions,
//! claims, shipments, and notifications that were missed.

use serde_json::{Value, json};

use crate::support::site::Site;
use crate::support::sync::{
    PATIENCE, accounts, area, joined, mirrored, orders, pass_time_for_retries, quiet_sale,
    run_after, shop, wait_until_read,
};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// Records at the marketplace from before an account is linked.
struct Things {
    item: String,
    question: String,
    claim: String,
}

fn things(world: &World) -> Things {
    let item = world.item(LOJA, "Cabo USB-C", 19.9);
    let sale = world.sale_with(LOJA, &json!({ "notify": false }));
    let asked = json!({ "ml_user_id": LOJA, "text": "Serve?", "notify": false });
    let opened = json!({ "ml_user_id": LOJA, "order": sale["id"], "notify": false });
    Things {
        item,
        question: world.control("/_sandbox/questions", &asked)["id"].to_string(),
        claim: world.control("/_sandbox/claims", &opened)["id"].to_string(),
    }
}

/// States of listings, questions and claims.
fn states(site: &Site) -> Vec<String> {
    site.stored(
        "SELECT w.text FROM listing l JOIN word w ON w.word_id = l.status
         UNION ALL SELECT 'pergunta ' || state FROM question
         UNION ALL SELECT 'reclamação ' || state FROM claim ORDER BY 1",
    )
}

#[test]
fn what_is_for_sale_and_open_is_read_with_the_link() {
    let world = shop();
    for count in 0..250 {
        world.item(LOJA, &format!("Cabo {count}"), 19.9);
    }
    things(&world);
    let site = joined(&world).start();
    let ana = site.person("ana");
    // Records from before the link cause no messages.
    site.clock().advance_s(60);
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let listings = site.stored("SELECT count(*) || '' FROM listing");
    assert_eq!(listings, ["252"]);
    let read = area(&ana, "anuncios");
    assert_eq!((&read["feitos"], &read["esperados"]), (&json!(252), &json!(252)));
    let account = &accounts(&ana)[0];
    assert_eq!(account["anuncios"], 252);
    assert_eq!((&account["perguntas"], &account["reclamacoes"]), (&json!(1), &json!(1)));
    let sent = "SELECT w.text FROM sale_order JOIN word w ON w.word_id = shipping_status";
    assert_eq!(site.stored(sent), ["ready_to_ship"]);
    assert_eq!(site.stored("SELECT count(*) || '' FROM notification"), ["0"]);
    assert_eq!(site.stored("SELECT count(*) || '' FROM ml_seen"), ["0"]);
    world.no_violations();
}

#[test]
fn what_changed_without_a_word_is_found() {
    let world = shop();
    let things = things(&world);
    let site = mirrored(&world);
    assert_eq!(states(&site), ["active", "active", "pergunta 1", "reclamação 1"]);
    let quietly = |path: &str, change: Value| {
        let mut change = change;
        change["notify"] = false.into();
        world.control(&format!("/_sandbox/{path}"), &change);
    };
    site.clock().advance_s(60);
    quietly(&format!("items/{}", things.item), json!({ "status": "closed" }));
    quietly(&format!("questions/{}", things.question), json!({ "answer": "Serve" }));
    quietly(&format!("claims/{}", things.claim), json!({ "status": "closed" }));
    // A question that is asked and answered between two readings.
    let asked = json!({ "ml_user_id": LOJA, "text": "Tem azul?", "notify": false });
    let asked = world.control("/_sandbox/questions", &asked)["id"].to_string();
    quietly(&format!("questions/{asked}"), json!({ "answer": "Tem" }));
    // Listings are read every six hours.
    for _ in 0..4 {
        run_after(&site, 3 * 3600);
    }
    assert_eq!(states(&site), ["active", "closed", "pergunta 2", "pergunta 2", "reclamação 2"]);
    // Half a day is longer than a login lasts.
    let account = &accounts(&site.person("ana"))[0];
    assert_eq!((&account["perguntas"], &account["reclamacoes"]), (&json!(0), &json!(0)));
    assert_eq!(account["anuncios"], 1);
    world.no_violations();
}

#[test]
fn what_moves_on_its_way_is_followed() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    let sale = quiet_sale(&world, LOJA);
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let sent = "SELECT w.text FROM sale_order JOIN word w ON w.word_id = shipping_status";
    assert_eq!(site.stored(sent), ["ready_to_ship"]);
    let moved = json!({ "shipping_status": "delivered", "notify": false });
    world.control(&format!("/_sandbox/orders/{sale}"), &moved);
    for _ in 0..2 {
        run_after(&site, 3600);
    }
    assert_eq!(site.stored(sent), ["delivered"]);
    // Shipments that have arrived are not requested again.
    world.forget_requests();
    run_after(&site, 2 * 3600);
    let asked = world.requests();
    let shipments =
        asked.iter().filter(|call| call["path"].as_str().unwrap().starts_with("/shipments"));
    assert_eq!(shipments.count(), 0, "{asked:?}");
}

#[test]
fn parcels_of_old_orders_are_read_once_some_at_a_time() {
    let world = shop();
    let old = json!({ "date_created": "2026-08-01T12:00:00Z", "notify": false });
    let stocked = json!({ "ml_user_id": LOJA, "title": "Copo", "price": 9.9, "stock": 500 });
    world.control("/_sandbox/items", &stocked);
    for _ in 0..230 {
        world.sale_with(LOJA, &old);
    }
    let site = mirrored(&world);
    let known = "SELECT count(shipping_status) || ' of ' || count(*) FROM sale_order";
    assert_eq!(site.stored(known), ["200 of 230"]);
    run_after(&site, 2 * 3_600);
    assert_eq!(site.stored(known), ["230 of 230"]);
    world.forget_requests();
    run_after(&site, 2 * 3_600);
    let calls = world.requests();
    let asked = |call: &&Value| call["path"].as_str().unwrap().starts_with("/shipments");
    assert_eq!(calls.iter().filter(asked).count(), 0, "{calls:?}");
}

#[test]
fn one_bad_record_fails_nothing_else() {
    let world = shop();
    let things = things(&world);
    let sales: Vec<String> = (0..4).map(|_| quiet_sale(&world, LOJA)).collect();
    let bad = [
        format!("orders/{}", sales[1]),
        format!("items/{}", things.item),
        format!("questions/{}", things.question),
        format!("claims/{}", things.claim),
    ];
    let spoil = |spoiled: bool| {
        for record in &bad {
            world.control("/_sandbox/spoil", &json!({ "record": record, "spoiled": spoiled }));
        }
    };
    spoil(true);
    let site = mirrored(&world);
    assert_eq!(orders(&site), 4, "the other sale of the claim is one of them");
    assert_eq!(states(&site), ["active"]);
    // When they are correct again, the next reading stores them.
    spoil(false);
    site.clock().advance_s(60);
    let touch = json!({ "status": "partially_refunded", "notify": false });
    world.control(&format!("/_sandbox/orders/{}", sales[1]), &touch);
    for _ in 0..4 {
        run_after(&site, 3 * 3600);
    }
    assert_eq!(orders(&site), 5);
    assert_eq!(states(&site), ["active", "active", "pergunta 1", "reclamação 1"]);
}

#[test]
fn a_scan_that_was_cut_off_loses_no_listing() {
    let world = shop();
    for count in 0..2_500 {
        world.item(LOJA, &format!("Cabo {count}"), 19.9);
    }
    let site = joined(&world).start();
    let ana = site.person("ana");
    let mut skips = [3, 7, 12].into_iter();
    for kind in ["lost_response", "truncated", "lost_response"] {
        let skip = skips.next().unwrap();
        let path = format!("/users/{LOJA}/items/search");
        world.fault(&json!({ "path_prefix": path, "skip": skip, "kind": kind }));
    }
    world.fault(&json!({ "path_prefix": "/items/bulk", "skip": 9, "kind": "status", "code": 500 }));
    world.link(&ana, LOJA);
    until("some are here", PATIENCE, || {
        pass_time_for_retries(&site, &ana);
        let read = site.stored("SELECT (count(*) > 500) || '' FROM listing");
        (read == ["1"]).then_some(())
    });
    site.kill();
    site.start_again();
    wait_until_read(&site, &ana);
    let listings = site.stored("SELECT count(*) || '' FROM listing");
    assert_eq!(listings, ["2501"]);
    assert_eq!(area(&ana, "anuncios")["feitos"], 2_501, "each counts once");
    assert_eq!(accounts(&ana)[0]["anuncios"], 2_501);
}

#[test]
fn notifications_that_were_missed_are_received_late() {
    let world = shop();
    let item = world.item(LOJA, "Cabo USB-C", 19.9);
    world.configure(&json!({ "attempts": 3, "retry_scale": 0.0003 }));
    let site = mirrored(&world);
    run_after(&site, 1);
    site.stop();
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "price": 25 }));
    world.deliveries();
    site.start_again();
    // The next reading of the listings is not due yet.
    run_after(&site, 1_000);
    let price = format!("SELECT price_cents || '' FROM listing WHERE item_id = {}", &item[3..]);
    until("it is known", PATIENCE, || (site.stored(&price) == ["2500"]).then_some(()));
    let received = "SELECT count(*) || '' FROM ml_notification";
    assert_eq!(site.stored(received), ["1"]);
    run_after(&site, 1_000);
    assert_eq!(site.stored(received), ["1"], "it is listed for two days");
    world.no_violations();
}

#[test]
fn what_came_and_went_between_two_readings_is_found() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    let sale = quiet_sale(&world, LOJA);
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    site.clock().advance_s(60);
    let sale: i64 = sale.parse().unwrap();
    let quietly = |path: &str, what: Value| {
        let mut what = what;
        what["notify"] = false.into();
        world.control(&format!("/_sandbox/{path}"), &what)["id"].to_string()
    };
    let claim = quietly("claims", json!({ "ml_user_id": LOJA, "order": sale }));
    quietly(&format!("claims/{claim}"), json!({ "status": "closed" }));
    let banned = quietly("questions", json!({ "ml_user_id": LOJA }));
    quietly(&format!("questions/{banned}"), json!({ "status": "BANNED" }));
    let answered = quietly("questions", json!({ "ml_user_id": LOJA }));
    quietly(&format!("questions/{answered}"), json!({ "answer": "Tem" }));
    run_after(&site, 1_800);
    let found = ["pergunta 2", "pergunta 3", "reclamação 2"];
    assert_eq!(states(&site)[1..], found);
    // An answer that is removed later, and a claim that ends with another result.
    quietly(&format!("questions/{answered}"), json!({ "status": "DELETED" }));
    quietly(
        &format!("claims/{claim}"),
        json!({ "status": "closed", "resolution": "item_returned" }),
    );
    for _ in 0..5 {
        run_after(&site, 6 * 3_600);
    }
    assert_eq!(states(&site)[1..], ["pergunta 3", "pergunta 3", "reclamação 2"]);
    assert_eq!(site.stored("SELECT resolution FROM claim"), ["item_returned"]);
    world.no_violations();
}

#[test]
fn a_first_reading_that_begins_late_leaves_no_gap() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.fault(
        &json!({ "path_prefix": "/orders/search", "times": 0, "kind": "status", "code": 500 }),
    );
    world.link(&ana, LOJA);
    until("it was tried", PATIENCE, || {
        (area(&ana, "pedidos")["estado"] == "com_erro").then_some(())
    });
    // A sale after the link, long before the marketplace can be read.
    site.clock().advance_s(3_600);
    quiet_sale(&world, LOJA);
    site.clock().advance_s(7 * 3_600);
    world.clear_faults();
    wait_until_read(&site, &ana);
    run_after(&site, 1_800);
    assert_eq!(orders(&site), 1);
}

#[test]
fn a_record_that_made_no_sense_in_a_list_is_asked_for_alone() {
    let world = shop();
    let sale = quiet_sale(&world, LOJA);
    let spoil = |spoiled: bool| {
        let record = format!("orders/{sale}");
        world.control("/_sandbox/spoil", &json!({ "record": record, "spoiled": spoiled }));
    };
    spoil(true);
    let site = mirrored(&world);
    assert_eq!(orders(&site), 0);
    let waiting =
        "SELECT resource || ' ' || outcome FROM ml_notification WHERE state = 0 AND attempts > 0";
    until("it was asked for", PATIENCE, || {
        let found = format!(
            "/orders/{sale} the answer makes no sense: date_created is missing or unreadable"
        );
        site.clock().advance_s(5);
        (site.stored(waiting).first().is_some_and(|text| found.starts_with(text))).then_some(())
    });
    spoil(false);
    until("it is here", PATIENCE, || {
        site.clock().advance_s(60);
        (orders(&site) == 1).then_some(())
    });
}

#[test]
fn that_something_is_not_there_is_believed_the_second_time() {
    let world = shop();
    let site = mirrored(&world);
    site.clock().advance_s(60);
    world.fault(&json!({ "path_prefix": "/orders/", "kind": "status", "code": 404 }));
    world.sale(LOJA);
    world.deliveries();
    until("it is here", PATIENCE, || {
        site.clock().advance_s(5);
        (orders(&site) == 1).then_some(())
    });
}

#[test]
fn a_record_that_does_not_come_holds_up_no_other() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    let gone = world.item(LOJA, "Some", 12.5);
    let ready = |id: &str| {
        let parcel = json!({ "shipping_status": "ready_to_ship", "notify": false });
        world.control(&format!("/_sandbox/orders/{id}"), &parcel)["order"]["shipment"]["id"].clone()
    };
    let sales: Vec<String> = (0..6).map(|_| quiet_sale(&world, LOJA)).collect();
    let parcels: Vec<Value> = sales.iter().map(|sale| ready(sale)).collect();
    let broken = |path: &str| {
        let fault = json!({ "path_prefix": path, "times": 0, "kind": "status", "code": 500 });
        world.fault(&fault);
    };
    broken(&format!("/shipments/{}", parcels[2]));
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let waits = "SELECT sum(shipping_status IS NULL) || ' of ' || count(*) FROM sale_order";
    assert_eq!(site.stored(waits), ["1 of 6"]);
    // A listing that is no longer in any list and cannot be requested either.
    broken(&format!("/items/{gone}"));
    let closed = json!({ "status": "closed", "notify": false });
    world.control(&format!("/_sandbox/items/{gone}"), &closed);
    let new = json!({ "ml_user_id": LOJA, "title": "Novo", "price": 5 });
    world.control("/_sandbox/items", &new);
    for _ in 0..4 {
        run_after(&site, 3 * 3_600);
    }
    let listed = "SELECT title FROM listing ORDER BY title";
    assert!(site.stored(listed).contains(&"Novo".to_owned()));
    world.clear_faults();
    run_after(&site, 2 * 3_600);
    assert_eq!(site.stored(waits), ["0 of 6"]);
    world.no_violations();
}

#[test]
fn a_sale_that_a_search_finds_has_its_buyers_name() {
    let world = shop();
    let site = mirrored(&world);
    site.clock().advance_s(60);
    quiet_sale(&world, LOJA);
    run_after(&site, 2_000);
    wait_until_read(&site, &site.person("ana"));
    let names = "SELECT buyer_nickname FROM sale_order";
    let found = site.stored(names);
    assert!(!found[0].is_empty(), "{found:?}");
    let looked_up = || {
        let calls = world.requests().into_iter();
        let calls = calls.filter(|call| {
            let path = call["path"].as_str().unwrap();
            path.starts_with("/users/") && path != "/users/me" && path.matches('/').count() == 2
        });
        calls.count()
    };
    assert_eq!(looked_up(), 1);
    // The overlap of the next reading causes no further calls.
    run_after(&site, 2_000);
    assert_eq!(looked_up(), 1);
    world.no_violations();
}
