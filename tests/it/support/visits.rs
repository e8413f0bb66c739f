//! Lists requested in every way, and everything done that can be done: for tests of
//! how statements run.

use std::time::Duration;

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::agency::{
    ANSWER, CLIENTS, OWN_REPLIES, QUEUE, REPLIES, body_of, client, queue,
};
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::dropshipping::{ask, read, relate};
use crate::support::hooked::{WEBHOOKS, make};
use crate::support::partner::{LIST, page_of};
use crate::support::people::make as make_person;
use crate::support::shops::{CLAIMS, LISTINGS, QUESTIONS, SALES};
use crate::support::site::Site;
use crate::support::wait::until;

/// The pages of a client of the agency, with its claims, and the labels of all.
fn clients(operator: &Actor<'_>, (id, account): (&str, u64)) {
    let labels = "/admin/agencia/etiquetas";
    let mut pages = vec![CLIENTS.to_owned(), format!("{CLIENTS}/{id}")];
    pages.extend(["", "?parte=impressas"].map(|part| format!("{labels}{part}")));
    let claims = format!("SELECT CAST(claim_id AS TEXT) FROM claim WHERE ml_user_id = {account}");
    let claims = operator.site().stored(&claims).into_iter();
    pages.extend(claims.map(|claim| format!("{CLIENTS}/{id}/reclamacoes/{claim}")));
    for page in pages {
        operator.send(Request::new("GET", &page).header("Accept", "text/html")).expect(200);
    }
}

/// Requests the queue and the saved replies in every way.
pub fn questions(operator: &Actor<'_>, seller: &Actor<'_>, account: u64) {
    let id = client(operator, "Cliente", account);
    clients(operator, (&id, account));
    for status in ["", "&status=pendente", "&status=respondida", "&status=todas"] {
        for whose in ["x=1", "meus=1", &*format!("cliente={id}"), &*format!("cliente={id}&meus=1")]
        {
            for rest in ["", "&pagina=2", "&por_pagina=1"] {
                for path in [QUEUE, &*format!("{QUEUE}/json")] {
                    operator.get(&format!("{path}?{whose}{status}{rest}")).expect(200);
                }
            }
        }
    }
    for asked in queue(operator, "")["perguntas"].as_array().unwrap() {
        let one = format!("{QUEUE}/{}", asked["question_id"].as_str().unwrap());
        operator.post(&format!("{one}/assumir"), &json!({})).ok();
        operator.get(&format!("{one}/comprador")).ok();
        operator.post(ANSWER, &body_of(asked, "Tem sim"));
    }
    operator.get(&format!("{QUEUE}/atendendo")).ok();
    for (actor, path) in [(operator, REPLIES), (seller, OWN_REPLIES)] {
        let reply = json!({ "titulo": "Saudação", "texto": "Olá!" });
        let made = actor.post(path, &reply).expect(201).json();
        let one = format!("{path}/{}", made["id"].as_str().unwrap());
        actor.get(path).expect(200);
        actor.post(&one, &reply).ok();
        actor.post(&format!("{one}/excluir"), &json!({})).ok();
    }
}

/// Requests every list in every way.
pub fn shops(person: &Actor<'_>, shop: u64) {
    let lists = [
        (SALES, "?estado=paid"),
        (SALES, "?ordem=criada_em&periodo=7"),
        (SALES, "?de=2026-11-01&ate=2026-11-30&estado=paid"),
        (SALES, "?q=MLB1"),
        (SALES, "?q=MLB1&estado=paid&ordem=criada_em"),
        (SALES, "?q=1"),
        (SALES, "?q=garrafa&estado=paid"),
        (LISTINGS, "?q=a&ordem=-preco"),
        (LISTINGS, "?estado=active"),
        (QUESTIONS, "?estado=pendente"),
        (QUESTIONS, "?q=a"),
        (CLAIMS, "?estado=aberta"),
        (CLAIMS, "?q=1"),
    ];
    for (list, query) in lists {
        let of_shop = format!("{query}&conta={shop}");
        for query in ["", query, &of_shop, "?pagina=2"] {
            person.get(&format!("{list}{query}")).expect(200);
        }
    }
}

/// Requests the list in every way, and one account of it.
pub fn accounts(admin: &Actor<'_>) {
    for query in [
        "",
        "?q=ana&ordem=nome",
        "?ordem=-fim&situacao=ativo",
        "?ordem=uso&situacao=vencido",
        "?situacao=sem_plano&pagina=2",
        "?uso=perto_do_limite&plano=pro",
        "?formato=csv",
    ] {
        admin.get(&format!("{LIST}{query}")).expect(200);
    }
    let one = page_of(admin, "ana");
    for target in [one.clone(), format!("{one}?mes=2026-10")] {
        admin.get(&target).expect(200);
    }
    admin.post(&format!("{one}/plano"), &json!({ "plano": "pro", "ate": "2027-12-31" })).ok();
    admin.post(&format!("{one}/plano/excluir"), &json!({})).ok();
    let token = json_of(admin, &one)["tokens"][0]["id"].clone();
    let revoke = format!("{one}/tokens/{}/revogar", token.as_str().unwrap());
    admin.post(&revoke, &json!({})).ok();
}

/// Nearly everything that an owner can see and do with webhooks.
pub fn webhooks(site: &Site, person: &Actor<'_>) {
    let made = make(site, person, "https://gancho.invalid/x", &["stock.changed"]);
    let number = made.test(person);
    for below in [
        "",
        "/entregas",
        "/entregas?estado=pendente",
        "/entregas?evento=stock.changed&ordem=numero",
        "/entregas?estado=falhou&evento=stock.changed",
        "/entregas?formato=csv",
        &format!("/entregas/{number}"),
    ] {
        person.get(&made.path(below)).expect(200);
    }
    person.get(WEBHOOKS).expect(200);
    let entry = json!({ "url": "https://gancho.invalid/y" });
    person.post(&made.path(""), &entry).expect(200);
    person.post(&made.path(&format!("/entregas/{number}/reenviar")), &json!({})).expect(200);
    let span = json!({ "de": "2026-01-01 00:00:00", "ate": "2026-12-31 00:00:00" });
    person.post(&made.path("/reenviar"), &span).expect(200);
    let secret = person.post(&made.path("/segredo"), &json!({})).expect(200).json();
    site.keep_secret("webhook secret", secret["segredo"].as_str().unwrap());
    person.post(&made.path("/desligar"), &json!({})).expect(200);
    person.post(&made.path("/ligar"), &json!({})).expect(200);
    // Later events go to the first endpoint; those for the second are removed
    // with it.
    make(site, person, "https://gancho.invalid/z", &["stock.changed"]);
    person.post(&made.path("/excluir"), &json!({})).expect(200);
}

/// Requests the lists of people and the audit log in every way, and does
/// everything that can be done to a person.
pub fn people(admin: &Actor<'_>) {
    for search in ["", "&q=ana", "&q=an", "&q=ana+silva+x"] {
        for filter in ["", "&status=ativo", "&plano=vip", "&em_disputa=nao&plano=vip&status=ativo"]
        {
            for order in ["nome", "-criado_em", "ultimo_acesso"] {
                let query = format!("?ordem={order}{filter}{search}");
                admin.get(&format!("/admin/alunos{query}")).expect(200);
            }
            admin.get(&format!("/admin/alunos?formato=csv{filter}{search}")).expect(200);
        }
        for filter in
            ["", "&quem=pessoa", "&objeto=aluno", "&quem=pessoa&objeto=aluno", "&periodo=7"]
        {
            admin.get(&format!("/admin/auditoria?pagina=1{filter}{search}")).expect(200);
        }
    }
    let csv = json!({ "csv": "nome,email,plano\nEva,eva@lista.com,pro\n" });
    for number in ["1", "2"] {
        admin.post("/admin/alunos/importar", &csv).expect(201);
        let target = format!("/admin/alunos/importar/{number}");
        admin.get(&target).expect(200);
        admin.get(&format!("{target}?formato=csv")).expect(200);
    }
    admin.get("/admin/alunos/importar").expect(200);
    admin.post("/admin/alunos/importar/1/aplicar", &json!({})).expect(202);
    admin.post("/admin/alunos/importar/2/excluir", &json!({})).ok();
    admin.get("/admin/papeis").expect(200);
    admin.post("/admin/papeis", &json!({ "free": ["meets"] })).ok();
    let id = make_person(admin, "Beto", "beto@exemplo.com", "pro");
    let target = format!("/admin/alunos/{id}");
    admin.get(&target).expect(200);
    admin.post(&target, &json!({ "nome": "Beto Lima", "email": "b@exemplo.com" })).ok();
    for word in ["negar", "herdar"] {
        let exception = json!({ "ml_clonar": word });
        admin.post(&format!("{target}/permissoes"), &exception).ok();
    }
    let reason = json!({ "motivo": "teste" });
    for act in ["link-de-senha", "suspender", "reativar", "sessoes/encerrar", "excluir"] {
        admin.post(&format!("{target}/{act}"), &reason).ok();
    }
}

/// Writes announcements, sends one and reads who read it; requests the lists of what
/// went on in every way that people do.
pub fn announcements(admin: &Actor<'_>, student: &Actor<'_>) {
    let path = "/admin/comunicados";
    let entry = json!({ "titulo": "Aula nova", "texto": "Hoje.", "planos": ["vip", "pro"] });
    let made = || {
        let made = admin.post(path, &entry).expect(201).json();
        format!("{path}/{}", made["id"].as_str().unwrap())
    };
    let (page, other) = (made(), made());
    admin.post(&page, &entry).expect(200);
    admin.post(&format!("{page}/enviar"), &json!({})).expect(200);
    admin.post(&format!("{other}/excluir"), &json!({})).expect(200);
    until("the announcement is sent", Duration::from_mins(1), || {
        let one = admin.get(&page).expect(200).text();
        one.contains("Quem leu").then_some(())
    });
    student.get(&page.replace("/admin/", "/painel/")).expect(200);
    for target in [path, "/admin/comunicados?estado=enviado", "/admin/comunicados?formato=csv"] {
        admin.get(target).expect(200);
    }
    for rest in ["", "?leram=nao", "/leitores"] {
        admin.get(&format!("{page}{rest}")).expect(200);
    }
    for target in [
        "/admin/requisicoes",
        "/admin/requisicoes?minhas=incluir",
        "/admin/requisicoes?resposta=2xx&periodo=hoje",
        "/admin/requisicoes?ordem=-duracao",
        "/admin/cron?resultado=todas",
        "/admin/cron?ordem=inicio",
    ] {
        admin.get(target).expect(200);
    }
}

/// Does what a supplier's program can do, for a seller.
pub fn supplies(site: &Site, seller: &Actor<'_>) {
    let program = site.supplier("rui").plan("scale");
    relate(site, &program, seller);
    for target in [
        "/health",
        "/usage",
        "/catalog/links",
        "/catalog/links?seller_id=1&sku=a",
        "/catalog/links?ml_id=MLB1",
        "/catalog/links?q=garrafa",
        "/catalog/products?q=garrafa",
        "/catalog/audit",
        "/orders",
        "/orders?status=open&seller_id=1",
        "/orders?status=paid&from=2026-01-01&to=2026-12-31",
        "/orders/totals",
        "/orders/totals?seller_id=1&from=2026-01-01",
    ] {
        read(&program, target);
    }
    for (target, body, status) in [
        ("/orders/paid", json!({ "order_id": "1" }), 404),
        ("/orders/unpaid", json!({ "order_id": "1" }), 404),
        ("/orders/paid/bulk", json!({ "order_ids": ["1"] }), 200),
        ("/orders/unpaid/bulk", json!({ "order_ids": ["1"] }), 200),
        ("/orders/unpaid/bulk", json!({ "batch_id": "1" }), 404),
    ] {
        ask(&program, target, &body).expect(status);
    }
}
