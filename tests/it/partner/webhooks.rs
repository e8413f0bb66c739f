//! Webhooks: what programs receive, how it is signed, and what owners see.

use serde_json::json;

use crate::support::client::Request;
use crate::support::dropshipping::Trade;
use crate::support::hooked::{Receiver, WEBHOOKS, json_of, make, near, signature, with_plan};
use crate::support::shop::Shop;
use crate::support::site::Site;
use crate::support::sync::{joined, quiet_sale, shop, wait_until_read, wait_until_worked};
use crate::support::world::LOJA;

const ORDERS: [&str; 4] = ["order.created", "order.paid", "order.cancelled", "order.shipped"];

#[test]
fn a_secret_is_shown_once_and_signs_everything() {
    let (site, receiver) = (near(Site::builder().unlimited()).start(), Receiver::start());
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/a?chave=1"), &["stock.changed"]);
    assert!(made.secret.starts_with("whsec_") && made.secret.len() == 50, "{}", made.secret);
    made.test(&ana);
    let hit = receiver.wait_for(1).remove(0);
    assert_eq!(hit.path, "/a?chave=1");
    assert_eq!(hit.signature, signature(&made.secret, &hit.id, hit.timestamp, &hit.body));
    assert_eq!(hit.timestamp, site.clock().now().as_second());
    let body = hit.json();
    assert_eq!((&body["type"], &body["id"]), (&json!("endpoint.test"), &json!(hit.id)));
    assert!(body["timestamp"].is_string() && body["data"].is_object(), "{body}");
    let delivery = made.wait(&ana, 1, |one| one["estado"] == "entregue");
    assert_eq!((&delivery["status"], &delivery["tentativas"]), (&json!(204), &json!(1)));
    assert_eq!(delivery["corpo"], body);
    assert!(!made.read(&ana).to_string().contains(&made.secret[6..]));
    let stored = site.stored("SELECT hex(secret) FROM webhook_endpoint");
    assert_eq!(stored.len(), 1);
    let audit = "SELECT action || ' ' || object_name || ' ' || after FROM audit WHERE object_kind = 'webhook'";
    let audited = site.stored(audit).join("\n");
    assert!(audited.starts_with("webhook.criar http://127.0.0.1"), "{audited}");
    assert!(!audited.contains("chave=1"), "a query may hold a secret: {audited}");
}

#[test]
fn another_secret_signs_beside_the_old_one_for_a_day() {
    let (site, receiver) = (near(Site::builder().unlimited()).start(), Receiver::start());
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &["stock.changed"]);
    let changed = ana.post(&made.path("/segredo"), &json!({})).expect(200).json();
    let new = changed["segredo"].as_str().unwrap().to_owned();
    site.keep_secret("webhook secret", &new);
    assert_ne!(new, made.secret);
    made.test(&ana);
    let hit = receiver.wait_for(1).remove(0);
    let by = |secret: &str| signature(secret, &hit.id, hit.timestamp, &hit.body);
    assert_eq!(hit.signature, format!("{} {}", by(&new), by(&made.secret)));
    site.clock().advance_s(86_401);
    let ana = site.person("ana");
    made.test(&ana);
    let hit = receiver.wait_for(2).remove(1);
    assert_eq!(hit.signature, signature(&new, &hit.id, hit.timestamp, &hit.body));
}

#[test]
fn a_sale_is_told_once_in_its_order_and_history_is_not() {
    let shop = Shop::open_with(near);
    let receiver = Receiver::start();
    let ana = shop.ana();
    let made = make(&shop.site, &ana, &receiver.url("/"), &ORDERS);
    let (order, _) = shop.sell(LOJA, true);
    wait_until_worked(&shop.world, &shop.site);
    let change = |fields: &serde_json::Value| {
        shop.world.control(&format!("/_sandbox/orders/{order}"), fields);
        wait_until_worked(&shop.world, &shop.site);
    };
    change(&json!({ "shipping_status": "shipped", "notify": true }));
    change(&json!({ "shipping_status": "delivered", "notify": true }));
    change(&json!({ "status": "cancelled", "notify": true }));
    let hits = receiver.wait_for(4);
    let kinds: Vec<String> = hits.iter().map(crate::support::hooked::Hit::kind).collect();
    assert_eq!(kinds, ["order.created", "order.paid", "order.shipped", "order.cancelled"]);
    let shown = hits[3].json()["data"].clone();
    let seller = shop.site.seller("ana").plan("pro");
    let listed = crate::support::wait::until(
        "the plan is known",
        std::time::Duration::from_secs(20),
        || {
            let reply = seller.get("/api/v1/partner/orders");
            (reply.status == 200).then(|| reply.json())
        },
    );
    assert_eq!(shown, listed["data"][0], "the object is as the API shows it");
    // The same state again sends nothing, and neither do records from before.
    change(&json!({ "status": "cancelled", "notify": true }));
    shop.world.link(&ana, LOJA);
    wait_until_read(&shop.site, &ana);
    made.test(&ana);
    let hits = receiver.wait_for(5);
    assert_eq!((hits.len(), hits[4].kind()), (5, "endpoint.test".to_owned()));
}

#[test]
fn sales_of_before_an_account_was_linked_are_not_told() {
    let (world, receiver) = (shop(), Receiver::start());
    for _ in 0..3 {
        quiet_sale(&world, LOJA);
    }
    let site = near(joined(&world)).start();
    let ana = site.person("ana");
    let made = make(&site, &ana, &receiver.url("/"), &ORDERS);
    world.clock().advance_s(60);
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    made.test(&ana);
    let hits = receiver.wait_for(1);
    assert_eq!(hits[0].kind(), "endpoint.test");
    assert_eq!(made.deliveries(&ana).len(), 1);
}

#[test]
fn questions_claims_and_stock_are_told() {
    let shop = Shop::open_with(near);
    let (ana, receiver) = (shop.ana(), Receiver::start());
    let kinds = ["question.received", "claim.opened", "stock.changed"];
    let made = make(&shop.site, &ana, &receiver.url("/"), &kinds);
    shop.world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA, "text": "Tem azul?" }));
    wait_until_worked(&shop.world, &shop.site);
    let question = receiver.wait_for(1).remove(0).json();
    assert_eq!(question["type"], "question.received");
    assert_eq!(
        (&question["data"]["text"], &question["data"]["status"]),
        (&json!("Tem azul?"), &json!("unanswered"))
    );

    let order = shop.world.sale(LOJA)["id"].clone();
    shop.world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA, "order": order }));
    wait_until_worked(&shop.world, &shop.site);
    let claim = receiver.wait_for(2).remove(1).json();
    assert_eq!(
        (&claim["type"], &claim["data"]["status"]),
        (&json!("claim.opened"), &json!("opened"))
    );
    assert_eq!(claim["data"]["order_id"], order.to_string());

    let product = json!({ "sku": "GAR-9", "titulo": "Garrafa", "preco": 20, "estoque": 7 });
    let id = ana.post("/painel/produtos", &product).expect(201).json()["id"].clone();
    let told = receiver.wait_for(3).remove(2).json();
    assert_eq!((&told["type"], &told["data"]["balance"]), (&json!("stock.changed"), &json!(7)));
    assert_eq!(
        (&told["data"]["product_id"], &told["data"]["movements"][0]["quantity"]),
        (&id, &json!(7))
    );
    let moved = json!({ "tipo": "saida", "quantidade": 2, "motivo": "Quebra" });
    ana.post(&format!("/painel/produtos/{}/movimentos", id.as_str().unwrap()), &moved).expect(201);
    let told = receiver.wait_for(4).remove(3).json();
    assert_eq!(told["data"]["balance"], 5);
    made.wait(&ana, 4, |delivery| delivery["estado"] == "entregue");
    assert_eq!(made.read(&ana)["entregues"], 4);
}

#[test]
fn suppliers_are_told_of_their_orders_alone() {
    let trade = Trade::open_with(near);
    let receiver = Receiver::start();
    let (site, supplier) = (&trade.shop.site, trade.shop.site.person_as("sol", "drop"));
    let kinds = ["drop_order.created", "drop_order.paid", "drop_order.cancelled"];
    make(site, &supplier, &receiver.url("/"), &kinds);
    trade.link();
    let order = trade.sell(2);
    let created = receiver.wait_for(1).remove(0).json();
    assert_eq!(created["type"], "drop_order.created");
    assert_eq!(
        (&created["data"]["order_id"], &created["data"]["amount_due"]),
        (&json!(order), &json!(40))
    );
    let id = created["data"]["drop_order_id"].as_str().unwrap().to_owned();
    supplier.post(&format!("/fornecedor/pedidos/{id}/pago"), &json!({})).expect(200);
    let paid = receiver.wait_for(2).remove(1).json();
    assert_eq!(
        (&paid["type"], &paid["data"]["status"]),
        (&json!("drop_order.paid"), &json!("paid"))
    );
    trade.change(&order, &json!({ "status": "cancelled", "notify": true }));
    let cancelled = receiver.wait_for(3).remove(2).json();
    assert_eq!(
        (&cancelled["type"], &cancelled["data"]["status"]),
        (&json!("drop_order.cancelled"), &json!("cancelled"))
    );
    // Events for sellers are not available to suppliers, and vice versa.
    for (actor, kind) in [(&supplier, "order.paid"), (&trade.shop.ana(), "drop_order.paid")] {
        let base = crate::support::hooked::base_of(actor);
        let asked = json!({ "url": receiver.url("/"), "eventos": [kind] });
        let refused = actor.post(base, &asked).expect(422).json();
        assert!(refused["fields"]["eventos"].is_string(), "{refused}");
    }
}

#[test]
fn endpoints_are_public_few_and_their_owners_affair() {
    let site = Site::builder().unlimited().start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let entry = |url: &str| json!({ "url": url, "eventos": ["order.paid"] });
    for url in [
        "http://exemplo.com/",
        "https://localhost/x",
        "https://127.0.0.1/x",
        "http://127.0.0.1:9000/x",
        "https://10.1.2.3/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://ana:b@exemplo.com/x",
        "https://exemplo.com:22/x",
        "ftp://exemplo.com/x",
        "exemplo.com",
        "",
    ] {
        let refused = ana.post(WEBHOOKS, &entry(url)).expect(422).json();
        assert!(refused["fields"]["url"].is_string(), "{url}: {refused}");
    }
    for events in [json!([]), json!(["order.lost"]), json!("order.paid"), json!(null)] {
        let asked = json!({ "url": "https://exemplo.com/", "eventos": events });
        if events != json!("order.paid") {
            ana.post(WEBHOOKS, &asked).expect(422);
        }
    }
    let made = make(&site, &ana, "https://exemplo.com/x", &["order.paid"]);
    for (method, below) in [
        ("GET", ""),
        ("POST", ""),
        ("POST", "/excluir"),
        ("POST", "/segredo"),
        ("POST", "/testar"),
        ("POST", "/ligar"),
        ("POST", "/desligar"),
        ("POST", "/reenviar"),
        ("GET", "/entregas"),
        ("GET", "/entregas/1"),
        ("POST", "/entregas/1/reenviar"),
    ] {
        let request = Request::new(method, &made.path(below)).header("Accept", "application/json");
        let request =
            if method == "POST" { request.json(&entry("https://a.com/")) } else { request };
        rui.send(request).expect(404);
    }
    assert_eq!(json_of(&rui, WEBHOOKS)["total"], 0);
    for number in 2..=20 {
        make(&site, &ana, &format!("https://exemplo.com/{number}"), &["order.paid"]);
    }
    assert_eq!(ana.post(WEBHOOKS, &entry("https://exemplo.com/21")).expect(409).code(), "conflict");
    ana.post(&made.path("/excluir"), &json!({})).expect(200);
    make(&site, &ana, "https://exemplo.com/21", &["order.paid"]);
    assert_eq!(json_of(&ana, WEBHOOKS)["total"], 20);
}

#[test]
fn endpoints_need_a_plan_and_rest_without_one() {
    let (site, receiver) = (near(Site::builder().unlimited()).start(), Receiver::start());
    let (ana, zoe) = (site.person("ana"), site.person_as("zoe", "drop"));
    let entry = json!({ "url": receiver.url("/"), "eventos": ["stock.changed"] });
    assert_eq!(ana.post(WEBHOOKS, &entry).expect(402).code(), "plan_required");
    let drops = json!({ "url": receiver.url("/"), "eventos": ["drop_order.paid"] });
    let refused = zoe.post("/fornecedor/parceiro/webhooks", &drops).expect(402);
    assert_eq!(refused.code(), "plan_required");
    let form = [("url", &*receiver.url("/")), ("eventos", "stock.changed")];
    ana.send(Request::new("POST", WEBHOOKS).form(&form)).expect(303);
    let page = ana.get(WEBHOOKS).expect(200).text();
    assert!(page.contains("não tem um plano da API em vigor"), "{page}");
    assert_eq!(site.stored("SELECT count(*) || '' FROM webhook_endpoint"), ["0"]);

    let made = make(&site, &ana, &receiver.url("/"), &["stock.changed"]);
    let page = ana.get(WEBHOOKS).expect(200).text();
    assert!(!page.contains("não tem um plano"), "{page}");
    let product = json!({ "sku": "A-1", "titulo": "Garrafa", "preco": 20, "estoque": 10 });
    let product = ana.post("/painel/produtos", &product).expect(201).json();
    let moves = format!("/painel/produtos/{}/movimentos", product["id"].as_str().unwrap());
    let take_out = || {
        let moved = json!({ "tipo": "saida", "quantidade": 1, "motivo": "" });
        ana.post(&moves, &moved).expect(201);
    };
    receiver.wait_for(1);
    let plan = |plan: &str| {
        site.command(&["partner", "plan", "--email", "ana@example.com", "--plan", plan]).ok();
    };
    plan("none");
    take_out();
    crate::support::wait::until(
        "the event is done with",
        std::time::Duration::from_secs(20),
        || (site.stored("SELECT count(*) || '' FROM webhook_event") == ["0"]).then_some(()),
    );
    for below in ["/testar", "/entregas/1/reenviar"] {
        let refused = ana.post(&made.path(below), &json!({})).expect(402);
        assert_eq!(refused.code(), "plan_required", "{below}");
    }
    let span = json!({ "de": "2026-11-01 00:00:00", "ate": "2026-12-01 00:00:00" });
    ana.post(&made.path("/reenviar"), &span).expect(402);
    assert!(ana.get(&made.path("")).expect(200).text().contains("não tem um plano"));
    // What is there can be read, switched off and changed.
    ana.post(&made.path("/desligar"), &json!({})).expect(200);
    ana.post(&made.path("/ligar"), &json!({})).expect(402);
    ana.post(&made.path(""), &entry).expect(200);
    plan("starter");
    ana.post(&made.path("/ligar"), &json!({})).expect(200);
    take_out();
    let hits = receiver.wait_for(2);
    assert_eq!(hits[1].json()["data"]["balance"], 8, "the movement before is not told");
    assert_eq!(made.deliveries(&ana).len(), 2);
}

#[test]
fn a_failure_does_not_tell_which_names_exist_inside() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    // The first leads to this machine; the second cannot exist.
    let nowhere = format!("https://{}.invalid/", "a".repeat(64));
    let said = ["https://127.1/", &nowhere].map(|url| {
        let made = make(&site, &ana, url, &["stock.changed"]);
        let number = made.test(&ana);
        made.wait(&ana, number, |one| one["tentativas"] == 1)["erro"].clone()
    });
    assert!(said[0].is_string(), "{said:?}");
    assert_eq!(said[0], said[1]);
}

#[test]
fn a_browser_makes_changes_and_removes_an_endpoint() {
    let (site, receiver) = (near(Site::builder().unlimited()).start(), Receiver::start());
    let ana = site.person("ana");
    with_plan(&site, &ana);
    assert!(ana.get(WEBHOOKS).expect(200).text().contains("Nenhum webhook ainda"));
    let url = receiver.url("/loja");
    let faulty = Request::new("POST", WEBHOOKS).form(&[("url", "http://exemplo.com")]);
    let page = ana.send(faulty).expect(422).text();
    assert!(
        page.contains("precisa começar com https://")
            && page.contains("Marque pelo menos um evento."),
        "{page}"
    );
    let form = [("url", &*url), ("eventos", "order.paid"), ("eventos", "stock.changed")];
    let page = ana.send(Request::new("POST", WEBHOOKS).form(&form)).expect(200).text();
    let (_, rest) = page.split_once("whsec_").expect("the secret");
    let secret = format!("whsec_{}", &rest[..44]);
    site.keep_secret("webhook secret", &secret);
    let id = json_of(&ana, WEBHOOKS)["dados"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{WEBHOOKS}/{id}");
    let page = ana.get(&path).expect(200).text();
    assert!(page.contains(&url) && !page.contains("whsec_"), "{page}");
    ana.send(Request::new("POST", &format!("{path}/testar")).form(&[("a", "b")])).expect(303);
    receiver.wait_for(1);
    let page = crate::support::wait::until(
        "the page shows it",
        std::time::Duration::from_secs(20),
        || {
            let page = ana.get(&format!("{path}/entregas")).expect(200).text();
            page.contains("204 em").then_some(page)
        },
    );
    assert!(page.contains("endpoint.test") && page.contains("Entregue"), "{page}");
    let page = ana.get(&format!("{path}/entregas/1")).expect(200).text();
    assert!(page.contains("Este é um teste.") && page.contains("msg_"), "{page}");
    let csv = ana.get(&format!("{path}/entregas?formato=csv")).expect(200).text();
    assert!(csv.lines().count() == 2 && csv.contains("endpoint.test"), "{csv}");
    ana.send(Request::new("POST", &path).form(&[("url", &*url), ("eventos", "order.created")]))
        .expect(303);
    assert_eq!(json_of(&ana, &path)["eventos"], json!(["order.created"]));
    ana.send(Request::new("POST", &format!("{path}/desligar")).form(&[("a", "b")])).expect(303);
    assert!(ana.get(&path).expect(200).text().contains("Desligado"));
    ana.post(&format!("{path}/testar"), &json!({})).expect(409);
    ana.send(Request::new("POST", &format!("{path}/ligar")).form(&[("a", "b")])).expect(303);
    ana.send(Request::new("POST", &format!("{path}/excluir")).form(&[("a", "b")])).expect(303);
    ana.get(&path).expect(404);
    let left = "SELECT count(*) || '' FROM webhook_delivery";
    assert_eq!(site.stored(left), ["0"]);
}
