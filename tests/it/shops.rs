//! The seller's panel: sales, listings, questions and claims of linked
//! accounts, and answering.

use std::time::Duration;

use serde_json::{Value, json};

use crate::actors::Actor;
use crate::client::{Reply, Request};
use crate::cron::json_of;
use crate::furnish::LOJA;
use crate::process::until;
use crate::site::Site;
use crate::world::World;

const PATIENCE: Duration = Duration::from_secs(30);
const SALES: &str = "/painel/vendas";
const LISTINGS: &str = "/painel/anuncios";
const QUESTIONS: &str = "/painel/perguntas";
const CLAIMS: &str = "/painel/reclamacoes";

/// Two accounts of a student, with a sale each.
fn shops(site: &Site, world: &World) {
    let ana = site.person("ana");
    for (number, name) in [(0, "LOJA UM"), (1, "LOJA DOIS")] {
        world.seller(LOJA + number, name);
        world.item(LOJA + number, "Caneca de ágata", 35.5);
        world.link(&ana, LOJA + number);
        world.sale(LOJA + number);
    }
    world.deliveries();
    listed(&ana, SALES, 2);
}

/// The rows of a list, once it has so many.
#[track_caller]
fn listed(actor: &Actor<'_>, list: &str, count: usize) -> Vec<Value> {
    until(list, PATIENCE, || {
        let found = json_of(actor, list);
        let rows = found["dados"].as_array().unwrap().clone();
        (rows.len() == count && found["total"] == count).then_some(rows)
    })
}

#[track_caller]
fn ask(world: &World, account: u64, text: &str) {
    let question = json!({ "ml_user_id": account, "text": text });
    world.control("/_sandbox/questions", &question);
}

#[track_caller]
fn form(actor: &Actor<'_>, path: &str, answer: &str) -> Reply {
    actor.send(Request::new("POST", path).form(&[("resposta", answer)]))
}

#[test]
fn sales_are_found_by_state_account_period_and_number() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    shops(&site, &world);
    let ana = site.person("ana");
    let all = listed(&ana, SALES, 2);
    let (newest, number) = (&all[0], all[0]["id"].as_str().unwrap());
    assert_eq!(newest["titulo"], "Caneca de ágata");
    for (filter, count) in [
        ("estado=paid", 2),
        ("estado=cancelled", 0),
        ("periodo=hoje", 2),
        (&*format!("conta={LOJA}"), 1),
        ("conta=1", 0),
        (&*format!("q={number}"), 1),
        (&*format!("q={}", newest["anuncio"].as_str().unwrap()), 1),
        ("q=caneca", 0),
        ("por_pagina=1", 1),
    ] {
        let found = json_of(&ana, &format!("{SALES}?{filter}"));
        let rows = found["dados"].as_array().unwrap().len();
        assert_eq!(rows, count, "{filter}: {found}");
    }
    for wrong in ["estado=outro", "conta=x", "conta=-1", "periodo=ontem"] {
        ana.get(&format!("{SALES}?{wrong}")).expect(422);
    }
    let page = ana.get(SALES).expect(200).text();
    assert!(
        page.contains("LOJA UM") && page.contains("últimos 30 dias"),
        "{page}"
    );
    let csv = ana.get(&format!("{SALES}?formato=csv")).expect(200).text();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let one = json_of(&ana, &format!("{SALES}/{number}"));
    assert_eq!(&one["id"], &newest["id"]);
    ana.get(&format!("{SALES}/{number}")).expect(200);
}

#[test]
fn nobody_sees_the_shops_of_another() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    shops(&site, &world);
    ask(&world, LOJA, "Tem azul?");
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    world.deliveries();
    let ana = site.person("ana");
    let sale = listed(&ana, SALES, 2)[0]["id"].as_str().unwrap().to_owned();
    let question = listed(&ana, QUESTIONS, 1)[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    listed(&ana, CLAIMS, 1);
    let bia = site.person("bia");
    for list in [SALES, LISTINGS, QUESTIONS, CLAIMS] {
        assert_eq!(json_of(&bia, list)["total"], 0, "{list}");
        assert_eq!(json_of(&bia, &format!("{list}?conta={LOJA}"))["total"], 0);
    }
    bia.get(&format!("{SALES}/{sale}")).expect(404);
    bia.get(&format!("{QUESTIONS}/{question}")).expect(404);
    let answer = json!({ "resposta": "Tem sim" });
    bia.post(&format!("{QUESTIONS}/{question}/responder"), &answer)
        .expect(404);
    assert_eq!(listed(&ana, QUESTIONS, 1)[0]["estado"], "pendente");
    let rui = site.person_as("rui", "drop");
    for list in [SALES, LISTINGS, QUESTIONS, CLAIMS] {
        rui.get(list).expect(403);
    }
}

#[test]
fn a_question_is_answered_once() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    shops(&site, &world);
    ask(&world, LOJA, "Tem azul?");
    world.deliveries();
    let ana = site.person("ana");
    let asked = listed(&ana, &format!("{QUESTIONS}?estado=pendente"), 1);
    let id = asked[0]["id"].as_str().unwrap();
    assert_eq!(
        (&asked[0]["texto"], &asked[0]["conta"]),
        (&json!("Tem azul?"), &json!("LOJA UM"))
    );
    let home = ana.get("/painel").expect(200).text();
    assert!(home.contains("1 pergunta sem resposta"), "{home}");
    let path = format!("{QUESTIONS}/{id}/responder");
    for wrong in ["", "  \n ", &*"ã".repeat(2_001)] {
        ana.post(&path, &json!({ "resposta": wrong })).expect(422);
        let page = form(&ana, &path, wrong).expect(422).text();
        assert!(page.contains("Escreva a resposta"), "{page}");
    }
    form(&ana, &path, "Tem sim,\r\nem dois tons.").expect(303);
    let answered = json_of(&ana, &format!("{QUESTIONS}/{id}"));
    assert_eq!(
        (&answered["estado"], &answered["resposta"]),
        (&json!("respondida"), &json!("Tem sim,\nem dois tons."))
    );
    ana.post(&path, &json!({ "resposta": "De novo" }))
        .expect(409);
    form(&ana, &path, "De novo").expect(303);
    let home = ana.get("/painel").expect(200).text();
    assert!(!home.contains("pergunta sem resposta"), "{home}");
}

#[test]
fn what_the_marketplace_does_not_take_is_kept_for_another_try() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    shops(&site, &world);
    ask(&world, LOJA, "Tem azul?");
    world.deliveries();
    let ana = site.person("ana");
    let id = listed(&ana, QUESTIONS, 1)[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{QUESTIONS}/{id}/responder");
    let down = json!({ "path_prefix": "/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&down);
    let refused = ana
        .post(&path, &json!({ "resposta": "Tem sim" }))
        .expect(502);
    assert_eq!(refused.code(), "marketplace_unavailable");
    let page = form(&ana, &path, "Tem sim").expect(502).text();
    assert!(
        page.contains("Tem sim") && page.contains("Nada foi enviado"),
        "{page}"
    );
    world.clear_faults();
    ana.post(&path, &json!({ "resposta": "Tem sim" })).ok();
    assert_eq!(listed(&ana, QUESTIONS, 1)[0]["resposta"], "Tem sim");
}
