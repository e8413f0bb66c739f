//! What roles and people may do: edited in the panel, effective at once.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::people::{faults, list, page};
use crate::support::site::Site;

/// Whether the extension says that a person may.
#[track_caller]
fn may(extension: &Actor<'_>, permission: &str) -> bool {
    let me = extension.get("/api/ext/me").ok();
    assert_eq!(me["tem_acesso"], me["permissoes"]["extensao_browser"]);
    me["permissoes"][permission].as_bool().unwrap()
}

#[track_caller]
fn student(admin: &Actor<'_>, name: &str) -> String {
    let found = list(admin, &format!("/admin/alunos?q={name}@"));
    let id = found["dados"][0]["id"].as_str().unwrap();
    format!("/admin/alunos/{id}")
}

#[track_caller]
fn granted(admin: &Actor<'_>, role: &str) -> Value {
    let roles = list(admin, "/admin/papeis");
    let rows = roles["dados"].as_array().unwrap();
    let row = rows.iter().find(|row| row["role"] == role).unwrap();
    row["permissoes"].clone()
}

#[test]
fn a_role_changes_for_everybody_at_once() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let ana = site.extension("ana");
    assert!(may(&ana, "ml_analisar") && !may(&ana, "ml_clonar"));
    // Fills the cache, so that a stale answer below would be noticed.
    site.anonymous().get("/api/v1/schema").ok();
    let change = json!({ "vip": ["extensao_browser", "ml_clonar"] });
    admin.post("/admin/papeis", &change).ok();
    assert!(!may(&ana, "ml_analisar") && may(&ana, "ml_clonar"));
    // The other roles are unchanged, and the public document shows the change, too.
    assert_eq!(granted(&admin, "pro").as_array().unwrap().len(), 4);
    let schema = site.anonymous().get("/api/v1/schema").ok();
    let roles = schema["data"]["papeis"].as_array().unwrap();
    let vip = roles.iter().find(|role| role["role"] == "vip").unwrap();
    assert_eq!(vip["permissoes"], json!(["extensao_browser", "ml_clonar"]));
    admin.post("/admin/papeis", &json!({ "vip": [] })).ok();
    assert!(!may(&ana, "extensao_browser"));
    for bad in [
        json!({ "vip": ["nada"] }),
        json!({ "admin": ["ml_clonar"] }),
        json!({ "vip": 7 }),
        json!({ "vip": "ml_clonar" }),
        json!({}),
    ] {
        admin.post("/admin/papeis", &bad).expect(422);
    }
    assert_eq!(granted(&admin, "vip"), json!([]));
    let noted = list(&admin, "/admin/auditoria?objeto=papel");
    assert_eq!(noted["total"], 2);
    assert_eq!(noted["dados"][0]["antes"]["permissoes"], json!(["extensao_browser", "ml_clonar"]));
}

#[test]
fn a_form_says_everything_of_every_role() {
    let site = Site::start();
    let admin = site.administrator();
    let shown = page(&admin, "/admin/papeis").expect(200).text();
    assert_eq!(shown.matches("type=\"checkbox\"").count(), 40);
    assert_eq!(shown.matches(" checked").count(), 26);
    assert_eq!(shown.matches("name=\"papel\"").count(), 5);
    let ticked = [
        ("papel", "pro"),
        ("papel", "vip"),
        ("papel", "podio"),
        ("pro", "meets"),
        ("pro", "fotos_ia"),
        ("vip", "meets"),
    ];
    let sent = admin.send(Request::new("POST", "/admin/papeis").form(&ticked));
    let back = sent.expect(303);
    let shown = page(&admin, back.header("location").unwrap()).expect(200).text();
    assert!(shown.contains("Permissões dos planos salvas"), "{shown}");
    assert_eq!(granted(&admin, "pro"), json!(["fotos_ia", "meets"]));
    assert_eq!(granted(&admin, "vip"), json!(["meets"]));
    assert_eq!(granted(&admin, "podio"), json!([]));
    // A form that names no role removes nothing.
    let empty = Request::new("POST", "/admin/papeis").form(&[]);
    admin.send(empty).expect(422);
    assert_eq!(granted(&admin, "piloto_pro").as_array().unwrap().len(), 8);
}

#[test]
fn an_exception_wins_over_the_role() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let (ana, rui) = (site.extension("ana"), site.extension("rui"));
    let target = student(&admin, "ana");
    let exceptions = format!("{target}/permissoes");
    admin.post(&exceptions, &json!({ "ml_clonar": "permitir", "ml_analisar": "negar" })).ok();
    assert!(may(&ana, "ml_clonar") && !may(&ana, "ml_analisar"));
    assert!(!may(&rui, "ml_clonar") && may(&rui, "ml_analisar"));
    // The exception takes precedence, whatever the plan is.
    admin.post(&target, &json!({ "plano": "podio" })).ok();
    assert!(may(&ana, "fotos_ia") && !may(&ana, "ml_analisar"));
    admin.post(&target, &json!({ "plano": "free" })).ok();
    assert!(!may(&ana, "extensao_browser") && may(&ana, "ml_clonar"));
    let shown = page(&admin, &format!("{target}?aba=acesso")).expect(200).text();
    assert!(shown.contains("Negar sempre"), "{shown}");
    let all_by_plan = [("ml_clonar", "herdar"), ("ml_analisar", "herdar")];
    admin.send(Request::new("POST", &exceptions).form(&all_by_plan)).expect(303);
    assert!(!may(&ana, "ml_clonar"));
    let bad = json!({ "ml_clonar": "talvez", "nada": "negar" });
    assert_eq!(faults(&admin.post(&exceptions, &bad).expect(422)), "ml_clonar nada");
    admin.post("/admin/alunos/999/permissoes", &json!({})).expect(404);
    let noted = list(&admin, "/admin/auditoria?q=permissoes");
    assert_eq!(noted["total"], 2);
    assert_eq!(noted["dados"][1]["depois"]["ml_analisar"], "negar");
    for granted in [true, false] {
        admin.post(&exceptions, &json!({ "ml_clonar": granted })).ok();
        assert_eq!(may(&ana, "ml_clonar"), granted);
    }
}
