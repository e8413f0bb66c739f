//! What an owner sees about the reading of an account: its progress and its errors.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::sync::{accounts, area, joined, quiet_sale, run_after, shop, wait_until_read};
use crate::support::world::{LOJA, World};

const TURN_S: i64 = 1_800;

/// A page as a browser gets it.
#[track_caller]
fn page(person: &Actor<'_>, path: &str) -> String {
    let reply = person.send(Request::new("GET", path).header("Accept", "text/html"));
    reply.expect(200).text()
}

/// The part of a page between two texts.
#[track_caller]
fn between<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
    let begin = page.find(before).unwrap_or_else(|| panic!("no {before}: {page}"));
    let rest = &page[begin + before.len()..];
    &rest[..rest.find(after).unwrap_or(rest.len())]
}

/// The time that the page shows as the account's last update.
#[track_caller]
fn fresh(person: &Actor<'_>) -> String {
    let page = page(person, "/painel/ml");
    between(between(&page, "Atualizada</dt>", "</dd>"), "title=\"", "\"").to_owned()
}

/// A shop whose account was read once.
fn read_once(world: &World) -> Site {
    let site = joined(world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    site
}

#[test]
fn before_the_first_orders_are_here_their_history_begins_with_the_link() {
    let world = shop();
    world.fault(
        &json!({ "path_prefix": "/orders/search", "times": 0, "kind": "status", "code": 500 }),
    );
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    let account = &accounts(&ana)[0];
    assert_eq!(account["historico_desde"], account["vinculada_em"]);
    let page = page(&ana, "/painel/ml");
    assert!(page.contains("buscando as vendas dos últimos 12 meses"), "{page}");
    // The page says how to see more without a script, and tells the script when
    // to request it.
    assert!(page.contains("Ver como está agora") && page.contains("data-follow="));
    assert_eq!(between(&page, "Atualizada</dt>", "</dd>"), "<dd>ainda não");
    world.clear_faults();
    wait_until_read(&site, &ana);
    assert_eq!(accounts(&ana)[0]["historico_desde"], Value::Null);
    let page = self::page(&ana, "/painel/ml");
    assert!(!page.contains("data-follow=") && !page.contains("Histórico</dt>"));
}

#[test]
fn an_account_of_which_a_part_is_refused_asks_for_attention() {
    let world = shop();
    let site = read_once(&world);
    let ana = site.person("ana");
    let is_well = |home: &str| home.contains("good\">Vinculada<") && !home.contains("Atenção");
    assert!(is_well(&page(&ana, "/painel")));
    let before = fresh(&ana);
    world.fault(
        &json!({ "path_prefix": "/orders/search", "times": 0, "kind": "status", "code": 403 }),
    );
    quiet_sale(&world, LOJA);
    run_after(&site, TURN_S);
    assert_eq!(area(&ana, "pedidos")["estado"], "com_erro");
    assert_eq!(area(&ana, "conta")["estado"], "em_dia");
    let shown = page(&ana, "/painel/ml");
    assert_eq!(between(&shown, "class=\"badge ", "</span>"), "warn\">Atenção");
    let said = format!("Vendas: sem leitura desde {before}. O marketplace recusou esta leitura.");
    assert!(shown.contains(&said), "{said}: {shown}");
    assert!(shown.contains("<details class=\"fold\" open>") && shown.contains("Vincular de novo"));
    // The data counts as old as its oldest part.
    assert_eq!(fresh(&ana), before);
    let home = page(&ana, "/painel");
    assert!(home.contains("warn\">Atenção<") && home.contains("Vendas: sem leitura desde"));
    assert!(!home.contains("Vinculada"), "its one account is not said to be well: {home}");
    // The link is not lost.
    let account = &accounts(&ana)[0];
    assert_eq!((&account["token_ok"], &account["erro"]), (&json!(true), &Value::Null));
    world.clear_faults();
    run_after(&site, TURN_S);
    let shown = page(&ana, "/painel/ml");
    assert_eq!(between(&shown, "class=\"badge ", "</span>"), "good\">Vinculada");
    assert_ne!(fresh(&ana), before);
    assert!(is_well(&page(&ana, "/painel")));
}
