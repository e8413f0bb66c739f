//! Records of another person are not found, on every route that takes a number
//! or a filter. Driven by the route table, so a new row has to say whose
//! records its address names.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::dropshipping::{listing, number, relate};
use crate::support::oauth::{Program, REDIRECT};
use crate::support::receiver::{Receiver, with_push};
use crate::support::site::Site;
use crate::support::sync::{wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::World;

const OWN: u64 = 900_000_001;
const THEIRS: u64 = 900_000_002;
/// A text in all of Rui's records.
const SECRET: &str = "SEGREDO";
/// A number that no record has.
const NOBODYS: &str = "987654321987";

/// The numbers of Rui's records.
struct Theirs {
    account: String,
    order: String,
    shipment: String,
    item: String,
    question: String,
    reply: String,
    claim: String,
    product: String,
    session: String,
    device: String,
    notification: String,
    token: String,
    webhook: String,
    seller: String,
    supplier: String,
    invitation: String,
    link: String,
    drop_order: String,
    app: String,
    announcement: String,
    batch: String,
    view: String,
}

impl Theirs {
    /// Fills Rui's shop, and Ana's with other records.
    #[track_caller]
    fn made(world: &World, site: &Site) -> Self {
        Self::open_shops(world);
        let (ana, rui) = (site.person("ana"), site.person("rui"));
        world.link(&ana, OWN);
        world.link(&rui, THEIRS);
        wait_until_read(site, &ana);
        wait_until_read(site, &rui);
        let zoe = Self::trade(site, &rui);
        site.clock().advance_s(60);
        world.sale(OWN);
        let sale = world.sale_with(THEIRS, &json!({ "buyer_nickname": "COMPRADOR-SEGREDO" }));
        let ready =
            json!({ "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print" });
        world.control(&format!("/_sandbox/orders/{}", sale["id"]), &ready);
        let asked = json!({ "ml_user_id": THEIRS, "text": "Tem SEGREDO azul?" });
        let question = world.control("/_sandbox/questions", &asked);
        let reply = json!({ "titulo": "Resposta SEGREDO", "texto": "Olá, SEGREDO" });
        let reply = rui.post("/painel/respostas", &reply).expect(201).json();
        let claim = world.control("/_sandbox/claims", &json!({ "ml_user_id": THEIRS }));
        let product = json!({ "titulo": "Produto SEGREDO", "sku": "SKU-SEGREDO", "estoque": 5 });
        let product = rui.post("/painel/produtos", &product).expect(201).json();
        let token = json!({ "nome": "Token SEGREDO" });
        let token = rui.post("/painel/parceiro/tokens", &token).expect(201).json();
        Program::registered(site, "App SEGREDO", REDIRECT).connect(&rui, "partner:read");
        site.keep_secret("token", token["token"].as_str().unwrap());
        let webhook = json!({ "url": "https://gancho.invalid/SEGREDO", "eventos": ["order.paid"] });
        crate::support::hooked::with_plan(site, &rui);
        let webhook = rui.post("/painel/parceiro/webhooks", &webhook).expect(201).json();
        site.keep_secret("webhook secret", webhook["segredo"].as_str().unwrap());
        Receiver::new(world, "segredo").switch_on(&rui).expect(201);
        world.deliveries();
        for (list, count) in [("vendas", 1), ("anuncios", 1), ("perguntas", 1), ("reclamacoes", 1)]
        {
            until(list, Duration::from_mins(1), || {
                site.clock().advance_s(5);
                (json_of(&rui, &format!("/painel/{list}"))["total"] == count).then_some(())
            });
        }
        wait_until_worked(world, site);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let profile = json_of(&rui, "/perfil");
        let alerts = json_of(&rui, "/perfil/avisos");
        let told = site.extension("rui").get("/api/ext/me").ok();
        Self {
            account: THEIRS.to_string(),
            order: text(&sale["id"]),
            shipment: text(&sale["shipment"]["id"]),
            item: sale["item"].as_str().unwrap().to_owned(),
            question: text(&question["id"]),
            reply: text(&reply["id"]),
            claim: text(&claim["id"]),
            product: text(&product["id"]),
            session: text(&profile["sessoes"][0]["id"]),
            device: text(&alerts["push"]["aparelhos"][0]["id"]),
            notification: text(&told["ml"]["notificacoes"][0]["id"]),
            token: text(&token["id"]),
            webhook: text(&webhook["id"]),
            seller: number(site, &rui),
            supplier: number(site, &zoe),
            invitation: text(&json_of(&zoe, "/fornecedor/vendedores")["convites"][0]["id"]),
            link: text(&json_of(&zoe, "/fornecedor/vinculos")["dados"][0]["id"]),
            drop_order: text(&json_of(&zoe, "/fornecedor/pedidos")["dados"][0]["id"]),
            app: text(&json_of(&rui, "/painel/parceiro")["aplicativos"][0]["id"]),
            announcement: Self::told(site),
            batch: Self::printed(site, &rui),
            view: Self::kept(&rui),
        }
    }

    /// Ana's shop and Rui's, each with a listing.
    #[track_caller]
    fn open_shops(world: &World) {
        for (seller, nickname, title) in
            [(OWN, "LOJA DA ANA", "Garrafa"), (THEIRS, "LOJA-SEGREDO", "Caneca SEGREDO")]
        {
            world.seller(seller, nickname);
            world.item(seller, title, 45.6);
        }
    }

    /// A batch of labels that Rui has printed.
    #[track_caller]
    fn printed(site: &Site, rui: &Actor<'_>) -> String {
        let print = Request::new("POST", "/painel/ml/etiquetas/imprimir");
        rui.send(print.form(&[("todos", "1")])).expect(303);
        site.stored("SELECT CAST(max(batch_id) AS TEXT) FROM label_batch").remove(0)
    }

    /// A list that Rui keeps under a name.
    #[track_caller]
    fn kept(rui: &Actor<'_>) -> String {
        let view = json!({ "lista": "/painel/produtos?q=SEGREDO", "nome": "Visão SEGREDO" });
        rui.post("/visoes", &view).ok();
        let kept = json_of(rui, "/visoes?lista=/painel/produtos");
        kept[0]["id"].to_string()
    }

    /// An announcement to somebody with another plan.
    #[track_caller]
    fn told(site: &Site) -> String {
        site.person_as("bela", "pro");
        let operator = site.administrator();
        let entry = json!({ "titulo": "Aula SEGREDO", "texto": "SEGREDO", "planos": ["pro"] });
        let made = operator.post("/admin/comunicados", &entry).expect(201).json();
        let id = made["id"].as_str().unwrap().to_owned();
        let page = format!("/admin/comunicados/{id}");
        operator.post(&format!("{page}/enviar"), &json!({})).expect(200);
        until("the announcement is sent", Duration::from_mins(1), || {
            (json_of(&operator, &page)["estado"] == "enviado").then_some(())
        });
        id
    }

    /// A supplier whose product Rui's listing sells.
    #[track_caller]
    fn trade<'s>(site: &'s Site, rui: &Actor<'_>) -> Actor<'s> {
        let zoe = site.person_as("zoe", "drop");
        let product = json!({ "titulo": "Fornecido SEGREDO", "sku": "FOR-SEGREDO", "preco": 5 });
        zoe.post("/fornecedor/produtos", &product).expect(201);
        zoe.post("/fornecedor/convites", &json!({ "email": "outra@example.com" })).expect(201);
        relate(site, &zoe, rui);
        let link = json!({
            "vendedor": number(site, rui), "anuncio": listing(site, rui), "sku": "FOR-SEGREDO",
        });
        zoe.post("/fornecedor/vinculos", &link).expect(201);
        zoe
    }

    /// All these numbers.
    fn all(&self) -> [&str; 19] {
        [
            &self.account,
            &self.order,
            &self.shipment,
            &self.item,
            &self.question,
            &self.reply,
            &self.claim,
            &self.product,
            &self.session,
            &self.device,
            &self.notification,
            &self.token,
            &self.webhook,
            &self.seller,
            &self.supplier,
            &self.invitation,
            &self.link,
            &self.drop_order,
            &self.app,
        ]
    }

    /// The number that a path with a variable names.
    fn named_by(&self, path: &str) -> Option<&str> {
        Some(match path.split('{').next().unwrap() {
            "/painel/ml/contas/" | "/api/v1/partner/stores/" | "/v1/partner/stores/" => {
                &self.account
            }
            "/painel/vendas/" | "/api/v1/partner/orders/" | "/v1/partner/orders/" => &self.order,
            "/painel/anuncios/" => &self.item,
            "/painel/reclamacoes/" | "/api/v1/partner/claims/" | "/v1/partner/claims/" => {
                &self.claim
            }
            "/painel/ml/etiquetas/lote/" => &self.batch,
            "/visoes/" => &self.view,
            "/painel/perguntas/" | "/api/v1/partner/questions/" | "/v1/partner/questions/" => {
                &self.question
            }
            "/painel/respostas/" => &self.reply,
            "/painel/produtos/" | "/fornecedor/produtos/" => &self.product,
            "/painel/parceiro/tokens/" | "/fornecedor/parceiro/tokens/" => &self.token,
            "/painel/parceiro/aplicativos/"
            | "/fornecedor/parceiro/aplicativos/"
            | "/painel/parceiro/conexoes/"
            | "/fornecedor/parceiro/conexoes/" => &self.app,
            "/painel/parceiro/webhooks/"
            | "/fornecedor/parceiro/webhooks/"
            | "/api/v1/partner/webhooks/"
            | "/v1/partner/webhooks/"
            | "/api/v1/partner/drop/webhooks/"
            | "/v1/partner/drop/webhooks/" => &self.webhook,
            "/painel/parceiro/convites/" | "/fornecedor/convites/" => &self.invitation,
            "/painel/parceiro/fornecedores/" => &self.supplier,
            "/fornecedor/vendedores/" => &self.seller,
            "/fornecedor/vinculos/" => &self.link,
            "/fornecedor/pedidos/" => &self.drop_order,
            "/painel/comunicados/" => &self.announcement,
            "/perfil/push/aparelhos/" => &self.device,
            "/perfil/sessoes/" => &self.session,
            _ => return None,
        })
    }

    /// Everything of Rui's records that others could change, as text.
    fn state(site: &Site) -> Vec<String> {
        let owner = "(SELECT user_id FROM user WHERE email = 'rui@example.com')";
        site.stored(&format!(
            "SELECT 'account ' || token_ok FROM ml_account WHERE owner_id = {owner}
             UNION ALL SELECT 'question ' || state || coalesce(answer, '-') FROM question WHERE owner_id = {owner}
             UNION ALL SELECT 'reply ' || title FROM saved_reply WHERE owner_id = {owner}
             UNION ALL SELECT 'product ' || title || ' ' || stock FROM product WHERE owner_id = {owner}
             UNION ALL SELECT 'session ' || count(*) FROM session WHERE user_id = {owner} AND ended_at IS NULL
             UNION ALL SELECT 'device ' || count(*) FROM push_device WHERE user_id = {owner}
             UNION ALL SELECT 'tokens ' || count(*) || sum(may_change) FROM partner_token WHERE user_id = {owner} AND revoked_at IS NULL
             UNION ALL SELECT 'apps ' || count(*) FROM oauth_grant WHERE user_id = {owner}
             UNION ALL SELECT 'webhook ' || url || state FROM webhook_endpoint WHERE user_id = {owner}
             UNION ALL SELECT 'unread ' || unread FROM notification_count WHERE owner_id = {owner}
             UNION ALL SELECT 'asked ' || coalesce(max(asked_at), 'never') FROM ml_sync s
                 JOIN ml_account a USING (ml_user_id) WHERE a.owner_id = {owner}
             UNION ALL SELECT 'views ' || count(*) FROM saved_view WHERE user_id = {owner}
             UNION ALL SELECT 'batches ' || count(*) FROM label_batch WHERE owner_id = {owner}
             UNION ALL SELECT 'links ' || count(*) FROM drop_link WHERE seller_id = {owner}
             UNION ALL SELECT 'relations ' || coalesce(group_concat(state), '') FROM drop_relation
                 WHERE seller_id = {owner} OR email = 'outra@example.com'
             UNION ALL SELECT 'owed ' || state || ' ' || coalesce(reminded_at, 'never') FROM drop_order
                 WHERE seller_id = {owner}"
        ))
    }
}

/// Paths with a variable that name records of everybody, or of the operator.
fn is_nobodys(path: &str) -> bool {
    [
        "/.well-known/acme-challenge/",
        "/admin/",
        "/assets/",
        "/convite/",
        "/desenvolvedores/referencia/",
        "/fotos/",
        "/painel/aulas/",
        "/painel/meets/",
    ]
    .iter()
    .any(|common| path.starts_with(common))
}

/// A body that every form reads something from.
fn body() -> Value {
    json!({
        "resposta": "Tenho sim", "titulo": "Tomado", "sku": "TOMADO", "tipo": "saida",
        "quantidade": 1, "motivo": "nenhum",
    })
}

/// A reply without the parts that differ between any two replies.
fn said(reply: &Reply) -> String {
    let id = reply.header("x-request-id").unwrap_or_default();
    let path = reply.asked.split(' ').nth(1).unwrap();
    reply.text().replace(id, "").replace(path, "")
}

#[track_caller]
fn check_quiet(reply: &Reply, sent: &str, theirs: &Theirs) {
    let text = reply.text();
    assert!(!text.contains(SECRET), "{reply}");
    for number in theirs.all() {
        // A sent number may be shown again. Short numbers are on any page.
        let is_told = sent != number && number.len() > 5 && text.contains(number);
        assert!(!is_told, "{number} shows in\n{reply}");
    }
}

#[test]
fn what_is_anothers_is_not_there_on_any_route() {
    let world = World::start();
    let site = with_push(&world).start();
    let theirs = Theirs::made(&world, &site);
    let before = Theirs::state(&site);
    assert_eq!(before.len(), 16, "{before:?}");
    let (ana, supplier) = (site.person("ana"), site.person_as("davi", "drop"));
    let seller = site.seller("ana").plan("scale");
    relate(&site, &supplier, &ana);
    let program = site.supplier("davi").plan("scale");
    until("the supplier's program is known", Duration::from_mins(1), || {
        (program.get("/api/v1/partner/drop/health").status == 200).then_some(())
    });
    world.forget_requests();
    let mut asked = 0;
    for route in site.routes() {
        if !route.path.contains('{') || is_nobodys(&route.path) {
            continue;
        }
        let Some(number) = theirs.named_by(&route.path) else {
            panic!("{} {}: whose things does it name?", route.method, route.path);
        };
        let actor = match &*route.call {
            "seller" => &seller,
            "supplier" => &program,
            call if call.contains("supplier") => &supplier,
            _ => &ana,
        };
        let ask = |number: &str| -> Vec<Reply> {
            let (begin, rest) = route.path.split_once('{').unwrap();
            let end = rest.split_once('}').unwrap().1;
            let request = Request::new(&route.method, &format!("{begin}{number}{end}"));
            let requests = if route.method == "GET" {
                let json = request.clone().header("Accept", "application/json");
                vec![request.header("Accept", "text/html"), json]
            } else {
                let html = request.clone().header("Accept", "text/html");
                let fields = body();
                let fields: Vec<(&str, &str)> = fields
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or("1")))
                    .collect();
                vec![html.form(&fields), request.json(&body())]
            };
            requests.into_iter().map(|request| actor.send(request)).collect()
        };
        for (reply, nobodys) in ask(number).iter().zip(ask(NOBODYS)) {
            assert_eq!(reply.status, 404, "{reply}");
            assert_eq!(said(reply), said(&nobodys), "it can be told from nobody's");
            check_quiet(reply, number, &theirs);
            asked += 1;
        }
    }
    assert!(asked >= 20, "{asked}");
    let calls = world.requests();
    assert!(calls.iter().all(|call| call["ml_user_id"] != THEIRS), "{calls:?}");
    assert_eq!(Theirs::state(&site), before);
}

/// Parameters that filter on some route, and fields of bodies.
const NAMES: [&str; 20] = [
    "conta",
    "anuncio",
    "item",
    "q",
    "busca",
    "id",
    "ids",
    "seller_id",
    "ml_user_id",
    "account",
    "store",
    "shipment_id",
    "pedido",
    "order_id",
    "order_ids",
    "produto",
    "ml_id",
    "vendedor",
    "fornecedor",
    "ship_id",
];

#[test]
fn what_is_anothers_shows_in_no_list_and_no_tool() {
    let world = World::start();
    let site = with_push(&world).start();
    let theirs = Theirs::made(&world, &site);
    let before = Theirs::state(&site);
    let (ana, supplier) = (site.person("ana"), site.person_as("davi", "drop"));
    let (extension, integration) = (site.extension("ana"), site.seller("ana").plan("scale"));
    let program = site.supplier("davi").plan("scale");
    // A member of the agency's team, which has no account yet.
    let staff = crate::support::agency::staff(&site, "lia");
    relate(&site, &supplier, &ana);
    let of = |call: &str| -> Option<&Actor<'_>> {
        Some(match call {
            "session:student" | "session:anyone" => &ana,
            "session:supplier" => &supplier,
            "session:agency" => &staff,
            "extension" => &extension,
            "seller" => &integration,
            "supplier" => &program,
            _ => return None,
        })
    };
    world.forget_requests();
    let mut asked = 0;
    for route in site.routes() {
        let Some(actor) = of(&route.call) else {
            continue;
        };
        // These start something for one's own account.
        let is_own = ["/painel/ml/conectar", "/painel/ml/retorno", "/api/ext/logout"]
            .contains(&&*route.path);
        if route.path.contains('{') || is_own || route.method != "GET" {
            continue;
        }
        for number in theirs.all() {
            let digits = number.trim_start_matches("MLB");
            let pairs = NAMES.map(|name| format!("{name}={digits}&"));
            // Each one alone, and with the other parameters that a tool needs.
            for query in pairs.iter().map(String::as_str).chain([&*pairs.concat()]) {
                let target = format!("{}?{query}conta={OWN}", route.path);
                let narrowed = format!("{}?{query}", route.path);
                for target in [narrowed, target] {
                    let request = Request::new("GET", &target).header("Accept", "application/json");
                    check_quiet(&actor.send(request), digits, &theirs);
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 3_000, "{asked}");
    tools_say_so(&theirs, &ana, &extension);
    let calls = world.requests();
    assert!(calls.iter().all(|call| call["ml_user_id"] != THEIRS), "{calls:?}");
    assert_eq!(Theirs::state(&site), before);
}

fn tools_say_so(theirs: &Theirs, ana: &Actor<'_>, extension: &Actor<'_>) {
    // Tools that are asked for one account or parcel say 404.
    for target in [
        format!("/painel/ml/etiqueta?conta={THEIRS}&shipment_id={}", theirs.shipment),
        format!("/painel/ml/etiqueta?conta={OWN}&shipment_id={}", theirs.shipment),
        format!("/painel/ml/calculadora/taxas-json?conta={THEIRS}&preco=50&categoria=MLB31447"),
        format!("/painel/vendas?conta={THEIRS}"),
        format!("/painel/vendas?conta={THEIRS}&formato=csv"),
        format!("/painel/anuncios?conta={THEIRS}"),
        format!("/painel/perguntas?conta={THEIRS}"),
        format!("/painel/reclamacoes?conta={THEIRS}"),
    ] {
        check_quiet(&ana.get(&target).expect(404), &theirs.shipment, theirs);
    }
    for (actor, path) in [(ana, "/painel/avisos/lidos"), (extension, "/api/ext/notificacoes/lidas")]
    {
        let read =
            actor.post(path, &json!({ "ids": [theirs.notification], "id": theirs.notification }));
        check_quiet(&read, &theirs.notification, theirs);
    }
}
