//! What a plan grants: said and edited on its page, given by a purchase, and offered to
//! who has no right to a page.

use serde_json::json;

use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::people::{faults, list, page};
use crate::support::site::Site;

#[test]
fn a_purchase_gives_what_its_plan_says() {
    let site = Site::builder().unlimited().config("checkout.default_plan", "").start();
    let admin = site.administrator();
    let plan = json!({
        "titulo": "VIP anual", "preco": 997, "periodicidade": "anual",
        "plano_da_conta": "vip", "plano_de_api": "pro", "codigos": ["abc12345"],
    });
    let made = admin.post("/admin/planos", &plan).expect(201).json();
    let target = format!("/admin/planos/{}", made["id"].as_str().unwrap());
    let stored = list(&admin, &target);
    assert_eq!(
        (&stored["plano_da_conta"], &stored["plano_de_api"], &stored["codigos"]),
        (&json!("vip"), &json!("pro"), &json!(["abc12345"]))
    );
    Event::approved("a", "lia@example.com", "HP-1", 0).send(&site.anonymous()).ok();
    let lia = list(&admin, "/admin/alunos?q=lia")["dados"][0].clone();
    assert_eq!(lia["plano"], "vip");
    let api = || {
        let shown = list(&admin, &format!("/admin/parceiros/{}", lia["id"].as_str().unwrap()));
        shown["plano"]["nome"].clone()
    };
    assert_eq!(api(), "pro");
    // What the plan gives since then is given when the purchase is processed again.
    admin.post(&target, &json!({ "plano_de_api": "scale" })).ok();
    admin.post("/admin/compras/1/processar", &json!({})).ok();
    assert_eq!(api(), "scale");
    // What is left out stays; a code is of one plan.
    admin.post(&target, &json!({ "preco": 897 })).ok();
    assert_eq!(list(&admin, &target)["codigos"], json!(["abc12345"]));
    let other = json!({ "titulo": "Outro", "preco": 1, "codigos": ["abc12345"] });
    assert_eq!(faults(&admin.post("/admin/planos", &other).expect(409)), "codigos");
    for (field, wrong) in
        [("plano_da_conta", "ouro"), ("plano_de_api", "mega"), ("codigos", "com espaço")]
    {
        let body = json!({ "titulo": "X2", "preco": 1, field: wrong });
        assert_eq!(faults(&admin.post("/admin/planos", &body).expect(422)), field);
    }
}

#[test]
fn the_courses_of_a_plan_are_chosen_on_its_page() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let course = |title: &str, roles: &[&str]| {
        let made = admin.post("/admin/cursos", &json!({ "titulo": title, "papeis": roles }));
        made.expect(201).json()["id"].as_str().unwrap().to_owned()
    };
    let (open, only) = (course("Aberto", &[]), course("Só VIP", &["vip"]));
    let made = |body| admin.post("/admin/planos", &body).expect(201).json()["id"].clone();
    let plan = made(json!({ "titulo": "Pro", "preco": 97, "plano_da_conta": "pro" }));
    let path = format!("/admin/planos/{}/cursos", plan.as_str().unwrap());
    let set = |path: &str, ids: &[&str]| {
        let fields: Vec<(&str, &str)> = ids.iter().map(|id| ("cursos", *id)).collect();
        admin.send(Request::new("POST", path).form(&fields)).expect(303)
    };
    set(&path, &[&*only]);
    let roles = |id: &str| list(&admin, &format!("/admin/cursos/{id}"))["papeis"].clone();
    assert_eq!(roles(&only), json!(["pro", "vip"]));
    assert_eq!(roles(&open), json!(["vip", "piloto_pro", "podio"]));
    let shown = page(&admin, &format!("/admin/planos/{}", plan.as_str().unwrap())).text();
    assert!(shown.contains("Cursos da conta Pro"), "{shown}");
    // The last plan of a course cannot be taken away: it would open it to everybody.
    admin.post(&format!("/admin/cursos/{only}"), &json!({ "papeis": ["pro"] })).ok();
    admin.post(&path, &json!({ "cursos": [] })).expect(409);
    let silent = made(json!({ "titulo": "Mudo", "preco": 1 }));
    let silent = format!("/admin/planos/{}/cursos", silent.as_str().unwrap());
    admin.post(&silent, &json!({ "cursos": [open] })).expect(409);
}

#[test]
fn who_has_no_right_sees_the_plan_its_price_and_the_way() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let plan = json!({
        "titulo": "Pro mensal", "preco": 97, "plano_da_conta": "pro", "plano_de_api": "starter",
        "link_checkout": "https://pay.example.com/pro",
    });
    admin.post("/admin/planos", &plan).expect(201);
    admin.post("/admin/cursos", &json!({ "titulo": "Segredos" })).expect(201);
    admin.post("/admin/papeis", &json!({ "pro": ["ml_calculadora", "meets"], "free": [] })).ok();
    let free = site.person_as("fabio", "free");
    for path in ["/painel/aulas", "/painel/parceiro", "/painel/ml/calculadora", "/painel/meets"] {
        let shown = page(&free, path).expect(200).text();
        for part in ["Pro mensal", "97,00", "https://pay.example.com/pro"] {
            assert!(shown.contains(part), "{path}: {part}: {shown}");
        }
    }
    let pro = site.person_as("pedro", "pro");
    assert!(!page(&pro, "/painel/aulas").text().contains("Pro mensal"));
}
