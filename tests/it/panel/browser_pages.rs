//! Every page by itself: it fits a phone, its console is silent, and axe-core
//! finds nothing, in light and in dark.
//!
//! The pages are those that `pages.rs` finds by following links, so a new page
//! is tested from its first day on.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::panel::pages::{SAMPLES, password_link, walk};
use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::furnish::furnish;
use crate::support::page_rules::Rules;
use crate::support::receiver::with_push;
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::webdriver::{Browser, Theme};
use crate::support::world::World;

/// So that in the dark only the rules about colours have to be tried again.
#[test]
fn a_theme_changes_nothing_but_colours() {
    let sheets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/css");
    for sheet in std::fs::read_dir(sheets).unwrap() {
        let path = sheet.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        // `light-dark()` takes colours alone; a person's own choice only says which.
        let asks = |line: &&str| {
            let chooses = line.contains("data-theme=") && line.contains("{ color-scheme: ");
            line.contains("prefers-color-scheme") || line.contains("data-theme") && !chooses
        };
        let line = text.lines().find(asks);
        assert_eq!(line, None, "{} asks for the theme", path.display());
    }
}

// One test for each kind of person, because together they are most of the time
// that the browser needs.

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn pages_of_nobody_are_accessible_quiet_and_fit_a_phone() {
    let world = World::start();
    let site = with_push(&world).start();
    let browser = Browser::start();
    let mut faults = Faults::default();
    // The set-up page exists only while there is no administrator.
    faults.look(&browser, &site.url(&site.setup_link()));
    let (ana, _) = furnish(&site, &world);
    let rules = rules(&site);
    let nobody = site.anonymous();
    for page in a_few(walk(&nobody, "/entrar", &rules, SAMPLES).into_keys(), &rules) {
        faults.look(&browser, &site.url(&page));
    }
    faults.look(&browser, &site.url(&password_link(&site)));
    faults.look(&browser, &site.url("/nao-existe"));
    let consent = ana.get("/painel/ml/conectar");
    faults.look(&browser, consent.header("location").expect("the consent page"));
    faults.look(&browser, &format!("http://{}/", world.address()));

    browser.go(&site.url("/entrar"));
    browser.fill("email", "ninguem@example.com");
    browser.fill("senha", "não é esta senha");
    browser.press("Entrar");
    browser.see("E-mail ou senha não conferem");
    faults.inspect(&browser);
    faults.expect_none();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn pages_of_a_student_are_accessible_quiet_and_fit_a_phone() {
    look_at_all("/painel", |_, ana, _| ana);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn pages_of_a_newcomer_are_accessible_quiet_and_fit_a_phone() {
    look_at_all("/painel", |site, _, _| site.person("eva"));
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn pages_of_an_operator_are_accessible_quiet_and_fit_a_phone() {
    look_at_all("/admin", |_, _, operator| operator);
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn pages_of_a_supplier_are_accessible_quiet_and_fit_a_phone() {
    look_at_all("/fornecedor", |site, _, _| site.person_as("rui", "drop"));
}

/// Looks at all pages that a person finds from `home`, on a site with
/// something of everything; `who` chooses the person.
fn look_at_all(home: &str, who: impl for<'s> FnOnce(&'s Site, Actor<'s>, Actor<'s>) -> Actor<'s>) {
    let world = World::start();
    let site = with_push(&world).start();
    let browser = Browser::start();
    let mut faults = Faults::default();
    let (ana, operator) = furnish(&site, &world);
    let rules = rules(&site);
    let actor = who(&site, ana, operator);
    let pages = a_few(walk(&actor, home, &rules, SAMPLES).into_keys(), &rules);
    site.sign_in(&browser, actor.person(), home);
    for page in pages {
        faults.look(&browser, &site.url(&page));
    }
    browser.go(&site.url(home));
    browser.press("Sair");
    browser.wait_for_path("/entrar");
    faults.expect_none();
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
    let mut faults = Faults::default();
    for theme in [Theme::Light, Theme::Dark] {
        browser.prefer(theme);
        browser.resize(1280, 800);
        browser.go(&site.url("/admin/planos"));
        browser.click("td details.menu > summary");
        browser.see("Editar");
        faults.note_axe(&browser, theme, &format!("{theme:?}, row menu"));
        browser.press("Excluir");
        browser.see("Excluir o plano Plano anual?");
        faults.note_axe(&browser, theme, &format!("{theme:?}, question"));
        browser.resize(360, 740);
        browser.reload();
        browser.press("Menu");
        browser.see("Sair");
        faults.note_axe(&browser, theme, &format!("{theme:?}, menu of a phone"));
    }
    faults.expect_none();
    browser.expect_no_complaints();
}

/// Pages with longer values and more tabs than the pages that `pages.rs` finds.
#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn long_values_and_many_tabs_fit_a_phone() {
    let site = Site::start();
    let operator = site.administrator();
    let teacher = operator.post("/admin/professores", &json!({ "nome": "Rita Prado" }));
    let teacher = teacher.expect(201).json()["id"].as_str().unwrap().to_owned();
    let change = json!({ "bio": "Ensina vendas pela internet. ".repeat(20), "site": "https://example.com/rita" });
    operator.post(&format!("/admin/professores/{teacher}"), &change).ok();
    let newest = Request::new("GET", "/admin/auditoria").header("Accept", "application/json");
    let entry = operator.send(newest).ok()["dados"][0]["id"].as_str().unwrap().to_owned();
    operator
        .post("/admin/alunos", &json!({ "nome": "Ana", "email": "ana@example.com" }))
        .expect(201);
    let list = "nome,email,plano\nEva,eva@example.com,pro\nAna,ana@example.com,pro\nX,x,x\n";
    let import = operator.post("/admin/alunos/importar", &json!({ "csv": list })).expect(201);
    let import = import.json()["id"].as_str().unwrap().to_owned();
    let browser = Browser::start();
    site.sign_in(&browser, operator.person(), "/admin");
    browser.resize(390, 844);
    let mut faults = Faults::default();
    for (page, seen) in [
        (format!("/admin/auditoria/{entry}"), "Ensina vendas"),
        (format!("/admin/alunos/importar/{import}"), "Já existem"),
    ] {
        browser.go(&site.url(&page));
        browser.see(seen);
        faults.note_sideways_scroll(&browser, 390);
        faults.note_broken_words(&browser);
    }
    faults.expect_none();
}

/// The queues of questions, with cards to answer, and what opens over them.
#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn questions_are_answered_on_accessible_pages() {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, operator) = furnish(&site, &world);
    let browser = Browser::start();
    let mut faults = Faults::default();
    let queue = "/admin/agencia/central-perguntas";
    for (actor, home, pages) in [
        (
            &operator,
            "/admin",
            [queue, "/admin/agencia/respostas", &*format!("{queue}?status=todas")],
        ),
        (
            &ana,
            "/painel",
            ["/painel/perguntas", "/painel/respostas", "/painel/perguntas?estado=todas"],
        ),
    ] {
        site.sign_in(&browser, actor.person(), home);
        for page in pages {
            faults.look(&browser, &site.url(page));
        }
        browser.go(&site.url(pages[0]));
        browser.see("Serve no suporte de bicicleta?");
        for theme in [Theme::Light, Theme::Dark] {
            browser.prefer(theme);
            browser.click("[popovertarget='teclas']");
            browser.see("envia e vai para a próxima");
            faults.note_axe(&browser, theme, &format!("{theme:?}, keys"));
            browser.press("Fechar");
        }
        browser.go(&site.url(pages[1]));
        browser.click(".replies summary");
        faults.note_axe(&browser, Theme::Light, "an open reply");
        browser.go(&site.url(home));
        browser.press("Sair");
        browser.wait_for_path("/entrar");
    }
    faults.expect_none();
}

/// Everything that is wrong with pages: one run names every faulty page.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    /// Opens a page and inspects it.
    fn look(&mut self, browser: &Browser, url: &str) {
        browser.go(url);
        self.inspect(browser);
    }

    /// Notes which of the rules for every page the page in the window breaks.
    fn inspect(&mut self, browser: &Browser) {
        for (width, height) in [(1280, 800), (360, 740)] {
            browser.resize(width, height);
            self.note_covered(browser, width);
            for theme in [Theme::Light, Theme::Dark] {
                browser.prefer(theme);
                self.note_sideways_scroll(browser, width);
                self.note_axe(browser, theme, &format!("{theme:?}, {width} px"));
            }
        }
        browser.prefer(Theme::Light);
        browser.resize(390, 844);
        self.note_broken_words(browser);
        browser.resize(1280, 800);
        let complaints = browser.complaints();
        if !complaints.is_empty() {
            self.note(browser, "console", &format!("{complaints:#?}"));
        }
    }

    fn note_sideways_scroll(&mut self, browser: &Browser, width: u32) {
        let wide = browser.script(
            "const root = document.documentElement;
             const out = [...document.querySelectorAll('body *')]
               .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
               .map((one) => one.outerHTML.slice(0, 120));
             return { scroll: root.scrollWidth, window: innerWidth, out: out.slice(0, 5) };",
        );
        assert_eq!(wide["window"], width);
        let scroll = wide["scroll"].as_u64().unwrap_or(u64::MAX);
        if scroll > u64::from(width) {
            self.note(browser, &format!("{width} px, sideways"), &format!("{wide:#}"));
        }
    }

    /// Whoever presses the middle of something presses it, and not what lies over it.
    fn note_covered(&mut self, browser: &Browser, width: u32) {
        let covered = browser.script(
            "const found = [];
             for (const one of document.querySelectorAll('main :is(a, button, input, select, textarea, summary)')) {
               if (!one.checkVisibility({ visibilityProperty: true }) || one.disabled || one.closest('.sr-only')) continue;
               if (innerWidth < 700 && one.closest('thead')) continue;
               one.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
               const box = one.getClientRects()[0];
               if (!box || box.width < 2) continue;
               const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
               if (top && !one.contains(top) && !top.contains(one) && top.control !== one)
                 found.push(`${one.outerHTML.slice(0, 120)} lies under ${top.outerHTML.slice(0, 80)}`);
             }
             scrollTo({ top: 0, behavior: 'instant' });
             return found.slice(0, 5);",
        );
        if covered != Value::Array(Vec::new()) {
            self.note(browser, &format!("{width} px, covered"), &format!("{covered:#}"));
        }
    }

    /// On a usual phone words are not broken, and nothing is half outside of a
    /// strip that does not scroll by itself.
    fn note_broken_words(&mut self, browser: &Browser) {
        let broken = browser.script(
            "const found = [];
             const shown = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.sr-only');
             const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
             for (let text; (text = texts.nextNode()); ) {
               if (!shown(text.parentElement)) continue;
               for (const word of text.data.matchAll(/\\S+/g)) {
                 if (!/^\\p{L}{2,16}[.,:;!?]?$/u.test(word[0])) continue;
                 const range = document.createRange();
                 range.setStart(text, word.index);
                 range.setEnd(text, word.index + word[0].length);
                 const lines = [...range.getClientRects()].filter((one) => one.width > 0);
                 if (new Set(lines.map((one) => Math.round(one.top))).size > 1)
                   found.push(`${word[0]}: ${text.parentElement.outerHTML.slice(0, 160)}`);
               }
             }
             for (const tab of document.querySelectorAll('.keep > .tabs a'))
               if (tab.getBoundingClientRect().right > tab.parentElement.getBoundingClientRect().right + 1)
                 found.push(`cut off: ${tab.outerHTML.slice(0, 160)}`);
             return found.slice(0, 5);",
        );
        if broken != Value::Array(Vec::new()) {
            self.note(browser, "390 px, words", &format!("{broken:#}"));
        }
    }

    /// Runs axe-core in the page; no rule may be broken. In the dark only colours can
    /// break one that holds in the light.
    fn note_axe(&mut self, browser: &Browser, theme: Theme, how: &str) {
        if browser.script("return typeof window.axe;") == "undefined" {
            browser.script(&axe_source());
        }
        let only = match theme {
            Theme::Light => "",
            Theme::Dark => ", runOnly: ['color-contrast', 'link-in-text-block']",
        };
        let found = browser.script_async(&format!(
            "axe.run(document, {{ resultTypes: ['violations']{only} }}).then((result) => result.violations.map(
               (one) => ({{ rule: one.id, impact: one.impact, help: one.help, nodes: one.nodes.map((node) => node.html + ' ' + node.failureSummary) }})))"
        ));
        if found != Value::Array(Vec::new()) {
            self.note(browser, how, &format!("{found:#}"));
        }
    }

    fn note(&mut self, browser: &Browser, how: &str, what: &str) {
        self.0.push(format!("{} ({how}): {what}", browser.url()));
    }

    #[track_caller]
    fn expect_none(&self) {
        let count = self.0.len();
        assert!(count == 0, "{count} faults:\n{}", self.0.join("\n"));
    }
}

#[track_caller]
fn axe_source() -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/axe/node_modules/axe-core/axe.min.js");
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("no axe-core at {} ({error}): run tests/run, which installs it", path.display())
    });
    // The driver runs a script as the body of a function.
    format!("{source}; window.axe = axe;")
}
