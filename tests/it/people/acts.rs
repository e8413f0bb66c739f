//! What an operator does to a person: suspends, reactivates, sends a link, ends
//! the sessions, removes.

use serde_json::{Value, json};

use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::people::{faults, list, make, page};
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

const LOJA: u64 = 900_000_001;

#[test]
fn suspension_asks_a_reason_and_reactivation_takes_it_away() {
    let site = Site::start();
    let admin = site.administrator();
    let ana = site.person("ana");
    let id = list(&admin, "/admin/alunos?q=ana@example.com")["dados"][0]["id"].clone();
    let target = format!("/admin/alunos/{}", id.as_str().unwrap());
    let suspend = format!("{target}/suspender");
    assert_eq!(faults(&admin.post(&suspend, &json!({})).expect(422)), "motivo");
    admin.post(&suspend, &json!({ "motivo": "xx" })).expect(422);
    let form = Request::new("POST", &suspend).header("Accept", "text/html").form(&[("motivo", "")]);
    assert!(admin.send(form).expect(422).text().contains("O acesso não foi suspenso"));
    ana.get("/painel").expect(200);
    admin.post(&suspend, &json!({ "motivo": "pagamento recusado" })).ok();
    let json_panel = Request::new("GET", "/painel").header("Accept", "application/json");
    assert_eq!(ana.send(json_panel).expect(401).code(), "account_suspended");
    let shown = page(&admin, &target).expect(200).text();
    assert!(shown.contains("pagamento recusado") && shown.contains("Reativar"), "{shown}");
    // Doing it again changes nothing and is not logged.
    admin.post(&suspend, &json!({ "motivo": "outra vez" })).ok();
    assert!(page(&admin, &target).text().contains("pagamento recusado"));
    admin.post(&format!("{target}/link-de-senha"), &json!({})).expect(409);
    admin.post(&format!("{target}/reativar"), &json!({})).ok();
    assert_eq!(list(&admin, &target)["status"], "ativo");
    ana.get("/painel").expect(303);
    site.person("ana").get("/painel").expect(200);
    let noted = list(&admin, "/admin/auditoria?q=suspender");
    assert_eq!(noted["total"], 1);
    assert_eq!(noted["dados"][0]["depois"]["motivo"], "pagamento recusado");
}

#[test]
fn a_password_link_is_queued_or_its_absence_is_said() {
    let site = Site::start();
    let admin = site.administrator();
    let ana = make(&admin, "Ana", "ana@exemplo.com", "pro");
    let link = format!("/admin/alunos/{ana}/link-de-senha");
    let sent = admin.post(&link, &json!({})).ok();
    assert_eq!((&sent["ok"], &sent["mensagens"]), (&json!(true), &json!(1)));
    admin.post(&format!("/admin/alunos/{ana}"), &json!({ "chat_number": "" })).ok();
    assert_eq!(admin.post(&link, &json!({})).ok()["mensagens"], 0);
    let form = admin.send(Request::new("POST", &link).form(&[])).expect(303);
    let back = page(&admin, form.header("location").unwrap()).expect(200).text();
    assert!(back.contains("O link não foi enviado"), "{back}");
}

#[test]
fn ended_sessions_and_tokens_stay_ended() {
    let site = Site::start();
    let admin = site.administrator();
    let (first, second, extension) =
        (site.person("ana"), site.person("ana"), site.extension("ana"));
    let id = list(&admin, "/admin/alunos?q=ana@")["dados"][0]["id"].clone();
    let target = format!("/admin/alunos/{}/sessoes/encerrar", id.as_str().unwrap());
    let ended = admin.post(&target, &json!({})).ok();
    assert_eq!(ended["encerradas"], 2);
    first.get("/painel").expect(303);
    second.get("/painel").expect(303);
    extension.get("/api/ext/me").expect(401);
    admin.get("/admin").expect(200);
}

#[test]
fn staff_have_no_purchases_and_no_accounts() {
    let site = Site::start();
    let admin = site.administrator();
    site.person_as("rui", "drop");
    site.person("ana");
    let every = page(&admin, "/admin/equipe").expect(200).text();
    assert!(every.contains("Suspenso") && !every.contains("Em atraso"));
    admin.get("/admin/equipe?status=atrasado").expect(422);
    let shown = |list_path: &str| {
        let rows = list(&admin, list_path)["dados"].clone();
        let path = list_path.split('?').next().unwrap();
        let target = format!("{path}/{}", rows[0]["id"].as_str().unwrap());
        page(&admin, &target).expect(200).text()
    };
    assert!(shown("/admin/alunos?q=ana").contains("Contas vinculadas"));
    assert!(!shown("/admin/equipe?papel=drop").contains("Contas vinculadas"));
}

#[test]
fn the_last_administrator_stays() {
    let site = Site::start();
    let admin = site.administrator();
    let staff = list(&admin, "/admin/equipe");
    let own = format!("/admin/equipe/{}", staff["dados"][0]["id"].as_str().unwrap());
    assert_eq!(staff["dados"][0]["papel"], "admin");
    let refused = |target: &str, body: &Value| {
        assert_eq!(admin.post(target, body).expect(409).code(), "conflict");
    };
    let reason = json!({ "motivo": "férias" });
    refused(&format!("{own}/suspender"), &reason);
    refused(&own, &json!({ "papel": "drop" }));
    refused(&format!("{own}/excluir"), &json!({}));
    let form = Request::new("POST", &format!("{own}/suspender")).form(&[("motivo", "férias")]);
    let back = admin.send(form).expect(303);
    let shown = page(&admin, back.header("location").unwrap()).expect(200);
    assert!(shown.text().contains("Alguém precisa poder administrar"));
    // A person who never chose a password cannot sign in, and so does not count.
    let body = json!({ "nome": "Nova", "email": "nova@x.com", "papel": "admin", "chat_number": "5511900000000" });
    admin.post("/admin/equipe", &body).expect(201);
    refused(&format!("{own}/suspender"), &reason);
    let other = site.person_as("outra", "admin");
    admin.post(&format!("{own}/suspender"), &reason).ok();
    admin.get("/admin").expect(401);
    other.get("/admin").expect(200);
    other.post(&format!("{own}/reativar"), &json!({})).ok();
    other.post(&own, &json!({ "papel": "drop" })).ok();
    assert_eq!(list(&other, "/admin/equipe?papel=drop")["total"], 1);
    let back = site.person_as("administradora", "admin");
    back.get("/admin").expect(403);
    back.get("/fornecedor").expect(200);
}

/// How many products and movements of stock there are.
const GOODS: &str = "SELECT count(*) || '' FROM product
    UNION ALL SELECT count(*) || '' FROM stock_movement";

#[test]
fn a_removed_person_leaves_nothing_behind() {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa", 89.9);
    let site = Site::builder().world(&world).start();
    let admin = site.administrator();
    let ana = site.person("ana");
    let token = site.seller("ana").plan("starter");
    world.link(&ana, LOJA);
    world.sale(LOJA);
    world.deliveries();
    until("the sale is there", std::time::Duration::from_secs(30), || {
        site.clock().advance_s(60);
        (token.get("/api/v1/partner/orders").ok()["pagination"]["total"] == 1).then_some(())
    });
    let product = json!({ "titulo": "Garrafa", "sku": "GAR", "estoque": 3 });
    ana.post("/painel/produtos", &product).expect(201);
    let platform = site.anonymous();
    for event in [
        Event::approved("e-1", "ana@example.com", "HP1", 0),
        Event::new("e-2", "PURCHASE_BILLET_PRINTED", "Ana@Example.com", "HP2", 0),
        Event::approved("e-3", "carla@example.com", "HP3", 0),
    ] {
        event.send(&platform).ok();
    }
    let id = list(&admin, "/admin/alunos?q=ana@")["dados"][0]["id"].clone();
    let target = format!("/admin/alunos/{}", id.as_str().unwrap());
    let shown = page(&admin, &format!("{target}?aba=loja")).expect(200).text();
    assert!(shown.contains("LOJA DA ANA"), "{shown}");
    admin.post(&format!("{target}/excluir"), &json!({})).ok();
    page(&admin, &target).expect(404);
    assert_eq!(list(&admin, "/admin/alunos")["total"], 1);
    let told = list(&admin, "/admin/compras");
    let emails = told["dados"].as_array().unwrap().iter().map(|event| &event["email"]);
    assert_eq!(
        emails.collect::<Vec<_>>(),
        [&json!("carla@example.com"), &json!(null), &json!(null)]
    );
    let bodies = "SELECT count(*) || ' ' || sum(instr(lower(body), 'ana@')) FROM checkout_body";
    assert_eq!(site.stored(bodies), ["1 0"]);
    assert_eq!(site.stored(GOODS), ["0", "0"]);
    assert_eq!(list(&admin, "/admin/alunos?q=ana")["total"], 0);
    ana.get("/painel").expect(303);
    token.get("/api/v1/partner/orders").expect(401);
    admin.post(&format!("{target}/excluir"), &json!({})).expect(404);
    admin.post(&format!("{target}/reativar"), &json!({})).expect(404);
    // The number is never used again, and the e-mail address is free.
    let again = make(&admin, "Ana", "ana@example.com", "pro");
    assert_ne!(json!(again), id);
    let bia = site.person("bia");
    world.link(&bia, LOJA);
    // The log keeps what was done, with the address at that time.
    let noted = list(&admin, "/admin/auditoria?q=excluir");
    assert_eq!(noted["dados"][0]["antes"]["email"], "ana@example.com");
}
