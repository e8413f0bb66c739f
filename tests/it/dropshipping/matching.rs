//! Listings without a product: what is suggested, accepted, put aside; and lists of links
//! and products that go out and come back.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::dropshipping::{Trade, number};
use crate::support::html::Page;
use crate::support::site::Site;

const LINKS: &str = "/fornecedor/vinculos";
const UNMATCHED: &str = "/fornecedor/conferencia";

#[track_caller]
fn page(actor: &Actor<'_>, target: &str) -> String {
    actor.get(target).expect(200).text()
}

fn total(actor: &Actor<'_>, target: &str) -> Value {
    json_of(actor, target)["total"].clone()
}

/// Sends the form in which a button stands, as a press of it does, and follows.
#[track_caller]
fn press(actor: &Actor<'_>, html: &str, button: &str) -> (String, String) {
    let page_of = Page::read(html).unwrap();
    let button = page_of.all(&["button"]).find(|one| one.text.trim() == button);
    let button = button.unwrap_or_else(|| panic!("there is no such button\n{html}"));
    let form = page_of.path(button).find(|one| one.is(&["form"])).unwrap();
    let action = button.get("formaction").or_else(|| form.get("action")).unwrap();
    let inside =
        page_of.all(&["input"]).filter(|one| page_of.path(one).any(|up| std::ptr::eq(up, form)));
    let fields: Vec<(&str, &str)> =
        inside.filter_map(|one| Some((one.get("name")?, one.get("value")?))).collect();
    let done = actor.send(Request::new("POST", action).form(&fields)).expect(303);
    let to = done.header("location").unwrap().to_owned();
    (page(actor, &to), to)
}

#[test]
fn a_suggested_product_is_accepted_by_one_press_and_taken_back_by_another() {
    let trade = Trade::open();
    let sol = trade.shop.site.person_as("sol", "drop");
    let list = format!("{UNMATCHED}?motivo=no_sku&vendedor={}", trade.seller);
    let shown = page(&sol, &list);
    assert!(!shown.contains("Aceitar"), "one common word is no suggestion\n{shown}");
    assert!(shown.contains("1 anúncio sem produto"), "{shown}");
    assert!(page(&sol, "/fornecedor").contains("1 anúncio sem produto"));
    let good = json!({ "sku": "GAR-2", "titulo": "Garrafa", "preco": 31.5 });
    sol.post("/fornecedor/produtos", &good).expect(201);
    let shown = page(&sol, &list);
    for said in ["GAR-2 · R$ 31,50 · título parecido", "Aceitar", "Outro", "Não é meu"] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
    let (told, to) = press(&sol, &shown, "Aceitar");
    assert_eq!(to, list, "the filter is kept");
    assert!(told.contains("Anúncio vinculado"), "{told}");
    assert_eq!(total(&sol, UNMATCHED), 0);
    assert_eq!(json_of(&sol, LINKS)["dados"][0]["sku"], "GAR-2");
    assert!(page(&sol, "/fornecedor").contains("Todos os anúncios à venda têm um produto seu."));
    let (told, to) = press(&sol, &told, "Desfazer");
    assert_eq!(to, list);
    assert!(told.contains("Vínculo desfeito") && told.contains("autofocus"), "{told}");
    assert_eq!((total(&sol, UNMATCHED), total(&sol, LINKS)), (json!(1), json!(0)));

    // A page from before finds the link there, and takes nothing of others back.
    trade.link();
    let (seller, listing) = (&*trade.seller, &*trade.listing);
    let fields = [
        ("volta", "conferencia"),
        ("linha", "0"),
        ("vendedor", seller),
        ("anuncio", listing),
        ("sku", "GAR-1"),
    ];
    let done = sol.send(Request::new("POST", LINKS).form(&fields)).expect(303);
    let told = page(&sol, done.header("location").unwrap());
    assert!(told.contains("Anúncio vinculado") && !told.contains("Desfazer"), "{told}");
}

#[test]
fn what_is_not_the_suppliers_is_put_aside_and_can_be_shown_again() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let (sol, lua) = (site.person_as("sol", "drop"), site.person_as("lua", "drop"));
    let (told, _) = press(&sol, &page(&sol, UNMATCHED), "Não é meu");
    assert!(told.contains("Anúncio separado"), "{told}");
    let aside = format!("{UNMATCHED}?situacao=nao_e_meu");
    assert_eq!((total(&sol, UNMATCHED), total(&sol, &aside)), (json!(0), json!(1)));
    let (_, to) = press(&sol, &told, "Desfazer");
    assert_eq!(to, UNMATCHED);
    assert_eq!((total(&sol, UNMATCHED), total(&sol, &aside)), (json!(1), json!(0)));
    let listing = json!({ "vendedor": trade.seller, "anuncio": trade.listing });
    let put = |actor: &Actor<'_>| actor.post(&format!("{UNMATCHED}/separar"), &listing);
    put(&lua).expect(404);
    put(&sol).ok();
    put(&sol).ok();
    let (told, _) = press(&sol, &page(&sol, &aside), "Voltar a conferir");
    assert!(told.contains("Anúncio de volta à lista"), "{told}");
    assert_eq!(total(&sol, UNMATCHED), 1);
    let rui = number(site, &site.person("rui"));
    for wrong in [
        json!({ "vendedor": rui, "anuncio": trade.listing }),
        json!({ "vendedor": trade.seller, "anuncio": "MLB1" }),
    ] {
        sol.post(&format!("{UNMATCHED}/separar"), &wrong).expect(404);
    }
    sol.post(&format!("{UNMATCHED}/separar"), &json!({ "anuncio": "x" })).expect(422);
    // What was said ends with the relation.
    put(&sol).ok();
    let kept = "SELECT count(*) || '' FROM drop_foreign";
    assert_eq!(site.stored(kept), ["1"]);
    sol.post(&format!("/fornecedor/vendedores/{}/encerrar", trade.seller), &json!({})).ok();
    assert_eq!(site.stored(kept), ["0"]);
}

fn csv(actor: &Actor<'_>, path: &str) -> String {
    actor.get(&format!("{path}?formato=csv")).expect(200).text()
}

fn send(actor: &Actor<'_>, path: &str, csv: &str) -> Reply {
    actor.post(path, &json!({ "csv": csv }))
}

#[test]
fn a_list_of_links_comes_back_as_it_went_out() {
    let trade = Trade::open();
    let sol = trade.shop.site.person_as("sol", "drop");
    trade.link();
    let file = csv(&sol, LINKS);
    let id = json_of(&sol, LINKS)["dados"][0]["id"].as_str().unwrap().to_owned();
    sol.post(&format!("{LINKS}/{id}/excluir"), &json!({})).ok();
    let looked = send(&sol, &format!("{LINKS}/importar"), &file).expect(200).json();
    assert_eq!((&looked["criados"], &looked["falhos"]), (&json!(1), &json!(0)), "{looked}");
    let made = send(&sol, &format!("{LINKS}/importar/aplicar"), &file).expect(200).json();
    assert_eq!(made["criados"], 1, "{made}");
    // The names that the panel has for the columns.
    let own = format!("Vendedor;Anúncio;SKU;Obs\n{};{};GAR-1;x\n", trade.seller, trade.listing);
    let again = send(&sol, &format!("{LINKS}/importar"), &own).expect(200).json();
    assert_eq!(again["sem_mudanca"], 1, "{again}");
}

#[test]
fn a_list_of_products_comes_back_with_whatever_columns_were_added() {
    let site = Site::builder().unlimited().start();
    let sol = site.person_as("sol", "drop");
    let products = "/fornecedor/produtos";
    let good =
        json!({ "sku": "A-1", "titulo": "Garrafa", "preco": 20, "custo": 9.5, "estoque": 3 });
    sol.post(products, &good).expect(201);
    let import = format!("{products}/importar");
    let counts = |csv: &str| {
        let done = send(&sol, &import, csv).expect(200).json();
        [&done["criados"], &done["alterados"], &done["sem_mudanca"]]
            .map(|one| one.as_u64().unwrap())
    };
    let file = csv(&sol, products);
    assert_eq!(counts(&file), [0, 0, 1], "{file}");
    let mark = file.lines().next().unwrap();
    let separator = if mark.contains(';') { ";" } else { "," };
    let wide: String = file.lines().flat_map(|line| [line, separator, "Prateleira 4\n"]).collect();
    let done = send(&sol, &import, &wide).expect(200).json();
    assert_eq!((&done["sem_mudanca"], &done["ignoradas"]), (&json!(1), &json!(["Prateleira 4"])));
    assert_eq!(
        counts("SKU;Título;Preço;Estoque;Fornecedor\nA-1;Garrafa azul;21,90;3;x\n"),
        [0, 1, 0]
    );
    assert_eq!(json_of(&sol, products)["dados"][0]["titulo"], "Garrafa azul");
    // A file without a single known column besides the SKU is a mistake.
    send(&sol, &import, "sku,pric\nA-1,3\n").expect(422);
    let upload =
        Request::new("POST", &import).header("Accept", "text/html").form(&[("csv", &wide)]);
    let back = sol.send(upload).expect(303).header("location").unwrap().to_owned();
    assert!(page(&sol, &back).contains("Uma coluna a mais ficou de fora."));
}
