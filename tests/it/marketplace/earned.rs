//! What a sale earned: its parts, what is missing, the sums of a filter; and the claims
//! that it has.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::shops::{CLAIMS, PATIENCE, SALES, listed, shops};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// The sale of an account, once what the marketplace takes of it is known.
fn told_sale(ana: &Actor<'_>, account: u64) -> Value {
    until("told", PATIENCE, || {
        let mut found = listed(ana, &format!("{SALES}?conta={account}"), 1);
        ana.site().clock().advance_s(1);
        found[0]["frete"].is_number().then(|| found[0].take())
    })
}

fn page(ana: &Actor<'_>, path: &str) -> String {
    ana.send(Request::new("GET", path).header("Accept", "text/html")).expect(200).text()
}

fn cost(ana: &Actor<'_>, sale: &str, cost: &str) -> u16 {
    let path = format!("{SALES}/{sale}/custo");
    ana.send(Request::new("POST", &path).form(&[("custo", cost)])).status
}

#[test]
fn a_sale_tells_its_parts_and_what_is_left_once_its_cost_is_typed() {
    let (_world, site) = shops();
    let ana = site.person("ana");
    let sale = told_sale(&ana, LOJA);
    let number = sale["id"].as_str().unwrap().to_owned();
    // 35.50, of which the marketplace takes 12 % and 6.85 for the parcel.
    assert_eq!(
        (&sale["total"], &sale["comissao"], &sale["frete"]),
        (&json!(35.5), &json!(4.26), &json!(6.85))
    );
    assert_eq!((&sale["custo"], &sale["sobra"]), (&Value::Null, &Value::Null));
    let shown = page(&ana, &format!("{SALES}/{number}"));
    for words in ["R$ 35,50", "falta custo", "R$ 4,26", "R$ 6,85", "ainda não informado"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("sobra <strong"), "{shown}");
    for wrong in ["", "0", "0,00", "-1", "x"] {
        assert_eq!(cost(&ana, &number, wrong), 422, "{wrong}");
    }
    assert_eq!(cost(&ana, &number, "10,00"), 303);
    let tax = json_of(&ana, &format!("{SALES}/{number}"))["imposto"].as_f64().unwrap();
    let left = ((35.5 - 4.26 - 6.85 - 10.0 - tax) * 100.0).round() / 100.0;
    assert_eq!(json_of(&ana, &format!("{SALES}/{number}"))["sobra"], json!(left));
    let words = format!("R$ {}", format!("{left:.2}").replace('.', ","));
    let shown = page(&ana, &format!("{SALES}/{number}"));
    assert!(shown.contains(&format!("sobra <strong>{words}</strong>")), "{words}: {shown}");
    // The list knows it at once, in the row and in the sum; the other sale lacks its cost.
    let list = page(&ana, SALES);
    assert!(list.contains(&format!("<strong>{words}</strong>")), "{list}");
    assert!(list.contains(&format!("2 vendas · R$ 71,00 · sobra {words} · 1 sem custo")), "{list}");
    let home = page(&ana, "/painel");
    assert!(home.contains(&format!("sobra <strong>{words}</strong>")), "{words}: {home}");
    assert!(home.contains("falta custo"), "{home}");
    let one = page(&ana, &format!("{SALES}?q={number}"));
    assert!(one.contains(&format!("1 venda · R$ 35,50 · sobra {words}<")), "{one}");
    // The calculator takes the freight that the last sale of the listing told.
    let listing = sale["anuncio"].as_str().unwrap();
    let sum = page(&ana, &format!("/painel/ml/calculadora?anuncio={listing}"));
    assert!(sum.contains("value=\"6,85\"") && sum.contains("O da última venda."), "{sum}");
    let typed = page(&ana, &format!("/painel/ml/calculadora?anuncio={listing}&frete="));
    assert!(typed.contains("sem contar o frete"), "{typed}");
}

#[test]
fn a_cost_is_the_products_with_the_sku_and_of_nobody_else() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let item =
        json!({ "ml_user_id": LOJA, "title": "Copo", "price": 100.0, "stock": 9, "sku": "COPO-1" });
    let item = world.control("/_sandbox/items", &item)["id"].take();
    world.sale_with(LOJA, &json!({ "item": item, "quantity": 2, "notify": true }));
    let product = json!({ "titulo": "Copo", "sku": "COPO-1", "custo": 30, "preco": 100 });
    let product = ana.post("/painel/produtos", &product).expect(201).json()["id"].take();
    let sale = until("copo", PATIENCE, || {
        site.clock().advance_s(1);
        let mut found = listed(&ana, &format!("{SALES}?q=copo"), 1);
        found[0]["sobra"].is_number().then(|| found[0].take())
    });
    assert_eq!(
        (&sale["custo"], &sale["comissao"], &sale["frete"]),
        (&json!(60), &json!(24), &json!(20.5))
    );
    let number = sale["id"].as_str().unwrap();
    // Typed at the sale, it changes the product.
    assert_eq!(cost(&ana, number, "31,50"), 303);
    assert_eq!(
        json_of(&ana, &format!("/painel/produtos/{}", product.as_str().unwrap()))["custo"],
        json!(31.5)
    );
    assert_eq!(json_of(&ana, &format!("{SALES}/{number}"))["custo"], json!(63));
    let csv = ana.get(&format!("{SALES}?q=copo&formato=csv")).expect(200).text();
    let mut lines = csv.lines();
    let heads = "comissao,frete,imposto,custo,sobra,devolvido,carrinho,etapa_envio,despachar_ate";
    assert!(lines.next().unwrap().ends_with(heads), "{csv}");
    let bia = site.person("bia");
    assert_eq!(cost(&bia, number, "1,00"), 404);
    bia.get(&format!("{SALES}/{number}")).expect(404);
}

#[test]
fn what_the_marketplace_does_not_tell_is_missing_and_never_zero() {
    let world = World::start();
    let site = crate::support::site::Site::builder().unlimited().world(&world).start();
    let ana = site.person("ana");
    world.seller(LOJA, "LOJA UM");
    world.item(LOJA, "Caneca", 50.0);
    world.fault(
        &json!({ "path_prefix": "/shipments", "kind": "status", "code": 404, "times": 1000 }),
    );
    world.link(&ana, LOJA);
    world.sale_with(LOJA, &json!({ "notify": true }));
    until("sale", PATIENCE, || {
        site.clock().advance_s(5);
        (json_of(&ana, SALES)["total"] == 1).then_some(())
    });
    let sale = listed(&ana, SALES, 1)[0].take();
    assert_eq!(
        (&sale["comissao"], &sale["frete"], &sale["sobra"]),
        (&json!(6), &Value::Null, &Value::Null)
    );
    let number = sale["id"].as_str().unwrap();
    assert_eq!(cost(&ana, number, "10"), 303);
    let shown = page(&ana, &format!("{SALES}/{number}"));
    assert!(shown.contains("falta frete") && shown.contains("ainda não informou"), "{shown}");
    let list = page(&ana, SALES);
    assert!(list.contains("1 venda · R$ 50,00 · 1 sem taxas<"), "{list}");
    assert!(!list.contains("· sobra"), "{list}");
}

#[test]
fn a_sale_tells_when_what_happened() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = told_sale(&ana, LOJA)["id"].as_str().unwrap().to_owned();
    let order = format!("/_sandbox/orders/{sale}");
    let waits = |change: Value, words: &str| {
        site.clock().advance_s(3600);
        world.control(&order, &change);
        until(words, PATIENCE, || {
            site.clock().advance_s(7);
            let shown = page(&ana, &format!("{SALES}/{sale}"));
            shown.contains(words).then_some(shown)
        })
    };
    waits(json!({ "shipping_substatus": "printed" }), "Etiqueta impressa");
    waits(json!({ "shipping_status": "shipped" }), "Pacote enviado");
    let shown = waits(json!({ "shipping_status": "delivered" }), "Entregue ao comprador");
    let mut rest = &*shown;
    // Newest first.
    for words in [
        "Entregue ao comprador",
        "Pacote enviado",
        "Etiqueta impressa",
        "Pagamento aprovado",
        "Venda feita",
    ] {
        rest = rest
            .split_once(&format!("<strong>{words}</strong>"))
            .unwrap_or_else(|| panic!("{words}: {shown}"))
            .1;
    }
    assert!(!shown.contains("não informou quando"), "{shown}");
}

#[test]
fn orders_of_a_cart_share_what_their_parcel_costs() {
    let (world, site) = shops();
    let ana = site.person("ana");
    for _ in 0..2 {
        world.sale_with(LOJA, &json!({ "pack_id": 2_000_900, "quantity": 2, "notify": true }));
    }
    let shares = until("shares", PATIENCE, || {
        site.clock().advance_s(7);
        let rows = json_of(&ana, &format!("{SALES}?conta={LOJA}"))["dados"].take();
        let rows = rows.as_array().unwrap();
        let of_cart: Vec<f64> = rows
            .iter()
            .filter(|row| row["quantidade"] == 2)
            .filter_map(|row| row["frete"].as_f64())
            .collect();
        (of_cart.len() == 2).then_some(of_cart)
    });
    // The first was told the parcel's cost before the second joined it.
    assert!((shares[0] - shares[1]).abs() < 0.011, "{shares:?}");
}

#[test]
fn chips_count_and_the_sum_and_the_chart_follow_the_filter() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = told_sale(&ana, LOJA)["id"].as_str().unwrap().to_owned();
    told_sale(&ana, LOJA + 1);
    for (query, sum) in [
        ("", "2 vendas · R$ 71,00"),
        (&*format!("?conta={LOJA}"), "1 venda · R$ 35,50"),
        ("?estado=paid", "2 vendas · R$ 71,00"),
        ("?periodo=7", "2 vendas · R$ 71,00"),
        ("?q=caneca", "2 vendas · R$ 71,00"),
        ("?de=2026-01-01&ate=2026-12-31", "2 vendas · R$ 71,00"),
    ] {
        let shown = page(&ana, &format!("{SALES}{query}"));
        assert!(shown.contains(sum), "{query}: {shown}");
        assert!(shown.contains("chart-fold"), "{query}: {shown}");
        // Rows stand above the chart.
        assert!(shown.find("<tbody>") < shown.find("chart-fold"), "{query}");
    }
    let shown = page(&ana, SALES);
    assert!(shown.contains("Pagas <span class=\"count\">2</span>"), "{shown}");
    world.control(&format!("/_sandbox/orders/{sale}"), &json!({ "status": "cancelled" }));
    until("cancelled", PATIENCE, || {
        site.clock().advance_s(7);
        let shown = page(&ana, SALES);
        (shown.contains("Pagas <span class=\"count\">1</span>")
            && shown.contains("2 vendas · R$ 35,50"))
        .then_some(())
    });
    assert!(!page(&ana, &format!("{SALES}?estado=cancelled")).contains("· R$"));
}

/// Every one of `words` stands on the page.
#[track_caller]
fn shows(page: &str, words: &[&str]) {
    for words in words {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// Where a claim about the parcel of a sale shows what it is about.
fn names_its_sale(ana: &Actor<'_>, (claim, sale, parcel): (&str, &str, &str)) {
    let product = "Caneca de ágata";
    let link = format!("href=\"{SALES}/{sale}\"");
    for path in [CLAIMS, &*format!("{CLAIMS}/{claim}"), &*format!("{CLAIMS}?q={sale}")] {
        shows(&page(ana, path), &[product, "R$ 35,50", &*link, parcel]);
    }
    shows(&page(ana, CLAIMS), &["R$ 35,50 em jogo"]);
    shows(&page(ana, "/painel"), &[product, &*format!("href=\"{CLAIMS}/{claim}\"")]);
    shows(&page(ana, &format!("{SALES}/{sale}")), &[&*format!("href=\"{CLAIMS}/{claim}\"")]);
}

#[test]
fn a_claim_about_a_parcel_names_its_sale_and_product() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = told_sale(&ana, LOJA)["id"].as_str().unwrap().to_owned();
    let stored =
        format!("SELECT CAST(shipping_id AS TEXT) FROM sale_order WHERE order_id = {sale}");
    let parcel = site.stored(&stored).remove(0);
    let about = json!({
        "ml_user_id": LOJA, "order": sale.parse::<i64>().unwrap(), "resource": "shipment",
    });
    let claim = world.control("/_sandbox/claims", &about)["id"].to_string();
    world.deliveries();
    listed(&ana, CLAIMS, 1);
    names_its_sale(&ana, (&claim, &sale, &parcel));
}

/// One that waits for the student, and one opened later that waits for the marketplace.
fn two_claims(world: &World) -> [String; 2] {
    let claims = [
        json!({ "ml_user_id": LOJA, "action": "refund", "reason": "PNR3430" }),
        json!({ "ml_user_id": LOJA + 1, "stage": "dispute", "action": "" }),
    ];
    let ids = claims.map(|claim| world.control("/_sandbox/claims", &claim)["id"].to_string());
    world.deliveries();
    ids
}

#[test]
fn claims_come_by_deadline_and_tell_whose_turn_it_is() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = told_sale(&ana, LOJA)["id"].as_str().unwrap().to_owned();
    told_sale(&ana, LOJA + 1);
    let [own, mediated] = two_claims(&world);
    let rows = listed(&ana, CLAIMS, 2);
    assert_eq!([&rows[0]["id"], &rows[1]["id"]], [&json!(own), &json!(mediated)]);
    assert_eq!(rows[0]["valor"], json!(35.5));
    let list = page(&ana, CLAIMS);
    shows(
        &list,
        &[
            "2 abertas · 1 espera você · R$ 71,00 em jogo",
            "Produto não recebido: Caneca de ágata",
            "decida até ",
            "<strong>Marketplace</strong>",
            "aguarda a decisão do marketplace",
            "Abertas <span class=\"count\">2</span>",
            "Encerradas <span class=\"count\">0</span>",
        ],
    );
    let claim = page(&ana, &format!("{CLAIMS}/{own}"));
    shows(
        &claim,
        &[
            "Produto não recebido: Caneca de ágata",
            "faltam ",
            "decida até ",
            "É a sua vez",
            "R$ 35,50",
            &*format!("href=\"{SALES}/{sale}\""),
            "Abrir no marketplace",
            &*format!("/vendas/{sale}/detalhe"),
        ],
    );
    let claim = page(&ana, &format!("{CLAIMS}/{mediated}"));
    assert!(
        claim.contains("aguarda a decisão do marketplace")
            && claim.contains("nada para você fazer"),
        "{claim}"
    );
    assert!(!claim.contains("class=\"countdown\""), "{claim}");
    // The sale knows its claim, with the deadline.
    let shown = page(&ana, &format!("{SALES}/{sale}"));
    shows(&shown, &[&*format!("href=\"{CLAIMS}/{own}\""), "decida até "]);
    let home = page(&ana, "/painel");
    shows(
        &home,
        &[
            &*format!("href=\"{CLAIMS}/{own}\""),
            &*format!("href=\"{CLAIMS}/{mediated}\""),
            "Produto não recebido: Caneca de ágata",
            "decida até ",
            "aguarda a decisão do marketplace",
        ],
    );
    world.control(&format!("/_sandbox/claims/{own}"), &json!({ "status": "closed" }));
    until("closed", PATIENCE, || {
        site.clock().advance_s(7);
        page(&ana, CLAIMS)
            .contains("1 aberta · nenhuma espera você · R$ 35,50 em jogo")
            .then_some(())
    });
    // Open ones stay first.
    let rows = listed(&ana, CLAIMS, 2);
    assert_eq!([&rows[0]["id"], &rows[1]["id"]], [&json!(mediated), &json!(own)]);
    assert!(page(&ana, &format!("{CLAIMS}/{own}")).contains("Comprador reembolsado"));
    assert_eq!(json_of(&ana, &format!("{CLAIMS}/{own}"))["estado"], "encerrada");
    site.person("bia").get(&format!("{CLAIMS}/{own}")).expect(404);
    ana.get(&format!("{CLAIMS}/1")).expect(404);
}
