//! Consents that end otherwise than expected: a collaborator's login, data that the
//! marketplace waits for, an authorisation that nothing renews.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Client, Request};
use crate::support::sync::{joined, shop, wait_until_read};
use crate::support::world::{LOJA, World};

/// Goes to the consent page and back; returns what the page of accounts says then.
#[track_caller]
fn said(world: &World, person: &Actor<'_>) -> String {
    let back = world.consent(person, LOJA);
    person.get(&back).expect(303);
    person.get("/painel/ml").expect(200).text()
}

#[test]
fn who_may_not_authorise_is_told_why() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    for (switches, words) in [
        (json!({ "collaborators": [LOJA] }), "entre com a conta principal, não a de colaborador"),
        (json!({ "collaborators": [], "pending_data": [LOJA] }), "há dados pendentes na conta"),
    ] {
        world.configure(&switches);
        let page = said(&world, &ana);
        assert!(page.contains(words), "{page}");
        assert!(page.contains("Nenhuma conta vinculada"), "{page}");
    }
    world.configure(&json!({ "pending_data": [] }));
    // The application itself is refused: nobody can do anything here.
    let refused = json!({ "path_prefix": "/oauth/token", "kind": "status", "code": 400,
        "body": { "error": "unauthorized_application", "error_description": "x", "status": 400, "cause": [] } });
    world.fault(&refused);
    let page = said(&world, &ana);
    assert!(page.contains("não aceita esta plataforma agora"), "{page}");
    assert!(said(&world, &ana).contains("LOJA DA ANA foi vinculada"));
}

#[test]
fn the_marketplace_says_on_its_own_page_what_is_wrong() {
    let world = shop();
    let site = joined(&world).start();
    let ana = site.person("ana");
    let begun = ana.get("/painel/ml/conectar");
    let consent = begun.header("location").unwrap();
    let page = &consent[consent.find("/authorization").unwrap()..];
    let press = |decision: &str| {
        let form = [("decisao", decision), ("ml_user_id", &*LOJA.to_string())];
        let request = Request::new("POST", page).form(&form);
        Client::default().send(world.address(), &request).unwrap()
    };
    assert_eq!(press("recusar").status, 200, "no way back");
    world.configure(&json!({ "collaborators": [LOJA] }));
    let shown = press("autorizar");
    assert!(shown.status == 403 && shown.text().contains("invalid_operator_user_id"), "{shown}");
    world.configure(&json!({ "collaborators": [], "pending_data": [LOJA] }));
    assert_eq!(press("autorizar").status, 403);
    // Should the marketplace send somebody back with the code, it is understood.
    let query = consent.split_once('?').unwrap().1;
    let asked = json!({ "ml_user_id": LOJA, "query": query, "refuse": true, "error": "invalid_operator_user_id" });
    let back = world.control("/_sandbox/authorize", &asked)["location"].take();
    let back = back.as_str().unwrap();
    ana.get(&back[back.find("/painel/ml/retorno").unwrap()..]).expect(303);
    let page = ana.get("/painel/ml").expect(200).text();
    assert!(page.contains("Quem entrou no marketplace foi um colaborador"), "{page}");
}

#[test]
fn a_link_that_nothing_renews_is_told_at_once() {
    let world = shop();
    world.configure(&json!({ "no_offline_access": true }));
    let site = joined(&world).start();
    let (ana, admin) = (site.person("ana"), site.administrator());
    let page = said(&world, &ana);
    assert!(page.contains("LOJA DA ANA foi vinculada, mas só por algumas horas"), "{page}");
    wait_until_read(&site, &ana);
    let told = || ana.get("/painel/ml").expect(200).text();
    assert!(told().contains("Este vínculo não se renova e acaba"), "{}", told());
    assert!(told().contains("Vincular de novo"), "{}", told());
    let home = || admin.get("/admin").expect(200).text();
    assert!(home().contains("1 conta vinculada só por algumas horas"), "{}", home());
    world.configure(&json!({ "no_offline_access": false }));
    assert!(said(&world, &ana).contains("voltou a funcionar"));
    assert!(!told().contains("não se renova") && !home().contains("por algumas horas"));
}

#[test]
fn guests_of_the_agency_are_told_the_same() {
    let world = shop();
    let site = joined(&world).start();
    let (admin, guest) = (site.administrator(), site.anonymous());
    let made = admin.post("/admin/agencia/clientes", &json!({ "nome": "Casa" })).expect(201).json();
    let invitation = made["convite"].as_str().unwrap();
    let invitation = &invitation[invitation.find("/convite/").unwrap()..];
    let follow = || -> Value {
        let begun = guest.send(Request::new("POST", invitation).form(&[])).expect(303);
        let cookie = begun.session_cookie().unwrap().to_owned();
        let query = begun.header("location").unwrap().split_once('?').unwrap().1.to_owned();
        let asked = json!({ "ml_user_id": LOJA, "query": query });
        let back = world.control("/_sandbox/authorize", &asked)["location"].take();
        let back = back.as_str().unwrap();
        let back = &back[back.find("/painel/ml/retorno").unwrap()..];
        let ended = guest.send(Request::new("GET", back).header("Cookie", &cookie)).expect(303);
        let place = ended.header("location").unwrap();
        guest.get(place).expect(200);
        guest.send(Request::new("GET", place).header("Accept", "application/json")).ok()
    };
    for (switches, ending) in [
        (json!({ "collaborators": [LOJA] }), "colaborador"),
        (json!({ "collaborators": [], "pending_data": [LOJA] }), "dados_pendentes"),
        (json!({ "pending_data": [], "no_offline_access": true }), "autorizada_por_horas"),
        (json!({ "no_offline_access": false }), "autorizada"),
    ] {
        world.configure(&switches);
        assert_eq!(follow()["resultado"], ending);
    }
}
