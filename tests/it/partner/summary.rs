//! The day of a seller in one answer, and what sold most.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agents::call;
use crate::support::shops::{CLAIMS, PATIENCE, QUESTIONS, SALES, ask, listed, shops};
use crate::support::sync::wait_until_worked;
use crate::support::wait::until;
use crate::support::world::LOJA;

#[track_caller]
fn read(actor: &Actor<'_>, target: &str) -> Value {
    actor.get(&format!("/v1/partner{target}")).expect(200).json()
}

#[test]
fn a_summary_counts_what_the_day_has_of_its_owner_alone() {
    let (world, site) = shops();
    let (ana, person) = (site.seller("ana").plan("pro"), site.person("ana"));
    let rui = site.seller("rui").plan("pro");
    let before = read(&ana, "/summary");
    assert_eq!((&before["today"]["count"], &before["today"]["gross"]), (&json!(2), &json!(71)));
    assert_eq!(before["to_send"]["count"], 2, "{before}");
    assert!(before["to_send"].get("next_due_at").is_some(), "{before}");
    ask(&world, LOJA, "Serve para viagem?");
    let order = world.sale_with(LOJA, &json!({ "quantity": 3, "notify": true }));
    let claim = json!({ "ml_user_id": LOJA, "order": order["id"], "reason": "PDD9939" });
    let claim = world.control("/_sandbox/claims", &claim)["id"].to_string();
    wait_until_worked(&world, &site);
    listed(&person, QUESTIONS, 1);
    listed(&person, CLAIMS, 1);
    listed(&person, SALES, 3);
    let cup = json!({ "titulo": "Copo", "sku": "COPO-1", "custo": 30, "preco": 100,
                      "estoque_baixo": 2 });
    person.post("/painel/produtos", &cup).expect(201);

    let now = read(&ana, "/summary");
    assert_eq!(now["stores"], json!({ "count": 2, "lost": [] }));
    assert_eq!((&now["today"]["count"], &now["today"]["units"]), (&json!(3), &json!(5)), "{now}");
    assert_eq!(now["unanswered"]["count"], 1);
    assert!(now["unanswered"]["oldest_at"].as_str().unwrap().contains('T'), "{now}");
    assert_eq!(
        (&now["claims"]["open"], &now["claims"]["next"][0]["claim_id"]),
        (&json!(1), &json!(claim))
    );
    assert_eq!(now["claims"]["next"][0]["order_id"], order["id"].to_string(), "{now}");
    assert_eq!(now["debts"]["overdue"], json!({ "orders": 0, "amount": 0 }));
    let low = json!({ "sku": "COPO-1", "title": "Copo", "balance": 0, "low_at": 2 });
    assert_eq!(now["low_stock"], json!({ "count": 1, "next": [low] }));
    assert_eq!(call(&ana, "summary", &json!({}))["isError"], false);

    for week in ["this_week", "last_week", "last_week_so_far"] {
        let (counted, sold) = (&now[week]["count"], if week == "this_week" { 3 } else { 0 });
        assert_eq!(counted, &json!(sold), "{week}: {now}");
    }
    assert_eq!(now["this_week"]["to"], now["today"]["date"]);

    let none = read(&rui, "/summary");
    assert_eq!((&none["stores"]["count"], &none["today"]["count"]), (&json!(0), &json!(0)));
    assert_eq!(
        (&none["unanswered"]["oldest_at"], &none["claims"]["next"]),
        (&Value::Null, &json!([]))
    );
    ana.get("/v1/partner/summary?dia=1").expect(400);
    world.end_tokens(LOJA, "revoke");
    ask(&world, LOJA, "E para casa?");
    let lost = until("a lost link is told", PATIENCE, || {
        site.clock().advance_s(1);
        let lost = read(&ana, "/summary")["stores"]["lost"].take();
        (lost != json!([])).then_some(lost)
    });
    assert_eq!(lost, json!(["LOJA UM"]));
    site.clock().advance_s(7 * 86_400);
    let later = read(&ana, "/summary");
    assert_eq!((&later["today"]["count"], &later["this_week"]["count"]), (&json!(0), &json!(0)));
    for week in ["last_week", "last_week_so_far"] {
        assert_eq!(
            (&later[week]["count"], &later[week]["gross"]),
            (&json!(3), &now["today"]["gross"])
        );
    }
}

#[test]
fn what_sold_most_is_added_up_by_sku_over_stores_and_ranked_as_asked() {
    let (world, site) = shops();
    let (ana, person) = (site.seller("ana").plan("pro"), site.person("ana"));
    let rui = site.seller("rui").plan("pro");
    for (number, price) in [(0, 10.0), (1, 12.0)] {
        let item = json!({ "ml_user_id": LOJA + number, "title": "Copo", "price": price, "stock": 9,
                           "sku": "COPO-1" });
        let item = world.control("/_sandbox/items", &item)["id"].take();
        let sale = json!({ "item": item, "quantity": 2, "notify": true });
        world.sale_with(LOJA + number, &sale);
    }
    let cup = json!({ "titulo": "Copo", "sku": "COPO-1", "custo": 1, "preco": 10 });
    person.post("/painel/produtos", &cup).expect(201);
    let cups = until("both sales of cups have their margin", PATIENCE, || {
        site.clock().advance_s(1);
        let first = read(&ana, "/top-products?by=units&limit=1");
        (first["data"][0]["margin_orders"] == 2).then_some(first)
    });
    assert_eq!((&cups["total"], cups["data"].as_array().unwrap().len()), (&json!(3), 1), "{cups}");
    let cup = &cups["data"][0];
    assert_eq!(
        (&cup["sku"], &cup["title"], &cup["listings"]),
        (&json!("COPO-1"), &json!("Copo"), &json!(2))
    );
    assert_eq!(
        (&cup["orders"], &cup["units"], &cup["revenue"]),
        (&json!(2), &json!(4), &json!(44)),
        "{cup}"
    );
    let earned: f64 = listed(&person, &format!("{SALES}?q=copo"), 2)
        .iter()
        .map(|sale| sale["sobra"].as_f64().unwrap())
        .sum();
    assert!((cup["margin"].as_f64().unwrap() - earned).abs() < 0.02, "{cup} {earned}");

    let ranked = |target: &str| -> Vec<String> {
        let found = read(&ana, target);
        let rows = found["data"].as_array().unwrap();
        rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect()
    };
    let mug = "Caneca de ágata";
    assert_eq!(ranked("/top-products"), ["Copo", mug, mug]);
    // Mugs have no cost: their margin is unknown, not zero, and comes last.
    assert_eq!(ranked("/top-products?by=margin"), ["Copo", mug, mug]);
    assert_eq!(read(&ana, "/top-products?by=margin")["data"][1]["margin"], Value::Null);
    assert_eq!(ranked(&format!("/top-products?store={LOJA}")), [mug, "Copo"]);
    assert_eq!(ranked("/top-products?from=2026-01-01&to=2026-01-31"), Vec::<String>::new());
    let by_tool = call(&ana, "top_products", &json!({ "store": LOJA.to_string(), "limit": 1 }));
    assert_eq!(by_tool["isError"], false, "{by_tool}");

    assert_eq!(read(&rui, "/top-products")["total"], 0);
    let foreign = format!("/v1/partner/top-products?store={LOJA}");
    assert_eq!(rui.get(&foreign).expect(404).code(), "not_found");
    for wrong in [
        "by=nome",
        "limit=0",
        "limit=51",
        "from=2026-11-21&to=2026-11-20",
        "store=x",
        "q=a",
        "from=2024-01-01&to=2026-11-20",
    ] {
        let refused = ana.get(&format!("/v1/partner/top-products?{wrong}")).expect(400);
        assert_eq!(refused.code(), "validation_failed", "{wrong}");
    }
}
