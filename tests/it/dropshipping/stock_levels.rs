//! Margins of products, and stocks that run low.

use crate::support::client::Request;
use crate::support::site::Site;
use serde_json::json;

use super::catalog::{PATH, import, list, make, product, skus, with_shop};

#[test]
fn a_product_tells_its_margin_and_a_list_what_its_stock_is_worth() {
    let site = Site::start();
    let ana = site.person("ana");
    let body = json!({
        "titulo": "Garrafa", "sku": "A", "custo": 12.5, "preco": 49.9, "estoque": 7,
        "estoque_baixo": 7,
    });
    let id = make(&ana, PATH, &body);
    make(&ana, PATH, &json!({ "titulo": "Caneca", "sku": "B", "preco": 10, "estoque": 3 }));
    make(&ana, PATH, &json!({ "titulo": "Pote", "sku": "C", "custo": 100, "preco": 80 }));
    let read = |query: &str| ana.get(&format!("{PATH}{query}")).expect(200).text();
    let page = read("");
    for said in [
        "3 produtos · estoque vale R$ 87,50 · 1 sem custo",
        "R$ 37,40",
        "74,9%",
        "−R$ 20,00",
        "−25%",
        "falta o custo",
        "Estoque baixo <span class=\"count\">1</span>",
        "Com estoque <span class=\"count\">2</span>",
        "Sem estoque <span class=\"count\">1</span>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    for (query, sum) in [
        ("?estoque=baixo", "1 produto · estoque vale R$ 87,50<"),
        ("?estoque=com", "2 produtos · estoque vale R$ 87,50 · 1 sem custo"),
        ("?q=caneca", "1 produto · estoque vale R$ 0,00 · 1 sem custo"),
        ("?q=pote&estoque=com", "0 produtos · estoque vale R$ 0,00<"),
    ] {
        assert!(read(query).contains(sum), "{query}: {sum}");
    }
    assert_eq!(skus(&list(&ana, &format!("{PATH}?estoque=baixo"))), ["A"]);
    let page = read(&format!("/{id}"));
    for said in ["R$ 37,40", "Estoque baixo", "Nenhum anúncio com este SKU", "calculadora?produto="]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    // The sum of the greatest amounts is still a number.
    for number in 1..=3 {
        let body = json!({
            "titulo": "Caro", "sku": format!("D{number}"), "custo": 9_999_999.99,
            "estoque": 10_000_000,
        });
        make(&ana, PATH, &body);
    }
    assert!(read("?q=caro").contains("3 produtos · estoque vale R$ 299.999.999"), "{}", read(""));
}

/// What a person was told of low stocks, oldest first.
fn told_of_stock(site: &Site) -> Vec<String> {
    site.stored(
        "SELECT message || ' ' || reference FROM notification WHERE title = 'Estoque baixo'
         ORDER BY owner_id, notification_id",
    )
}

#[test]
fn a_low_stock_is_told_once_until_it_rises_again() {
    let site = Site::start();
    let ana = site.person("ana");
    let body = json!({ "titulo": "Um", "sku": "A", "estoque": 10, "estoque_baixo": 3 });
    let id = make(&ana, PATH, &body);
    assert_eq!(product(&ana, &id)["estoque_baixo"], json!(3));
    let moved = |kind: &str, quantity: i64| {
        let body = json!({ "tipo": kind, "quantidade": quantity });
        ana.post(&format!("{PATH}/{id}/movimentos"), &body).expect(201);
    };
    moved("saida", 6);
    assert_eq!(told_of_stock(&site), [] as [String; 0]);
    moved("saida", 1);
    moved("saida", 1);
    let page = format!("{PATH}/{id}");
    assert_eq!(told_of_stock(&site), [format!("Um. Restam 3 unidades. {page}")]);
    moved("entrada", 2);
    moved("ajuste", 1);
    moved("ajuste", 0);
    let told = told_of_stock(&site);
    assert_eq!(told[1..], [format!("Um. Resta 1 unidade. {page}")]);
    // A program that counts is told too; a file is not.
    ana.post(&page, &json!({ "estoque": 5 })).ok();
    ana.post(&page, &json!({ "estoque": 0 })).ok();
    assert_eq!(told_of_stock(&site)[2..], [format!("Um. Acabou o estoque. {page}")]);
    import(&ana, PATH, "sku,stock\nA,9\n").ok();
    import(&ana, PATH, "sku,stock\nA,1\n").ok();
    assert_eq!(told_of_stock(&site).len(), 3);
    assert_eq!(product(&ana, &id)["estoque_baixo"], json!(3), "a file leaves it");
    ana.post(&page, &json!({ "titulo": "Dois" })).ok();
    assert_eq!(product(&ana, &id)["estoque_baixo"], json!(3), "what is not sent stays");
    ana.post(&page, &json!({ "estoque_baixo": -1 })).expect(422);
    let form = [("titulo", "Dois"), ("sku", "A"), ("estoque_baixo", "")];
    ana.send(Request::new("POST", &page).form(&form)).expect(303);
    assert_eq!(product(&ana, &id)["estoque_baixo"], json!(null));
    let news = list(&ana, "/painel/avisos");
    assert!(news.to_string().contains(&page), "{news}");
}

#[test]
fn suppliers_are_told_of_their_shelf_and_sellers_by_their_sales() {
    let site = Site::start();
    let supplier = site.person_as("davi", "drop");
    let shelf = "/fornecedor/produtos";
    let body = json!({ "titulo": "Um", "sku": "A", "estoque": 2, "estoque_baixo": 1 });
    let id = make(&supplier, shelf, &body);
    let body = json!({ "tipo": "saida", "quantidade": 1 });
    supplier.post(&format!("{shelf}/{id}/movimentos"), &body).expect(201);
    assert_eq!(told_of_stock(&site), [format!("Um. Resta 1 unidade. {shelf}/{id}")]);
    let page = supplier.get(&format!("{shelf}/{id}")).expect(200).text();
    assert!(!page.contains("Anúncios que o vendem") && !page.contains("calculadora"), "{page}");
    with_shop(|shop, listing, _| {
        let page = format!("{PATH}/{}", shop.product);
        shop.ana.post(&page, &json!({ "estoque_baixo": 7 })).ok();
        let order = shop.sell(listing, 3, "paid");
        shop.tell_again(&order);
        let once = format!("Um. Restam 7 unidades. {page}");
        assert_eq!(told_of_stock(shop.site), std::slice::from_ref(&once));
        shop.becomes(&order, "cancelled");
        shop.sell(listing, 12, "paid");
        let over = format!("Um. Foram vendidas 2 a mais do que havia. {page}");
        assert_eq!(told_of_stock(shop.site), [once, over]);
        let page = shop.ana.get(&page).expect(200).text();
        assert!(page.contains(&format!("/painel/anuncios/{listing}")), "{page}");
        assert!(page.contains("Coisa A"), "{page}");
    });
}
