//! A marketplace with wrong answers: wrong totals, other things among records,
//! missing records, or a seller that it no longer knows.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::sync::{
    PATIENCE, accounts, area, joined, mirrored, orders, quiet_sale, run_after, shop,
    wait_until_read, wait_until_worked,
};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// Sets the marketplace's answer under a path, until faults are cleared.
fn answer(world: &World, path: &str, body: &Value) {
    world.fault(&json!({
        "path_prefix": path, "method": "GET", "times": 0, "kind": "status", "code": 200, "body": body,
    }));
}

fn calls(world: &World, path: &str) -> usize {
    let calls = world.requests();
    let starts = |call: &&Value| call["path"].as_str().unwrap().starts_with(path);
    calls.iter().filter(starts).count()
}

#[test]
fn what_is_no_record_fails_no_page() {
    let world = shop();
    let order = json!({
        "id": 2_000_077, "status": "paid", "total_amount": 10, "currency_id": "BRL",
        "date_created": "2026-11-10T10:00:00.000-03:00", "last_updated": "2026-11-10T10:00:00.000-03:00",
        "order_items": [{ "item": { "id": "MLB77", "title": "Copo" }, "quantity": 1, "unit_price": 10 }],
    });
    let claim = json!({
        "id": 5_077, "status": "opened", "type": "mediations", "stage": "claim", "resource": "order",
        "resource_id": 2_000_077, "date_created": "2026-11-10T10:00:00.000-03:00",
        "last_updated": "2026-11-10T10:00:00.000-03:00",
    });
    let others = [json!("x"), json!(5), json!([]), json!(true), Value::Null];
    let among = |record: Value| [&others[..], &[record]].concat();
    let page = |list: &str, record| json!({ list: among(record), "paging": { "total": 6 } });
    answer(&world, "/orders/search", &page("results", order));
    let claims = "/post-purchase/v1/claims/search";
    answer(&world, claims, &page("data", claim));
    let site = mirrored(&world);
    assert_eq!(orders(&site), 1);
    assert_eq!(site.stored("SELECT count(*) || '' FROM claim"), ["1"]);
}

#[test]
fn totals_that_are_wrong_split_nothing() {
    for total in [800, 1_000, 800_000] {
        let world = shop();
        let empty = json!({ "results": [], "paging": { "total": total } });
        answer(&world, "/orders/search", &empty);
        let site = mirrored(&world);
        assert_eq!(area(&site.person("ana"), "pedidos")["estado"], "em_dia");
        let calls = calls(&world, "/orders/search");
        assert!(calls < 100, "{calls} calls for {total}");
    }
}

/// Makes sales of a shop without notifications; returns their shipments.
fn parcels(world: &World, count: usize) -> Vec<String> {
    let sell = |_| {
        let sale = world.sale_with(LOJA, &json!({ "notify": false }));
        sale["shipment"]["id"].to_string()
    };
    (0..count).map(sell).collect()
}

/// How many parcels have a known state.
fn known(site: &Site) -> String {
    let known = "SELECT count(*) || '' FROM sale_order WHERE shipping_status IS NOT NULL";
    site.stored(known).remove(0)
}

#[test]
fn parcels_that_may_not_be_seen_are_no_reading() {
    let world = shop();
    parcels(&world, 6);
    let no = json!({ "path_prefix": "/shipments/", "times": 0, "kind": "status", "code": 403 });
    world.fault(&no);
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    until("the area says so", PATIENCE, || {
        site.clock().advance_s(5);
        (area(&ana, "envios")["estado"] == "com_erro").then_some(())
    });
    assert_eq!(accounts(&ana)[0]["token_ok"], true);
    world.clear_faults();
    wait_until_read(&site, &ana);
    assert_eq!(known(&site), "6");
}

#[test]
fn listings_that_are_gone_and_may_not_be_seen_end_no_reading() {
    let world = shop();
    for _ in 0..5 {
        world.item(LOJA, "Copo", 5.0);
    }
    let site = mirrored(&world);
    let none = json!({ "results": [], "paging": { "total": 0 } });
    answer(&world, &format!("/users/{LOJA}/items/search"), &none);
    let no = json!({ "path_prefix": "/items/MLB", "times": 0, "kind": "status", "code": 403 });
    world.fault(&no);
    world.forget_requests();
    // Listings are read every six hours.
    for _ in 0..4 {
        run_after(&site, 3 * 3_600);
    }
    assert!(calls(&world, "/items/MLB") >= 6, "they were asked for");
    assert_eq!(area(&site.person("ana"), "anuncios")["estado"], "em_dia");
    let kept =
        "SELECT count(*) || '' FROM listing JOIN word ON word_id = status WHERE text = 'active'";
    assert_eq!(site.stored(kept), ["6"], "nobody said that they are closed");
}

#[test]
fn parcels_that_never_come_hold_up_the_others_for_a_while() {
    let world = shop();
    let parcels = parcels(&world, 12);
    for parcel in &parcels[2..8] {
        let path = format!("/shipments/{parcel}");
        world.fault(&json!({ "path_prefix": path, "times": 0, "kind": "status", "code": 500 }));
    }
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    assert_eq!(known(&site), "6");
}

#[test]
fn asking_for_a_reading_during_the_first_one_loses_no_old_parcel() {
    let world = shop();
    let long_ago = json!({ "notify": false, "date_created": "2026-02-03T10:00:00Z" });
    world.sale_with(LOJA, &long_ago);
    for _ in 0..3 {
        quiet_sale(&world, LOJA);
    }
    // The orders are not read yet.
    let away = json!({ "path_prefix": "/orders", "times": 0, "kind": "status", "code": 503 });
    world.fault(&away);
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    until("the orders wait", PATIENCE, || {
        (area(&ana, "pedidos")["estado"] == "com_erro").then_some(())
    });
    site.clock().advance_s(120);
    let now = format!("/painel/ml/contas/{LOJA}/sincronizar");
    ana.post(&now, &json!({})).ok();
    until("all but the orders is read", PATIENCE, || {
        site.clock().advance_s(10);
        (area(&ana, "conta")["estado"] == "em_dia").then_some(())
    });
    assert_eq!(area(&ana, "envios")["estado"], "na_fila");
    world.clear_faults();
    wait_until_read(&site, &ana);
    for _ in 0..3 {
        run_after(&site, 3_600);
    }
    assert_eq!(known(&site), "4");
}

/// The account is no longer Ana's: Rui has linked it.
fn handed_over(world: &World, site: &Site) {
    let ana = site.person("ana");
    let unlink = format!("/painel/ml/contas/{LOJA}/desvincular");
    ana.post(&unlink, &json!({})).ok();
    let rui = site.person("rui");
    world.link(&rui, LOJA);
    wait_until_read(site, &rui);
}

fn paths_of_notes(world: &World) -> Vec<Value> {
    let calls = world.requests();
    let is_note = |call: &Value| {
        let path = call["path"].as_str().unwrap();
        path.contains("invoice") || path.contains("fiscal")
    };
    calls.into_iter().filter(is_note).collect()
}

#[test]
fn nothing_is_fetched_with_the_leave_of_whoever_linked_the_account_since() {
    let world = shop();
    let sale = world.sale_with(LOJA, &json!({ "notify": false, "invoice": "issued" }));
    let site = mirrored(&world);
    let note = |actor: &Actor<'_>| {
        let path = format!("/painel/vendas/{}/nota", sale["id"]);
        actor.send(Request::new("GET", &path).header("Accept", "application/pdf"))
    };
    note(&site.person("ana")).expect(200);
    handed_over(&world, &site);
    world.forget_requests();
    let said = note(&site.person("ana")).expect(404).text();
    assert!(said.contains("não está mais vinculada"), "{said}");
    assert_eq!(paths_of_notes(&world), [] as [Value; 0]);
    note(&site.person("rui")).expect(200);
}

#[test]
fn a_filter_of_the_partner_api_that_names_anothers_account_is_not_found() {
    let world = shop();
    world.sale_with(LOJA, &json!({ "notify": false }));
    let site = mirrored(&world);
    let (ana, rui) = (site.seller("ana").plan("starter"), site.seller("rui").plan("starter"));
    let path = format!("/api/v1/partner/orders?store={LOJA}");
    let total = |actor: &Actor<'_>| actor.get(&path).ok()["pagination"]["total"].clone();
    assert_eq!(total(&ana), 1);
    for path in [&*path, "/api/v1/partner/orders?store=77"] {
        let refused = rui.get(path).expect(404).json();
        assert_eq!(refused["error"]["code"], "not_found");
        assert_eq!(refused["error"]["message"], "not found");
    }
    handed_over(&world, &site);
    // The sales still belong to Ana.
    assert_eq!(total(&ana), 1);
}

#[test]
fn a_look_that_failed_sends_no_answer_again() {
    let world = shop();
    let asked = json!({ "ml_user_id": LOJA, "text": "Tem azul?", "notify": false });
    let question = world.control("/_sandbox/questions", &asked)["id"].to_string();
    let site = mirrored(&world);
    let ana = site.person("ana");
    let path = format!("/painel/perguntas/{question}/responder");
    let text = json!({ "resposta": "Tem sim" });
    world.fault(&json!({ "path_prefix": "/answers", "kind": "lost_response" }));
    let look = format!("/questions/{question}");
    let away = json!({ "path_prefix": look, "times": 0, "kind": "status", "code": 503 });
    world.fault(&away);
    ana.post(&path, &text).expect(502);
    world.clear_faults();
    world.fault(&json!({ "path_prefix": look, "times": 0, "kind": "rate_limited" }));
    ana.post(&path, &text).expect(502);
    world.clear_faults();
    // The notification about the lost answer causes a reading as well, and a
    // pause counts from its own time. So it is handled before the clock jumps.
    wait_until_worked(&world, &site);
    // After every pause that the marketplace demanded for this person's own
    // readings.
    site.clock().advance_s(3_600);
    ana.post(&path, &text).ok();
    assert_eq!(calls(&world, "/answers"), 1);
}
