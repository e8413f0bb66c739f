//! Who may open the agency's pages: the whole route table, called by the team,
//! by students without the permission, by suppliers and by callers without a
//! credential.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::agency::{is_for_administrators, permit, staff, student};
use crate::support::client::{Reply, Request};
use crate::support::people::{list, page};
use crate::support::site::{Route, Site};

fn is_of_agency(row: &Route) -> bool {
    row.path == "/admin/agencia" || row.path.starts_with("/admin/agencia/")
}

/// Calls a row with an empty body, as a program does.
fn ask(actor: &Actor<'_>, row: &Route) -> Reply {
    let request =
        Request::new(&row.method, &row.sample_path()).header("Accept", "application/json");
    actor.send(if row.method == "GET" { request } else { request.json(&json!({})) })
}

#[test]
fn the_team_reaches_the_agency_and_nothing_else_of_the_administration() {
    let site = Site::builder().unlimited().start();
    let (lia, ana) = (staff(&site, "lia"), site.person("ana"));
    let (rui, nobody) = (site.person_as("rui", "drop"), site.anonymous());
    let rows = site.routes();
    let rows: Vec<&Route> = rows.iter().filter(|row| row.path.starts_with("/admin")).collect();
    let (agency, others): (Vec<&Route>, Vec<&Route>) =
        rows.into_iter().partition(|row| is_of_agency(row));
    assert!(agency.len() >= 6 && others.len() > 100, "{} and {}", agency.len(), others.len());
    for row in &agency {
        assert_eq!(row.call, "session:agency", "{} {}", row.method, row.path);
        let reply = ask(&lia, row);
        if is_for_administrators(&row.path) {
            reply.expect(403);
        } else {
            assert!(matches!(reply.status, 200 | 201 | 400 | 404 | 409 | 422), "{reply}");
        }
    }
    for row in &others {
        assert_ne!(row.call, "session:agency", "{} {}", row.method, row.path);
        ask(&lia, row).expect(403);
    }
    for row in &agency {
        for actor in [&ana, &rui] {
            ask(actor, row).expect(403);
        }
        let reply = ask(&nobody, row);
        assert!(matches!(reply.status, 303 | 401), "{reply}");
    }
}

#[test]
fn a_permission_that_is_taken_away_ends_with_the_next_request() {
    let site = Site::builder().unlimited().start();
    let (admin, lia) = (site.administrator(), staff(&site, "lia"));
    let at = "/admin/agencia/etiquetas";
    for _ in 0..3 {
        page(&lia, at).expect(200);
        permit(&admin, "lia", "herdar");
        page(&lia, at).expect(403);
        permit(&admin, "lia", "permitir");
        page(&lia, at).expect(200);
        permit(&admin, "lia", "negar");
        page(&lia, at).expect(403);
        permit(&admin, "lia", "permitir");
    }
    // Her menu shows the agency, another student's does not, and she is still a
    // student.
    let menu = page(&lia, "/painel").expect(200).text();
    assert!(menu.contains("href=\"/admin/agencia\"") && menu.contains("Agência"), "{menu}");
    assert!(!menu.contains("href=\"/admin/alunos\""), "{menu}");
    assert!(!page(&site.person("ana"), "/painel").text().contains("href=\"/admin/agencia\""));
    // When she is suspended, she loses this access like every other one.
    let target = student(&admin, "lia");
    admin.post(&format!("{target}/suspender"), &json!({ "motivo": "saiu da equipe" })).ok();
    let json = Request::new("GET", at).header("Accept", "application/json");
    assert_eq!(lia.send(json).expect(401).code(), "account_suspended");
}

#[test]
fn no_role_gives_it() {
    let site = Site::start();
    let admin = site.administrator();
    let shown = page(&admin, "/admin/papeis").expect(200).text();
    assert!(!shown.contains("value=\"agencia\""), "{shown}");
    admin.post("/admin/papeis", &json!({ "vip": ["agencia"] })).expect(422);
    site.person("ana");
    let target = student(&admin, "ana");
    let shown = page(&admin, &format!("{target}?aba=acesso")).expect(200).text();
    assert!(shown.contains("name=\"agencia\"") && shown.contains("Equipe da agência"), "{shown}");
    let audited = list(&admin, "/admin/auditoria?q=permissoes")["total"].clone();
    permit(&admin, "ana", "permitir");
    let entries = list(&admin, "/admin/auditoria?q=permissoes");
    assert_eq!((audited, &entries["total"]), (json!(0), &json!(1)));
    assert_eq!(entries["dados"][0]["depois"]["agencia"], "permitir");
}

#[test]
fn students_accounts_are_taken_in_by_administrators_alone() {
    let site = Site::start();
    let (admin, lia) = (site.administrator(), staff(&site, "lia"));
    let named = json!({ "nome": "Casa da Maré", "ml_user_id": 900_000_001 });
    lia.post("/admin/agencia/clientes", &named).expect(403);
    lia.post("/admin/agencia/clientes", &json!({ "nome": "Casa da Maré" })).expect(201);
    // Nobody has linked it.
    let refused = admin.post("/admin/agencia/clientes", &named);
    assert!(matches!(refused.status, 404 | 409 | 422), "{refused}");
}
