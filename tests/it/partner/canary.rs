//! Two sellers and two suppliers, with a text of their own in every field that
//! is stored for them; each supplier is related to one of the sellers. Whatever
//! one of them requests, by token, extension or browser and with any filter,
//! the answer contains nothing of those they are not related to. Driven by the
//! route table.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::test_shops::test_token;
use crate::support::actors::Actor;
use crate::support::agents::{call, tools};
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::dropshipping::{number as person_number, relate};
use crate::support::openapi::operations;
use crate::support::site::{Route, Site};
use crate::support::sync::{wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::World;

const PATIENCE: Duration = Duration::from_mins(1);

/// A party with a canary text in every field.
struct Party<'s> {
    /// The text in all their fields.
    canary: String,
    /// The text of the party that they are related to.
    sees: String,
    /// Further values that only they may read: numbers and addresses.
    marks: Vec<String>,
    /// The numbers for variables in paths, by the beginning of the path.
    things: Vec<(&'static str, String)>,
    /// The values for filters, by parameter.
    filters: Vec<(&'static str, String)>,
    /// Their actors, by the caller's name in the route table.
    callers: Vec<(&'static str, Actor<'s>)>,
}

impl<'s> Party<'s> {
    fn caller(&self, call: &str) -> Option<&Actor<'s>> {
        self.callers.iter().find(|(known, _)| *known == call).map(|(_, actor)| actor)
    }

    /// The operations of this party that read, as tools.
    #[track_caller]
    fn tools(&self) -> Vec<Tool> {
        let program = PROGRAMS.iter().find_map(|call| self.caller(call)).unwrap();
        let document = program.site().anonymous().get("/openapi.json").ok();
        let listed = tools(program);
        let of_operation = |(path, method, operation): (&str, &str, &Value)| {
            if method != "get" {
                return None;
            }
            let name = operation["operationId"].as_str().unwrap();
            let properties = listed.get(name)?["inputSchema"]["properties"].clone();
            Some(Tool { name: name.to_owned(), path: path.to_owned(), properties })
        };
        operations(&document).into_iter().filter_map(of_operation).collect()
    }

    /// The text of this party in an answer that was not in the request.
    fn is_in(&self, text: &str, target: &str) -> Option<&str> {
        let all = std::iter::once(&self.canary).chain(&self.marks);
        let told = all.filter(|mark| text.contains(*mark) && !target.contains(*mark));
        told.map(String::as_str).next()
    }
}

/// An operation as a tool, for the same requests through the agent endpoint.
struct Tool {
    name: String,
    path: String,
    properties: Value,
}

impl Tool {
    /// Whether it is the operation at a path under the first base path.
    fn is(&self, path: &str) -> bool {
        path.strip_prefix("/api/v1/partner") == Some(&*self.path)
    }

    /// Calls the tool with the values of a path and query; returns its answer.
    #[track_caller]
    fn call(&self, actor: &Actor<'_>, path: &str, query: &str) -> String {
        let mut arguments = json!({});
        let begin = self.path.split('{').next().unwrap();
        let variable = self.path.split(['{', '}']).nth(1);
        let named = path.split_once(begin).and_then(|(_, rest)| rest.split('/').next());
        let variable = variable.zip(named).map(|(name, value)| (name.into(), value.into()));
        let pairs = form_urlencoded::parse(query.as_bytes());
        for (name, value) in variable.into_iter().chain(pairs) {
            let is_number = self.properties[&*name]["type"] == "integer";
            let number = value.parse::<i64>().ok().filter(|_| is_number);
            arguments[&*name] = number.map_or_else(|| json!(value), |number| json!(number));
        }
        call(actor, &self.name, &arguments).to_string()
    }
}

/// Parameters of filters that name nobody's records.
const COMMON: [&str; 13] = [
    "",
    "q=canario",
    "q=canario+de&limit=200",
    "limit=1&offset=0",
    "limit=200",
    "status=paid",
    "status=active&limit=200",
    "movements=100",
    "from=2026-01-01&to=2026-12-31",
    "formato=csv",
    "por_pagina=100",
    "periodo=30",
    "mes=2026-11",
];

/// Paths with a variable that name records for everybody.
const EVERYBODYS: [&str; 3] = ["/painel/aulas/", "/painel/comunicados/", "/painel/meets/"];

/// Rows that start something or call another service, without showing lists.
const OTHERS: [&str; 3] =
    ["/painel/ml/conectar", "/painel/ml/retorno", "/painel/ml/etiquetas/lote/{id}"];

/// Callers whose calls count against a quota.
const PROGRAMS: [&str; 2] = ["seller", "supplier"];

/// Requests everything that `reader` may request; returns the rows that showed
/// their own records, and how many calls counted against their quota.
#[track_caller]
fn walk(routes: &[Route], reader: &Party<'_>, others: &[&Party<'_>]) -> (BTreeSet<String>, u64) {
    let parties = || std::iter::once(reader).chain(others.iter().copied());
    let (mut shown, mut counted) = (BTreeSet::new(), 0);
    let tools = reader.tools();
    for route in routes.iter().filter(|route| route.method == "GET") {
        let Some(actor) = reader.caller(&route.call) else { continue };
        if OTHERS.contains(&&*route.path)
            || EVERYBODYS.iter().any(|path| route.path.starts_with(path))
        {
            continue;
        }
        let paths = match route.path.split_once('{') {
            None => vec![route.path.clone()],
            Some((begin, rest)) => {
                let end = rest.split_once('}').unwrap().1;
                let things = parties().flat_map(|party| &party.things);
                let is = |known: &str| known == begin || known.strip_prefix("/api") == Some(begin);
                let named = things.filter(|(known, _)| is(known));
                let paths: Vec<_> =
                    named.map(|(_, thing)| format!("{begin}{thing}{end}")).collect();
                assert!(!paths.is_empty(), "{}: whose things does it name?", route.path);
                paths
            }
        };
        let named = parties().flat_map(|party| &party.filters);
        let named = named.map(|(name, value)| format!("{name}={value}"));
        let queries: Vec<String> = COMMON.map(str::to_owned).into_iter().chain(named).collect();
        for (path, query) in
            paths.iter().flat_map(|path| queries.iter().map(move |query| (path, query)))
        {
            let target = format!("{path}?{query}");
            for accept in ["application/json", "text/html"] {
                let is_page = ["/p", "/fornecedor"].iter().any(|it| route.path.starts_with(it));
                if accept == "text/html" && !is_page {
                    continue;
                }
                let reply = actor.send(Request::new("GET", &target).header("Accept", accept));
                let text = reply.text();
                if let Some(mark) = others.iter().find_map(|other| other.is_in(&text, &target)) {
                    panic!("{mark} shows in\n{reply}");
                }
                if text.contains(&reader.canary) || text.contains(&reader.sees) {
                    shown.insert(route.path.clone());
                }
                counted += u64::from(PROGRAMS.contains(&&*route.call));
                if let Some(tool) = tools.iter().find(|tool| tool.is(&route.path)) {
                    let told = tool.call(actor, path, query);
                    if let Some(mark) = others.iter().find_map(|other| other.is_in(&told, &target))
                    {
                        panic!("{mark} shows in what {} tells\n{told}", tool.name);
                    }
                    counted += 1;
                }
            }
        }
    }
    (shown, counted)
}

/// Numbers of a shop's sale, question and claim.
struct Shop {
    item: String,
    order: String,
    shipment: String,
    question: String,
    claim: String,
}

impl Shop {
    /// Makes a shop with one of each, linked to a person.
    #[track_caller]
    fn filled(world: &World, person: &Actor<'_>, number: u64, canary: &str) -> Self {
        let site = person.site();
        world.seller(number, canary);
        let item = json!({
            "ml_user_id": number, "title": format!("Garrafa {canary}"), "price": 45.6,
            "sku": format!("SKU {canary}"),
        });
        let item = world.control("/_sandbox/items", &item)["id"].as_str().unwrap().to_owned();
        // One listing that is sold, and one for which no supplier has a product.
        let other = json!({
            "ml_user_id": number, "title": format!("Copo {canary}"), "price": 9.5,
            "sku": format!("OUTRO {canary}"),
        });
        world.control("/_sandbox/items", &other);
        world.link(person, number);
        wait_until_read(site, person);
        site.clock().advance_s(60);
        let sale = world.sale_with(number, &json!({ "item": item, "buyer_nickname": canary }));
        let ready =
            json!({ "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print" });
        world.control(&format!("/_sandbox/orders/{}", sale["id"]), &ready);
        let asked = json!({ "ml_user_id": number, "text": format!("Serve em {canary}") });
        let question = world.control("/_sandbox/questions", &asked);
        let claim = world.control("/_sandbox/claims", &json!({ "ml_user_id": number }));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Self {
            item,
            order: text(&sale["id"]),
            shipment: text(&sale["shipment"]["id"]),
            question: text(&question["id"]),
            claim: text(&claim["id"]),
        }
    }
}

/// A token of a person, made in the panel.
#[track_caller]
fn token_of(person: &Actor<'_>, path: &str, name: &str) -> String {
    let token = person.post(path, &json!({ "nome": name, "escrita": true })).expect(201).json();
    let token = token["token"].as_str().unwrap().to_owned();
    person.site().keep_secret("token", &token);
    token
}

/// The numbers of a seller's things, by the beginnings of the paths that name them.
fn things_of(
    shop: &Shop,
    number: &str,
    (product, webhook): (String, String),
) -> Vec<(&'static str, String)> {
    let mut things = vec![
        ("/painel/vendas/", shop.order.clone()),
        ("/painel/anuncios/", shop.item.clone()),
        ("/painel/reclamacoes/", shop.claim.clone()),
        ("/painel/perguntas/", shop.question.clone()),
        ("/painel/produtos/", product),
        ("/painel/parceiro/webhooks/", webhook.clone()),
    ];
    for (paths, thing) in [
        (["/api/v1/partner/stores/", "/v1/partner/stores/"], number),
        (["/api/v1/partner/orders/", "/v1/partner/orders/"], &*shop.order),
        (["/api/v1/partner/questions/", "/v1/partner/questions/"], &*shop.question),
        (["/api/v1/partner/claims/", "/v1/partner/claims/"], &*shop.claim),
        (["/api/v1/partner/webhooks/", "/v1/partner/webhooks/"], &*webhook),
    ] {
        things.extend(paths.map(|path| (path, thing.to_owned())));
    }
    things
}

/// A seller with the canary text in shop, products, messages and tokens.
#[track_caller]
fn seller<'s>(world: &World, site: &'s Site, name: &str, number: u64) -> Party<'s> {
    let canary = format!("CANARIO-DE-{}", name.to_uppercase());
    let said = |what: &str| format!("{what} {canary}");
    let person = site.person(name);
    let shop = Shop::filled(world, &person, number, &canary);
    let product = json!({ "titulo": said("Produto"), "sku": said("PRO"), "estoque": 5 });
    let product = person.post("/painel/produtos", &product).expect(201).json();
    let product = product["id"].as_str().unwrap().to_owned();
    let moved = json!({ "tipo": "saida", "quantidade": 1, "motivo": said("Balcão") });
    person.post(&format!("/painel/produtos/{product}/movimentos"), &moved).expect(201);
    person.post("/perfil", &json!({ "nome": said("Nome") })).ok();
    let token = token_of(&person, "/painel/parceiro/tokens", &said("Token"));
    let webhook = webhook_of(site, &person, &canary, "stock.changed");
    // The harness makes a second token of the account.
    drop(site.seller(name).plan("scale"));
    let program = site.bearer(&token);
    let notice = json!({ "channel": "email", "event": "custom", "title": said("Aviso"), "body": said("Texto") });
    program.post("/api/v1/partner/notify", &notice).expect(200);
    world.deliveries();
    for (list, count) in [("vendas", 1), ("anuncios", 2), ("perguntas", 1), ("reclamacoes", 1)] {
        until(list, PATIENCE, || {
            site.clock().advance_s(5);
            (json_of(&person, &format!("/painel/{list}"))["total"] == count).then_some(())
        });
    }
    wait_until_worked(world, site);
    let number = number.to_string();
    let digits = shop.item.trim_start_matches("MLB").to_owned();
    Party {
        marks: vec![
            format!("{name}@example.com"),
            number.clone(),
            digits,
            shop.order.clone(),
            shop.shipment.clone(),
            shop.question.clone(),
            shop.claim.clone(),
            token[..12].to_owned(),
        ],
        things: things_of(&shop, &number, (product, webhook)),
        filters: vec![
            ("store", number.clone()),
            ("conta", number.clone()),
            ("seller_id", number),
            ("nickname", canary.clone()),
            ("sku", said("SKU").replace(' ', "+")),
            ("sku", said("PRO").replace(' ', "+")),
            ("ml_id", shop.item.clone()),
            ("order_ids", shop.order.clone()),
            ("q", shop.order),
            ("q", shop.item),
            ("shipment_id", shop.shipment),
        ],
        callers: vec![
            ("seller", program),
            ("session:student", site.person(name)),
            ("session:anyone", site.person(name)),
            ("extension", site.extension(name)),
        ],
        sees: canary.clone(),
        canary,
    }
}

/// A supplier with the canary text in products, tokens and orders, related to a
/// seller whose first listing sells one of the products.
#[track_caller]
fn supplier<'s>(
    (world, site): (&World, &'s Site),
    name: &str,
    (seller, (whose, number)): (&mut Party<'_>, (&str, u64)),
) -> Party<'s> {
    let canary = format!("CANARIO-DE-{}", name.to_uppercase());
    let said = |what: &str| format!("{what} {canary}");
    let person = site.person_as(name, "drop");
    person.post("/perfil", &json!({ "nome": said("Nome") })).ok();
    let product =
        json!({ "titulo": said("Produto"), "sku": said("PRO"), "estoque": 5, "preco": 7 });
    let product = person.post("/fornecedor/produtos", &product).expect(201).json();
    let product = product["id"].as_str().unwrap().to_owned();
    let moved = json!({ "tipo": "saida", "quantidade": 1, "motivo": said("Balcão") });
    person.post(&format!("/fornecedor/produtos/{product}/movimentos"), &moved).expect(201);
    let token = token_of(&person, "/fornecedor/parceiro/tokens", &said("Token"));
    let webhook = webhook_of(site, &person, &canary, "drop_order.created");
    drop(site.supplier(name).plan("scale"));
    let program = site.bearer(&token);
    let guest = format!("convidado.de.{name}@example.com");
    person.post("/fornecedor/convites", &json!({ "email": guest })).expect(201);

    let owner = site.person(whose);
    relate(site, &person, &owner);
    let owner_number = person_number(site, &owner);
    let item = seller.filters.iter().find(|(name, _)| *name == "ml_id").unwrap().1.clone();
    let link = json!({ "vendedor": owner_number, "anuncio": item, "sku": said("PRO") });
    person.post("/fornecedor/vinculos", &link).expect(201);
    site.clock().advance_s(60);
    let sale = json!({ "item": item, "buyer_nickname": seller.canary, "notify": true });
    let sale = world.sale_with(number, &sale);
    let (order, shipment) = (sale["id"].to_string(), sale["shipment"]["id"].to_string());
    let ready = json!({
        "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print",
        "notify": true,
    });
    world.control(&format!("/_sandbox/orders/{order}"), &ready);
    wait_until_worked(world, site);
    let orders = json_of(&person, "/fornecedor/pedidos");
    assert_eq!(orders["dados"][0]["pedido"], json!(order), "{orders}");
    let drop_order = orders["dados"][0]["id"].as_str().unwrap().to_owned();
    until("the command is heard of", PATIENCE, || {
        let body = json!({ "order_id": order });
        let reply = program.post("/api/v1/partner/drop/orders/remind", &body);
        (reply.status == 200).then_some(())
    });
    seller.marks.extend([order.clone(), shipment.clone()]);
    Party {
        marks: vec![format!("{name}@example.com"), guest, token[..12].to_owned()],
        things: vec![
            ("/fornecedor/produtos/", product),
            ("/fornecedor/pedidos/", drop_order),
            ("/fornecedor/parceiro/webhooks/", webhook.clone()),
            ("/api/v1/partner/drop/webhooks/", webhook),
        ],
        filters: vec![
            ("vendedor", owner_number.clone()),
            ("seller_id", owner_number.clone()),
            ("sku", said("PRO").replace(' ', "+")),
            ("q", order.clone()),
            ("q", canary.to_lowercase()),
            ("situacao", "a_vencer".to_owned()),
            ("status", "pending".to_owned()),
            ("motivo", "sku_unknown".to_owned()),
            ("fornecedor", person_number(site, &person)),
            ("order_id", format!("{order}&seller_id={owner_number}")),
            ("ship_id", format!("{shipment}&seller_id={owner_number}")),
        ],
        callers: vec![
            ("supplier", program),
            ("session:supplier", site.person_as(name, "drop")),
            ("session:anyone", site.person_as(name, "drop")),
        ],
        sees: seller.canary.clone(),
        canary,
    }
}

/// Rows that must have shown a seller their own records; otherwise the test
/// would prove nothing.
const SHOWN_TO_SELLERS: &[&str] = &[
    "/api/ext/me",
    "/api/ext/ml/check",
    "/api/v1/partner/announcements",
    "/api/v1/partner/health",
    "/api/v1/partner/notifications",
    "/api/v1/partner/events",
    "/api/v1/partner/orders",
    "/api/v1/partner/orders/{order_id}",
    "/api/v1/partner/products",
    "/api/v1/partner/questions",
    "/api/v1/partner/questions/{question_id}",
    "/api/v1/partner/claims/{claim_id}",
    "/api/v1/partner/stock",
    "/api/v1/partner/stores",
    "/api/v1/partner/webhooks",
    "/api/v1/partner/webhooks/{webhook_id}",
    "/painel",
    "/painel/anuncios",
    "/painel/fornecedores",
    "/painel/ml",
    "/painel/parceiro",
    "/painel/parceiro/webhooks",
    "/painel/parceiro/webhooks/{id}",
    "/painel/parceiro/webhooks/{id}/entregas",
    "/painel/anuncios/{id}",
    "/painel/perguntas",
    "/painel/perguntas/{id}",
    "/painel/produtos",
    "/painel/produtos/{id}",
    "/painel/reclamacoes/{id}",
    "/painel/vendas",
    "/painel/vendas/{id}",
    "/perfil",
];

/// The same for suppliers.
const SHOWN_TO_SUPPLIERS: &[&str] = &[
    "/api/v1/partner/drop/catalog/audit",
    "/api/v1/partner/drop/events",
    "/api/v1/partner/drop/catalog/links",
    "/api/v1/partner/drop/catalog/products",
    "/api/v1/partner/drop/health",
    "/api/v1/partner/drop/orders",
    "/api/v1/partner/drop/orders/totals",
    "/api/v1/partner/drop/webhooks",
    "/api/v1/partner/drop/webhooks/{webhook_id}",
    "/fornecedor",
    "/fornecedor/conferencia",
    "/fornecedor/parceiro",
    "/fornecedor/parceiro/webhooks",
    "/fornecedor/parceiro/webhooks/{id}",
    "/fornecedor/parceiro/webhooks/{id}/entregas",
    "/fornecedor/pedidos",
    "/fornecedor/produtos",
    "/fornecedor/produtos/{id}",
    "/fornecedor/vendedores",
    "/fornecedor/vinculos",
    "/perfil",
];

/// An endpoint whose address contains the canary text.
#[track_caller]
fn webhook_of(site: &Site, person: &Actor<'_>, canary: &str, event: &str) -> String {
    let url = format!("https://gancho.invalid/{canary}");
    crate::support::hooked::make(site, person, &url, &[event]).id
}

/// A program with a test token of a person, whose shop is nobody else's.
#[track_caller]
fn tester<'s>(site: &'s Site, reader: &Party<'s>, call: &'static str) -> Party<'s> {
    let (session, hub) = match call {
        "seller" => ("session:student", "/painel/parceiro"),
        _ => ("session:supplier", "/fornecedor/parceiro"),
    };
    let person = reader.caller(session).unwrap();
    let program = site.bearer(&test_token(person, hub));
    let base = if call == "seller" { "/api/v1/partner" } else { "/api/v1/partner/drop" };
    let orders = json_of(&program, &format!("{base}/orders?limit=200"));
    let marks = orders["data"].as_array().unwrap().iter();
    let marks: Vec<_> = marks.map(|one| one["order_id"].as_str().unwrap().to_owned()).collect();
    Party {
        things: vec![
            ("/api/v1/partner/orders/", marks[0].clone()),
            ("/v1/partner/orders/", marks[0].clone()),
        ],
        filters: vec![("q", marks[0].clone())],
        callers: vec![(call, program)],
        canary: "Garrafa térmica inox 1 litro".to_owned(),
        sees: marks[0].clone(),
        marks,
    }
}

/// Calls of this month.
#[track_caller]
fn used(party: &Party<'_>) -> u64 {
    let hubs =
        [("session:student", "/painel/parceiro"), ("session:supplier", "/fornecedor/parceiro")];
    let hub = hubs.iter().find_map(|(call, path)| Some(json_of(party.caller(call)?, path)));
    hub.unwrap()["usadas"].as_u64().unwrap()
}

#[test]
fn no_answer_to_one_party_holds_anything_of_another() {
    let world = World::start();
    let site = Site::builder()
        .unlimited()
        .world(&world)
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "loja@example.com")
        .start();
    let mut ana = seller(&world, &site, "ana", 900_000_001);
    let mut rui = seller(&world, &site, "rui", 900_000_002);
    let sol = supplier((&world, &site), "sol", (&mut ana, ("ana", 900_000_001)));
    let lua = supplier((&world, &site), "lua", (&mut rui, ("rui", 900_000_002)));
    let routes = site.routes();
    for (reader, others, rows) in [
        (&ana, [&rui, &lua], SHOWN_TO_SELLERS),
        (&rui, [&ana, &sol], SHOWN_TO_SELLERS),
        (&sol, [&lua, &rui], SHOWN_TO_SUPPLIERS),
        (&lua, [&sol, &ana], SHOWN_TO_SUPPLIERS),
    ] {
        let before = [used(reader), used(others[0])];
        let (shown, counted) = walk(&routes, reader, &others);
        let missing: Vec<_> = rows.iter().filter(|row| !shown.contains(**row)).collect();
        assert!(missing.is_empty(), "{} is not seen on {missing:?}", reader.canary);
        assert!(counted > 200, "{counted}");
        // Calls, too, count only for their own account.
        assert_eq!([used(reader), used(others[0])], [before[0] + counted, before[1]]);
    }

    // A test token sees sample data alone, also of its own owner, and real ones see none.
    for (owner, call) in [(&ana, "seller"), (&sol, "supplier")] {
        let test = tester(&site, owner, call);
        let before = [used(&ana), used(&sol)];
        let (shown, _) = walk(&routes, &test, &[&ana, &rui, &sol, &lua]);
        assert!(shown.len() >= 3, "{shown:?}");
        assert_eq!([used(&ana), used(&sol)], before);
        let programs: Vec<_> = routes.iter().filter(|route| route.call == call).cloned().collect();
        walk(&programs, owner, &[&test]);
    }

    // When the relation ends, access ends at once; Sol continues with another
    // seller.
    let (panel, seller) = (sol.caller("session:supplier").unwrap(), site.person("ana"));
    relate(&site, panel, &site.person("bia"));
    let seller = person_number(&site, &seller);
    panel.post(&format!("/fornecedor/vendedores/{seller}/encerrar"), &json!({})).ok();
    let is_left = |route: &&Route| {
        // Open orders still show on the home, among the orders and in what is asked for.
        let owed =
            ["/fornecedor", "/fornecedor/pedidos", "/fornecedor/extrato"].contains(&&*route.path);
        (route.call == "supplier" || route.path.starts_with("/fornecedor")) && !owed
    };
    let left: Vec<Route> = routes.iter().filter(is_left).cloned().collect();
    let (shown, _) = walk(&left, &sol, &[&lua, &rui, &ana]);
    assert!(shown.contains("/api/v1/partner/drop/catalog/products"), "{shown:?}");
    let kept = json_of(panel, "/fornecedor/pedidos")["dados"][0].clone();
    assert_eq!(kept["vendedor"], json!(format!("Nome {}", ana.canary)));
    assert_eq!(kept["valor"].as_f64(), Some(7.0));
}
