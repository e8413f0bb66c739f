//! E-mail addresses beyond ASCII: every spelling means the same account, and
//! the form says what is wrong where the address is typed.

use serde_json::json;

use crate::support::client::Request;
use crate::support::site::Site;

const TOLD: &str = "Nem todo servidor de e-mail aceita acento antes do @";

#[test]
fn a_domain_is_one_account_however_it_is_written() {
    let site = Site::builder().unlimited().start();
    let crm = site.key(&["write"]);
    let create = |email: &str| {
        let body = json!({ "nome": "Maria", "email": email });
        crm.post("/api/v1/alunos/criar", &body)
    };
    create("Maria@Exämple.com").expect(201);
    for same in ["maria@exämple.com", "maria@xn--exmple-cua.com", "MARIA@EXÄMPLE.COM"] {
        assert_eq!(create(same).expect(409).code(), "conflict", "{same}");
    }
    assert_eq!(site.stored("SELECT email FROM user WHERE role = 'free'"), ["maria@exämple.com"]);
    let password = ["user", "password", "--email", "maria@xn--exmple-cua.com"];
    let password = site.command(&password).ok();
    for email in ["maria@exämple.com", "maria@xn--exmple-cua.com"] {
        let login = json!({ "email": email, "senha": password.trim() });
        site.anonymous().post("/api/ext/auth", &login).expect(200);
    }
    for bad in ["maria@xn--0.com", "maria@-ä.com", "maria@ä"] {
        create(bad).expect(422);
    }
}

#[test]
fn the_panel_tells_of_accents_before_the_at_sign() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    for (list, role) in [("/admin/alunos", ("plano", "pro")), ("/admin/equipe", ("papel", "drop"))]
    {
        let form = admin.get(&format!("{list}/novo")).expect(200).text();
        assert!(form.contains(&format!("data-accents='{TOLD}")), "{form}");
        let email = format!("joão.{}@example.com", role.1);
        let typed = [("nome", "João"), ("email", &*email), role];
        let made = admin.send(Request::new("POST", list).form(&typed)).expect(303);
        let page = admin.get(made.header("location").unwrap()).expect(200).text();
        assert!(page.contains("Talvez este e-mail não receba mensagens"), "{page}");
        assert!(page.contains(&format!("<p>{TOLD}")), "{page}");
    }
    let plain = [("nome", "João"), ("email", "joao@exämple.com"), ("plano", "pro")];
    let made = admin.send(Request::new("POST", "/admin/alunos").form(&plain)).expect(303);
    let page = admin.get(made.header("location").unwrap()).expect(200).text();
    assert!(!page.contains("Talvez este e-mail"), "{page}");
    let csv = "nome,email,plano\nZé,zé@example.com,pro\nAna,ana@example.com,pro\n";
    let rows = admin.post("/admin/alunos/importar", &json!({ "csv": csv })).expect(201).json();
    let id = rows["id"].as_str().unwrap();
    let list = Request::new("GET", &format!("/admin/alunos/importar/{id}"));
    let report = admin.send(list.header("Accept", "application/json")).ok();
    assert_eq!(report["dados"][0]["situacao"], "criar");
    assert!(report["dados"][0]["motivo"].as_str().unwrap().starts_with(TOLD), "{report}");
    assert!(report["dados"][1]["motivo"].is_null(), "{report}");
    let create = ["user", "create", "--email", "josé@example.com", "--nome", "José"];
    let outcome = site.command(&[&create[..], &["--role", "pro"]].concat()).exits(0);
    assert!(outcome.stderr.contains("beyond ASCII before the @"), "{}", outcome.stderr);
}
