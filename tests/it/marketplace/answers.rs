//! Answers that the marketplace accepts, and answers that it rejects.

use serde_json::json;

use crate::marketplace::shops::form;
use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::shops::{LISTINGS, QUESTIONS, ask, listed, shops};
use crate::support::site::Site;
use crate::support::sync::{run_after, wait_until_read, wait_until_worked};
use crate::support::world::{LOJA, World};

/// Makes a question whose notifications are all delivered; returns its number.
fn asked(world: &World, ana: &Actor<'_>) -> String {
    ask(world, LOJA, "Tem azul?");
    world.deliveries();
    let waiting = listed(ana, &format!("{QUESTIONS}?estado=pendente"), 1);
    waiting[0]["id"].as_str().unwrap().to_owned()
}

fn change(world: &World, question: &str, status: &str) {
    let silently = json!({ "status": status, "notify": false });
    world.control(&format!("/_sandbox/questions/{question}"), &silently);
}

#[test]
fn two_thousand_characters_of_any_kind_are_an_answer() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let faces = "😀".repeat(2_000);
    let by_form = |path: &str| form(&ana, path, &faces);
    let in_ascii = |path: &str| {
        let body = format!(r#"{{"resposta":"{}"}}"#, r"\ud83d\ude00".repeat(2_000));
        ana.send(Request::new("POST", path).body("application/json", body.as_bytes()))
    };
    let ways: [&dyn Fn(&str) -> Reply; 2] = [&by_form, &in_ascii];
    for (send, status) in ways.into_iter().zip([303, 200]) {
        let question = asked(&world, &ana);
        send(&format!("{QUESTIONS}/{question}/responder")).expect(status);
        let answered = json_of(&ana, &format!("{QUESTIONS}/{question}"));
        assert_eq!(answered["resposta"], faces);
    }
}

#[test]
fn a_question_that_ended_unnoticed_is_read_again() {
    let (world, site) = shops();
    let ana = site.person("ana");
    for (status, said) in [
        ("CLOSED_UNANSWERED", "foi encerrada sem resposta"),
        ("DELETED", "foi excluída"),
        ("BANNED", "bloqueou esta pergunta"),
        ("UNDER_REVIEW", "está analisando esta pergunta"),
    ] {
        let question = asked(&world, &ana);
        let page = format!("{QUESTIONS}/{question}");
        change(&world, &question, status);
        assert!(ana.get(&page).expect(200).text().contains("<textarea"));

        let answer = json!({ "resposta": "Tem sim" });
        let refused = ana.post(&format!("{page}/responder"), &answer).expect(409);
        assert!(refused.text().contains(said), "{status}: {}", refused.text());
        assert_eq!(json_of(&ana, &page)["estado"], "encerrada", "{status}");
        let back = form(&ana, &format!("{page}/responder"), "Tem sim").expect(303);
        let shown = ana.get(back.header("location").unwrap()).expect(200).text();
        assert!(shown.contains("não foi enviada") && shown.contains(said), "{status}: {shown}");
        assert!(!shown.contains("<textarea"), "{status}");
    }
    // A question that the marketplace no longer has.
    let question = asked(&world, &ana);
    let page = format!("{QUESTIONS}/{question}");
    let gone = json!({ "code": 404, "kind": "status", "times": 0, "path_prefix": "/answers" });
    let away = json!({ "code": 404, "kind": "status", "times": 0, "path_prefix": "/questions/" });
    world.fault(&gone);
    world.fault(&away);
    form(&ana, &format!("{page}/responder"), "Tem sim").expect(303);
    assert_eq!(json_of(&ana, &page)["estado"], "encerrada");
    assert_eq!(left_open(&site), "0");
}

/// How many open questions the page names for the account.
fn left_open(site: &Site) -> String {
    let sql = format!("SELECT open_questions || '' FROM ml_account WHERE ml_user_id = {LOJA}");
    site.stored(&sql).remove(0)
}

#[test]
fn a_refused_answer_says_what_to_do_and_is_kept() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let question = asked(&world, &ana);
    let path = format!("{QUESTIONS}/{question}/responder");
    let of_shop = format!("{LISTINGS}?conta={LOJA}");
    let item = listed(&ana, &of_shop, 1)[0]["id"].take();
    let item = format!("/_sandbox/items/{}", item.as_str().unwrap());
    world.control(&item, &json!({ "status": "under_review", "notify": false }));
    let page = form(&ana, &path, "Tem sim, azul").expect(409).text();
    for part in ["Tem sim, azul</textarea>", "não está ativo", "Nada foi enviado"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(left_open(&site), "1");
    world.control(&item, &json!({ "status": "active", "notify": false }));
    form(&ana, &path, "Tem sim, azul").expect(303);
    assert_eq!(left_open(&site), "0");
}

#[test]
fn each_refusal_of_an_answer_has_its_words_and_its_end() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let question = asked(&world, &ana);
    let path = format!("{QUESTIONS}/{question}/responder");
    let refuse = |code: &str| {
        let body = json!({ "error": code, "message": "x", "status": 400, "cause": [] });
        let refused =
            json!({ "path_prefix": "/answers", "kind": "status", "code": 400, "body": body });
        world.fault(&refused);
    };
    for (code, status, words) in [
        ("user_banned", 409, "não deixa esta conta responder agora"),
        ("invalid_question", 409, "não reconheceu esta pergunta"),
        ("something_new", 502, "mude o texto"),
    ] {
        refuse(code);
        let page = form(&ana, &path, "Tem sim").expect(status).text();
        assert!(page.contains(words) && page.contains("Tem sim</textarea>"), "{code}: {page}");
        assert_eq!(page.contains("mude o texto"), code == "something_new", "{code}: {page}");
        assert_eq!(left_open(&site), "1", "{code}");
    }
    // The buyer is blocked: for the marketplace the question stays unanswered for ever.
    let blocked = json!({ "buyer_blocked": true });
    world.control(&format!("/_sandbox/questions/{question}"), &blocked);
    let back = form(&ana, &path, "Tem sim").expect(303);
    let shown = ana.get(back.header("location").unwrap()).expect(200).text();
    assert!(shown.contains("não aceita mais resposta") && !shown.contains("<textarea"), "{shown}");
    assert_eq!(left_open(&site), "0");
    // Neither a reading nor a notification brings it back.
    run_after(&site, 3_600);
    wait_until_read(&site, &ana);
    let notice = json!({ "ml_user_id": LOJA, "topic": "questions", "resource": format!("/questions/{question}") });
    world.control("/_sandbox/notifications", &notice);
    wait_until_worked(&world, &site);
    assert_eq!(
        (left_open(&site), &json_of(&ana, &format!("{QUESTIONS}/{question}"))["estado"]),
        ("0".to_owned(), &json!("encerrada"))
    );
}
