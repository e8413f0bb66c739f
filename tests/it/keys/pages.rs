//! API keys in the panel: made, shown once, changed, exchanged, revoked.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;

const KEYS: &str = "/admin/chaves";
const SUSPEND: &str = "/api/v1/alunos/suspender";

/// Status and code of a call with a key.
fn call(key: &Actor<'_>) -> (u16, String) {
    let reply = key.post(SUSPEND, &json!({ "email": "ninguem@example.com" }));
    (reply.status, reply.code())
}

/// The answer to a valid key with the scope `write`.
fn served() -> (u16, String) {
    (404, "not_found".to_owned())
}

fn unknown() -> (u16, String) {
    (401, "unauthorized".to_owned())
}

#[track_caller]
fn json_of(administrator: &Actor<'_>, path: &str) -> Value {
    let request = Request::new("GET", path).header("Accept", "application/json");
    administrator.send(request).ok()
}

/// The key that a reply shows.
#[track_caller]
fn shown(reply: &Reply) -> String {
    let text = reply.text();
    let start = text.find("spk_").unwrap_or_else(|| panic!("no key\n{reply}"));
    text[start..start + 52].to_owned()
}

fn faults(reply: &Reply) -> Vec<String> {
    let body = reply.json();
    let fields = body["fields"].as_object().unwrap_or_else(|| panic!("no fields\n{reply}"));
    fields.keys().cloned().collect()
}

#[test]
fn a_program_makes_a_key_and_sees_it_once() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let new = json!({
        "nome": " CRM ", "escopos": ["write", "admin", "write"], "limite": 120, "expira_em": "2026-12-31",
        "ips": ["203.0.113.9/24", "::ffff:198.51.100.7", "198.51.100.7"],
    });
    let made = administrator.post(KEYS, &new).expect(201);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let body = made.json();
    assert_eq!((&body["ok"], &body["id"]), (&json!(true), &json!("1")));
    let text = body["chave"].as_str().unwrap().to_owned();
    assert_eq!(text.len(), 52);
    // From here on every reply is checked not to hold it.
    site.keep_secret("API key", &text);
    let expected = json!({
        "id": "1", "nome": "CRM", "prefixo": &text[..12], "escopos": ["write", "admin"],
        "ips": ["203.0.113.0/24", "198.51.100.7"], "limite": 120, "expira_em": "2026-12-31",
        "situacao": "ativa", "criado_em": "2026-11-20 09:00:00", "revogada_em": null,
        "substituida_por": null, "termina_em": null, "ultimo_uso": null,
    });
    assert_eq!(json_of(&administrator, "/admin/chaves/1"), expected);
    let list = json_of(&administrator, KEYS);
    assert_eq!(list, json!({ "ok": true, "total": 1, "dados": [expected] }));
    administrator.get(KEYS).expect(200);
    administrator.get("/admin/chaves/1").expect(200);
    let csv = administrator.get("/admin/chaves?formato=csv").expect(200).text();
    assert!(csv.contains("1,CRM,"), "{csv}");
    assert_eq!(json_of(&administrator, "/admin/chaves?q=crm")["total"], 1);
    let prefix = format!("/admin/chaves?q={}", &text[..12]);
    assert_eq!(json_of(&administrator, &prefix)["total"], 1);
    assert_eq!(json_of(&administrator, "/admin/chaves?q=%25")["total"], 0);
    // A field that is left out keeps its value; null removes it.
    administrator.post("/admin/chaves/1", &json!({ "limite": null, "expira_em": null })).ok();
    let freed = json_of(&administrator, "/admin/chaves/1");
    assert_eq!(
        (&freed["limite"], &freed["expira_em"], &freed["nome"]),
        (&json!(null), &json!(null), &json!("CRM"))
    );
    let audit = "SELECT actor_kind || ' ' || action || ' ' || after FROM audit WHERE action = 'chave.criar'";
    let noted = r#"pessoa chave.criar {"nome":"CRM","escopos":["write","admin"],"ips":["203.0.113.0/24","198.51.100.7"],"limite":120,"expira_em":"2027-01-01T03:00:00Z"}"#;
    assert_eq!(site.stored(audit), [noted]);
}

#[test]
fn every_field_at_fault_is_named() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let with = |name: &str, value: Value| {
        let mut body = json!({ "nome": "CRM", "escopos": ["write"] });
        body[name] = value;
        body
    };
    for (body, at_fault) in [
        (json!({}), vec!["escopos", "nome"]),
        (json!({ "nome": "", "escopos": [] }), vec!["escopos", "nome"]),
        (with("nome", json!("a".repeat(81))), vec!["nome"]),
        (with("escopos", json!(["read"])), vec!["escopos"]),
        (with("escopos", json!("write")), vec!["escopos"]),
        (with("escopos", json!([7])), vec!["escopos"]),
        (with("ips", json!(["10.0.0.300"])), vec!["ips"]),
        (with("ips", json!(["0177.0.0.1"])), vec!["ips"]),
        (with("ips", json!(["203.0.113.7", "x"])), vec!["ips"]),
        (
            with("ips", json!((0..101).map(|last| format!("10.0.0.{last}")).collect::<Vec<_>>())),
            vec!["ips"],
        ),
        (with("limite", json!(0)), vec!["limite"]),
        (with("limite", json!(100_001)), vec!["limite"]),
        (with("limite", json!("60")), vec!["limite"]),
        (with("expira_em", json!("2026-11-19")), vec!["expira_em"]),
        (with("expira_em", json!("31/12/2026")), vec!["expira_em"]),
        (with("expira_em", json!("-99999-1-1")), vec!["expira_em"]),
        (with("expira_em", json!("+99999-1-1")), vec!["expira_em"]),
    ] {
        let reply = administrator.post(KEYS, &body).expect(422);
        assert_eq!(faults(&reply), at_fault, "{body}");
    }
    let today = with("expira_em", json!("2026-11-20"));
    let made = administrator.post(KEYS, &today).expect(201).json();
    assert_eq!(made["id"], "1", "nothing was made before");
    for path in ["/admin/chaves/9", "/admin/chaves/9/trocar", "/admin/chaves/x/excluir"] {
        administrator.post(path, &json!({ "nome": "x" })).expect(404);
    }
}

#[test]
fn a_browser_sees_the_key_on_one_page_and_keeps_what_it_typed() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let send = |path: &str, fields: &[(&str, &str)]| {
        administrator.send(Request::new("POST", path).form(fields))
    };
    let wrong = [("nome", "CRM"), ("ips", "203.0.113.7\r\nrubbish"), ("limite", "")];
    let reply = send(KEYS, &wrong).expect(422);
    let page = reply.text();
    for part in [
        "value=\"CRM\"",
        "rubbish</textarea>",
        "Marque pelo menos uma permissão",
        "Falta corrigir 2 campos",
    ] {
        assert!(page.contains(part), "{part}\n{reply}");
    }
    let fields = [
        ("nome", "CRM"),
        ("escopos", "write"),
        ("escopos", "webhook_receive"),
        ("ips", "127.0.0.1\r\n\r\n203.0.113.7, 10.0.0.0/8"),
        ("limite", "90"),
        ("expira_em", ""),
    ];
    let made = send(KEYS, &fields).expect(200);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let text = shown(&made);
    assert!(made.text().contains(&format!("Authorization: Bearer {text}")));
    site.keep_secret("API key", &text);
    let key = site.bearer(&text);
    assert_eq!(call(&key), served());
    let stored = json_of(&administrator, "/admin/chaves/1");
    assert_eq!(stored["escopos"], json!(["write", "webhook_receive"]));
    assert_eq!(stored["ips"], json!(["127.0.0.1", "203.0.113.7", "10.0.0.0/8"]));
}

#[test]
fn a_browser_changes_and_revokes_a_key() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let send = |path: &str, fields: &[(&str, &str)]| {
        administrator.send(Request::new("POST", path).form(fields))
    };
    let made = send(KEYS, &[("nome", "CRM"), ("escopos", "write"), ("limite", "90")]);
    let text = shown(&made.expect(200));
    site.keep_secret("API key", &text);
    let key = site.bearer(&text);
    assert_eq!(call(&key), served());
    // One box ticked, everything else left empty.
    let fields = [
        ("nome", "CRM 2"),
        ("escopos", "admin"),
        ("ips", ""),
        ("limite", ""),
        ("expira_em", "2026-11-21"),
    ];
    let changed = send("/admin/chaves/1", &fields).expect(303);
    assert_eq!(changed.header("location"), Some("/admin/chaves"));
    let stored = json_of(&administrator, "/admin/chaves/1");
    for (name, value) in [
        ("nome", json!("CRM 2")),
        ("escopos", json!(["admin"])),
        ("ips", json!([])),
        ("limite", Value::Null),
        ("expira_em", json!("2026-11-21")),
    ] {
        assert_eq!(stored[name], value, "{name}");
    }
    let revoked = send("/admin/chaves/1/excluir", &[]).expect(303);
    assert_eq!(revoked.header("location"), Some("/admin/chaves"));
    assert_eq!(call(&key), unknown());
    let page = administrator.get("/admin/chaves/1").expect(200).text();
    assert!(page.contains("Revogado") && !page.contains("name=\"nome\""), "{page}");
}

#[test]
fn a_change_holds_from_its_answer_on() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let made = administrator.post(KEYS, &json!({ "nome": "CRM", "escopos": ["write"] }));
    let made = made.expect(201).json();
    let text = made["chave"].as_str().unwrap();
    site.keep_secret("API key", text);
    let key = site.bearer(text);
    let code = |change: Value| {
        administrator.post("/admin/chaves/1", &change).ok();
        call(&key).1
    };
    for _ in 0..5 {
        assert_eq!(code(json!({ "escopos": ["webhook_receive"] })), "insufficient_scope");
        assert_eq!(code(json!({ "ips": ["203.0.113.7"] })), "ip_not_allowed");
        assert_eq!(code(json!({ "ips": [], "escopos": ["admin"] })), "not_found");
    }
    administrator.post("/admin/chaves/1", &json!({ "limite": 5, "expira_em": "2026-11-20" })).ok();
    let reply = key.post(SUSPEND, &json!({ "email": "ninguem@example.com" }));
    assert_eq!(reply.header("x-ratelimit-limit"), Some("5"), "{reply}");
    let kept = json_of(&administrator, "/admin/chaves/1");
    assert_eq!((&kept["nome"], &kept["escopos"]), (&json!("CRM"), &json!(["admin"])));
    administrator.post("/admin/chaves/1", &json!({ "limite": 0, "expira_em": "" })).ok();
    let kept = json_of(&administrator, "/admin/chaves/1");
    assert_eq!((&kept["limite"], &kept["expira_em"]), (&Value::Null, &Value::Null));
    administrator.post("/admin/chaves/1", &json!({ "expira_em": "2026-11-20" })).ok();
    site.clock().set("2026-11-21T03:00:00Z");
    // The panel's session has been idle since yesterday, and the key's last day
    // is over.
    assert_eq!(call(&key), unknown());
    let administrator = site.administrator();
    // An end in the past may stay while other fields change.
    administrator
        .post("/admin/chaves/1", &json!({ "nome": "Loja", "expira_em": "2026-11-20" }))
        .ok();
    administrator.post("/admin/chaves/1", &json!({ "expira_em": "2026-11-21" })).ok();
    assert_eq!(call(&key).1, "not_found");
    administrator.post("/admin/chaves/1/excluir", &json!({})).ok();
    administrator.post("/admin/chaves/1/excluir", &json!({})).ok();
    assert_eq!(call(&key), unknown());
    let late = administrator.post("/admin/chaves/1", &json!({ "nome": "CRM" })).expect(409);
    assert_eq!(late.code(), "conflict");
}

#[test]
fn an_exchanged_key_works_until_the_overlap_ends() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let new = json!({ "nome": "CRM", "escopos": ["write"], "ips": ["127.0.0.1"], "limite": 90 });
    let made = |path: &str, body: &Value| {
        let made = administrator.post(path, body).expect(201).json();
        let text = made["chave"].as_str().unwrap().to_owned();
        site.keep_secret("API key", &text);
        (made["id"].as_str().unwrap().to_owned(), site.bearer(&text))
    };
    let (first_id, first) = made(KEYS, &new);
    let (second_id, second) = made("/admin/chaves/1/trocar", &json!({}));
    assert_eq!((&*first_id, &*second_id), ("1", "2"));
    let old = json_of(&administrator, "/admin/chaves/1");
    assert_eq!(
        (&old["situacao"], &old["substituida_por"], &old["termina_em"]),
        (&json!("em_troca"), &json!("2"), &json!("2026-11-21 09:00:00"))
    );
    let heir = json_of(&administrator, "/admin/chaves/2");
    for name in ["nome", "escopos", "ips", "limite", "expira_em"] {
        assert_eq!(heir[name], old[name], "{name}");
    }
    let again = administrator.post("/admin/chaves/1/trocar", &json!({})).expect(409);
    assert_eq!(again.code(), "conflict");
    assert_eq!((call(&first), call(&second)), (served(), served()));
    site.clock().advance_s(24 * 3600 - 1);
    assert_eq!((call(&first), call(&second)), (served(), served()));
    site.clock().advance_s(1);
    assert_eq!((call(&first), call(&second)), (unknown(), served()));
}

#[test]
fn an_overlap_may_be_none_and_is_a_week_at_most() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let made = |path: &str, body: &Value| {
        let made = administrator.post(path, body).expect(201).json();
        let text = made["chave"].as_str().unwrap().to_owned();
        site.keep_secret("API key", &text);
        site.bearer(&text)
    };
    let first = made(KEYS, &json!({ "nome": "CRM", "escopos": ["write"] }));
    let exchange = "/admin/chaves/1/trocar";
    for hours in [json!(-1), json!(169), json!("24")] {
        let reply = administrator.post(exchange, &json!({ "horas": hours }));
        assert_eq!(faults(&reply.expect(422)), ["horas"]);
    }
    let second = made(exchange, &json!({ "horas": 0 }));
    assert_eq!((call(&first), call(&second)), (unknown(), served()));
    // The list of keys says which of them are valid.
    let listed = |query: &str| {
        let list = json_of(&administrator, &format!("{KEYS}?{query}"));
        (list["total"].clone(), list["dados"][0]["id"].clone())
    };
    assert_eq!(listed("situacao=valendo"), (json!(1), json!("2")));
    assert_eq!(listed("situacao=encerrada"), (json!(1), json!("1")));
    assert_eq!(listed("ordem=criado_em"), (json!(2), json!("1")));
    assert_eq!(listed(""), (json!(2), json!("2")));
    let audit = "SELECT action || ' ' || object_id FROM audit WHERE object_kind = 'chave' ORDER BY audit_id";
    let expected = ["chave.criar 1", "chave.criar 2", "chave.trocar 1"];
    assert_eq!(site.stored(audit), expected);

    let with_hours = |path: &str, hours: &str| {
        administrator.send(Request::new("POST", path).form(&[("horas", hours)]))
    };
    let page = with_hours("/admin/chaves/2/trocar", "1").expect(200);
    let until = "A chave anterior funciona até 20/11/2026 10:00";
    assert!(page.text().contains(until), "{page}");
    site.keep_secret("API key", &shown(&page));
    let wrong = with_hours("/admin/chaves/3/trocar", "mil").expect(422);
    assert!(wrong.text().contains("value=\"mil\""), "{wrong}");
    site.clock().advance_s(3600);
    assert_eq!(call(&second), unknown());
}

#[test]
fn the_help_page_shows_calls_that_work() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let page = administrator.get("/admin/chaves/como-usar").expect(200).text();
    for path in ["alunos/criar", "alunos/suspender", "alunos/reativar", "webhook/llm"] {
        let address = format!("curl http://{}/api/v1/{path}", site.address());
        assert!(page.contains(&address), "{path}\n{page}");
    }
    site.person("ana").get("/admin/chaves").expect(403);
}
