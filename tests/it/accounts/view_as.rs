//! "View as student": read-only, for half an hour, noted in the audit log.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::people::{faults, list, page};
use crate::support::site::Site;
use crate::support::wait::until;

/// The page of a student with this name.
#[track_caller]
fn student(admin: &Actor<'_>, name: &str) -> String {
    let found = list(admin, &format!("/admin/alunos?q={name}@"));
    let id = found["dados"][0]["id"].as_str().unwrap();
    format!("/admin/alunos/{id}")
}

#[track_caller]
fn begin(admin: &Actor<'_>, target: &str) -> Value {
    let reason = json!({ "motivo": "a aluna pediu ajuda" });
    admin.post(&format!("{target}/ver-como"), &reason).ok()
}

#[track_caller]
fn told(admin: &Actor<'_>) -> Vec<(String, String)> {
    let entries = list(admin, "/admin/auditoria?q=ver");
    let rows = entries["dados"].as_array().unwrap().iter();
    rows.map(|row| {
        let how = row["depois"]["como"].as_str().unwrap_or_default();
        (row["acao"].as_str().unwrap().to_owned(), how.to_owned())
    })
    .collect()
}

#[test]
fn an_administrator_looks_as_a_student_and_every_page_says_so() {
    let site = Site::start();
    let admin = site.administrator();
    site.person("ana");
    page(&admin, "/painel").expect(403);
    let target = student(&admin, "ana");
    for bad in [json!({}), json!({ "motivo": "ab" }), json!({ "motivo": "a".repeat(201) })] {
        let refused = admin.post(&format!("{target}/ver-como"), &bad).expect(422);
        assert_eq!(faults(&refused), "motivo");
    }
    let form = Request::new("POST", &format!("{target}/ver-como"))
        .header("Accept", "text/html")
        .form(&[("motivo", "")]);
    let again = admin.send(form).expect(422).text();
    assert!(again.contains("A visualização não começou ainda"), "{again}");
    page(&admin, "/painel").expect(403);
    let begun = begin(&admin, &target);
    assert_eq!(begun["ate"], "2026-11-20 09:30:00");
    for place in ["/painel", "/painel/ml", "/painel/avisos", "/painel/meets", "/painel/aulas"] {
        let shown = page(&admin, place).expect(200).text();
        assert!(
            shown.contains("Você está vendo como") && shown.contains("ana da Silva"),
            "{place}"
        );
    }
    // Administrators still see their own pages, with a note about the view.
    for place in ["/admin", "/admin/alunos", "/perfil"] {
        let shown = page(&admin, place).expect(200).text();
        assert!(shown.contains("Você está vendo como"), "{place}");
        assert!(shown.contains("administradora da Silva"), "{place}");
    }
    let ended = admin.send(Request::new("POST", "/admin/ver-como/encerrar").form(&[])).expect(303);
    assert_eq!(ended.header("location"), Some(&*target));
    page(&admin, "/painel").expect(403);
    assert!(!page(&admin, "/admin").text().contains("Você está vendo como"));
    admin.post("/admin/ver-como/encerrar", &json!({})).ok();
    let begun = ("aluno.ver_como".to_owned(), String::new());
    let ended = ("aluno.ver_como_fim".to_owned(), "encerrada".to_owned());
    assert_eq!(told(&admin), [ended, begun]);
    // Who looked is told by number: names are in the entries that they acted in.
    let ended = &list(&admin, "/admin/auditoria?q=ver_como_fim")["dados"][0];
    assert_eq!(ended["depois"]["quem_via"], ended["quem_id"], "{ended}");
    let entry = &list(&admin, "/admin/auditoria?q=pediu+ajuda")["dados"][0];
    assert_eq!(entry["depois"]["motivo"], "a aluna pediu ajuda");
    assert_eq!(entry["objeto_nome"], "ana da Silva");
}

/// Rows of every table except those about requests.
fn rows(site: &Site) -> BTreeMap<String, Vec<String>> {
    let file = Connection::open_with_flags(site.database(), OpenFlags::SQLITE_OPEN_READ_ONLY);
    let file = file.unwrap();
    let mut names = file
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'")
        .unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap();
    let names: Vec<String> = names.collect::<Result<_, _>>().unwrap();
    let written_behind = [
        "rate_window",
        "session",
        "daily_count",
        "component_day",
        "request_log",
        "request_log_count",
    ];
    names
        .into_iter()
        .filter(|name| !written_behind.contains(&&**name))
        .map(|name| {
            let mut all = file.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
            let width = all.column_count();
            let rows = all.query_map([], |row| {
                let cells = (0..width).map(|at| format!("{:?}", row.get_ref(at)));
                Ok(cells.collect::<Vec<_>>().join(" "))
            });
            (name, rows.unwrap().collect::<Result<_, _>>().unwrap())
        })
        .collect()
}

#[test]
fn nothing_can_be_changed_meanwhile_and_looking_changes_nothing() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let ana = site.person("ana");
    ana.get("/painel").expect(200);
    let target = student(&admin, "ana");
    begin(&admin, &target);
    site.clock().advance_s(120);
    admin.get("/admin").expect(200);
    site.stop();
    let before = rows(&site);
    site.start_again();
    let mut refused = 0;
    for route in site
        .routes()
        .iter()
        .filter(|row| row.call == "session:student" || row.call == "session:anyone")
    {
        let request = Request::new(&route.method, &route.sample_path());
        let reply = if route.method == "GET" {
            admin.send(request.header("Accept", "text/html"))
        } else {
            admin.send(request.json(&json!({})))
        };
        let looks = route.method == "GET" && !route.changes_state;
        // Labels and fiscal notes contain the buyer's address.
        let in_person = [
            "/painel/ml/retorno",
            "/painel/ml/etiqueta",
            "/painel/ml/etiquetas/lote/{id}",
            "/painel/vendas/{id}/nota",
        ];
        if !looks || in_person.contains(&route.path.as_str()) {
            assert_eq!(
                (reply.status, reply.asked.as_str()),
                (403, reply.asked.as_str()),
                "{reply}"
            );
            refused += 1;
        } else {
            // Some rows need parameters, which the sample does not have.
            assert!(matches!(reply.status, 200 | 400 | 404 | 422), "{reply}");
        }
    }
    assert!(refused >= 11, "{refused} rows refused");
    let form = Request::new("POST", "/painel/avisos/lidos").header("Accept", "text/html").form(&[]);
    let shown = admin.send(form).expect(403).text();
    assert!(shown.contains("Aqui só dá para olhar") && shown.contains("ana da Silva"), "{shown}");
    site.stop();
    let after = rows(&site);
    for (table, rows) in &before {
        // Only the administrator's own last access changes, and the number of commits.
        let moved = after[table].iter().zip(rows).filter(|(now, was)| now != was).count();
        let allowed = usize::from(["user", "setting"].contains(&table.as_str()));
        assert!(
            moved <= allowed && after[table].len() == rows.len(),
            "{table}: {moved} rows moved"
        );
    }
    site.start_again();
    // The student's last access did not change, and her own session still works.
    let seen = &list(&admin, &target)["ultimo_acesso"];
    assert_eq!(seen, "2026-11-20 09:00:00");
    ana.get("/painel").expect(200);
}

#[test]
fn a_view_ends_by_itself_after_half_an_hour() {
    let site = Site::start();
    let admin = site.administrator();
    site.person("ana");
    let target = student(&admin, "ana");
    begin(&admin, &target);
    site.clock().advance_s(30 * 60 - 1);
    page(&admin, "/painel").expect(200);
    site.clock().advance_s(1);
    page(&admin, "/painel").expect(403);
    until("the end is noted", Duration::from_mins(1), || {
        let told = told(&admin);
        (told.len() == 2).then(|| assert_eq!(told[0].1, "o tempo acabou"))
    });
    page(&admin, "/admin").expect(200);
}

#[test]
fn another_view_takes_the_place_of_the_first_and_leaving_ends_it() {
    let site = Site::start();
    let admin = site.administrator();
    for name in ["ana", "bia"] {
        site.person(name);
    }
    let other = site.person_as("outra", "admin");
    begin(&admin, &student(&admin, "ana"));
    begin(&admin, &student(&admin, "bia"));
    assert!(page(&admin, "/painel").text().contains("bia da Silva"));
    // The view belongs to one session.
    page(&other, "/painel").expect(403);
    assert_eq!(told(&other).len(), 3);
    admin.send(Request::new("POST", "/sair")).expect(303);
    page(&admin, "/painel").expect(303);
    until("the end is noted", Duration::from_mins(1), || {
        let told = told(&other);
        (told.len() == 4).then(|| assert_eq!(told[0].1, "a sessão terminou"))
    });
}

#[test]
fn nobody_looks_as_somebody_who_may_not_look() {
    let site = Site::start();
    let admin = site.administrator();
    let other = site.person_as("outra", "admin");
    site.person("ana");
    let target = student(&admin, "ana");
    begin(&admin, &target);
    page(&admin, "/painel").expect(200);
    // Suspension ends the view at once, and reactivation does not bring it back.
    other.post(&format!("{target}/suspender"), &json!({ "motivo": "teste" })).ok();
    page(&admin, "/painel").expect(403);
    admin.post(&format!("{target}/ver-como"), &json!({ "motivo": "teste" })).expect(409);
    assert_eq!(told(&admin)[0].1, "o aluno foi suspenso");
    other.post(&format!("{target}/reativar"), &json!({})).ok();
    page(&admin, "/painel").expect(403);
    begin(&admin, &target);
    page(&admin, "/painel").expect(200);
    // Students and suppliers cannot begin a view, and nobody can view as staff.
    let ana = site.person("ana");
    ana.post(&format!("{target}/ver-como"), &json!({ "motivo": "teste" })).expect(403);
    let staff = list(&admin, "/admin/equipe?q=outra")["dados"][0]["id"].clone();
    let staff = staff.as_str().unwrap();
    let as_staff = format!("/admin/alunos/{staff}/ver-como");
    admin.post(&as_staff, &json!({ "motivo": "teste" })).expect(404);
    // A person who is no longer an administrator loses the view.
    let own = list(&other, "/admin/equipe?q=administradora")["dados"][0]["id"].clone();
    let own = format!("/admin/equipe/{}", own.as_str().unwrap());
    other.post(&own, &json!({ "papel": "drop" })).ok();
    page(&admin, "/painel").expect(403);
    page(&admin, "/fornecedor").expect(200);
}
