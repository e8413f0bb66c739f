//! Students from a list: checked first, then all of them, whatever happens.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::people::{faults, list, page};
use crate::support::site::Site;
use crate::support::wait::until;

const PATH: &str = "/admin/alunos/importar";
/// How long ten thousand students may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Sends a list and returns what was found in it.
#[track_caller]
fn send(admin: &Actor<'_>, csv: &str) -> Value {
    admin.post(PATH, &json!({ "csv": csv })).expect(201).json()
}

/// A list as a browser sends it.
fn upload(file_name: &str, csv: &[u8]) -> Request {
    let mut body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"arquivo\"; filename=\"{file_name}\"\r\n\
         Content-Type: text/csv\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(csv);
    body.extend_from_slice(b"\r\n--x--\r\n");
    Request::new("POST", PATH)
        .header("Accept", "text/html")
        .body("multipart/form-data; boundary=x", &body)
}

#[track_caller]
fn report(admin: &Actor<'_>, id: &str, query: &str) -> Value {
    list(admin, &format!("{PATH}/{id}{query}"))
}

#[track_caller]
fn apply(admin: &Actor<'_>, id: &str) -> Reply {
    admin.post(&format!("{PATH}/{id}/aplicar"), &json!({}))
}

/// Waits until an import was made.
#[track_caller]
fn made(admin: &Actor<'_>, id: &str) -> Value {
    until("the students are made", PATIENCE, || {
        let report = report(admin, id, "?por_pagina=1");
        (report["estado"] == "importada").then_some(report)
    })
}

fn id_of(answer: &Value) -> &str {
    answer["id"].as_str().unwrap()
}

#[track_caller]
fn students(admin: &Actor<'_>) -> u64 {
    list(admin, "/admin/alunos")["total"].as_u64().unwrap()
}

const MIXED: &str = "nome;email;plano;chat_number\n\
     Ana Souza;ana@exemplo.com;pro;5511912345678\n\
     Bia;BIA@exemplo.com;VIP;\n\
     Caio;jaexiste@exemplo.com;free;\n\
     ;sem nome;ouro;12\n\
     Outra Ana;ana@exemplo.com;pro;\n";

#[test]
fn a_list_is_checked_before_anybody_is_made() {
    let site = Site::start();
    let admin = site.administrator();
    crate::support::people::make(&admin, "Já Existe", "jaexiste@exemplo.com", "vip");
    let sent = send(&admin, MIXED);
    let counts = |answer: &Value| {
        ["linhas", "criar", "criados", "existem", "erros"]
            .map(|name| answer[name].as_u64().unwrap())
    };
    assert_eq!(counts(&sent), [5, 2, 0, 1, 2]);
    assert_eq!((&sent["estado"], students(&admin)), (&json!("conferida"), 1));
    let id = id_of(&sent);
    let checked = report(&admin, id, "");
    let told: Vec<(u64, &str, &str)> = checked["dados"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap_or_default();
            (row["linha"].as_u64().unwrap(), word("situacao"), word("motivo"))
        })
        .collect();
    let faulty = "o nome precisa ter de 2 a 120 letras; o e-mail não é válido; o plano não existe; \
                  o número de chat precisa ter de 10 a 15 números";
    assert_eq!(
        told,
        [
            (2, "criar", ""),
            (3, "criar", ""),
            (4, "existe", ""),
            (5, "erro", faulty),
            (6, "erro", "o e-mail já está na linha 2"),
        ]
    );
    assert_eq!(apply(&admin, id).expect(202).json()["ok"], true);
    let done = made(&admin, id);
    assert_eq!(counts(&done), [5, 0, 2, 1, 2]);
    assert_eq!(students(&admin), 3);
    let bia = &list(&admin, "/admin/alunos?q=bia")["dados"][0];
    assert_eq!((&bia["email"], &bia["plano"]), (&json!("bia@exemplo.com"), &json!("vip")));
    assert_eq!(list(&admin, "/admin/alunos?q=jaexiste")["dados"][0]["plano"], "vip");
    // The new students have no password yet, and a welcome message waits.
    let ana = list(&admin, "/admin/alunos?q=ana")["dados"][0]["id"].clone();
    let shown = page(&admin, &format!("/admin/alunos/{}", ana.as_str().unwrap())).text();
    assert!(shown.contains("Boas-vindas"), "{shown}");
    // A list can be applied only once.
    assert_eq!(apply(&admin, id).expect(409).code(), "conflict");
    let noted = list(&admin, "/admin/auditoria?objeto=importacao");
    assert_eq!(noted["dados"][0]["depois"]["criados"], 2);
    let file = admin.get(&format!("{PATH}/{id}?formato=csv&situacao=erro")).expect(200).text();
    assert_eq!(file.lines().count(), 3);
    assert!(file.contains("o plano não existe"), "{file}");
    assert_eq!(report(&admin, id, "?situacao=criado")["total"], 2);
    assert_eq!(list(&admin, PATH)["total"], 1);
    admin.post(&format!("{PATH}/{id}/excluir"), &json!({})).ok();
    page(&admin, &format!("{PATH}/{id}")).expect(404);
    assert_eq!(students(&admin), 3);
}

#[test]
fn a_row_that_got_an_account_meanwhile_stays_as_it_is() {
    let site = Site::start();
    let admin = site.administrator();
    let sent = send(&admin, "nome,email,plano\nAna,ana@x.com,pro\nBia,bia@x.com,pro\n");
    crate::support::people::make(&admin, "Ana Outra", "ana@x.com", "podio");
    apply(&admin, id_of(&sent)).expect(202);
    let done = made(&admin, id_of(&sent));
    assert_eq!((&done["criados"], &done["existem"]), (&json!(1), &json!(1)));
    assert_eq!(list(&admin, "/admin/alunos?q=ana@")["dados"][0]["nome"], "Ana Outra");
}

#[test]
fn what_is_no_list_is_refused_as_a_whole() {
    let site = Site::start();
    let admin = site.administrator();
    for csv in ["", "nome,email\nAna,a@x.com\n", "nome,email,plano\n", "\"nome,email"] {
        let refused = admin.post(PATH, &json!({ "csv": csv })).expect(422);
        assert_eq!(faults(&refused), "csv", "{csv:?}");
    }
    admin.post(PATH, &json!({})).expect(422);
    let text = |kind: &str, body: &[u8]| {
        admin.send(Request::new("POST", PATH).header("Accept", "application/json").body(kind, body))
    };
    text("text/csv", b"nome,email,plano\n\xff\xfe,a@x.com,pro\n").expect(422);
    text("image/png", b"nome").expect(415);
    text("multipart/form-data; boundary=x", b"--x\r\nrubbish").expect(422);
    text("text/csv; charset=utf-8", b"nome,email,plano\nAna,a@x.com,pro\n").expect(201);
    // In a browser the form is shown again and says why.
    let again = admin.send(upload("lista.csv", b"nome;email\nAna;a@x.com\n")).expect(422).text();
    assert!(again.contains("falta: plano"), "{again}");
    let without = admin.send(upload("lista.csv", b"")).expect(422).text();
    assert!(without.contains("Escolha um arquivo CSV"), "{without}");
    let line = "Nome bem comprido de uma pessoa,pessoa@exemplo.com,pro\n";
    let many = "nome,email,plano\n".to_owned() + &line.repeat(20_001);
    let refused = admin.post(PATH, &json!({ "csv": many })).expect(422);
    assert!(refused.text().contains("20.001"), "{refused}");
    let huge = vec![b'a'; 8 * 1024 * 1024 + 1];
    text("text/csv", &huge).expect(413);
    for missing in ["/admin/alunos/importar/999", "/admin/alunos/importar/x"] {
        page(&admin, missing).expect(404);
        admin.post(&format!("{missing}/aplicar"), &json!({})).expect(404);
        admin.post(&format!("{missing}/excluir"), &json!({})).expect(404);
    }
}

#[test]
fn an_operator_imports_by_the_pages_alone() {
    let site = Site::start();
    let admin = site.administrator();
    let names = "nome;email;plano\nÂngela <b>;angela@x.com;Pódio\nZé;ruim;pro\n";
    let sent = admin.send(upload("alunos <2026>.csv", names.as_bytes())).expect(303);
    let target = sent.header("location").unwrap().to_owned();
    let shown = page(&admin, &target).expect(200).text();
    for part in [
        "alunos &#60;2026&#62;.csv",
        "Importar 1 aluno",
        "A linha com erro fica de fora",
        "&#194;ngela",
        "o e-mail não é válido",
        "Nada foi criado ainda",
    ] {
        let part = part.replace("&#194;", "Â");
        assert!(shown.contains(&part), "no {part:?} in {shown}");
    }
    let begun =
        admin.send(Request::new("POST", &format!("{target}/aplicar")).form(&[])).expect(303);
    assert_eq!(begun.header("location"), Some(&*target));
    let shown = until("the page says so", PATIENCE, || {
        let shown = page(&admin, &target).expect(200);
        // A page that was read at the very end may say so and still reload once.
        let is_over = shown.text().contains("Concluída") && shown.header("refresh").is_none();
        is_over.then_some(shown)
    });
    assert!(shown.text().contains("1 importado"), "{shown}");
    let listed = page(&admin, PATH).expect(200).text();
    assert!(listed.contains("1 importado, 1 com erro"), "{listed}");
}

#[test]
fn ten_thousand_students_that_were_begun_are_all_made() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let mut csv = "nome,email,plano,chat_number\n".to_owned();
    for number in 0..10_000 {
        writeln!(csv, "Pessoa {number},pessoa{number}@exemplo.com,pro,55119{number:08}").unwrap();
    }
    let big = send(&admin, &csv);
    let other = send(&admin, "nome,email,plano\nAna,ana@x.com,pro\n");
    let id = id_of(&big).to_owned();
    assert_eq!(big["criar"], 10_000);
    apply(&admin, &id).expect(202);
    assert_eq!(apply(&admin, &id).expect(409).code(), "conflict");
    assert_eq!(apply(&admin, id_of(&other)).expect(409).code(), "conflict");
    admin.post(&format!("{PATH}/{id}/excluir"), &json!({})).expect(409);
    until("it is under way", PATIENCE, || {
        let report = report(&admin, &id, "?por_pagina=1");
        let begun = report["feitas"].as_u64().unwrap() > 100;
        assert_eq!(report["estado"], "importando", "{report}");
        begun.then_some(())
    });
    let shown = page(&admin, &format!("{PATH}/{id}")).expect(200);
    assert_eq!(shown.header("refresh"), Some("2"));
    assert!(shown.text().contains("Importando alunos"), "{shown}");
    site.kill();
    site.start_again();
    let admin = site.administrator();
    // What was begun goes on by itself, to the end.
    assert_eq!(apply(&admin, &id).expect(409).code(), "conflict");
    let done = made(&admin, &id);
    assert_eq!((&done["criados"], &done["erros"]), (&json!(10_000), &json!(0)));
    assert_eq!(students(&admin), 10_000);
    assert_eq!(list(&admin, "/admin/alunos?q=pessoa9999@")["total"], 1);
    apply(&admin, id_of(&other)).expect(202);
    made(&admin, id_of(&other));
    assert_eq!(students(&admin), 10_001);
}
