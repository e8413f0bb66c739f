//! Test shops: sample data for test tokens, apart from all that is real.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agents::{call, tools};
use crate::support::client::Request;
use crate::support::shop::Shop;
use crate::support::site::Site;
use crate::support::wait::until;

const BASE: &str = "/api/v1/partner";
const TRIGGER: &str = "/api/v1/partner/sandbox/events";
const DROP_TRIGGER: &str = "/api/v1/partner/drop/sandbox/events";

/// A test token of a person, made in the panel.
#[track_caller]
pub fn test_token(person: &Actor<'_>, hub: &str) -> String {
    let mut wanted = json!({ "nome": "Prova", "teste": true });
    if hub == "/painel/parceiro" {
        wanted["escrita"] = true.into();
    }
    let made = person.post(&format!("{hub}/tokens"), &wanted);
    let token = made.expect(201).json()["token"].as_str().unwrap().to_owned();
    person.site().keep_secret("test token", &token);
    token
}

/// Ana, a seller with a plan, and her program with a test token.
fn tester<'s>(site: &'s Site, plan: &str) -> (Actor<'s>, Actor<'s>, String) {
    tester_named(site, "ana", plan)
}

/// The same of another name.
fn tester_named<'s>(site: &'s Site, name: &str, plan: &str) -> (Actor<'s>, Actor<'s>, String) {
    let ana = site.person(name);
    site.seller(name).plan(plan);
    let token = test_token(&ana, "/painel/parceiro");
    let program = site.bearer(&token);
    until("the plan is known", Duration::from_secs(20), || {
        (program.get(&format!("{BASE}/health")).status == 200).then_some(())
    });
    (ana, program, token)
}

#[track_caller]
fn read(actor: &Actor<'_>, target: &str) -> Value {
    actor.get(&format!("{BASE}{target}")).expect(200).json()
}

#[track_caller]
fn total(actor: &Actor<'_>, list: &str) -> u64 {
    read(actor, list)["pagination"]["total"].as_u64().unwrap()
}

/// The types of the events from one on, once there are some.
#[track_caller]
fn types_after(actor: &Actor<'_>, path: &str, after: &Value) -> (Vec<String>, Value) {
    let after = after.as_str().map_or_else(String::new, |id| format!("?after={id}"));
    let page = until("events come", Duration::from_secs(20), || {
        let page = read(actor, &format!("{path}{after}"));
        (!page["data"].as_array().unwrap().is_empty()).then_some(page)
    });
    let kinds = page["data"].as_array().unwrap().iter();
    let kinds = kinds.map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    (kinds, page["pagination"]["next_after"].clone())
}

/// How much there is of what is real.
fn real_rows(site: &Site) -> Vec<String> {
    const TABLES: [&str; 14] = [
        "user",
        "sale_order",
        "product",
        "stock_movement",
        "listing",
        "question",
        "claim",
        "drop_order",
        "drop_link",
        "drop_relation",
        "notification",
        "partner_event",
        "partner_usage",
        "partner_call",
    ];
    let counts = TABLES.map(|table| format!("SELECT '{table} ' || count(*) FROM {table}"));
    site.stored(&counts.join(" UNION ALL "))
}

#[test]
fn a_test_token_opens_a_shop_whose_parts_agree() {
    let site = Site::builder().unlimited().start();
    let (ana, program, token) = tester(&site, "pro");
    assert!(token.starts_with("ptk_test_") && token.len() == 57, "{token}");
    let health = read(&program, "/health");
    assert_eq!(health["user"]["nome"], "Vendedora de teste");
    assert_eq!(
        (&health["plan"]["name"], &health["token"]["name"]),
        (&json!("pro"), &json!("Prova"))
    );
    let orders = read(&program, "/orders?limit=200");
    assert_eq!(orders["pagination"]["total"], 30);
    let paid = orders["data"].as_array().unwrap().iter().filter(|one| one["status"] == "paid");
    assert!(paid.count() > 20, "{orders}");
    let stores = read(&program, "/stores");
    assert_eq!(stores["data"].as_array().unwrap().len(), 1, "{stores}");
    assert_eq!((total(&program, "/products"), total(&program, "/announcements")), (6, 6));
    assert_eq!(read(&program, "/events")["data"], json!([]), "the past is no news");
    read(&program, "/summary");
    read(&program, "/top-products");
    // The tools are those of the role, with one more.
    assert_eq!(tools(&program).len(), tools(&site.seller("ana")).len() + 1);
    let by_tool = call(&program, "list_orders", &json!({ "limit": 1 })).to_string();
    assert!(by_tool.contains(orders["data"][0]["order_id"].as_str().unwrap()), "{by_tool}");

    let hub = Request::new("GET", "/painel/parceiro").header("Accept", "application/json");
    let hub = ana.send(hub).expect(200).json();
    let listed = hub["tokens"].as_array().unwrap().iter().find(|one| one["nome"] == "Prova");
    assert_eq!(listed.unwrap()["teste"], true);
    assert_eq!(hub["usadas"], 0, "its calls are not those of real data");
    let page = ana.get("/painel/parceiro").expect(200).text();
    assert!(page.contains("Reiniciar loja de teste") && page.contains(">Teste<"), "{page}");

    let sol = site.person_as("sol", "drop");
    site.supplier("sol").plan("pro");
    let supplier = site.bearer(&test_token(&sol, "/fornecedor/parceiro"));
    let health = until("the plan is known", Duration::from_secs(20), || {
        let reply = supplier.get(&format!("{BASE}/drop/health"));
        (reply.status == 200).then(|| reply.json())
    });
    assert_eq!(health["user"]["nome"], "Fornecedor de teste");
    assert!(total(&supplier, "/drop/orders") > 3);
    assert_eq!(total(&supplier, "/drop/catalog/links"), 1);
    assert_eq!(supplier.get(&format!("{BASE}/orders")).expect(403).code(), "forbidden");
    // What needs the marketplace is refused at once.
    let order = read(&supplier, "/drop/orders")["data"][0].clone();
    let (order, seller) =
        (order["order_id"].as_str().unwrap(), order["seller_id"].as_str().unwrap());
    let label = format!("{BASE}/drop/ml/label?ship_id={order}&seller_id={seller}");
    supplier.get(&label).expect(502);
}

/// What can be made to happen in a seller's shop, and how many events that is.
const MADE: [(&str, usize); 13] = [
    ("order.created", 1),
    ("order.paid", 3),
    ("order.cancelled", 3),
    ("order.shipped", 2),
    ("order.updated", 1),
    ("order.delivered", 3),
    ("question.received", 1),
    ("question.answered", 2),
    ("claim.opened", 1),
    ("claim.closed", 2),
    ("stock.changed", 1),
    ("listing.changed", 1),
    ("store.disconnected", 1),
];

#[test]
fn what_is_made_to_happen_shows_everywhere_and_changes_nothing_real() {
    let shop = Shop::open();
    let site = &shop.site;
    let (_, program, _) = tester(site, "scale");
    let sol = site.person_as("sol", "drop");
    site.supplier("sol").plan("scale");
    let supplier = site.bearer(&test_token(&sol, "/fornecedor/parceiro"));
    until("the plan is known", Duration::from_secs(20), || {
        (supplier.get(&format!("{BASE}/drop/health")).status == 200).then_some(())
    });
    let before = real_rows(site);
    let mut after = read(&program, "/events?after=latest")["pagination"]["next_after"].clone();
    for (kind, count) in MADE {
        site.clock().advance_s(60);
        let made = program.post(TRIGGER, &json!({ "type": kind })).expect(200).json();
        assert_eq!(made["data"]["type"], kind);
        let types = until(kind, Duration::from_secs(20), || {
            let (types, _) = types_after(&program, "/events", &after);
            (types.len() >= count).then_some(types)
        });
        assert!(types.iter().any(|one| one == kind), "{kind}: {types:?}");
        assert_eq!(types.len(), count, "{kind}: {types:?}");
        (_, after) = types_after(&program, "/events", &after);
        if kind.starts_with("order.") {
            read(&program, &format!("/orders/{}", made["data"]["id"].as_str().unwrap()));
        }
    }
    assert_eq!(total(&program, "/orders"), 32, "one was created and one paid");
    let mut after = Value::Null;
    for kind in
        ["drop_order.created", "drop_order.paid", "drop_order.created", "drop_order.cancelled"]
    {
        site.clock().advance_s(60);
        supplier.post(DROP_TRIGGER, &json!({ "type": kind })).expect(200);
        let (types, next) = types_after(&supplier, "/drop/events", &after);
        assert_eq!(types, [kind]);
        after = next;
    }
    for wrong in ["endpoint.test", "drop_order.paid", "order.lost", ""] {
        let refused = program.post(TRIGGER, &json!({ "type": wrong })).expect(400).json();
        let fault = refused["error"]["fields"]["type"].to_string();
        assert!(wrong.is_empty() || fault.contains("order.paid"), "{fault}");
    }
    // A repeated call with the same key makes nothing again.
    let keyed = || {
        let request = Request::new("POST", TRIGGER).header("Idempotency-Key", "um");
        program.send(request.json(&json!({ "type": "order.paid" }))).expect(200).json()
    };
    assert_eq!(keyed(), keyed());
    assert_eq!(real_rows(site), before);

    // The real token opens what is real, and nothing of the shop.
    let real = site.seller("ana");
    assert_eq!(
        real.post(TRIGGER, &json!({ "type": "order.paid" })).expect(403).code(),
        "test_token_required"
    );
    assert_eq!(read(&real, "/usage")["used"].as_u64(), Some(1), "the refused call used no quota");
    let order = read(&program, "/orders?limit=1")["data"][0]["order_id"].clone();
    let order = format!("{BASE}/orders/{}", order.as_str().unwrap());
    real.get(&order).expect(404);
    program.get(&order).expect(200);
}

#[test]
fn a_shop_has_a_quota_of_its_own_which_a_reset_does_not_give_back() {
    let site = Site::builder().unlimited().config("partner.plans.starter.quota", 12).start();
    let (ana, program, _) = tester(&site, "starter");
    let used = || {
        let reply = program.get(&format!("{BASE}/usage"));
        (reply.status == 200).then(|| reply.json()["used"].as_u64().unwrap())
    };
    let begun = used().unwrap();
    program.post(TRIGGER, &json!({ "type": "order.paid" })).expect(200);
    assert_eq!(total(&program, "/orders"), 31);
    assert_eq!(used(), Some(begun + 3));
    let done = ana.post("/painel/parceiro/teste/reiniciar", &json!({})).expect(200).json();
    assert_eq!(done["ok"], true);
    assert_eq!(total(&program, "/orders"), 30);
    assert_eq!(read(&program, "/events")["data"], json!([]));
    let acts = site.stored("SELECT action FROM audit WHERE action = 'token.reiniciar_teste'");
    assert_eq!(acts.len(), 1);
    let now = used().unwrap();
    assert_eq!(now, begun + 6);
    site.stop();
    site.start_again();
    assert_eq!(used(), Some(now + 1), "counted calls are kept over a reset and a restart");
    for _ in now + 1..12 {
        program.get(&format!("{BASE}/stores")).expect(200);
    }
    assert_eq!(program.get(&format!("{BASE}/stores")).expect(429).code(), "quota_exceeded");
    // Real data has its own.
    assert_eq!(read(&site.seller("ana"), "/usage")["used"], 1);
}

#[test]
fn a_test_token_ends_as_others_do_and_its_shop_can_be_lost() {
    let site = Site::builder().unlimited().start();
    let (ana, program, token) = tester(&site, "pro");
    program.post(TRIGGER, &json!({ "type": "order.paid" })).expect(200);
    site.stop();
    site.start_again();
    assert_eq!(total(&program, "/orders"), 31, "it is kept");
    site.stop();
    let name = format!("{}.teste", site.database().file_name().unwrap().to_str().unwrap());
    let mut removed = 0;
    for file in std::fs::read_dir(site.database().parent().unwrap()).unwrap() {
        let file = file.unwrap();
        if file.file_name().to_str().unwrap().starts_with(&name) {
            std::fs::remove_file(file.path()).unwrap();
            removed += 1;
        }
    }
    assert!(removed > 0);
    site.start_again();
    assert_eq!(total(&program, "/orders"), 30, "it is made again");

    site.command(&["partner", "plan", "--email", "ana@example.com", "--plan", "none"]).ok();
    until("the plan is over", Duration::from_secs(20), || {
        (program.get(&format!("{BASE}/orders")).status == 402).then_some(())
    });
    site.seller("ana").plan("pro");
    until("the plan is back", Duration::from_secs(20), || {
        (program.get(&format!("{BASE}/orders")).status == 200).then_some(())
    });
    let hub = Request::new("GET", "/painel/parceiro").header("Accept", "application/json");
    let hub = ana.send(hub).expect(200).json();
    let id = hub["tokens"].as_array().unwrap().iter().find(|one| one["teste"] == true).unwrap();
    let end = format!("/painel/parceiro/tokens/{}/revogar", id["id"].as_str().unwrap());
    ana.post(&end, &json!({})).expect(200);
    assert_eq!(program.get(&format!("{BASE}/orders")).expect(401).code(), "unauthorized");
    ana.post("/painel/parceiro/teste/reiniciar", &json!({})).expect(404);
    // The digits alone are no token of either kind.
    let digits = token.replace("ptk_test_", "ptk_");
    site.bearer(&digits).get(&format!("{BASE}/orders")).expect(401);
}

/// How many people are in the shops.
fn people(site: &Site) -> i64 {
    let file = format!("{}.teste", site.database().display());
    let file = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    file.query_row("SELECT count(*) FROM user", [], |row| row.get(0)).unwrap()
}

#[test]
fn shops_that_cannot_be_used_are_made_anew_and_neighbours_stay() {
    let site = Site::builder().unlimited().start();
    let (_, program, _) = tester(&site, "pro");
    program.post(TRIGGER, &json!({ "type": "order.paid" })).expect(200);
    site.stop();
    let file = |end: &str| format!("{}.teste{end}", site.database().display());
    std::fs::write(file(""), "no database").unwrap();
    let neighbours = ["-of-mine", ".txt", "2"].map(file);
    for neighbour in &neighbours {
        std::fs::write(neighbour, "mine").unwrap();
    }
    site.start_again();
    assert_eq!(total(&program, "/orders"), 30, "they are made again");
    for neighbour in &neighbours {
        assert_eq!(std::fs::read_to_string(neighbour).unwrap(), "mine", "{neighbour}");
    }
}

#[test]
fn the_shop_of_a_person_who_is_erased_goes_also_when_nobody_uses_test_tokens() {
    let site = Site::builder().unlimited().start();
    let erased = |name: &str| {
        let email = format!("{name}@example.com");
        site.command(&["person", "erase", "--email", &email, "--yes"]).ok();
    };
    let (_, program, _) = tester(&site, "pro");
    program.post(TRIGGER, &json!({ "type": "order.paid" })).expect(200);
    assert_eq!(people(&site), 2);
    erased("ana");
    site.clock().advance_s(3601);
    let limit = Duration::from_secs(20);
    until("nobody is left", limit, || (people(&site) == 0).then_some(()));
    program.get(&format!("{BASE}/orders")).expect(401);

    let (_, program, _) = tester_named(&site, "rui", "pro");
    program.get(&format!("{BASE}/orders")).expect(200);
    assert_eq!(people(&site), 2);
    site.stop();
    site.start_again();
    erased("rui");
    site.clock().advance_s(3601);
    until("nobody is left again", limit, || (people(&site) == 0).then_some(()));
}

#[test]
fn a_shop_goes_when_nobody_uses_it() {
    let site = Site::builder().unlimited().start();
    let (_, program, _) = tester(&site, "pro");
    program.post(TRIGGER, &json!({ "type": "order.paid" })).expect(200);
    assert_eq!(total(&program, "/orders"), 31);
    assert_eq!(people(&site), 2);
    site.clock().advance_s(31 * 86_400);
    until("nobody is left", Duration::from_secs(20), || (people(&site) == 0).then_some(()));
    assert_eq!(total(&program, "/orders"), 30, "another one is there");
}
