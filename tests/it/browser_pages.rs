//! Every page by itself: it fits a phone, its console is silent, and axe-core
//! finds nothing, in light and in dark.
//!
//! The pages are those that `pages.rs` finds along the links, so a page that is
//! added is looked at from its first day on.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::furnish::furnish;
use crate::page_rules::Rules;
use crate::pages::{SAMPLES, password_link, rules, walk};
use crate::site::Site;
use crate::webdriver::{Browser, Theme};
use crate::world::World;

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn every_page_is_accessible_quiet_and_fits_a_phone() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let browser = Browser::start();
    // The set-up page is there only as long as nobody administers.
    look(&browser, &site.url(&site.setup_link()));
    let (ana, operator) = furnish(&site, &world);
    let rules = rules(&site);
    let nobody = site.anonymous();
    for page in a_few(
        walk(&nobody, "/entrar", &rules, SAMPLES).into_keys(),
        &rules,
    ) {
        look(&browser, &site.url(&page));
    }
    look(&browser, &site.url(&password_link(&site)));
    look(&browser, &site.url("/nao-existe"));
    let consent = ana.get("/painel/ml/conectar");
    look(
        &browser,
        consent.header("location").expect("the consent page"),
    );
    look(&browser, &format!("http://{}/", world.address()));

    browser.go(&site.url("/entrar"));
    browser.fill("email", "ninguem@example.com");
    browser.fill("senha", "não é esta senha");
    browser.press("Entrar");
    browser.see("E-mail ou senha não conferem");
    inspect(&browser);
    let (newcomer, rui) = (site.person("eva"), site.person_as("rui", "drop"));
    for (actor, home) in [
        (&ana, "/painel"),
        (&newcomer, "/painel"),
        (&operator, "/admin"),
        (&rui, "/fornecedor"),
    ] {
        let pages = a_few(walk(actor, home, &rules, SAMPLES).into_keys(), &rules);
        site.sign_in(&browser, actor.person(), home);
        for page in pages {
            look(&browser, &site.url(&page));
        }
        browser.go(&site.url(home));
        browser.press("Sair");
        browser.wait_for_path("/entrar");
    }
}

/// Two addresses of each row: the shortest and the longest.
fn a_few(addresses: impl Iterator<Item = String>, rules: &Rules) -> Vec<String> {
    let mut by_row: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for address in addresses {
        if let Some(row) = rules.row("GET", &address) {
            by_row.entry(row.path.clone()).or_default().push(address);
        }
    }
    let ends = by_row.into_values().flat_map(|mut all| {
        all.sort_by_key(String::len);
        let longest = (all.len() > 1).then(|| all.pop()).flatten();
        all.into_iter().take(1).chain(longest)
    });
    ends.collect()
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn what_opens_over_a_page_is_accessible_too() {
    let site = Site::start();
    let bia = site.administrator();
    let plan = json!({ "titulo": "Plano anual", "preco": 97 });
    bia.post("/admin/planos", &plan).expect(201);
    let browser = Browser::start();
    site.sign_in(&browser, bia.person(), "/admin");
    for theme in [Theme::Light, Theme::Dark] {
        browser.prefer(theme);
        browser.resize(1280, 800);
        browser.go(&site.url("/admin/planos"));
        browser.click("details.menu > summary");
        browser.see("Editar");
        expect_axe_is_content(&browser, &format!("{theme:?}, row menu"));
        browser.press("Excluir");
        browser.see("Excluir o plano Plano anual?");
        expect_axe_is_content(&browser, &format!("{theme:?}, question"));
        browser.resize(360, 740);
        browser.reload();
        browser.press("Menu");
        browser.see("Sair");
        expect_axe_is_content(&browser, &format!("{theme:?}, menu of a phone"));
    }
    browser.expect_no_complaints();
}

/// Opens a page and inspects it.
#[track_caller]
fn look(browser: &Browser, url: &str) {
    browser.go(url);
    inspect(browser);
}

/// Requires of the page in the window what holds for every page.
#[track_caller]
fn inspect(browser: &Browser) {
    for theme in [Theme::Light, Theme::Dark] {
        browser.prefer(theme);
        for (width, height) in [(1280, 800), (360, 740)] {
            browser.resize(width, height);
            expect_no_sideways_scroll(browser, width);
            expect_axe_is_content(browser, &format!("{theme:?}, {width} px"));
        }
    }
    browser.resize(1280, 800);
    browser.prefer(Theme::Light);
    browser.expect_no_complaints();
}

#[track_caller]
fn expect_no_sideways_scroll(browser: &Browser, width: u32) {
    let wide = browser.script(
        "const root = document.documentElement;
         const out = [...document.querySelectorAll('body *')]
           .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
           .map((one) => one.outerHTML.slice(0, 120));
         return { scroll: root.scrollWidth, window: innerWidth, out: out.slice(0, 5) };",
    );
    assert_eq!(wide["window"], width);
    let scroll = wide["scroll"].as_u64().unwrap_or(u64::MAX);
    assert!(
        scroll <= u64::from(width),
        "{} scrolls sideways at {width} px: {wide:#}",
        browser.url()
    );
}

/// Runs axe-core in the page; no rule may be broken.
#[track_caller]
fn expect_axe_is_content(browser: &Browser, how: &str) {
    if browser.script("return typeof window.axe;") == "undefined" {
        browser.script(&axe_source());
    }
    let found = browser.script_async(
        "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map(
           (one) => ({ rule: one.id, impact: one.impact, help: one.help, nodes: one.nodes.map((node) => node.html + ' ' + node.failureSummary) })))",
    );
    let none = Value::Array(Vec::new());
    assert_eq!(found, none, "{} ({how}): {found:#}", browser.url());
}

#[track_caller]
fn axe_source() -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/axe/node_modules/axe-core/axe.min.js");
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "no axe-core at {} ({error}): run tests/run, which installs it",
            path.display()
        )
    });
    // As a script of the driver it is a function's body.
    format!("{source}; window.axe = axe;")
}
