//! The search over everything, and what people keep of lists.

use serde_json::{Value, json};

use crate::panel::stored_text::said;
use crate::support::client::Request;
use crate::support::html::Page;
use crate::support::payloads;
use crate::support::shop::Shop;
use crate::support::site::Site;
use crate::support::sync::wait_until_worked;
use crate::support::world::LOJA;

fn found(answer: &Value, group: &str) -> Vec<String> {
    let groups = answer["grupos"].as_array().unwrap();
    let group = groups.iter().find(|one| one["grupo"] == group);
    let items = group.map(|group| group["itens"].as_array().unwrap().clone());
    let text = |item: &Value| item["texto"].as_str().unwrap().to_owned();
    items.unwrap_or_default().iter().map(text).collect()
}

#[test]
fn pages_acts_and_own_things_are_found_and_nothing_of_others() {
    let shop = Shop::open();
    let (ana, rui) = (shop.ana(), shop.site.person("rui"));
    let (order, _) = shop.sell(LOJA, true);
    wait_until_worked(&shop.world, &shop.site);
    let json = |who: &crate::support::actors::Actor<'_>, search: &str| {
        let request = Request::new("GET", &format!("/painel/buscar?q={search}"));
        who.send(request.header("Accept", "application/json")).expect(200).json()
    };
    assert_eq!(found(&json(&ana, &order), "Vendas"), [format!("Venda {order}")]);
    assert!(found(&json(&rui, &order), "Vendas").is_empty(), "a sale of somebody else");
    assert_eq!(found(&json(&ana, "imprimir"), "Ações"), ["Imprimir etiquetas"]);
    assert_eq!(found(&json(&ana, "reclamacoes"), "Páginas"), ["Reclamações"]);
    assert_eq!(found(&json(&ana, "garrafa"), "Anúncios"), ["Garrafa"]);
    assert!(!found(&json(&ana, ""), "Ações").is_empty());
    let page = ana.get("/painel/buscar?q=garrafa").expect(200).text();
    assert!(page.contains(">Garrafa</a>"), "{page}");
    ana.get("/admin/buscar").expect(403);
    shop.site.anonymous().get("/painel/buscar").expect(303);
}

#[test]
fn operators_find_people_by_a_part_of_the_name() {
    let site = Site::start();
    let operator = site.administrator();
    let email = site.person("ana").person().email.clone();
    let request = Request::new("GET", &format!("/admin/buscar?q={email}"));
    let answer = operator.send(request.header("Accept", "application/json")).expect(200).json();
    assert_eq!(found(&answer, "Alunos").len(), 1, "{answer}");
}

#[test]
fn every_act_leads_to_a_page_of_its_reader() {
    const WORDS: [&str; 12] = [
        "calcular",
        "conferir",
        "convidar",
        "copiar",
        "criar",
        "imprimir",
        "lembrar",
        "marcar",
        "novo",
        "responder",
        "testar",
        "ver",
    ];
    let site = Site::builder().unlimited().start();
    let (ana, rui) = (site.person("ana"), site.person_as("rui", "drop"));
    let operator = site.administrator();
    for (who, home) in [(&ana, "/painel"), (&rui, "/fornecedor"), (&operator, "/admin")] {
        let mut acts = 0;
        for word in WORDS {
            let request = Request::new("GET", &format!("{home}/buscar?q={word}"));
            let answer = who.send(request.header("Accept", "application/json")).expect(200).json();
            let groups = answer["grupos"].as_array().unwrap();
            let group = groups.iter().find(|group| group["grupo"] == "Ações");
            for act in group.into_iter().flat_map(|group| group["itens"].as_array().unwrap()) {
                acts += 1;
                who.get(act["endereco"].as_str().unwrap()).expect(200);
            }
        }
        assert!(acts > 3, "{home} has {acts} acts");
    }
}

#[test]
fn a_list_is_kept_under_a_name_found_again_and_removed_by_its_owner_alone() {
    let site = Site::start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let list = "/painel/produtos?q=copo&ordem=-estoque";
    let keep = |name: &str| {
        ana.send(Request::new("POST", "/visoes").form(&[("lista", list), ("nome", name)]))
    };
    keep("Copos").expect(303);
    keep("Copos").expect(303);
    let address = "/visoes?lista=%2Fpainel%2Fprodutos";
    let views = |who: &crate::support::actors::Actor<'_>| {
        who.send(Request::new("GET", address).header("Accept", "application/json"))
            .expect(200)
            .json()
    };
    let mine = views(&ana);
    assert_eq!(mine.as_array().unwrap().len(), 1, "the same name is the same view");
    assert_eq!(mine[0]["endereco"], list);
    assert_eq!(views(&rui), json!([]));
    ana.get(list).expect(200);
    let menu = ana.get(list).expect(200).text();
    assert!(menu.contains("/visoes?lista=%2Fpainel%2Fprodutos%3Fq%3Dcopo"), "{menu}");
    let remove = format!("/visoes/{}/remover", mine[0]["id"]);
    rui.send(Request::new("POST", &remove).form(&[])).expect(404);
    ana.send(Request::new("POST", &remove).form(&[])).expect(303);
    assert_eq!(views(&ana), json!([]));
    for bad in ["https://evil.example/", "//evil.example", "/painel/nada", "/painel/produtos?\"><x"]
    {
        let form = [("lista", bad), ("nome", "x")];
        ana.send(Request::new("POST", "/visoes").form(&form)).expect(404);
    }
    keep("").expect(422);
    // Any text is a name, and stays text on the page of the names.
    for text in payloads::all() {
        keep(&text).expect(303);
        let page = Request::new("GET", address).header("Accept", "text/html");
        let page = Page::read(&ana.send(page).expect(200).text()).unwrap();
        assert!(said(&page).contains(&text), "{text} is not on the page");
        let id = views(&ana)[0]["id"].to_string();
        ana.send(Request::new("POST", &format!("/visoes/{id}/remover")).form(&[])).expect(303);
    }
    for number in 0..20 {
        keep(&format!("Visão {number}")).expect(303);
    }
    keep("Uma a mais").expect(422);
    keep("Visão 3").expect(303);
    let kept = ana.get(&format!("{address}%3Fq%3Dcopo%26ordem%3D-estoque")).expect(200).text();
    assert!(kept.contains("Visão guardada"), "{kept}");
}
