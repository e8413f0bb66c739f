//! The fee calculator: fields and defaults, the cache of a day, and accounts.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::shop::{OTHER, Shop};
use crate::support::world::LOJA;

const PAGE: &str = "/painel/ml/calculadora";
const FEES: &str = "/painel/ml/calculadora/taxas-json";

/// Ana and Rui with a shop each, with taxes and discounts set.
fn open() -> Shop {
    Shop::open_with(|site| {
        site.config("tax.rate", 7.5).config("marketplace.reputation_discount.5_green", 10.0)
    })
}

/// The same without a discount for anybody.
fn open_without_discount() -> Shop {
    Shop::open_with(|site| site.config("tax.rate", 7.5))
}

/// The requests about fees that the marketplace got.
fn asked(shop: &Shop) -> Vec<Value> {
    let requests = shop.world.requests().into_iter();
    let fees = requests.filter(|one| one["path"] == "/sites/MLB/listing_prices");
    fees.collect()
}

fn get(actor: &Actor<'_>, query: &str) -> Reply {
    actor.send(Request::new("GET", &format!("{FEES}{query}")))
}

#[test]
fn fees_come_with_reputation_and_tax() {
    let shop = open();
    let fees = get(&shop.ana(), &format!("?conta={LOJA}")).ok();
    let level = fees["reputacao"]["nivel"].as_str().unwrap().to_owned();
    let discount = if level == "5_green" { 10.0 } else { 0.0 };
    assert_eq!(
        fees,
        json!({
            "ok": true, "conta": LOJA.to_string(), "categoria": null,
            "comissao_classico": 12.0, "comissao_premium": 17.0, "taxa_fixa": 0,
            "reputacao": { "nivel": level, "desconto": discount },
            "imposto": 7.5, "moeda": "BRL",
        })
    );
    let query = format!("?conta={LOJA}&categoria=mlb1052&preco=30,00&logistica=self_service");
    let fees = get(&shop.ana(), &query).ok();
    assert_eq!(fees["categoria"], json!("MLB1052"));
    assert_eq!(fees["taxa_fixa"], json!(6.5));
    let sent = asked(&shop).pop().unwrap()["query"].to_string();
    for part in
        ["price=30", "category_id=MLB1052", "logistic_type=self_service", "shipping_mode=me2"]
    {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    assert_eq!(shop.world.violations(), [] as [Value; 0]);
}

#[test]
fn every_shape_of_the_marketplaces_answer_is_read() {
    let shop = open();
    for (price, shape) in [(50, "array"), (51, "nested"), (52, "object")] {
        shop.world.configure(&json!({ "fees_shape": shape }));
        let fees = get(&shop.ana(), &format!("?conta={LOJA}&preco={price}")).ok();
        assert_eq!(fees["comissao_premium"], json!(17.0), "{shape}");
    }
}

#[test]
fn an_answer_is_good_for_a_day_and_for_its_account() {
    let shop = open();
    let query = format!("?conta={LOJA}&preco=80");
    for _ in 0..3 {
        get(&shop.ana(), &query).ok();
    }
    assert_eq!(asked(&shop).len(), 1);
    // Cached fees need no call to the marketplace.
    shop.world
        .fault(&json!({ "path_prefix": "/sites", "kind": "status", "code": 500, "times": 0 }));
    get(&shop.ana(), &query).ok();
    shop.world.clear_faults();
    get(&shop.site.person("rui"), &format!("?conta={OTHER}&preco=80")).ok();
    assert_eq!(asked(&shop).len(), 2, "another account is asked for by itself");
    shop.site.clock().advance_s(86_401);
    get(&shop.site.person("ana"), &query).ok();
    assert_eq!(asked(&shop).len(), 3);
}

#[test]
fn what_is_wrong_with_a_question_is_named() {
    let shop = open();
    for (query, field) in [
        (String::new(), "conta"),
        ("?conta=".to_owned(), "conta"),
        ("?conta=x".to_owned(), "conta"),
        (format!("?conta={LOJA}&preco=0"), "preco"),
        (format!("?conta={LOJA}&preco=-1"), "preco"),
        (format!("?conta={LOJA}&preco=1.999"), "preco"),
        (format!("?conta={LOJA}&preco=1e12"), "preco"),
        (format!("?conta={LOJA}&categoria=../x"), "categoria"),
        (format!("?conta={LOJA}&categoria=MLA1"), "categoria"),
        (format!("?conta={LOJA}&logistica=pombo"), "logistica"),
        (format!("?conta={LOJA}&preco=1&preco=2"), "preco"),
    ] {
        let reply = get(&shop.ana(), &query).expect(422).json();
        assert_eq!(reply["ok"], json!(false), "{query}");
        assert!(reply["fields"][field].is_string(), "{query}: {reply}");
    }
}

#[test]
fn nobody_asks_for_another_ones_account() {
    let shop = open();
    for account in [OTHER, 999_999, u64::MAX / 4] {
        let reply = get(&shop.ana(), &format!("?conta={account}")).expect(404);
        assert!(!reply.text().contains("RUI"), "{reply}");
        let page = Request::new("GET", &format!("{PAGE}?conta={account}&preco=10"))
            .header("Accept", "text/html");
        let page = shop.ana().send(page).expect(404);
        assert!(!page.text().contains("LOJA DO RUI"), "{page}");
    }
    assert_eq!(asked(&shop).len(), 0);
    let free = shop.site.person_as("eva", "free");
    get(&free, &format!("?conta={LOJA}")).expect(403);
    let page = free.get(PAGE).expect(200).text();
    assert!(page.contains("Seu plano não inclui a calculadora"), "{page}");
}

#[test]
fn a_marketplace_that_does_not_answer_is_said_to() {
    let shop = open();
    let faults = [
        json!({ "kind": "status", "code": 500, "body": "segredo do marketplace" }),
        json!({ "kind": "status", "code": 403 }),
        json!({ "kind": "garbage" }),
        json!({ "kind": "rate_limited" }),
    ];
    for mut fault in faults {
        fault["path_prefix"] = json!("/sites");
        shop.world.fault(&fault);
        let reply = get(&shop.ana(), &format!("?conta={LOJA}&preco=33")).expect(502);
        assert_eq!(reply.code(), "marketplace_unavailable");
        assert!(!reply.text().contains("segredo"), "{reply}");
        shop.world.clear_faults();
        shop.site.clock().advance_s(600);
    }
    let query = format!("{PAGE}?conta={LOJA}&preco=33");
    shop.world.fault(&json!({ "path_prefix": "/sites", "kind": "status", "code": 500 }));
    let page = Request::new("GET", &query).header("Accept", "text/html");
    let page = shop.site.person("ana").send(page).expect(502).text();
    assert!(page.contains("O marketplace não informou as taxas"), "{page}");
    assert!(page.contains("value=\"33\""), "what was typed stays");
}

#[test]
fn the_page_shows_what_remains_with_ones_own_tax() {
    let shop = open();
    let ana = shop.ana();
    let page = ana.get(PAGE).expect(200).text();
    assert!(page.contains("LOJA DA ANA") && page.contains("7,5%"), "{page}");
    assert_eq!(asked(&shop).len(), 0, "nothing is asked before somebody does");
    for bad in ["101", "-1", "x", "1,999"] {
        ana.post(&format!("{PAGE}/imposto"), &json!({ "imposto": bad })).expect(422);
        let form = Request::new("POST", &format!("{PAGE}/imposto"))
            .header("Accept", "text/html")
            .form(&[("imposto", bad)]);
        let page = ana.send(form).expect(422).text();
        assert!(page.contains("Informe uma porcentagem"), "{page}");
    }
    ana.post(&format!("{PAGE}/imposto"), &json!({ "taxa": 4 })).expect(422);
    ana.post(&format!("{PAGE}/imposto"), &json!({ "imposto": 4.25 })).ok();
    assert_eq!(get(&ana, &format!("?conta={LOJA}")).ok()["imposto"], json!(4.25));
    let rui = shop.site.person("rui");
    assert_eq!(get(&rui, &format!("?conta={OTHER}")).ok()["imposto"], json!(7.5));
    let target = format!("{PAGE}?conta={LOJA}&preco=200,00&logistica=drop_off&categoria=");
    let page = ana.get(&target).expect(200).text();
    for said in ["Clássico", "Premium", "R$ 200,00", "− R$ 24,00", "− R$ 34,00", "− R$ 8,50"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    let empty = Request::new("GET", &format!("{PAGE}?conta={LOJA}&preco=&logistica=drop_off"))
        .header("Accept", "text/html");
    let page = ana.send(empty).expect(422).text();
    assert!(page.contains("Informe um preço"), "{page}");
    let form = Request::new("POST", &format!("{PAGE}/imposto")).form(&[("imposto", "")]);
    ana.send(form).expect(303);
    assert_eq!(get(&ana, &format!("?conta={LOJA}")).ok()["imposto"], json!(7.5));
}

#[test]
fn what_is_not_known_is_missing_and_never_zero() {
    let shop = open_without_discount();
    let ana = shop.ana();
    let read =
        |query: &str| ana.get(&format!("{PAGE}?conta={LOJA}&preco=200{query}")).expect(200).text();
    let page = read("");
    assert!(page.contains("sem contar o frete e o custo"), "{page}");
    assert_eq!(page.matches("falta informar").count(), 4, "freight and cost, in both kinds");
    let page = read("&imposto=");
    assert!(page.contains("sem contar o frete, o imposto e o custo"), "{page}");
    // 200 - 24 of commission - 15 of tax - 12.50 - 80.
    let page = read("&frete=12,50&custo=80");
    for said in ["− R$ 12,50", "− R$ 80,00", "− R$ 15,00", "R$ 68,50", "sobram 34,3% do preço"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("falta informar"), "{page}");
    let page = read("&frete=12,50&custo=287,50");
    assert!(page.contains("−R$ 139,00") && page.contains("faltam 69,5% do preço"), "{page}");
    let page = read("&frete=0&custo=0&imposto=0");
    assert!(page.contains("R$ 176,00") && !page.contains("sem contar"), "{page}");
    for (query, field) in [
        ("&frete=x", "frete"),
        ("&custo=-1", "custo"),
        ("&imposto=101", "imposto"),
        ("&margem=100", "margem"),
    ] {
        let target = format!("{PAGE}?conta={LOJA}&preco=200{query}");
        let page = ana.send(Request::new("GET", &target).header("Accept", "text/html"));
        let page = page.expect(422).text();
        assert!(page.contains(&format!("id=\"{field}-erro\"")), "{query}: {page}");
    }
}

#[test]
fn the_price_for_a_margin_counts_the_fees_of_that_price() {
    let shop = open_without_discount();
    let ana = shop.ana();
    let read =
        |query: &str| ana.get(&format!("{PAGE}?conta={LOJA}&imposto=8{query}")).expect(200).text();
    // Of each real 12 of 100 go as commission, 8 as tax, 20 shall remain: 60 pay 30.
    let page = read("&preco=200&frete=10&custo=20&margem=20");
    assert!(page.contains("Preço para sobrar 20%"), "{page}");
    assert!(page.contains("preco=50%2C00"), "{page}");
    // With the fixed fee of 6.75 that only low prices have, 60 of 100 pay 36.75.
    let page = read("&preco=200&frete=10&custo=20&margem=20&logistica=self_service");
    assert!(page.contains("preco=61%2C25"), "{page}");
    let page = read("&preco=200&frete=10&custo=20&margem=85");
    assert!(page.contains("nenhum preço"), "{page}");
    let page = read("&preco=200&custo=20&margem=20");
    assert!(page.contains("falta o frete") && !page.contains("Preço para sobrar"), "{page}");
}

#[test]
fn it_starts_from_a_listing_or_a_product_chosen_by_name() {
    let shop = open_without_discount();
    let ana = shop.ana();
    let all =
        ana.send(Request::new("GET", "/painel/anuncios").header("Accept", "application/json"));
    let id = all.ok()["dados"][0]["id"].as_str().unwrap().to_owned();
    let body = json!({ "titulo": "Cabo azul", "sku": "CAB", "custo": 7, "preco": 30 });
    let made = ana.post("/painel/produtos", &body).expect(201).json();
    let product = made["id"].as_str().unwrap();
    let page = ana.get(&format!("{PAGE}?anuncio={id}")).expect(200).text();
    for said in ["value=\"89,90\"", "como o anúncio", "O marketplace muda as taxas", &*id] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let page = ana.get(&format!("{PAGE}?produto={product}")).expect(200).text();
    for said in ["value=\"30,00\"", "value=\"7,00\"", "− R$ 7,00", "Cabo azul"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // What is typed stands above what the product says.
    let typed = format!("{PAGE}?produto={product}&conta={LOJA}&preco=40&custo=9");
    let page = ana.get(&typed).expect(200).text();
    assert!(page.contains("value=\"40\"") && page.contains("− R$ 9,00"), "{page}");
    // One that is found is taken; of several one chooses.
    let found = ana.get(&format!("{PAGE}?busca=cabo+azul")).expect(303);
    assert_eq!(found.header("location"), Some(&*format!("{PAGE}?produto={product}")));
    let garrafa = json!({ "titulo": "Garrafa", "sku": "GAR" });
    ana.post("/painel/produtos", &garrafa).expect(201);
    let page = ana.get(&format!("{PAGE}?busca=garrafa")).expect(200).text();
    assert!(page.contains(&format!("{PAGE}?anuncio={id}")), "{page}");
    assert!(page.contains("De qual você quer calcular?") && page.contains("<datalist"), "{page}");
    let page = ana.get(&format!("{PAGE}?busca=nada")).expect(200).text();
    assert!(page.contains("Nada encontrado com “nada”"), "{page}");
    let rui = shop.site.person("rui");
    rui.get(&format!("{PAGE}?produto={product}")).expect(404);
    rui.get(&format!("{PAGE}?anuncio={id}")).expect(404);
    let page = rui.get(&format!("{PAGE}?busca=cabo")).expect(200).text();
    assert!(!page.contains("Cabo azul"), "{page}");
}
