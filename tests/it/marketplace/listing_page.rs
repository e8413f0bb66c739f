//! The page of one listing: what it sold, what was asked about it, its product.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::shop::{OTHER, Shop};
use crate::support::wait::until;
use crate::support::world::LOJA;

const LIST: &str = "/painel/anuncios";

fn json_of(actor: &Actor<'_>, target: &str) -> Value {
    actor.send(Request::new("GET", target).header("Accept", "application/json")).ok()
}

/// The ids of a person's listings.
fn listings(actor: &Actor<'_>) -> Vec<String> {
    let all = json_of(actor, LIST);
    let rows = all["dados"].as_array().unwrap().iter();
    rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// Publishes a listing with a SKU, and waits until Ana's list has it.
fn publish(shop: &Shop, sku: &str) -> String {
    let body = json!({
        "ml_user_id": LOJA, "title": "Caneca azul", "price": 50, "stock": 8, "sku": sku,
    });
    let id = shop.world.control("/_sandbox/items", &body)["id"].as_str().unwrap().to_owned();
    let told = json!({ "ml_user_id": LOJA, "topic": "items", "resource": format!("/items/{id}") });
    shop.world.control("/_sandbox/notifications", &told);
    shop.world.deliveries();
    until("the listing is there", Duration::from_mins(1), || {
        shop.site.clock().advance_s(1);
        listings(&shop.ana()).contains(&id).then_some(())
    });
    id
}

fn wait_for(shop: &Shop, what: &str, target: &str, said: &str) -> String {
    shop.world.deliveries();
    until(what, Duration::from_mins(1), || {
        shop.site.clock().advance_s(1);
        let page = shop.ana().get(target).expect(200).text();
        page.contains(said).then_some(page)
    })
}

#[test]
fn a_listing_shows_what_it_sold_and_what_was_asked() {
    let shop = Shop::open();
    let id = publish(&shop, "CAN-1");
    let target = format!("{LIST}/{id}");
    let page = shop.ana().get(&target).expect(200).text();
    for said in [
        "Caneca azul",
        "R$ 50,00",
        "LOJA DA ANA",
        "Nenhuma venda nos últimos 30 dias",
        "Este anúncio ainda não vendeu",
        "Ninguém perguntou ainda",
        "Nenhum produto seu tem o SKU CAN-1",
        &*format!("/painel/ml/calculadora?anuncio={id}"),
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    shop.world.sale_with(LOJA, &json!({ "item": id, "quantity": 3 }));
    let page = wait_for(&shop, "the sale is there", &target, "3 unidades no período");
    assert!(page.contains("R$ 150,00 · 3 unidades"), "{page}");
    assert!(page.contains("/painel/vendas/"), "{page}");
    for text in ["Tem em verde?", "Vai na lava-louça?"] {
        let question = json!({ "ml_user_id": LOJA, "item": id, "text": text });
        shop.world.control("/_sandbox/questions", &question);
    }
    let both = "Perguntas <span class=\"count\">2</span>";
    let page = wait_for(&shop, "the questions are there", &target, both);
    assert!(page.contains("Responder: Tem em verde?"), "{page}");
    assert!(page.contains("Vai na lava-louça?"), "{page}");
    let asked = format!("/painel/perguntas?estado=todas&q={id}");
    let link = format!("href=\"{}\"", asked.replace('&', "&amp;"));
    assert!(page.contains(&link), "{link}: {page}");
    assert_eq!(json_of(&shop.ana(), &asked)["total"], json!(2));
    assert_eq!(json_of(&shop.ana(), "/painel/perguntas?estado=todas&q=MLB1")["total"], json!(0));
}

#[test]
fn a_cost_that_was_typed_at_a_sale_is_the_listings() {
    let shop = Shop::open();
    let id = publish(&shop, "CAN-1");
    shop.world.sale_with(LOJA, &json!({ "item": id, "quantity": 3 }));
    let target = format!("{LIST}/{id}");
    wait_for(&shop, "the sale is there", &target, "3 unidades no período");
    let ana = shop.ana();
    let sales = json_of(&ana, &format!("/painel/vendas?q={id}"));
    let sale = sales["dados"][0]["id"].as_str().unwrap();
    let path = format!("/painel/vendas/{sale}/custo");
    ana.send(Request::new("POST", &path).form(&[("custo", "20")])).expect(303);
    let page = ana.get(&target).expect(200).text();
    for said in ["deste anúncio", "− R$ 20,00", "R$ 30,00", "60%"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let page = ana.get(&format!("/painel/ml/calculadora?anuncio={id}")).expect(200).text();
    assert!(page.contains("value=\"20,00\""), "{page}");
}

#[test]
fn a_listing_knows_its_product_and_makes_one() {
    let shop = Shop::open();
    let id = publish(&shop, "CAN-1");
    let ana = shop.ana();
    let form = ana.get(&format!("/painel/produtos/novo?anuncio={id}")).expect(200).text();
    for value in ["value=\"CAN-1\"", "value=\"Caneca azul\"", "value=\"50,00\""] {
        assert!(form.contains(value), "{value}: {form}");
    }
    let body = json!({ "titulo": "Caneca", "sku": "CAN-1", "preco": 60, "estoque": 4 });
    let made = ana.post("/painel/produtos", &body).expect(201).json();
    let product = format!("/painel/produtos/{}", made["id"].as_str().unwrap());
    let target = format!("{LIST}/{id}");
    let page = ana.get(&target).expect(200).text();
    assert!(page.contains(&format!("{product}#custo")), "a missing cost is no zero: {page}");
    ana.post(&product, &json!({ "custo": 20 })).ok();
    let page = ana.get(&target).expect(200).text();
    for said in ["− R$ 20,00", "R$ 30,00", "60%", "4 em estoque"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let page = ana.get(&product).expect(200).text();
    assert!(page.contains(&target) && page.contains("R$ 30,00"), "{page}");
}

#[test]
fn the_list_tells_its_sum_and_leads_to_each() {
    let shop = Shop::open();
    let id = publish(&shop, "CAN-1");
    let ana = shop.ana();
    let page = ana.get(LIST).expect(200).text();
    assert!(page.contains(&format!("href=\"{LIST}/{id}\"")), "{page}");
    assert!(page.contains("Ativos <span class=\"count\">2</span>"), "{page}");
    assert!(page.contains("Pausados <span class=\"count\">0</span>"), "{page}");
    let all = json_of(&ana, LIST);
    let rows = all["dados"].as_array().unwrap();
    let units: i64 = rows.iter().map(|row| row["disponivel"].as_i64().unwrap()).sum();
    let sum = format!("2 anúncios · {units} unidades disponíveis");
    assert!(page.contains(&sum), "{sum}: {page}");
    let page = ana.get(&format!("{LIST}?q=caneca")).expect(200).text();
    assert!(page.contains("1 anúncio · 8 unidades disponíveis · R$ 400,00"), "{page}");
    let page = ana.get(&format!("{LIST}?estado=paused")).expect(200).text();
    assert!(page.contains("0 anúncios · 0 unidades disponíveis · R$ 0,00"), "{page}");
}

#[test]
fn nobody_sees_another_ones_listing() {
    let shop = Shop::open();
    let rui = shop.site.person("rui");
    let his = listings(&rui).pop().unwrap();
    let told = json_of(&rui, &format!("{LIST}/{his}"));
    assert_eq!((&told["ok"], &told["id"]), (&json!(true), &json!(his)));
    assert_eq!(told["ml_user_id"], json!(OTHER.to_string()));
    let elsewhere = his.replace("MLB", "MLA");
    for id in [&*his, "MLB1", "1", "MLB", "x", &*elsewhere] {
        shop.ana().get(&format!("{LIST}/{id}")).expect(404);
        let page = format!("/painel/ml/calculadora?anuncio={id}");
        shop.ana().get(&page).expect(404);
    }
    let form = shop.ana().get(&format!("/painel/produtos/novo?anuncio={his}")).expect(200).text();
    assert!(!form.contains("Garrafa"), "{form}");
}
