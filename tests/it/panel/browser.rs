//! What people do in the panels, done in a real browser.
//!
//! Marked as ignored because they need Chromium: `tests/run` installs it and
//! runs them. `browser_pages.rs` tests every page by itself.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::site::{Person, Site};
use crate::support::wait::until;
use crate::support::webdriver::{Browser, ENTER, ESCAPE, PATIENCE, TAB};
use crate::support::world::World;

const LOJA: u64 = 900_000_001;

impl Site {
    /// The address of a page in the browser.
    #[track_caller]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    /// Signs a person in by the login page and waits for `home`.
    #[track_caller]
    pub fn sign_in(&self, browser: &Browser, person: &Person, home: &str) {
        browser.go(&self.url("/entrar"));
        browser.fill("email", &person.email);
        browser.fill("senha", &person.password);
        browser.press("Entrar");
        browser.wait_for_path(home);
    }

    /// Path and query of the set-up link that the server wrote at its start.
    #[track_caller]
    pub fn setup_link(&self) -> String {
        until("a set-up link in the log", PATIENCE, || {
            let log = self.log();
            let link = &log[log.find("/configurar?codigo=")?..];
            Some(link.split_once('\n')?.0.trim().to_owned())
        })
    }
}

/// The name of the field that has the focus.
#[track_caller]
fn focused(browser: &Browser) -> Value {
    browser.script("return document.activeElement.name ?? document.activeElement.tagName;")
}

/// The value of a field.
#[track_caller]
fn value_of(browser: &Browser, name: &str) -> Value {
    browser.script(&format!("return document.querySelector(\"[name='{name}']\").value;"))
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn the_set_up_link_makes_the_first_administrator_once() {
    let site = Site::start();
    let link = site.setup_link();
    let browser = Browser::start();
    browser.go(&site.url("/entrar"));
    browser.see("Ainda não há administrador");

    browser.go(&site.url(&link));
    browser.fill("nome", "Bia Lima");
    browser.fill("email", "bia@example.com");
    browser.fill("senha", "curta");
    // The browser's own check would hide ours.
    browser.script("document.querySelector('form').noValidate = true;");
    browser.press("Criar acesso e entrar");
    browser.see("Use de 10 a 200 caracteres.");
    assert_eq!(value_of(&browser, "nome"), "Bia Lima");
    assert_eq!(value_of(&browser, "email"), "bia@example.com");
    assert_eq!(focused(&browser), "senha");

    browser.fill("senha", "uma frase só minha");
    browser.press("Criar acesso e entrar");
    browser.wait_for_path("/admin");
    browser.see("Bia Lima");
    browser.expect_no_complaints();

    browser.go(&site.url(&link));
    browser.see("A configuração já foi feita");
    browser.go(&site.url("/admin"));
    browser.press("Sair");
    browser.wait_for_path("/entrar");
    assert!(!browser.text().contains("Ainda não há administrador"));
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_login_that_fails_keeps_what_was_typed() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let browser = Browser::start();
    browser.go(&site.url("/painel/avisos"));
    browser.fill("email", &ana.email);
    browser.fill("senha", "não é esta senha");
    browser.press("Entrar");
    browser.see("E-mail ou senha não conferem");
    assert_eq!(value_of(&browser, "email"), ana.email);
    assert_eq!(value_of(&browser, "senha"), "");
    assert_eq!(focused(&browser), "senha");

    // With the keyboard alone, to the page that the person wanted.
    browser.fill("senha", &ana.password);
    browser.key(ENTER);
    browser.wait_for_path("/painel/avisos");
    browser.expect_no_complaints();

    browser.press("Sair");
    browser.wait_for_path("/entrar");
    browser.go(&site.url("/painel"));
    browser.see("Entrar");
    assert!(browser.url().contains("/entrar"), "{}", browser.url());
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_linked_account_and_its_sale_show_in_the_panel() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica 1 litro", 89.9);
    let site = Site::builder().unlimited().world(&world).start();
    let ana = site.make_person("ana", "vip");
    let browser = Browser::start();
    site.sign_in(&browser, &ana, "/painel");
    browser.see("Vincule a sua primeira conta");

    browser.press("Vincular conta");
    browser.wait_for_path("/painel/ml");
    browser.press("Vincular conta");
    browser.see("Entrar como");
    // As the marketplace does it: nobody is sent back, so nothing here waits for it.
    browser.press("Recusar");
    browser.see("Nada foi autorizado");
    browser.go(&site.url("/painel/ml"));
    browser.press("Vincular conta");
    browser.see("LOJA DA ANA");
    browser.press("Autorizar");
    browser.see("LOJA DA ANA foi vinculada");
    browser.expect_no_complaints();

    browser.go(&format!("http://{}/", world.address()));
    browser.press("Simular venda");
    browser.see("Paga");
    browser.expect_no_complaints();
    let told = world.deliveries();
    assert_eq!(told.last().unwrap()["status"], 200);

    let totals =
        "document.querySelector('.today-now')?.textContent.includes('1 venda hoje') === true";
    until("the sale is on the home page", PATIENCE, || {
        browser.go(&site.url("/painel"));
        let shown = browser.script(&format!("return {totals};"));
        shown.as_bool().filter(|shown| *shown)
    });
    browser.see("Garrafa térmica 1 litro");
    browser.see("R$ 89,90");
    // Opening a notice marks it as read: of two sales the other one stays unread.
    browser.go(&format!("http://{}/", world.address()));
    browser.press("Simular venda");
    // The form is being sent: leaving the page at once would cancel it.
    until("a second sale is made", PATIENCE, || {
        (world.deliveries().len() > told.len()).then_some(())
    });
    until("both are told", PATIENCE, || {
        browser.go(&site.url("/painel/avisos"));
        let unread = browser.script("return document.querySelectorAll('.unread').length;");
        (unread == 2).then_some(())
    });
    browser.click(".unread strong a");
    browser.see("Comprador");
    // The opened page reports this a moment later.
    let unread = "document.querySelectorAll('.unread').length";
    until("one is unread", PATIENCE, || {
        browser.go(&site.url("/painel/avisos"));
        (browser.script(&format!("return {unread};")) == 1).then_some(())
    });
    browser.press("Marcar todos como lidos");
    browser.wait_until("nothing is unread any more", &format!("{unread} === 0"));

    browser.go(&site.url("/painel/ml"));
    browser.click("button[popovertarget^='desvincular']");
    browser.see("Desvincular LOJA DA ANA?");
    browser.key(ESCAPE);
    browser.wait_until("the question is gone", "!document.querySelector(':popover-open')");
    browser.click("button[popovertarget^='desvincular']");
    browser.click("dialog:popover-open button.danger");
    browser.see("Nenhuma conta vinculada");
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_first_reading_is_seen_to_go_on() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica 1 litro", 89.9);
    let plan = json!({ "ml_user_id": LOJA, "days": 360, "daily": 6, "seed": 1 });
    world.control("/_sandbox/history", &plan);
    let slow = json!({ "path_prefix": "/orders/search", "times": 0, "kind": "slow", "ms": 1_000 });
    world.fault(&slow);
    let site = Site::builder().unlimited().world(&world).start();
    let ana = site.person("ana");
    let browser = Browser::start();
    site.sign_in(&browser, ana.person(), "/painel");
    // The account is linked only now, because much would be read while the
    // browser starts.
    world.link(&ana, LOJA);
    browser.go(&site.url("/painel/ml"));
    // A reload of the page would undo these.
    browser.script(
        "window.isSame = true;
         document.querySelector('.account details').open = false;
         document.querySelector('.account .leave').focus();",
    );
    browser.see("Lendo vendas");
    let done = "document.querySelector('.account progress').value";
    let first = browser.script(&format!("return {done};"));
    browser.wait_until("the bar moves", &format!("{done} > {first}"));
    world.clear_faults();
    browser
        .wait_until("everything is read", "document.querySelectorAll('.areas .good').length === 6");
    let kept = browser.script(
        "return [window.isSame, document.querySelector('.account details').open,
           document.activeElement.matches('.account .leave'), !!document.querySelector('progress')];",
    );
    assert_eq!(kept, json!([true, false, true, false]));
    browser.expect_no_complaints();
}

/// Titles of the plans on sale.
#[track_caller]
fn on_sale(anybody: &Actor<'_>) -> Vec<String> {
    let plans = anybody.get("/api/v1/planos").ok();
    let plans = plans["data"].as_array().expect("a list of plans").clone();
    let title = |plan: &Value| plan["titulo"].as_str().unwrap_or_default().to_owned();
    plans.iter().map(title).collect()
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn an_operator_creates_changes_and_deletes_a_plan() {
    let site = Site::builder().unlimited().start();
    let bia = site.make_person("bia", "admin");
    let anybody = site.anonymous();
    let browser = Browser::start();
    site.sign_in(&browser, &bia, "/admin");
    browser.click("details:has(a[href='/admin/planos']) > summary");
    browser.press("Planos");
    browser.see("Nenhum plano ainda");

    browser.press("Criar plano");
    browser.fill("titulo", "Plano anual");
    browser.fill("slug", "plano-anual");
    browser.fill("preco", "1.997,00");
    browser.fill("beneficios", "Mentorias ao vivo\nGrupo de avisos");
    browser.press("Criar plano");
    browser.see("Plano criado");
    assert_eq!(on_sale(&anybody), ["Plano anual"]);

    browser.press("Plano anual");
    browser.see("Excluir este plano");
    browser.fill("titulo", "Plano anual com mentoria");
    browser.fill("preco", "muito caro");
    browser.press("Salvar plano");
    browser.see("Falta corrigir um campo");
    browser.see("Informe um valor de 0 a 10.000.000,00, como 97 ou 97,90.");
    assert_eq!(value_of(&browser, "titulo"), "Plano anual com mentoria");
    assert_eq!(value_of(&browser, "preco"), "muito caro");
    assert_eq!(focused(&browser), "preco");
    assert_eq!(on_sale(&anybody), ["Plano anual"]);

    browser.fill("preco", "1.497,00");
    browser.press("Salvar plano");
    browser.see("Plano alterado");
    browser.see("R$ 1.497,00");
    assert_eq!(on_sale(&anybody), ["Plano anual com mentoria"]);

    browser.click("td details.menu > summary");
    browser.press("Excluir");
    browser.see("Excluir o plano Plano anual com mentoria?");
    browser.click("dialog:popover-open button.danger");
    browser.see("Plano excluído");
    assert_eq!(on_sale(&anybody), [""; 0]);
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn each_role_has_its_home_and_no_other() {
    let site = Site::start();
    let rui = site.supplier("rui").plan("starter");
    let browser = Browser::start();
    site.sign_in(&browser, rui.person(), "/fornecedor");
    browser.see("Convide o primeiro vendedor");
    browser.see("0 de 10.000 chamadas neste mês");
    for closed in ["/admin", "/painel"] {
        browser.go(&site.url(closed));
        browser.see("Sua conta não abre esta página");
    }
    browser.go(&site.url("/nao-existe"));
    browser.see("Esta página não existe");
    let quoted = browser.script("return document.getElementById('pedido').textContent;");
    let quoted = quoted.as_str().expect("a request id").to_owned();
    assert!(site.log().contains(&quoted), "{quoted} is not in the log");
    browser.press("Ir para o início");
    browser.wait_for_path("/fornecedor");
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_phone_has_the_whole_menu() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let browser = Browser::start();
    browser.resize(360, 740);
    site.sign_in(&browser, &ana, "/painel");
    browser.click("nav.bar a[href='/painel/vendas']");
    browser.wait_for_path("/painel/vendas");
    assert!(!browser.text().contains("Sair"), "the menu is closed");
    browser.press("Menu");
    browser.see(&ana.email);
    browser.press("Sair");
    browser.wait_for_path("/entrar");
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn the_chosen_theme_is_kept() {
    let site = Site::start();
    let browser = Browser::start();
    let background = "return getComputedStyle(document.body).backgroundColor;";
    browser.go(&site.url("/entrar"));
    let light = browser.script(background);
    browser.click(".themes button[value='dark']");
    let dark = browser.script(background);
    assert_ne!(light, dark);
    browser.go(&site.url("/nao-existe"));
    browser.see("Esta página não existe");
    assert_eq!(browser.script(background), dark);
    browser.click(".themes button[value='auto']");
    browser.reload();
    assert_eq!(browser.script(background), light);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_token_that_is_tried_serves_all_pages_of_the_reference_in_its_tab() {
    let site = Site::start();
    let browser = Browser::start();
    let page = |name: &str| site.url(&format!("/desenvolvedores/referencia/{name}"));
    let token = || browser.script("return document.getElementById('token').value;");
    browser.go(&page("list_orders"));
    browser.fill("token", "ptk_abc");
    browser.go(&page("list_stores"));
    assert_eq!(token(), "ptk_abc");
    assert_eq!(browser.script("return localStorage.length;"), 0);
    browser.press("Esquecer o token");
    assert_eq!(token(), "");
    browser.reload();
    assert_eq!(token(), "");
    browser.fill("token", "ptk_abc");
    browser.go(&site.url("/entrar"));
    browser.go(&page("list_orders"));
    assert_eq!(token(), "");
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn the_keyboard_reaches_everything() {
    let site = Site::start();
    let ana = site.make_person("ana", "vip");
    let browser = Browser::start();
    browser.go(&site.url("/entrar"));
    assert_eq!(focused(&browser), "email", "the page opens at its task");
    let mut order = vec![name_of_focus(&browser)];
    for _ in 0..9 {
        browser.key(TAB);
        order.push(name_of_focus(&browser));
    }
    let wanted = [
        "E-mail",
        "Senha",
        "Mostrar",
        "Entrar",
        "Esqueci a senha",
        "Desenvolvedores",
        "Situação",
        "Tema do sistema",
        "Tema claro",
        "Tema escuro",
    ];
    assert_eq!(order, wanted);

    site.sign_in(&browser, &ana, "/painel");
    browser.key(TAB);
    assert_eq!(name_of_focus(&browser), "Pular para o conteúdo");
    browser.key(ENTER);
    browser.wait_until("the focus is at the content", "document.activeElement.id === 'conteudo'");
    browser.key(TAB);
    assert_eq!(name_of_focus(&browser), "Fazer check-in", "the navigation is behind");
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn lists_menus_and_questions_work_by_keyboard() {
    let site = Site::start();
    let bia = site.make_person("bia", "admin");
    let browser = Browser::start();
    site.sign_in(&browser, &bia, "/admin");
    browser.go(&site.url("/admin/estilo"));

    // Filters and orders are links that show which of them is active.
    take(&browser, ".chip[href$='status=suspenso']");
    browser.key(ENTER);
    browser.wait_for_path("/admin/estilo?status=suspenso");
    let on = "return document.querySelector('.chip[aria-current]:not([href=\"/admin/estilo\"])').textContent;";
    assert_eq!(browser.script(on), "Suspenso");
    take(&browser, "th a[href*='ordem=vendas']");
    browser.key(ENTER);
    browser.wait_for_path("/admin/estilo?status=suspenso&ordem=vendas");
    let sorted = "return document.querySelector('th[aria-sort]').getAttribute('aria-sort');";
    assert_eq!(browser.script(sorted), "ascending");

    // A menu opens, its items get the focus in turn, and it returns the focus.
    take(&browser, "td details.menu > summary");
    browser.key(ENTER);
    browser.see("Editar");
    browser.key(TAB);
    assert_eq!(name_of_focus(&browser), "Editar");
    browser.key(TAB);
    assert_eq!(name_of_focus(&browser), "Excluir");
    browser.key(ESCAPE);
    browser.wait_until("the menu is shut", "!document.querySelector('.menu[open]')");
    assert!(name_of_focus(&browser).starts_with("Ações de "));

    // A dialog moves the focus to its harmless answer, and returns it.
    take(&browser, ".danger-zone button");
    browser.key(ENTER);
    browser.see("Excluir o plano Plano Anual?");
    assert_eq!(name_of_focus(&browser), "Cancelar");
    browser.key(ESCAPE);
    browser.wait_until("the question is gone", "!document.querySelector(':popover-open')");
    assert_eq!(name_of_focus(&browser), "Excluir plano");
    browser.key(ENTER);
    browser.see("Excluir o plano Plano Anual?");
    browser.key(TAB);
    browser.key(ENTER);
    browser.wait_for_path("/admin/estilo");
    browser.see("Assim se conta o resultado de uma ação.");
    browser.expect_no_complaints();
}

/// Moves the focus to an element, as a person would by the Tab key.
#[track_caller]
fn take(browser: &Browser, selector: &str) {
    browser.script(&format!("document.querySelector(`{selector}`).focus();"));
    let is_there = format!("document.activeElement.matches(`{selector}`)");
    browser.wait_until(&format!("{selector} has the focus"), &is_there);
}

/// The name of the element with the focus, which must be visible.
#[track_caller]
fn name_of_focus(browser: &Browser) -> String {
    let seen = browser.script(
        "const at = document.activeElement;
         const style = getComputedStyle(at);
         const box = at.getBoundingClientRect();
         return {
           name: at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent.trim(),
           ring: parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== 'none',
           inside: box.top >= 0 && box.bottom <= innerHeight && box.width > 0,
         };",
    );
    assert_eq!(seen["ring"], true, "no focus ring: {seen}");
    assert_eq!(seen["inside"], true, "out of sight: {seen}");
    seen["name"].as_str().unwrap_or_default().to_owned()
}
