//! What a token that may write changes, as the panel does: stock, prices, answers, labels.
//! Tokens without `partner:write` do none of it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agents::{call, tools};
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::oauth::{Program, REDIRECT};
use crate::support::random::Random;
use crate::support::shop::{OTHER, Shop, refused};
use crate::support::shops::{QUESTIONS, ask, listed, shops};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::LOJA;

const BASE: &str = "/api/v1/partner";
const TOKENS: &str = "/painel/parceiro/tokens";

/// The calls that need `partner:write`.
const WRITES: [(&str, &str); 8] = [
    ("POST", "stock/set"),
    ("POST", "stock/adjust"),
    ("POST", "products/price"),
    ("POST", "questions/answer"),
    ("POST", "labels/printed"),
    ("GET", "labels?order_ids=1"),
    ("GET", "orders/1/label"),
    ("GET", "orders/1/invoice"),
];

#[track_caller]
fn post(actor: &Actor<'_>, path: &str, body: &Value) -> Reply {
    actor.post(&format!("{BASE}/{path}"), body)
}

#[track_caller]
fn done(actor: &Actor<'_>, path: &str, body: &Value) -> Value {
    post(actor, path, body).expect(200).json()["data"].clone()
}

/// A product of Ana's.
#[track_caller]
fn product(site: &Site, sku: &str, stock: i64) -> String {
    let product = json!({ "titulo": "Garrafa", "sku": sku, "estoque": stock, "preco": 89.9 });
    let made = site.person("ana").post("/painel/produtos", &product).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

/// What was audited of an action: before and after.
fn audited(site: &Site, action: &str) -> Vec<String> {
    site.stored(&format!(
        "SELECT coalesce(before, '') || ' ' || after FROM audit WHERE action = '{action}' ORDER BY audit_id"
    ))
}

#[test]
fn a_token_changes_the_shop_once_its_owner_widens_it() {
    let site = Site::builder().unlimited().start();
    site.seller("ana").plan("pro");
    let ana = site.person("ana");
    let made = ana.post(TOKENS, &json!({ "nome": "Planilha" })).expect(201).json();
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap().to_owned());
    site.keep_secret("token", &token);
    let program = site.bearer(&token);
    // As ever.
    for path in ["health", "orders", "questions", "claims"] {
        program.get(&format!("{BASE}/{path}")).expect(200);
    }
    let notice = json!({ "channel": "telegram", "event": "custom", "title": "a", "body": "b" });
    assert_eq!(post(&program, "notify", &notice).expect(400).code(), "channel_not_connected");
    let used = || program.get(&format!("{BASE}/usage")).expect(200).json()["used"].clone();
    let before = used();
    for (method, path) in WRITES {
        let call = Request::new(method, &format!("{BASE}/{path}"));
        let call = if method == "POST" { call.json(&json!({})) } else { call };
        let reply = program.send(call).expect(403);
        if method == "POST" {
            assert_eq!(reply.code(), "insufficient_scope");
        }
        assert!(reply.text().contains("partner:write"), "{reply}");
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(challenge.contains("insufficient_scope") && challenge.contains("partner:write"));
    }
    assert_eq!(used(), json!(before.as_u64().unwrap() + 1), "what was refused costs nothing");

    let (wider, narrower) = (format!("{TOKENS}/{id}/ampliar"), format!("{TOKENS}/{id}/reduzir"));
    site.person("rui").post(&wider, &json!({})).expect(404);
    let page = ana.get("/painel/parceiro").expect(200).text();
    assert!(page.contains(&format!("action=\"{wider}\"")), "{page}");
    ana.post(&wider, &json!({})).expect(200);
    ana.post(&wider, &json!({})).expect(200);
    let unknown = json!({ "sku": "NENHUM", "balance": 1 });
    assert_eq!(post(&program, "stock/set", &unknown).expect(404).code(), "not_found");
    let page = ana.get("/painel/parceiro").expect(200).text();
    assert!(page.contains("muda a loja") && page.contains(&format!("action=\"{narrower}\"")));
    let hub = json_of(&ana, "/painel/parceiro");
    let one = hub["tokens"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(one["escrita"], true);
    ana.post(&narrower, &json!({})).expect(200);
    post(&program, "stock/set", &unknown).expect(403);
    let noted = audited(&site, "token.acesso");
    assert_eq!(
        noted,
        ["{\"escrita\":false} {\"escrita\":true}", "{\"escrita\":true} {\"escrita\":false}"]
    );
    // A tick does it from the start.
    let form = Request::new("POST", TOKENS).form(&[("nome", "Robô"), ("escrita", "1")]);
    ana.send(form).expect(200);
    let wide = "SELECT may_change || '' FROM partner_token WHERE name = 'Robô'";
    assert_eq!(site.stored(wide), ["1"]);
}

#[test]
fn an_app_changes_the_shop_when_its_person_let_it_write() {
    let site = Site::builder().unlimited().start();
    site.seller("ana").plan("pro");
    let (ana, program) = (site.person("ana"), Program::registered(&site, "Robô", REDIRECT));
    product(&site, "GAR-1", 5);
    let count = json!({ "sku": "GAR-1", "balance": 9 });
    let reader = site.bearer(&program.connect(&ana, "partner:read").access);
    post(&reader, "stock/set", &count).expect(403);
    let number = program.asks(&ana, &[("scope", "partner:write")]);
    let page = ana.get(&format!("/oauth/authorize?pedido={number}")).expect(200).text();
    assert!(page.contains("Responder perguntas de quem compra"), "{page}");
    let writer = site.bearer(&program.connect(&ana, "partner:write").access);
    assert_eq!(done(&writer, "stock/set", &count)["balance"], 9);
    // One that was connected before there was something to change goes on doing what it did.
    let database =
        rusqlite::Connection::open_with_flags(site.database(), rusqlite::OpenFlags::default());
    database.unwrap().execute_batch("UPDATE oauth_grant SET may_change = 0").unwrap();
    until("the change is noticed", Duration::from_secs(20), || {
        (post(&writer, "stock/set", &count).status == 403).then_some(())
    });
    let notice = json!({ "channel": "telegram", "event": "custom", "title": "a", "body": "b" });
    assert_eq!(post(&writer, "notify", &notice).expect(400).code(), "channel_not_connected");
    let listed = tools(&writer);
    assert!(listed.contains_key("notify_seller") && !listed.contains_key("set_stock"));
    assert!(ana.get("/painel/parceiro").expect(200).text().contains("sem mudar a loja"));
    let noted = audited(&site, "produto.estoque");
    assert_eq!(noted, ["{\"estoque\":5} {\"aplicativo\":\"Robô\",\"estoque\":9,\"motivo\":\"\"}"]);
}

#[test]
fn stock_is_counted_and_moved_as_in_the_panel() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("pro");
    let rui = site.seller("rui").plan("pro");
    let id = product(&site, "GAR-1", 5);
    let counted = json!({ "product_id": id, "balance": 12, "reason": "Contagem" });
    let told = done(&ana, "stock/set", &counted);
    assert_eq!((&told["balance_before"], &told["balance"]), (&json!(5), &json!(12)), "{told}");
    assert_eq!(
        (&told["movements"][0]["type"], &told["movements"][0]["quantity"]),
        (&json!("adjust"), &json!(7))
    );
    // Counting the same again moves nothing.
    assert_eq!(done(&ana, "stock/set", &counted)["movements"], json!([]));

    let out = json!({ "sku": "GAR-1", "quantity": -4, "reason": "Avaria" });
    let keyed = |key: &str, body: &Value| {
        let call = Request::new("POST", &format!("{BASE}/stock/adjust")).json(body);
        ana.send(call.header("Idempotency-Key", key))
    };
    let first = keyed("a", &out).expect(200);
    let again = keyed("a", &out).expect(200);
    assert_eq!((first.json(), again.header("idempotency-replayed")), (again.json(), Some("true")));
    assert_eq!(first.json()["data"]["balance"], 8);
    let other = json!({ "sku": "GAR-1", "quantity": -5 });
    assert_eq!(keyed("a", &other).expect(400).code(), "idempotency_key_reused");
    assert_eq!(
        done(&ana, "stock/adjust", &json!({ "sku": "GAR-1", "quantity": 2 }))["balance"],
        10
    );
    let too_many =
        post(&ana, "stock/adjust", &json!({ "sku": "GAR-1", "quantity": -11 })).expect(409);
    assert!(too_many.text().contains("only 10 in stock"), "{too_many}");
    for wrong in [
        json!({ "sku": "GAR-1" }),
        json!({ "sku": "GAR-1", "quantity": 0 }),
        json!({ "sku": "GAR-1", "product_id": id, "quantity": 1 }),
        json!({ "quantity": 1 }),
        json!({ "sku": "GAR-1", "quantity": 1.5 }),
    ] {
        post(&ana, "stock/adjust", &wrong).expect(400);
    }
    post(&rui, "stock/adjust", &json!({ "product_id": id, "quantity": 1 })).expect(404);
    post(&rui, "stock/set", &counted).expect(404);
    post(&rui, "products/price", &json!({ "product_id": id, "price": 1 })).expect(404);

    let page = json_of(&site.person("ana"), &format!("/painel/produtos/{id}"));
    let moved: Vec<_> = page["movimentos"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["quantidade"].clone())
        .collect();
    assert_eq!(moved, [2, 4, 7, 5], "{page}");
    let noted = audited(&site, "produto.estoque");
    assert_eq!(noted.len(), 3, "{noted:?}");
    assert!(noted.iter().all(|one| one.contains("\"token\":\"command line\"")), "{noted:?}");
    let told = call(&ana, "set_stock", &json!({ "sku": "GAR-1", "balance": 3 }));
    assert_eq!(told["structuredContent"]["data"]["balance"], 3, "{told}");
}

#[test]
fn the_changes_of_a_product_add_up_to_its_balance() {
    let shop = Shop::open();
    let (ana, panel) = (shop.site.seller("ana").plan("scale"), shop.ana());
    for seed in 0..5 {
        let (mut random, sku) = (Random::new(seed), format!("GAR-{seed}"));
        let opening = i64::try_from(random.below(3) * 20).unwrap();
        let id = product(&shop.site, &sku, opening);
        shop.world.clock().advance_s(1);
        for _ in 0..20 {
            let units = i64::try_from(random.below(40)).unwrap();
            match random.below(4) {
                0 => drop(post(&ana, "stock/set", &json!({ "sku": sku, "balance": units }))),
                1 => drop(post(&ana, "stock/adjust", &json!({ "sku": sku, "quantity": -units }))),
                2 => drop(post(&ana, "stock/adjust", &json!({ "sku": sku, "quantity": units }))),
                _ => {
                    let counted = json!({ "tipo": "ajuste", "quantidade": units, "motivo": "" });
                    panel.post(&format!("/painel/produtos/{id}/movimentos"), &counted).expect(201);
                }
            }
        }
        let listed = ana.get(&format!("{BASE}/stock?movements=100")).ok();
        let stock = listed["data"].as_array().unwrap().iter().find(|one| one["sku"] == sku);
        let (mut balance, stock) = (0, stock.unwrap());
        for one in stock["movements"].as_array().unwrap().iter().rev() {
            let change = one["change"].as_i64().unwrap();
            balance += change;
            assert_eq!(one["balance_after"], balance, "{seed}: {stock}");
            assert_eq!(one["quantity"], change.abs(), "{seed}: {stock}");
        }
        assert_eq!(stock["balance"], balance, "{seed}: {stock}");
    }
}

#[test]
fn a_price_is_changed_without_the_rest() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("pro");
    product(&site, "GAR-1", 5);
    let told = done(&ana, "products/price", &json!({ "sku": "GAR-1", "cost": 31.5 }));
    assert_eq!((told["price"].as_f64(), told["cost"].as_f64()), (Some(89.9), Some(31.5)));
    let told = done(&ana, "products/price", &json!({ "sku": "GAR-1", "price": 94.9 }));
    assert_eq!((told["price"].as_f64(), told["cost"].as_f64()), (Some(94.9), Some(31.5)));
    assert_eq!((&told["title"], &told["stock"]), (&json!("Garrafa"), &json!(5)));
    done(&ana, "products/price", &json!({ "sku": "GAR-1", "price": 94.9 }));
    assert_eq!(audited(&site, "produto.preco").len(), 2, "what changed nothing is not noted");
    for wrong in [
        json!({ "sku": "GAR-1" }),
        json!({ "sku": "GAR-1", "price": -1 }),
        json!({ "sku": "GAR-1", "price": 1.005 }),
        json!({ "sku": "GAR-1", "price": 10_000_001 }),
        json!({ "sku": "GAR-1", "price": "94,90" }),
    ] {
        post(&ana, "products/price", &wrong).expect(400);
    }
}

#[test]
fn a_question_is_read_and_answered_once() {
    let (world, site) = shops();
    let ana = site.seller("ana").plan("pro");
    let rui = site.seller("rui").plan("pro");
    for text in ["Tem azul?", "Tem verde?", "Tem preto?"] {
        ask(&world, LOJA, text);
        site.clock().advance_s(60);
    }
    world.deliveries();
    listed(&site.person("ana"), &format!("{QUESTIONS}?estado=pendente"), 3);
    let open = format!("{BASE}/questions?status=unanswered&limit=2");
    let first = ana.get(&open).expect(200).json();
    assert_eq!(first["pagination"]["total"], 3, "{first}");
    let texts = |page: &Value| -> Vec<String> {
        let data = page["data"].as_array().unwrap().iter();
        data.map(|one| one["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&first), ["Tem preto?", "Tem verde?"]);
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let rest = ana.get(&format!("{open}&cursor={cursor}")).expect(200).json();
    assert_eq!(
        (texts(&rest), &rest["pagination"]["next_cursor"]),
        (vec!["Tem azul?".to_owned()], &Value::Null)
    );
    // Of another list, with other filters, of somebody else.
    for (actor, place) in
        [(&ana, "claims?"), (&ana, "questions?"), (&rui, "questions?status=unanswered&")]
    {
        actor.get(&format!("{BASE}/{place}cursor={cursor}")).expect(400);
    }
    let since = first["data"][1]["date_created"].as_str().unwrap();
    let late = ana.get(&format!("{BASE}/questions?since={since}")).expect(200).json();
    assert_eq!(late["pagination"]["total"], 2, "{late}");
    ana.get(&format!("{BASE}/questions?status=open")).expect(400);
    ana.get(&format!("{BASE}/questions?store=999999")).expect(404);

    let id = first["data"][0]["question_id"].as_str().unwrap().to_owned();
    let one = format!("{BASE}/questions/{id}");
    assert_eq!(ana.get(&one).expect(200).json(), first["data"][0]);
    rui.get(&one).expect(404);
    let answer = json!({ "question_id": id, "text": "Tem sim." });
    post(&rui, "questions/answer", &answer).expect(404);
    post(&ana, "questions/answer", &json!({ "question_id": id, "text": " " })).expect(400);
    let keyed = || {
        let call = Request::new("POST", &format!("{BASE}/questions/answer")).json(&answer);
        ana.send(call.header("Idempotency-Key", "a"))
    };
    let told = keyed().expect(200).json();
    assert_eq!(
        (&told["data"]["status"], &told["data"]["answer"]),
        (&json!("answered"), &json!("Tem sim."))
    );
    assert_eq!(keyed().expect(200).header("idempotency-replayed"), Some("true"));
    // Without a key the same is fine, and another text is not.
    assert_eq!(done(&ana, "questions/answer", &answer), told["data"]);
    let other = json!({ "question_id": id, "text": "Não tem." });
    assert_eq!(post(&ana, "questions/answer", &other).expect(409).code(), "conflict");
    let sent = world.requests();
    assert_eq!(sent.iter().filter(|call| call["path"] == "/answers").count(), 1);
    let noted = audited(&site, "pergunta.responder");
    assert!(noted.len() == 1 && noted[0].contains("\"token\":\"command line\""), "{noted:?}");
}

#[test]
fn an_answer_of_which_nobody_knows_is_not_published_twice() {
    let (world, site) = shops();
    let ana = site.seller("ana").plan("pro");
    ask(&world, LOJA, "Tem azul?");
    world.deliveries();
    let waiting = listed(&site.person("ana"), &format!("{QUESTIONS}?estado=pendente"), 1);
    let answer = json!({ "question_id": waiting[0]["id"], "text": "Tem sim." });
    world.fault(&json!({ "path_prefix": "/answers", "kind": "status", "code": 400, "times": 1 }));
    let refused = post(&ana, "questions/answer", &answer).expect(400);
    assert!(refused.text().contains("contacts and links"), "{refused}");
    // The marketplace takes it and its word is lost.
    world.fault(&json!({ "path_prefix": "/answers", "kind": "lost_response", "times": 1 }));
    let away = json!({ "path_prefix": "/questions/", "kind": "status", "code": 503, "times": 0 });
    world.fault(&away);
    let lost = post(&ana, "questions/answer", &answer).expect(502);
    assert_eq!(lost.code(), "marketplace_unavailable");
    assert!(lost.text().contains("not published twice"), "{lost}");
    world.clear_faults();
    site.clock().advance_s(60);
    assert_eq!(done(&ana, "questions/answer", &answer)["status"], "answered");
    let sent = world.requests();
    assert_eq!(sent.iter().filter(|call| call["path"] == "/answers").count(), 2, "one was refused");
}

#[test]
fn claims_are_read_with_the_most_urgent_first() {
    let (world, site) = shops();
    let (ana, rui) = (site.seller("ana").plan("pro"), site.seller("rui").plan("pro"));
    for _ in 0..3 {
        world.sale(LOJA);
        world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
        site.clock().advance_s(60);
    }
    world.deliveries();
    let rows = listed(&site.person("ana"), "/painel/reclamacoes", 3);
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = ana.get(&format!("{BASE}/claims?limit=2{cursor}")).expect(200).json();
        seen.extend(page["data"].as_array().unwrap().iter().map(|one| one["claim_id"].clone()));
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let panel: Vec<_> = rows.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(seen, panel, "as in the panel");
    let one = format!("{BASE}/claims/{}", seen[0].as_str().unwrap());
    let claim = ana.get(&one).expect(200).json();
    assert_eq!((&claim["claim_id"], &claim["status"]), (&seen[0], &json!("opened")), "{claim}");
    rui.get(&one).expect(404);
    let closed = ana.get(&format!("{BASE}/claims?status=closed")).expect(200).json();
    assert_eq!(closed["pagination"]["total"], 0);
    ana.get(&format!("{BASE}/claims?status=open")).expect(400);
}

#[test]
fn labels_come_together_and_are_marked_when_they_were_printed() {
    let shop = Shop::open();
    let ana = shop.site.seller("ana").plan("pro");
    let (one, two) = (shop.sell(LOJA, true), shop.sell(LOJA, true));
    let theirs = shop.sell(OTHER, true);
    shop.wait_for(&shop.ana(), 2);
    shop.wait_for(&shop.site.person("rui"), 1);
    let labels = |orders: &str| ana.get(&format!("{BASE}/labels?order_ids={orders}"));
    let file = ana.get(&format!("{BASE}/orders/{}/label", one.0)).expect(200);
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    assert!(file.text().contains(&one.1), "{file}");
    let both = format!("{},{}", one.0, two.0);
    let file = labels(&both).expect(200).text();
    assert!(file.starts_with("%PDF-") && file.contains(&one.1) && file.contains(&two.1));
    for foreign in [theirs.0.clone(), format!("{},{}", one.0, theirs.0), "1".to_owned()] {
        labels(&foreign).expect(404);
    }
    let many: Vec<String> = (1..=51).map(|number: u32| number.to_string()).collect();
    for wrong in [String::new(), "x".to_owned(), "1,".to_owned(), many.join(",")] {
        labels(&wrong).expect(400);
    }
    // To fetch marks nothing.
    let to_print = || ana.get(&format!("{BASE}/summary")).expect(200).json()["to_print"].clone();
    let printed = || shop.site.stored("SELECT count(*) || '' FROM label_print")[0].clone();
    assert_eq!(printed(), "0", "{}", to_print());
    let orders = json!({ "order_ids": [one.0, two.0] });
    let told = done(&ana, "labels/printed", &orders);
    assert_eq!(told, json!({ "printed": 2, "unchanged": 0 }));
    assert_eq!(done(&ana, "labels/printed", &orders), json!({ "printed": 0, "unchanged": 2 }));
    post(&ana, "labels/printed", &json!({ "order_ids": [one.0, theirs.0] })).expect(404);
    post(&ana, "labels/printed", &json!({ "order_ids": [] })).expect(400);
    assert_eq!(printed(), "2");
    let page = shop.ana().get("/painel/ml/etiquetas?parte=impressas").expect(200).text();
    assert!(page.contains(&one.1), "{page}");
    let noted = audited(&shop.site, "etiqueta.baixar");
    assert_eq!(noted.len(), 2, "{noted:?}");
    assert_eq!(audited(&shop.site, "etiqueta.imprimir").len(), 1);
}

#[test]
fn a_fiscal_note_is_the_sellers_own() {
    let shop = Shop::open();
    let (ana, rui) = (shop.site.seller("ana").plan("pro"), shop.site.seller("rui").plan("pro"));
    let (order, _) = shop.sell(LOJA, true);
    shop.wait_for(&shop.ana(), 1);
    let path = format!("{BASE}/orders/{order}/invoice");
    let said = refused(ana.get(&path), 404);
    assert!(said.contains("ainda não tem nota"), "{said}");
    let issued = json!({ "invoice": "issued", "notify": false });
    shop.world.control(&format!("/_sandbox/orders/{order}"), &issued);
    let note = ana.get(&path).expect(200);
    assert!(note.body.starts_with(b"%PDF-") && note.text().contains(&order), "{note}");
    rui.get(&path).expect(404);
    let noted = audited(&shop.site, "nota.baixar");
    assert_eq!(noted, [" {\"token\":\"command line\"}"]);
}
