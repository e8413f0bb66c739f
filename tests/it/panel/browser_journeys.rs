//! What people come for, in a real browser, with the number of clicks or keys that it
//! takes. A supplier's are in `browser_supplier`.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::chat::{welcome, with_gateway};
use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::shop::{LABELS, Shop};
use crate::support::shops::{CLAIMS, PATIENCE, QUESTIONS, SALES, ask, listed, shops};
use crate::support::site::Site;
use crate::support::smtp::Greeter;
use crate::support::sync::wait_until_worked;
use crate::support::wait::until;
use crate::support::webdriver::{ALT, Browser, CONTROL, ENTER};
use crate::support::world::{LOJA, World};

const DAY_S: i64 = 86_400;

/// A browser whose clicks and keys are counted.
struct Hand {
    browser: Browser,
    done: Cell<u32>,
}

impl Hand {
    /// Somebody who is signed in and looks at the home; that counts for nothing.
    #[track_caller]
    fn at_home(site: &Site, who: &Actor<'_>, home: &str) -> Self {
        let browser = Browser::start();
        site.sign_in(&browser, who.person(), home);
        Self { browser, done: Cell::new(0) }
    }

    #[track_caller]
    fn press(&self, words: &str) {
        self.done.set(self.done.get() + 1);
        self.browser.press(words);
    }

    #[track_caller]
    fn chord(&self, keys: &[&str]) {
        self.done.set(self.done.get() + 1);
        self.browser.chord(keys);
    }

    /// So many clicks or keys were needed, and the console is silent.
    #[track_caller]
    fn took(self, wanted: u32) {
        assert_eq!(self.done.get(), wanted, "clicks or keys");
        self.browser.expect_no_complaints();
    }
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn what_a_sale_earned_and_until_when_a_claim_waits_take_no_click() {
    let (world, site) = shops();
    let ana = site.person("ana");
    let sale = until("told", PATIENCE, || {
        site.clock().advance_s(1);
        let mut found = listed(&ana, &format!("{SALES}?conta={LOJA}"), 1);
        found[0]["frete"].is_number().then(|| found[0]["id"].take())
    });
    let path = format!("{SALES}/{}/custo", sale.as_str().unwrap());
    ana.send(Request::new("POST", &path).form(&[("custo", "10,00")])).expect(303);
    let claim = json!({ "ml_user_id": LOJA, "action": "refund", "reason": "PNR3430" });
    world.control("/_sandbox/claims", &claim);
    world.deliveries();
    listed(&ana, CLAIMS, 1);
    let hand = Hand::at_home(&site, &ana, "/painel");
    let left = json_of(&ana, &format!("{SALES}/{}", sale.as_str().unwrap()))["sobra"].take();
    let words = format!("sobra R$ {:.2}", left.as_f64().unwrap()).replace('.', ",");
    let text = hand.browser.text().replace('\u{a0}', " ");
    assert!(text.contains(&words), "{words}: {text}");
    assert!(text.contains("decida até "), "{text}");
    hand.took(0);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn all_parcels_are_printed_by_one_click() {
    let shop = Shop::open();
    let ana = shop.ana();
    for _ in 0..3 {
        shop.sell(LOJA, true);
    }
    shop.wait_for(&ana, 3);
    let hand = Hand::at_home(&shop.site, &ana, "/painel");
    hand.press("Imprimir");
    until("all are printed", PATIENCE, || {
        let printed = ana.get(&format!("{LABELS}?parte=impressas")).expect(200).text();
        printed.contains("Lote de 3 etiquetas<").then_some(())
    });
    hand.took(1);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn nine_questions_are_answered_by_eighteen_keys() {
    let (world, site) = shops();
    let ana = site.person("ana");
    for number in 1..=9 {
        ask(&world, LOJA, &format!("Pergunta de número {number}?"));
    }
    wait_until_worked(&world, &site);
    listed(&ana, QUESTIONS, 9);
    let reply = json!({ "titulo": "Sim", "texto": "Olá! Temos sim." });
    ana.post("/painel/respostas", &reply).expect(201);
    let hand = Hand::at_home(&site, &ana, "/painel");
    hand.browser.go(&site.url(QUESTIONS));
    hand.browser
        .wait_until("the script is there", "document.querySelector('[data-ready]') !== null");
    for left in (0..9).rev() {
        let has_cursor = "document.activeElement.tagName === 'TEXTAREA'";
        hand.browser.wait_until("a field has the cursor", has_cursor);
        hand.chord(&[ALT, "1"]);
        let filled = "document.activeElement.value.includes('Temos sim')";
        hand.browser.wait_until("the reply is there", filled);
        hand.chord(&[CONTROL, ENTER]);
        let open = "[...document.querySelectorAll('article textarea:enabled')]\
            .filter((one) => one.value === '').length";
        hand.browser.wait_until("it has left", &format!("{open} === {left}"));
    }
    hand.browser.see("Tudo respondido.");
    until("all have their answer", PATIENCE, || {
        let found = json_of(&ana, &format!("{QUESTIONS}?estado=respondida"));
        (found["total"] == 9).then_some(())
    });
    hand.took(18);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn who_is_overdue_is_on_the_home_and_gets_time_by_one_click() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    Event::approved("a", "lia@example.com", "HP-1", 0).send(&platform).ok();
    Event::new("b", "PURCHASE_DELAYED", "lia@example.com", "HP-2", 1)
        .renewal(2)
        .send(&platform)
        .ok();
    site.clock().advance_s(31 * DAY_S);
    let hand = Hand::at_home(&site, &site.administrator(), "/admin");
    hand.browser.see("Lia Prado");
    hand.browser.see("pago até 20/12/2026");
    assert_eq!(hand.done.get(), 0, "it was found without a click");
    hand.press("Dar prazo");
    hand.browser.see("Prazo dado");
    hand.took(1);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_failed_message_is_repaired_by_two_clicks() {
    let world = World::start();
    let site = with_gateway(&world, "evolution").start();
    let admin = site.administrator();
    // A number that no chat has.
    welcome(&site, "ana", "5511987654000");
    until("it failed", PATIENCE, || {
        (json_of(&admin, "/admin/mensagens?estado=falhou")["total"] == 1).then_some(())
    });
    let hand = Hand::at_home(&site, &admin, "/admin");
    hand.press("Corrigir");
    hand.browser.see("Este número não está na rede de chat.");
    hand.browser.fill("endereco", "(11) 91234-5678");
    hand.press("Corrigir e reenviar");
    let corrected = "5511912345678";
    until("it is sent to the corrected number", PATIENCE, || {
        world.messages().iter().any(|one| one["to"] == corrected).then_some(())
    });
    hand.took(2);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn an_announcement_is_written_looked_at_and_sent_by_three_clicks() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let hand = Hand::at_home(&site, &site.administrator(), "/admin");
    hand.browser.go(&site.url("/admin/comunicados"));
    hand.press("Novo comunicado");
    hand.browser.wait_for_path("/admin/comunicados/novo");
    hand.browser.fill("titulo", "Aula nova");
    hand.browser.fill("texto", "Hoje às 20h.");
    hand.press("Conferir");
    hand.browser.see("Como as pessoas leem");
    hand.press("Enviar a 1 pessoa");
    until("it was told", PATIENCE, || {
        let notices = json_of(&ana, "/painel/avisos")["dados"].take();
        let is_it = |one: &Value| one["titulo"] == "Aula nova";
        notices.as_array().unwrap().iter().any(is_it).then_some(())
    });
    hand.took(3);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn the_checklist_alone_leads_through_the_first_set_up() {
    let mail = Greeter::start("235 welcome");
    let copies = tempfile::tempdir().unwrap();
    let site = Site::builder()
        .unlimited()
        .config("database.backup_dir", copies.path().display().to_string())
        .config("marketplace.client_id", "app")
        .config("marketplace.client_secret", "segredo")
        .config("email.smtp_url", format!("smtp://{}", mail.address))
        .start();
    let hand = Hand::at_home(&site, &site.administrator(), "/admin");
    let browser = &hand.browser;
    browser.see("Para começar");
    hand.press("Testar");
    browser.see("O canal responde");
    hand.press("Fazer cópia");
    browser.see("A cópia está sendo feita");
    let made: [(&str, &[(&str, &str)]); 3] = [
        ("Criar plano", &[("titulo", "Pro"), ("preco", "97,00")]),
        ("Criar curso", &[("titulo", "Primeira venda")]),
        ("Cadastrar aluno", &[("nome", "Ana Lima"), ("email", "ana@example.com")]),
    ];
    for (step, fields) in made {
        hand.press(step);
        browser.see(fields[0].0.replace("titulo", "Título").replace("nome", "Nome").as_str());
        for (name, value) in fields {
            browser.fill(name, value);
        }
        browser.script("document.querySelector('main form.form .button.primary').click();");
        browser.wait_until("it was made", "document.querySelector('.notice, .toast') !== null");
        browser.go(&site.url("/admin"));
    }
    until("the checklist is done", PATIENCE, || {
        browser.reload();
        (!browser.text().contains("Para começar")).then_some(())
    });
    hand.took(5);
}
