//! What suppliers are paid: who owes, payments of a whole filter, what takes them back,
//! and the statement of a month.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::dropshipping::Trade;
use crate::support::html::Page;

const HOME: &str = "/fornecedor";
const ORDERS: &str = "/fornecedor/pedidos";
const STATEMENT: &str = "/fornecedor/extrato";

/// The form of a page whose action is this one: its hidden fields, and the tags around
/// it that a press needs.
#[track_caller]
fn form(html: &str, action: &str) -> Vec<(String, String)> {
    let page = Page::read(html).unwrap();
    let is_form = |one: &&crate::support::html::Element| one.get("action") == Some(action);
    let form = page.all(&["form"]).find(is_form);
    let form = form.unwrap_or_else(|| panic!("no form with the action {action}\n{html}"));
    let id = form.get("id");
    let inside = page.all(&["input"]).filter(|one| {
        page.path(one).any(|above| std::ptr::eq(above, form))
            || id.is_some() && one.get("form") == id && one.has("checked")
    });
    inside
        .map(|one| {
            let of = |name: &str| one.get(name).unwrap_or_default().to_owned();
            (of("name"), of("value"))
        })
        .collect()
}

/// Sends a form of a page and follows to the page that it leads back to.
#[track_caller]
fn press(actor: &Actor<'_>, html: &str, action: &str) -> (String, String) {
    let fields = form(html, action);
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let done = actor.send(Request::new("POST", action).form(&fields)).expect(303);
    let to = done.header("location").unwrap().to_owned();
    (page(actor, &to), to)
}

#[track_caller]
fn page(actor: &Actor<'_>, target: &str) -> String {
    actor.get(target).expect(200).text()
}

/// Whether a page has a link to an address.
#[track_caller]
fn leads_to(html: &str, target: &str) -> bool {
    Page::read(html).unwrap().all(&["a"]).any(|one| one.get("href") == Some(target))
}

/// How many orders have each state: pending, overdue, paid.
fn states(actor: &Actor<'_>) -> [u64; 3] {
    ["pending", "overdue", "paid"].map(|state| {
        let rows = json_of(actor, ORDERS)["dados"].as_array().unwrap().clone();
        rows.iter().filter(|row| row["situacao"] == state).count() as u64
    })
}

#[test]
fn all_of_a_filter_is_paid_by_one_press_and_taken_back_by_another() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let (sol, lua) = (site.person_as("sol", "drop"), site.person_as("lua", "drop"));
    trade.link_and_sell(&[1, 2, 3]);
    // The way that "Recebi" leads: all is ticked, and the sum is said.
    let filter = format!("?situacao=aberto&vendedor={}", trade.seller);
    let seen = page(&sol, &format!("{ORDERS}{filter}&marcar=todos"));
    assert!(seen.contains("ana da Silva · 3 pedidos · R$ 120,00 em aberto"), "{seen}");
    assert!(seen.contains("3 marcados · R$ 120,00"), "{seen}");
    let action = format!("{ORDERS}/pagos{filter}");
    let fields = form(&seen, &action);
    assert_eq!(fields.iter().filter(|(name, _)| name == "ids").count(), 3, "{fields:?}");
    assert!(fields.contains(&("todos".to_owned(), "1".to_owned())), "{fields:?}");

    // What was not there when the page was seen is not paid.
    trade.sell(4);
    let (told, to) = press(&sol, &seen, &action);
    assert_eq!(to, format!("{ORDERS}{filter}"), "the filter is kept");
    assert!(told.contains("Pagamento de 3 pedidos anotado"), "{told}");
    assert!(told.contains("1 pedido · R$ 80,00 em aberto"), "{told}");
    assert_eq!(states(&sol), [1, 0, 3]);
    // The same form sent once more answers as then.
    assert_eq!(press(&sol, &seen, &action).1, to);
    assert_eq!(states(&sol), [1, 0, 3]);

    let undo = format!("{ORDERS}/pagos/desfazer{filter}");
    let fields = form(&told, &undo);
    let batch = &fields.iter().find(|(name, _)| name == "lote").unwrap().1;
    let other = lua.post(&format!("{ORDERS}/pagos/desfazer"), &json!({ "lote": batch })).ok();
    assert_eq!(other["desfeitos"], 0, "it is nobody else's");
    let (told, to) = press(&sol, &told, &undo);
    assert_eq!(to, format!("{ORDERS}{filter}"));
    assert!(told.contains("Pagamento de 3 pedidos desfeito"), "{told}");
    assert_eq!(states(&sol), [4, 0, 0]);
    let again = sol.post(&format!("{ORDERS}/pagos/desfazer"), &json!({ "lote": batch })).ok();
    assert_eq!(again["desfeitos"], 0);
    sol.post(&format!("{ORDERS}/pagos/desfazer"), &json!({ "lote": "x" })).expect(422);

    // Programs too; and what is paid already is not touched by taking others back.
    let first = json_of(&sol, ORDERS)["dados"][0]["id"].clone();
    sol.post(&format!("{ORDERS}/{}/pago", first.as_str().unwrap()), &json!({})).ok();
    let paid = sol.post(&format!("{ORDERS}/pagos"), &json!({ "todos": true })).ok();
    assert_eq!(paid["pagos"], 3);
    sol.post(&format!("{ORDERS}/pagos/desfazer"), &json!({ "lote": paid["lote"] })).ok();
    assert_eq!(states(&sol), [3, 0, 1]);
    let none = sol.post(&format!("{ORDERS}/pagos?situacao=pago"), &json!({ "todos": true })).ok();
    assert_eq!(none["pagos"], 0);
}

#[test]
fn an_act_on_an_order_keeps_filter_and_page_and_can_be_taken_back() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let sol = site.person_as("sol", "drop");
    trade.link_and_sell(&[1, 2, 3]);
    let list = format!("{ORDERS}?situacao=a_vencer&ordem=vencimento&por_pagina=1&pagina=3");
    let seen = page(&sol, &list);
    let id = json_of(&sol, &list)["dados"][0]["id"].as_str().unwrap().to_owned();
    let query = list.strip_prefix(ORDERS).unwrap();
    let (told, to) = press(&sol, &seen, &format!("{ORDERS}/{id}/pago{query}"));
    assert_eq!(to, list);
    // The third page is gone with its only row, and the last one is shown.
    assert!(told.contains("Pagamento anotado") && told.contains("2–2 de 2"), "{told}");
    let undo = format!("{ORDERS}/{id}/desfazer{}", query.replace("pagina=3", "pagina=2"));
    let (told, _) = press(&sol, &told, &undo);
    assert!(told.contains("Pagamento desfeito"), "{told}");
    assert_eq!(states(&sol), [3, 0, 0]);
    for wrong in ["?situacao=x", "?pagina=0", "?de=ontem"] {
        let target = format!("{ORDERS}/pagos{wrong}");
        sol.post(&target, &json!({ "todos": true })).expect(422);
    }
}

#[test]
fn a_list_says_what_its_filter_comes_to() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let sol = site.person_as("sol", "drop");
    trade.link_and_sell(&[1, 2]);
    let first = json_of(&sol, ORDERS)["dados"][1]["id"].as_str().unwrap().to_owned();
    sol.post(&format!("{ORDERS}/{first}/pago"), &json!({})).ok();
    let day = json_of(&sol, ORDERS)["dados"][0]["vendido_em"].as_str().unwrap()[..10].to_owned();
    for (query, said) in [
        ("", "2 pedidos · R$ 40,00 em aberto · R$ 20,00 pagos"),
        ("?situacao=pago", "1 pedido · R$ 20,00 pagos"),
        ("?situacao=vencido", "Nenhum pedido"),
        ("?q=inox&situacao=a_vencer", "1 pedido · R$ 40,00 a vencer"),
        (&*format!("?de={day}&ate={day}"), "2 pedidos · R$ 40,00 em aberto · R$ 20,00 pagos"),
        ("?de=2020-01-01&ate=2020-01-31", "Nenhum pedido"),
    ] {
        let shown = page(&sol, &format!("{ORDERS}{query}"));
        assert!(shown.contains(said), "{query}\n{shown}");
    }
    // Counts of the chips are those of the same search.
    let shown = page(&sol, &format!("{ORDERS}?q=nada+disso"));
    assert!(shown.contains("Em atraso <span class=\"count\">0</span>"), "{shown}");
    let refused = sol.send(
        Request::new("GET", &format!("{ORDERS}?de=ontem")).header("Accept", "application/json"),
    );
    assert_eq!(refused.status, 422);
}

#[test]
fn the_home_tells_who_owes_and_reminds_one_or_all() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    trade.link();
    site.clock().advance_s(60);
    trade.sell(2);
    let shown = page(&site.person_as("sol", "drop"), HOME);
    assert!(shown.contains("A receber: R$ 40,00") && !shown.contains("Lembrar"), "{shown}");
    site.clock().advance_s(4 * 86_400);
    trade.sell(1);
    // The sessions have ended in the meantime.
    let (sol, lua) = (site.person_as("sol", "drop"), site.person_as("lua", "drop"));
    let shown = page(&sol, HOME);
    for said in ["A receber: R$ 60,00", "ana da Silva", "1 pedido em atraso", "há "] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
    let link = format!("{ORDERS}?vendedor={}&situacao=aberto&marcar=todos", trade.seller);
    assert!(leads_to(&shown, &link), "{link}\n{shown}");
    let one = format!("/fornecedor/vendedores/{}/lembrar", trade.seller);
    lua.post(&one, &json!({})).expect(404);
    let (told, to) = press(&sol, &shown, &one);
    assert_eq!(to, HOME);
    assert!(told.contains("Vendedor lembrado") && told.contains("lembrado "), "{told}");
    assert!(!told.contains(&one), "a reminder stands for a day\n{told}");
    let told = "SELECT count(*) || '' FROM notification WHERE title = 'Pagamento a fornecedor'";
    assert_eq!(site.stored(told), ["1"]);
    sol.post(&one, &json!({})).ok();
    assert_eq!(site.stored(told), ["1"]);
    let (all, to) = press(&sol, &shown, &format!("{ORDERS}/lembrar"));
    assert_eq!(to, HOME);
    assert!(all.contains("Vendedores com pedidos em atraso: 1. Pedidos: 1."), "{all}");
    assert!(all.contains("De novo às"), "{all}");
    sol.post(&format!("{ORDERS}/pagos"), &json!({ "todos": true })).ok();
    let shown = page(&sol, HOME);
    assert!(shown.contains("Ninguém deve nada a você agora."), "{shown}");
    sol.post(&one, &json!({})).expect(409);
}

#[test]
fn a_month_has_its_statement_by_seller_as_page_json_and_file() {
    let trade = Trade::open();
    let site = &trade.shop.site;
    let (sol, lua) = (site.person_as("sol", "drop"), site.person_as("lua", "drop"));
    trade.link();
    site.clock().advance_s(60);
    let orders: Vec<String> = [1, 2, 3].into_iter().map(|quantity| trade.sell(quantity)).collect();
    trade.change(&orders[2], &json!({ "status": "cancelled", "notify": true }));
    let rows = json_of(&sol, ORDERS)["dados"].clone();
    let of = |order: &str| {
        let found = rows.as_array().unwrap().iter().find(|row| row["pedido"] == json!(order));
        found.unwrap().clone()
    };
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    sol.post(&format!("{ORDERS}/{}/pago", id(&of(&orders[0]))), &json!({})).ok();
    let month = of(&orders[0])["vendido_em"].as_str().unwrap()[..7].to_owned();
    let target = format!("{STATEMENT}?vendedor={}&mes={month}", trade.seller);

    let shown = page(&sol, &target);
    for said in ["ana da Silva · ", "2 pedidos · R$ 60,00", "Pago, 1 pedido", "A vencer, 1 pedido"]
    {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
    let all = page(&sol, STATEMENT);
    assert!(all.contains("ana da Silva") && leads_to(&all, &target), "{all}");
    let read = json_of(&sol, &format!("{STATEMENT}?mes={month}"));
    assert_eq!(read["mes"], json!(month));
    assert_eq!(read["totais"]["valor"].as_f64(), Some(60.0), "{read}");
    assert_eq!(read["vendedores"][0]["totais"]["em_aberto"].as_f64(), Some(40.0), "{read}");
    assert_eq!(read["totais"]["cancelados"], 1);

    let file = sol.get(&format!("{target}&formato=csv")).expect(200).text();
    let lines: Vec<&str> = file.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(
        lines[0].replace(';', ","),
        "pedido,vendido_em,seller_id,vendedor,sku,produto,quantidade,valor,pago,em_aberto,situacao,vence_em,pago_em"
    );
    assert_eq!(lines.len(), 5, "{file}");
    assert!(lines[4].starts_with("Total") && lines[4].contains("60"), "{file}");
    for (actor, target) in
        [(&lua, &*target), (&sol, &*format!("{STATEMENT}?mes=2020-01&vendedor={}", trade.seller))]
    {
        let shown = page(actor, target);
        assert!(shown.contains("Nenhum pedido neste mês"), "{shown}");
    }
    assert!(!page(&lua, &target).contains("ana da Silva"));
    for wrong in ["2026", "2026-13", "novembro"] {
        sol.get(&format!("{STATEMENT}?mes={wrong}")).expect(422);
    }
}
