//! Accounts of the Partner API in the operator's panel: plans given and taken
//! away, tokens revoked, and who used how much.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::json_of;
use crate::support::partner::{LIST, page_of};
use crate::support::site::Site;
use crate::support::wait::until;

const HEALTH: &str = "/api/v1/partner/health";
const PATIENCE: Duration = Duration::from_secs(30);

/// The names of a list, in its order.
#[track_caller]
fn names(admin: &Actor<'_>, query: &str) -> Vec<String> {
    let listed = json_of(admin, &format!("{LIST}?{query}"));
    let rows = listed["dados"].as_array().unwrap();
    assert_eq!(listed["total"], rows.len(), "{listed}");
    let name = |row: &Value| row["nome"].as_str().unwrap().split(' ').next().unwrap().to_owned();
    rows.iter().map(name).collect()
}

#[test]
fn a_plan_holds_from_the_next_call_on_and_so_does_its_end() {
    let site = Site::builder().unlimited().start();
    let (ana, admin) = (site.seller("ana"), site.administrator());
    assert_eq!(ana.get(HEALTH).expect(402).code(), "plan_required");
    let one = page_of(&admin, "ana");
    let (plan, end) = (format!("{one}/plano"), format!("{one}/plano/excluir"));
    assert!(json_of(&admin, &one)["plano"].is_null());
    admin.post(&plan, &json!({ "plano": "starter", "ate": "2026-11-20" })).ok();
    let told = ana.get(HEALTH).expect(200).json();
    assert_eq!(told["plan"]["valid_until"], "2026-11-20");
    // A field that is left out keeps its value; an empty text removes the end.
    admin.post(&plan, &json!({ "plano": "pro" })).ok();
    let told = ana.get(HEALTH).expect(200).json();
    assert_eq!(told["plan"]["name"], "pro");
    assert_eq!(told["plan"]["valid_until"], "2026-11-20");
    admin.post(&plan, &json!({ "ate": "" })).ok();
    admin.post(&plan, &json!({ "ate": "" })).ok();
    assert!(ana.get(HEALTH).expect(200).json()["plan"]["valid_until"].is_null());
    let shown = json_of(&admin, &one);
    assert_eq!((&shown["plano"]["nome"], &shown["usadas"]), (&json!("pro"), &json!(3)));
    admin.post(&end, &json!({})).ok();
    admin.post(&end, &json!({})).ok();
    ana.get(HEALTH).expect(402);
    let noted = site.stored(
        "SELECT action || ' ' || coalesce(before, '-') || ' ' || coalesce(after, '-')
         FROM audit WHERE action LIKE '%plano_de_api' ORDER BY audit_id",
    );
    let act = |before: &str, after: &str| format!("aluno.plano_de_api {before} {after}");
    let [first, second, third] = [
        r#"{"plano":"starter","ate":"2026-11-20"}"#,
        r#"{"plano":"pro","ate":"2026-11-20"}"#,
        r#"{"plano":"pro","ate":null}"#,
    ];
    // A request that changes nothing is not logged.
    assert_eq!(noted, [act("-", first), act(first, second), act(second, third), act(third, "-")]);
}

#[test]
fn a_wrong_plan_is_told_beside_its_field_and_changes_nothing() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    site.seller("ana").plan("pro");
    let plan = format!("{}/plano", page_of(&admin, "ana"));
    for (field, wrong) in [
        ("plano", json!({ "plano": "ouro" })),
        ("plano", json!({ "plano": null })),
        ("ate", json!({ "ate": "2026-11-19" })),
        ("ate", json!({ "ate": "2026-02-30" })),
        ("ate", json!({ "plano": "scale", "ate": "amanhã" })),
    ] {
        let refused = admin.post(&plan, &wrong).expect(422);
        assert!(refused.json()["fields"][field].is_string(), "{wrong}: {refused}");
    }
    let form = Request::new("POST", &plan).form(&[("plano", "ouro"), ("ate", "2026-11-19")]);
    let page = admin.send(form).expect(422).text();
    for said in ["Escolha Starter, Pro ou Scale.", "Informe um dia a partir de hoje", "2026-11-19"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert_eq!(names(&admin, "plano=pro"), ["ana"]);
    for path in ["/plano", "/plano/excluir", "/tokens/1/revogar"] {
        admin.post(&format!("{LIST}/987654321{path}"), &json!({ "plano": "pro" })).expect(404);
    }
    admin.get(&format!("{LIST}/987654321")).expect(404);
    let supplier = site.person_as("davi", "drop");
    for actor in [&site.person("ana"), &supplier] {
        actor.get(LIST).expect(403);
        actor.post(&plan, &json!({ "plano": "scale" })).expect(403);
    }
    assert_eq!(names(&admin, "plano=scale"), [""; 0]);
}

#[test]
fn the_operator_ends_a_token_at_once() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let (ana, rui) = (site.seller("ana").plan("pro"), site.seller("rui").plan("pro"));
    ana.get(HEALTH).expect(200);
    let (one, other) = (page_of(&admin, "ana"), page_of(&admin, "rui"));
    let shown = until("its use is known", PATIENCE, || {
        let shown = json_of(&admin, &one);
        shown["tokens"][0]["ultimo_uso"].is_string().then_some(shown)
    });
    let token = &shown["tokens"][0];
    assert_eq!(token["ultimo_endereco"], "127.0.0.1");
    assert_eq!(token["prefixo"], ana.bearer_token()[..12]);
    let id = token["id"].as_str().unwrap();
    admin.post(&format!("{other}/tokens/{id}/revogar"), &json!({})).expect(404);
    ana.get(HEALTH).expect(200);
    let page = admin.get(&one).expect(200).text();
    assert!(page.contains("de 127.0.0.1") && !page.contains(ana.bearer_token()), "{page}");
    for _ in 0..2 {
        admin.post(&format!("{one}/tokens/{id}/revogar"), &json!({})).ok();
    }
    ana.get(HEALTH).expect(401);
    rui.get(HEALTH).expect(200);
    assert_eq!(json_of(&admin, &one)["tokens"], json!([]));
    assert_eq!(json_of(&admin, &format!("{LIST}?q=ana%40"))["dados"][0]["tokens"], 0);
    let noted = "SELECT actor_kind || ' ' || before FROM audit WHERE action = 'token.revogar'";
    let name = token["nome"].as_str().unwrap();
    let before = format!(r#"pessoa {{"nome":"{name}","email":"ana@example.com"}}"#);
    assert_eq!(site.stored(noted), [before]);
}

/// Four accounts: one near its quota, one with few calls, one whose plan ended
/// yesterday, and one with only a token.
fn four() -> Site {
    let site = Site::builder().unlimited().config("partner.plans.starter.quota", 10).start();
    site.seller("bia");
    let davi = site.supplier("davi");
    let ended = ["--plan", "starter", "--until", "2026-11-20"];
    let plan = ["partner", "plan", "--email", &davi.person().email];
    site.command(&[&plan[..], &ended].concat()).ok();
    site.clock().set("2026-11-21T12:00:00Z");
    let (rui, ana) = (site.seller("rui").plan("pro"), site.seller("ana").plan("starter"));
    rui.get(HEALTH).expect(200);
    for _ in 0..8 {
        ana.get(HEALTH).expect(200);
    }
    let admin = site.administrator();
    until("calls are written", PATIENCE, || {
        let rows = json_of(&admin, LIST)["dados"].clone();
        (rows[0]["chamadas"] == 8 && rows[1]["chamadas"] == 1).then_some(())
    });
    drop(admin);
    site
}

#[test]
fn accounts_are_found_by_plan_state_use_and_name() {
    let site = four();
    let admin = site.administrator();
    for (query, found) in [
        ("", &["ana", "rui", "davi", "bia"][..]),
        ("ordem=nome", &["ana", "bia", "davi", "rui"]),
        ("ordem=-nome", &["rui", "davi", "bia", "ana"]),
        ("situacao=ativo", &["ana", "rui"]),
        ("situacao=vencido", &["davi"]),
        ("situacao=sem_plano", &["bia"]),
        ("plano=pro", &["rui"]),
        ("plano=starter&situacao=ativo", &["ana"]),
        ("uso=perto_do_limite", &["ana"]),
        ("uso=perto_do_limite&situacao=vencido", &[]),
        ("uso=perto_do_limite&situacao=ativo&plano=starter&q=ana", &["ana"]),
        ("q=SILVA+rui", &["rui"]),
        ("q=%25", &[]),
    ] {
        let mut listed = names(&admin, query);
        if query.is_empty() {
            // Accounts without calls this month come after those with calls, in
            // any order.
            listed[2..].sort_unstable_by(|a, b| b.cmp(a));
        }
        assert_eq!(listed, found, "{query}");
    }
    assert_eq!(names(&admin, "ordem=fim")[0], "davi");
    let ana = &json_of(&admin, LIST)["dados"][0];
    for (field, value) in [
        ("email", json!("ana@example.com")),
        ("papel", json!("vip")),
        ("plano", json!("starter")),
        ("situacao", json!("ativo")),
        ("valido_ate", Value::Null),
        ("chamadas", json!(8)),
        ("chamadas_por_mes", json!(10)),
        ("tokens", json!(1)),
    ] {
        assert_eq!(ana[field], value, "{field}: {ana}");
    }
    assert!(ana["ultimo_uso"].as_str().unwrap().starts_with("2026-11-21 09:00"), "{ana}");
    let csv = admin.get(&format!("{LIST}?formato=csv&ordem=nome")).expect(200).text();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.contains("ana da Silva,ana@example.com,vip,starter,ativo,,8,10,1,"), "{csv}");
    let page = admin.get(LIST).expect(200).text();
    assert!(page.contains("<progress max=\"100\" value=\"80\""), "{page}");
    let home = admin.get("/admin").expect(200).text();
    assert!(home.contains("1 conta perto do limite da API"), "{home}");

    // A new name changes the place in the list; a removed account is not listed.
    let id = ana["id"].as_str().unwrap();
    admin.post(&format!("/admin/alunos/{id}"), &json!({ "nome": "Zélia" })).ok();
    assert_eq!(names(&admin, "ordem=-nome")[0], "Zélia");
    assert_eq!(names(&admin, "q=zelia"), ["Zélia"]);
    admin.post(&format!("/admin/alunos/{id}/excluir"), &json!({})).ok();
    assert_eq!(names(&admin, "ordem=nome"), ["bia", "davi", "rui"]);
    let home = admin.get("/admin").expect(200).text();
    assert!(!home.contains("do limite da API"), "{home}");
}

#[test]
fn a_month_begins_at_nothing_and_the_one_before_stays_to_be_seen() {
    let site = four();
    let admin = site.administrator();
    let one = page_of(&admin, "ana");
    drop(admin);
    site.clock().set("2026-12-01T02:59:59Z");
    let admin = site.administrator();
    assert_eq!(names(&admin, "uso=perto_do_limite"), ["ana"]);
    site.clock().set("2026-12-01T03:00:00Z");
    assert_eq!(names(&admin, "uso=perto_do_limite"), [""; 0]);
    assert_eq!(json_of(&admin, &format!("{LIST}?q=ana%40"))["dados"][0]["chamadas"], 0);
    let now = json_of(&admin, &one);
    assert_eq!(
        (&now["mes"], &now["usadas"], &now["chamadas"]),
        (&json!("2026-12"), &json!(0), &json!(0))
    );
    let before = json_of(&admin, &format!("{one}?mes=2026-11"));
    assert_eq!((&before["usadas"], &before["chamadas"]), (&json!(0), &json!(8)));
    assert_eq!(before["dias"], json!([{ "dia": "2026-11-21", "chamadas": 8 }]));
    assert_eq!(before["operacoes"], json!([{ "operacao": "health", "chamadas": 8 }]));
    let page = admin.get(&format!("{one}?mes=2026-11")).expect(200).text();
    assert!(page.contains("Uso em 11/2026") && page.contains("21/11: 8 chamadas"), "{page}");
    for wrong in ["2027-01", "2026-13", "novembro", ""] {
        admin.get(&format!("{one}?mes={wrong}")).expect(422);
    }
    // A call in the new month counts only there.
    site.seller("ana").get(HEALTH).expect(200);
    assert_eq!(json_of(&admin, &one)["usadas"], 1);
    until("it is written", PATIENCE, || {
        (json_of(&admin, &format!("{LIST}?q=ana%40"))["dados"][0]["chamadas"] == 1).then_some(())
    });
    assert_eq!(json_of(&admin, &format!("{one}?mes=2026-11"))["chamadas"], 8);
}

#[test]
fn an_operator_relates_two_people_and_ends_it() {
    const RELATIONS: &str = "/admin/parceiros/relacoes";
    let site = Site::builder().unlimited().start();
    let (sol, ana, admin) =
        (site.supplier("sol").plan("pro"), site.person("ana"), site.administrator());
    let email = |actor: &Actor<'_>| actor.person().email.clone();
    let pair = |supplier: &str, seller: &str| json!({ "fornecedor": supplier, "vendedor": seller });
    for (supplier, seller, field) in [
        (email(&ana), email(&ana), "fornecedor"),
        (email(&sol), email(&sol), "vendedor"),
        (email(&sol), "ninguem@example.com".to_owned(), "vendedor"),
        ("sol".to_owned(), email(&ana), "fornecedor"),
    ] {
        let refused = admin.post(RELATIONS, &pair(&supplier, &seller)).expect(422).json();
        assert!(refused["fields"][field].is_string(), "{refused}");
    }
    assert_eq!(json_of(&admin, RELATIONS)["total"], 0);
    let both = pair(&email(&sol), &email(&ana));
    admin.post(RELATIONS, &both).ok();
    // Relating them again changes nothing.
    admin.post(RELATIONS, &both).ok();
    sol.get("/api/v1/partner/drop/health").expect(200);
    let listed = json_of(&admin, &format!("{RELATIONS}?q=ana%40&situacao=ativo"));
    assert_eq!(listed["total"], 1, "{listed}");
    let one = &listed["dados"][0];
    assert_eq!((&one["email"], &one["situacao"]), (&json!(email(&ana)), &json!("ativo")));
    let panel = site.person_as("sol", "drop");
    panel.post("/fornecedor/convites", &json!({ "email": "convidada@example.com" })).expect(201);
    let waiting = json_of(&admin, &format!("{RELATIONS}?situacao=convidado"));
    assert_eq!(waiting["dados"][0]["vendedor_id"], Value::Null, "{waiting}");
    let csv = admin.get(&format!("{RELATIONS}?formato=csv")).expect(200).text();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    for relation in [one, &waiting["dados"][0]] {
        let end = format!("{RELATIONS}/{}/encerrar", relation["id"].as_str().unwrap());
        ana.post(&end, &json!({})).expect(403);
        admin.post(&end, &json!({})).ok();
        admin.post(&end, &json!({})).expect(404);
    }
    sol.get("/api/v1/partner/drop/health").expect(403);
    assert_eq!(json_of(&admin, &format!("{RELATIONS}?situacao=ativo"))["total"], 0);
    let noted =
        site.stored("SELECT action FROM audit WHERE object_kind = 'relacao' ORDER BY audit_id");
    assert_eq!(noted, ["relacao.criar", "relacao.convidar", "relacao.encerrar", "relacao.retirar"]);
    let page = admin.send(Request::new("GET", RELATIONS).header("Accept", "text/html"));
    assert!(page.expect(200).text().contains("Relacionar duas pessoas"));
}
