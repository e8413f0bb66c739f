//! What anyone may read: its shapes, that a change is seen at once, and that
//! in between nobody reads the database.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::actors::Actor;
use crate::client::{Reply, Request};
use crate::process::until;
use crate::site::{PROPAGATION, Site};
use crate::world::World;

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
    assert!(
        body["message"]
            .as_str()
            .is_some_and(|said| !said.is_empty()),
        "{path}"
    );
    body["data"].clone()
}

/// Names of the members of an object, sorted.
#[track_caller]
fn members(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(|key| &**key)
        .collect()
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
    site.administrator()
        .post("/admin/planos", &plan("um"))
        .expect(201);
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
    let site = Site::builder()
        .unlimited()
        .config("server.name", "Escola de Vendas")
        .start();
    let nobody = site.anonymous();
    site.administrator()
        .post("/admin/planos", &plan("um"))
        .expect(201);
    let context = data(&nobody, "/api/v1/contexto");
    assert_eq!(
        members(&context),
        [
            "estatisticas",
            "gerado_em",
            "instrucoes",
            "meets",
            "planos",
            "plataforma",
            "professores"
        ]
    );
    let platform = &context["plataforma"];
    assert_eq!(
        members(platform),
        ["descricao", "nome", "url", "versao"],
        "{platform}"
    );
    assert_eq!(platform["nome"], "Escola de Vendas");
    assert_eq!(platform["url"], format!("http://{}", site.address()));
    assert!(
        context["instrucoes"]
            .as_str()
            .unwrap()
            .contains("Escola de Vendas")
    );
    assert_eq!(context["gerado_em"], "2026-11-20 09:00:00");
    assert_eq!(context["planos"], data(&nobody, "/api/v1/planos"));
    assert_eq!(context["planos"][0]["slug"], "um");
    assert_eq!(
        members(&context["estatisticas"]),
        [
            "alunos_ativos",
            "aulas",
            "contas_vinculadas",
            "meets_agendados",
            "professores"
        ]
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
        (
            figures["alunos_ativos"].as_i64().unwrap(),
            figures["contas_vinculadas"].as_i64().unwrap(),
        )
    };
    assert_eq!(counted(), (0, 0));
    let ana = site.person("ana");
    // A command beside the server is noticed a moment later.
    until("ana is counted", PROPAGATION, || {
        (counted() == (1, 0)).then_some(())
    });
    // Suppliers and staff are no students.
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
            assert_eq!(
                members(column),
                ["descricao", "nome", "obrigatorio", "tipo"]
            );
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
    for (name, kind, needed) in [
        ("user_id", "INTEGER", true),
        ("email", "TEXT", true),
        ("chat_number", "TEXT", false),
    ] {
        let column = named(&person["campos"], "nome", name);
        assert_eq!(
            (&column["tipo"], &column["obrigatorio"]),
            (&json!(kind), &json!(needed))
        );
    }
    // Nothing that SQLite keeps for itself.
    let names = schema["tabelas"].to_string();
    assert!(!names.contains("sqlite_"), "{names}");
    let roles: Vec<&str> = schema["papeis"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| role["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["free", "pro", "vip", "piloto_pro", "podio", "drop", "admin"]
    );
    let pro = named(&schema["papeis"], "role", "pro");
    assert_eq!(members(&pro), ["descricao", "permissoes", "role"]);
    assert_eq!(
        pro["permissoes"],
        json!(["extensao_browser", "meets", "ml_analisar", "ml_calculadora"])
    );
    assert_eq!(
        named(&schema["papeis"], "role", "free")["permissoes"],
        json!([])
    );
}

/// Statements about content that the server says it has run, at the level
/// `trace`. Its workers ask for other things all the time.
fn statements(site: &Site) -> usize {
    static MARKS: AtomicUsize = AtomicUsize::new(0);
    let mark = format!("mark-{}", MARKS.fetch_add(1, Ordering::Relaxed));
    let marked = Request::new("GET", "/healthz").header("X-Request-Id", &mark);
    site.anonymous().send(marked).expect(200);
    // Lines arrive a moment after the replies they belong to.
    until("the log is complete", PROPAGATION, || {
        site.log().contains(&mark).then_some(())
    });
    let tables = [
        "FROM plan",
        "FROM teacher",
        "FROM meet",
        "FROM total",
        "FROM pragma_",
    ];
    let log = site.log();
    let statements = log
        .lines()
        .filter(|line| line.contains("\"message\":\"statement\""));
    statements
        .filter(|line| tables.iter().any(|table| line.contains(table)))
        .count()
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
    // The command that made the administrator changed the file from outside;
    // until that is noticed, once, the documents may be made again.
    until("warm reads ask nothing", PROPAGATION, || {
        let warm = statements(&site);
        for _ in 0..20 {
            read_all();
        }
        (statements(&site) == warm).then_some(())
    });
    let warm = statements(&site);
    administrator
        .post("/admin/planos", &plan("dois"))
        .expect(201);
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
            administrator
                .post("/admin/planos", &plan(&slug))
                .expect(201);
            let request = Request::new("GET", path).header("If-Modified-Since", &since);
            let reply = nobody.send(request).expect(200);
            reply
                .header("last-modified")
                .unwrap()
                .clone_into(&mut since);
            assert!(!tags.contains(&etag(&reply)), "{path}");
            tags.push(etag(&reply));
        }
    }
}
