//! What waits at clients: every page says the same number at the same moment, the
//! next deadline comes first, and each row has its acts.

use serde_json::{Value, json};

use crate::agency::clients::shown;
use crate::support::actors::Actor;
use crate::support::agency::{ANSWER, CLIENTS, QUEUE, REPLIES, body_of, client, queue};
use crate::support::client::Request;
use crate::support::cron;
use crate::support::shops::{CLAIMS, PATIENCE, QUESTIONS, ask, listed, shops};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const HOME: &str = "/admin/agencia";
const CHECKUP: &str = "/admin/agencia/checkup";
const LABELS: &str = "/admin/agencia/etiquetas";
const HOUR_S: i64 = 3600;

/// The text of a page, its tags as blanks.
fn page(actor: &Actor<'_>, path: &str) -> String {
    let shown = actor.send(Request::new("GET", path).header("Accept", "text/html"));
    shown.expect(200).text().replace('\u{a0}', " ")
}

/// What a page says between the tags, without the tags.
fn words(page: &str) -> String {
    let mut words = String::new();
    let mut is_tag = false;
    for letter in page.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                words.push(' ');
            }
            _ if !is_tag => words.push(letter),
            _ => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first number that stands behind a text.
#[track_caller]
fn number_after(text: &str, label: &str) -> i64 {
    let at = text.find(label).unwrap_or_else(|| panic!("{label}: {text}"));
    let rest = text[at + label.len()..].trim_start_matches(|c: char| !c.is_ascii_digit());
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// The first number before a noun, such as `3 perguntas`; 0 where none is.
fn number_of(text: &str, nouns: [&str; 2]) -> i64 {
    let words: Vec<&str> = text.split(' ').collect();
    let is_noun = |rest: &[&str]| {
        nouns.iter().any(|noun| {
            let noun: Vec<&str> = noun.split(' ').collect();
            rest.starts_with(&noun)
        })
    };
    let found = words.iter().enumerate().find_map(|(at, word)| {
        let number = word.parse().ok()?;
        is_noun(&words[at + 1..]).then_some(number)
    });
    found.unwrap_or(0)
}

const ASKED: [&str; 2] = ["pergunta", "perguntas"];
const LATE: [&str; 2] = ["pergunta sem resposta", "perguntas sem resposta"];
const CLAIMED: [&str; 2] = ["reclamação", "reclamações"];
const OPEN: [&str; 2] = ["reclamação aberta", "reclamações abertas"];
const SENT: [&str; 2] = ["pacote", "pacotes"];

/// What one place says of questions, claims and parcels.
type Said = (&'static str, i64);

/// How many open questions each place says there are.
fn questions(operator: &Actor<'_>, id: &str) -> Vec<Said> {
    let one = format!("{CLIENTS}/{id}");
    let (home, list) = (words(&page(operator, HOME)), words(&page(operator, CLIENTS)));
    let own = words(&page(operator, &one));
    let checkup = shown(operator, CHECKUP);
    let mut findings = checkup["dados"].as_array().unwrap().iter();
    let finding = findings.find(|row| row["pendencia"] == "perguntas");
    let last =
        |value: &Value| value["dias"].as_array().unwrap().last().unwrap()["perguntas"].clone();
    let number = |value: &Value| value.as_i64().unwrap();
    vec![
        ("queue", number(&queue(operator, "?status=pendente")["total"])),
        ("home", number_of(&home, ASKED)),
        ("card of all", number_after(&home, "Perguntas sem resposta")),
        ("list", number_of(&list, ASKED)),
        ("list as JSON", number(&shown(operator, CLIENTS)["dados"][0]["perguntas"])),
        ("client as JSON", number(&shown(operator, &one)["perguntas"])),
        ("today of the client", number(&last(&shown(operator, &one)))),
        ("today of all", number(&last(&shown(operator, HOME)))),
        ("client", number_of(&own, LATE)),
        ("card", number_after(&own, "Perguntas sem resposta")),
        ("account", number_after(&own[own.find("Reputação").unwrap()..], "Perguntas")),
        ("finding as JSON", finding.map_or(0, |row| number(&row["quantidade"]))),
        ("finding", number_of(&words(&page(operator, CHECKUP)), LATE)),
        ("report", number_of(&words(&page(operator, &format!("{one}/relatorio"))), LATE)),
        ("card of the report", {
            number_after(
                &words(&page(operator, &format!("{one}/relatorio"))),
                "Perguntas sem resposta",
            )
        }),
    ]
}

#[track_caller]
fn all_say(said: &[Said], count: i64) {
    let other: Vec<_> = said.iter().filter(|one| one.1 != count).collect();
    assert!(other.is_empty(), "not {count}: {other:?}");
}

/// Two shops of a student, the first of which is a client's, with so many
/// questions.
fn one_client(texts: &[&str]) -> (World, Site, String) {
    let (world, site) = shops();
    for text in texts {
        ask(&world, LOJA, text);
        site.clock().advance_s(60);
    }
    world.deliveries();
    listed(&site.person("ana"), QUESTIONS, texts.len());
    let id = client(&site.administrator(), "Casa & Café", LOJA);
    (world, site, id)
}

#[test]
fn every_place_says_the_same_number_at_the_same_moment() {
    let (world, site, id) = one_client(&["Tem azul?", "Tem verde?", "Tem rosa?"]);
    site.clock().advance_s(25 * HOUR_S);
    cron::run(&site);
    let operator = site.administrator();
    all_say(&questions(&operator, &id), 3);
    // Answered, and no checkup since.
    let asked = queue(&operator, "?status=pendente")["perguntas"].take();
    let answer = |number: usize| operator.post(ANSWER, &body_of(&asked[number], "Tem sim")).ok();
    answer(0);
    all_say(&questions(&operator, &id), 2);
    // A new one counts at once, also where the finding is about an older one.
    ask(&world, LOJA, "E preto?");
    world.deliveries();
    until("the new question", PATIENCE, || {
        site.clock().advance_s(1);
        (queue(&operator, "?status=pendente")["total"] == 3).then_some(())
    });
    all_say(&questions(&operator, &id), 3);
    answer(1);
    answer(2);
    // What is left is not late: there is no finding, and no checkup had to say so.
    let said = questions(&operator, &id);
    let (findings, others): (Vec<Said>, Vec<Said>) =
        said.into_iter().partition(|one| ["finding", "finding as JSON", "report"].contains(&one.0));
    all_say(&findings, 0);
    all_say(&others, 1);
    assert_eq!(shown(&operator, HOME)["com_pendencias"], 0);
    assert_eq!(shown(&operator, &format!("{CLIENTS}?situacao=pendente"))["total"], 0);
    assert_eq!(shown(&operator, &format!("{CLIENTS}?situacao=pronto"))["total"], 1);
}

#[test]
fn claims_and_parcels_are_counted_once_too() {
    let (world, site, id) = one_client(&[]);
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    world.deliveries();
    listed(&site.person("ana"), CLAIMS, 1);
    site.clock().advance_s(49 * HOUR_S);
    cron::run(&site);
    let operator = site.administrator();
    let one = format!("{CLIENTS}/{id}");
    let own = words(&page(&operator, &one));
    let (home, list) = (words(&page(&operator, HOME)), words(&page(&operator, CLIENTS)));
    let parcels = shown(&operator, &format!("{LABELS}?conta={LOJA}"))["total"].as_i64().unwrap();
    let found = shown(&operator, &format!("{CHECKUP}?pendencia=reclamacoes"));
    for (place, count) in [
        ("home", number_of(&home, CLAIMED)),
        ("card", number_after(&home, "Reclamações abertas")),
        ("list", number_of(&list, CLAIMED)),
        ("account", number_after(&own[own.find("Reputação").unwrap()..], "Reclamações")),
        ("finding", found["dados"][0]["quantidade"].as_i64().unwrap_or(0)),
        ("page of the finding", number_of(&words(&page(&operator, CHECKUP)), OPEN)),
        ("JSON", shown(&operator, &one)["reclamacoes"].as_i64().unwrap()),
    ] {
        assert_eq!(count, 1, "{place}");
    }
    for (place, text) in [("home", &home), ("list", &list), ("client", &own)] {
        assert_eq!(number_of(text, SENT), parcels, "{place}: {text}");
    }
}

#[test]
fn a_claim_of_a_client_has_the_page_that_its_seller_has() {
    let (world, site, id) = one_client(&[]);
    let parcel = json!({ "ml_user_id": LOJA, "resource": "shipment" });
    let open = |claim: &Value| world.control("/_sandbox/claims", claim)["id"].to_string();
    let claim = open(&parcel);
    let foreign = open(&json!({ "ml_user_id": LOJA + 1 }));
    world.deliveries();
    let rows = listed(&site.person("ana"), CLAIMS, 2);
    let operator = site.administrator();
    let path = format!("{CLIENTS}/{id}/reclamacoes/{claim}");
    let product = rows.iter().find(|row| row["id"] == *claim).unwrap()["titulo"].as_str().unwrap();
    let (one, shown_as) = (page(&operator, &path), shown(&operator, &path));
    assert!(!product.is_empty() && shown_as["titulo"] == product, "{shown_as}");
    let words = words(&one);
    for part in [product, "vez do cliente", "O cliente", "Casa", "Abrir no marketplace"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!one.contains("/painel/"), "the agency has no page of the sale: {one}");
    let own = page(&operator, &format!("{CLIENTS}/{id}"));
    for place in [&own, &page(&operator, CLIENTS), &page(&operator, HOME)] {
        assert!(place.contains(&format!("href=\"{path}\"")), "{path}: {place}");
    }
    // Nothing of an account that is another client's, or nobody's.
    let other = client(&operator, "Zebra", LOJA + 1);
    for (client, claim) in [(&id, &foreign), (&other, &claim), (&id, &"7".to_owned())] {
        let path = format!("{CLIENTS}/{client}/reclamacoes/{claim}");
        operator.send(Request::new("GET", &path)).expect(404);
    }
    operator
        .send(Request::new("GET", &format!("{CLIENTS}/{other}/reclamacoes/{foreign}")))
        .expect(200);
}

#[test]
fn the_next_deadline_comes_first_with_its_acts() {
    let (world, site) = shops();
    let operator = site.administrator();
    let quiet = client(&operator, "Zebra", LOJA + 1);
    let late = client(&operator, "Última", LOJA);
    let home = page(&operator, HOME);
    cron::alter(&site, "UPDATE sale_order SET shipping_status = NULL, stage = 0");
    assert!(page(&operator, HOME).contains("Nada espera"), "{home}");
    ask(&world, LOJA, "Tem azul?");
    let claim = world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA + 1 }))["id"].clone();
    world.deliveries();
    listed(&site.person("ana"), QUESTIONS, 1);
    listed(&site.person("ana"), CLAIMS, 1);
    let operator = site.administrator();
    let home = page(&operator, HOME);
    let section = &home[home.find("O que espera").unwrap()..];
    let place = |text: &str| section.find(text).unwrap_or_else(|| panic!("{text}: {section}"));
    // The question is due in a day, the claim in three.
    assert!(place("Última") < place("Zebra"), "{section}");
    assert!(section.contains("responda até") && section.contains("resolva até"), "{section}");
    for (href, label) in [
        (format!("{QUEUE}?cliente={late}"), "Responder"),
        (format!("{CLIENTS}/{quiet}/reclamacoes/{claim}"), "Ver reclamação"),
    ] {
        assert!(section.contains(&format!("href=\"{href}\"")) && section.contains(label), "{href}");
    }
    let list = page(&operator, CLIENTS);
    assert!(list.find("Última") < list.find("Zebra"), "{list}");
    assert!(page(&operator, &format!("{CLIENTS}/{quiet}")).contains("id=\"espera\""));
    // Programs get the order of names unless they ask for another.
    let names = |query: &str| -> Vec<String> {
        let found = shown(&operator, &format!("{CLIENTS}{query}"));
        let rows = found["dados"].as_array().unwrap().iter();
        rows.map(|row| row["nome"].as_str().unwrap().to_owned()).collect()
    };
    operator.post(CLIENTS, &json!({ "nome": "Abelha" })).expect(201);
    assert_eq!(names(""), ["Abelha", "Última", "Zebra"]);
    assert_eq!(names("?ordem=prazo"), ["Última", "Zebra", "Abelha"]);
    assert_eq!(names("?ordem=-prazo"), ["Abelha", "Zebra", "Última"]);
    assert_eq!(names("?situacao=a_fazer"), ["Última", "Zebra"]);
    assert_eq!(names("?ordem=prazo&por_pagina=1&pagina=2"), ["Zebra"]);
}

#[test]
fn a_finding_names_its_thing_and_leads_to_it() {
    let (_world, site, id) = one_client(&["Tem azul?", "Tem verde?"]);
    site.clock().advance_s(25 * HOUR_S);
    cron::run(&site);
    cron::alter(&site, &format!("UPDATE listing SET available = 0 WHERE ml_user_id = {LOJA}"));
    let operator = site.administrator();
    operator.post(CHECKUP, &json!({})).ok();
    let oldest = queue(&operator, "?status=pendente")["perguntas"][0]["question_id"].clone();
    let found = page(&operator, CHECKUP);
    for text in [
        "“Tem azul?” em Caneca de ágata",
        "venceu ",
        &*format!("{QUEUE}?cliente={id}#pergunta-{}", oldest.as_str().unwrap()),
        "1 anúncio ativo sem estoque",
        "Caneca de ágata · Casa &#38; Café · LOJA UM",
    ] {
        assert!(found.contains(text), "{text}: {found}");
    }
    let own = page(&operator, &format!("{CLIENTS}/{id}"));
    for text in ["O que aconteceu", "Cliente criado", "LOJA UM incluída", "Perguntas em atraso"] {
        assert!(own.contains(text), "{text}: {own}");
    }
}

#[test]
fn labels_of_clients_are_called_markers() {
    let site = Site::builder().unlimited().start();
    let operator = site.administrator();
    let form = page(&operator, &format!("{CLIENTS}/novo"));
    assert!(form.contains("Marcadores (opcional)") && !form.contains("Etiquetas (opcional)"));
    let wrong = json!({ "nome": "Certo", "etiquetas": "x".repeat(31) });
    let said = operator.post(CLIENTS, &wrong).expect(422).text();
    assert!(!said.contains("Use até 10 etiquetas"), "{said}");
    // No saved reply greets by a nickname.
    assert!(!page(&operator, REPLIES).contains("{comprador}"));
}
