//! What is kept about a person: all of it as a file, and its erasure, in the panel
//! and on the command line; what staff looked at; the chain of the audit log.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::checkout::Event;
use crate::support::client::{Reply, Request};
use crate::support::people::{faults, list, page};
use crate::support::site::Site;
use crate::support::wait::until;

const OWN: &str = "/painel/perfil/dados";

/// Names and texts of a ZIP, one after the other.
fn unzipped(archive: &[u8]) -> String {
    let files = crate::support::archive::unzipped(archive);
    files.into_iter().map(|(name, text)| name + &text).collect()
}

#[track_caller]
fn confirmed(actor: &Actor<'_>, target: &str) -> Reply {
    actor.post(target, &json!({ "confirmacao": actor.person().password }))
}

/// The page of a student with this name.
#[track_caller]
fn student(admin: &Actor<'_>, name: &str) -> String {
    let found = list(admin, &format!("/admin/alunos?q={name}@"));
    format!("/admin/alunos/{}", found["dados"][0]["id"].as_str().expect("a student"))
}

/// Whether one of the words is in a file, in whatever case.
fn names(file: &Path, words: &[&str]) -> bool {
    let mut bytes = std::fs::read(file).unwrap();
    bytes.make_ascii_lowercase();
    words.iter().any(|word| {
        let found = bytes.windows(word.len()).position(|part| part == word.as_bytes());
        if let Some(at) = found {
            let around = &bytes[at.saturating_sub(100)..bytes.len().min(at + 100)];
            eprintln!("{word} at {at}: {:?}", String::from_utf8_lossy(around));
        }
        found.is_some()
    })
}

/// The same of everything that the database holds, without the parts of pages that are
/// not in use: where tens of thousands of rows go, SQLite moves others between pages and
/// leaves what it moved.
fn holds(site: &Site, words: &[&str]) -> bool {
    let copy = site.folder().join("conteudo.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let database = Connection::open_with_flags(site.database(), flags).unwrap();
    database.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    names(&copy, words)
}

const ANA: [&str; 2] = ["ana@example.com", "ana da silva"];

/// Verdict and text of `check` about something.
#[track_caller]
fn told(site: &Site, what: &str) -> (String, String) {
    let outcome = site.command(&["check", "--json"]).run();
    let report: Value = serde_json::from_str(&outcome.stdout).expect(&outcome.stderr);
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["what"] == what);
    let found = found.unwrap_or_else(|| panic!("nothing about {what}: {report}"));
    (found["verdict"].as_str().unwrap().to_owned(), found["text"].as_str().unwrap().to_owned())
}

/// Changes the database past the service, which is stopped.
fn meddle(site: &Site, sql: &str) {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    Connection::open_with_flags(site.database(), flags).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn own_data_is_given_once_the_password_was_asked_for() {
    let site = Site::start();
    let (ana, other) = (site.person("ana"), site.person("ana"));
    site.person("bia");
    ana.post("/painel/checkin", &json!({})).ok();
    let ask = Request::new("GET", OWN).header("Accept", "application/json");
    assert_eq!(faults(&ana.send(ask).expect(422)), "confirmacao");
    let shown = page(&ana, OWN).expect(200).text();
    assert!(shown.contains("name=\"confirmacao\"") && shown.contains("Baixar os meus dados"));
    assert_eq!(
        faults(&ana.post(OWN, &json!({ "confirmacao": "errada demais" })).expect(422)),
        "confirmacao"
    );
    let wrong =
        Request::new("POST", OWN).header("Accept", "text/html").form(&[("confirmacao", "errada")]);
    assert!(ana.send(wrong).expect(422).text().contains("A senha atual não confere."));
    let file = confirmed(&ana, OWN).expect(200);
    assert_eq!(file.header("content-type"), Some("application/zip"));
    assert!(file.header("content-disposition").is_some_and(|place| place.contains(".zip\"")));
    let text = unzipped(&file.body);
    for part in [
        "conta.json",
        "\"ana@example.com\"",
        "sessoes.json",
        "programa_pontos.json",
        "\"action\":1",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    for part in ["bia", "argon2", "session_hash", "password_hash"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
    // The password counts for ten minutes, in its session.
    site.clock().advance_s(599);
    assert_eq!(ana.get(OWN).expect(200).header("content-type"), Some("application/zip"));
    assert!(page(&other, OWN).expect(200).text().contains("name=\"confirmacao\""));
    site.clock().advance_s(2);
    assert!(page(&ana, OWN).expect(200).text().contains("name=\"confirmacao\""));
    let noted = "SELECT action || ' ' || actor_name FROM audit WHERE action LIKE '%exportar%'";
    assert_eq!(site.stored(noted), ["aluno.exportar_dados ana da Silva"; 2]);
}

#[test]
fn an_administrator_gives_and_erases_the_data_of_a_student() {
    let site = Site::start();
    let admin = site.administrator();
    let (ana, bia) = (site.person("ana"), site.person("bia"));
    let platform = site.anonymous();
    Event::approved("e-1", "ana@example.com", "HP1", 0)
        .with("/data/purchase/price", json!({ "value": 97.5 }))
        .send(&platform)
        .ok();
    let target = student(&admin, "ana");
    page(&admin, &target).expect(200);
    let data = format!("{target}/dados");
    assert_eq!(faults(&admin.post(&data, &json!({})).expect(422)), "confirmacao");
    let text = unzipped(&confirmed(&admin, &data).expect(200).body);
    assert!(text.contains("ana@example.com") && text.contains("HP1") && !text.contains("bia@"));
    assert!(!text.contains("administradora"), "{text}");
    bia.post(&data, &json!({})).expect(403);
    bia.post(&format!("{target}/apagar-dados"), &json!({})).expect(403);
    let erase = format!("{target}/apagar-dados");
    assert!(page(&admin, &erase).expect(200).text().contains("Apagar os dados de ana da Silva"));
    site.clock().advance_s(601);
    assert_eq!(faults(&admin.post(&erase, &json!({})).expect(422)), "confirmacao");
    let wrong = Request::new("POST", &erase)
        .header("Accept", "text/html")
        .form(&[("confirmacao", "errada")]);
    assert!(admin.send(wrong).expect(422).text().contains("Apagar para sempre"));
    ana.get("/painel").expect(200);
    confirmed(&admin, &erase).ok();
    page(&admin, &target).expect(404);
    confirmed(&admin, &erase).expect(404);
    ana.get("/painel").expect(303);
    bia.get("/painel").expect(200);
    // Number and act stay; the purchase keeps its amount.
    let kept = list(&admin, "/admin/auditoria?q=criar");
    let kept = kept["dados"].as_array().unwrap().iter().filter(|row| row["objeto_nome"] == "");
    assert_eq!(kept.count(), 1);
    let purchases = list(&admin, "/admin/compras");
    assert_eq!(purchases["dados"][0]["email"], json!(null));
    let body = site.stored("SELECT body FROM checkout_body");
    assert!(
        body[0].contains("HP1") && body[0].contains("value") && !body[0].contains("ana@"),
        "{body:?}"
    );
    let (verdict, text) = told(&site, "audit");
    assert_eq!(verdict, "ok", "{text}");
    site.stop();
    assert!(!names(&site.database(), &ANA));
    assert!(names(&site.database(), &["bia@example.com"]));
    site.start_again();
}

#[test]
fn the_commands_give_and_erase_beside_a_server() {
    let site = Site::start();
    site.administrator();
    let ana = site.person("ana");
    site.person("bia");
    let file = site.folder().join("ana.zip");
    let file_name = file.display().to_string();
    let export = ["person", "export", "--email", "ANA@example.com", &file_name];
    let said = site.command(&export).ok();
    assert!(said.contains("conta.json: 1") && said.contains(&file_name), "{said}");
    let text = unzipped(&std::fs::read(&file).unwrap());
    assert!(text.contains("ana@example.com") && !text.contains("bia@"), "{text}");
    // A file is never replaced, and half of one never stays.
    let there = site.command(&export).exits(1).stderr;
    assert!(there.contains("choose another name"), "{there}");
    let nobody = site.folder().join("x.zip");
    let nobody_name = nobody.display().to_string();
    site.command(&["person", "export", "--email", "eva@example.com", &nobody_name]).exits(1);
    assert!(!nobody.exists());
    let erase = ["person", "erase", "--email", "ana@example.com"];
    let refused = site.command(&erase).exits(1);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    ana.get("/painel").expect(200);
    let said = site.command(&[&erase[..], &["--yes"]].concat()).ok();
    assert!(said.contains("erased"), "{said}");
    until("the server notices", Duration::from_secs(5), || {
        (ana.get("/painel").status == 303).then_some(())
    });
    let again = site.command(&[&erase[..], &["--yes"]].concat()).exits(1);
    assert!(again.stderr.contains("nobody"), "{}", again.stderr);
    let last = ["person", "erase", "--email", "administradora@example.com", "--yes"];
    assert!(site.command(&last).exits(1).stderr.contains("last person"));
    site.stop();
    assert!(!names(&site.database(), &ANA));
    site.start_again();
}

#[test]
fn who_was_removed_in_the_panel_is_erased_by_the_command() {
    let site = Site::start();
    let admin = site.administrator();
    site.person("ana");
    let target = student(&admin, "ana");
    let shown = page(&admin, &target).text();
    assert!(shown.contains("use Apagar dados"), "what removing leaves is said where it is offered");
    admin.post(&format!("{target}/excluir"), &json!({})).ok();
    let copy = site.folder().join("data/seller-platform.before-v2.db");
    std::fs::write(&copy, "x").unwrap();
    let said = site.command(&["person", "erase", "--email", "ana@example.com", "--yes"]).ok();
    assert!(said.contains("erased") && said.contains("before-v2.db"), "{said}");
    site.stop();
    assert!(!names(&site.database(), &ANA));
    site.start_again();
}

#[test]
fn an_erasure_that_failed_is_told_and_tried_again_within_the_hour() {
    let site = Site::start();
    let admin = site.administrator();
    site.person("ana");
    let id = student(&admin, "ana").rsplit('/').next().unwrap().to_owned();
    meddle(
        &site,
        &format!(
            "INSERT INTO erasure (person, email, at, subject)
             VALUES (zeroblob(32), zeroblob(32), 1,
                     '{{\"user\":{id},\"email\":\"ana@example.com\",\"words\":[\"ana@example.com\"],\"accounts\":[]}}')"
        ),
    );
    let shown = page(&admin, "/admin").expect(200).text();
    assert!(shown.contains("1 apagamento de dados não terminou"), "{shown}");
    site.clock().advance_s(3_601);
    until("it is done", Duration::from_secs(10), || {
        let left = "SELECT count(*) || '' FROM erasure WHERE subject IS NOT NULL";
        (site.stored(left) == ["0"]).then_some(())
    });
    assert_eq!(list(&admin, "/admin/alunos")["total"], 0);
}

#[test]
fn the_refund_of_an_erased_buyer_is_kept_without_them() {
    let site = Site::start();
    let admin = site.administrator();
    let platform = site.anonymous();
    Event::approved("e-1", "ana@example.com", "HP1", 0).send(&platform).ok();
    site.command(&["person", "erase", "--email", "ana@example.com", "--yes"]).ok();
    Event::new("e-2", "PURCHASE_REFUNDED", "ana@example.com", "HP1", 1).send(&platform).ok();
    // Of another purchase: somebody who came again.
    Event::new("e-3", "PURCHASE_REFUNDED", "ana@example.com", "HP2", 1).send(&platform).ok();
    let stored = site.stored(
        "SELECT purchase || ' ' || email || ' ' || coalesce(subscriber, '') || ' ' || body
         FROM checkout_event JOIN checkout_body USING (event_id) WHERE event_id > 1 ORDER BY event_id",
    );
    assert!(stored[0].starts_with("HP1   {") && !stored[0].contains("Lia Prado"), "{stored:?}");
    assert!(stored[1].starts_with("HP2 ana@example.com"), "{stored:?}");
    assert_eq!(list(&admin, "/admin/compras")["total"], 3);
}

#[test]
fn a_copy_of_before_that_is_restored_does_not_bring_the_person_back() {
    let site = Site::start();
    let admin = site.administrator();
    site.person("ana");
    site.person("bia");
    let copy = site.folder().join("antes.db").display().to_string();
    site.command(&["backup", &copy]).ok();
    site.command(&["person", "erase", "--email", "ana@example.com", "--yes"]).ok();
    site.stop();
    site.command(&["restore", &copy]).ok();
    assert!(names(&site.database(), &ANA), "the copy had the person");
    for entry in std::fs::read_dir(site.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("before-restore") {
            std::fs::remove_file(path).unwrap();
        }
    }
    site.start_again();
    assert_eq!(list(&admin, "/admin/alunos")["total"], 1);
    assert_eq!(list(&admin, "/admin/alunos?q=ana@")["total"], 0);
    assert_eq!(told(&site, "audit").0, "ok");
    // Who registers anew is somebody else, also after the next start.
    let ana = crate::support::people::make(&admin, "Ana Nova", "ana@example.com", "pro");
    site.stop();
    assert!(!names(&site.database(), &["ana da silva"]));
    site.start_again();
    page(&admin, &format!("/admin/alunos/{ana}")).expect(200);
}

#[test]
fn an_erasure_that_a_kill_cuts_off_is_finished_at_the_next_start() {
    let site = Site::start();
    let admin = site.administrator();
    site.person("ana");
    let target = student(&admin, "ana");
    let id = target.rsplit('/').next().unwrap();
    site.stop();
    meddle(
        &site,
        &format!(
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 40000)
             INSERT INTO notification (owner_id, created_at, notification_id, kind, title, message)
             SELECT {id}, x, x, 8, 'Olá, ana da Silva', '' FROM n"
        ),
    );
    site.start_again();
    std::thread::scope(|scope| {
        let erasing = scope.spawn(|| {
            let body = json!({ "confirmacao": admin.person().password });
            let request = Request::new("POST", &format!("{target}/apagar-dados")).json(&body);
            admin.try_send(request)
        });
        until("it has begun", Duration::from_secs(30), || {
            let begun = "SELECT count(*) || '' FROM erasure WHERE subject IS NOT NULL";
            (site.stored(begun) == ["1"]).then_some(())
        });
        site.kill();
        let _ = erasing.join();
    });
    site.start_again();
    assert_eq!(site.stored("SELECT count(*) || '' FROM erasure WHERE subject IS NOT NULL"), ["0"]);
    site.stop();
    assert!(!holds(&site, &ANA));
    site.start_again();
}

#[test]
fn check_names_the_first_entry_that_does_not_fit() {
    let site = Site::start();
    let admin = site.administrator();
    for name in ["ana", "bia", "rui"] {
        crate::support::people::make(&admin, name, &format!("{name}@exemplo.com"), "pro");
    }
    let (verdict, text) = told(&site, "audit");
    assert!(verdict == "ok" && text.starts_with("4 entries"), "{text}");
    // Removed from the end: the manifest of a copy knows.
    let copy = site.folder().join("data/backups/copia.db");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::write(&copy, "x").unwrap();
    let head = text.rsplit(' ').next().unwrap().to_owned();
    let manifest = json!({ "sha256": "00", "audit_head": head });
    std::fs::write(copy.with_extension("db.json"), manifest.to_string()).unwrap();
    assert_eq!(told(&site, "audit").0, "ok");
    site.stop();
    let free = "DROP TRIGGER audit_is_not_removed; DROP TRIGGER audit_is_not_changed;";
    meddle(&site, &format!("{free} DELETE FROM audit WHERE audit_id = 4"));
    let (verdict, text) = told(&site, "audit");
    assert!(
        verdict == "note" && text.contains("not the copy") && text.contains("copia.db"),
        "{verdict}: {text}"
    );
    meddle(&site, "UPDATE audit SET object_name = 'Eva' WHERE audit_id = 2");
    let (verdict, text) = told(&site, "audit");
    assert!(verdict == "fail" && text.starts_with("entry 2 does not fit"), "{verdict}: {text}");
    site.command(&["check"]).exits(1);
    site.start_again();
}

#[test]
fn looks_of_staff_are_noted_once_an_hour() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let ana = crate::support::people::make(&admin, "Ana", "ana@exemplo.com", "pro");
    let target = format!("/admin/alunos/{ana}");
    let looks = |count: usize| {
        until("the looks are noted", Duration::from_secs(5), || {
            let found = list(&admin, "/admin/auditoria?q=consultar");
            let rows = found["dados"].as_array().unwrap();
            let rows: Vec<_> = rows.iter().filter(|row| row["acao"] == "aluno.consultar").collect();
            assert!(rows.len() <= count, "{found}");
            (rows.len() == count).then(|| rows.into_iter().cloned().collect::<Vec<_>>())
        })
    };
    for _ in 0..3 {
        page(&admin, &target).expect(200);
        list(&admin, &target);
    }
    let rows = looks(1);
    assert_eq!((&rows[0]["objeto_id"], &rows[0]["objeto_nome"]), (&json!(ana), &json!("Ana")));
    site.clock().advance_s(3_601);
    page(&admin, &target).expect(200);
    looks(2);
    assert!(
        !page(&admin, &target).text().contains("Consultar aluno"),
        "looks are no history of a student"
    );
    for _ in 0..2 {
        admin.get("/admin/alunos?formato=csv").expect(200);
    }
    until("each file is noted", Duration::from_secs(5), || {
        let files = list(&admin, "/admin/auditoria?q=baixar_lista");
        (files["total"] == 2).then_some(())
    });
}

#[test]
fn lists_that_staff_take_along_are_noted() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    crate::support::people::make(&admin, "Ana", "ana@exemplo.com", "pro");
    Event::approved("um", "bia@exemplo.com", "T1", 1).send(&site.anonymous()).expect(200);
    let purchase = list(&admin, "/admin/compras")["dados"][0]["id"].as_str().unwrap().to_owned();
    let message = list(&admin, "/admin/mensagens")["dados"][0]["id"].as_str().unwrap().to_owned();
    for target in [
        "/admin/alunos",
        "/admin/equipe",
        "/admin/compras?formato=csv",
        &format!("/admin/compras/{purchase}"),
        "/admin/mensagens?formato=csv",
        &format!("/admin/mensagens/{message}"),
        "/admin/requisicoes",
        "/admin/requisicoes?formato=csv",
        "/admin/auditoria?formato=csv",
    ] {
        let request = Request::new("GET", target).header("Accept", "application/json");
        admin.send(request).expect(200);
    }
    for action in [
        "aluno.consultar_lista",
        "equipe.consultar_lista",
        "compra.consultar_lista",
        "compra.baixar_lista",
        "compra.consultar",
        "mensagem.consultar_lista",
        "mensagem.baixar_lista",
        "mensagem.consultar",
        "requisicao.consultar_lista",
        "requisicao.baixar_lista",
        "auditoria.baixar_lista",
    ] {
        until("the look is noted", Duration::from_secs(5), || {
            let sql = format!("SELECT audit_id || '' FROM audit WHERE action = '{action}'");
            (site.stored(&sql).len() == 1).then_some(())
        });
    }
}

#[test]
fn what_is_kept_is_told_in_the_panel() {
    let site = Site::start();
    let shown = page(&site.administrator(), "/admin/retencao").expect(200).text();
    assert!(shown.contains("180 dias") && shown.contains("apagamento da pessoa"), "{shown}");
}
