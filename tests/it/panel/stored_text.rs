//! Text of strangers stays text: the payloads of `payloads.rs` are sent through
//! every field that stores text, and every page that shows them is parsed
//! strictly. `browser_text.rs` opens the same pages in a real browser.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::panel::pages::walk;
use crate::support::actors::Actor;
use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::content::shown;
use crate::support::html::{Element, Page};
use crate::support::page_rules::policy;
use crate::support::payloads;
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

const LOJA: u64 = 900_000_001;

/// Fields of a resource that store text or an address, and the record with a
/// number, a text and an address in each.
struct Feed {
    path: &'static str,
    fields: &'static [&'static str],
    record: fn(usize, &str, &str) -> Value,
}

const FEEDS: &[Feed] = &[
    Feed {
        path: "/admin/agencia/clientes",
        fields: &["nome", "etiquetas", "anotacoes"],
        record: |_, text, _| {
            let tag: String = text.chars().filter(|c| *c != ',').take(30).collect();
            json!({ "nome": text, "etiquetas": [tag], "anotacoes": text })
        },
    },
    Feed {
        path: "/admin/comunicados",
        fields: &["titulo", "texto"],
        record: |_, text, _| json!({ "titulo": text, "texto": text, "planos": ["pro"] }),
    },
    Feed {
        path: "/admin/planos",
        fields: &["titulo", "beneficios", "link_checkout"],
        record: |number, text, url| {
            json!({
                "titulo": text, "slug": format!("plano-{number}"), "preco": 10,
                "beneficios": [text, text], "link_checkout": url,
            })
        },
    },
    Feed {
        path: "/admin/chaves",
        fields: &["nome"],
        record: |_, text, _| json!({ "nome": text, "escopos": ["write"] }),
    },
    Feed {
        path: "/admin/professores",
        fields: &["nome", "bio", "instagram", "youtube", "linkedin", "site"],
        record: |_, text, url| {
            let links = json!({ "instagram": url, "youtube": url, "linkedin": url, "site": url });
            json!({ "nome": text, "bio": text, "redes": links })
        },
    },
    Feed {
        path: "/admin/cursos",
        fields: &["titulo", "descricao"],
        record: |_, text, _| json!({ "titulo": text, "descricao": text, "publicado": true }),
    },
    Feed {
        path: "/admin/aulas",
        fields: &["titulo", "video_url"],
        record: |number, text, url| {
            let course = (number % COURSES + 1).to_string();
            json!({ "titulo": text, "curso_id": course, "professor_id": course, "video_url": url })
        },
    },
    Feed {
        path: "/admin/meets",
        fields: &["titulo", "descricao", "link"],
        record: |number, text, url| {
            json!({
                "titulo": text, "descricao": text, "link": url, "publico": true,
                "professor_id": (number % COURSES + 1).to_string(),
                "data_hora": "2026-11-21 20:00:00",
            })
        },
    },
    Feed {
        path: "/admin/alunos",
        fields: &["nome", "motivo"],
        record: |number, text, _| json!({ "nome": text, "email": format!("a{number}@x.com"), "plano": "pro" }),
    },
    Feed {
        path: PRODUCTS,
        fields: &["titulo", "sku", "motivo"],
        record: |_, text, _| {
            let sku: String = text.chars().take(80).collect();
            json!({ "titulo": text, "sku": sku, "preco": 10 })
        },
    },
    Feed {
        path: REPLIES,
        fields: &["titulo", "texto"],
        record: |_, text, _| json!({ "titulo": text.chars().take(60).collect::<String>(), "texto": text }),
    },
    Feed {
        path: "/admin/agencia/respostas",
        fields: &["titulo", "texto"],
        record: |_, text, _| json!({ "titulo": text.chars().take(60).collect::<String>(), "texto": text }),
    },
    Feed {
        path: "/admin/equipe",
        fields: &["nome", "motivo"],
        record: |number, text, _| json!({ "nome": text, "email": format!("e{number}@x.com"), "papel": "drop" }),
    },
];

/// The paths of a student's own products and saved replies.
const PRODUCTS: &str = "/painel/produtos";
const REPLIES: &str = "/painel/respostas";

/// Fields that store an address of another site.
const ADDRESSES: [&str; 4] = ["link_checkout", "site", "video_url", "link"];

/// Number of courses for the lessons.
const COURSES: usize = 10;
/// A harmless address, and the start of those with a payload.
const HARMLESS: &str = "https://exemplo.com/";

/// Text fields that accept only a narrow form, and which form.
const NARROW: [(&str, &str); 5] = [
    ("codigos", "letters, digits, hyphens and dots, one in a line"),
    ("ips", "addresses"),
    ("slug", "letters, digits and hyphens"),
    ("moeda", "three letters"),
    ("xp", "a whole number with its sign"),
];

/// Fields with tests of their own, because each person or kind of message has
/// only one.
const OWN: [(&str, &str); 8] = [
    ("/visoes", "nome"),
    ("/admin/alunos/em-lote", "titulo"),
    ("/admin/alunos/em-lote", "texto"),
    ("/perfil", "nome"),
    (TEXTS, "assunto"),
    (TEXTS, "texto"),
    (TOKENS, "nome"),
    ("/painel/parceiro/webhooks", "url"),
];
/// Fields of the program, which [`play`] fills.
const PLAYED: [(&str, &[&str]); 3] = [
    ("/admin/gamificacao/desafio/salvar", &["titulo", "descricao", "recompensa"]),
    ("/admin/gamificacao/editar-milestone", &["titulo", "badge", "recompensa"]),
    ("/admin/gamificacao/alunos/", &["motivo"]),
];
const TOKENS: &str = "/painel/parceiro/tokens";
const TEXTS: &str = "/admin/mensagens/textos/";

/// Sends every payload through every field of a record. Returns the student,
/// who has the accounts and their sales, and the operator.
#[track_caller]
pub fn store<'s>(site: &'s Site, world: &World) -> (Actor<'s>, Actor<'s>) {
    let (ana, operator) = (site.person("ana"), site.administrator());
    for feed in FEEDS {
        for (number, text) in payloads::all().iter().enumerate() {
            let own = [PRODUCTS, REPLIES].contains(&feed.path);
            let actor = if own { &ana } else { &operator };
            let made = actor.post(feed.path, &(feed.record)(number, text, HARMLESS));
            let made = made.expect(201).json();
            let one = format!("{}/{}", feed.path, made["id"].as_str().unwrap());
            if feed.path == PRODUCTS {
                let moved = json!({ "tipo": "entrada", "quantidade": 1, "motivo": text });
                ana.post(&format!("{one}/movimentos"), &moved).expect(201);
            } else if feed.fields.contains(&"motivo") {
                let target = format!("{one}/suspender");
                operator.post(&target, &json!({ "motivo": text })).ok();
            }
        }
    }
    play(&ana, &operator);
    sell(&ana, world);
    buy(site);
    (ana, operator)
}

/// Makes challenges, milestones and corrections with the payloads.
#[track_caller]
fn play(ana: &Actor<'_>, operator: &Actor<'_>) {
    ana.post("/painel/checkin", &json!({})).ok();
    let found = shown(operator, "/admin/alunos?q=ana@example.com");
    let id = found["dados"][0]["id"].as_str().unwrap();
    for (number, text) in payloads::all().iter().enumerate() {
        let start = |letters: usize| text.chars().take(letters).collect::<String>();
        let challenge = json!({
            "titulo": start(120), "descricao": text, "acao": "venda", "meta": 5,
            "inicio": "2026-11-01", "fim": "2026-11-30", "recompensa": start(200),
        });
        operator.post("/admin/gamificacao/desafio/salvar", &challenge).ok();
        let milestone = json!({
            "numero": 1 + number % 20, "titulo": start(60), "badge": start(40), "recompensa": start(200),
        });
        operator.post("/admin/gamificacao/editar-milestone", &milestone).ok();
        let correction = json!({ "xp": 1, "motivo": start(200) });
        operator.post(&format!("/admin/gamificacao/alunos/{id}/corrigir"), &correction).ok();
    }
}

/// Sends a purchase event for each payload, which is in all its text fields.
#[track_caller]
fn buy(site: &Site) {
    let platform = site.anonymous();
    for (number, text) in payloads::all().iter().enumerate() {
        let id = format!("e-{number}");
        let event = Event::approved(&id, &format!("e{number}@example.com"), text, 0);
        let told = ["/data/buyer/name", "/data/product/name", "/data/subscription/subscriber/code"];
        let event = told.iter().fold(event, |event, place| event.with(place, &**text));
        event.with("/event", &**text).send(&platform).ok();
    }
}

/// Makes a shop for each payload, with a sale of a listing with that title.
#[track_caller]
fn sell(ana: &Actor<'_>, world: &World) {
    let all = payloads::all();
    for (seller, text) in (LOJA..).zip(&all) {
        world.seller(seller, text);
        world.item(seller, text, 10.0);
        world.link(ana, seller);
        world.sale(seller);
    }
    world.deliveries();
    let wanted = all.len() as u64;
    until("every sale is told of", Duration::from_mins(3), || {
        let home = Request::new("GET", "/painel").header("Accept", "application/json");
        let told = ana.send(home).ok()["total_notifs"].as_u64();
        (told? >= wanted).then_some(())
    });
}

/// Pages that must show every payload.
const SHOWN: &[&str] = &[
    "/admin/agencia/clientes",
    "/admin/agencia/clientes/{id}",
    "/admin/agencia/respostas",
    "/admin/alunos",
    "/admin/alunos/{id}",
    "/admin/auditoria",
    "/admin/aulas",
    "/admin/aulas/{id}",
    "/admin/chaves",
    "/admin/chaves/{id}",
    "/admin/compras",
    "/admin/compras/{id}",
    "/admin/cursos",
    "/admin/cursos/{id}",
    "/admin/meets",
    "/admin/meets/{id}",
    "/admin/planos",
    "/admin/planos/{id}",
    "/admin/professores",
    "/admin/professores/{id}",
    "/painel",
    "/painel/avisos",
    "/painel/ml",
    "/painel/produtos",
    "/painel/produtos/{id}",
    "/painel/respostas",
];

#[test]
fn stored_text_stays_text_on_every_page() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let (ana, operator) = store(&site, &world);
    let rules = rules(&site);
    let all = payloads::all();
    let mut wrong = Vec::new();
    let mut shown: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut fields = BTreeSet::new();
    for (actor, home) in [(&operator, "/admin"), (&ana, "/painel")] {
        // Some pages of a row show no record.
        for (address, reply) in walk(actor, home, &rules, all.len() + 5) {
            let page = Page::read(&reply.text()).unwrap();
            let before = wrong.len();
            policy(&page, &mut wrong);
            for line in &mut wrong[before..] {
                *line = format!("{address}: {line}");
            }
            let row = rules.row("GET", &address).expect("a row").path.clone();
            let (seen, said) = (shown.entry(row).or_default(), said(&page));
            for text in &all {
                if !seen.contains(text.as_str()) && said.contains(text.as_str()) {
                    seen.insert(text);
                }
            }
            fields.extend(text_fields(&page));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for path in SHOWN {
        let count = shown.get(*path).map_or(0, BTreeSet::len);
        assert_eq!(count, all.len(), "payloads on {path}");
    }
    let mut hungry = Vec::new();
    for (action, name) in fields {
        let feeds = |feed: &Feed| action.starts_with(feed.path) && feed.fields.contains(&&*name);
        let narrow = NARROW.iter().any(|(known, _)| *known == name);
        let own = OWN.iter().any(|(path, known)| action.starts_with(path) && *known == name)
            || PLAYED
                .iter()
                .any(|(path, known)| action.starts_with(path) && known.contains(&&*name));
        if !narrow && !own && !FEEDS.iter().any(feeds) {
            hungry.push(format!("{name} of {action}"));
        }
    }
    assert!(hungry.is_empty(), "fields without payloads: {hungry:?}");
}

#[test]
fn an_address_that_could_run_is_refused_and_others_stay_addresses() {
    let site = Site::builder().unlimited().start();
    let operator = site.administrator();
    for feed in
        FEEDS.iter().filter(|feed| feed.fields.iter().any(|field| ADDRESSES.contains(field)))
    {
        let post = |number: usize, url: &str| {
            let record = (feed.record)(number, &format!("Endereço {number}"), url);
            operator.post(feed.path, &record)
        };
        for (number, text) in payloads::all().iter().enumerate() {
            post(number, text).expect(422);
            let longer = post(number, &format!("{HARMLESS}?a={text}"));
            assert!([201, 422].contains(&longer.status), "{longer}");
        }
    }
    let rules = rules(&site);
    let mut wrong = Vec::new();
    for (address, reply) in walk(&operator, "/admin", &rules, payloads::all().len()) {
        let page = Page::read(&reply.text()).unwrap();
        policy(&page, &mut wrong);
        for link in page.all(&["a", "img", "iframe"]) {
            let leads = link.get("href").or(link.get("src")).unwrap_or_default();
            if !leads.starts_with(['/', '#']) && !leads.starts_with(HARMLESS) {
                wrong.push(format!("{address} leads to {leads}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_stays_text_wherever_its_owner_goes() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let mut wrong = Vec::new();
    for text in payloads::all() {
        rename(&ana, &text);
        for address in ["/perfil", "/painel"] {
            let reply = ana.get(address).expect(200);
            let page = Page::read(&reply.text()).unwrap();
            policy(&page, &mut wrong);
            if !said(&page).contains(&text) {
                wrong.push(format!("{address} does not say {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_name_of_a_token_stays_text() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let mut wrong = Vec::new();
    for text in payloads::all() {
        // A person may have only twenty: each is removed before the next one.
        let name: String = text.chars().take(80).collect();
        let made = ana.post(TOKENS, &json!({ "nome": name })).expect(201).json();
        let page = Page::read(&ana.get("/painel/parceiro").expect(200).text()).unwrap();
        policy(&page, &mut wrong);
        if !said(&page).contains(&name) {
            wrong.push(format!("{name} is not said"));
        }
        let end = format!("{TOKENS}/{}/revogar", made["id"].as_str().unwrap());
        ana.post(&end, &json!({})).expect(200);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_staff_writes_into_messages_stays_text() {
    let site = Site::builder().unlimited().start();
    let operator = site.administrator();
    let path = format!("{TEXTS}inatividade");
    let mut wrong = Vec::new();
    let mut taken = 0;
    for text in payloads::all() {
        let body = json!({ "assunto": text, "texto": text });
        let answer = operator.post(&path, &body);
        if answer.status == 422 {
            let fault = answer.json()["fields"]["texto"].to_string();
            assert!(text.contains('{') && fault.contains("não existe"), "{answer}");
            continue;
        }
        answer.ok();
        taken += 1;
        let fields = [("assunto", &*text), ("texto", &*text), ("acao", "ver")];
        let look = Request::new("POST", &path).form(&fields);
        for reply in
            [operator.get(&path), operator.send(look), operator.get(TEXTS.trim_end_matches('/'))]
        {
            let page = Page::read(&reply.expect(200).text()).unwrap();
            policy(&page, &mut wrong);
            if !said(&page).contains(&text) {
                wrong.push(format!("{text} is not said"));
            }
        }
    }
    assert!(taken > 10, "{taken}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Changes a person's name through their own form.
#[track_caller]
pub fn rename(person: &Actor<'_>, name: &str) {
    person.post("/perfil", &json!({ "nome": name })).ok();
}

/// All text of a page, in its body and in its fields.
pub fn said(page: &Page) -> String {
    let body = page.all(&["body"]).map(|body| body.text.as_str());
    let values = page.0.iter().filter_map(|one| one.get("value"));
    body.chain(values).collect::<Vec<_>>().join("\n")
}

/// Fields of a page's forms that take a text: action and name.
fn text_fields(page: &Page) -> BTreeSet<(String, String)> {
    let fields = page.all(&["input", "textarea"]).filter(|field| {
        let kind = field.get("type").unwrap_or("text");
        let fixed = field.has("readonly") || field.has("disabled");
        let text = kind == "text" && !field.has("inputmode") || kind == "url";
        text && !fixed
    });
    fields
        .filter_map(|field| {
            let form = page.path(field).find(|around| around.is(&["form"]))?;
            let posts = form.get("method") == Some("post");
            let action = form.get("action").unwrap_or_default();
            (posts && action != "/admin/estilo").then(|| (action.to_owned(), name(field)))
        })
        .collect()
}

fn name(field: &Element) -> String {
    field.get("name").unwrap_or_default().to_owned()
}
