//! The service from inside: the diagnostics page, tests of channels, requests that are
//! followed, figures with their dashboard and alerts, and bundles for helpers.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{Connection as Database, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::archive::unzipped;
use crate::support::client::Request;
use crate::support::people::{list, page};
use crate::support::site::{CHECKOUT_TOKEN, CRON_SECRET, Site};
use crate::support::smtp::{Greeter, Postman};
use crate::support::wait::until;
use crate::support::world::World;

const PAGE: &str = "/admin/diagnostico";
const FOLLOW: &str = "/admin/requisicoes/rastro";
const PATIENCE: Duration = Duration::from_secs(30);

fn row<'p>(page: &'p Value, section: &str, name: &str) -> &'p Value {
    let sections = page["secoes"].as_array().unwrap();
    let section = sections.iter().find(|one| one["nome"] == section).expect(section);
    let rows = section["linhas"].as_array().unwrap();
    rows.iter().find(|row| row["nome"] == name).unwrap_or_else(|| panic!("{name}: {section:#}"))
}

#[test]
fn the_page_shows_each_part_to_administrators_alone() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    for other in [site.person("ana"), site.anonymous()] {
        let refused = other.get(PAGE).status;
        assert!([303, 401, 403].contains(&refused), "{refused}");
    }
    let shown = list(&admin, PAGE);
    for (section, name) in [
        ("versao", "Versão"),
        ("versao", "Commit"),
        ("banco", "Tamanho"),
        ("banco", "Esquema"),
        ("banco", "Log de escrita"),
        ("banco", "Gravações confirmadas"),
        ("banco", "Verificação completa"),
        ("copias", "Última cópia"),
        ("disco", "Livre para o banco"),
        ("relogio", "Linha mais nova"),
        ("threads", "Threads do processo"),
        ("threads", "Senhas"),
    ] {
        assert_ne!(row(&shown, section, name)["valor"], "", "{section} {name}");
    }
    assert_eq!(row(&shown, "banco", "Integridade")["estado"], "Em ordem");
    assert_eq!(row(&shown, "relogio", "Fuso horário")["valor"], "America/Sao_Paulo");
    let queues: Vec<_> =
        shown["filas"].as_array().unwrap().iter().map(|one| one["nome"].clone()).collect();
    assert_eq!(queues, ["outbox", "webhooks", "notifications"]);
    let tasks: Vec<_> = shown["tarefas"].as_array().unwrap().iter().collect();
    for title in
        ["Arquivamento de registros", "Verificação leve do banco", "Checkpoint do log de escrita"]
    {
        assert!(tasks.iter().any(|task| task["titulo"] == title), "{title}");
    }
    assert!(tasks.iter().all(|task| task["proxima"] != ""), "{tasks:#?}");
    let settings = shown["configuracao"].as_array().unwrap();
    let setting = |key: &str| settings.iter().find(|one| one["chave"] == key).expect(key);
    assert_eq!(setting("cron.secret")["valor"], "\"***\"");
    let origin = setting("cron.secret")["origem"].as_str().unwrap().to_owned();
    assert!(origin.contains("seller-platform.toml:"), "{origin}");
    assert_eq!(setting("program.lap_days")["origem"], "default");
    let html = page(&admin, PAGE).expect(200).text();
    for secret in [CRON_SECRET, CHECKOUT_TOKEN] {
        assert!(!html.contains(secret) && !shown.to_string().contains(secret));
    }
    for title in ["Canais", "Últimos erros e alertas", "Configuração em vigor", "Disco"] {
        assert!(html.contains(title), "{title}");
    }
}

#[test]
fn a_channel_is_really_asked_noted_and_not_asked_again_at_once() {
    let world = World::start();
    let mail = Greeter::start("235 welcome");
    let site = Site::builder()
        .unlimited()
        .world(&world)
        .config("email.smtp_url", format!("smtp://escola:senha-do-correio@{}", mail.address))
        .config("email.from", "Escola <escola@example.com>")
        .config("telegram.bot_token", "123:errado")
        .config("telegram.api_base", "http://127.0.0.1:9")
        .start();
    site.keep_secret("mail password", "senha-do-correio");
    let admin = site.administrator();
    let test = |channel: &str| admin.post(&format!("{PAGE}/canais/{channel}/testar"), &json!({}));
    for (channel, state) in [
        ("email", "Em ordem"),
        ("marketplace", "Em ordem"),
        ("checkout", "Em ordem"),
        ("telegram", "Com falha"),
        ("chat", "Desligado"),
        ("push", "Desligado"),
    ] {
        let told = test(channel).expect(200).json();
        assert_eq!(told["situacao"], state, "{told:#}");
        assert_ne!(told["mensagem"], "");
    }
    assert!(mail.commands().contains(&"AUTH".to_owned()), "it signed in");
    let again = test("email").expect(429);
    assert_eq!(again.header("retry-after"), Some("10"));
    test("fax").expect(404);
    let shown = list(&admin, PAGE);
    let email = &shown["canais"][0];
    assert_eq!((&email["canal"], &email["situacao"]), (&json!("email"), &json!("Em ordem")));
    assert_eq!(email["testado_em"], "2026-11-20 09:00:00");
    let noted = site.stored(
        "SELECT object_id || ' ' || (after ->> 'resultado') FROM audit
         WHERE action = 'canal.testar' ORDER BY audit_id",
    );
    assert_eq!(noted.len(), 6, "{noted:?}");
    assert_eq!(noted[0], "email Em ordem");
    assert_eq!(world.messages(), [json!(null); 0], "nothing was sent");
    // The button of the page leads back to it, where the result stands.
    let pressed =
        admin.send(Request::new("POST", &format!("{PAGE}/canais/email/testar")).form(&[]));
    assert_eq!(pressed.expect(303).header("location"), Some(PAGE));
    let html = page(&admin, PAGE).expect(200).text();
    assert!(html.contains("Respondeu e nos aceita."), "{html}");
    assert!(html.contains("Este canal acabou de ser testado"));
}

/// All that is known of a request.
fn follow(admin: &Actor<'_>, id: &str) -> Value {
    list(admin, &format!("{FOLLOW}?pedido={id}"))
}

#[test]
fn a_request_is_followed_through_messages_calls_errors_and_audit() {
    let postman = Postman::start();
    let site = Site::builder()
        .unlimited()
        .config("cron.enabled", true)
        .config("email.smtp_url", format!("smtp://{}", postman.address))
        .config("email.from", "Escola <escola@example.com>")
        .start();
    let admin = site.administrator();
    postman.answers(|_| "550 no such mailbox: ana@example.com");
    let id = "um-pedido-que-se-segue";
    let new = json!({ "nome": "Ana Souza", "email": "ana@example.com" });
    site.key(&["write"])
        .send(Request::new("POST", "/api/v1/alunos/criar").header("x-request-id", id).json(&new))
        .expect(201);
    let found = until("the message was tried", PATIENCE, || {
        let found = follow(&admin, id);
        let is_done = found["erros"].as_array().is_some_and(|errors| !errors.is_empty());
        (is_done && found["chamadas"][0]["servico"] == "email").then_some(found)
    });
    let of = |kind: &str| found[kind].as_array().unwrap();
    assert_eq!(of("requisicoes").len(), 1, "{found:#}");
    assert_eq!(found["requisicoes"][0]["caminho"], "/api/v1/alunos/criar");
    assert_eq!(found["requisicoes"][0]["status"], 201);
    assert_eq!(of("mensagens").len(), 1, "{found:#}");
    assert_eq!(
        (&found["mensagens"][0]["canal"], &found["mensagens"][0]["tipo"]),
        (&json!("email"), &json!("boas_vindas"))
    );
    assert_eq!(of("auditoria").len(), 1, "{found:#}");
    assert_eq!(found["auditoria"][0]["acao"], "aluno.criar");
    let call = &found["chamadas"][0];
    assert_eq!((&call["chamada"], &call["status"]), (&json!("boas_vindas"), &json!(null)));
    assert!(call["erro"].as_str().unwrap().contains("550"), "{found:#}");
    // What a service says of a person's address is kept without it.
    assert!(!found["chamadas"].to_string().contains("ana@example.com"), "{found:#}");
    assert!(!found["erros"].to_string().contains("ana@example.com"), "{found:#}");
    // The same on the entry of the log, on the page, and among the last errors.
    let entry = found["requisicoes"][0]["id"].as_str().unwrap();
    let html = page(&admin, &format!("/admin/requisicoes/{entry}")).expect(200).text();
    assert!(html.contains("boas_vindas") && html.contains("550"), "{html}");
    let html = page(&admin, &format!("{FOLLOW}?pedido={id}")).expect(200).text();
    assert!(html.contains("POST /api/v1/alunos/criar") && html.contains("Criar aluno"), "{html}");
    let shown = list(&admin, PAGE);
    let errors = shown["erros"].as_array().unwrap();
    assert!(
        errors.iter().any(|error| error["pedido"] == id && error["causa"] != ""),
        "{errors:#?}"
    );
    // Another id knows nothing, and what the service does by itself belongs to no request.
    let nothing = follow(&admin, "um-pedido-que-se");
    for kind in ["requisicoes", "chamadas", "mensagens", "erros", "auditoria"] {
        assert_eq!(nothing[kind], json!([]), "{kind}");
    }
    let long = page(&admin, &format!("{FOLLOW}?pedido={}", "x".repeat(200))).expect(200).text();
    assert!(long.contains("até 128 letras"));
    for stranger in [site.person("bia"), site.anonymous()] {
        let refused = stranger.get(&format!("{FOLLOW}?pedido={id}")).status;
        assert!([303, 401, 403].contains(&refused), "{refused}");
    }
}

#[test]
fn calls_to_the_marketplace_carry_the_request_that_made_them() {
    const LOJA: u64 = 900_000_001;
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    let site = Site::builder().unlimited().world(&world).start();
    let (admin, ana) = (site.administrator(), site.person("ana"));
    world.link(&ana, LOJA);
    let caused = until("the calls were noted", PATIENCE, || {
        let seen = site.stored(
            "SELECT what || ' ' || status || ' ' || request_id FROM outside_call
             WHERE service = 'marketplace' ORDER BY call_id",
        );
        (!seen.is_empty()).then_some(seen)
    });
    let (what, id) = caused[0].rsplit_once(' ').unwrap();
    assert_eq!(what, "POST /oauth/token 200", "{caused:?}");
    let found = follow(&admin, id);
    assert_eq!(found["chamadas"][0]["servico"], "marketplace", "{found:#}");
    assert_eq!(found["requisicoes"][0]["metodo"], "GET", "{found:#}");
}

#[test]
fn slow_requests_come_first_by_an_index() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    site.stop();
    let database =
        Database::open_with_flags(site.database(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    for (number, us) in [(1, 99_999), (2, 100_000), (3, 7_000_000), (4, 20), (5, 350_000)] {
        let sql = "INSERT INTO request_log (entry_id, at, request_id, method, path, status, us,
                                            caller, caller_id, address, sampled)
                   VALUES (?1, 1, 'r', 'GET', '/lento/' || ?1, 200 + 300 * (?1 = 5), ?2, '', NULL, '', 1)";
        database.execute(sql, (number, us)).unwrap();
    }
    let plan = "EXPLAIN QUERY PLAN SELECT entry_id FROM request_log INDEXED BY request_log_slow
                WHERE us >= 100000 ORDER BY us DESC, entry_id DESC LIMIT 5";
    let plan: String = database.query_row(plan, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("request_log_slow"), "{plan}");
    drop(database);
    site.start_again();
    let admin_again = site.administrator();
    let shown = |query: &str| {
        let listed = list(&admin_again, &format!("/admin/requisicoes?q=/lento/&{query}"));
        let rows = listed["dados"].as_array().unwrap().iter();
        let paths: Vec<String> = rows
            .map(|row| row["caminho"].as_str().unwrap().trim_start_matches("/lento/").to_owned())
            .collect();
        (paths.join(" "), listed["total"].as_u64().unwrap())
    };
    assert_eq!(shown(""), ("5 4 3 2 1".to_owned(), 5));
    assert_eq!(shown("ordem=-duracao"), ("3 5 2 4 1".to_owned(), 5));
    assert_eq!(shown("ordem=-duracao&por_pagina=2&pagina=2"), ("2 4".to_owned(), 5));
    assert_eq!(shown("ordem=-duracao&por_pagina=2&pagina=3"), ("1".to_owned(), 5));
    assert_eq!(shown("duracao=lentas"), ("3 5 2".to_owned(), 3));
    assert_eq!(shown("duracao=lentas&resposta=5xx"), ("5".to_owned(), 1));
    let all = list(&admin_again, "/admin/requisicoes?ordem=-duracao&por_pagina=100");
    assert_eq!(all["dados"].as_array().unwrap().len() as u64, all["total"].as_u64().unwrap());
    drop(admin);
}

/// The value of a figure with its labels.
fn figure(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}\n{text}")).parse().unwrap()
}

#[test]
fn figures_tell_rate_errors_durations_queues_and_disks() {
    let site = Site::builder().unlimited().start();
    let keeper = site.key(&["admin"]);
    let seller = site.seller("ana").plan("starter");
    seller.get("/v1/partner/health").expect(200);
    seller.get("/v1/partner/orders?limit=x").expect(400);
    site.administrator().get(PAGE).expect(200);
    let new =
        json!({ "nome": "Bia Lima", "email": "bia@example.com", "chat_number": "5511987654321" });
    keeper.post("/api/v1/alunos/criar", &new).expect(201);
    site.clock().advance_s(90);
    let text = keeper.get("/metrics").expect(200).text();
    let name = "seller_platform_request_duration_seconds";
    for (surface, count) in [("partner", 2.0), ("mcp", 0.0), ("integration", 1.0)] {
        for end in [
            format!("_count{{surface=\"{surface}\"}}"),
            format!("_bucket{{surface=\"{surface}\",le=\"+Inf\"}}"),
        ] {
            let found = figure(&text, &format!("{name}{end}"));
            assert!((found - count).abs() < 0.5, "{surface}: {found}");
        }
    }
    assert!(figure(&text, &format!("{name}_sum{{surface=\"partner\"}}")) > 0.0);
    assert!(figure(&text, &format!("{name}_count{{surface=\"panel\"}}")) >= 2.0);
    let errors = "seller_platform_request_errors_total";
    let refused = figure(&text, &format!("{errors}{{surface=\"partner\",kind=\"refused\"}}"));
    assert!((refused - 1.0).abs() < 0.5);
    let age = figure(&text, "seller_platform_queue_oldest_seconds{queue=\"outbox\"}");
    assert!((age - 90.0).abs() < 1.5, "the welcome message waits for a channel: {age}");
    assert!(figure(&text, "seller_platform_queue_length{queue=\"outbox\"}") > 0.5);
    assert!(figure(&text, "seller_platform_disk_free_bytes{folder=\"database\"}") > 0.0);
    assert!(figure(&text, "seller_platform_lane_requests{lane=\"slow\",state=\"running\"}") >= 0.0);
}

/// Names of our figures in a text.
fn names_in(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c));
    let ours = ["seller_platform_", "process_"];
    words
        .filter(|word| ours.iter().any(|begin| word.starts_with(begin)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn dashboard_and_alerts_name_figures_that_exist() {
    let site = Site::builder()
        .config("replica.url", "file:///nowhere/replica")
        .config("replica.litestream", "/nowhere/litestream")
        .config("server.https_listen", "127.0.0.1:0")
        .config("server.tls_cert", "/nowhere/chain.pem")
        .start();
    site.expect_in_log("no certificate; plain HTTP is served");
    let sent = site.key(&["admin"]).get("/metrics").expect(200).text();
    let lines = sent.lines().filter(|line| !line.starts_with('#'));
    let exist: BTreeSet<String> =
        lines.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()).collect();
    let dashboard = include_str!("../../../docs/grafana.json");
    let parsed: Value = serde_json::from_str(dashboard).unwrap();
    assert!(parsed["panels"].as_array().unwrap().len() >= 8);
    let alerts = include_str!("../../../docs/alerts.yml");
    assert!(alerts.matches("- alert: ").count() >= 8);
    for (what, text) in [("grafana.json", dashboard), ("alerts.yml", alerts)] {
        let named = names_in(text);
        assert!(named.len() >= 8, "{what}: {named:?}");
        let missing: Vec<_> = named.difference(&exist).collect();
        assert!(missing.is_empty(), "{what} names {missing:?}");
    }
    // Labels, too: what an expression selects is sent.
    for part in alerts.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        for label in part.split(',').filter(|label| label.contains("=\"")) {
            assert!(sent.contains(label.trim()), "{label}");
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one bundle, looked at from each side")]
fn a_bundle_has_what_a_helper_needs_and_no_secret_and_no_person() {
    let postman = Postman::start();
    let site = Site::builder()
        .unlimited()
        .config("cron.enabled", true)
        .config("email.smtp_url", format!("smtp://{}", postman.address))
        .config("email.from", "Escola <direcao@escola.example.com>")
        .config("push.subject", "mailto:contato@escola.example.com")
        .config("telegram.bot_token", "123456:um-segredo-do-telegram-bem-comprido")
        .config("telegram.api_base", "http://127.0.0.1:9")
        .start();
    postman.answers(|_| "550 no mailbox ana@example.com, call +5511987654321");
    let admin = site.administrator();
    let seller = site.seller("bia").plan("pro");
    let key = site.key(&["admin"]);
    let session = admin.get("/admin").expect(200);
    drop(session);
    admin.get("/nada/ana@example.com").expect(404);
    let new = json!({
        "nome": "Ana Souza", "email": "ana@example.com", "plano": "pro", "chat_number": "5511987654321",
    });
    admin.post("/admin/alunos", &new).expect(201);
    let caio = json!({ "nome": "Caio Reis", "email": "caio@example.com" });
    site.key(&["write"]).post("/api/v1/alunos/criar", &caio).expect(201);
    until("the error was noted", PATIENCE, || {
        let seen = site.stored("SELECT count(*) || '' FROM error_log WHERE cause LIKE '%550%'");
        (seen != ["0"]).then_some(())
    });
    let file = site.folder().join("para-ajuda.zip");
    let path = file.display().to_string();
    let printed = site.command(&["support-bundle", &path]).ok();
    let bytes = std::fs::read(&file).unwrap();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let files = unzipped(&bytes);
    let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "version.json",
            "settings.json",
            "check.json",
            "counts.json",
            "errors.json",
            "schema.json"
        ]
    );
    for name in names {
        assert!(printed.contains(name), "{printed}");
    }
    let parsed = |name: &str| -> Value {
        let (_, text) = files.iter().find(|(found, _)| found == name).unwrap();
        serde_json::from_str(text).unwrap()
    };
    assert_eq!(parsed("version.json")["server_runs"], true);
    let settings = parsed("settings.json");
    let setting = |key: &str| {
        settings.as_array().unwrap().iter().find(|one| one["key"] == key).expect(key).clone()
    };
    assert_eq!(setting("program.lap_days")["value"], "30");
    assert_eq!(setting("cron.secret")["value"], "\"***\"");
    assert!(setting("email.from")["origin"].as_str().unwrap().contains("seller-platform.toml:"));
    let checked = parsed("check.json");
    assert!(checked["findings"].as_array().unwrap().iter().any(|one| one["what"] == "integrity"));
    assert_eq!(parsed("counts.json")["user"], 4, "{:#}", parsed("counts.json"));
    assert_eq!(parsed("schema.json")["is_as_new"], true, "{:#}", parsed("schema.json"));
    let errors = parsed("errors.json");
    let causes = errors["log"].as_array().unwrap().iter().map(|error| &error["cause"]);
    let mut causes = causes.filter_map(Value::as_str);
    assert!(causes.any(|cause| cause.contains("no mailbox ***, call ***")), "{errors:#}");
    let all: String = files.iter().map(|(_, text)| &**text).collect();
    for secret in site.secrets() {
        assert!(!all.contains(&secret.text), "{} in the bundle", secret.what);
    }
    for private in [
        "um-segredo-do-telegram",
        "ana@example.com",
        "bia@example.com",
        "@escola.example.com",
        "@example.com",
        "5511987654321",
        "Ana Souza",
        "Caio Reis",
        "ptk_",
        "spk_",
        CRON_SECRET,
        CHECKOUT_TOKEN,
    ] {
        assert!(!all.contains(private), "{private} in the bundle");
    }
    // None is replaced, and without a database there is still something to see.
    let again = site.command(&["support-bundle", &path]).exits(1);
    assert!(again.stderr.contains("cannot write"), "{}", again.stderr);
    let elsewhere = site.folder().join("outra.zip").display().to_string();
    let missing = site.folder().join("nada.db").display().to_string();
    site.command(&["--db", &missing, "support-bundle", &elsewhere]).ok();
    let files = unzipped(&std::fs::read(&elsewhere).unwrap());
    let counts: Value = serde_json::from_str(&files[3].1).unwrap();
    assert_ne!(counts["error"], json!(null));
    drop((seller, key));
}
