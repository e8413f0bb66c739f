//! Messages that wait to be sent, and what the operator can do with them.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;

const QUEUE: &str = "/admin/mensagens";

#[track_caller]
fn list(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

/// Registers a student, who gets a welcome message by chat, and by e-mail where
/// that is configured.
#[track_caller]
fn welcome(site: &Site, name: &str) {
    let body = json!({
        "nome": name, "email": format!("{name}@example.com"), "chat_number": "5511987654321",
    });
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/criar", &body).expect(201);
}

fn ids(list: &Value) -> Vec<String> {
    let rows = list["dados"].as_array().unwrap().iter();
    rows.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_waits_is_shown_with_its_reason() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    assert_eq!(list(&admin, QUEUE), json!({ "ok": true, "total": 0, "dados": [] }));
    assert!(admin.get(QUEUE).expect(200).text().contains("Nenhuma mensagem ainda"));
    welcome(&site, "ana");
    let listed = list(&admin, QUEUE);
    let id = ids(&listed)[0].clone();
    let mut message = listed["dados"][0].clone();
    message["destinatario"]["id"] = Value::Null;
    assert_eq!(
        message,
        json!({
            "id": id, "tipo": "boas_vindas", "canal": "chat", "estado": "pendente",
            "motivo": "canal não configurado", "criada_em": "2026-11-20 09:00:00",
            "envia_depois_de": "2026-11-20 09:00:00", "vence_em": "2026-11-27 09:00:00",
            "concluida_em": null, "tentativas": 0, "resposta": null,
            "entrega": null, "entrega_em": null,
            "destinatario": { "id": null, "nome": "ana", "email": "ana@example.com" },
        })
    );
    let page = admin.get(QUEUE).expect(200).text();
    for words in ["Boas-vindas", "Pendente", "canal não configurado", "Canal não configurado: Chat"]
    {
        assert!(page.contains(words), "{words}");
    }
    // The operator's home shows it and links to the list.
    let home = admin.get("/admin").expect(200).text();
    assert!(home.contains("/admin/mensagens?estado=pendente"), "{home}");
    assert!(home.contains("Há um canal não configurado."));
    site.clock().advance_s(7 * 24 * 3600);
    let admin = site.administrator();
    let reason = &list(&admin, QUEUE)["dados"][0]["motivo"];
    assert_eq!(reason, "passou do prazo sem ser enviada");
}

#[test]
fn a_message_is_shown_without_its_link() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    welcome(&site, "ana");
    let id = ids(&list(&admin, QUEUE))[0].clone();
    let target = format!("{QUEUE}/{id}");
    let message = list(&admin, &target);
    assert_eq!(message["parametros"], json!({ "link": "(não é mostrado)" }));
    let name = &site.stored("SELECT params FROM outbox")[0];
    let name: Value = serde_json::from_str(name).unwrap();
    let name = name["link"].as_str().unwrap();
    assert!(!message.to_string().contains(name));
    let page = admin.get(&target).expect(200).text();
    assert!(page.contains("não é mostrado") && !page.contains(name));
    for other in ["999999", "0", "x", "-1"] {
        admin.get(&format!("{QUEUE}/{other}")).expect(404);
    }
}

#[test]
fn a_waiting_message_is_cancelled_once_and_on_the_record() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    welcome(&site, "ana");
    welcome(&site, "rui");
    let all = ids(&list(&admin, QUEUE));
    let cancel = format!("{QUEUE}/{}/cancelar", all[0]);
    let person = site.person("caio");
    person.post(&cancel, &json!({})).expect(403);
    let cancelled = admin.send(Request::new("POST", &cancel)).expect(303);
    assert_eq!(cancelled.header("location"), Some("/admin/mensagens"));
    let page = admin.get("/admin/mensagens").expect(200);
    assert!(page.text().contains("Mensagem cancelada"));
    assert_eq!(admin.post(&cancel, &json!({})).expect(409).code(), "conflict");
    admin.post(&format!("{QUEUE}/999999/cancelar"), &json!({})).expect(404);
    let dropped = list(&admin, "/admin/mensagens?estado=descartada");
    assert_eq!(ids(&dropped), all[..1]);
    assert_eq!(dropped["dados"][0]["motivo"], "cancelada por administradora da Silva");
    assert_eq!(ids(&list(&admin, "/admin/mensagens?estado=pendente")), all[1..]);
    assert_eq!(
        site.stored("SELECT actor_kind || ' ' || action || ' ' || object_name || ' ' || before || ' ' || after FROM audit WHERE object_kind = 'mensagem' AND before IS NOT NULL"),
        [r#"pessoa mensagem.cancelar Boas-vindas para rui {"estado":"pendente"} {"estado":"descartada"}"#]
    );
}

#[test]
fn the_queue_is_searched_filtered_paged_and_exported() {
    let site = Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "nao-responda@example.com")
        .start();
    let admin = site.administrator();
    for number in 0..15 {
        welcome(&site, &format!("=ana{number:02}"));
    }
    welcome(&site, "rui");
    let total = |target: &str| list(&admin, &format!("{QUEUE}{target}"))["total"].as_u64().unwrap();
    assert_eq!(total(""), 32);
    for (target, count) in [
        ("?canal=chat", 16),
        ("?canal=telegram", 0),
        ("?tipo=boas_vindas", 32),
        ("?tipo=link_de_senha", 0),
        ("?estado=pendente&canal=email&tipo=boas_vindas", 16),
        ("?estado=enviada", 0),
        ("?q=RUI%40example.com", 2),
        ("?q=%3Dana", 30),
        ("?q=%3Dana&canal=email", 15),
        ("?q=example.com", 0),
        ("?q=%25", 0),
    ] {
        assert_eq!(total(target), count, "{target}");
    }
    let first = ids(&list(&admin, "/admin/mensagens?por_pagina=20"));
    let second = ids(&list(&admin, "/admin/mensagens?por_pagina=20&pagina=2"));
    assert_eq!((first.len(), second.len()), (20, 12));
    let mut oldest = ids(&list(&admin, "/admin/mensagens?por_pagina=100&ordem=criada_em"));
    oldest.reverse();
    assert_eq!([first, second].concat(), oldest);
    for wrong in ["?estado=nenhum", "?canal=fax", "?ordem=nome", "?formato=xml", "?pagina=0"] {
        admin.get(&format!("{QUEUE}{wrong}")).expect(422);
    }
    let csv = admin.get("/admin/mensagens?formato=csv&canal=chat").expect(200);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let text = csv.text();
    assert_eq!(text.lines().count(), 17);
    assert!(text.contains(",'=ana00,"), "a formula: {text}");
    assert!(!text.contains("link"), "{text}");
    // The counters match the messages.
    let wrong = "SELECT c.channel FROM outbox_count c WHERE c.messages <>
        (SELECT count(*) FROM outbox o WHERE o.channel = c.channel AND o.kind = c.kind AND o.state = c.state)";
    assert_eq!(site.stored(wrong), [""; 0]);
}

#[test]
fn suspension_drops_what_waits_and_ends_links() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    welcome(&site, "ana");
    let printed = site.command(&["user", "password-link", "--email", "ana@example.com"]).ok();
    let link = printed[printed.find("/senha").unwrap()..].trim().to_owned();
    let code = link.rsplit('=').next().unwrap();
    site.anonymous().get(&link).expect(200);
    welcome(&site, "rui");
    let crm = site.key(&["write"]);
    let who = json!({ "email": "rui@example.com" });
    crm.post("/api/v1/alunos/suspender", &who).expect(200);
    let dropped = list(&admin, "/admin/mensagens?estado=descartada&q=rui");
    assert_eq!(dropped["dados"][0]["motivo"], "a pessoa está suspensa");
    let who = json!({ "email": "ana@example.com" });
    crm.post("/api/v1/alunos/suspender", &who).expect(200);
    site.anonymous().get(&link).expect(404);
    let choose = json!({ "codigo": code, "senha": "uma senha escolhida" });
    site.anonymous().post("/senha", &choose).expect(404);
    // Nothing is queued for a person who may not sign in, and the answer does
    // not show it.
    let total = || list(&admin, QUEUE)["total"].clone();
    let before = total();
    site.anonymous().post("/entrar/esqueci", &who).ok();
    admin.post("/admin/planos", &json!({ "titulo": "Depois", "preco": 1 })).expect(201);
    assert_eq!(total(), before);
    let refused = site.command(&["user", "password-link", "--email", "ana@example.com"]).exits(1);
    assert!(refused.stderr.contains("suspended"), "{}", refused.stderr);
    // Reactivation does not restore the link.
    crm.post("/api/v1/alunos/reativar", &who).expect(200);
    site.anonymous().get(&link).expect(404);
}
