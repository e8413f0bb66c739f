//! Every page of the panels, found as a browser would: from each role's home
//! along the links. Every page is parsed strictly and checked by the rules for
//! all pages, so a new page is checked from its first day.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::furnish::furnish;
use crate::support::html::{Element, Page};
use crate::support::oauth::{self, Program, REDIRECT, number};
use crate::support::page_rules::{NO_PAGES, Rules, hold};
use crate::support::receiver::with_push;
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::world::{LOJA, World};

/// Pages that nothing in a panel links to: the set-up link that the server writes
/// at its start, and those that [`elsewhere`] looks at.
const UNLINKED: &[&str] = &[
    "/admin/estilo",
    "/sem-conexao",
    "/configurar",
    "/sem-conexao",
    "/avisos/sair",
    "/convite/{code}",
    "/convite/pronto",
    AUTHORIZE,
    "/confirmar",
    "/admin/gamificacao/migrar",
];

/// Where people decide about a program.
const AUTHORIZE: &str = "/oauth/authorize";

/// A search that finds nothing.
const NOTHING: &str = "=nada+assim";

/// How many pages of one row are checked, with the same parameters.
pub const SAMPLES: usize = 2;

/// What a role's browser found: each page with its address.
type Found = BTreeMap<String, Reply>;

#[test]
fn every_page_of_a_site_with_data_keeps_the_rules() {
    let world = World::start();
    let site = with_push(&world).start();
    let setup = site.setup_link();
    let setup = (setup.clone(), site.anonymous().get(&setup).expect(200));
    let (ana, operator) = furnish(&site, &world);
    let rui = site.person_as("rui", "drop");
    let people = [(&ana, "/painel"), (&operator, "/admin"), (&rui, "/fornecedor")];
    let mut apart = elsewhere(&site, &world, &ana, &operator);
    apart.push(setup);
    look_at_all(&site, apart, &people);
}

/// The pages to which no page of ours leads, each with its address: from letters,
/// programs, the marketplace, and redirects.
#[track_caller]
fn elsewhere(
    site: &Site,
    world: &World,
    ana: &Actor<'_>,
    operator: &Actor<'_>,
) -> Vec<(String, Reply)> {
    let guest = site.anonymous();
    let see = |actor: &Actor<'_>, target: &str, status: u16| {
        let page = Request::new("GET", target).header("Accept", "text/html");
        (target.to_owned(), actor.send(page).expect(status))
    };
    let client = operator.post("/admin/agencia/clientes", &json!({ "nome": "Casa da Maré" }));
    let invitation = client.expect(201).json()["convite"].as_str().unwrap().to_owned();
    let invitation = invitation[invitation.find("/convite/").unwrap()..].to_owned();
    let invited = see(&guest, &invitation, 200);
    let begun = guest.send(Request::new("POST", &invitation).form(&[])).expect(303);
    let cookie = begun.session_cookie().unwrap().to_owned();
    let query = begun.header("location").unwrap().split_once('?').unwrap().1;
    let refusal = json!({ "ml_user_id": LOJA, "query": query, "refuse": true });
    let back = world.control("/_sandbox/authorize", &refusal)["location"].clone();
    let back = back.as_str().unwrap();
    let back = Request::new("GET", &back[back.find("/painel/").unwrap()..]);
    let over = guest.send(back.header("Cookie", &cookie)).expect(303);
    let program = Program::registered(site, "Assistente", REDIRECT);
    let asked = number(&ana.get(&program.address(&[("scope", "partner:write")])));
    vec![
        invited,
        see(&guest, over.header("location").unwrap(), 200),
        see(ana, &oauth::page(&asked), 200),
        see(&guest, "/avisos/sair?codigo=antigo", 404),
        see(operator, "/confirmar?volta=/admin", 200),
        see(operator, "/admin/gamificacao/migrar", 200),
        see(operator, "/admin/estilo", 200),
        see(&guest, "/sem-conexao", 200),
        see(ana, "/painel/comunicados/1", 200),
    ]
}

#[test]
fn behind_the_end_of_a_list_stands_the_way_back() {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, operator) = furnish(&site, &world);
    let rui = site.person_as("rui", "drop");
    let mut lists = 0;
    for (actor, home) in [(&ana, "/painel"), (&operator, "/admin"), (&rui, "/fornecedor")] {
        for (address, page) in walk(actor, home, &rules(&site), SAMPLES) {
            let (page, html) = (page.text(), Request::new("GET", &format!("{address}?pagina=900")));
            if address.contains('?')
                || !page.contains("class=\"paging\"")
                || address == "/admin/estilo"
            {
                continue;
            }
            let behind = actor.send(html.header("Accept", "text/html")).expect(200).text();
            let said = "<strong>Esta página não existe mais</strong>";
            let way = format!("<a class=\"button\" href=\"{address}");
            assert!(behind.contains(said) && behind.contains(&way), "{address}: {behind}");
            lists += 1;
        }
    }
    assert!(lists > 15, "{lists}");
}

#[test]
fn every_page_of_an_empty_site_keeps_the_rules() {
    let site = Site::builder().unlimited().start();
    let setup = site.anonymous().get(&site.setup_link()).expect(200);
    let mut wrong = Vec::new();
    hold(&setup.text(), "/configurar", &rules(&site), &mut wrong);
    let (caio, operator) = (site.person("caio"), site.administrator());
    let program = Program::registered(&site, "Assistente", REDIRECT);
    for person in [&caio, &operator] {
        let asked = number(&person.get(&program.address(&[("scope", "partner:write")])));
        let asked = Request::new("GET", &oauth::page(&asked)).header("Accept", "text/html");
        hold(&person.send(asked).expect(200).text(), AUTHORIZE, &rules(&site), &mut wrong);
    }
    let rui = site.person_as("rui", "drop");
    let people = [(&caio, "/painel"), (&operator, "/admin"), (&rui, "/fornecedor")];
    look_at_all(&site, Vec::new(), &people);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_goes_wrong_is_told_on_pages_that_keep_the_rules() {
    let site = Site::builder().start();
    let (ana, nobody) = (site.person("ana"), site.anonymous());
    let rules = rules(&site);
    let mut wrong = Vec::new();
    let mut expect = |actor: &Actor<'_>, request: Request, status: u16| {
        let reply = actor.send(request.header("Accept", "text/html")).expect(status);
        let place = format!("{status} to {}", reply.asked);
        hold(&reply.text(), &place, &rules, &mut wrong);
    };
    let get = |target: &str| Request::new("GET", target);
    let login = |password: &str| {
        let fields = [("email", &*ana.person().email), ("senha", password)];
        Request::new("POST", "/entrar").form(&fields)
    };
    expect(&nobody, get("/nao-existe"), 404);
    expect(&nobody, get("/configurar?codigo=antigo"), 404);
    expect(&nobody, Request::new("POST", "/painel"), 405);
    expect(&ana, get("/admin"), 403);
    expect(&ana, get("/painel/avisos?pagina=nenhuma"), 422);
    expect(&ana, Request::new("POST", "/sair").header("Origin", "https://outro.example"), 403);
    expect(&nobody, login(&"longa".repeat(2_000)), 413);
    for _ in 0..10 {
        expect(&nobody, login("não é esta senha"), 401);
    }
    expect(&nobody, login("não é esta senha"), 429);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text that a test fills into a field.
const TYPED: &str = "x & \"y\" <b>";

#[test]
fn a_form_sent_without_what_it_requires_comes_back_with_its_faults() {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, operator) = furnish(&site, &world);
    let rules = rules(&site);
    let mut wrong = Vec::new();
    let mut tried = BTreeSet::new();
    let nobody = site.anonymous();
    for (actor, home) in [(&operator, "/admin"), (&ana, "/painel"), (&nobody, "/entrar")] {
        for (address, reply) in walk(actor, home, &rules, SAMPLES) {
            let page = Page::read(&reply.text()).unwrap();
            for form in page.all(&["form"]).filter(|form| form.get("method") == Some("post")) {
                let action = form.get("action").unwrap_or_default();
                let fields = Fields::of(&page, form);
                let row = rules.row("POST", action).map(|row| row.path.clone());
                let sample = action == "/admin/estilo";
                if fields.requires && !sample && tried.insert((row, fields.names())) {
                    let reply = actor.send(fields.request(action));
                    let place = format!("{address}, form to {action}");
                    expect_faults(&reply, &place, &fields, &rules, &mut wrong);
                }
            }
        }
    }
    assert!(tried.len() > 2, "the forms were not found: {tried:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The fields of a form: required ones stay empty, the others are filled.
struct Fields {
    values: Vec<(String, String)>,
    multipart: bool,
    requires: bool,
}

impl Fields {
    fn of(page: &Page, form: &Element) -> Self {
        let inside = |one: &&Element| page.path(one).any(|around| std::ptr::eq(around, form));
        let fields = page.all(&["input", "textarea"]).filter(inside);
        let fields: Vec<&Element> = fields.filter(|one| !one.has("disabled")).collect();
        let kind = |one: &Element| one.get("type").unwrap_or("text").to_owned();
        let value = |one: &&Element| {
            let name = one.get("name")?.to_owned();
            let value = match &*kind(one) {
                "hidden" => one.get("value").unwrap_or_default(),
                "text" | "search" if !one.has("required") => TYPED,
                "checkbox" | "radio" | "file" => return None,
                _ => "",
            };
            Some((name, value.to_owned()))
        };
        Self {
            values: fields.iter().filter_map(value).collect(),
            multipart: form.get("enctype") == Some("multipart/form-data"),
            requires: fields.iter().any(|one| one.has("required") && kind(one) != "file"),
        }
    }

    fn names(&self) -> Vec<String> {
        self.values.iter().map(|(name, _)| name.clone()).collect()
    }

    fn request(&self, action: &str) -> Request {
        let request = Request::new("POST", action).header("Accept", "text/html");
        if !self.multipart {
            let pairs: Vec<(&str, &str)> =
                self.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            return request.form(&pairs);
        }
        let parts = self.values.iter().map(|(name, value)| {
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        });
        let body = parts.collect::<String>() + "--b--\r\n";
        request.body("multipart/form-data; boundary=b", body.as_bytes())
    }
}

/// Requires the form again: with a message next to a field, and the typed
/// values kept.
fn expect_faults(
    reply: &Reply,
    place: &str,
    fields: &Fields,
    rules: &Rules,
    wrong: &mut Vec<String>,
) {
    if reply.status != 422 {
        wrong.push(format!("{place}: {} instead of 422", reply.status));
        return;
    }
    hold(&reply.text(), place, rules, wrong);
    let Ok(page) = Page::read(&reply.text()) else {
        return;
    };
    let marked = page.0.iter().filter(|one| one.get("aria-invalid") == Some("true"));
    let first = marked.clone().next();
    if !first.is_some_and(|first| first.has("autofocus")) {
        let count = marked.count();
        wrong.push(format!("{place}: {count} fields are marked, the cursor is not in the first"));
    }
    for (name, value) in fields.values.iter().filter(|(_, value)| value == TYPED) {
        let mut again =
            page.all(&["input", "textarea"]).filter(|one| one.get("name") == Some(name));
        if !again.any(|one| one.get("value") == Some(value) || one.text.trim() == value) {
            wrong.push(format!("{place}: {name} was not kept"));
        }
    }
}

/// Follows the links from each home, and checks the rules on every page. With the
/// pages that stand apart, no page of the table may be left out: one without data
/// or without a way there is named.
#[track_caller]
fn look_at_all(site: &Site, apart: Vec<(String, Reply)>, people: &[(&Actor<'_>, &str)]) {
    let rules = rules(site);
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    let nobody = site.anonymous();
    let link = password_link(site);
    let strangers = [(&nobody, "/entrar"), (&nobody, &*link)];
    for (actor, home) in people.iter().copied().chain(strangers) {
        for (address, reply) in walk(actor, home, &rules, SAMPLES) {
            hold(&reply.text(), &address, &rules, &mut wrong);
            if address.ends_with(NOTHING) && !reply.text().contains("Nada encontrado") {
                wrong.push(format!("{address} does not say that nothing was found"));
            }
            seen.extend(rules.row("GET", &address).map(|row| row.path.clone()));
        }
    }
    let furnished = !apart.is_empty();
    for (address, reply) in apart {
        hold(&reply.text(), &address, &rules, &mut wrong);
        seen.extend(rules.row("GET", &address).map(|row| row.path.clone()));
    }
    for row in rules.pages() {
        // Pages of a record need a record.
        let may_lack = UNLINKED.contains(&&*row.path) || row.path.contains('{');
        if !seen.contains(&row.path) && (furnished || !may_lack) {
            wrong.push(format!("no link leads to {}", row.path));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A fresh link to choose a password, as a message brings it.
#[track_caller]
pub fn password_link(site: &Site) -> String {
    let person = site.make_person("caio", "vip");
    let arguments = ["user", "password-link", "--email", &person.email];
    let printed = site.command(&arguments).ok();
    let start = printed.find("/senha?codigo=").expect("a link");
    printed[start..].trim().to_owned()
}

/// Follows our own links, a few of each kind, and searches each list. A kind is
/// a row of the table with certain parameters.
#[track_caller]
pub fn walk(actor: &Actor<'_>, home: &str, rules: &Rules, samples: usize) -> Found {
    walk_lists(actor, home, rules, samples, samples).0
}

/// As [`walk`], with fewer pages of records than of lists; beside what was found are the
/// addresses of the records that were left out.
#[track_caller]
pub fn walk_lists(
    actor: &Actor<'_>,
    home: &str,
    rules: &Rules,
    samples: usize,
    records: usize,
) -> (Found, BTreeSet<String>) {
    let (mut found, mut left_out) = (Found::new(), BTreeSet::new());
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut ahead = VecDeque::from([home.to_owned()]);
    while let Some(address) = ahead.pop_front() {
        let Some(row) = rules.row("GET", &address) else {
            continue;
        };
        if row.changes_state || NO_PAGES.contains(&&*row.path) || found.contains_key(&address) {
            continue;
        }
        let kind = format!("{}?{}", row.path, parameters(&address));
        let count = kinds.entry(kind).or_default();
        // With another order or a filter, a list shows nothing new.
        let whole = matches!(&*parameters(&address), "" | "pagina");
        let enough = match (whole, row.path.contains('{')) {
            (true, true) => records,
            (true, false) => samples,
            (false, _) => SAMPLES,
        };
        if *count >= enough {
            if whole && row.path.contains('{') {
                left_out.insert(address);
            }
            continue;
        }
        *count += 1;
        let reply = actor.send(Request::new("GET", &address).header("Accept", "text/html"));
        assert_eq!(reply.status, 200, "{actor} is led to {address}\n{reply}");
        let is_page =
            reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if !is_page {
            continue;
        }
        let page =
            Page::read(&reply.text()).unwrap_or_else(|wrong| panic!("{address}: {wrong}\n{reply}"));
        let links = page.all(&["a"]).filter_map(|link| link.get("href"));
        let own = links.filter(|href| href.starts_with('/'));
        let searches = page.all(&["form"]).filter(|form| form.get("role") == Some("search"));
        let within = |form: &Element, one: &&Element| {
            one.get("type") == Some("search")
                && page.path(one).any(|around| std::ptr::eq(around, form))
        };
        let inputs: Vec<&Element> = page.all(&["input"]).collect();
        let empty = searches.filter_map(|form| {
            let field = inputs.iter().find(|one| within(form, one))?.get("name")?;
            Some(format!("{}?{field}{NOTHING}", form.get("action")?))
        });
        ahead.extend(empty);
        ahead.extend(own.map(|href| href.split('#').next().unwrap_or_default().to_owned()));
        found.insert(address, reply);
    }
    // Of a row that gave no page nothing was left out.
    let pages: BTreeSet<_> =
        found.keys().filter_map(|address| rules.row("GET", address)).map(|row| &row.path).collect();
    left_out.retain(|one| rules.row("GET", one).is_some_and(|row| pages.contains(&row.path)));
    (found, left_out)
}

/// Names of the parameters of an address.
fn parameters(address: &str) -> String {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("&")
}
