//! Every page by itself: it fits a phone, its console is silent, and axe-core
//! finds nothing, in light and in dark.
//!
//! The pages come from the route table, so a page that is added is looked at
//! from its first day on.

use std::path::Path;

use serde_json::{Value, json};

use crate::site::{Person, Site};
use crate::webdriver::{Browser, Theme};
use crate::world::World;

const LOJA: u64 = 900_000_001;

/// Addresses of browsers that answer with no page of their own.
const NO_PAGES: [&str; 5] = [
    "/",
    "/assets/{*rest}",
    "/favicon.ico",
    "/painel/ml/conectar",
    "/painel/ml/retorno",
];

/// Whoever looks at pages, and what they have.
struct Cast {
    nobody: Vec<String>,
    student: (Person, Vec<String>),
    newcomer: (Person, Vec<String>),
    supplier: (Person, Vec<String>),
    operator: (Person, Vec<String>),
    sandbox: Vec<String>,
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn every_page_is_accessible_quiet_and_fits_a_phone() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let browser = Browser::start();
    // The set-up page is there only as long as nobody administers.
    look(&browser, &site.url(&site.setup_link()));
    let cast = furnish(&site, &world);
    every_route_is_looked_at(&site, &cast);

    for page in &cast.sandbox {
        look(&browser, &format!("http://{}{page}", world.address()));
    }
    for page in &cast.nobody {
        look(&browser, &site.url(page));
    }
    browser.go(&site.url("/entrar"));
    browser.fill("email", "ninguem@example.com");
    browser.fill("senha", "não é esta senha");
    browser.press("Entrar");
    browser.see("E-mail ou senha não conferem");
    inspect(&browser);
    let people = [cast.student, cast.newcomer, cast.supplier, cast.operator];
    for (person, pages) in &people {
        site.sign_in(&browser, person, pages[0].as_str());
        for page in pages {
            look(&browser, &site.url(page));
        }
        browser.go(&site.url(&pages[0]));
        browser.press("Sair");
        browser.wait_for_path("/entrar");
    }
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

/// People, plans, accounts and sales, with names as long as they get.
fn furnish(site: &Site, world: &World) -> Cast {
    let nickname = "LOJA-DE-NOME-COMPRIDO-SEM-ESPACO-PARA-QUEBRAR-A-LINHA-123456";
    let title = "Garrafa térmica de aço inoxidável de 1 litro com alça e copo";
    for number in 0..3 {
        let nickname = if number == 0 { nickname } else { "LOJA DA ANA" };
        world.seller(LOJA + number, nickname);
        world.item(LOJA + number, title, 12_345.67);
    }
    let ana = site.person("ana");
    for number in 0..3 {
        world.link(&ana, LOJA + number);
        world.sale(LOJA + number);
    }
    world.end_tokens(LOJA + 1, "revoke");
    let told = json!({ "ml_user_id": LOJA + 1, "topic": "items", "resource": "/items/MLB1" });
    world.control("/_sandbox/notifications", &told);
    world.deliveries();
    let bia = site.administrator();
    for number in 1..=25 {
        let plan = json!({
            "titulo": format!("{title} {number}"), "slug": format!("plano-{number}"),
            "preco": 9_999_999.99, "ativo": number % 2 == 0,
        });
        bia.post("/admin/planos", &plan).expect(201);
    }
    let consent = ana.get("/painel/ml/conectar");
    let consent = consent.header("location").unwrap_or_default();
    let consent = &consent[consent.find("/authorization").expect("the consent page")..];
    let own = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    let student = [
        "/painel",
        "/painel/ml",
        "/painel/ml?aviso=vinculada",
        "/painel/avisos",
        "/admin",
    ];
    Cast {
        nobody: own(&[
            "/entrar",
            "/entrar/esqueci",
            "/senha?codigo=antigo",
            "/configurar?codigo=antigo",
            "/nao-existe",
        ]),
        student: (ana.person().clone(), own(&student)),
        newcomer: (site.make_person("caio", "vip"), own(&student[..4])),
        supplier: (site.make_person("rui", "drop"), own(&["/fornecedor"])),
        operator: (
            bia.person().clone(),
            own(&[
                "/admin",
                "/admin/planos",
                "/admin/planos?q=nada+assim",
                "/admin/planos?pagina=2&aviso=criado",
                "/admin/planos/novo",
                "/admin/planos/1",
                "/admin/estilo?aviso=pronto",
            ]),
        ),
        sandbox: own(&["/", consent, "/authorization"]),
    }
}

/// Requires that each page of the route table is among those looked at.
#[track_caller]
fn every_route_is_looked_at(site: &Site, cast: &Cast) {
    let people = [
        &cast.student.1,
        &cast.newcomer.1,
        &cast.supplier.1,
        &cast.operator.1,
        &cast.nobody,
    ];
    let seen: Vec<&str> = people
        .into_iter()
        .flatten()
        .map(|page| page.split('?').next().unwrap_or_default())
        .collect();
    for route in site.routes() {
        let is_page = route.method == "GET" && route.family == "page";
        if !is_page || NO_PAGES.contains(&route.path.as_str()) {
            continue;
        }
        let matches = |page: &&str| fits(&route.path, page);
        assert!(
            seen.iter().any(matches),
            "nobody looks at {}: name it in `furnish`",
            route.path
        );
    }
}

/// Whether a path is one of a route.
fn fits(route: &str, path: &str) -> bool {
    let (route, path) = (route.split('/'), path.split('/'));
    route.clone().count() == path.clone().count()
        && route
            .zip(path)
            .all(|(wanted, part)| wanted.starts_with('{') || wanted == part)
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
