//! The audit log: who did what, and how it is found.

use serde_json::json;

use crate::support::client::Request;
use crate::support::people::{list, make, page};
use crate::support::site::Site;

#[test]
fn every_act_is_told_with_what_it_changed() {
    let site = Site::start();
    let admin = site.administrator();
    let id = make(&admin, "Ana Souza", "ana@exemplo.com", "pro");
    let change = Request::new("POST", &format!("/admin/alunos/{id}"))
        .header("X-Request-Id", "pedido-da-mudanca")
        .json(&json!({ "plano": "vip" }));
    admin.send(change).ok();
    let told = list(&admin, "/admin/auditoria?quem=pessoa");
    assert_eq!(told["total"], 2);
    let newest = &told["dados"][0];
    assert_eq!(newest["acao"], "aluno.alterar");
    assert_eq!(newest["quem"], "administradora da Silva");
    assert_eq!(newest["quem_tipo"], "pessoa");
    assert_eq!(newest["endereco"], "127.0.0.1");
    assert_eq!(newest["pedido"], "pedido-da-mudanca");
    assert_eq!(newest["objeto_id"], json!(id));
    assert_eq!(newest["antes"]["papel"], "pro");
    assert_eq!(newest["depois"]["papel"], "vip");
    let number = newest["id"].as_str().unwrap();
    let shown = page(&admin, &format!("/admin/auditoria/{number}")).expect(200).text();
    for part in ["Alterar aluno", "<del>pro</del>", "<ins>vip</ins>", "pedido-da-mudanca"] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    // The list and the student's record say it in a line; days are written as pages write them.
    let given = json!({
        "acao": "plano", "ids": [id], "plano": "papel:pro", "pago_ate": "2030-01-31",
    });
    admin.post("/admin/alunos/em-lote", &given).ok();
    for place in ["/admin/auditoria".to_owned(), format!("/admin/alunos/{id}")] {
        let shown = page(&admin, &place).expect(200).text();
        for said in ["Plano: pro → vip", "Plano: vip → pro", "Pago até: 31/01/2030 23:59"] {
            assert!(shown.contains(said), "{place}, {said}: {shown}");
        }
    }
    admin.post(&format!("/admin/alunos/{id}"), &json!({ "plano": "vip" })).ok();
    // A change that changes nothing is not logged.
    admin.post(&format!("/admin/alunos/{id}"), &json!({ "plano": "vip" })).ok();
    assert_eq!(list(&admin, "/admin/auditoria?quem=pessoa")["total"], 5);
    for missing in ["/admin/auditoria/999", "/admin/auditoria/x"] {
        page(&admin, missing).expect(404);
    }
}

#[test]
fn entries_are_found_by_words_filters_and_time() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let ana = make(&admin, "Ana Assunção", "ana@exemplo.com", "pro");
    site.clock().advance_s(10 * 86_400);
    let admin = site.administrator();
    make(&admin, "Bruno Lima", "bruno@exemplo.com", "pro");
    admin.post(&format!("/admin/alunos/{ana}/suspender"), &json!({ "motivo": "férias" })).ok();
    let plan = json!({ "titulo": "Plano anual", "preco": 97 });
    admin.post("/admin/planos", &plan).expect(201);
    for (query, total) in [
        ("quem=pessoa", 4),
        ("quem=comando", 1),
        ("quem=chave", 0),
        ("", 5),
        ("q=assuncao", 2),
        ("q=ASSUN", 2),
        ("q=bruno%40exemplo.com", 1),
        ("q=suspender+ana", 1),
        ("q=ferias", 1),
        ("q=administradora", 5),
        ("q=a", 5),
        ("q=zzz", 0),
        ("q=%22+OR+%2A", 0),
        ("q=%25", 0),
        ("objeto=plano", 1),
        ("objeto=aluno", 3),
        ("objeto=equipe", 1),
        ("quem=pessoa&objeto=plano", 1),
        ("quem=pessoa&objeto=aluno&q=bruno", 1),
        ("periodo=hoje", 3),
        ("periodo=7", 3),
        ("periodo=30", 5),
        ("periodo=hoje&q=ana", 1),
        ("periodo=30&objeto=aluno&quem=pessoa", 3),
    ] {
        let found = list(&admin, &format!("/admin/auditoria?{query}"));
        assert_eq!(found["total"], total, "{query}: {found}");
    }
    let newest = list(&admin, "/admin/auditoria?por_pagina=1");
    assert_eq!(newest["dados"][0]["acao"], "plano.criar");
    let last = list(&admin, "/admin/auditoria?quem=pessoa&por_pagina=3&pagina=2");
    assert_eq!(last["dados"][0]["objeto_nome"], "Ana Assunção");
    for bad in ["quem=x", "objeto=x", "periodo=8", "ordem=acao"] {
        admin.get(&format!("/admin/auditoria?{bad}")).expect(422);
    }
    page(&admin, "/admin/auditoria?q=nada").expect(200);
    let file = admin.get("/admin/auditoria?formato=csv&objeto=aluno").expect(200).text();
    assert_eq!(file.lines().count(), 4, "{file}");
    assert!(file.contains("aluno.suspender") && file.contains("Ana Assunção"), "{file}");
}
