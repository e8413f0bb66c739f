//! Orders of several lines and parcels in their real sub-states, as the marketplace has
//! them: stock, debts, pages and both APIs follow.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::dropshipping::{Trade, data, done, read};
use crate::support::shop::{LABELS, Shop};
use crate::support::shops::{CLAIMS, SALES};
use crate::support::site::Site;
use crate::support::sync::wait_until_worked;
use crate::support::world::{LOJA, World};

const TOPICS: [&str; 5] = ["orders_v2", "items", "questions", "post_purchase", "shipments"];

fn opened() -> Shop {
    let shop = Shop::open();
    shop.world.configure(&json!({ "topics": TOPICS }));
    shop
}

fn page(ana: &Actor<'_>, path: &str) -> String {
    ana.send(Request::new("GET", path).header("Accept", "text/html")).expect(200).text()
}

/// A listing of Ana's with a SKU, and her product of that SKU with 50 in stock.
fn good(shop: &Shop, title: &str, sku: &str, price: f64) -> String {
    let item =
        json!({ "ml_user_id": LOJA, "title": title, "price": price, "stock": 90, "sku": sku });
    let id = shop.world.control("/_sandbox/items", &item)["id"].as_str().unwrap().to_owned();
    let product =
        json!({ "sku": sku, "titulo": title, "custo": 10, "preco": price, "estoque": 50 });
    shop.ana().post("/painel/produtos", &product).expect(201);
    id
}

fn stock(shop: &Shop) -> Vec<String> {
    shop.site.stored("SELECT sku || ' ' || stock FROM product WHERE owner_id = (SELECT owner_id FROM ml_account WHERE nickname = 'LOJA DA ANA') ORDER BY sku")
}

fn worked(world: &World, site: &Site) {
    wait_until_worked(world, site);
}

/// Sells, and waits until the sale is here; its number, and that of its parcel.
fn sell(shop: &Shop, fields: &Value) -> (String, String) {
    let mut fields = fields.clone();
    fields["notify"] = json!(true);
    let order = shop.world.sale_with(LOJA, &fields);
    worked(&shop.world, &shop.site);
    (order["id"].to_string(), order["shipment"]["id"].to_string())
}

/// Brings a parcel into a state, with its notification.
fn parcel(shop: &Shop, id: &str, fields: &Value) {
    let mut fields = fields.clone();
    fields["notify"] = json!(true);
    shop.site.clock().advance_s(60);
    shop.world.control(&format!("/_sandbox/shipments/{id}"), &fields);
    worked(&shop.world, &shop.site);
}

#[test]
fn each_line_of_an_order_moves_its_own_stock_and_is_found_by_its_own_listing() {
    let shop = opened();
    let (cable, cap) = (good(&shop, "Cabo", "CAB-1", 20.0), good(&shop, "Boné", "CAP-2", 35.0));
    shop.site.clock().advance_s(60);
    let lines =
        json!({ "items": [{ "item": cable, "quantity": 1 }, { "item": cap, "quantity": 2 }] });
    let (order, _) = sell(&shop, &lines);
    assert_eq!(stock(&shop), ["CAB-1 49", "CAP-2 48"]);
    let ana = shop.ana();
    let sale = json_of(&ana, &format!("{SALES}/{order}"));
    let items: Vec<_> = sale["itens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["sku"], &one["quantidade"], &one["preco"]))
        .collect();
    assert_eq!(
        items,
        [(&json!("CAB-1"), &json!(1), &json!(20)), (&json!("CAP-2"), &json!(2), &json!(35))]
    );
    // All costs are known: ten for each of three units.
    assert_eq!((&sale["total"], &sale["custo"]), (&json!(90), &json!(30)));
    let shown = page(&ana, &format!("{SALES}/{order}"));
    for words in ["1× Cabo e mais 1 produto", "2 produtos", "SKU CAP-2", "R$ 70,00"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    for search in ["CAP-2", "bon%C3%A9", &*cap, "cabo"] {
        assert_eq!(json_of(&ana, &format!("{SALES}?q={search}"))["total"], 1, "{search}");
    }
    let told = json_of(&ana, "/painel/avisos")["dados"][0].to_string();
    assert!(told.contains("1× Cabo e mais 1 produto — R$ 90,00"), "{told}");

    // The API has the lines, and finds the order by each listing.
    let seller = shop.site.seller("ana").plan("pro");
    let api = json_of(&seller, &format!("/api/v1/partner/orders?ml_id={cap}"));
    let found = &api["data"][0];
    assert_eq!(
        (&found["order_id"], &found["ml_id"], &found["quantity"]),
        (&json!(order), &json!(cable), &json!(3))
    );
    assert_eq!(found["items"][1]["ml_id"], json!(cap));
    let top = json_of(&seller, "/api/v1/partner/top-products?by=units");
    let top: Vec<_> =
        top["data"].as_array().unwrap().iter().map(|one| (&one["sku"], &one["units"])).collect();
    assert_eq!(top, [(&json!("CAP-2"), &json!(2)), (&json!("CAB-1"), &json!(1))]);

    // Called off, everything comes back, line by line.
    shop.world.control(
        &format!("/_sandbox/orders/{order}"),
        &json!({ "status": "cancelled", "notify": true }),
    );
    worked(&shop.world, &shop.site);
    assert_eq!(stock(&shop), ["CAB-1 50", "CAP-2 50"]);
}

#[test]
fn suppliers_are_owed_for_their_own_lines() {
    let trade = Trade::open();
    let (shop, site) = (&trade.shop, &trade.shop.site);
    let cap = json!({ "ml_user_id": LOJA, "title": "Boné", "price": 30, "notify": true });
    let cap = shop.world.control("/_sandbox/items", &cap)["id"].as_str().unwrap().to_owned();
    worked(&shop.world, site);
    let ana = site.person("ana");
    let (sol, lua) = (trade.sol(), trade.lua());
    trade.link();
    crate::support::dropshipping::relate(site, &lua, &ana);
    let product = json!({ "sku": "BON-1", "titulo": "Boné de sarja", "preco": 7 });
    site.person_as("lua", "drop").post("/fornecedor/produtos", &product).expect(201);
    let link = json!({ "seller_id": trade.seller, "ml_id": cap, "sku": "BON-1" });
    done(&lua, "/catalog/links", &link);
    site.clock().advance_s(60);
    let lines = json!({ "items": [{ "item": trade.listing, "quantity": 1 }, { "item": cap, "quantity": 2 }] });
    let (order, _) = sell(shop, &lines);
    let owed = |supplier: &Actor<'_>| data(supplier, "/orders").remove(0);
    assert_eq!(
        (&owed(&sol)["amount_due"], &owed(&sol)["items"][0]["quantity"]),
        (&json!(20), &json!(1))
    );
    assert_eq!(
        (&owed(&lua)["amount_due"], &owed(&lua)["items"][0]["sku"]),
        (&json!(14), &json!("BON-1"))
    );
    assert_eq!(owed(&lua)["ml_id"], json!(cap));
    let totals = read(&lua, "/orders/totals");
    assert_eq!(totals["total"]["pending"]["amount"], json!(14), "{totals}");
    assert_eq!(owed(&lua)["order_id"], json!(order));
}

#[test]
fn what_is_to_be_printed_is_what_the_marketplace_prints() {
    let shop = opened();
    let (_, id) = sell(&shop, &json!({}));
    let ana = shop.ana();
    let seller = shop.site.seller("ana").plan("pro");
    let count =
        || json_of(&seller, "/api/v1/partner/summary")["to_send"]["count"].as_u64().unwrap();
    assert_eq!(count(), 1);
    assert!(page(&ana, LABELS).contains("1 etiqueta a imprimir"));
    for (substatus, words) in [
        ("invoice_pending", "1 pacote espera a nota fiscal"),
        ("printed", "1 etiqueta impressa fora daqui"),
        ("dropped_off", "Nenhuma etiqueta a imprimir"),
        ("in_hub", "Nenhuma etiqueta a imprimir"),
        ("a_word_of_tomorrow", "Nenhuma etiqueta a imprimir"),
    ] {
        parcel(&shop, &id, &json!({ "status": "ready_to_ship", "substatus": substatus }));
        assert_eq!(count(), 0, "{substatus}");
        let shown = page(&ana, LABELS);
        assert!(shown.contains(words), "{substatus}: {shown}");
        assert!(!page(&ana, "/painel").contains("a imprimir"), "{substatus}");
    }
    parcel(&shop, &id, &json!({ "substatus": "ready_to_print" }));
    assert_eq!(count(), 1);
}

#[test]
fn the_deadline_is_asked_for_and_again_on_its_day() {
    let shop = opened();
    let (_, id) = sell(&shop, &json!({ "shipping_substatus": "invoice_pending" }));
    let due =
        || shop.site.stored("SELECT coalesce(dispatch_by, 0) || '' FROM sale_order")[0].clone();
    let first: i64 = due().parse().unwrap();
    assert!(first > 0, "the deadline of /sla");
    // Another one is not asked for while its day is far.
    let moved = instant(first + 86_400 * 3);
    shop.world.control(&format!("/_sandbox/shipments/{id}"), &json!({ "expected_date": moved }));
    parcel(&shop, &id, &json!({ "substatus": "ready_to_print" }));
    assert_eq!(due(), first.to_string());
    shop.site.clock().advance_s(20 * 3_600);
    parcel(&shop, &id, &json!({ "substatus": "invoice_pending" }));
    assert_eq!(due(), (first + 86_400 * 3).to_string());
    let asked = shop.world.requests();
    let asked =
        asked.iter().filter(|one| one["path"].as_str().is_some_and(|path| path.ends_with("/sla")));
    assert_eq!(asked.count(), 2);
}

/// An instant in RFC 3339.
fn instant(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).unwrap().to_string()
}

#[test]
fn a_sale_that_must_not_be_sent_is_told_and_not_printed() {
    let shop = opened();
    // Another sale lies in the same parcel.
    let pack = json!({ "pack_id": 2_000_000_900_000_009_i64 });
    let (order, id) = sell(&shop, &pack);
    let (sibling, its) = sell(&shop, &pack);
    assert_eq!(id, its);
    let ana = shop.ana();
    let label = format!("/painel/ml/etiqueta?conta={LOJA}&shipment_id={id}");
    ana.get(&label).expect(200);
    shop.site.clock().advance_s(60);
    let risk = json!({ "add_tags": ["fraud_risk_detected"], "notify": true });
    shop.world.control(&format!("/_sandbox/orders/{order}"), &risk);
    worked(&shop.world, &shop.site);
    assert!(page(&ana, &format!("{SALES}/{order}")).contains("Não envie esta venda; cancele"));
    assert!(page(&ana, SALES).contains("Não envie; cancele"));
    assert!(page(&ana, LABELS).contains("Nenhuma etiqueta a imprimir"));
    let told = json_of(&ana, "/painel/avisos")["dados"].to_string();
    assert_eq!(told.matches("Não envie esta venda").count(), 1, "{told}");
    let shown = page(&ana, &format!("{SALES}/{sibling}"));
    assert!(shown.contains("Não envie este pacote") && !shown.contains("shipment_id="), "{shown}");
    let refused = ana.get(&label).expect(400).text();
    assert!(refused.contains("Não envie; cancele a venda"), "{refused}");
}

#[test]
fn goods_that_left_come_back_when_they_are_said_to_be_back() {
    let shop = opened();
    let item = good(&shop, "Cabo", "CAB-1", 20.0);
    shop.site.clock().advance_s(60);
    let (order, id) = sell(&shop, &json!({ "item": item, "quantity": 2 }));
    parcel(&shop, &id, &json!({ "status": "shipped", "substatus": "" }));
    shop.world.control(
        &format!("/_sandbox/orders/{order}"),
        &json!({ "status": "cancelled", "notify": true }),
    );
    worked(&shop.world, &shop.site);
    assert_eq!(stock(&shop), ["CAB-1 48"], "they are on the road");
    let claim = json!({ "ml_user_id": LOJA, "order": order.parse::<i64>().unwrap(), "type": "return",
        "return_status": "shipped", "notify": true });
    let claim = shop.world.control("/_sandbox/claims", &claim)["id"].to_string();
    worked(&shop.world, &shop.site);
    assert_eq!(stock(&shop), ["CAB-1 48"]);
    shop.site.clock().advance_s(60);
    let back = json!({ "return_status": "delivered", "return_destination": "seller_address", "notify": true });
    shop.world.control(&format!("/_sandbox/claims/{claim}"), &back);
    worked(&shop.world, &shop.site);
    assert_eq!(stock(&shop), ["CAB-1 50"]);
    // What the marketplace's own warehouse sends moves nothing.
    sell(&shop, &json!({ "item": item, "quantity": 3, "logistic": "fulfillment" }));
    assert_eq!(stock(&shop), ["CAB-1 50"]);
}

#[test]
fn claims_about_a_cart_or_a_payment_belong_to_their_sale_once() {
    let shop = opened();
    let pack = 2_000_000_900_000_001_i64;
    let (order, _) = sell(&shop, &json!({ "pack_id": pack }));
    for resource in ["purchase", "payment"] {
        let claim = json!({ "ml_user_id": LOJA, "order": order.parse::<i64>().unwrap(), "resource": resource, "notify": true });
        shop.world.control("/_sandbox/claims", &claim);
    }
    worked(&shop.world, &shop.site);
    let ana = shop.ana();
    let claims = json_of(&ana, CLAIMS);
    for claim in claims["dados"].as_array().unwrap() {
        assert_eq!(claim["pedido"], json!(order), "{claim}");
    }
    assert_eq!(claims["total"], 2);
    let seller = shop.site.seller("ana").plan("pro");
    let stake = &json_of(&seller, "/api/v1/partner/summary")["claims"];
    assert_eq!((&stake["open"], &stake["amount"]), (&json!(2), &json!(89.9)));
    for number in [
        pack.to_string(),
        json_of(&ana, &format!("{SALES}/{order}"))["envio_id"].as_str().unwrap().to_owned(),
    ] {
        assert_eq!(json_of(&ana, &format!("{SALES}?q={number}"))["total"], 1, "{number}");
    }
}

#[test]
fn another_currency_is_never_added_up() {
    let shop = opened();
    let item = good(&shop, "Cabo", "CAB-1", 20.0);
    shop.site.clock().advance_s(60);
    sell(&shop, &json!({ "item": item }));
    sell(&shop, &json!({ "item": item, "currency": "USD" }));
    assert_eq!(stock(&shop), ["CAB-1 48"]);
    let list = page(&shop.ana(), SALES);
    assert!(list.contains("2 vendas · R$ 20,00") && list.contains("USD 20,00"), "{list}");
    let seller = shop.site.seller("ana").plan("pro");
    let today = &json_of(&seller, "/api/v1/partner/summary")["today"];
    assert_eq!((&today["count"], &today["gross"]), (&json!(2), &json!(20)));
}

#[test]
fn a_parcel_that_was_divided_leaves_no_label_behind() {
    let shop = opened();
    let (order, id) = sell(&shop, &json!({ "quantity": 2 }));
    assert!(page(&shop.ana(), LABELS).contains("1 etiqueta a imprimir"));
    shop.site.clock().advance_s(60);
    shop.world.control(&format!("/_sandbox/shipments/{id}/split"), &json!({ "notify": true }));
    worked(&shop.world, &shop.site);
    let shown = page(&shop.ana(), &format!("{SALES}/{order}"));
    assert!(shown.contains("O envio foi dividido"), "{shown}");
    let waiting = json_of(&shop.ana(), LABELS);
    let shipments: Vec<_> =
        waiting["dados"].as_array().unwrap().iter().map(|one| one["shipment_id"].clone()).collect();
    assert!(!shipments.contains(&json!(id)), "{waiting}");
}

#[test]
fn a_sale_whose_parcel_was_divided_is_not_told_as_cancelled_nor_as_new_ones() {
    let shop = opened();
    let item = good(&shop, "Cabo", "CAB-1", 20.0);
    let seller = shop.site.seller("ana").plan("pro");
    shop.site.clock().advance_s(60);
    let (order, id) = sell(&shop, &json!({ "item": item, "quantity": 2 }));
    shop.site.clock().advance_s(60);
    shop.world.control(&format!("/_sandbox/shipments/{id}/split"), &json!({}));
    worked(&shop.world, &shop.site);
    let known = json_of(&seller, "/api/v1/partner/orders");
    let known = known["data"].as_array().unwrap();
    let states: Vec<_> = known.iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["paid", "paid", "cancelled"]);
    assert_eq!(known[2]["order_id"], json!(order));

    let told = json_of(&shop.ana(), "/painel/avisos")["dados"].to_string();
    assert_eq!(told.matches("Nova venda").count(), 1, "{told}");
    let kept = |kind: &str| {
        let events = json_of(&seller, &format!("/api/v1/partner/events?type={kind}"));
        events["data"].as_array().unwrap().len()
    };
    // Who keeps books by orders has all three; only nobody called anything off.
    assert_eq!((kept("order.created"), kept("order.cancelled")), (3, 0));
    let metrics = json_of(&seller, &format!("/api/v1/partner/stores/{LOJA}/metrics"));
    let sales = &metrics["sales"];
    assert_eq!((&sales["count"], &sales["cancelled"]), (&json!(2), &json!(0)), "{metrics}");
    assert_eq!(stock(&shop), ["CAB-1 48"]);
    let why = "SELECT reason FROM stock_movement WHERE change > 0 AND order_id IS NOT NULL";
    assert_eq!(shop.site.stored(why), [format!("Venda {order} dividida")]);

    // One that a person calls off counts.
    let newer = &known[0]["order_id"].as_str().unwrap();
    let off = json!({ "status": "cancelled", "notify": true });
    shop.site.clock().advance_s(60);
    shop.world.control(&format!("/_sandbox/orders/{newer}"), &off);
    worked(&shop.world, &shop.site);
    let metrics = json_of(&seller, &format!("/api/v1/partner/stores/{LOJA}/metrics"));
    assert_eq!(metrics["sales"]["cancelled"], 1);
    assert_eq!(kept("order.cancelled"), 1);
}
