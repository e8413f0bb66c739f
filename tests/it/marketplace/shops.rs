//! The seller's panel: sales, listings, questions and claims of linked
//! accounts, and answering.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::shops::{CLAIMS, LISTINGS, PATIENCE, QUESTIONS, SALES, ask, listed, shops};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

#[track_caller]
pub fn form(actor: &Actor<'_>, path: &str, answer: &str) -> Reply {
    actor.send(Request::new("POST", path).form(&[("resposta", answer)]))
}

#[test]
fn sales_are_found_by_state_account_period_and_number() {
    let (_world, site) = shops();
    let ana = site.person("ana");
    let all = listed(&ana, SALES, 2);
    let (newest, number) = (&all[0], all[0]["id"].as_str().unwrap());
    let elsewhere = all[1]["ml_user_id"].as_str().unwrap();
    assert_eq!(newest["titulo"], "Caneca de ágata");
    for (filter, count) in [
        ("estado=paid", 2),
        ("estado=cancelled", 0),
        ("periodo=hoje", 2),
        (&*format!("conta={LOJA}"), 1),
        (&*format!("q={number}"), 1),
        (&*format!("q={}", newest["anuncio"].as_str().unwrap()), 1),
        ("q=caneca", 2),
        ("q=%C3%A1gata", 2),
        ("q=agata", 2),
        ("q=%C3%81GATA+caneca", 2),
        ("q=caneca&por_pagina=1&pagina=2", 1),
        ("q=caneca&por_pagina=1&pagina=3", 0),
        ("q=nada", 0),
        ("q=%25", 0),
        (&*format!("q={number}&estado=cancelled"), 0),
        (&*format!("q={number}&periodo=hoje"), 1),
        (&*format!("q={number}&conta={elsewhere}"), 0),
        ("q=caneca&estado=paid&por_pagina=1", 1),
        ("q=caneca&estado=cancelled", 0),
        ("por_pagina=1", 1),
    ] {
        let found = json_of(&ana, &format!("{SALES}?{filter}"));
        let rows = found["dados"].as_array().unwrap().len();
        assert_eq!(rows, count, "{filter}: {found}");
    }
    for list in [SALES, LISTINGS, QUESTIONS, CLAIMS] {
        ana.get(&format!("{list}?conta=1")).expect(404);
    }
    let oldest_first = json_of(&ana, &format!("{SALES}?ordem=criada_em"));
    assert_eq!([&oldest_first["dados"][1], &oldest_first["dados"][0]], [&all[0], &all[1]]);
    for wrong in ["estado=outro", "conta=x", "conta=-1", "periodo=ontem"] {
        ana.get(&format!("{SALES}?{wrong}")).expect(422);
    }
    let page = ana.get(SALES).expect(200).text();
    assert!(page.contains("LOJA UM") && page.contains("últimos 30 dias"), "{page}");
    let csv = ana.get(&format!("{SALES}?formato=csv")).expect(200).text();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let one = json_of(&ana, &format!("{SALES}/{number}"));
    assert_eq!(&one["id"], &newest["id"]);
    ana.get(&format!("{SALES}/{number}")).expect(200);
}

/// The numbers of a list's sales.
#[track_caller]
fn numbers(actor: &Actor<'_>, query: &str) -> Vec<String> {
    let found = json_of(actor, &format!("{SALES}?{query}"));
    let rows = found["dados"].as_array().unwrap().iter();
    let ids = rows.map(|row| row["id"].as_str().unwrap().to_owned());
    let ids: Vec<String> = ids.collect();
    assert_eq!(found["total"], ids.len(), "{query}");
    ids
}

#[test]
fn sales_are_narrowed_to_civil_days() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let fresh: Vec<String> = numbers(&ana, "periodo=hoje");
    // Midnight in the zone of the installation is three in the morning in UTC.
    let made = |at: &str| {
        let sale = world.sale_with(LOJA, &json!({ "date_created": at, "notify": true }));
        sale["id"].to_string()
    };
    let eve = made("2026-11-10T02:59:59.000Z");
    let first = made("2026-11-10T03:00:00.000Z");
    let last = made("2026-11-13T02:59:59.000Z");
    let after = made("2026-11-13T03:00:00.000Z");
    world.deliveries();
    listed(&ana, SALES, 6);
    for (query, expected) in [
        ("de=2026-11-10&ate=2026-11-12", vec![&last, &first]),
        ("de=2026-11-10&ate=2026-11-12&estado=paid", vec![&last, &first]),
        ("de=2026-11-10&ate=2026-11-12&q=caneca", vec![&last, &first]),
        ("de=2026-11-10&ate=2026-11-10", vec![&first]),
        ("ate=2026-11-09", vec![&eve]),
        ("ate=2026-11-13&de=2026-11-13", vec![&after]),
        ("de=2026-11-10&ate=2026-11-12&ordem=criada_em", vec![&first, &last]),
        ("de=2026-11-10&ate=2026-11-12&periodo=hoje", vec![&last, &first]),
        ("de=&ate=&periodo=hoje", fresh.iter().collect()),
    ] {
        let found = numbers(&ana, query);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let csv = format!("{SALES}?de=2026-11-10&ate=2026-11-12&formato=csv");
    let csv = ana.get(&csv).expect(200).text();
    assert!(csv.lines().count() == 3 && csv.contains(&first), "{csv}");
}

#[test]
fn everything_on_the_page_keeps_the_days() {
    let (_world, site) = shops();
    let ana = site.person("ana");
    // Both sales are of the day on which the clock starts.
    let page = format!("{SALES}?de=2026-11-20&ate=2026-11-20&por_pagina=1");
    let page = ana.get(&page).expect(200).text();
    let days = "de=2026-11-20&#38;ate=2026-11-20";
    for link in ["pagina=2", "formato=csv", "ordem=criada_em", "estado=cancelled", "conta="] {
        let kept = page.split("href=\"").filter(|href| {
            let href = href.split('"').next().unwrap_or_default();
            href.contains(link) && href.contains(days)
        });
        assert!(kept.count() > 0, "{link}: {page}");
    }
    assert!(page.contains("name=\"de\" value=\"2026-11-20\""), "{page}");
    assert!(!page.contains("últimos 30 dias"), "{page}");
    let month = ana.get(&format!("{SALES}?periodo=30")).expect(200).text();
    assert!(!month.contains(days), "{month}");
}

#[test]
fn wrong_days_are_told_beside_their_fields() {
    let (_world, site) = shops();
    let ana = site.person("ana");
    for (wrong, field, said) in [
        ("de=ontem", "de", "Informe um dia"),
        ("ate=2026-02-30", "ate", "Informe um dia"),
        ("de=-99999-1-1", "de", "Informe um dia"),
        ("ate=%2B99999-1-1", "ate", "Informe um dia"),
        ("de=2026-1-001", "de", "Informe um dia"),
        ("de=2026-11-12&ate=2026-11-10", "ate", "vem antes do primeiro"),
    ] {
        let refused = ana.send(
            Request::new("GET", &format!("{SALES}?{wrong}")).header("Accept", "application/json"),
        );
        let refused = refused.expect(422).json();
        assert!(refused["fields"][field].as_str().unwrap().contains(said), "{wrong}: {refused}");
        ana.get(&format!("{SALES}?{wrong}&formato=csv")).expect(422);
        let page = ana.get(&format!("{SALES}?{wrong}")).expect(422).text();
        assert!(page.contains(said), "{wrong}: {page}");
    }
    ana.get(&format!("{SALES}?de=2026-11-10&de=2026-11-11")).expect(422);
}

#[test]
fn searches_pass_over_accents_and_know_numbers() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = listed(&ana, &format!("{SALES}?conta={LOJA}"), 1)[0]["id"].take();
    let sale = sale.as_str().unwrap();
    ask(&world, LOJA, "Serve de PRESENTE de avó?");
    ask(&world, LOJA + 1, "Tem azul?");
    let opened = world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    world.deliveries();
    listed(&ana, QUESTIONS, 2);
    listed(&ana, CLAIMS, 1);
    for (list, search, count) in [
        (LISTINGS, "agata", 2),
        (LISTINGS, "%C3%81GATA+CANECA", 2),
        (LISTINGS, "agata+preta", 0),
        (LISTINGS, "%25", 0),
        (QUESTIONS, "avo+presente", 1),
        (QUESTIONS, "AV%C3%93", 1),
        (QUESTIONS, "agata", 2),
        (QUESTIONS, "agata&estado=respondida", 0),
        (QUESTIONS, "verde", 0),
        (CLAIMS, sale, 1),
        (CLAIMS, &opened["id"].to_string(), 1),
        (CLAIMS, "1", 0),
        (CLAIMS, "caneca", 0),
    ] {
        let found = json_of(&ana, &format!("{list}?q={search}"));
        assert_eq!(found["total"], count, "{list} {search}: {found}");
        assert_eq!(found["dados"].as_array().unwrap().len(), count, "{search}");
    }
}

#[test]
fn codes_of_the_marketplace_are_told_in_words() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = listed(&ana, &format!("{SALES}?conta={LOJA}"), 1)[0]["id"].take();
    let sale = sale.as_str().unwrap();
    let order = format!("/_sandbox/orders/{sale}");
    let opened = world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    let claim = format!("/_sandbox/claims/{}", opened["id"]);
    world.control(&claim, &json!({ "status": "closed" }));
    world.control(&order, &json!({ "shipping_status": "stale_shipped" }));
    let shown = |list: &str, wanted: &str| {
        until(wanted, PATIENCE, || {
            site.clock().advance_s(7);
            let page = ana.get(list).expect(200).text();
            page.contains(wanted).then_some(page)
        })
    };
    let page = shown(CLAIMS, "Comprador reembolsado");
    for gone in ["payment_refunded", "Em conversa"] {
        assert!(!page.contains(gone), "{gone}: {page}");
    }
    assert!(page.contains(&format!("href=\"{SALES}/{sale}\"")), "{page}");
    let page = shown(SALES, "sem notícia há dias");
    assert!(page.contains("Paga") && !page.contains("stale_shipped"), "{page}");

    let item = listed(&ana, &format!("{LISTINGS}?conta={LOJA}"), 1)[0]["id"].take();
    let item = format!("/_sandbox/items/{}", item.as_str().unwrap());
    let review = json!({ "status": "under_review", "sub_status": ["brand_new"] });
    world.control(&item, &review);
    let page = shown(LISTINGS, "Em revisão</span>");
    assert!(page.contains("title=\"brand_new\">motivo novo no marketplace"), "{page}");
}

#[test]
fn orders_of_an_unlinked_account_are_listed_charted_and_found() {
    let (_world, site) = shops();
    let ana = site.person("ana");
    let page = |query: &str| {
        let page = Request::new("GET", &format!("{SALES}{query}")).header("Accept", "text/html");
        ana.send(page).expect(200).text()
    };
    let sum = |page: &str| {
        let (_, rest) = page.split_once("<output>").unwrap();
        rest.split_once("</output>").unwrap().0.to_owned()
    };
    let before = sum(&page(""));
    let unlink = format!("/painel/ml/contas/{LOJA}/desvincular");
    ana.post(&unlink, &json!({})).expect(200);
    let whole = page("");
    let name = format!("Conta desvinculada {LOJA}");
    assert_eq!(sum(&whole), before);
    assert!(whole.contains(&format!("{name} <span class=\"soft\">R$")), "{whole}");
    let chip = format!("href=\"{SALES}?conta={LOJA}\">{name}</a>");
    assert!(whole.contains(&chip), "{chip}: {whole}");
    let narrowed = page(&format!("?conta={LOJA}"));
    assert_ne!(sum(&narrowed), before);
    assert!(narrowed.contains(&format!("<td class=\"wide-only typed\">{name}</td>")));
    assert!(!narrowed.contains("<td class=\"wide-only typed\">LOJA DOIS</td>"));
    assert_eq!(listed(&ana, &format!("{SALES}?conta={LOJA}"), 1)[0]["conta"], *name);
    // They are found by the title at the time of the sale.
    listed(&ana, &format!("{SALES}?q=caneca"), 2);
    // No other list has it.
    assert!(!ana.get(LISTINGS).text().contains(&name));
}

#[test]
fn a_search_that_fits_too_many_listings_says_so() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sell = |count: usize| {
        for number in 0..count {
            let item = world.item(LOJA, &format!("Copo {number}"), 5.0);
            world.sale_with(LOJA, &json!({ "item": item }));
        }
        world.deliveries();
    };
    let page = || {
        let page = Request::new("GET", &format!("{SALES}?q=copo")).header("Accept", "text/html");
        ana.send(page).expect(200).text()
    };
    sell(100);
    listed(&ana, &format!("{SALES}?q=copo&por_pagina=100"), 100);
    assert!(!page().contains("Muitos anúncios têm essas palavras"));
    sell(1);
    until("there are too many", PATIENCE, || {
        page().contains("Muitos anúncios têm essas palavras").then_some(())
    });
    listed(&ana, &format!("{SALES}?q=copo&por_pagina=100"), 100);
}

#[test]
fn a_sku_that_looks_like_a_number_is_found() {
    let (world, site) = shops();
    for sku in ["7891000", "MLB7891000"] {
        let plate = json!({ "ml_user_id": LOJA, "title": "Prato", "price": 5, "sku": sku });
        let plate = world.control("/_sandbox/items", &plate);
        world.sale_with(LOJA, &json!({ "item": plate["id"] }));
        world.deliveries();
        listed(&site.person("ana"), &format!("{SALES}?q={sku}"), 1);
    }
}

#[test]
fn nobody_sees_the_shops_of_another() {
    let (world, site) = shops();
    ask(&world, LOJA, "Tem azul?");
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    world.deliveries();
    let ana = site.person("ana");
    let sale = listed(&ana, SALES, 2)[0]["id"].as_str().unwrap().to_owned();
    let question = listed(&ana, QUESTIONS, 1)[0]["id"].as_str().unwrap().to_owned();
    listed(&ana, CLAIMS, 1);
    let bia = site.person("bia");
    for list in [SALES, LISTINGS, QUESTIONS, CLAIMS] {
        assert_eq!(json_of(&bia, list)["total"], 0, "{list}");
        bia.get(&format!("{list}?conta={LOJA}")).expect(404);
    }
    bia.get(&format!("{SALES}/{sale}")).expect(404);
    bia.get(&format!("{QUESTIONS}/{question}")).expect(404);
    let answer = json!({ "resposta": "Tem sim" });
    bia.post(&format!("{QUESTIONS}/{question}/responder"), &answer).expect(404);
    assert_eq!(listed(&ana, QUESTIONS, 1)[0]["estado"], "pendente");
    let rui = site.person_as("rui", "drop");
    for list in [SALES, LISTINGS, QUESTIONS, CLAIMS] {
        rui.get(list).expect(403);
    }
}

#[test]
fn a_question_is_answered_once() {
    let (world, site) = shops();
    ask(&world, LOJA, "Tem azul?");
    world.deliveries();
    let ana = site.person("ana");
    let asked = listed(&ana, &format!("{QUESTIONS}?estado=pendente"), 1);
    let id = asked[0]["id"].as_str().unwrap();
    assert_eq!((&asked[0]["texto"], &asked[0]["conta"]), (&json!("Tem azul?"), &json!("LOJA UM")));
    let home = ana.get("/painel").expect(200).text();
    let path = format!("{QUESTIONS}/{id}/responder");
    assert!(home.contains(">Tem azul?</a>") && home.contains(&path), "{home}");
    assert!(home.contains("responda até"), "{home}");
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
    ana.post(&path, &json!({ "resposta": "De novo" })).expect(409);
    form(&ana, &path, "De novo").expect(303);
    let home = ana.get("/painel").expect(200).text();
    assert!(!home.contains("Tem azul?") && !home.contains("/responder"), "{home}");
    assert!(home.contains("pacotes para enviar"), "{home}");
}

#[test]
fn the_first_question_is_answered_on_the_home() {
    let (world, site) = shops();
    ask(&world, LOJA, "Tem azul?");
    ask(&world, LOJA, "Tem verde?");
    world.deliveries();
    let ana = site.person("ana");
    let asked = listed(&ana, &format!("{QUESTIONS}?estado=pendente"), 2);
    let home = ana.get("/painel").expect(200).text();
    assert!(home.contains("2 perguntas sem resposta"), "{home}");
    let first = asked.iter().find(|one| home.contains(one["texto"].as_str().unwrap())).unwrap();
    let path = format!("{QUESTIONS}/{}/responder", first["id"].as_str().unwrap());
    let fields = [("resposta", "Tem sim."), ("volta", "inicio")];
    let sent = ana.send(Request::new("POST", &path).form(&fields)).expect(303);
    assert_eq!(sent.header("location"), Some("/painel"));
    let home = ana.get("/painel").expect(200).text();
    assert!(home.contains("Resposta enviada"), "{home}");
    assert!(!home.contains(first["texto"].as_str().unwrap()), "{home}");
    assert!(!home.contains("perguntas sem resposta") && home.contains("/responder"), "{home}");
}

#[test]
fn what_the_marketplace_does_not_take_is_kept_for_another_try() {
    let (world, site) = shops();
    ask(&world, LOJA, "Tem azul?");
    world.deliveries();
    let ana = site.person("ana");
    let id = listed(&ana, QUESTIONS, 1)[0]["id"].as_str().unwrap().to_owned();
    let path = format!("{QUESTIONS}/{id}/responder");
    let down = json!({ "path_prefix": "/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&down);
    let refused = ana.post(&path, &json!({ "resposta": "Tem sim" })).expect(502);
    assert_eq!(refused.code(), "marketplace_unavailable");
    let page = form(&ana, &path, "Tem sim").expect(502).text();
    assert!(page.contains("Tem sim") && page.contains("Nada foi enviado"), "{page}");
    world.clear_faults();
    ana.post(&path, &json!({ "resposta": "Tem sim" })).ok();
    assert_eq!(listed(&ana, QUESTIONS, 1)[0]["resposta"], "Tem sim");
}

/// How many answers were sent to the marketplace.
fn sent(world: &World) -> usize {
    let calls = world.requests();
    let answers =
        calls.iter().filter(|call| call["method"] == "POST" && call["path"] == "/answers");
    answers.count()
}

#[test]
fn twenty_answers_at_once_are_one() {
    let (world, site) = shops();
    ask(&world, LOJA, "Tem azul?");
    world.deliveries();
    let ana = site.person("ana");
    let asked = listed(&ana, QUESTIONS, 1);
    let path = format!("{QUESTIONS}/{}/responder", asked[0]["id"].as_str().unwrap());
    let slow = json!({ "path_prefix": "/answers", "kind": "slow", "ms": 500, "times": 0 });
    world.fault(&slow);
    let replies: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..20)
            .map(|number| {
                let (ana, path) = (site.person("ana"), &path);
                let text = json!({ "resposta": format!("Tem {number}") });
                scope.spawn(move || ana.post(path, &text).status)
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let done = replies.iter().filter(|status| **status == 200).count();
    assert_eq!(done, 1, "{replies:?}");
    assert!(replies.iter().all(|status| matches!(status, 200 | 409)), "{replies:?}");
    assert_eq!(sent(&world), 1);
}

/// Sends an answer to a new question; the answer arrives, but its reply is lost
/// and the question cannot be read. Returns the question's path.
fn answered_unseen(world: &World, ana: &Actor<'_>) -> String {
    ask(world, LOJA, "Tem azul?");
    world.deliveries();
    let asked = listed(ana, QUESTIONS, 1);
    let path = format!("{QUESTIONS}/{}", asked[0]["id"].as_str().unwrap());
    world.fault(&json!({ "path_prefix": "/answers", "kind": "lost_response" }));
    let away = json!({ "path_prefix": "/questions/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&away);
    let text = json!({ "resposta": "Tem sim" });
    ana.post(&format!("{path}/responder"), &text).expect(502);
    assert_eq!(sent(world), 1);
    path
}

#[test]
fn an_answer_whose_end_nobody_saw_is_looked_for_before_another_is_sent() {
    let (world, site) = shops();
    let question = answered_unseen(&world, &site.person("ana"));
    let path = format!("{question}/responder");
    let text = json!({ "resposta": "Tem sim" });
    site.kill();
    site.start_again();
    site.person("ana").post(&path, &text).expect(502);
    assert_eq!(sent(&world), 1, "not while nobody can say");
    world.clear_faults();
    site.clock().advance_s(600);
    site.person("ana").post(&path, &text).ok();
    assert_eq!(sent(&world), 1, "it was there");
    let answered = json_of(&site.person("ana"), &question);
    assert_eq!(answered["resposta"], "Tem sim");
    assert_eq!(site.stored("SELECT count(*) || '' FROM answer_sent"), ["0"]);
}

#[test]
fn an_answer_whose_end_nobody_saw_may_come_in_by_itself() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let question = answered_unseen(&world, &ana);
    let path = format!("{question}/responder");
    world.clear_faults();
    until("the answered question comes in", PATIENCE, || {
        site.clock().advance_s(60);
        (json_of(&ana, &question)["resposta"] == "Tem sim").then_some(())
    });
    let other = json!({ "resposta": "Não tem" });
    let told = [&other, &json!({ "resposta": "Tem sim" }), &other].map(|text| {
        let reply = ana.post(&path, text);
        reply.status
    });
    assert_eq!(told, [409, 200, 409]);
    assert_eq!(sent(&world), 1);
    ana.post(&path, &json!({ "resposta": "Tem sim" })).expect(409);
    assert_eq!(site.stored("SELECT count(*) || '' FROM answer_sent"), ["0"]);
}
