//! The agency's queue of questions: filters and pages, answering only once,
//! access, holds, saved replies and names of buyers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::agency::clients::shown;
use crate::support::actors::Actor;
use crate::support::agency::{
    ANSWER, CLIENTS, OWN_REPLIES, QUEUE, REPLIES, body_of, client, queue, staff,
};
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::people::list;
use crate::support::shops::{PATIENCE, QUESTIONS, ask, listed, shops};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// Waits until a query finds `count` questions, and returns them.
#[track_caller]
fn queued(actor: &Actor<'_>, query: &str, count: usize) -> Vec<Value> {
    until(query, PATIENCE, || {
        let found = queue(actor, query);
        if found["total"] == count {
            return Some(found["perguntas"].as_array().unwrap().clone());
        }
        actor.site().clock().advance_s(1);
        None
    })
}

/// Two shops of a student, the first of which belongs to a client, with one
/// question each.
fn one_client() -> (World, Site, String) {
    let (world, site) = shops();
    ask(&world, LOJA, "Tem azul?");
    ask(&world, LOJA + 1, "Tem verde?");
    world.deliveries();
    listed(&site.person("ana"), QUESTIONS, 2);
    let id = client(&site.administrator(), "Casa & Café", LOJA);
    (world, site, id)
}

/// How many answers were sent to the marketplace.
fn sent(world: &World) -> usize {
    let calls = world.requests();
    calls.iter().filter(|call| call["method"] == "POST" && call["path"] == "/answers").count()
}

fn audited(operator: &Actor<'_>) -> Vec<Value> {
    let found = list(operator, "/admin/auditoria?objeto=pergunta");
    found["dados"].as_array().unwrap().clone()
}

#[test]
fn the_queue_has_the_questions_of_clients_alone() {
    let (_world, site, id) = one_client();
    let operator = site.administrator();
    let found = queued(&operator, "", 1);
    let names: Vec<&String> = found[0].as_object().unwrap().keys().collect();
    let mut wanted = [
        "question_id",
        "conta",
        "cliente",
        "ml_id",
        "titulo_anuncio",
        "texto",
        "status",
        "resposta",
        "perguntado_em",
        "respondido_em",
    ];
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    let asked = &found[0];
    assert_eq!(asked["cliente"], "Casa & Café");
    assert_eq!(asked["conta"], LOJA.to_string());
    assert_eq!(asked["texto"], "Tem azul?");
    assert_eq!(asked["titulo_anuncio"], "Caneca de ágata");
    assert_eq!(asked["status"], "pendente");
    assert_eq!((&asked["resposta"], &asked["respondido_em"]), (&Value::Null, &Value::Null));
    assert!(asked["ml_id"].as_str().unwrap().starts_with("MLB"), "{asked}");
    assert_eq!(asked["perguntado_em"].as_str().unwrap().len(), 19);
    for (query, total) in [
        ("?status=pendente", 1),
        ("?status=respondida", 0),
        ("?status=todas", 1),
        (&*format!("?cliente={id}"), 1),
        ("?cliente=999999", 0),
        ("?meus=1", 0),
        ("?meus=0", 1),
        ("?pagina=5", 1),
    ] {
        assert_eq!(queue(&operator, query)["total"], total, "{query}");
    }
    for wrong in ["status=outro", "cliente=x", "cliente=0", "pagina=0", "por_pagina=0", "pagina=x"]
    {
        operator.get(&format!("{QUEUE}/json?{wrong}")).expect(422);
        operator.get(&format!("{QUEUE}?{wrong}")).expect(422);
    }
    let page = operator.get(QUEUE).expect(200).text();
    for part in ["Tem azul?", "Casa &#38; Café", "LOJA UM", "35,50", "Pendentes"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Tem verde?"), "{page}");
}

#[test]
fn staff_may_and_others_may_not() {
    let (_world, site, _) = one_client();
    let (bia, rui) = (staff(&site, "bia"), site.person_as("rui", "drop"));
    let ana = site.person("ana");
    let asked = &queued(&bia, "", 1)[0];
    let id = asked["question_id"].as_str().unwrap();
    for outsider in [&ana, &rui] {
        for path in [QUEUE, REPLIES, &*format!("{QUEUE}/json"), &*format!("{QUEUE}/atendendo")] {
            outsider.get(path).expect(403);
        }
        outsider.get(&format!("{QUEUE}/{id}/comprador")).expect(403);
        outsider.post(&format!("{QUEUE}/{id}/assumir"), &json!({})).expect(403);
        outsider.post(ANSWER, &body_of(asked, "Tem sim")).expect(403);
    }
    let done = bia.post(ANSWER, &body_of(asked, "Tem sim,\r\nem dois tons.")).ok();
    assert_eq!(done, json!({ "ok": true, "id": id }));
    let answered = &queued(&bia, "?status=respondida", 1)[0];
    assert_eq!(answered["resposta"], "Tem sim,\nem dois tons.");
    assert!(answered["respondido_em"].is_string(), "{answered}");
    assert_eq!(json_of(&ana, &format!("{QUESTIONS}/{id}"))["estado"], "respondida");
    bia.post(ANSWER, &body_of(asked, "De novo")).expect(409);
    let entries = audited(&site.administrator());
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["acao"], "pergunta.responder");
    assert_eq!(entries[0]["objeto_nome"], "Tem azul?");
    assert_eq!(entries[0]["depois"]["resposta"], "Tem sim,\nem dois tons.");
}

#[test]
fn what_is_no_clients_cannot_be_answered() {
    let (world, site, id) = one_client();
    let operator = site.administrator();
    let asked = queued(&operator, "", 1).remove(0);
    let ana = site.person("ana");
    let others = json_of(&ana, &format!("{QUESTIONS}?conta={}", LOJA + 1));
    let other = &others["dados"][0]["id"];
    let conta = (LOJA + 1).to_string();
    for wrong in [
        json!({ "question_id": other, "conta": conta, "answer": "Tem" }),
        json!({ "question_id": other, "conta": LOJA.to_string(), "answer": "Tem" }),
        json!({ "question_id": asked["question_id"], "conta": conta, "answer": "Tem" }),
        json!({ "question_id": "987654321", "conta": LOJA.to_string(), "answer": "Tem" }),
    ] {
        operator.post(ANSWER, &wrong).expect(404);
    }
    let other = other.as_str().unwrap();
    operator.get(&format!("{QUEUE}/{other}/comprador")).expect(404);
    operator.post(&format!("{QUEUE}/{other}/assumir"), &json!({})).expect(404);
    for wrong in [
        json!({}),
        json!({ "question_id": asked["question_id"], "conta": asked["conta"], "answer": " " }),
        body_of(&asked, &"ã".repeat(2_001)),
        json!({ "question_id": "x", "conta": asked["conta"], "answer": "Tem" }),
        json!({ "question_id": asked["question_id"], "answer": "Tem" }),
    ] {
        operator.post(ANSWER, &wrong).expect(422);
    }
    // When a client leaves, its questions disappear at once.
    operator.post(&format!("{CLIENTS}/{id}/excluir"), &json!({})).ok();
    operator.post(ANSWER, &body_of(&asked, "Tem sim")).expect(404);
    assert_eq!(queue(&operator, "")["total"], 0);
    assert_eq!(sent(&world), 0);
    assert!(audited(&operator).is_empty());
}

#[test]
fn twenty_presses_of_two_people_and_the_seller_are_one_answer() {
    let (world, site, _) = one_client();
    let operator = site.administrator();
    let asked = queued(&operator, "", 1).remove(0);
    let slow = json!({ "path_prefix": "/answers", "kind": "slow", "ms": 500, "times": 0 });
    world.fault(&slow);
    let own = format!("{QUESTIONS}/{}/responder", asked["question_id"].as_str().unwrap());
    let replies: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..20)
            .map(|number| {
                let (site, asked, own) = (&site, &asked, &own);
                scope.spawn(move || {
                    let text = format!("Tem {number}");
                    if number % 4 == 0 {
                        site.person("ana").post(own, &json!({ "resposta": text })).status
                    } else {
                        site.administrator().post(ANSWER, &body_of(asked, &text)).status
                    }
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let done = replies.iter().filter(|status| **status == 200).count();
    assert_eq!(done, 1, "{replies:?}");
    assert!(replies.iter().all(|status| matches!(status, 200 | 409)), "{replies:?}");
    assert_eq!(sent(&world), 1);
    assert!(audited(&operator).len() <= 1);
}

#[test]
fn an_answer_whose_end_nobody_saw_is_looked_for_and_audited_once() {
    let (world, site, _) = one_client();
    let operator = site.administrator();
    let asked = queued(&operator, "", 1).remove(0);
    world.fault(&json!({ "path_prefix": "/answers", "kind": "lost_response" }));
    let away = json!({ "path_prefix": "/questions/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&away);
    let text = body_of(&asked, "Tem sim");
    let refused = operator.post(ANSWER, &text).expect(502);
    assert_eq!(refused.code(), "marketplace_unavailable");
    operator.post(ANSWER, &text).expect(502);
    assert_eq!(sent(&world), 1, "not while nobody can say");
    assert!(audited(&operator).is_empty());
    world.clear_faults();
    site.clock().advance_s(600);
    operator.post(ANSWER, &text).ok();
    assert_eq!(sent(&world), 1, "it was there");
    operator.post(ANSWER, &text).expect(409);
    assert_eq!(audited(&operator).len(), 1);
    assert_eq!(site.stored("SELECT count(*) || '' FROM answer_sent"), ["0"]);
}

fn form(actor: &Actor<'_>, asked: &Value, answer: &str, back: &str) -> Reply {
    let fields = [
        ("question_id", asked["question_id"].as_str().unwrap()),
        ("conta", asked["conta"].as_str().unwrap()),
        ("answer", answer),
        ("volta", back),
    ];
    actor.send(Request::new("POST", ANSWER).header("Accept", "text/html").form(&fields))
}

#[test]
fn without_a_script_a_form_leads_to_the_next_question() {
    let (world, site, id) = one_client();
    ask(&world, LOJA, "E rosa?");
    world.deliveries();
    let operator = site.administrator();
    let asked = queued(&operator, "?status=pendente", 2);
    let here = format!("cliente={id}");
    for wrong in ["", &*"ã".repeat(2_001)] {
        let page = form(&operator, &asked[1], wrong, &here).expect(422).text();
        assert!(page.contains("Escreva a resposta") && page.contains("E rosa?"), "{page}");
    }
    let down = json!({ "path_prefix": "/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&down);
    let page = form(&operator, &asked[1], "Não, só azul", &here).expect(502).text();
    assert!(
        page.contains("Não, só azul</textarea>") && page.contains("Nada foi enviado"),
        "{page}"
    );
    world.clear_faults();
    let back = form(&operator, &asked[0], "Tem sim", &here).expect(303);
    assert_eq!(back.header("location"), Some(&*format!("{QUEUE}?{here}")));
    let page = operator.get(&format!("{QUEUE}?{here}")).expect(200).text();
    assert!(page.contains("Resposta enviada") && page.contains("E rosa?"), "{page}");
    assert!(!page.contains("Tem azul?"), "{page}");
    let back = form(&operator, &asked[0], "Tem sim", "//fora.example").expect(303);
    assert_eq!(back.header("location"), Some(QUEUE));
    // The seller's own queue does the same.
    let ana = site.person("ana");
    let own = format!("{QUESTIONS}/{}/responder", asked[1]["question_id"].as_str().unwrap());
    let fields = [("resposta", "Não, só azul"), ("volta", "conta=900000001&x=//fora.example")];
    let back = ana.send(Request::new("POST", &own).form(&fields)).expect(303);
    assert_eq!(back.header("location"), Some(&*format!("{QUESTIONS}?conta=900000001")));
}

#[test]
fn who_answers_is_told_to_the_others() {
    let (_world, site, _) = one_client();
    let (bia, caio) = (staff(&site, "bia"), staff(&site, "caio"));
    let asked = queued(&bia, "", 1).remove(0);
    let id = asked["question_id"].as_str().unwrap();
    let take = |actor: &Actor<'_>| actor.post(&format!("{QUEUE}/{id}/assumir"), &json!({})).ok();
    let told =
        |actor: &Actor<'_>| json_of(actor, &format!("{QUEUE}/atendendo"))["atendendo"].clone();
    assert_eq!(take(&bia), json!({ "ok": true, "com": null }));
    assert_eq!(take(&caio), json!({ "ok": true, "com": "bia S." }));
    assert_eq!(told(&caio), json!([{ "question_id": id, "nome": "bia S." }]));
    assert_eq!(told(&bia), json!([]));
    let page = caio.get(QUEUE).expect(200).text();
    assert!(page.contains("bia S. está respondendo"), "{page}");
    site.clock().advance_s(91);
    assert_eq!(told(&caio), json!([]));
    assert_eq!(take(&caio), json!({ "ok": true, "com": null }));
    // A hold stops nobody from answering, and ends with the answer.
    bia.post(ANSWER, &body_of(&asked, "Tem sim")).ok();
    assert_eq!(told(&bia), json!([]));
}

/// Titles of the saved replies at an address.
fn titles(actor: &Actor<'_>, path: &str) -> Vec<String> {
    let found = shown(actor, path);
    let rows = found["dados"].as_array().unwrap().iter();
    rows.map(|row| row["titulo"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn saved_replies_are_their_owners() {
    let site = Site::builder().unlimited().start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let (bia, operator) = (staff(&site, "bia"), site.administrator());
    let reply =
        |title: &str| json!({ "titulo": title, "texto": "Olá, {comprador}!\nTemos {estoque}." });
    let mut made = BTreeMap::new();
    for (name, actor, path) in
        [("ana", &ana, OWN_REPLIES), ("rui", &rui, OWN_REPLIES), ("equipe", &bia, REPLIES)]
    {
        let reply = actor.post(path, &reply(&format!("De {name}"))).expect(201).json();
        made.insert(name, reply["id"].as_str().unwrap().to_owned());
    }
    // What nothing replaces would reach the buyer as it is typed.
    let typed = json!({ "titulo": "Oi", "texto": "Olá, {nome}! Custa {preco}." });
    ana.post(OWN_REPLIES, &typed).expect(422);
    assert_eq!(titles(&ana, OWN_REPLIES), ["De ana"]);
    assert_eq!(titles(&rui, OWN_REPLIES), ["De rui"]);
    assert_eq!(titles(&operator, REPLIES), ["De equipe"]);
    assert_eq!(titles(&bia, OWN_REPLIES), [""; 0]);
    for (actor, path, whose) in [
        (&ana, OWN_REPLIES, "rui"),
        (&ana, OWN_REPLIES, "equipe"),
        (&bia, OWN_REPLIES, "equipe"),
        (&operator, REPLIES, "ana"),
    ] {
        let one = format!("{path}/{}", made[whose]);
        actor.post(&one, &reply("Tomada")).expect(404);
        actor.post(&format!("{one}/excluir"), &json!({})).expect(404);
    }
    let one = format!("{REPLIES}/{}", made["equipe"]);
    operator.post(&one, &json!({ "titulo": "Saudação" })).ok();
    for wrong in
        [json!({ "titulo": "" }), json!({ "texto": " " }), json!({ "texto": "ã".repeat(2_001) })]
    {
        operator.post(&one, &wrong).expect(422);
    }
    let changed = shown(&operator, REPLIES)["dados"][0].clone();
    assert_eq!(changed["titulo"], "Saudação");
    assert_eq!(changed["texto"], "Olá, {comprador}!\nTemos {estoque}.");
    let empty =
        Request::new("POST", REPLIES).header("Accept", "text/html").form(&[("titulo", "Só")]);
    let page = operator.send(empty).expect(422).text();
    assert!(page.contains("Escreva o texto") && page.contains("value=\"Só\""), "{page}");
    operator.post(&format!("{one}/excluir"), &json!({})).ok();
    assert_eq!(titles(&operator, REPLIES), [""; 0]);
    for number in 1..200 {
        ana.post(OWN_REPLIES, &reply(&format!("Resposta {number:03}"))).expect(201);
    }
    ana.post(OWN_REPLIES, &reply("Uma a mais")).expect(409);
    let full = ana.get(OWN_REPLIES).expect(200).text();
    assert!(full.contains("Já há 200 respostas"), "{full}");
    rui.post(OWN_REPLIES, &reply("Outra")).expect(201);
    let acts = list(&operator, "/admin/auditoria?objeto=resposta");
    assert_eq!(acts["total"], 3, "{acts}");
}

#[test]
fn a_buyers_name_is_asked_for_once_in_half_a_year() {
    let (world, site, _) = one_client();
    let operator = site.administrator();
    let asked = queued(&operator, "", 1).remove(0);
    let id = asked["question_id"].as_str().unwrap();
    let (agencys, own) = (format!("{QUEUE}/{id}/comprador"), format!("{QUESTIONS}/{id}/comprador"));
    let ana = site.person("ana");
    world.forget_requests();
    let calls = || {
        let calls = world.requests();
        let asked =
            |call: &&Value| call["path"].as_str().is_some_and(|path| path.starts_with("/users/"));
        calls.iter().filter(asked).count()
    };
    let name = operator.get(&agencys).ok()["nome"].clone();
    assert!(name.as_str().is_some_and(|name| !name.is_empty()), "{name}");
    assert_eq!(calls(), 1);
    assert_eq!(ana.get(&own).ok(), json!({ "ok": true, "nome": name }));
    assert_eq!(calls(), 1);
    let page = operator.get(QUEUE).expect(200).text();
    assert!(page.contains(name.as_str().unwrap()), "{page}");
    site.person("rui").get(&own).expect(404);
    site.clock().advance_s(181 * 86_400);
    let operator = site.administrator();
    let down = json!({ "path_prefix": "/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&down);
    operator.get(&agencys).expect(502);
}

#[test]
fn earlier_questions_of_a_buyer_show_beside_a_new_one() {
    let (world, site) = shops();
    let buyer = 770_000_001;
    for (account, text) in
        [(LOJA, "Serve em mim?"), (LOJA + 1, "Na outra loja?"), (LOJA, "Tem azul?")]
    {
        let question = json!({ "ml_user_id": account, "text": text, "buyer": buyer });
        world.control("/_sandbox/questions", &question);
        site.clock().advance_s(60);
    }
    world.deliveries();
    listed(&site.person("ana"), QUESTIONS, 3);
    let operator = site.administrator();
    client(&operator, "Casa & Café", LOJA);
    let own = Request::new("GET", QUESTIONS).header("Accept", "text/html");
    let own = site.person("ana").send(own).expect(200).text();
    let of_agency = operator.get(QUEUE).expect(200).text();
    if own.contains("perguntas anteriores") {
        // The seller sees all of it, the agency only what belongs to its clients.
        assert_eq!(own.matches("Na outra loja?").count(), 2 + 1, "{own}");
        assert!(!of_agency.contains("Na outra loja?"), "{of_agency}");
        assert!(of_agency.contains("1 pergunta anterior"), "{of_agency}");
    } else {
        panic!("{own}");
    }
}

#[test]
fn the_sellers_page_begins_with_what_waits_longest() {
    let (world, site) = shops();
    for text in ["Primeira?", "Segunda?", "Terceira?"] {
        ask(&world, LOJA, text);
        site.clock().advance_s(3_600);
    }
    ask(&world, LOJA + 1, "Da outra loja?");
    world.deliveries();
    site.clock().advance_s(13 * 3_600);
    let ana = site.person("ana");
    let all = listed(&ana, QUESTIONS, 4);
    let get = |query: &str| {
        let page =
            Request::new("GET", &format!("{QUESTIONS}{query}")).header("Accept", "text/html");
        ana.send(page).expect(200).text()
    };
    let oldest = all.iter().find(|one| one["texto"] == "Primeira?").unwrap();
    let target = format!("{QUESTIONS}/{}/responder", oldest["id"].as_str().unwrap());
    for query in ["", "?estado=pendente"] {
        let page = get(query);
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(place("Primeira?") < place("Segunda?") && place("Segunda?") < place("Terceira?"));
        assert!(page.contains("Responda logo: há") && page.contains(&target), "{page}");
    }
    assert!(!get(&format!("?conta={LOJA}")).contains("Da outra loja?"));
    ana.post(&target, &json!({ "resposta": "Sim" })).ok();
    assert!(!get("").contains("Primeira?"));
    assert!(get("?estado=respondida").contains("Primeira?"));
    assert!(get("?estado=todas").contains("Primeira?") && get("?q=primeira").contains("Primeira?"));
    assert!(get("?pagina=9").contains("Esta página não existe mais"));
    assert_eq!(listed(&ana, QUESTIONS, 4).len(), 4);
    assert_eq!(listed(&ana, &format!("{QUESTIONS}?estado=todas"), 4).len(), 4);
    for one in listed(&ana, &format!("{QUESTIONS}?estado=pendente"), 3) {
        let target = format!("{QUESTIONS}/{}/responder", one["id"].as_str().unwrap());
        ana.post(&target, &json!({ "resposta": "Sim" })).ok();
    }
    assert!(get("").contains("Tudo respondido."));
}
