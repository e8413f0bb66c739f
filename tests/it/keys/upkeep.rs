//! What a key of the operator allows: copies of the live database, and metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine as _;
use rusqlite::{Connection as Database, OpenFlags};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::client::{Connection, Reply, Request};
use crate::support::site::{PROPAGATION, Site};
use crate::support::wait::until;

const BACKUP: &str = "/api/v1/admin/backup";
const METRICS: &str = "/metrics";

/// Names of the files beside the database, without its own and the key's.
fn files_beside(site: &Site) -> Vec<String> {
    let names = std::fs::read_dir(site.folder().join("data")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".sent")).collect()
}

/// Makes the database too large for the buffers of a connection.
fn make_large(site: &Site) {
    site.stop();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let database = Database::open_with_flags(site.database(), flags).unwrap();
    for number in 0..4 {
        let filler =
            "INSERT INTO setting (name, value, updated_at) VALUES (?1, randomblob(3000000), 0)";
        database.execute(filler, [format!("filler {number}")]).unwrap();
    }
    let folded = "PRAGMA wal_checkpoint(TRUNCATE)";
    database.query_row(folded, [], |_| Ok(())).unwrap();
    drop(database);
    site.start_again();
}

#[test]
fn a_copy_of_the_live_database_restores() {
    let site = Site::builder().unlimited().start();
    let ana = site.extension("ana");
    let keeper = site.key(&["admin"]);
    let reply = keeper.get(BACKUP).expect(200);
    let header = |name: &str| reply.header(name).unwrap_or_default();
    assert_eq!(header("content-type"), "application/vnd.sqlite3");
    assert_eq!(header("content-length"), reply.body.len().to_string());
    assert_eq!(
        header("content-disposition"),
        "attachment; filename=\"seller-platform-2026-11-20T120000Z.db\""
    );
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(&reply.body));
    assert_eq!(header("repr-digest"), format!("sha-256=:{digest}:"));
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(files_beside(&site), Vec::<String>::new());
    let rui = site.extension("rui");
    rui.get("/api/ext/me").expect(200);

    let copy = site.folder().join("copia.db");
    std::fs::write(&copy, &reply.body).unwrap();
    site.stop();
    site.command(&["restore", &copy.display().to_string()]).ok();
    // The check fails only because the tests have no marketplace.
    let checked = site.command(&["check"]).exits(1).stdout;
    assert!(checked.contains("no damage found"), "{checked}");
    for entry in std::fs::read_dir(site.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("before-restore") {
            std::fs::remove_file(path).unwrap();
        }
    }
    site.start_again();
    ana.get("/api/ext/me").expect(200);
    rui.get("/api/ext/me").expect(401);
    keeper.get(BACKUP).expect(200);
    let audit = "SELECT actor_kind || ' ' || actor_name || ' ' || action FROM audit WHERE object_kind = 'backup'";
    assert_eq!(site.stored(audit), ["chave CRM backup.baixar"]);
}

#[test]
fn copies_under_writes_are_whole() {
    let site = Site::builder().unlimited().start();
    let (keeper, crm) = (site.key(&["admin"]), site.key(&["write"]));
    let email = json!({ "email": "ana@example.com" });
    crm.post("/api/v1/alunos/criar", &json!({ "nome": "Ana Souza", "email": "ana@example.com" }))
        .expect(201);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for _ in 0..100 {
                crm.post("/api/v1/alunos/suspender", &email).ok();
                crm.post("/api/v1/alunos/reativar", &email).ok();
            }
        });
        let mut copies = 0;
        while !writing.is_finished() || copies == 0 {
            let reply = keeper.get(BACKUP).expect(200);
            let file = site.folder().join("copia.db");
            std::fs::write(&file, &reply.body).unwrap();
            let copy = Database::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            let text = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            assert_eq!(text("PRAGMA integrity_check"), "ok");
            // The person and the audit log are from the same moment.
            let agrees = "SELECT CASE WHEN (SELECT suspended_at IS NOT NULL FROM user WHERE email = 'ana@example.com')
                        = (SELECT action = 'aluno.suspender' FROM audit
                           WHERE action LIKE 'aluno.%' ORDER BY audit_id DESC LIMIT 1)
                    THEN 'yes' ELSE 'no' END";
            assert_eq!(text(agrees), "yes");
            copies += 1;
        }
    });
}

#[test]
fn one_copy_at_a_time_and_nothing_left_when_the_caller_goes_away() {
    let site = Site::builder().unlimited().start();
    let keeper = site.key(&["admin"]);
    make_large(&site);
    let whole = keeper.get(BACKUP).expect(200);
    assert!(whole.body.len() > 12_000_000);
    let key = keeper.bearer_token().to_owned();
    let ask = format!(
        "GET {BACKUP} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
        site.address()
    );
    for _ in 0..2 {
        let mut stalled = Connection::open(site.address()).unwrap();
        stalled.write(ask.as_bytes());
        // The head was read, and most of the body was not.
        let head = stalled.read_head_only().unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert_eq!(files_beside(&site), Vec::<String>::new(), "the copy has no name");
        let busy = keeper.get(BACKUP).expect(503);
        assert_eq!((busy.code().as_str(), busy.header("retry-after")), ("unavailable", Some("30")));
        drop(stalled);
        until("the copy is given up", Duration::from_mins(1), || {
            let reply = keeper.get(BACKUP);
            (reply.status == 200).then_some(())
        });
    }
    // A stop does not wait for a caller that reads nothing.
    let mut stalled = Connection::open(site.address()).unwrap();
    stalled.write(ask.as_bytes());
    stalled.read_head_only().unwrap();
    site.kill();
    std::fs::write(site.folder().join("data/seller-platform.db.sent.partial"), "half").unwrap();
    site.start_again();
    assert_eq!(files_beside(&site), Vec::<String>::new());
    keeper.get(BACKUP).expect(200);
}

#[test]
fn copies_and_figures_are_for_the_scope_admin_alone() {
    let site = Site::builder().unlimited().start();
    let others = [site.key(&["write"]), site.key(&["webhook_receive"])];
    for path in [BACKUP, METRICS] {
        for other in &others {
            let refused = other.get(path).expect(403);
            assert_eq!(refused.code(), "insufficient_scope");
        }
        for stranger in [site.anonymous(), site.administrator(), site.extension("ana")] {
            assert_eq!(stranger.get(path).expect(401).code(), "unauthorized");
        }
    }
    let keeper = site.key(&["admin"]);
    for method in ["HEAD", "POST"] {
        let refused = keeper.send(Request::new(method, BACKUP)).expect(405);
        assert_eq!(refused.header("allow"), Some("GET, OPTIONS"), "{refused}");
    }
    keeper.send(Request::new("HEAD", METRICS)).expect(200);
    let audit = "SELECT count(*) || '' FROM audit WHERE object_kind = 'backup'";
    assert_eq!(site.stored(audit), ["0"]);
}

/// Every figure by name and labels, each declared before its first value.
#[track_caller]
fn figures(reply: &Reply) -> BTreeMap<String, f64> {
    let kind = reply.header("content-type").unwrap_or_default();
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    let text = reply.text();
    assert!(text.ends_with('\n'), "{reply}");
    let mut helped = "";
    let mut declared = "";
    let mut figures = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.'), "{line}");
            helped = name;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(name == helped && ["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            declared = name;
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let family = name.split('{').next().unwrap();
            // A histogram has three kinds of values.
            let ends = ["", "_bucket", "_sum", "_count"];
            assert!(ends.iter().any(|end| family.strip_suffix(end) == Some(declared)), "{line}");
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(figures.insert(name.to_owned(), value).is_none(), "{line} stands twice");
        }
    }
    figures
}

#[test]
fn figures_tell_what_happened() {
    let site = Site::builder().unlimited().start();
    let keeper = site.key(&["admin"]);
    let before = figures(&keeper.get(METRICS).expect(200));
    let nobody = site.anonymous();
    for _ in 0..3 {
        nobody.get("/api/v1/planos").ok();
    }
    nobody.get("/nada").expect(404);
    nobody.post("/ml/notificacoes", &json!({})).expect(401);
    let new =
        json!({ "nome": "Ana Souza", "email": "ana@example.com", "chat_number": "5511987654321" });
    keeper.post("/api/v1/alunos/criar", &new).expect(201);
    site.clock().advance_s(90);
    let after = figures(&keeper.get(METRICS).expect(200));
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let grown = |name: &str| after[name] - before[name];
    let answers = |group: &str, class: &str| {
        grown(&format!("seller_platform_requests_total{{group=\"{group}\",status=\"{class}\"}}"))
    };
    for (group, class, count) in [
        ("public", "2xx", 3.0),
        ("unknown", "4xx", 1.0),
        ("webhooks", "4xx", 1.0),
        ("integration", "2xx", 1.0),
        // The first request was counted after its answer.
        ("operations", "2xx", 1.0),
        ("extension", "2xx", 0.0),
    ] {
        assert!(
            (answers(group, class) - count).abs() < 0.5,
            "{group} {class}: {}",
            answers(group, class)
        );
    }
    for (name, growth) in [
        ("seller_platform_refused_signatures_total", 1.0),
        ("seller_platform_outbox_waiting", 1.0),
        ("seller_platform_uptime_seconds", 90.0),
        ("process_start_time_seconds", 0.0),
    ] {
        assert!((grown(name) - growth).abs() < 0.5, "{name}: {}", grown(name));
    }
    for name in ["seller_platform_database_bytes", "seller_platform_memory_anon_bytes"] {
        assert!(after[name] > 100_000.0, "{name}: {}", after[name]);
    }
    // A rejected signature is counted once, also when the counter is stored
    // meanwhile.
    let refused = "seller_platform_refused_signatures_total";
    until("the counter is written", PROPAGATION, || {
        let stored =
            site.stored("SELECT count || '' FROM daily_count WHERE name = 'refused_signatures'");
        (stored == ["1"]).then_some(())
    });
    let later = figures(&keeper.get(METRICS).expect(200));
    assert!((later[refused] - after[refused]).abs() < 0.5);
}

#[test]
fn every_figure_stands_in_the_operations_guide() {
    let elsewhere = tempfile::tempdir().unwrap();
    let site = Site::builder()
        .config("replica.url", format!("file://{}", elsewhere.path().display()))
        .config("replica.litestream", "/nowhere/litestream")
        .config("server.https_listen", "127.0.0.1:0")
        .config("server.tls_cert", "/nowhere/chain.pem")
        .start();
    site.expect_in_log("no certificate; plain HTTP is served");
    let sent = site.key(&["admin"]).get(METRICS).expect(200).text();
    let begun = sent.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let sent: BTreeSet<&str> = begun.filter_map(|line| line.split(' ').next()).collect();
    let guide = include_str!("../../../docs/operations.md");
    let (_, figures) = guide.split_once("| figure | meaning |\n|---|---|\n").unwrap();
    let rows = figures.lines().take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`'));
    let described: BTreeSet<&str> = names.filter(|name| name.contains('_')).collect();
    assert_eq!(sent, described);
}
