//! The log of requests: who requested what, what is never stored, and what it
//! has after a stop and after a kill.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Connection, Request};
use crate::support::people::{list, page};
use crate::support::site::{CHECKOUT_TOKEN, CRON_SECRET, Site};
use crate::support::wait::until;

/// The stored entries after everything was written, oldest first.
fn stored(site: &Site, columns: &str) -> Vec<String> {
    site.stop();
    let rows = site
        .stored(&format!("SELECT concat_ws(' ', {columns}) FROM request_log ORDER BY entry_id"));
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
    key.post("/api/v1/alunos/suspender", &json!({ "email": "x@example.com" })).expect(404);
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
    let now = site.clock().now().as_second();
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
    nobody.get(&format!("/api/v1/cron?token={CRON_SECRET}")).expect(200);
    nobody.get("/senha?codigo=um-codigo-secreto");
    nobody.get("/entrar?volta=%2Fum-destino-secreto").expect(200);
    let purchase = Request::new("POST", "/api/v1/webhook/checkout")
        .json(&json!({ "hottok": CHECKOUT_TOKEN, "segredo": "um-corpo-secreto" }));
    nobody.send(purchase);
    ana.post("/perfil/sessoes/0a1b2c/encerrar", &json!({})).expect(404);
    nobody.get(&format!("/{}", "x".repeat(500))).expect(404);
    let rows = stored(&site, "request_id, method, path, caller, address");
    assert_eq!(rows.len(), 7, "with the login: {rows:?}");
    let all = rows.join("\n");
    for secret in
        ["secreto", "token", "codigo", "hottok", "0a1b2c", CRON_SECRET, CHECKOUT_TOKEN, "?"]
    {
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
fn codes_in_mistyped_addresses_are_masked() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    let code = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9";
    let token = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    for path in [
        format!("/convites/{code}"),
        format!("/convite/{code}/"),
        format!("/CONVITE/{}", code.to_uppercase()),
        format!("/convite%2f{code}"),
        format!("/painel/{code}/x"),
        format!("/fotos/{code}"),
        format!("/senhas/{token}"),
        format!("/x/ptk_{}", &code[..48]),
    ] {
        nobody.get(&path).expect(404);
    }
    let mut broken = Connection::open(site.address()).unwrap();
    broken.write(format!("GET /convites/{code} HTTP/1.1\r\n\r\n").as_bytes());
    broken.read_reply("GET").unwrap().unwrap();
    nobody.get("/painel/vendas/2000009123456789").expect(303);
    let rows = stored(&site, "path");
    assert_eq!(rows.len(), 10, "{rows:?}");
    assert_eq!((&*rows[0], &*rows[8]), ("/convites/***", "/convites/***"));
    assert_eq!(rows[9], "/painel/vendas/2000009123456789");
    let (rows, log) = (rows.join("\n").to_lowercase(), site.log().to_lowercase());
    for secret in [&code[..16], &token[..16].to_lowercase()] {
        assert!(!rows.contains(secret) && !log.contains(secret), "{rows}\n{log}");
    }
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
    // Malformed requests are logged, too.
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
    until("the first is written", Duration::from_mins(1), || {
        (site.stored(count) == ["1"]).then_some(())
    });
    nobody.get("/entrar").expect(200);
    site.kill();
    site.start_again();
    site.anonymous().get("/entrar").expect(200);
    let rows = stored(&site, "path, sampled");
    assert!((2..=3).contains(&rows.len()), "{rows:?}");
}

const LIST: &str = "/admin/requisicoes";

/// The numbers in a list, in its order, and its total.
fn shown(admin: &Actor<'_>, query: &str) -> (Vec<String>, u64) {
    let listed = list(admin, &format!("{LIST}?{query}"));
    let rows = listed["dados"].as_array().unwrap().iter();
    let text = |row: &Value| {
        let (method, path) = (row["metodo"].as_str(), row["caminho"].as_str());
        format!("{} {} {}", method.unwrap(), path.unwrap(), row["status"])
    };
    (rows.map(text).collect(), listed["total"].as_u64().unwrap())
}

#[test]
fn the_list_is_searched_filtered_and_paged() {
    let site = Site::builder().unlimited().start();
    site.administrator();
    site.person("ana");
    let key = site.key(&["write"]);
    site.clock().advance_s(3 * 86_400);
    let (admin, ana) = (site.administrator(), site.person("ana"));
    site.clock().advance_s(1);
    let found = ana.get("/painel").expect(200);
    let id = found.header("x-request-id").unwrap().to_owned();
    ana.get("/painel/avisos").expect(200);
    ana.get("/painel/nada").expect(404);
    key.post("/api/v1/alunos/suspender", &json!({ "email": "x@example.com" })).expect(404);
    site.anonymous().get("/painel").expect(303);
    let day = "periodo=hoje&por_pagina=100";
    for (query, rows) in [
        (
            "q=/painel&periodo=hoje",
            vec![
                "GET /painel 303",
                "GET /painel/nada 404",
                "GET /painel/avisos 200",
                "GET /painel 200",
            ],
        ),
        (&format!("q={id}"), vec!["GET /painel 200"]),
        (&format!("q={}", &id[..8]), vec![]),
        (&format!("q={id}&resposta=4xx"), vec![]),
        ("resposta=4xx", vec!["POST /api/v1/alunos/suspender 404", "GET /painel/nada 404"]),
        ("resposta=4xx&quem=chave", vec!["POST /api/v1/alunos/suspender 404"]),
        ("resposta=4xx&quem=sessao&q=/painel/", vec![]),
        (
            "resposta=3xx&quem=ninguem&periodo=hora",
            vec!["GET /painel 303", "POST /entrar 303", "POST /entrar 303"],
        ),
        ("quem=extensao", vec![]),
        ("resposta=5xx", vec![]),
    ] {
        let (found, total) = shown(&admin, query);
        assert_eq!(found, rows, "{query}");
        assert_eq!(total, rows.len() as u64, "{query}");
    }
    let (today, total) = shown(&admin, day);
    assert_eq!((today.len(), total), (7, 7), "{today:?}");
    let (all, total) = shown(&admin, "por_pagina=2&pagina=2");
    assert_eq!((&all[..], total), (&today[2..4], 9));
    for bad in ["quem=alguem", "resposta=6xx", "periodo=30", "ordem=nome"] {
        admin.get(&format!("{LIST}?{bad}")).expect(422);
    }
}

#[test]
fn the_list_is_a_file_too_and_for_administrators_alone() {
    let site = Site::start();
    let admin = site.administrator();
    site.key(&["write"])
        .post("/api/v1/alunos/suspender", &json!({ "email": "x@example.com" }))
        .expect(404);
    let csv = admin.get(&format!("{LIST}?formato=csv&resposta=4xx")).expect(200).text();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with("id,quando,pedido,metodo,caminho,status,microssegundos,quem,quem_tipo,quem_id,endereco,vale_por"));
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(
        lines[1].contains(",POST,/api/v1/alunos/suspender,404,")
            && lines[1].contains(",CRM,chave,1,127.0.0.1,1"),
        "{csv}"
    );
    site.person_as("rui", "drop").get(LIST).expect(403);
    site.anonymous().get(LIST).expect(303);
}

#[test]
fn one_request_is_told_with_who_asked() {
    let site = Site::start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    ana.get("/painel").expect(200);
    let listed = list(&admin, &format!("{LIST}?q=/painel"));
    let row = &listed["dados"][0];
    assert_eq!((&row["quem"], &row["quem_tipo"]), (&json!("ana da Silva"), &json!("sessao")));
    assert_eq!(row["quando"], "2026-11-20 09:00:00");
    assert!(row["microssegundos"].as_i64().unwrap() > 0, "{row}");
    let address = format!("{LIST}/{}", row["id"].as_str().unwrap());
    let page = page(&admin, &address).expect(200).text();
    let person = format!("/admin/alunos/{}", row["quem_id"].as_str().unwrap());
    let request_id = row["pedido"].as_str().unwrap();
    for part in ["GET /painel", "20/11/2026 09:00:00", "Atendido", &person, request_id] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert_eq!(list(&admin, &address)["pedido"], request_id);
    for missing in [format!("{LIST}/1"), format!("{LIST}/x")] {
        admin.get(&missing).expect(404);
    }
    // Of a removed person the log keeps the number, which nobody else gets, and
    // no name.
    admin.post(&format!("{person}/excluir"), &json!({})).ok();
    let shown = list(&admin, &address);
    assert_eq!(shown["quem"], "Pessoa removida");
    let page = self::page(&admin, &address).expect(200).text();
    assert!(!page.contains(&person) && !page.contains("ana"), "{page}");
    assert_eq!(list(&admin, &format!("{LIST}?q={LIST}"))["total"], 0);
}

#[test]
fn the_page_leaves_out_what_its_reader_opened() {
    let site = Site::builder().unlimited().start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    admin.get("/admin/planos").expect(200);
    ana.get("/painel/avisos").expect(200);
    let path = "/admin/requisicoes";
    let opens = |page: &str, what: &str| page.contains(&format!(">GET {what}</a>"));
    let page = admin.get(path).expect(200).text();
    assert!(opens(&page, "/painel/avisos") && !opens(&page, "/admin/planos"), "{page}");
    assert!(page.contains("sem as páginas que você abriu"), "{page}");
    // The count is that of the rows.
    let rows = page.matches("<th scope=\"row\"").count();
    assert!(page.contains(&format!("{rows} requisições, sem")), "{rows}: {page}");
    let page = admin.get(&format!("{path}?minhas=incluir")).expect(200).text();
    assert!(opens(&page, "/painel/avisos") && opens(&page, "/admin/planos"), "{page}");
    // Who looks for something finds it, and programs get all.
    let page = admin.get(&format!("{path}?q=/admin/planos")).expect(200).text();
    assert!(opens(&page, "/admin/planos"), "{page}");
    let request = Request::new("GET", path).header("Accept", "application/json");
    assert!(admin.send(request).ok().to_string().contains("/admin/planos"));
}
