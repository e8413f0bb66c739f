//! Fiscal notes: where they are found, who may read them, and the errors.

use serde_json::{Value, json};

use crate::support::client::{Reply, Request};
use crate::support::shop::{OTHER, Shop, refused};
use crate::support::world::LOJA;

fn ask(shop: &Shop, who: &str, order: &str) -> Reply {
    let target = format!("/painel/vendas/{order}/nota");
    shop.site.person(who).get(&target)
}

#[track_caller]
fn is_note(reply: Reply, order: &str) {
    let reply = reply.expect(200);
    assert_eq!(reply.header("content-type"), Some("application/pdf"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert!(reply.body.starts_with(b"%PDF-"));
    assert!(reply.text().contains(order), "the note is of {order}");
}

/// Paths that the platform requested since the last call.
fn asked(shop: &Shop) -> Vec<String> {
    let requests = shop.world.requests();
    shop.world.forget_requests();
    let paths = requests.iter().filter_map(|call| call["path"].as_str());
    paths
        .filter(|path| path.contains("invoices") || path.contains("fiscal"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_note_is_found_wherever_it_is() {
    let shop = Shop::open();
    let (order, shipment) = shop.sell(LOJA, true);
    shop.wait_for(&shop.ana(), 1);
    let said = refused(ask(&shop, "ana", &order), 404);
    assert!(said.contains("ainda não tem nota"), "{said}");
    // A browser gets the error on the page of the sale.
    let ana = shop.site.person("ana");
    let pressed =
        Request::new("GET", &format!("/painel/vendas/{order}/nota")).header("Accept", "text/html");
    let sale = ana.send(pressed).expect(303);
    let sale = ana.get(sale.header("location").unwrap()).expect(200).text();
    assert!(sale.contains("Emita a nota no marketplace"), "{sale}");
    asked(&shop);
    let change = |fields: Value| {
        let path = format!("/_sandbox/orders/{order}");
        shop.world.control(&path, &fields);
    };
    change(json!({ "invoice": "issued", "notify": false }));
    is_note(ask(&shop, "ana", &order), &order);
    let paths = asked(&shop);
    assert_eq!(paths.len(), 2, "{paths:?}");
    // By the parcel, when the billing service does not know the order.
    let by_order = format!("/users/{LOJA}/invoices/orders");
    shop.world.fault(&json!({ "path_prefix": by_order, "kind": "status", "code": 404 }));
    is_note(ask(&shop, "ana", &order), &order);
    let by_shipment = format!("/users/{LOJA}/invoices/shipments/{shipment}");
    assert!(asked(&shop).contains(&by_shipment));
    change(json!({ "invoice": "attached", "notify": false }));
    is_note(ask(&shop, "ana", &order), &order);
    assert_eq!(shop.world.violations(), [] as [Value; 0]);
}

#[test]
fn the_note_of_a_cart_is_attached_to_the_cart() {
    let shop = Shop::open();
    let cart = json!({ "pack_id": 2_000_900_000_777_i64, "invoice": "attached" });
    let first = shop.world.sale_with(LOJA, &cart)["id"].to_string();
    let second = shop.world.sale_with(LOJA, &cart)["id"].to_string();
    for order in [&first, &second] {
        let path = format!("/_sandbox/orders/{order}");
        let ready = json!({ "shipping_status": "ready_to_ship" });
        shop.world.control(&path, &ready);
    }
    shop.wait_for(&shop.ana(), 1);
    let by_order = format!("/packs/{second}/");
    shop.world
        .fault(&json!({ "path_prefix": by_order, "kind": "status", "code": 404, "times": 5 }));
    let note = ask(&shop, "ana", &second).expect(200);
    assert!(note.body.starts_with(b"%PDF-"));
    let paths = asked(&shop);
    assert!(paths.iter().any(|path| path.contains("2000900000777")), "{paths:?}");
}

#[test]
fn nobody_gets_another_ones_note() {
    let shop = Shop::open();
    let issued = json!({ "invoice": "issued", "shipping_status": "ready_to_ship" });
    let sold = |seller| {
        let (order, _) = shop.sell(seller, true);
        let path = format!("/_sandbox/orders/{order}");
        shop.world.control(&path, &issued);
        order
    };
    let (own, others) = (sold(LOJA), sold(OTHER));
    shop.wait_for(&shop.ana(), 1);
    shop.wait_for(&shop.site.person("rui"), 1);
    asked(&shop);
    for order in [&*others, "1", "99999999999999999999", "x"] {
        let reply = ask(&shop, "ana", order);
        assert_eq!(reply.status, 404, "{reply}");
        assert!(!reply.text().contains("RUI"), "{reply}");
    }
    assert_eq!(asked(&shop), [""; 0], "the marketplace was not asked");
    is_note(ask(&shop, "rui", &others), &others);
    is_note(ask(&shop, "ana", &own), &own);
}

#[test]
fn what_the_marketplace_says_of_a_note_stays_with_us() {
    let shop = Shop::open();
    let (order, _) = shop.sell(LOJA, true);
    shop.wait_for(&shop.ana(), 1);
    let path = format!("/_sandbox/orders/{order}");
    let issued = json!({ "invoice": "issued", "notify": false });
    shop.world.control(&path, &issued);
    let file = format!("/users/{LOJA}/invoices/sites");
    let refusal = |code: u16| json!({ "kind": "status", "code": code, "body": "segredo" });
    for (mut fault, part) in [
        (refusal(500), "não respondeu"),
        (refusal(403), "recusou"),
        (json!({ "kind": "garbage" }), "não se entende"),
        (json!({ "kind": "truncated" }), "não respondeu"),
        (
            json!({ "kind": "redirect", "location": "https://evil.example/segredo" }),
            "não se entende",
        ),
        (json!({ "kind": "huge", "bytes": 20 << 20 }), "não se entende"),
    ] {
        fault["path_prefix"] = json!(file);
        shop.world.fault(&fault);
        let said = refused(ask(&shop, "ana", &order), 502);
        assert!(said.contains(part), "{fault}: {said}");
        shop.world.clear_faults();
        shop.site.clock().advance_s(600);
    }
    // A note whose address is at another host.
    shop.world.configure(&json!({ "foreign_invoices": true }));
    let said = refused(ask(&shop, "ana", &order), 502);
    assert!(!said.contains("sandbox.invalid"), "{said}");
}
