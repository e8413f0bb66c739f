//! The Partner API for suppliers: relations, links, drop orders, reminders,
//! files.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::{Reply, Request};
use crate::support::dropshipping::{Trade, ask, data, done, listing, number, path, read, relate};
use crate::support::shop::OTHER;
use crate::support::site::Site;
use crate::support::sync::wait_until_worked;
use crate::support::wait::until;
use crate::support::world::LOJA;

#[test]
fn a_supplier_needs_a_token_a_plan_the_role_and_a_relation() {
    let site = Site::start();
    let sol = site.supplier("sol");
    let refused = |code: u16| sol.get(&path("/health")).expect(code).code();
    site.anonymous().get(&path("/health")).expect(401);
    assert_eq!(refused(402), "plan_required");
    let sol = sol.plan("starter");
    // The server notices changes by commands within a second.
    let reply = until("the plan is known", Duration::from_secs(10), || {
        let reply = sol.get(&path("/health"));
        (reply.status == 403).then_some(reply)
    });
    assert!(reply.text().contains("no seller is linked"), "{reply}");
    let ana = site.seller("ana").plan("pro");
    relate(&site, &sol, &ana);
    let health = read(&sol, "/health");
    assert_eq!(health["user"]["role"], "drop");
    assert_eq!(health["plan"]["name"], "starter");
    assert_eq!(health["sellers"][0]["seller_id"], json!(number(&site, &ana)));
    assert_eq!(health["sellers"][0]["links"], 0);
    // Sellers and suppliers cannot call each other's operations.
    ana.get(&path("/health")).expect(403);
    sol.get("/api/v1/partner/orders").expect(403);
    sol.get("/v1/partner/drop/health").expect(200);
}

#[test]
fn a_listing_is_linked_once_and_to_one_product() {
    let trade = Trade::open();
    let (sol, lua) = (trade.sol(), trade.lua());
    let unmatched = data(&sol, "/catalog/audit");
    assert_eq!(unmatched.len(), 1);
    assert_eq!(unmatched[0]["ml_id"], json!(trade.listing));
    assert_eq!(unmatched[0]["reason"], "no_sku");
    let link = trade.link();
    assert_eq!(link["sku"], "GAR-1");
    assert_eq!(trade.link(), link, "the same again");
    assert!(data(&sol, "/catalog/audit").is_empty());
    assert_eq!(read(&sol, "/health")["sellers"][0]["links"], 1);
    let products = data(&sol, "/catalog/products");
    assert_eq!((&products[0]["sku"], &products[0]["links"]), (&json!("GAR-1"), &json!(1)));
    assert!(products[0].get("cost").is_none());

    let product = json!({ "sku": "OUTRA", "titulo": "Outra", "preco": 5 });
    trade.shop.site.person_as("sol", "drop").post("/fornecedor/produtos", &product).expect(201);
    let body = |seller: &str, listing: &str, sku: &str| json!({ "seller_id": seller, "ml_id": listing, "sku": sku });
    let taken = ask(&sol, "/catalog/links", &body(&trade.seller, &trade.listing, "OUTRA"));
    assert_eq!(taken.expect(400).code(), "already_linked");
    let rui = number(&trade.shop.site, &trade.shop.site.person("rui"));
    let ruis = listing(&trade.shop.site, &trade.shop.site.person("rui"));
    for (actor, seller, listing, sku) in [
        (&sol, &rui, &ruis, "GAR-1"),
        (&sol, &trade.seller, &ruis, "GAR-1"),
        (&sol, &trade.seller, &"MLB1".to_owned(), "GAR-1"),
        (&sol, &trade.seller, &trade.listing, "LUA-1"),
        (&lua, &trade.seller, &trade.listing, "LUA-1"),
        (&lua, &rui, &ruis, "GAR-1"),
    ] {
        ask(actor, "/catalog/links", &body(seller, listing, sku)).expect(404);
    }
    for wrong in [
        json!({}),
        json!({ "seller_id": trade.seller, "ml_id": trade.listing }),
        json!({ "seller_id": trade.seller, "ml_id": "garrafa", "sku": "GAR-1" }),
        json!({ "seller_id": "x", "ml_id": trade.listing, "sku": "GAR-1" }),
        json!({ "seller_id": trade.seller, "ml_id": trade.listing, "sku": "A", "product_id": 1 }),
    ] {
        ask(&sol, "/catalog/links", &wrong).expect(400);
    }
    ask(&lua, "/catalog/links/unlink", &json!({ "link_id": link["id"] })).expect(404);
    let by_listing = json!({ "seller_id": trade.seller, "ml_id": trade.listing });
    assert_eq!(done(&sol, "/catalog/links/unlink", &by_listing), json!({ "unlinked": true }));
    ask(&sol, "/catalog/links/unlink", &json!({ "link_id": link["id"] })).expect(404);
    assert_ne!(trade.link()["id"], link["id"], "numbers are not given again");
}

#[test]
fn a_list_links_what_it_can_and_tells_of_the_rest() {
    let trade = Trade::open();
    let sol = trade.sol();
    let (seller, listing) = (&trade.seller, &trade.listing);
    let list = format!(
        "seller_id;ml_id;sku\r\n{seller};{listing};GAR-1\r\n{seller};MLB1;GAR-1\r\n9999;{listing};GAR-1\r\n"
    );
    let csv = Request::new("POST", &path("/catalog/links/bulk")).body("text/csv", list.as_bytes());
    let answer = sol.send(csv).expect(200).json()["data"].clone();
    assert_eq!((&answer["created"], &answer["failed"]), (&json!(1), &json!(2)), "{answer}");
    assert_eq!(
        answer["rows"][0],
        json!({ "row": 1, "ml_id": listing, "status": "created", "code": null, "error": null })
    );
    assert_eq!(answer["rows"][1]["status"], "failed");
    assert!(answer["rows"][2]["error"].as_str().unwrap().contains("relation"), "{answer}");
    let again = done(&sol, "/catalog/links/bulk", &json!({ "csv": list }));
    assert_eq!((&again["created"], &again["unchanged"]), (&json!(0), &json!(1)));
    let form = format!(
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\
         Content-Type: text/csv\r\n\r\n{list}\r\n--x--\r\n"
    );
    let file = Request::new("POST", &path("/catalog/links/bulk"))
        .body("multipart/form-data; boundary=x", form.as_bytes());
    assert_eq!(sol.send(file).expect(200).json()["data"], again);
    let rows = |count: usize| {
        format!("seller_id,ml_id,sku\n{}", format!("{seller},{listing},GAR-1\n").repeat(count))
    };
    assert_eq!(done(&sol, "/catalog/links/bulk", &json!({ "csv": rows(500) }))["unchanged"], 500);
    for wrong in [rows(501), rows(0), "sku\nGAR-1\n".to_owned(), String::new()] {
        ask(&sol, "/catalog/links/bulk", &json!({ "csv": wrong })).expect(400);
    }
    // Columns in another order and empty rows are not errors.
    let odd = json!({ "csv": "SKU;seller_id;ml_id\r\n;;\r\nA;sete;MLB\r\n" });
    assert_eq!(done(&sol, "/catalog/links/bulk", &odd)["failed"], 1);
    let other =
        Request::new("POST", &path("/catalog/links/bulk")).body("text/plain", list.as_bytes());
    assert_eq!(sol.send(other).status / 100, 4);
}

#[test]
fn a_paid_order_of_a_linked_listing_is_owed_until_it_is_paid_or_called_off() {
    let trade = Trade::open();
    let sol = trade.sol();
    trade.sell(1);
    trade.shop.site.clock().advance_s(60);
    trade.link();
    assert!(data(&sol, "/orders").is_empty(), "older than the link");
    trade.shop.site.clock().advance_s(60);
    let order = trade.sell(3);
    let owed = data(&sol, "/orders");
    assert_eq!(owed.len(), 1);
    let first = &owed[0];
    assert_eq!(first["order_id"], json!(order));
    assert_eq!(first["seller_id"], json!(trade.seller));
    assert_eq!(first["amount_due"].as_f64(), Some(60.0));
    assert_eq!(
        first["items"],
        json!([{ "sku": "GAR-1", "title": "Garrafa de inox", "quantity": 3, "unit_cost": 20 }])
    );
    assert_eq!((&first["status"], &first["paid_at"]), (&json!("pending"), &Value::Null));
    assert!(data(&trade.lua(), "/orders").is_empty());
    // A second notification makes no second order.
    trade.change(&order, &json!({ "notify": true, "shipping_status": "ready_to_ship" }));
    let again = data(&sol, "/orders");
    assert_eq!((again.len(), &again[0]["drop_order_id"]), (1, &first["drop_order_id"]));
    assert_eq!(again[0]["shipping"]["status"], "ready_to_ship");
    // The order keeps the price of its day.
    let id = trade
        .shop
        .site
        .stored("SELECT CAST(product_id AS TEXT) FROM product WHERE sku = 'GAR-1'")
        .remove(0);
    let dearer = json!({ "preco": 99 });
    trade
        .shop
        .site
        .person_as("sol", "drop")
        .post(&format!("/fornecedor/produtos/{id}"), &dearer)
        .ok();
    assert_eq!(data(&sol, "/orders")[0]["amount_due"].as_f64(), Some(60.0));

    trade.shop.site.clock().advance_s(3 * 86_400);
    assert_eq!(data(&sol, "/orders")[0]["status"], "overdue");
    assert_eq!(read(&sol, "/orders?status=overdue")["pagination"]["total"], 1);
    assert_eq!(read(&sol, "/orders?status=pending")["pagination"]["total"], 0);
    let others = format!("/orders?seller_id={}&status=overdue", trade.seller);
    assert_eq!(read(&sol, &others)["pagination"]["total"], 1);
    assert_eq!(read(&sol, "/orders?seller_id=999999")["pagination"]["total"], 0);
    sol.get(&path("/orders?status=late")).expect(400);

    trade.change(&order, &json!({ "status": "cancelled", "notify": true }));
    assert_eq!(data(&sol, "/orders?status=cancelled")[0]["order_id"], json!(order));
    assert!(data(&sol, "/orders?status=overdue").is_empty());
    let counted = trade.shop.site.stored(
        "SELECT state || ':' || orders || ':' || cents FROM drop_order_count WHERE orders > 0",
    );
    assert_eq!(counted, ["3:1:6000"]);
}

#[test]
fn a_seller_is_reminded_once_a_day_and_of_everything_once_in_five_minutes() {
    let trade = Trade::open();
    let sol = trade.sol();
    trade.link();
    trade.shop.site.clock().advance_s(60);
    let (first, second) = (trade.sell(1), trade.sell(2));
    let remind = |order: &str| ask(&sol, "/orders/remind", &json!({ "order_id": order }));
    let reminded = remind(&first).expect(200).json()["data"].clone();
    assert_eq!(reminded, json!({ "reminded": true, "channel": "panel" }));
    remind(&first).expect(200);
    let told = || {
        let sql = format!(
            "SELECT CAST(count(*) AS TEXT) FROM notification WHERE kind = 7 AND owner_id = {}",
            trade.seller
        );
        trade.shop.site.stored(&sql).remove(0)
    };
    assert_eq!(told(), "1", "a reminder of the last 24 hours stands");
    ask(&trade.lua(), "/orders/remind", &json!({ "order_id": first })).expect(404);
    remind("1").expect(404);
    ask(&sol, "/orders/remind", &json!({})).expect(400);
    trade.change(&second, &json!({ "status": "cancelled", "notify": true }));
    remind(&second).expect(400);

    trade.shop.site.clock().advance_s(4 * 86_400);
    let all = || sol.post(&path("/orders/remind-all"), &json!({}));
    let reply = all().expect(200);
    assert_eq!(reply.json()["data"], json!({ "sellers": 1, "orders": 1 }));
    assert_eq!(reply.header("x-ratelimit-limit"), Some("1"));
    assert_eq!(reply.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(told(), "2");
    let refused = all().expect(429);
    assert_eq!(refused.header("x-ratelimit-limit"), Some("1"));
    let wait: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=300).contains(&wait), "{wait}");
    // Each token has a window of its own, the panel's button another; the seller was told.
    let site = &trade.shop.site;
    let email = sol.person().email.clone();
    let second = site.command(&["partner", "token", "--email", &email]).ok();
    let second = site.bearer(second.trim());
    let reply = second.post(&path("/orders/remind-all"), &json!({})).expect(200);
    assert_eq!(reply.header("x-ratelimit-limit"), Some("1"), "{reply}");
    second.post(&path("/orders/remind-all"), &json!({})).expect(429);
    let panel = || site.person_as("sol", "drop").post("/fornecedor/pedidos/lembrar", &json!({}));
    panel().ok();
    panel().expect(429);
    assert_eq!(told(), "2", "a reminder of the last 24 hours stands");
    site.clock().advance_s(wait);
    all().expect(200);
}

#[test]
fn fifty_reminders_at_once_are_one() {
    let site = Site::builder().unlimited().start();
    let sol = site.supplier("sol").plan("scale");
    relate(&site, &sol, &site.person("ana"));
    let done = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..50)
            .map(|_| {
                let caller = &sol;
                scope.spawn(move || {
                    let request =
                        Request::new("POST", &path("/orders/remind-all")).json(&json!({}));
                    caller.send_apart(request).status
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(done.iter().filter(|status| **status == 200).count(), 1, "{done:?}");
    assert!(done.iter().all(|status| matches!(status, 200 | 429)), "{done:?}");
}

#[test]
fn what_ends_ends_at_once() {
    let trade = Trade::open();
    let (sol, site) = (trade.sol(), &trade.shop.site);
    trade.link();
    site.clock().advance_s(60);
    let order = trade.sell(1);
    let bia = site.person("bia");
    relate(site, &sol, &bia);
    assert_eq!(data(&sol, "/orders").len(), 1);
    let ana = site.person("ana");
    let supplier = number(site, &sol);
    ana.post(&format!("/painel/parceiro/fornecedores/{supplier}/encerrar"), &json!({})).ok();
    assert!(data(&sol, "/orders").is_empty());
    assert!(data(&sol, "/catalog/audit").is_empty());
    assert_eq!(read(&sol, "/catalog/products")["data"][0]["links"], 0);
    assert_eq!(read(&sol, "/health")["sellers"].as_array().unwrap().len(), 1);
    ask(&sol, "/orders/remind", &json!({ "order_id": order })).expect(404);
    let link = json!({ "seller_id": trade.seller, "ml_id": trade.listing, "sku": "GAR-1" });
    ask(&sol, "/catalog/links", &link).expect(404);
    let file = format!("/ml/invoice?order_id={order}&seller_id={}", trade.seller);
    sol.get(&path(&file)).expect(404);
    site.clock().advance_s(60);
    trade.sell(1);
    assert_eq!(site.stored("SELECT CAST(count(*) AS TEXT) FROM drop_order"), ["1"]);
    let bia = number(site, &bia);
    let sol_panel = site.person_as("sol", "drop");
    sol_panel.post(&format!("/fornecedor/vendedores/{bia}/encerrar"), &json!({})).ok();
    sol.get(&path("/health")).expect(403);
}

#[test]
fn labels_and_notes_are_those_of_drop_orders() {
    let trade = Trade::open();
    let (sol, seller) = (trade.sol(), trade.seller.clone());
    trade.link();
    trade.shop.site.clock().advance_s(60);
    let (order, shipment) = trade.shop.sell(LOJA, true);
    wait_until_worked(&trade.shop.world, &trade.shop.site);
    let label = |shipment: &str, seller: &str| {
        sol.get(&path(&format!("/ml/label?ship_id={shipment}&seller_id={seller}")))
    };
    let file = until("the parcel is known", Duration::from_mins(1), || {
        trade.shop.site.clock().advance_s(1);
        let reply = label(&shipment, &seller);
        (reply.status == 200).then_some(reply)
    });
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    assert!(file.body.starts_with(b"%PDF-"));
    let etag = file.header("etag").unwrap();
    let again =
        Request::new("GET", &path(&format!("/ml/label?ship_id={shipment}&seller_id={seller}")));
    sol.send(again.header("If-None-Match", etag)).expect(304);
    let text = |reply: Reply, status: u16| {
        let reply = reply.expect(status);
        assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"), "{reply}");
        reply.text()
    };
    let (_, others) = trade.shop.sell(OTHER, true);
    let rui = number(&trade.shop.site, &trade.shop.site.person("rui"));
    for (shipment, seller) in
        [(&*others, &*rui), (&*others, &*seller), ("1", &*seller), (&*shipment, &*rui)]
    {
        text(label(shipment, seller), 404);
    }
    text(label("x", &seller), 400);
    text(sol.get(&path("/ml/label?ship_id=1")), 400);
    text(trade.shop.site.anonymous().get(&path("/ml/label?ship_id=1&seller_id=1")), 401);
    text(
        trade.shop.site.seller("ana").plan("pro").get(&path("/ml/label?ship_id=1&seller_id=1")),
        403,
    );

    let note =
        |order: &str| sol.get(&path(&format!("/ml/invoice?order_id={order}&seller_id={seller}")));
    text(note(&order), 400);
    let issued = json!({ "invoice": "issued", "notify": false });
    trade.shop.world.control(&format!("/_sandbox/orders/{order}"), &issued);
    assert!(note(&order).expect(200).body.starts_with(b"%PDF-"));
    text(note("1"), 404);
    trade.shop.world.fault(&json!({ "path_prefix": "/users", "kind": "status", "code": 503 }));
    trade.shop.world.fault(&json!({ "path_prefix": "/packs", "kind": "status", "code": 503 }));
    text(note(&order), 502);
}
