//! How SQLite runs the statements of the routes: no statement may scan a table
//! that grows with use, nor all rows with the same word, such as a state.
//!
//! At the level `trace` the server logs the plan of each statement it runs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::receiver::{DEVICES, Receiver};
use crate::support::site::Site;
use crate::support::telegram;
use crate::support::wait::until;
use crate::support::world::World;

const LOJA: u64 = 900_000_001;

/// Tables that always stay small: our own, or filled by hand with a limit.
const SMALL: &[&str] = &[
    "setting",
    "outbox_count",
    "request_log_count",
    "ml_notification_count",
    "ml_unlinked",
    "person_unsearched", // emptied every second, and read in pieces
    "word",
    "role_permission",
    "plan",
    "api_key",
    "teacher",
    "course",
    "person_count",
    "agency_client",
    "agency_question_count",
    "checkout_count",
    "student_import",
    "cron_task",
    "cron_run_count",
    "cron_mark",
    "ml_fee",
    "program_rule",
    "milestone",
    "milestone_lowered", // of twenty
    "product_import",    // those under way, one of a person
    "challenge",
    "agency_account",
    "agency_finding",
    "given", // what a statement is given as JSON
];

/// Scans that are known and bounded, each with its reason.
const KNOWN: &[(&str, &str)] = &[
    ("SCAN rate_window", "windows are read at start and after a command beside the server"),
    ("SCAN newest", "the inbox of purchases, newest first, as far as the page reaches"),
    ("SCAN webhook_event", "what is to be told, which is gone milliseconds later"),
    ("SCAN checkout_body", "the oldest bodies of purchases, so many at a time"),
    (
        "SCAN party",
        "accounts of the Partner API, in the operator's list of them: counted, and as far as a page reaches",
    ),
    (
        "SCAN announcement USING INDEX announcement_due",
        "announcements that wait for their time or are being sent",
    ),
    ("SCAN j USING INDEX agency_account_by_client", "accounts of the agency, all by client"),
    ("SCAN j USING COVERING INDEX agency_account_by_client", "the same, for their findings"),
    ("SCAN user USING INDEX user_late", "students whose renewal is unpaid"),
    (
        "SCAN ml_account USING COVERING INDEX ml_account_refused",
        "accounts that have to be linked again, at most a thousand",
    ),
    (
        "SCAN ml_account USING INDEX ml_account_unrenewed",
        "accounts whose link ends within hours, of which there are hardly any",
    ),
];

/// Scans over records that are made by hand and limited in number, only in the
/// operator's lists: the beginning of the step and a part of the statement.
const TYPED: [(&str, &str); 4] = [
    ("SCAN lesson", "LIKE ?1"),
    ("SCAN lesson", "count(*) FROM lesson) <"),
    ("SCAN meet", "LIKE ?1"),
    ("SCAN meet", "SELECT count(*) FROM meet"),
];

/// Scans that happen once, or at the start: a new key of ours removes all browsers; a
/// database without a mark of its key gets one when the key decrypts all encrypted
/// values; what a newer program reads of linked accounts is planned.
const ONCE: [(&str, &str); 5] = [
    ("SCAN a", "INSERT INTO ml_sync (ml_user_id, area, next_at, at_once)"),
    ("SCAN push_device", "DELETE FROM push_device"),
    ("SCAN ml_account", "SELECT ml_user_id, access_token, refresh_token FROM ml_account"),
    ("SCAN webhook_endpoint", "SELECT endpoint_id, secret FROM webhook_endpoint"),
    ("SCAN one_time_link", "SELECT link_hash, code FROM one_time_link"),
];

#[test]
fn no_statement_walks_a_table_that_grows() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa", 89.9);
    let site = Site::builder()
        .unlimited()
        .config("log.level", "trace")
        .config("log.format", "json")
        .world(&world)
        .config("telegram.bot_token", telegram::TOKEN)
        .config("telegram.api_base", format!("http://{}", world.address()))
        .config("push.subject", "mailto:contato@example.com")
        .config("push.extra_hosts", vec![world.address().to_string()])
        .start();
    crate::support::cron::some_history(&site);
    visit_everything(&site, &world);
    let log = site.log();
    let mut walks = BTreeSet::new();
    let mut plans = 0;
    for line in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(plan) = line["plan"].as_str() else {
            continue;
        };
        plans += 1;
        let sql = line["sql"].as_str().unwrap_or_default();
        let typed = |step: &str| {
            let is_it = |(walk, part): &(&str, &str)| step.starts_with(walk) && sql.contains(part);
            TYPED.iter().chain(&ONCE).any(is_it)
        };
        for step in plan.split("; ") {
            if is_walk(plan, step) && !typed(step) || is_coarse(step, sql) {
                walks.insert(format!("{step}\n    {sql}"));
            }
        }
    }
    assert!(plans > 50, "the log tells of {plans} statements only");
    assert!(walks.is_empty(), "{}", walks.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Whether a step of a plan searches by a word that most rows may share,
/// without a limit on the rows. (Searches for people name such an index
/// themselves: the rows that they read are measured.)
fn is_coarse(step: &str, sql: &str) -> bool {
    let shared = [
        "audit_of_actors (",
        "audit_of_objects (",
        "checkout_event_by_kind (",
        "checkout_event_by_state (",
        "ml_notification_by_topic (",
        "one_time_link_by_purpose (",
        "outbox_by_channel (",
        "outbox_by_kind (",
        "outbox_by_state (",
        "outbox_due (",
        "request_log_by_caller (",
        "request_log_by_class (",
    ];
    // Links to set up are rare: one is made at a start without an operator.
    let is_rare = sql.contains("purpose = 'setup'");
    let is_alone = step.ends_with("=?)") && !step.contains(" AND ");
    let stops = ["LIMIT", "EXISTS"].iter().any(|word| sql.contains(word));
    is_alone && !is_rare && !stops && shared.iter().any(|index| step.contains(index))
}

/// Whether a step of a plan reads a growing table from one end to the other.
fn is_walk(plan: &str, step: &str) -> bool {
    let Some(rest) = step.strip_prefix("SCAN ") else {
        return false;
    };
    let table = rest.split(' ').next().unwrap_or_default();
    // A partial index has only the rows that the statement needs.
    let partial = [
        "ml_notification_waiting",
        "ml_notification_failed",
        "ml_notification_later",
        "session_viewing",
        "ml_notification_ignored",
        "outbox_leased",
        "user_administering",
        "webhook_endpoint_due",
    ];
    // The rows of a subquery, each of which was found by another step.
    let of_subquery =
        ["CO-ROUTINE", "MATERIALIZE"].iter().any(|made| plan.contains(&format!("{made} {table};")));
    // SQLite's own tables about the schema.
    let of_schema = table.starts_with("pragma_");
    // SQLite calls every use of a search index a scan; `M` is a match.
    let of_match = rest.contains(" VIRTUAL TABLE INDEX ") && rest.contains(":M");
    rest != "CONSTANT ROW"
        && !of_schema
        && !of_match
        && !of_subquery
        && !SMALL.contains(&table)
        && !partial.iter().any(|index| rest.ends_with(index))
        && !KNOWN.iter().any(|(known, _)| step.starts_with(known))
}

/// Calls the operator's lists of content, the rows that change it, and the rows
/// from which students and others read it.
fn content(site: &Site, admin: &Actor<'_>, student: &Actor<'_>) {
    let made = |path: &str, body: &Value| {
        let made = admin.post(path, body).expect(201).json();
        made["id"].as_str().unwrap().to_owned()
    };
    let teacher = made("/admin/professores", &json!({ "nome": "Rita Prado" }));
    let course = made("/admin/cursos", &json!({ "titulo": "Começar", "papeis": ["vip"] }));
    let lesson = json!({
        "titulo": "A primeira venda", "curso_id": course, "professor_id": teacher,
        "video_url": "https://youtu.be/abcdefghijk",
    });
    let lesson = made("/admin/aulas", &lesson);
    let meet = json!({
        "titulo": "Tira-dúvidas", "professor_id": teacher, "data_hora": "2026-11-21 20:00:00",
    });
    let meet = made("/admin/meets", &meet);
    for (list, id) in
        [("professores", &teacher), ("cursos", &course), ("aulas", &lesson), ("meets", &meet)]
    {
        for rest in ["", "?q=a&ordem=titulo", "?formato=csv", "/novo"] {
            let rest = rest.replace(
                "ordem=titulo",
                if list == "professores" { "ordem=-nome" } else { "ordem=-titulo" },
            );
            admin.get(&format!("/admin/{list}{rest}")).expect(200);
        }
        admin.get(&format!("/admin/{list}/{id}")).expect(200);
        admin.post(&format!("/admin/{list}/{id}"), &json!({})).ok();
    }
    for rest in ["aulas?curso=1", "meets?quando=proximos", "meets?quando=passados"] {
        admin.get(&format!("/admin/{rest}")).expect(200);
    }
    admin.post(&format!("/admin/aulas/{lesson}/subir"), &json!({})).ok();
    lessons_and_meets(site, student, (&course, &lesson, &meet));
    for document in ["contexto", "planos", "professores", "meets", "schema"] {
        site.anonymous().get(&format!("/api/v1/{document}")).ok();
    }
    for (list, id) in
        [("aulas", lesson), ("meets", meet), ("cursos", course), ("professores", teacher)]
    {
        admin.post(&format!("/admin/{list}/{id}/excluir"), &json!({})).ok();
    }
}

/// Lists, moves, imports and removes products in every way.
fn products(actor: &Actor<'_>, base: &str) {
    let body = json!({ "titulo": "Garrafa", "sku": "GAR", "estoque": 3 });
    let made = actor.post(base, &body).expect(201).json();
    let one = format!("{base}/{}", made["id"].as_str().unwrap());
    for rest in [
        "",
        "?q=garrafa+gar&estoque=com",
        "?ordem=-estoque&estoque=sem",
        "?ordem=sku",
        "?ordem=alteracao&pagina=2",
        "?formato=csv",
        "/novo",
        "/importar",
    ] {
        actor.get(&format!("{base}{rest}")).expect(200);
    }
    actor.get(&format!("{one}?pagina=2")).expect(200);
    let moved = json!({ "tipo": "saida", "quantidade": 1 });
    actor.post(&format!("{one}/movimentos"), &moved).expect(201);
    actor.post(&one, &json!({ "preco": 5, "estoque": 9 })).ok();
    let file = json!({ "csv": "sku,title,price,stock\nGAR,Garrafa azul,,4\nNOVO,Copo,5,1\n" });
    actor.post(&format!("{base}/importar"), &file).ok();
    actor.post(&format!("{one}/excluir"), &json!({})).ok();
}

/// Does what a student can do with a lesson and a meet.
fn lessons_and_meets(site: &Site, student: &Actor<'_>, (course, lesson, meet): (&str, &str, &str)) {
    let watch = format!("/painel/aulas/{course}/{lesson}");
    for page in ["/painel/aulas", &format!("/painel/aulas/{course}"), &watch] {
        student.get(page).expect(200);
    }
    for done in [true, false] {
        let mark = json!({ "feita": done });
        student.post(&format!("{watch}/feita"), &mark).ok();
    }
    student.get("/painel/meets").expect(200);
    student.get(&format!("/painel/meets/{meet}.ics")).expect(200);
    site.extension("ana").get("/api/ext/me").ok();
}

/// Calls every row of the route table that reads or writes, in its variants.
fn visit_everything(site: &Site, world: &World) {
    let person = site.person("ana");
    let sold = json!({ "titulo": "Garrafa", "sku": "VENDIDA" });
    person.post("/painel/produtos", &sold).expect(201);
    let listing = json!({ "ml_user_id": LOJA, "title": "Garrafa", "price": 9, "sku": "VENDIDA" });
    let listing = world.control("/_sandbox/items", &listing);
    world.link(&person, LOJA);
    world.sale(LOJA);
    world.sale_with(LOJA, &json!({ "item": listing["id"] }));
    let sale = world.sale(LOJA);
    let asked = world.control("/_sandbox/questions", &json!({ "ml_user_id": LOJA }));
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA, "resource": "shipment" }));
    let question = format!("/_sandbox/questions/{}", asked["id"]);
    world.control(&question, &json!({ "answer": "Sim" }));
    let item = listing["id"].as_str().unwrap();
    world.control(&format!("/_sandbox/items/{item}"), &json!({ "stock": 0 }));
    for (topic, resource) in [
        ("shipments", format!("/shipments/{}", sale["shipment"]["id"])),
        ("items", "/items/MLB404".to_owned()),
        ("questions", "/questions/404".to_owned()),
    ] {
        let told = json!({ "ml_user_id": LOJA, "topic": topic, "resource": resource });
        world.control("/_sandbox/notifications", &told);
    }
    let seller = site.seller("ana").plan("starter");
    until("the sale is there", std::time::Duration::from_secs(30), || {
        site.clock().advance_s(60);
        let orders = seller.get("/api/v1/partner/orders").ok();
        (orders["pagination"]["total"] == 3).then_some(())
    });
    until("the inbox is worked", std::time::Duration::from_secs(30), || {
        site.clock().advance_s(10);
        let waiting = "SELECT count(*) || '' FROM ml_notification WHERE state = 0";
        (site.stored(waiting) == ["0"]).then_some(())
    });
    let all =
        format!("/api/v1/partner/orders?store={LOJA}&status=paid&from=2026-01-01&to=2026-12-31");
    for target in [
        "/api/v1/partner/health",
        "/api/v1/partner/orders?status=paid",
        "/api/v1/partner/orders?from=2026-01-01&to=2026-12-31&limit=200",
        "/api/v1/partner/orders?ml_id=MLB1",
        "/api/v1/partner/orders?offset=20000",
        &format!("/api/v1/partner/orders?store={LOJA}"),
        &all,
        "/api/v1/partner/stores",
        &format!("/api/v1/partner/stores/{LOJA}/metrics"),
        "/api/v1/partner/products",
        "/api/v1/partner/products?q=garrafa",
        "/api/v1/partner/products?sku=VENDIDA&offset=20000",
        "/api/v1/partner/announcements",
        "/api/v1/partner/announcements?status=active",
        "/api/v1/partner/announcements?sku=VENDIDA",
        "/api/v1/partner/announcements?q=garrafa",
        &format!("/api/v1/partner/announcements?store={LOJA}&status=active"),
        "/api/v1/partner/stock",
        "/api/v1/partner/usage",
    ] {
        seller.get(target).ok();
    }
    crate::support::visits::shops(&person, LOJA);
    visit_tools(&person);
    visit_extension(site);
    visit_telegram(site, world, &person);
    visit_push(site, world);
    visit_panel(site, &person);
}

/// Calls the fee calculator and labels.
fn visit_tools(person: &Actor<'_>) {
    for target in [
        "/painel/ml/calculadora".to_owned(),
        format!("/painel/ml/calculadora?conta={LOJA}&preco=50"),
        format!("/painel/ml/calculadora/taxas-json?conta={LOJA}"),
        "/painel/ml/etiquetas".to_owned(),
        format!("/painel/ml/etiquetas?conta={LOJA}&pagina=2"),
    ] {
        person.get(&target).expect(200);
    }
    let label = format!("/painel/ml/etiqueta?conta={LOJA}&shipment_id=1");
    person.get(&label).expect(404);
    person.get("/painel/vendas/1/nota").expect(404);
    let tax = "/painel/ml/calculadora/imposto";
    person.post(tax, &json!({ "imposto": 5 })).ok();
    person.post(tax, &json!({ "imposto": null })).ok();
}

/// Links, blocks, uses and removes a chat.
fn visit_telegram(site: &Site, world: &World, person: &Actor<'_>) {
    telegram::connect(world, person, telegram::ANA);
    let notice =
        json!({ "channel": "telegram", "event": "custom", "title": "Oi", "body": "Tudo?" });
    let notify = Request::new("POST", "/api/v1/partner/notify").header("Idempotency-Key", "a");
    site.seller("ana").send(notify.json(&notice)).ok();
    site.seller("ana").get("/api/v1/partner/notifications").ok();
    for text in ["oi", "/start x", "/stop"] {
        telegram::say(world, telegram::ANA, text);
    }
    telegram::answer(world, telegram::ANA, 4);
    person.get(telegram::ALERTS).expect(200);
    person.post("/perfil/telegram/desconectar", &json!({})).ok();
}

/// Switches push on for two people, sends messages, loses a browser, switches
/// push off.
fn visit_push(site: &Site, world: &World) {
    let (admin, other) = (site.administrator(), site.person_as("rui", "drop"));
    let (browser, gone) = (Receiver::new(world, "a"), Receiver::new(world, "410-b"));
    browser.switch_on(&other).expect(201);
    for device in [&browser, &gone] {
        device.switch_on(&admin).expect(201);
    }
    browser.switch_on(&admin).expect(200);
    admin.post("/admin/mensagens/canais/push/teste", &json!({})).expect(201);
    crate::support::cron::run(site);
    assert_eq!(browser.received(world).len(), 1);
    admin.get("/perfil/avisos").expect(200);
    let off = format!("{DEVICES}/1/excluir");
    admin.post(&off, &json!({})).ok();
}

fn visit_extension(site: &Site) {
    let extension = site.extension("ana");
    extension.get("/api/ext/me").ok();
    extension.get(&format!("/api/ext/ml/check?seller_id={LOJA}")).ok();
    extension.get("/api/ext/ml/check?nickname=loja%20da%20ana").ok();
    extension.post("/api/ext/notificacoes/lidas", &json!({ "ids": ["1"] })).ok();
    extension.post("/api/ext/notificacoes/lidas", &json!({ "todas": true })).ok();
    extension.post("/api/ext/logout", &json!({})).ok();
}

fn visit_panel(site: &Site, person: &Actor<'_>) {
    for page in ["/painel", "/painel/ml", "/painel/avisos", "/painel/avisos?pagina=2", "/perfil"] {
        person.get(page).expect(200);
    }
    let admin = site.administrator();
    content(site, &admin, person);
    for page in [
        "/admin",
        "/admin/planos?q=a&ordem=titulo",
        "/admin/planos/novo",
        "/admin/chaves?q=a&ordem=-ultimo_uso&situacao=valendo",
        "/admin/chaves?situacao=encerrada",
        "/admin/alunos/novo",
    ] {
        admin.get(page).expect(200);
    }
    crate::support::visits::people(&admin);
    crate::support::visits::accounts(&admin);
    crate::support::visits::announcements(&admin, person);
    let supplier = site.person_as("rui", "drop");
    for target in [
        "/fornecedor",
        "/fornecedor/pedidos",
        "/fornecedor/pedidos?situacao=aberto&vendedor=1",
        "/fornecedor/pedidos?q=x&de=2026-11-01&ordem=vencimento",
        "/fornecedor/extrato",
        "/fornecedor/extrato?vendedor=1",
        "/fornecedor/conferencia",
    ] {
        supplier.get(target).expect(200);
    }
    supplier.post("/fornecedor/pedidos/pagos", &json!({ "todos": true })).ok();
    supplier.post("/fornecedor/pedidos/pagos/desfazer", &json!({ "lote": "1" })).ok();
    products(&supplier, "/fornecedor/produtos");
    crate::support::visits::supplies(site, person);
    crate::support::visits::webhooks(site, person);
    crate::support::visits::questions(&admin, person, LOJA);
    products(person, "/painel/produtos");
    let key = site.key(&["admin"]);
    let new =
        json!({ "nome": "Eva Lima", "email": "eva@example.com", "chat_number": "5511987654321" });
    key.post("/api/v1/alunos/criar", &new).expect(201);
    key.post("/api/v1/alunos/criar", &new).expect(409);
    for page in ["/admin/chaves/1", "/admin/chaves?formato=csv"] {
        admin.get(page).expect(200);
    }
    admin.post("/admin/chaves/1", &json!({ "nome": "CRM" })).ok();
    admin.post("/admin/chaves/1/trocar", &json!({})).expect(201);
    key.get("/metrics").expect(200);
    key.get("/api/v1/admin/backup").expect(200);
    key.post("/api/v1/webhook/llm", &json!({ "action": "get_contexto" })).ok();
    for path in ["/api/v1/alunos/suspender", "/api/v1/alunos/reativar"] {
        key.post(path, &json!({ "email": "eva@example.com" })).ok();
    }
    visit_purchases(site);
    site.anonymous().get("/readyz").ok();
    own_account(site, person);
    let leave = format!("/painel/ml/contas/{LOJA}/desvincular");
    person.post(&leave, &json!({})).ok();
    person.send(Request::new("POST", "/sair")).expect(303);
}

/// Does what people can do with their own account.
fn own_account(site: &Site, person: &Actor<'_>) {
    let email = json!({ "email": person.person().email });
    site.anonymous().post("/entrar/esqueci", &email).ok();
    let arguments = ["user", "password-link", "--email", &person.person().email];
    let link = site.command(&arguments).ok();
    let start = link.find("/senha").unwrap();
    site.anonymous().get(link[start..].trim()).expect(200);
    let nobody = site.anonymous();
    nobody.post("/senha", &json!({ "codigo": "x", "senha": "uma senha longa" }));
    nobody.get(&format!("/fotos/{}", "0".repeat(64))).expect(404);
    person.post("/perfil", &json!({ "nome": "Ana" })).ok();
    person.post("/perfil/foto/excluir", &json!({})).ok();
    person.post("/perfil/extensao/revogar", &json!({})).ok();
    person.post("/perfil/sessoes/encerrar", &json!({})).ok();
    let other = format!("/perfil/sessoes/{}/encerrar", "0".repeat(64));
    person.post(&other, &json!({})).expect(404);
    let password = &person.person().password;
    let change = json!({ "atual": password, "senha": "uma senha trocada" });
    site.person("rui-da-senha").post("/perfil/senha", &change).expect(422);
    site.administrator().get("/admin/alunos/1/foto").expect(200);
    queues(site);
}

/// Calls the operator's lists of waiting messages and received notifications.
fn queues(site: &Site) {
    let admin = site.administrator();
    for target in [
        "/admin/mensagens",
        "/admin/mensagens?q=ana&canal=chat&tipo=boas_vindas&estado=pendente",
        "/admin/mensagens?estado=pendente",
        "/admin/mensagens?canal=email",
        "/admin/mensagens?tipo=link_de_senha&ordem=criada_em",
        "/admin/mensagens?canal=chat&tipo=boas_vindas",
        "/admin/mensagens?formato=csv",
        "/admin/notificacoes",
        "/admin/notificacoes?estado=pendente",
        "/admin/notificacoes?estado=processada",
        "/admin/notificacoes?estado=ignorada",
        "/admin/notificacoes?estado=falhou&topico=items",
        "/admin/notificacoes?topico=questions",
        "/admin/notificacoes?q=1&estado=guardada",
        "/admin/notificacoes?q=900000001",
        "/admin/notificacoes?q=orders/1&topico=orders_v2",
        "/admin/notificacoes?q=MLB1",
        "/admin/notificacoes?formato=csv",
        "/admin/notificacoes/1",
        "/admin/cron",
        "/admin/cron?resultado=falhou&ordem=inicio",
        "/admin/cron?formato=csv",
        "/admin/cron/1",
        "/admin/cron/arquivo",
        "/admin/cron/arquivo?tipo=cron",
        "/admin/cron/arquivo?formato=csv",
        "/admin/cron/arquivo/1",
        "/admin/requisicoes",
        "/admin/requisicoes?periodo=hoje",
        "/admin/requisicoes?resposta=4xx",
        "/admin/requisicoes?resposta=2xx&quem=sessao&periodo=7",
        "/admin/requisicoes?quem=ninguem",
        "/admin/requisicoes?quem=chave&periodo=hora",
        "/admin/requisicoes?q=/admin&resposta=2xx&quem=sessao",
        "/admin/requisicoes?q=abc",
        "/admin/requisicoes?ordem=-duracao",
        "/admin/requisicoes?ordem=-duracao&quem=sessao&periodo=7",
        "/admin/requisicoes?duracao=lentas",
        "/admin/requisicoes/rastro?pedido=abc",
        "/admin/diagnostico",
        "/admin/requisicoes?formato=csv",
    ] {
        admin.get(target).expect(200);
    }
    admin.post("/admin/cron/tarefas/inatividade/pausar", &json!({})).ok();
    admin.post("/admin/cron/tarefas/inatividade/retomar", &json!({})).ok();
    admin.post("/admin/mensagens/1/cancelar", &json!({}));
    admin.post("/admin/notificacoes/1/reprocessar", &json!({}));
}

/// Sends purchase events of every kind, and calls their list in its variants.
fn visit_purchases(site: &Site) {
    let platform = site.anonymous();
    for (number, event) in
        ["REFUNDED", "APPROVED", "COMPLETE", "DELAYED", "PROTEST", "BILLET_PRINTED"]
            .iter()
            .enumerate()
    {
        let day = i64::try_from(number).unwrap();
        let event = format!("PURCHASE_{event}");
        Event::new(&event, &event, "iris@example.com", "HP1", day).send(&platform).ok();
    }
    let admin = site.administrator();
    for query in [
        "",
        "?pagina=2",
        "?resultado=aplicado",
        "?evento=aprovada",
        "?evento=aprovada&resultado=aplicado",
        "?q=iris",
        "?q=HP1&evento=aprovada&resultado=sem-efeito",
        "?formato=csv",
        "?q=nada",
    ] {
        admin.get(&format!("/admin/compras{query}")).expect(200);
    }
    admin.get("/admin/compras/1").expect(200);
    admin.post("/admin/compras/1/processar", &json!({})).ok();
}
