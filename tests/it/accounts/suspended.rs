//! Suspension ends all access: every kind of credential of a person, against
//! every row of the route table, for every way of suspending.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::dropshipping::relate;
use crate::support::people::{list, page};
use crate::support::rows::RETURN;
use crate::support::site::{Person, Route, Site};

/// A credential of a person, and the rows for which it is valid.
struct Way<'s> {
    what: &'static str,
    actor: Actor<'s>,
    opens: fn(&Route, &str) -> bool,
}

/// Every credential of a person of a role.
fn ways<'s>(site: &'s Site, name: &str, role: &str) -> Vec<Way<'s>> {
    let mut ways = vec![Way {
        what: "session",
        actor: site.person_as(name, role),
        opens: |row, kind| {
            row.call == format!("session:{kind}")
                || row.call == "session:anyone"
                || kind == "admin" && row.call == "session:agency"
        },
    }];
    if role == "drop" {
        relate(site, &ways[0].actor, &site.person("vendedora"));
        ways.push(Way {
            what: "partner token",
            actor: site.supplier(name).plan("starter"),
            opens: |row, _| matches!(&*row.call, "supplier" | "agent"),
        });
    }
    if role == "vip" {
        ways.push(Way {
            what: "extension token",
            actor: site.extension(name),
            opens: |row, _| row.call == "extension",
        });
        ways.push(Way {
            what: "partner token",
            actor: site.seller(name).plan("starter"),
            opens: |row, _| matches!(&*row.call, "seller" | "agent"),
        });
    }
    ways
}

/// A role, its rows in the route table, and its list in the panel.
const ROLES: [(&str, &str, &str); 3] = [
    ("vip", "student", "/admin/alunos"),
    ("drop", "supplier", "/admin/equipe"),
    ("admin", "admin", "/admin/equipe"),
];

/// A request for a row with an empty body, as from a program.
fn sample(row: &Route) -> Request {
    let request =
        Request::new(&row.method, &row.sample_path()).header("Accept", "application/json");
    if row.method == "GET" { request } else { request.json(&json!({})) }
}

/// Rows that end something of the caller come last.
fn rows(site: &Site) -> Vec<Route> {
    let mut rows = site.routes();
    let ends = |row: &Route| {
        ["/sair", "/logout", "/encerrar", "/revogar"].iter().any(|end| row.path.ends_with(end))
    };
    rows.retain(|row| !row.path.starts_with("/api/v1/admin"));
    rows.sort_by_key(ends);
    rows
}

fn got(reply: &Reply) -> (u16, String) {
    // Errors of files are plain text, which has no codes.
    let is_text = reply.header("content-type") == Some("text/plain; charset=utf-8");
    let said = reply.text();
    let is_closed = is_text
        && ["Seu acesso não vale mais.", "this account is suspended"]
            .iter()
            .any(|words| said.starts_with(words));
    let code = if is_closed { "account_suspended".to_owned() } else { reply.code() };
    (reply.status, code)
}

#[track_caller]
fn target(admin: &Actor<'_>, path: &str, name: &str) -> String {
    let found = list(admin, &format!("{path}?q={name}@"));
    format!("{path}/{}", found["dados"][0]["id"].as_str().unwrap())
}

/// The code of a fresh link to choose a password.
#[track_caller]
fn link(site: &Site, person: &Person) -> String {
    let printed = site.command(&["user", "password-link", "--email", &person.email]).ok();
    printed.trim().rsplit('=').next().unwrap().to_owned()
}

fn choose(site: &Site, code: &str) -> u16 {
    let form = [("codigo", code), ("senha", "outra senha bem longa")];
    let request = Request::new("POST", "/senha").form(&form);
    site.anonymous().send(request).status
}

/// The logins with a password: both of them, as programs and as browsers.
fn logins(site: &Site, person: &Person) -> Vec<(u16, String)> {
    let json = json!({ "email": person.email, "senha": person.password });
    let form = [("email", &*person.email), ("senha", &*person.password)];
    let nobody = site.anonymous();
    let program = Request::new("POST", "/entrar").header("Accept", "application/json").json(&json);
    let browser = Request::new("POST", "/entrar").header("Accept", "text/html").form(&form);
    let browser = nobody.send(browser);
    let suspended = browser.text().contains("Seu acesso está suspenso");
    let word = if suspended { "account_suspended" } else { "" };
    vec![
        got(&nobody.post("/api/ext/auth", &json)),
        got(&nobody.send(program)),
        (browser.status, word.to_owned()),
    ]
}

#[test]
fn every_credential_is_refused_on_every_row_while_it_lasts() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let rows = rows(&site);
    let nobody = site.anonymous();
    let closed = (401, "account_suspended".to_owned());
    let mut wrong = Vec::new();
    for (number, (role, kind, path)) in ROLES.into_iter().enumerate() {
        let name = format!("pessoa{number}");
        let ways = ways(&site, &name, role);
        for way in &ways {
            // Until now the credential is valid and cached.
            let row = rows.iter().find(|row| row.method == "GET" && (way.opens)(row, kind));
            if let Some(row) = row {
                let status = way.actor.send(sample(row)).status;
                assert!(
                    matches!(status, 200 | 404),
                    "{} of {role}: {status} on {}",
                    way.what,
                    row.path
                );
            }
        }
        let suspend = format!("{}/suspender", target(&admin, path, &name));
        admin.post(&suspend, &json!({ "motivo": "matriz" })).ok();
        for way in &ways {
            for row in &rows {
                let reply = way.actor.send(sample(row));
                let meant_for = match way.what {
                    "session" => row.call.starts_with("session") || row.path == RETURN,
                    "partner token" => {
                        matches!(&*row.call, "seller" | "supplier" | "agent")
                    }
                    _ => (way.opens)(row, kind),
                };
                let expected = if meant_for {
                    closed.clone()
                } else {
                    // An ended credential counts as none.
                    got(&nobody.send(sample(row)))
                };
                if got(&reply) != expected {
                    wrong.push(format!(
                        "{} of {role} on {} {}: {:?} instead of {expected:?}",
                        way.what,
                        row.method,
                        row.path,
                        got(&reply)
                    ));
                }
            }
        }
        let person = ways[0].actor.person().clone();
        assert!(logins(&site, &person).iter().all(|one| *one == closed), "logins of {role}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn reactivation_brings_back_only_what_was_not_ended() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let key = site.key(&["write"]);
    for (number, door) in ["panel", "integration"].into_iter().enumerate() {
        let name = format!("aluna{number}");
        let (session, extension) = (site.person(&name), site.extension(&name));
        let partner = site.seller(&name).plan("starter");
        let person = session.person().clone();
        let code = link(&site, &person);
        let student = target(&admin, "/admin/alunos", &name);
        let act = |verb: &str| match door {
            "panel" => admin.post(&format!("{student}/{verb}"), &json!({ "motivo": "teste" })).ok(),
            _ => {
                key.post(&format!("/api/v1/alunos/{verb}"), &json!({ "email": person.email })).ok()
            }
        };
        act("suspender");
        let closed = (401, "account_suspended".to_owned());
        assert!(logins(&site, &person).iter().all(|one| *one == closed), "{door}");
        assert_eq!(got(&partner.get("/api/v1/partner/health")), closed, "{door}");
        assert_eq!(choose(&site, &code), 404, "{door}");
        act("reativar");
        // Sessions, extension tokens and links have ended permanently.
        session.get("/painel").expect(303);
        extension.get("/api/ext/me").expect(401);
        assert_eq!(choose(&site, &code), 404, "{door}");
        // Partner tokens were only rejected meanwhile, and the password is
        // unchanged.
        partner.get("/api/v1/partner/health").expect(200);
        let back = logins(&site, &person);
        assert_eq!(back[0].0, 200, "{door}");
        assert!(back[1..].iter().all(|(status, _)| *status == 303), "{door}: {back:?}");
    }
}

#[test]
fn another_role_opens_other_rows_at_once() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let rui = site.person_as("rui", "drop");
    rui.get("/fornecedor").expect(200);
    let rui_page = target(&admin, "/admin/equipe", "rui");
    admin.post(&rui_page, &json!({ "papel": "admin" })).ok();
    rui.get("/fornecedor").expect(403);
    rui.get("/admin").expect(200);
    admin.post(&rui_page, &json!({ "papel": "drop" })).ok();
    rui.get("/admin").expect(403);
    rui.post("/admin/planos", &json!({})).expect(403);
    // Within the students a role decides what the extension shows.
    let extension = site.extension("ana");
    let ana = target(&admin, "/admin/alunos", "ana");
    assert_eq!(extension.get("/api/ext/me").ok()["tem_acesso"], true);
    admin.post(&ana, &json!({ "plano": "free" })).ok();
    let me = extension.get("/api/ext/me").ok();
    assert_eq!((&me["tem_acesso"], &me["user"]["role"]), (&json!(false), &json!("free")));
    // A change of the role does not end the suspension.
    admin.post(&format!("{ana}/suspender"), &json!({ "motivo": "teste" })).ok();
    admin.post(&ana, &json!({ "plano": "podio" })).ok();
    assert_eq!(got(&extension.get("/api/ext/me")), (401, "account_suspended".to_owned()));
    assert_eq!(list(&admin, &ana)["status"], "suspenso");
    // A browser gets a page with an explanation.
    let session = site.person("bia");
    session.get("/painel").expect(200);
    let bia = target(&admin, "/admin/alunos", "bia");
    admin.post(&format!("{bia}/suspender"), &json!({ "motivo": "teste" })).ok();
    page(&session, "/painel").expect(401);
}
