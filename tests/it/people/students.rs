//! People in the operator's panel: lists, forms, suspension, removal.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::people::{faults, list, make, names, page};
use crate::support::site::Site;

#[test]
fn a_student_has_the_fields_of_the_contract() {
    let site = Site::start();
    let admin = site.administrator();
    let body = json!({
        "nome": "  Ana Souza ", "email": " Ana@Exemplo.com ", "plano": "pro",
        "chat_number": "5511912345678",
    });
    let made = admin.post("/admin/alunos", &body).expect(201).json();
    assert_eq!(made["ok"], true);
    let id = made["id"].as_str().unwrap();
    let expected = json!({
        "id": id, "nome": "Ana Souza", "email": "ana@exemplo.com", "plano": "pro",
        "chat_number": "5511912345678", "status": "ativo", "em_disputa": false,
        "pago_ate": null, "criado_em": "2026-11-20 09:00:00", "ultimo_acesso": null,
    });
    assert_eq!(
        list(&admin, "/admin/alunos"),
        json!({ "ok": true, "total": 1, "dados": [expected] })
    );
    assert_eq!(list(&admin, &format!("/admin/alunos/{id}")), expected);
    let shown = page(&admin, &format!("/admin/alunos/{id}")).expect(200).text();
    for part in ["Ana Souza", "ana@exemplo.com", "5511912345678", "Boas-vindas", "Pendente"] {
        assert!(shown.contains(part), "no {part:?}");
    }
    // Nobody signs in without having chosen a password.
    let login = json!({ "email": "ana@exemplo.com", "senha": "" });
    site.anonymous().post("/api/ext/auth", &login).expect(401);
}

#[test]
fn every_field_at_fault_is_named_and_typed_text_is_kept() {
    let site = Site::start();
    let admin = site.administrator();
    make(&admin, "Ana", "ana@exemplo.com", "pro");
    for (body, fields) in [
        (json!({}), "email nome"),
        (
            json!({ "nome": "A", "email": "a@b", "plano": "admin", "chat_number": "123" }),
            "chat_number email nome plano",
        ),
        (
            json!({ "nome": "a\u{7}b", "email": "x@y.z", "plano": "pro", "chat_number": 5 }),
            "chat_number nome",
        ),
        (
            json!({ "nome": "A".repeat(121), "email": "a b@c.d", "plano": "drop" }),
            "email nome plano",
        ),
    ] {
        let reply = admin.post("/admin/alunos", &body).expect(422);
        assert_eq!(reply.code(), "validation_failed");
        assert_eq!(faults(&reply), fields, "{reply}");
    }
    let taken = json!({ "nome": "Outra", "email": " ANA@exemplo.com", "plano": "free" });
    let reply = admin.post("/admin/alunos", &taken).expect(409);
    assert_eq!((reply.code().as_str(), &*faults(&reply)), ("conflict", "email"));
    let form = |fields: &[(&str, &str)]| {
        admin.send(Request::new("POST", "/admin/alunos").header("Accept", "text/html").form(fields))
    };
    let typed = [("nome", "Zé <b>"), ("email", "ana@exemplo.com"), ("plano", "vip")];
    let again = form(&typed).expect(409).text();
    for part in ["Já existe uma conta com este e-mail", "Zé &#60;b&#62;", "Nada foi salvo"] {
        assert!(again.contains(part), "no {part:?} in {again}");
    }
    form(&[("nome", ""), ("email", "x"), ("plano", "vip")]).expect(422);
    let made =
        form(&[("nome", "Bia"), ("email", "bia@x.com"), ("plano", "vip"), ("chat_number", "")]);
    let made = made.expect(303);
    let leads_to = made.header("location").unwrap();
    assert!(leads_to.starts_with("/admin/alunos/"), "{leads_to}");
    let shown = page(&admin, leads_to).expect(200).text();
    assert!(shown.contains("sem como avisar"), "{shown}");
    assert_eq!(list(&admin, "/admin/alunos")["total"], 2);
}

#[test]
fn a_change_keeps_what_it_leaves_out() {
    let site = Site::start();
    let admin = site.administrator();
    let ana = make(&admin, "Ana", "ana@exemplo.com", "pro");
    let bia = make(&admin, "Bia", "bia@exemplo.com", "free");
    let target = format!("/admin/alunos/{ana}");
    admin.post(&target, &json!({ "plano": "podio" })).ok();
    admin.post(&target, &json!({ "chat_number": "" })).ok();
    admin.post(&target, &json!({ "email": "ANA.nova@exemplo.com" })).ok();
    let now = list(&admin, &target);
    assert_eq!(
        [&now["nome"], &now["email"], &now["plano"], &now["chat_number"]],
        [&json!("Ana"), &json!("ana.nova@exemplo.com"), &json!("podio"), &Value::Null]
    );
    let taken = admin.post(&target, &json!({ "email": "bia@exemplo.com" })).expect(409);
    assert_eq!(faults(&taken), "email");
    // People write numbers as they like.
    let form = Request::new("POST", &target).form(&[
        ("nome", "Ana"),
        ("email", "ana.nova@exemplo.com"),
        ("plano", "podio"),
        ("chat_number", "+55 (11) 91234-5678"),
    ]);
    admin.send(form).expect(303);
    assert_eq!(list(&admin, &target)["chat_number"], "5511912345678");
    // People write numbers as they like.
    let form = Request::new("POST", &target).form(&[
        ("nome", "Ana"),
        ("email", "ana.nova@exemplo.com"),
        ("plano", "podio"),
        ("chat_number", "+55 (11) 91234-5678"),
    ]);
    admin.send(form).expect(303);
    assert_eq!(list(&admin, &target)["chat_number"], "5511912345678");
    let form = Request::new("POST", &target).header("Accept", "text/html");
    let again = admin.send(form.form(&[("nome", ""), ("email", "nada"), ("plano", "")]));
    let again = again.expect(422).text();
    assert!(
        again.contains("Falta corrigir 3 campos") && again.contains("value=\"nada\""),
        "{again}"
    );
    // A list does not open people of the other list, and unknown people are not
    // found.
    for other in [
        format!("/admin/equipe/{bia}"),
        "/admin/alunos/999".to_owned(),
        "/admin/alunos/x".to_owned(),
    ] {
        admin.post(&other, &json!({ "nome": "X" })).expect(404);
        page(&admin, &other).expect(404);
    }
}

#[test]
fn null_takes_away_and_a_plan_that_is_left_out_is_free() {
    let site = Site::start();
    let admin = site.administrator();
    let body = json!({ "nome": "Ana", "email": "ana@example.com", "chat_number": "5511912345678" });
    let id = admin.post("/admin/alunos", &body).expect(201).json()["id"].clone();
    let target = format!("/admin/alunos/{}", id.as_str().unwrap());
    let now = list(&admin, &target);
    assert_eq!((&now["plano"], &now["chat_number"]), (&json!("free"), &json!("5511912345678")));
    admin.post(&target, &json!({ "chat_number": null })).ok();
    assert_eq!(list(&admin, &target)["chat_number"], json!(null));
    for needed in ["nome", "email", "plano"] {
        let refused = admin.post(&target, &json!({ needed: null })).expect(422);
        assert_eq!(faults(&refused), needed);
    }
}

#[test]
fn people_are_found_by_parts_of_their_name_and_address() {
    let site = Site::start();
    let admin = site.administrator();
    for (name, email) in [
        ("João da Silva", "joao@loja.com"),
        ("Maria Conceição", "mc@exemplo.com.br"),
        ("Ângela Müller", "angela@exemplo.com.br"),
        ("Zuleica Assunção", "zu_leica@x.com"),
        ("Beto 100%", "beto@x.com"),
    ] {
        make(&admin, name, email, "pro");
    }
    for (query, found) in [
        ("", "Ângela Beto João Maria Zuleica"),
        ("q=joao", "João"),
        ("q=JO%C3%83O+silva", "João"),
        ("q=silva+jo", "João"),
        ("q=ilv", "João"),
        ("q=%C3%A7%C3%A3o", "Maria Zuleica"),
        ("q=exemplo.com", "Ângela Maria"),
        ("q=m%C3%BCller", "Ângela"),
        ("q=_", "Zuleica"),
        ("q=%25", "Beto"),
        ("q=zu", "Zuleica"),
        ("q=zuleica+xx", ""),
        ("q=%22", ""),
        ("q=%27+OR+1%3D1", ""),
        ("q=nada+disso", ""),
    ] {
        let found: Vec<&str> = found.split(' ').filter(|name| !name.is_empty()).collect();
        let listed = names(&admin, query);
        let first: Vec<&str> = listed.iter().map(|name| name.split(' ').next().unwrap()).collect();
        assert_eq!(first, found, "{query}");
    }
    // A new name is found at once, the old one no longer.
    let id = list(&admin, "/admin/alunos?q=beto")["dados"][0]["id"].clone();
    let target = format!("/admin/alunos/{}", id.as_str().unwrap());
    admin.post(&target, &json!({ "nome": "Caio Prado" })).ok();
    assert_eq!(names(&admin, "q=caio"), ["Caio Prado"]);
    assert_eq!(names(&admin, "q=100%25"), [""; 0]);
}

/// Twenty-three students of all plans, a minute apart; every fourth suspended.
fn crowd(site: &Site) -> Actor<'_> {
    let admin = site.administrator();
    let plans = ["free", "pro", "vip", "piloto_pro", "podio"];
    for number in 0..23 {
        let email = format!("pessoa{number:02}@exemplo.com");
        let name = format!("Pessoa {number:02}");
        let id = make(&admin, &name, &email, plans[number % 5]);
        if number % 4 == 0 {
            let reason = json!({ "motivo": "não pagou" });
            let target = format!("/admin/alunos/{id}/suspender");
            admin.post(&target, &reason).ok();
        }
        site.clock().advance_s(60);
    }
    admin
}

#[test]
fn filters_agree_with_the_totals() {
    let site = Site::builder().unlimited().start();
    let admin = crowd(&site);
    let total = |query: &str| list(&admin, &format!("/admin/alunos?{query}"))["total"].clone();
    for (query, expected) in [
        ("", 23),
        ("plano=free", 5),
        ("status=suspenso", 6),
        ("status=ativo", 17),
        ("status=atrasado", 0),
        ("status=suspenso&plano=free", 2),
        ("em_disputa=sim", 0),
        ("em_disputa=nao", 23),
        ("status=suspenso&q=pessoa", 6),
        ("plano=vip&q=pessoa", 5),
        ("plano=vip&q=p", 5),
        ("q=p", 23),
    ] {
        assert_eq!(total(query), expected, "{query}");
    }
    for bad in ["plano=outro", "status=x", "ordem=email", "pagina=0", "por_pagina=0", "formato=pdf"]
    {
        admin.get(&format!("/admin/alunos?{bad}")).expect(422);
    }
    let narrow = page(&admin, "/admin/alunos?status=suspenso&plano=free");
    let narrow = narrow.expect(200).text();
    assert!(narrow.contains("2 resultados") && narrow.contains("Suspenso"), "{narrow}");
    page(&admin, "/admin/alunos?q=ninguem").expect(200);
}

#[test]
fn every_order_pages_through_everybody_once() {
    let site = Site::builder().unlimited().start();
    let admin = crowd(&site);
    for order in ["nome", "criado_em", "ultimo_acesso"] {
        for (sign, search) in [("", ""), ("-", ""), ("", "&q=pessoa"), ("-", "&q=e")] {
            let mut seen = Vec::new();
            for number in 1..=3 {
                let query = format!("ordem={sign}{order}&por_pagina=10&pagina={number}{search}");
                seen.extend(names(&admin, &query));
            }
            let unique: BTreeSet<&String> = seen.iter().collect();
            assert_eq!((seen.len(), unique.len()), (23, 23), "{order} {sign}");
            let is_sorted =
                if sign.is_empty() { seen.is_sorted() } else { seen.is_sorted_by(|a, b| a >= b) };
            assert!(is_sorted, "{sign}{order}{search}: {seen:?}");
        }
    }
    assert_eq!(names(&admin, "por_pagina=1000").len(), 23);
}

#[test]
fn the_export_has_every_row_and_no_formula() {
    let site = Site::start();
    let admin = site.administrator();
    make(&admin, "=1+1", "formula@exemplo.com", "pro");
    make(&admin, "Ana \"A\", a única", "ana@exemplo.com", "vip");
    let file = admin.get("/admin/alunos?formato=csv").expect(200);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let text = file.text();
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(
        lines[0],
        "id,nome,email,plano,chat_number,status,em_disputa,pago_ate,criado_em,ultimo_acesso"
    );
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().any(|line| line.contains(",'=1+1,")), "{text}");
    assert!(lines.iter().any(|line| line.contains("\"Ana \"\"A\"\", a única\"")), "{text}");
    let some = admin.get("/admin/alunos?formato=csv&plano=vip").expect(200).text();
    assert_eq!(some.lines().count(), 2);
}
