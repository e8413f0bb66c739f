//! What a supplier's program does by itself: links, payments and their undoing, sums,
//! usage, and lists whose rows say why they failed.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::dropshipping::{Trade, ask, data, done, number, path, read, relate};
use crate::support::site::Site;

/// States of all drop orders of a supplier by their orders, the oldest first.
#[track_caller]
fn states(actor: &Actor<'_>) -> Vec<String> {
    let rows = data(actor, "/orders");
    rows.iter().rev().map(|row| row["status"].as_str().unwrap().to_owned()).collect()
}

/// The orders of all drop orders, the oldest first.
#[track_caller]
fn sold(actor: &Actor<'_>) -> Vec<String> {
    let rows = data(actor, "/orders");
    rows.iter().rev().map(|row| row["order_id"].as_str().unwrap().to_owned()).collect()
}

fn fields(reply: &Reply) -> Vec<String> {
    reply.json()["error"]["fields"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn links_are_listed_and_narrowed_and_each_sees_their_own() {
    let trade = Trade::open();
    let (sol, lua) = (trade.sol(), trade.lua());
    let link = trade.link();
    let links = data(&sol, "/catalog/links");
    assert_eq!(links.len(), 1);
    let one = &links[0];
    for name in ["id", "seller_id", "ml_id", "product_id", "sku", "created_at"] {
        assert_eq!(one[name], link[name], "{name}: {one}");
    }
    assert_eq!(
        (&one["seller_name"], &one["product_title"]),
        (&json!("ana da Silva"), &json!("Garrafa de inox"))
    );
    assert!(one["title"].as_str().is_some_and(|title| !title.is_empty()), "{one}");
    let rui = number(&trade.shop.site, &trade.shop.site.person("rui"));
    for (query, found) in [
        (format!("seller_id={}", trade.seller), 1),
        (format!("seller_id={rui}"), 0),
        (format!("ml_id={}", trade.listing), 1),
        ("ml_id=MLB1".to_owned(), 0),
        ("sku=GAR-1".to_owned(), 1),
        ("sku=LUA-1".to_owned(), 0),
        ("q=inox".to_owned(), 1),
        ("q=panela".to_owned(), 0),
        ("offset=1".to_owned(), 0),
    ] {
        assert_eq!(data(&sol, &format!("/catalog/links?{query}")).len(), found, "{query}");
    }
    assert!(data(&lua, "/catalog/links").is_empty());
    let wrong = sol.get(&path("/catalog/links?ml_id=7&sku=&seller_id=x&limit=0")).expect(400);
    assert_eq!(fields(&wrong), ["limit", "ml_id", "seller_id", "sku"]);
    // The number of the list takes the link away.
    done(&sol, "/catalog/links/unlink", &json!({ "link_id": one["id"] }));
    assert!(data(&sol, "/catalog/links").is_empty());
}

#[test]
fn one_order_is_marked_as_paid_and_back() {
    let trade = Trade::open();
    let (site, sol, lua) = (&trade.shop.site, trade.sol(), trade.lua());
    trade.link_and_sell(&[2]);
    let order = sold(&sol).remove(0);
    let body = json!({ "order_id": order });
    for target in ["/orders/paid", "/orders/unpaid"] {
        ask(&lua, target, &body).expect(404);
        ask(&sol, target, &json!({ "order_id": "1" })).expect(404);
        assert_eq!(fields(&ask(&sol, target, &json!({})).expect(400)), ["order_id"]);
    }
    let key = |target: &str| {
        let call = Request::new("POST", &path(target)).json(&body);
        sol.send(call.header("Idempotency-Key", "k-1")).expect(200)
    };
    let paid = key("/orders/paid");
    let data = &paid.json()["data"];
    assert_eq!((&data["status"], &data["order_id"]), (&json!("paid"), &json!(order)));
    let at: Timestamp = data["paid_at_rfc3339"].as_str().unwrap().parse().unwrap();
    assert_eq!(at, site.clock().now());
    let unpaid = done(&sol, "/orders/unpaid", &body);
    assert_eq!((&unpaid["status"], &unpaid["paid_at"]), (&json!("pending"), &Value::Null));
    // A call that is repeated late gets its first answer and pays nothing again.
    let again = key("/orders/paid");
    assert_eq!(again.text(), paid.text());
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(states(&sol), ["pending"]);
    // The panel sees it, and what is marked there is seen here.
    done(&sol, "/orders/paid", &body);
    done(&sol, "/orders/paid", &body);
    let noted = site.stored(
        "SELECT action || ' ' || actor_kind || ' ' || actor_name || ' ' || (request_id <> '') || ' ' || (after LIKE '%token%')
         FROM audit WHERE object_kind = 'pedido' ORDER BY audit_id",
    );
    let by = |action: &str| format!("pedido.{action} pessoa sol da Silva 1 1");
    assert_eq!(
        noted,
        [by("pagar"), by("desfazer_pagamento"), by("pagar")],
        "what changed nothing is not noted"
    );

    trade.change(&order, &json!({ "status": "cancelled", "notify": true }));
    for target in ["/orders/paid", "/orders/unpaid"] {
        assert_eq!(ask(&sol, target, &body).expect(409).code(), "conflict");
    }
    assert_eq!(states(&sol), ["cancelled"]);
}

#[test]
fn many_orders_are_marked_by_one_call_and_taken_back_by_its_batch() {
    let trade = Trade::open();
    let (site, sol, lua) = (&trade.shop.site, trade.sol(), trade.lua());
    trade.link_and_sell(&[1, 2, 3]);
    let orders = sold(&sol);
    let (first, cancelled) = (&orders[0], &orders[2]);
    done(&sol, "/orders/paid", &json!({ "order_id": first }));
    trade.change(cancelled, &json!({ "status": "cancelled", "notify": true }));
    let body = json!({ "order_ids": [first, orders[1], cancelled, "1"] });
    let none = done(&lua, "/orders/paid/bulk", &body);
    assert_eq!((&none["failed"], &none["batch_id"]), (&json!(4), &Value::Null));
    let paid = done(&sol, "/orders/paid/bulk", &body);
    assert_eq!(
        (&paid["paid"], &paid["unchanged"], &paid["failed"]),
        (&json!(1), &json!(1), &json!(2)),
        "{paid}"
    );
    assert_eq!((paid["amount"].as_f64(), &paid["currency"]), (Some(40.0), &json!("BRL")));
    let told = |paid: &Value| -> Vec<(Value, Value)> {
        let rows = paid["rows"].as_array().unwrap();
        rows.iter().map(|row| (row["status"].clone(), row["code"].clone())).collect()
    };
    let row = |status: &str, code: Value| (json!(status), code);
    assert_eq!(
        told(&paid),
        [
            row("unchanged", Value::Null),
            row("paid", Value::Null),
            row("failed", json!("cancelled")),
            row("failed", json!("not_found")),
        ]
    );
    assert_eq!(states(&sol), ["paid", "paid", "cancelled"]);

    // Of the batch alone: what was paid before stays so. It is nobody else's, and once.
    let batch = json!({ "batch_id": paid["batch_id"] });
    ask(&lua, "/orders/unpaid/bulk", &batch).expect(404);
    let undone = done(&sol, "/orders/unpaid/bulk", &batch);
    assert_eq!((&undone["unpaid"], &undone["rows"][0]["order_id"]), (&json!(1), &json!(orders[1])));
    ask(&sol, "/orders/unpaid/bulk", &batch).expect(404);
    assert_eq!(states(&sol), ["paid", "pending", "cancelled"]);
    let unpaid = done(&sol, "/orders/unpaid/bulk", &body);
    assert_eq!(
        told(&unpaid),
        [
            row("unpaid", Value::Null),
            row("unchanged", Value::Null),
            row("failed", json!("cancelled")),
            row("failed", json!("not_found")),
        ]
    );
    // A press of the panel is taken back here as well.
    let panel = site.person_as("sol", "drop");
    let pressed = panel.post("/fornecedor/pedidos/pagos", &json!({ "todos": true })).ok();
    let undone = done(&sol, "/orders/unpaid/bulk", &json!({ "batch_id": pressed["lote"] }));
    assert_eq!(undone["unpaid"], 2);
    let noted = site.stored(
        "SELECT count(*) || ' ' || group_concat(object_name) FROM audit
         WHERE object_kind = 'pedido' AND object_id = ''",
    );
    assert_eq!(noted, ["4 1 pedido,1 pedido,1 pedido,2 pedidos"]);
}

#[test]
fn a_call_names_1_to_200_orders_or_one_batch() {
    let site = Site::builder().unlimited().start();
    let sol = site.supplier("sol").plan("scale");
    relate(&site, &sol, &site.person("ana"));
    for (target, wrong, named) in [
        ("/orders/paid/bulk", json!({}), "order_ids"),
        ("/orders/paid/bulk", json!({ "order_ids": [] }), "order_ids"),
        ("/orders/paid/bulk", json!({ "order_ids": vec!["7"; 201] }), "order_ids"),
        ("/orders/paid/bulk", json!({ "order_ids": ["x"] }), "order_ids"),
        ("/orders/unpaid/bulk", json!({}), "order_ids"),
        ("/orders/unpaid/bulk", json!({ "batch_id": "x" }), "batch_id"),
        ("/orders/unpaid/bulk", json!({ "batch_id": "7", "order_ids": ["7"] }), "batch_id"),
    ] {
        let refused = ask(&sol, target, &wrong).expect(400);
        assert_eq!(fields(&refused), [named], "{wrong}");
    }
    ask(&sol, "/orders/unpaid/bulk", &json!({ "batch_id": "9999999999999999999" })).expect(404);
    assert_eq!(
        done(&sol, "/orders/paid/bulk", &json!({ "order_ids": vec!["7"; 200] }))["failed"],
        200
    );
}

#[test]
fn what_a_seller_pays_after_the_relation_is_marked_in_the_panel_alone() {
    let trade = Trade::open();
    let (site, sol) = (&trade.shop.site, trade.sol());
    trade.link_and_sell(&[1]);
    let order = sold(&sol).remove(0);
    let paid = done(&sol, "/orders/paid/bulk", &json!({ "order_ids": [order] }));
    relate(site, &sol, &site.person("bia"));
    let end = format!("/fornecedor/vendedores/{}/encerrar", trade.seller);
    site.person_as("sol", "drop").post(&end, &json!({})).ok();
    for (target, body) in [
        ("/orders/paid", json!({ "order_id": order })),
        ("/orders/unpaid", json!({ "order_id": order })),
        ("/orders/unpaid/bulk", json!({ "batch_id": paid["batch_id"] })),
    ] {
        ask(&sol, target, &body).expect(404);
    }
    assert_eq!(done(&sol, "/orders/unpaid/bulk", &json!({ "order_ids": [order] }))["failed"], 1);
    assert!(data(&sol, "/orders/totals").is_empty());
    assert_eq!(site.stored("SELECT CAST(state AS TEXT) FROM drop_order"), ["2"]);
}

#[test]
fn drop_orders_are_narrowed_by_days_and_added_up_by_seller() {
    let trade = Trade::open();
    let (site, sol) = (&trade.shop.site, trade.sol());
    trade.link_and_sell(&[1, 2]);
    let orders = sold(&sol);
    done(&sol, "/orders/paid", &json!({ "order_id": orders[0] }));
    let shown = &data(&sol, "/orders")[0];
    assert_eq!((&shown["ml_id"], &shown["currency"]), (&json!(trade.listing), &json!("BRL")));
    let civil = shown["date_created"].as_str().unwrap();
    assert!(shown["date_created_at"].as_str().unwrap().starts_with(civil), "{shown}");
    let first_day = &civil[..10];
    site.clock().advance_s(10 * 86_400);
    trade.sell(3);
    trade.sell(4);
    let last = sold(&sol).pop().unwrap();
    trade.change(&last, &json!({ "status": "cancelled", "notify": true }));
    let last_day = data(&sol, "/orders")[0]["date_created"].as_str().unwrap()[..10].to_owned();
    let total =
        |query: &str| read(&sol, &format!("/orders?{query}"))["pagination"]["total"].clone();
    for (query, found) in [
        (format!("from={first_day}&to={first_day}"), 2),
        (format!("to={first_day}&status=paid"), 1),
        (format!("from={last_day}"), 2),
        (format!("from={last_day}&seller_id={}&status=pending", trade.seller), 1),
        ("status=open".to_owned(), 2),
        ("status=overdue".to_owned(), 1),
    ] {
        assert_eq!(total(&query), found, "{query}");
    }
    let sum = |orders: i64, amount: i64| json!({ "orders": orders, "amount": amount });
    let all = read(&sol, "/orders/totals");
    let seller = json!({
        "seller_id": trade.seller, "seller_name": "ana da Silva", "pending": sum(1, 60),
        "overdue": sum(1, 40), "paid": sum(1, 20), "cancelled": sum(1, 80),
    });
    assert_eq!(all["data"], json!([seller]));
    assert_eq!((&all["total"]["overdue"], &all["currency"]), (&sum(1, 40), &json!("BRL")));
    // The same by rows as by the sums that are kept.
    assert_eq!(read(&sol, "/orders/totals?from=2020-01-01")["data"], all["data"]);
    let early = read(&sol, &format!("/orders/totals?to={first_day}"));
    assert_eq!(
        (&early["total"]["pending"], &early["data"][0]["paid"]),
        (&sum(0, 0), &sum(1, 20)),
        "{early}"
    );
    assert!(data(&sol, "/orders/totals?seller_id=999999").is_empty());
    assert!(data(&sol, "/orders/totals?offset=1").is_empty());
    assert!(data(&trade.lua(), "/orders/totals").is_empty());
    for list in ["/orders", "/orders/totals"] {
        let refused = sol.get(&path(&format!("{list}?from=2026-02-02&to=2026-02-01"))).expect(400);
        assert_eq!(fields(&refused), ["from"], "{list}");
    }
}

#[test]
fn usage_of_a_supplier_and_rows_that_fail_say_what_programs_need() {
    let trade = Trade::open();
    let (sol, seller, listing) = (trade.sol(), &trade.seller, &trade.listing);
    let other = json!({ "sku": "OUTRA", "titulo": "Outra", "preco": 5 });
    trade.shop.site.person_as("sol", "drop").post("/fornecedor/produtos", &other).expect(201);
    let list = format!(
        "seller_id,ml_id,sku\n{seller},{listing},GAR-1\n{seller},{listing},OUTRA\n{seller},MLB1,GAR-1\n\
         9999,{listing},GAR-1\n{seller},{listing},NADA\nsete,{listing},GAR-1\n{seller},garrafa,GAR-1\n\
         {seller},{listing},\n"
    );
    let answer = done(&sol, "/catalog/links/bulk", &json!({ "csv": list }));
    let rows = answer["rows"].as_array().unwrap();
    let told: Vec<(&str, &Value)> =
        rows.iter().map(|row| (row["ml_id"].as_str().unwrap(), &row["code"])).collect();
    let codes = [
        json!("already_linked"),
        json!("listing_not_found"),
        json!("seller_not_related"),
        json!("product_not_found"),
        json!("invalid_seller_id"),
        json!("invalid_ml_id"),
        json!("invalid_sku"),
    ];
    let listings = [listing, "MLB1", listing, listing, listing, "garrafa", listing];
    let failed: Vec<(&str, &Value)> = listings.into_iter().zip(&codes).collect();
    assert_eq!(told[0], (&**listing, &Value::Null));
    assert_eq!(told[1..], failed[..]);

    let usage = read(&sol, "/usage");
    assert_eq!((&usage["plan"], &usage["used"]), (&json!("pro"), &json!(2)), "{usage}");
    let called: Vec<&Value> =
        usage["endpoints"].as_array().unwrap().iter().map(|one| &one["operation"]).collect();
    assert_eq!(called, ["drop_get_usage", "drop_link_listings_bulk"]);
    trade.shop.site.seller("ana").plan("pro").get(&path("/usage")).expect(403);
}
