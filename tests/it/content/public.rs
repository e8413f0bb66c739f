//! Public answers: their shapes, that a change is visible at once, and that
//! otherwise the database is not read.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::content::made;
use crate::support::site::{PROPAGATION, Site};
use crate::support::wait::until;
use crate::support::world::World;

const DOCUMENTS: [&str; 5] = [
    "/api/v1/contexto",
    "/api/v1/planos",
    "/api/v1/professores",
    "/api/v1/meets",
    "/api/v1/schema",
];

#[track_caller]
fn data(actor: &Actor<'_>, path: &str) -> Value {
    let body = actor.get(path).ok();
    assert_eq!(body["success"], true, "{path}");
    assert!(body["message"].as_str().is_some_and(|said| !said.is_empty()), "{path}");
    body["data"].clone()
}

/// Names of the members of an object, sorted.
#[track_caller]
fn members(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(|key| &**key).collect()
}

#[track_caller]
fn etag(reply: &Reply) -> String {
    reply.header("etag").unwrap().to_owned()
}

fn plan(slug: &str) -> Value {
    json!({ "titulo": format!("Plano {slug}"), "slug": slug, "preco": 49.9 })
}

#[test]
fn every_document_is_public_and_conditional() {
    let site = Site::builder().unlimited().start();
    site.administrator().post("/admin/planos", &plan("um")).expect(201);
    let nobody = site.anonymous();
    for path in DOCUMENTS {
        let first = nobody.get(path).expect(200);
        let header = |name| first.header(name).unwrap_or_default();
        assert_eq!(header("access-control-allow-origin"), "*", "{path}");
        assert_eq!(header("cache-control"), "public, max-age=60", "{path}");
        let (tag, modified) = (header("etag"), header("last-modified"));
        for (name, value) in [("If-None-Match", tag), ("If-Modified-Since", modified)] {
            let again = Request::new("GET", path).header(name, value);
            let again = nobody.send(again).expect(304);
            assert_eq!(again.header("etag"), Some(tag), "{path}");
            assert_eq!(again.header("cache-control"), Some("public, max-age=60"));
        }
        let other = Request::new("GET", path).header("If-None-Match", "\"x\"");
        assert_eq!(nobody.send(other).expect(200).body, first.body, "{path}");
        // A credential, good or bad, makes no difference.
        let with_token = site.bearer("rubbish").get(path).expect(200);
        assert_eq!(with_token.body, first.body, "{path}");
        nobody.send(Request::new("POST", path)).expect(405);
    }
}

#[test]
fn the_context_tells_the_whole_platform() {
    let site = Site::builder().unlimited().config("server.name", "Escola de Vendas").start();
    let nobody = site.anonymous();
    site.administrator().post("/admin/planos", &plan("um")).expect(201);
    let context = data(&nobody, "/api/v1/contexto");
    assert_eq!(
        members(&context),
        ["estatisticas", "gerado_em", "instrucoes", "meets", "planos", "plataforma", "professores"]
    );
    let platform = &context["plataforma"];
    assert_eq!(members(platform), ["descricao", "nome", "url", "versao"], "{platform}");
    assert_eq!(platform["nome"], "Escola de Vendas");
    assert_eq!(platform["url"], format!("http://{}", site.address()));
    assert!(context["instrucoes"].as_str().unwrap().contains("Escola de Vendas"));
    assert_eq!(context["gerado_em"], "2026-11-20 09:00:00");
    assert_eq!(context["planos"], data(&nobody, "/api/v1/planos"));
    assert_eq!(context["planos"][0]["slug"], "um");
    assert_eq!(
        members(&context["estatisticas"]),
        ["alunos_ativos", "aulas", "contas_vinculadas", "meets_agendados", "professores"]
    );
}

#[test]
fn people_and_linked_accounts_are_counted_as_they_come_and_go() {
    const SHOP: u64 = 900_000_001;
    let world = World::start();
    world.seller(SHOP, "LOJA DA ANA");
    let site = Site::builder().unlimited().world(&world).start();
    let nobody = site.anonymous();
    let counted = || {
        let context = data(&nobody, "/api/v1/contexto");
        let figures = &context["estatisticas"];
        (figures["alunos_ativos"].as_i64().unwrap(), figures["contas_vinculadas"].as_i64().unwrap())
    };
    assert_eq!(counted(), (0, 0));
    let ana = site.person("ana");
    // A change by a command is noticed a moment later.
    until("ana is counted", PROPAGATION, || (counted() == (1, 0)).then_some(()));
    // Suppliers and staff do not count as students.
    site.person_as("rui", "drop");
    site.administrator();
    world.link(&ana, SHOP);
    assert_eq!(counted(), (1, 1));
    let leave = format!("/painel/ml/contas/{SHOP}/desvincular");
    ana.post(&leave, &json!({})).ok();
    assert_eq!(counted(), (1, 0));
}

#[test]
fn the_schema_describes_every_table_column_and_role() {
    let site = Site::builder().unlimited().start();
    let schema = data(&site.anonymous(), "/api/v1/schema");
    assert_eq!(members(&schema), ["papeis", "tabelas"]);
    let tables = schema["tabelas"].as_array().unwrap();
    assert!(tables.len() > 25, "{} tables", tables.len());
    let mut columns = 0;
    for table in tables {
        assert_eq!(members(table), ["campos", "descricao", "nome"]);
        assert_ne!(table["descricao"], "", "{table}");
        for column in table["campos"].as_array().unwrap() {
            columns += 1;
            assert_eq!(members(column), ["descricao", "nome", "obrigatorio", "tipo"]);
            assert_ne!(column["descricao"], "", "{} {column}", table["nome"]);
            assert!(
                ["INTEGER", "TEXT", "BLOB"].contains(&column["tipo"].as_str().unwrap()),
                "{column}"
            );
        }
    }
    assert!(columns > 150, "{columns} columns");
    let named = |list: &Value, key: &str, name: &str| {
        let list = list.as_array().unwrap();
        list.iter().find(|one| one[key] == name).cloned().unwrap()
    };
    let person = named(&schema["tabelas"], "nome", "user");
    for (name, kind, needed) in
        [("user_id", "INTEGER", true), ("email", "TEXT", true), ("chat_number", "TEXT", false)]
    {
        let column = named(&person["campos"], "nome", name);
        assert_eq!((&column["tipo"], &column["obrigatorio"]), (&json!(kind), &json!(needed)));
    }
    // No internal table of SQLite is named.
    let names = schema["tabelas"].to_string();
    assert!(!names.contains("sqlite_"), "{names}");
    let roles: Vec<&str> = schema["papeis"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| role["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["free", "pro", "vip", "piloto_pro", "podio", "drop", "admin"]);
    let pro = named(&schema["papeis"], "role", "pro");
    assert_eq!(members(&pro), ["descricao", "permissoes", "role"]);
    assert_eq!(
        pro["permissoes"],
        json!(["extensao_browser", "meets", "ml_analisar", "ml_calculadora"])
    );
    assert_eq!(named(&schema["papeis"], "role", "free")["permissoes"], json!([]));
}

/// The number of statements about content that the server has logged, at the
/// level `trace`. Its workers run other statements all the time.
fn statements(site: &Site) -> usize {
    static MARKS: AtomicUsize = AtomicUsize::new(0);
    let mark = format!("mark-{}", MARKS.fetch_add(1, Ordering::Relaxed));
    let marked = Request::new("GET", "/healthz").header("X-Request-Id", &mark);
    site.anonymous().send(marked).expect(200);
    // Log lines arrive a moment after their replies.
    site.wait_for_log(&mark, PROPAGATION);
    let tables = ["FROM plan", "FROM teacher", "FROM meet", "FROM total", "FROM pragma_"];
    let log = site.log();
    let statements = log.lines().filter(|line| line.contains("\"message\":\"statement\""));
    statements.filter(|line| tables.iter().any(|table| line.contains(table))).count()
}

#[test]
fn a_warm_document_reads_no_database() {
    let site = Site::builder()
        .unlimited()
        .config("log.level", "trace")
        .config("log.format", "json")
        .start();
    let administrator = site.administrator();
    administrator.post("/admin/planos", &plan("um")).expect(201);
    let nobody = site.anonymous();
    let read_all = || {
        for path in DOCUMENTS {
            nobody.get(path).expect(200);
        }
    };
    let cold = statements(&site);
    read_all();
    assert!(statements(&site) > cold + 5, "the log tells of statements");
    // The command that made the administrator changed the file from another
    // process. Until the server has noticed that, the documents may be made
    // again once.
    until("warm reads ask nothing", PROPAGATION, || {
        let warm = statements(&site);
        for _ in 0..20 {
            read_all();
        }
        (statements(&site) == warm).then_some(())
    });
    let warm = statements(&site);
    administrator.post("/admin/planos", &plan("dois")).expect(201);
    assert_eq!(data(&nobody, "/api/v1/planos").as_array().unwrap().len(), 2);
    assert!(statements(&site) > warm, "a change has them made again");
}

#[test]
fn a_change_within_the_second_is_news_to_whoever_asks_by_date() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let nobody = site.anonymous();
    for path in ["/api/v1/planos", "/api/v1/contexto"] {
        let mut since = String::new();
        let mut tags = Vec::new();
        for round in 0..4 {
            let slug = format!("{}-{round}", path.len());
            administrator.post("/admin/planos", &plan(&slug)).expect(201);
            let request = Request::new("GET", path).header("If-Modified-Since", &since);
            let reply = nobody.send(request).expect(200);
            reply.header("last-modified").unwrap().clone_into(&mut since);
            assert!(!tags.contains(&etag(&reply)), "{path}");
            tags.push(etag(&reply));
        }
    }
}

/// The public answer about a kind of content.
#[track_caller]
fn public(site: &Site, document: &str) -> Vec<Value> {
    let body = site.anonymous().get(&format!("/api/v1/{document}")).ok();
    body["data"].as_array().unwrap().clone()
}

#[test]
fn teachers_are_public_at_once_with_the_lessons_they_give() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    assert!(public(&site, "professores").is_empty());
    let body = json!({ "nome": "Rita Prado", "bio": "Vende.", "redes": { "site": "https://rita.example.com" } });
    let rita = made(&admin, "/admin/professores", &body);
    made(&admin, "/admin/professores", &json!({ "nome": "beto reis" }));
    let names = |site: &Site| {
        let all = public(site, "professores");
        all.iter().map(|one| one["nome"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&site), ["beto reis", "Rita Prado"]);
    assert_eq!(
        public(&site, "professores")[1],
        json!({
            "id": rita, "nome": "Rita Prado", "total_aulas": 0, "foto": "", "bio": "Vende.",
            "redes": { "site": "https://rita.example.com" },
        })
    );
    let lessons = || public(&site, "professores")[1]["total_aulas"].as_i64().unwrap();
    let course = made(&admin, "/admin/cursos", &json!({ "titulo": "Começar", "publicado": false }));
    let lesson = json!({
        "titulo": "Um", "curso_id": course, "professor_id": rita, "video_url": "https://youtu.be/abcdefghijk",
    });
    let lesson = made(&admin, "/admin/aulas", &lesson);
    assert_eq!(lessons(), 0, "a draft does not count");
    admin.post(&format!("/admin/cursos/{course}"), &json!({ "publicado": true })).ok();
    assert_eq!(lessons(), 1);
    let context = site.anonymous().get("/api/v1/contexto").ok()["data"].clone();
    assert_eq!(context["estatisticas"]["aulas"], 1);
    assert_eq!(context["estatisticas"]["professores"], 2);
    assert_eq!(context["professores"][1]["total_aulas"], 1);
    admin.post(&format!("/admin/aulas/{lesson}/excluir"), &json!({})).ok();
    assert_eq!(lessons(), 0);
}

/// Makes a meet of an hour and a half.
#[track_caller]
fn meet(admin: &Actor<'_>, title: &str, at: &str, open: bool) -> String {
    let body = json!({
        "titulo": title, "descricao": "Traga perguntas.", "data_hora": at,
        "duracao_minutos": 90, "link": "https://meet.example.com/sala", "publico": open,
    });
    made(admin, "/admin/meets", &body)
}

fn titles(site: &Site) -> Vec<String> {
    let meets = public(site, "meets");
    let titles = meets.iter().map(|one| one["titulo"].as_str().unwrap());
    titles.map(str::to_owned).collect()
}

#[test]
fn the_next_ten_meets_are_public_at_once() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    assert!(public(&site, "meets").is_empty());
    let rita = json!({ "nome": "Rita Prado" });
    let rita = made(&admin, "/admin/professores", &rita);
    // It is 09:00 in São Paulo.
    let second = meet(&admin, "Segundo", "2026-11-20 10:30:00", true);
    let path = format!("/admin/meets/{second}");
    admin.post(&path, &json!({ "professor_id": rita })).ok();
    meet(&admin, "Primeiro", "2026-11-20 09:45:00", false);
    meet(&admin, "Ontem", "2026-11-19 20:00:00", true);
    assert_eq!(titles(&site), ["Primeiro", "Segundo"]);
    let now = public(&site, "meets");
    let closed = (&now[0]["link"], &now[0]["professor"]);
    assert_eq!(closed, (&Value::Null, &Value::Null), "only students may join");
    assert_eq!(
        now[1],
        json!({
            "id": second, "titulo": "Segundo", "descricao": "Traga perguntas.", "professor": "Rita Prado",
            "data_hora": "2026-11-20 10:30:00", "duracao_minutos": 90, "minutos_restantes": 90,
            "link": "https://meet.example.com/sala",
        })
    );
    admin.post(&path, &json!({ "publico": false })).ok();
    assert_eq!(public(&site, "meets")[1]["link"], Value::Null);
    for day in 21..=30 {
        let at = format!("2026-11-{day} 20:00:00");
        meet(&admin, &format!("Dia {day}"), &at, false);
    }
    let ten = titles(&site);
    assert_eq!((ten.len(), &*ten[0], &*ten[9]), (10, "Primeiro", "Dia 28"));
    admin.post(&format!("{path}/excluir"), &json!({})).ok();
    assert_eq!(titles(&site)[9], "Dia 29");
}

#[test]
fn what_is_kept_moves_with_the_minute() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    meet(&admin, "Primeiro", "2026-11-20 09:45:00", false);
    meet(&admin, "Segundo", "2026-11-20 10:30:00", true);
    let left = || {
        let meets = public(&site, "meets");
        let left = meets.iter().map(|one| one["minutos_restantes"].as_i64().unwrap());
        left.collect::<Vec<_>>()
    };
    assert_eq!(left(), [45, 90]);
    site.clock().advance_s(59);
    assert_eq!(left(), [45, 90]);
    let first = site.anonymous().get("/api/v1/meets").expect(200);
    site.clock().advance_s(1);
    assert_eq!(left(), [44, 89]);
    // A request by date gets the change, too.
    let since = first.header("last-modified").unwrap();
    let request = Request::new("GET", "/api/v1/meets").header("If-Modified-Since", since);
    site.anonymous().send(request).expect(200);
    // A meet that has begun is no longer listed.
    site.clock().advance_s(44 * 60);
    assert_eq!(left(), [45]);
    let context = site.anonymous().get("/api/v1/contexto").ok()["data"].clone();
    assert_eq!(context["estatisticas"]["meets_agendados"], 1);
    assert_eq!(context["meets"][0]["minutos_restantes"], 45);
    assert_eq!(context["gerado_em"], "2026-11-20 09:45:00");
}
