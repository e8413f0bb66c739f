//! Chat messages about buyers' questions, as the account's owner chose.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cron::run;
use crate::support::site::{Builder, Site};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// The longest wait for anything here.
const PATIENCE: Duration = Duration::from_secs(30);

fn site(world: &World) -> Builder {
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica", 89.9);
    Site::builder()
        .unlimited()
        .world(world)
        .config("chat.gateway", "evolution")
        .config("chat.base_url", format!("http://{}", world.address()))
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
        .config("messages.pace_evolution_per_s", 0)
}

/// Ana has a number and links her shop; only later questions are new.
fn linked(world: &World, site: &Site) {
    let ana = site.person("ana");
    let number = json!({ "chat_number": "11987654321", "confirmacao": ana.person().password });
    ana.post("/perfil", &number).ok();
    world.link(&ana, LOJA);
    site.clock().advance_s(60);
}

fn ask(world: &World, more: &Value) -> Value {
    let mut question = json!({ "ml_user_id": LOJA, "text": "Serve na bicicleta?" });
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.control("/_sandbox/questions", &question)["id"].take()
}

/// Waits until `count` questions are here and their notifications were handled.
#[track_caller]
fn questions(world: &World, site: &Site, count: usize) {
    world.deliveries();
    let here = "SELECT (SELECT count(*) FROM question) || ' ' || count(*) FROM ml_notification WHERE state = 0";
    until(here, PATIENCE, || {
        site.clock().advance_s(7);
        (site.stored(here) == [format!("{count} 0")]).then_some(())
    });
}

/// State and reason of the queued messages.
fn queue(site: &Site) -> Vec<String> {
    let all = "SELECT kind || ' ' || channel || ' ' || state || ' ' || coalesce(outcome, '-')
               FROM outbox ORDER BY message_id";
    site.stored(all)
}

#[track_caller]
fn sent(world: &World, count: usize) -> Vec<Value> {
    until("the messages are there", PATIENCE, || {
        let messages = world.messages();
        (messages.len() >= count).then_some(messages)
    })
}

#[test]
fn a_new_question_is_told_once_by_chat() {
    let world = World::start();
    let site = site(&world).config("cron.enabled", true).start();
    let before = json!({ "date_created": "2026-11-19T12:00:00Z", "notify": false });
    ask(&world, &before);
    linked(&world, &site);
    questions(&world, &site, 1);
    world.configure(&json!({ "duplicates": 2, "reorder": true }));

    let long = format!("Serve?\n{}", "ã".repeat(1_000));
    let question = ask(&world, &json!({ "text": long }));
    questions(&world, &site, 2);
    let text = sent(&world, 1)[0]["text"].as_str().unwrap().to_owned();
    let page = format!("/painel/perguntas/{question}");
    assert!(text.starts_with("Olá, ana. Um comprador"), "{text}");
    for part in ["loja LOJA DA ANA", "Garrafa térmica", "“Serve? ãã", "ã…”", &page] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.chars().count() < 600, "{text}");
    assert_eq!(world.messages()[0]["to"], "5511987654321");
    let link = text.split_whitespace().last().unwrap();
    let (origin, path) = link.split_at(link.len() - page.len());
    assert!(origin.starts_with("http://127.0.0.1:"), "{link}");
    let shown = site.person("ana").get(path).expect(200).text();
    assert!(shown.contains("Serve?"), "{shown}");

    // Another notification, another reading and the answer cause no second message.
    let again = json!({ "ml_user_id": LOJA, "topic": "questions", "resource": format!("/questions/{question}") });
    world.control("/_sandbox/notifications", &again);
    questions(&world, &site, 2);
    site.clock().advance_s(86_400);
    ask(&world, &json!({ "text": "Tem azul?" }));
    questions(&world, &site, 3);
    let answer = json!({ "answer": "Serve sim" });
    world.control(&format!("/_sandbox/questions/{question}"), &answer);
    questions(&world, &site, 3);
    until("both are noted as sent", PATIENCE, || {
        (queue(&site) == ["pergunta chat 1 -"; 2]).then_some(())
    });
    assert_eq!(world.messages().len(), 2);
    world.no_violations();
}

#[test]
fn who_does_not_want_them_is_told_in_the_panel_alone() {
    let world = World::start();
    let site = site(&world).start();
    linked(&world, &site);
    let ana = site.person("ana");
    let page = ana.get("/perfil/avisos").expect(200).text();
    assert!(page.contains("Perguntas de compradores"), "{page}");
    ana.post("/perfil/avisos", &json!({ "tipos": ["inatividade"] })).ok();
    ask(&world, &json!({}));
    questions(&world, &site, 1);
    assert_eq!(queue(&site), [""; 0]);
    ana.post("/perfil/avisos", &json!({ "tipos": ["pergunta"] })).ok();
    ask(&world, &json!({}));
    questions(&world, &site, 2);
    assert_eq!(queue(&site), ["pergunta chat 0 -"]);
    let told = "SELECT title FROM notification WHERE kind = 3";
    assert_eq!(site.stored(told), ["Nova pergunta"; 2]);
}

#[test]
fn what_was_answered_meanwhile_is_not_sent() {
    let world = World::start();
    let site = site(&world).start();
    linked(&world, &site);
    let first = ask(&world, &json!({}));
    ask(&world, &json!({ "text": "Tem azul?" }));
    questions(&world, &site, 2);
    let answer = json!({ "answer": "Serve sim" });
    world.control(&format!("/_sandbox/questions/{first}"), &answer);
    until("the answer is here", PATIENCE, || {
        site.clock().advance_s(7);
        (site.stored("SELECT count(*) || '' FROM question WHERE state = 2") == ["1"]).then_some(())
    });
    assert_eq!(run(&site)["chat_enviados"], 1);
    assert_eq!(
        queue(&site),
        ["pergunta chat 2 a pergunta já não espera resposta", "pergunta chat 1 -"]
    );
    assert!(sent(&world, 1)[0]["text"].as_str().unwrap().contains("Tem azul?"));
}
