//! A site with something in every list, for tests that look at pages.

use std::time::Duration;

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::receiver::Receiver;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// The longest name of a shop, without a blank at which a line could break.
const NICKNAME: &str = "LOJA-DE-NOME-COMPRIDO-SEM-ESPACO-PARA-QUEBRAR-A-LINHA-123456";
/// A title of the greatest length.
const TITLE: &str = "Garrafa térmica de aço inoxidável de 1 litro com alça e copo";

/// Makes people, accounts, sales and content, on a site with push. The student
/// is `ana`, the operator the administrator; both are returned signed in.
pub fn furnish<'s>(site: &'s Site, world: &World) -> (Actor<'s>, Actor<'s>) {
    crate::support::cron::some_history(site);
    let ana = site.person("ana");
    let operator = site.administrator();
    sell(world, &ana);
    for browser in ["casa", "celular"] {
        Receiver::new(world, browser).switch_on(&ana).expect(201);
    }
    for number in 1..=25 {
        let plan = json!({
            "titulo": format!("{TITLE} {number}"), "slug": format!("plano-{number}"),
            "preco": 9_999_999.99, "ativo": number % 2 == 0,
            "link_checkout": "https://pagamento.exemplo.com/plano",
        });
        operator.post("/admin/planos", &plan).expect(201);
    }
    keys(&operator);
    content(&operator);
    let student = json!({
        "nome": TITLE, "email": "aluna-nova@example.com", "chat_number": "5511987654321",
    });
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/criar", &student).expect(201);
    purchases(site);
    lists(&operator);
    announcements(&operator);
    let rui = site.person_as("rui", "drop");
    for (actor, event) in [(&ana, "stock.changed"), (&rui, "drop_order.paid")] {
        let url = format!("https://gancho.invalid/{}?chave={}", "x/".repeat(40), "0a".repeat(20));
        let made = crate::support::hooked::make(site, actor, &url, &[event]);
        made.test(actor);
    }
    products(&ana, "/painel/produtos");
    products(&rui, "/fornecedor/produtos");
    agency(&ana, &operator);
    (ana, operator)
}

/// Makes a client with one of the student's accounts, and saved replies.
fn agency(ana: &Actor<'_>, operator: &Actor<'_>) {
    let client =
        json!({ "nome": TITLE, "ml_user_id": LOJA.to_string(), "etiquetas": "moda, full" });
    operator.post("/admin/agencia/clientes", &client).expect(201);
    for (actor, path) in [(ana, "/painel/respostas"), (operator, "/admin/agencia/respostas")] {
        for title in ["Saudação", TITLE] {
            let reply =
                json!({ "titulo": title, "texto": format!("Olá, {{comprador}}! {TITLE}.") });
            actor.post(path, &reply).expect(201);
        }
    }
}

/// Makes products, some of them removed, and one with more movements than a
/// page shows.
fn products(owner: &Actor<'_>, base: &str) {
    for number in 1..=23 {
        let product = json!({
            "titulo": format!("{TITLE} {number}"), "sku": format!("{NICKNAME}-DE-80-CARACTERES-{number}"),
            "ean": "7891234567895", "custo": 9_999_999.99, "preco": 9_999_999.99,
            "estoque": number % 3,
        });
        let made = owner.post(base, &product).expect(201).json();
        if number == 1 {
            let target = format!("{base}/{}/movimentos", made["id"].as_str().unwrap());
            for kind in ["entrada", "saida", "ajuste"].repeat(8) {
                let moved = json!({ "tipo": kind, "quantidade": 1, "motivo": TITLE });
                owner.post(&target, &moved).expect(201);
            }
        }
    }
}

/// Writes announcements: one that is sent, and a draft.
fn announcements(operator: &Actor<'_>) {
    for is_sent in [true, false] {
        let entry = json!({
            "titulo": TITLE, "texto": format!("{TITLE}. ").repeat(20),
        });
        let made = operator.post("/admin/comunicados", &entry).expect(201).json();
        if is_sent {
            let page = format!("/admin/comunicados/{}", made["id"].as_str().unwrap());
            operator.post(&format!("{page}/enviar"), &json!({})).expect(200);
            until("the announcement is sent", Duration::from_mins(1), || {
                let shown = Request::new("GET", &page).header("Accept", "application/json");
                let told = operator.send(shown).ok()["estado"].clone();
                (told == "enviado").then_some(())
            });
        }
    }
}

/// Makes lists of students: one to be imported, one that was imported.
fn lists(operator: &Actor<'_>) {
    for number in 1..=2 {
        let csv = format!(
            "nome,email,plano\n{TITLE},lista{number}@exemplo.com,pro\n{TITLE},sem endereço,ouro\n"
        );
        let list = json!({ "csv": csv });
        operator.post("/admin/alunos/importar", &list).expect(201);
    }
    let apply = "/admin/alunos/importar/2/aplicar";
    operator.post(apply, &json!({})).expect(202);
}

/// Makes teachers, courses, lessons, and meets in the future, now and in the past.
fn content(operator: &Actor<'_>) {
    let bio = format!("{TITLE}. ").repeat(12);
    let links = json!({ "site": "https://example.com/", "instagram": "https://instagram.com/x" });
    let teacher = json!({ "nome": TITLE, "bio": bio, "redes": links });
    operator.post("/admin/professores", &teacher).expect(201);
    let idle = json!({ "nome": "Zé" });
    operator.post("/admin/professores", &idle).expect(201);
    for number in 1..=2 {
        let course = json!({
            "titulo": format!("{TITLE} {number}"), "descricao": bio, "papeis": ["vip", "podio"],
        });
        operator.post("/admin/cursos", &course).expect(201);
    }
    let videos = ["https://youtu.be/abcdefghijk", "https://exemplo.com/aula"];
    for number in 1..=4 {
        let lesson = json!({
            "titulo": format!("{TITLE} {number}"), "curso_id": "1", "professor_id": "1",
            "video_url": videos[number % 2],
        });
        operator.post("/admin/aulas", &lesson).expect(201);
    }
    for at in
        ["2026-11-19 20:00:00", "2026-11-20 08:30:00", "2026-11-21 20:00:00", "2026-12-31 20:00:00"]
    {
        let meet = json!({
            "titulo": TITLE, "descricao": bio, "professor_id": "1", "data_hora": at,
            "link": "https://meet.exemplo.com/sala",
        });
        operator.post("/admin/meets", &meet).expect(201);
    }
}

/// Purchase events with every result, one of them for a person with long names.
fn purchases(site: &Site) {
    let platform = site.anonymous();
    let email = "maria.aparecida.de.jesus.do.araguaia@importados.exemplo.com.br";
    for (day, event) in [
        "PURCHASE_REFUNDED",
        "PURCHASE_BILLET_PRINTED",
        "PURCHASE_APPROVED",
        "PURCHASE_COMPLETE",
        "UM_EVENTO_DE_NOME_MUITO_COMPRIDO_QUE_NINGUEM_CONHECE_AINDA",
    ]
    .into_iter()
    .enumerate()
    {
        let (buyer, transaction) = match day {
            0 => ("ninguem@example.com", "HP0"),
            _ => (email, "HP16015479281022"),
        };
        let day = i64::try_from(day).unwrap();
        let event = Event::new(event, event, buyer, transaction, day);
        event.send(&platform).ok();
    }
}

/// API keys: one in force, one exchanged for another, one revoked.
fn keys(operator: &Actor<'_>) {
    for number in 1..=3 {
        let key = json!({
            "nome": format!("{TITLE} {number}"), "escopos": ["write", "webhook_receive", "admin"],
            "ips": ["2001:db8:7:ffff:aaaa:bbbb:cccc:dddd"], "expira_em": "2027-12-31",
        });
        operator.post("/admin/chaves", &key).expect(201);
    }
    operator.post("/admin/chaves/1/trocar", &json!({})).expect(201);
    operator.post("/admin/chaves/2/excluir", &json!({})).ok();
}

/// Three linked accounts, one of which lost its link, with a sale each.
fn sell(world: &World, ana: &Actor<'_>) {
    for number in 0..3 {
        let nickname = if number == 0 { NICKNAME } else { "LOJA DA ANA" };
        world.seller(LOJA + number, nickname);
        world.item(LOJA + number, TITLE, 12_345.67);
    }
    for number in 0..3 {
        world.link(ana, LOJA + number);
        world.sale(LOJA + number);
    }
    for text in ["Serve no suporte de bicicleta?", TITLE] {
        let question = json!({ "ml_user_id": LOJA, "text": text });
        world.control("/_sandbox/questions", &question);
    }
    world.control("/_sandbox/claims", &json!({ "ml_user_id": LOJA }));
    let listed = world.item(LOJA, "Caneca", 19.9);
    let told =
        json!({ "ml_user_id": LOJA, "topic": "items", "resource": format!("/items/{listed}") });
    world.control("/_sandbox/notifications", &told);
    world.deliveries();
    for list in ["/painel/anuncios", "/painel/perguntas", "/painel/reclamacoes"] {
        until(list, Duration::from_mins(1), || {
            let request = Request::new("GET", list).header("Accept", "application/json");
            if ana.send(request).ok()["total"].as_u64()? > 0 {
                return Some(());
            }
            // A notification that failed waits for its retry.
            world.clock().advance_s(1);
            None
        });
    }
    world.end_tokens(LOJA + 1, "revoke");
    let told = json!({ "ml_user_id": LOJA + 1, "topic": "items", "resource": "/items/MLB1" });
    world.control("/_sandbox/notifications", &told);
    world.deliveries();
}
