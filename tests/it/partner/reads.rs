//! What sellers read through the Partner API: stores with their figures,
//! products, stock, listings at the marketplace, and their own usage.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::shops::shops;
use crate::support::site::Site;
use crate::support::sync::wait_until_worked;
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const BASE: &str = "/api/v1/partner";

#[track_caller]
fn read(actor: &Actor<'_>, target: &str) -> Value {
    actor.get(&format!("{BASE}{target}")).expect(200).json()
}

#[track_caller]
fn data(actor: &Actor<'_>, target: &str) -> Vec<Value> {
    read(actor, target)["data"].as_array().unwrap().clone()
}

/// The values of one field of a list.
#[track_caller]
fn column(actor: &Actor<'_>, target: &str, field: &str) -> Vec<String> {
    let rows = data(actor, target);
    rows.iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// Two shops of Ana with a sale each, and a seller who has nothing.
fn two_sellers() -> (World, Site) {
    let (world, site) = shops();
    site.seller("ana").plan("pro");
    site.seller("rui").plan("pro");
    (world, site)
}

#[test]
fn stores_are_listed_with_what_they_sold() {
    let (world, site) = two_sellers();
    let ana = site.seller("ana");
    let stores = data(&ana, "/stores");
    assert_eq!(stores.len(), 2);
    let first = &stores[0];
    assert_eq!(first["ml_user_id"], LOJA.to_string());
    assert_eq!(first["nickname"], "LOJA UM");
    assert_eq!(first["token_ok"], true);
    assert_eq!(first["listings"], 1);
    assert_eq!(first["sales_today"], 1);
    assert!(first["gmv_30d"].as_f64().unwrap() >= 35.5, "{first}");
    assert!(first["synced_at"].as_str().unwrap().contains('T') && first["error"].is_null());
    assert_eq!(column(&ana, "/stores?limit=1&offset=1", "nickname"), ["LOJA DOIS"]);
    assert_eq!(read(&ana, "/stores?limit=1")["pagination"]["total"], 2);
    assert!(data(&site.seller("rui"), "/stores").is_empty());

    world.end_tokens(LOJA, "revoke");
    let told = json!({ "ml_user_id": LOJA, "topic": "items", "resource": "/items/MLB1" });
    world.control("/_sandbox/notifications", &told);
    let lost = until("the link is known to be lost", Duration::from_mins(1), || {
        site.clock().advance_s(1);
        data(&ana, "/stores").into_iter().find(|store| store["token_ok"] == false)
    });
    assert!(!lost["error"].as_str().unwrap().is_empty());
}

#[test]
fn figures_of_a_store_add_up() {
    let (world, site) = two_sellers();
    let ana = site.seller("ana");
    let order = world.sale_with(LOJA, &json!({ "quantity": 3, "notify": true }));
    let lost = world.sale(LOJA);
    wait_until_worked(&world, &site);
    let path = format!("/_sandbox/orders/{}", lost["id"]);
    world.control(&path, &json!({ "status": "cancelled" }));
    wait_until_worked(&world, &site);
    let item = json!({ "stock": 0 });
    let listed = column(&ana, &format!("/announcements?store={LOJA}"), "ml_id");
    world.control(&format!("/_sandbox/items/{}", listed[0]), &item);
    wait_until_worked(&world, &site);

    let metrics = read(&ana, &format!("/stores/{LOJA}/metrics"));
    assert_eq!(metrics["ml_user_id"], LOJA.to_string());
    let sales = &metrics["sales"];
    assert_eq!((&sales["count"], &sales["cancelled"]), (&json!(2), &json!(1)), "{metrics}");
    assert_eq!(sales["units"], 4, "{order}");
    let gross = sales["gross"].as_f64().unwrap();
    assert!((sales["average_ticket"].as_f64().unwrap() - gross / 2.0).abs() < 0.011);
    let days = metrics["daily"].as_array().unwrap();
    assert_eq!(days.len(), 30);
    assert_eq!(days[0]["date"], metrics["period"]["from"]);
    assert_eq!(
        days[29],
        json!({ "date": metrics["period"]["to"], "count": 2, "gross": sales["gross"] })
    );
    assert_eq!(days[28]["count"], 0);
    let listings = json!({ "active": 0, "paused": 1, "total": 1, "out_of_stock": 1 });
    assert_eq!(metrics["listings"], listings);
    for field in ["level", "power_seller", "claims_rate", "late_rate", "cancel_rate"] {
        assert!(metrics["reputation"].get(field).is_some(), "{field}: {metrics}");
    }
    let one_day = format!("/stores/{LOJA}/metrics?from=2026-11-20&to=2026-11-20");
    assert_eq!(read(&ana, &one_day)["daily"].as_array().unwrap().len(), 1);
    let before = format!("/stores/{LOJA}/metrics?from=2026-01-01&to=2026-01-31");
    let empty = read(&ana, &before);
    assert_eq!(empty["sales"]["count"], 0);
    assert!(empty["sales"]["average_ticket"].is_null());

    for wrong in [
        "from=ontem",
        "from=2026-11-21&to=2026-11-20",
        "from=2024-01-01&to=2026-11-20",
        "to=2026-02-30",
        "dias=3",
        "ml_id=7",
    ] {
        let target = format!("{BASE}/stores/{LOJA}/metrics?{wrong}");
        assert_eq!(ana.get(&target).expect(400).code(), "validation_failed", "{wrong}");
    }
    let elsewhere = format!("{BASE}/stores/{LOJA}/metrics");
    assert_eq!(site.seller("rui").get(&elsewhere).expect(404).code(), "not_found");
    ana.get(&format!("{BASE}/stores/1/metrics")).expect(404);
    ana.get(&format!("{BASE}/stores/x/metrics")).expect(400);
}

#[test]
fn listings_are_narrowed_by_state_store_sku_and_words() {
    let (world, site) = two_sellers();
    let ana = site.seller("ana");
    let cup = json!({ "ml_user_id": LOJA, "title": "Copo térmico", "price": 49.9, "sku": "COPO-1",
                      "stock": 7 });
    let cup = world.control("/_sandbox/items", &cup)["id"].as_str().unwrap().to_owned();
    let told = json!({ "ml_user_id": LOJA, "topic": "items", "resource": format!("/items/{cup}") });
    world.control("/_sandbox/notifications", &told);
    wait_until_worked(&world, &site);
    let all = data(&ana, "/announcements");
    assert_eq!(all.len(), 3);
    let shown = all.iter().find(|one| one["ml_id"] == *cup).unwrap();
    for (field, value) in [
        ("ml_user_id", json!(LOJA.to_string())),
        ("title", json!("Copo térmico")),
        ("price", json!(49.9)),
        ("currency", json!("BRL")),
        ("available_quantity", json!(7)),
        ("sold_quantity", json!(0)),
        ("status", json!("active")),
        ("sku", json!("COPO-1")),
        ("ean", json!("")),
    ] {
        assert_eq!(shown[field], value, "{field}: {shown}");
    }
    for field in ["listing_type", "permalink", "thumbnail", "updated_at"] {
        assert!(shown[field].is_string(), "{field}: {shown}");
    }
    let found = |query: &str| {
        let page = read(&ana, &format!("/announcements?{query}"));
        let rows = page["data"].as_array().unwrap().len();
        (rows, page["pagination"]["total"].as_u64().unwrap())
    };
    for (query, rows, total) in [
        ("status=active", 3, 3),
        ("status=closed", 0, 0),
        ("status=payment_required", 0, 0),
        (&*format!("store={LOJA}"), 2, 2),
        (&*format!("store={LOJA}&status=active&limit=1"), 1, 2),
        ("sku=COPO-1", 1, 1),
        ("sku=copo", 0, 0),
        ("q=termico", 1, 1),
        ("q=COPO-", 1, 1),
        (&*format!("q={cup}"), 1, 1),
        ("q=caneca+agata", 2, 2),
        ("q=%25", 0, 0),
        ("limit=1&offset=2", 1, 3),
        ("offset=3", 0, 3),
    ] {
        assert_eq!(found(query), (rows, total), "{query}");
    }
    for wrong in
        ["limit=0", "limit=201", "offset=-1", "store=x", "q=", "sku=", "cor=azul", "status=activ"]
    {
        let refused = ana.get(&format!("{BASE}/announcements?{wrong}")).expect(400);
        assert_eq!(refused.code(), "validation_failed", "{wrong}");
        let named = wrong.split('=').next().unwrap();
        assert!(refused.json()["error"]["fields"][named].is_string(), "{refused}");
    }
    let rui = site.seller("rui");
    assert!(data(&rui, "/announcements?sku=COPO-1").is_empty());
    rui.get(&format!("{BASE}/announcements?store={LOJA}")).expect(404);
}

#[test]
fn products_and_their_stock_are_the_callers_own() {
    let (world, site) = two_sellers();
    let (ana, person) = (site.seller("ana"), site.person("ana"));
    let new = |sku: &str, title: &str, stock: i64| {
        let body = json!({ "sku": sku, "titulo": title, "custo": 10.5, "preco": 30,
                           "ean": "7891234567895", "estoque": stock });
        let made = person.post("/painel/produtos", &body).expect(201).json();
        made["id"].as_str().unwrap().to_owned()
    };
    let bottle = new("GAR", "Garrafa Água", 3);
    new("ABC", "Caderno", 0);
    for (kind, quantity) in [("saida", 1), ("ajuste", 9)] {
        let moved = json!({ "tipo": kind, "quantidade": quantity, "motivo": "Balcão" });
        person.post(&format!("/painel/produtos/{bottle}/movimentos"), &moved).expect(201);
    }
    assert_eq!(column(&ana, "/products", "sku"), ["ABC", "GAR"]);
    let shown = &data(&ana, "/products?sku=GAR")[0];
    assert_eq!(shown["id"], *bottle);
    for (field, value) in [
        ("title", json!("Garrafa Água")),
        ("ean", json!("7891234567895")),
        ("cost", json!(10.5)),
        ("price", json!(30)),
        ("stock", json!(9)),
    ] {
        assert_eq!(shown[field], value, "{field}: {shown}");
    }
    for (query, found) in
        [("q=agua", 1), ("q=caderno+abc", 1), ("q=nada", 0), ("sku=gar", 0), ("q=789123", 2)]
    {
        assert_eq!(data(&ana, &format!("/products?{query}")).len(), found, "{query}");
    }

    let stock = data(&ana, "/stock");
    let moved = &stock[1];
    assert_eq!((&moved["sku"], &moved["balance"]), (&json!("GAR"), &json!(9)));
    let movements = moved["movements"].as_array().unwrap();
    let told: Vec<_> = movements
        .iter()
        .map(|one| (one["type"].as_str().unwrap(), one["quantity"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, [("adjust", 7), ("out", 1), ("adjust", 3)], "{moved}");
    assert_eq!(movements[0]["reason"], "Balcão");
    assert!(movements[0]["order_id"].is_null());
    assert_eq!(data(&ana, "/stock?movements=1")[1]["movements"].as_array().unwrap().len(), 1);
    assert_eq!(data(&ana, "/stock?movements=0&limit=200")[1]["movements"], json!([]));
    assert_eq!(data(&ana, "/stock?movements=100&limit=200").len(), 2);
    for wrong in ["movements=101", "movements=-1", "movements=x", "sku=GAR"] {
        ana.get(&format!("{BASE}/stock?{wrong}")).expect(400);
    }

    // A sale of the SKU reduces the stock and names the order.
    let listed = json!({ "ml_user_id": LOJA, "title": "Garrafa", "price": 9, "sku": "GAR" });
    let listed = world.control("/_sandbox/items", &listed);
    site.clock().advance_s(2);
    let sale = json!({ "item": listed["id"], "quantity": 2, "notify": true });
    let order = world.sale_with(LOJA, &sale);
    wait_until_worked(&world, &site);
    let newest = &data(&ana, "/stock?movements=1")[1];
    assert_eq!(newest["balance"], 7, "{newest}");
    assert_eq!(newest["movements"][0]["order_id"], order["id"].to_string());
    assert_eq!(newest["movements"][0]["type"], "out");

    let rui = site.seller("rui");
    for list in ["/products", "/products?sku=GAR", "/stock"] {
        assert!(data(&rui, list).is_empty(), "{list}");
    }
}

/// Ids of all movements that are shown.
fn movement_ids(actor: &Actor<'_>) -> Vec<u64> {
    let shown = data(actor, "/stock");
    let movements = shown.iter().flat_map(|one| one["movements"].as_array().unwrap());
    movements.map(|one| one["id"].as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn no_two_movements_share_an_id_and_none_that_is_gone_gives_its_id_away() {
    let site = Site::builder().unlimited().start();
    let (ana, person) = (site.seller("ana").plan("pro"), site.person("ana"));
    let new = |sku: &str| {
        let body = json!({ "sku": sku, "titulo": sku, "preco": 30, "estoque": 3 });
        let made = person.post("/painel/produtos", &body).expect(201).json();
        made["id"].as_str().unwrap().to_owned()
    };
    let moves = |product: &str| -> u64 {
        let moved = json!({ "tipo": "entrada", "quantidade": 1, "motivo": "Compra" });
        let made = person.post(&format!("/painel/produtos/{product}/movimentos"), &moved);
        made.expect(201).json()["id"].as_str().unwrap().parse().unwrap()
    };
    let [first, second, last] = ["A", "B", "C"].map(new);
    let made = [&first, &second, &first, &last].map(|product| moves(product));
    let before = movement_ids(&ana);
    assert_eq!(before.len(), 7);
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 7, "{before:?}");
    assert!(made.iter().all(|id| before.contains(id)), "{before:?} {made:?}");
    // The newest product goes, and another may get its number.
    person.post(&format!("/painel/produtos/{last}/excluir"), &json!({})).ok();
    let again = moves(&new("C"));
    let newest = before.iter().max().unwrap();
    let fresh: Vec<u64> = movement_ids(&ana).into_iter().filter(|id| id > newest).collect();
    assert_eq!(fresh.len(), 2, "{before:?} {fresh:?}");
    assert!(fresh.contains(&again), "{fresh:?} {again}");
}

#[test]
fn usage_tells_every_call_of_the_month() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("starter");
    for _ in 0..3 {
        read(&ana, "/health");
    }
    ana.get(&format!("{BASE}/orders?limit=0")).expect(400);
    ana.send(Request::new("POST", &format!("{BASE}/orders"))).expect(405);
    let token = ana.bearer_token().to_owned();
    let usage = read(&ana, "/usage");
    assert_eq!(usage["month"], "2026-11");
    assert_eq!(usage["plan"], "starter");
    assert_eq!((&usage["used"], &usage["monthly_quota"]), (&json!(5), &json!(10_000)));
    assert_eq!(usage["remaining"], 9_995);
    assert_eq!(usage["resets_at"], "2026-12-01T00:00:00");
    assert_eq!(usage["daily"], json!([{ "date": "2026-11-20", "calls": 5 }]));
    let endpoints = json!([
        { "operation": "get_usage", "calls": 1 },
        { "operation": "health", "calls": 3 },
        { "operation": "list_orders", "calls": 1 },
    ]);
    assert_eq!(usage["endpoints"], endpoints);

    // The next day, after a clean stop: no call is lost or counted twice.
    site.clock().advance_s(86_400);
    site.stop();
    site.start_again();
    let again = read(&site.bearer(&token), "/usage");
    assert_eq!(again["used"], 6);
    let days = json!([
        { "date": "2026-11-20", "calls": 5 },
        { "date": "2026-11-21", "calls": 1 },
    ]);
    assert_eq!(again["daily"], days);
    assert_eq!(again["endpoints"][0], json!({ "operation": "get_usage", "calls": 2 }));

    // The month ends in the configured zone.
    site.clock().set("2026-12-01T02:59:59Z");
    assert_eq!(read(&site.bearer(&token), "/usage")["used"], 7);
    site.clock().set("2026-12-01T03:00:00Z");
    let fresh = read(&site.bearer(&token), "/usage");
    assert_eq!((&fresh["month"], &fresh["used"]), (&json!("2026-12"), &json!(1)));
}
