//! Questions answered by keyboard alone, in a real browser.
//!
//! Marked as ignored because they need Chromium: `tests/run` installs it and
//! runs them.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agency::{QUEUE, client};
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::shops::{PATIENCE, QUESTIONS, ask, shops};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::webdriver::{ALT, Browser, CONTROL, ENTER, ESCAPE};
use crate::support::world::{LOJA, World};

/// A shop with `count` questions, in the order of their numbers.
fn questions(count: usize) -> (World, Site) {
    let (world, site) = shops();
    for number in 1..=count {
        ask(&world, LOJA, &format!("Pergunta de número {number:02}?"));
        site.clock().advance_s(60);
    }
    world.deliveries();
    let ana = site.person("ana");
    until("all questions are here", PATIENCE, || {
        site.clock().advance_s(1);
        (json_of(&ana, QUESTIONS)["total"] == count).then_some(())
    });
    (world, site)
}

/// The question whose field or card has the focus; empty without one.
#[track_caller]
fn present(browser: &Browser) -> String {
    let text = browser.script(
        "return document.activeElement.closest('article')?.querySelector('h2').textContent ?? '';",
    );
    text.as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn is_in_field(browser: &Browser) -> bool {
    browser.script("return document.activeElement.tagName;") == "TEXTAREA"
}

#[track_caller]
fn type_in(browser: &Browser, text: &str) {
    for letter in text.chars() {
        browser.key(&letter.to_string());
    }
}

/// Answers the question with the focus, and waits until another one has it.
#[track_caller]
fn answer(browser: &Browser, text: &str) -> String {
    let before = present(browser);
    assert!(is_in_field(browser), "{before}");
    type_in(browser, text);
    browser.chord(&[CONTROL, ENTER]);
    let next = format!(
        "(document.activeElement.closest('article')?.querySelector('h2').textContent ?? '') !== {}",
        json!(before)
    );
    browser.wait_until("the cursor goes on", &next);
    before
}

fn answered(actor: &Actor<'_>) -> Vec<Value> {
    let found = json_of(actor, &format!("{QUESTIONS}?estado=respondida&por_pagina=100"));
    found["dados"].as_array().unwrap().clone()
}

/// Waits for the script of the page, and sets a mark that a newly loaded page
/// would not have.
#[track_caller]
fn stays(browser: &Browser) {
    browser.wait_until("the script is there", "document.querySelector('[data-ready]') !== null");
    browser.script("window.isSame = true;");
}

#[track_caller]
fn expect_stayed(browser: &Browser) {
    assert_eq!(browser.script("return window.isSame === true;"), true, "a page was loaded");
    let loads = "return performance.getEntriesByType('navigation').length;";
    assert_eq!(browser.script(loads), 1);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn forty_questions_are_answered_without_a_page_between_them() {
    let (_world, site) = questions(40);
    let operator = site.administrator();
    client(&operator, "Casa & Café", LOJA);
    let browser = Browser::start();
    site.sign_in(&browser, operator.person(), "/admin");
    browser.go(&site.url(QUEUE));
    browser.see("Pergunta de número 01?");
    stays(&browser);
    for number in 1..=40 {
        browser
            .wait_until("a field has the cursor", "document.activeElement.tagName === 'TEXTAREA'");
        let asked = answer(&browser, &format!("r{number}"));
        assert_eq!(asked, format!("Pergunta de número {number:02}?"));
    }
    browser.see("Tudo respondido.");
    expect_stayed(&browser);
    let chips =
        "return [...document.querySelectorAll('[data-left-in]')].map((one) => one.textContent);";
    assert_eq!(browser.script(chips), json!(["0", "40", "40"]));
    let ana = site.person("ana");
    let answered = answered(&ana);
    assert_eq!(answered.len(), 40);
    for one in answered {
        let (asked, said) = (one["texto"].as_str().unwrap(), one["resposta"].as_str().unwrap());
        let number = asked.split(' ').next_back().unwrap().trim_end_matches('?');
        assert_eq!(said.trim_start_matches('r').parse::<u32>(), number.parse(), "{asked}");
    }
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn an_answer_that_fails_comes_back_with_its_text() {
    let (world, site) = questions(4);
    let ana = site.person("ana");
    let browser = Browser::start();
    site.sign_in(&browser, ana.person(), "/painel");
    browser.go(&site.url(QUESTIONS));
    stays(&browser);
    let down = json!({ "path_prefix": "/answers", "kind": "status", "code": 500, "times": 1 });
    world.fault(&down);
    assert_eq!(answer(&browser, "Primeira"), "Pergunta de número 01?");
    browser.see("Não enviada.");
    assert_eq!(present(&browser), "Pergunta de número 02?", "the cursor stays where it went");
    // Another person answers the second question first.
    let rows = json_of(&ana, QUESTIONS)["dados"].as_array().unwrap().clone();
    let second = rows.iter().find(|one| one["texto"] == "Pergunta de número 02?").unwrap();
    let target = format!("{QUESTIONS}/{}/responder", second["id"].as_str().unwrap());
    ana.post(&target, &json!({ "resposta": "Já foi" })).ok();
    answer(&browser, "Segunda");
    browser.see("Esta pergunta já tem resposta");
    let fields = "return [...document.querySelectorAll('article textarea')].slice(0, 2).map((one) => one.value);";
    assert_eq!(browser.script(fields), json!(["Primeira", "Segunda"]));
    expect_stayed(&browser);
    browser.press("Tirar da fila");
    browser.wait_until("it is gone", "document.querySelectorAll('article').length === 3");
    browser.script("document.querySelector('article textarea').focus();");
    answer(&browser, "");
    answer(&browser, "Terceira");
    answer(&browser, "Quarta");
    browser.see("Tudo respondido.");
    let told: Vec<String> =
        answered(&ana).iter().map(|one| one["resposta"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, ["Quarta", "Terceira", "Já foi", "Primeira"]);
    expect_stayed(&browser);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn keys_lead_from_card_to_card_and_fill_in_replies() {
    let (_world, site) = questions(4);
    let ana = site.person("ana");
    let reply =
        json!({ "titulo": "Saudação", "texto": "Olá, {comprador}! {anuncio} sai por {preco}." });
    ana.post("/painel/respostas", &reply).expect(201);
    let browser = Browser::start();
    site.sign_in(&browser, ana.person(), "/painel");
    browser.go(&site.url(QUESTIONS));
    stays(&browser);
    let question = |number: u32| format!("Pergunta de número {number:02}?");
    let steps: [(&str, u32, bool); 10] = [
        (ESCAPE, 1, false),
        ("j", 2, false),
        ("j", 3, false),
        ("k", 2, false),
        ("s", 3, false),
        ("k", 1, false),
        ("k", 1, false),
        (ENTER, 1, true),
        (ESCAPE, 1, false),
        ("x", 1, false),
    ];
    for (key, number, in_field) in steps {
        browser.key(key);
        assert_eq!(
            (present(&browser), is_in_field(&browser)),
            (question(number), in_field),
            "{key}"
        );
    }
    let last = "return [...document.querySelectorAll('article h2')].at(-1).textContent;";
    assert_eq!(browser.script(last), question(2));
    browser.key("?");
    browser.see("Alt + 1 a 9");
    browser.key(ESCAPE);
    browser.wait_until("the list of keys is gone", "!document.querySelector(':popover-open')");
    browser.script("document.querySelector('article textarea').focus();");
    browser.chord(&[ALT, "1"]);
    let field = "document.querySelector('article textarea').value";
    browser.wait_until("the reply is there", &format!("{field}.includes('sai por')"));
    let text = browser.script(&format!("return {field};"));
    let text = text.as_str().unwrap().replace('\u{a0}', " ");
    assert_eq!(text, "Olá! Caneca de ágata sai por R$ 35,50.", "no nickname greets a buyer");
    expect_stayed(&browser);
    browser.expect_no_complaints();
    let page = ana.send(Request::new("GET", QUESTIONS).header("Accept", "text/html"));
    assert!(page.expect(200).text().contains("data-replies"));
}
