//! The log of requests: who asked what, what is never kept, and what a stop
//! and a kill leave of it.

use std::time::Duration;

use serde_json::json;

use crate::client::{Connection, Request};
use crate::process::until;
use crate::site::{CHECKOUT_TOKEN, CRON_SECRET, Site};

/// What is stored once everything was written, oldest first.
fn stored(site: &Site, columns: &str) -> Vec<String> {
    site.stop();
    let rows = site.stored(&format!(
        "SELECT concat_ws(' ', {columns}) FROM request_log ORDER BY entry_id"
    ));
    site.start_again();
    rows
}

#[test]
fn every_kind_of_caller_is_known_by_its_number() {
    let site = Site::builder().unlimited().start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    let (extension, seller) = (site.extension("ana"), site.seller("ana").plan("starter"));
    let key = site.key(&["write"]);
    let nobody = site.anonymous();
    site.clock().advance_s(1);
    admin.get("/admin/planos").expect(200);
    ana.get("/painel").expect(200);
    ana.get("/admin").expect(403);
    extension.get("/api/ext/me").expect(200);
    seller.get("/v1/partner/health").expect(200);
    key.post(
        "/api/v1/alunos/suspender",
        &json!({ "email": "x@example.com" }),
    )
    .expect(404);
    key.get("/metrics").expect(403);
    site.bearer(CRON_SECRET).get("/api/v1/cron").expect(200);
    nobody.get("/api/ext/me").expect(401);
    nobody.get("/painel").expect(303);
    nobody.get("/api/v1/planos").expect(200);
    nobody.get("/nada/disto").expect(404);
    nobody.send(Request::new("PUT", "/painel")).expect(405);
    let number = |sql: &str| site.stored(sql)[0].clone();
    let ana = number("SELECT user_id || '' FROM user WHERE email = 'ana@example.com'");
    let key = number("SELECT key_id || '' FROM api_key");
    let columns = "at, method, path, status, nullif(caller, ''), caller_id, sampled, address";
    let now = site.clock().now().timestamp();
    let here = |line: &str| format!("{now} {line} 1 127.0.0.1");
    let mut rows = stored(&site, columns);
    rows.retain(|row| row.starts_with(&now.to_string()));
    assert_eq!(
        rows,
        [
            here("GET /admin/planos 200 sessao 1"),
            here(&format!("GET /painel 200 sessao {ana}")),
            here(&format!("GET /admin 403 sessao {ana}")),
            here(&format!("GET /api/ext/me 200 extensao {ana}")),
            here(&format!("GET /v1/partner/health 200 parceiro {ana}")),
            here(&format!("POST /api/v1/alunos/suspender 404 chave {key}")),
            here("GET /metrics 403"),
            here("GET /api/v1/cron 200 segredo"),
            here("GET /api/ext/me 401"),
            here("GET /painel 303"),
            here("GET /api/v1/planos 200"),
            here("GET /nada/disto 404"),
            here("PUT /painel 405"),
        ]
    );
}

#[test]
fn what_is_fetched_all_the_time_and_the_log_itself_are_left_out() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    for path in ["/healthz", "/readyz", "/favicon.ico", "/assets/nada.css"] {
        nobody.get(path);
    }
    assert_eq!(stored(&site, "path"), [] as [&str; 0]);
}

#[test]
fn secrets_and_long_texts_do_not_come_into_it() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let nobody = site.anonymous();
    nobody
        .get(&format!("/api/v1/cron?token={CRON_SECRET}"))
        .expect(200);
    nobody.get("/senha?codigo=um-codigo-secreto");
    nobody
        .get("/entrar?volta=%2Fum-destino-secreto")
        .expect(200);
    let purchase = Request::new("POST", "/api/v1/webhook/checkout")
        .json(&json!({ "hottok": CHECKOUT_TOKEN, "segredo": "um-corpo-secreto" }));
    nobody.send(purchase);
    ana.post("/perfil/sessoes/0a1b2c/encerrar", &json!({}))
        .expect(404);
    nobody.get(&format!("/{}", "x".repeat(500))).expect(404);
    let rows = stored(&site, "request_id, method, path, caller, address");
    assert_eq!(rows.len(), 7, "with the login: {rows:?}");
    let all = rows.join("\n");
    for secret in [
        "secreto",
        "token",
        "codigo",
        "hottok",
        "0a1b2c",
        CRON_SECRET,
        CHECKOUT_TOKEN,
        "?",
    ] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    for secret in site.secrets() {
        assert!(!all.contains(&secret.text), "{} in {all}", secret.what);
    }
    assert!(all.contains(" /perfil/sessoes/{sessao}/encerrar "), "{all}");
    assert!(all.contains(&format!(" /{} ", "x".repeat(199))), "{all}");
    assert!(!all.contains(&"x".repeat(200)));
}

#[test]
fn a_request_is_found_by_the_id_it_was_answered_with() {
    let site = Site::start();
    let nobody = site.anonymous();
    let ours = nobody.get("/entrar").expect(200);
    let ours = ours.header("x-request-id").unwrap().to_owned();
    let request = Request::new("GET", "/entrar").header("X-Request-Id", "pedido do cliente ~");
    nobody.send(request).expect(200);
    assert_eq!(stored(&site, "request_id"), [&*ours, "pedido do cliente ~"]);
    // Also what never became a request.
    let mut broken = Connection::open(site.address()).unwrap();
    broken.write(b"GET /quebrado?token=x HTTP/1.1\r\n\r\n");
    let reply = broken.read_reply("GET").unwrap().unwrap();
    let id = reply.header("x-request-id").unwrap().to_owned();
    let rows = stored(&site, "request_id, method, path, status, address");
    assert_eq!(rows[2], format!("{id}  /quebrado 400 127.0.0.1"));
}

#[test]
fn a_flood_is_sampled_and_every_sample_says_for_how_many_it_stands() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    for _ in 0..350 {
        nobody.get("/api/v1/planos").expect(200);
    }
    site.clock().advance_s(1);
    nobody.get("/api/v1/planos").expect(200);
    let sampled = stored(&site, "sampled");
    let (ones, hundreds): (Vec<_>, Vec<_>) = sampled.iter().partition(|count| *count == "1");
    assert_eq!((ones.len(), hundreds.len()), (51, 3));
    assert!(hundreds.iter().all(|count| *count == "100"));
    let ids = "SELECT count(DISTINCT entry_id) || ' ' || count(DISTINCT entry_id / 1000000) FROM request_log";
    assert_eq!(site.stored(ids), ["54 2"]);
    let totals = "SELECT class || ' ' || caller || ' ' || entries FROM request_log_count";
    assert_eq!(site.stored(totals), ["2  54"]);
}

#[test]
fn a_kill_loses_at_most_the_last_seconds() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    nobody.get("/entrar").expect(200);
    let count = "SELECT count(*) || '' FROM request_log";
    until("the first is written", Duration::from_secs(10), || {
        (site.stored(count) == ["1"]).then_some(())
    });
    nobody.get("/entrar").expect(200);
    site.kill();
    site.start_again();
    site.anonymous().get("/entrar").expect(200);
    let rows = stored(&site, "path, sampled");
    assert!((2..=3).contains(&rows.len()), "{rows:?}");
}
