//! Text of strangers in a real browser, with the content policy on: it is shown
//! as it was typed, runs nothing, requests nothing and leads nowhere.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::panel::pages::{SAMPLES, walk_lists};
use crate::panel::stored_text::{rename, store};
use crate::support::actors::Actor;
use crate::support::page_rules::Rules;
use crate::support::payloads;
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::webdriver::Browser;
use crate::support::world::World;

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn text_of_strangers_runs_nothing_in_a_browser() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let (ana, operator) = store(&site, &world);
    let rules = rules(&site);
    let browser = Browser::start();
    browser.go(&format!("http://{}/", world.address()));
    expect_inert(&browser);
    drop(browser);
    let seen: BTreeSet<String> = std::thread::scope(|scope| {
        let (site, rules) = (&site, &rules);
        let readers = [(&operator, "/admin"), (&ana, "/painel")];
        let readers =
            readers.map(|(actor, home)| scope.spawn(move || read_all(site, actor, home, rules)));
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    let all: BTreeSet<String> = payloads::all().into_iter().collect();
    let unseen: Vec<_> = all.difference(&seen).collect();
    assert!(unseen.is_empty(), "not shown as they were typed: {unseen:?}");
}

/// Opens the pages of an actor in a browser of their own; the payloads that they show.
fn read_all(site: &Site, actor: &Actor<'_>, home: &str, rules: &Rules) -> BTreeSet<String> {
    let browser = Browser::start();
    let pages = pages(actor, home, rules);
    site.sign_in(&browser, actor.person(), home);
    let mut seen = BTreeSet::new();
    for page in pages {
        browser.go(&site.url(&page));
        browser.wait_for_path(&page);
        seen.extend(expect_inert(&browser));
    }
    seen
}

/// After how many names of a person the browser opens the page.
const STEP: usize = 4;

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_name_runs_nothing_in_a_browser() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let browser = Browser::start();
    site.sign_in(&browser, ana.person(), "/painel");
    for text in payloads::all().into_iter().step_by(STEP) {
        rename(&ana, &text);
        browser.go(&site.url("/perfil"));
        browser.wait_for_path("/perfil");
        assert!(expect_inert(&browser).contains(&text), "{text} is not shown");
    }
}

/// Every list from its start to its end, and as many record pages as there are
/// payloads, so that each payload is on some of them.
fn pages(actor: &Actor<'_>, home: &str, rules: &Rules) -> Vec<String> {
    let count = payloads::all().len();
    let mut lists = Vec::new();
    let mut records: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (found, left_out) = walk_lists(actor, home, rules, count + 5, SAMPLES);
    for address in found.into_keys().chain(left_out) {
        let Some(row) = rules.row("GET", &address) else {
            continue;
        };
        if row.path.contains('{') {
            records.entry(&row.path).or_default().push(address);
        } else if !address.contains("ordem=") {
            lists.push(address);
        }
    }
    let rows = records.len();
    let some = records.into_values().enumerate().flat_map(|(turn, mut all)| {
        all.sort_by_key(|address| (address.len(), address.clone()));
        let first = turn % all.len();
        all.into_iter().skip(first).step_by(rows)
    });
    lists.into_iter().chain(some).collect()
}

/// Requires that the page ran nothing, and returns the payloads that it shows.
#[track_caller]
fn expect_inert(browser: &Browser) -> Vec<String> {
    let found = browser.script(&format!(
        "const payloads = {};
         const foreign = 'script:not([src^=\"/assets/\"]), base, iframe, object, embed, style, img:not([src^=\"/\"]), video, math, marquee, template, noscript, [href^=\"javascript:\" i], [action^=\"javascript:\" i], [formaction]:not([formaction^=\"/\"]), [http-equiv]';
         const handlers = (one) => [...one.attributes].some(({{ name }}) => name.startsWith('on') || name === 'style');
         const all = [...document.querySelectorAll('*')];
         const fields = [...document.querySelectorAll('input, textarea')].map((one) => one.value);
         const said = [document.body.textContent, ...fields].join('\\n');
         return {{
           ran: window.ran ?? null,
           foreign: [...document.querySelectorAll(foreign), ...all.filter(handlers)].map((one) => one.outerHTML.slice(0, 200)),
           shown: payloads.filter((one) => said.includes(one)),
         }};",
        json!(payloads::all())
    ));
    let page = browser.url();
    assert_eq!(found["ran"], Value::Null, "at {page}");
    assert_eq!(found["foreign"], json!([]), "at {page}");
    browser.expect_no_complaints();
    let shown = found["shown"].as_array().cloned().unwrap_or_default();
    let text = |one: &Value| one.as_str().map(str::to_owned);
    shown.iter().filter_map(text).collect()
}
