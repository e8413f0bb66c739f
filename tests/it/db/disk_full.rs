//! A disk without space: writes are rejected, the probe says why, and both
//! recover without help.
//!
//! A limit on the size of files replaces the full disk: any machine can set
//! one, and for the database it is the same, a write that is cut off.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::wait::{pause, until};

/// The server checks each second; the rest is for slow machines.
const NOTICED: Duration = Duration::from_secs(10);
/// Less than the write-ahead log needs for one commit.
const NO_SPACE: u64 = 16;
/// What the log needs for a few pages: enough for the server's own notes, and
/// less than a file of products needs.
const FEW_PAGES: u64 = 24 * (4_096 + 24);
/// In this time the server tries a few writes of its own.
const TRIES: Duration = Duration::from_secs(4);

#[test]
fn a_full_disk_is_told_and_ends_by_itself() {
    let site = Site::builder().unlimited().start();
    site.expect_in_log("the database takes no writes");
    let (ana, key) = (site.person("ana"), site.key(&["admin"]));
    let product = |sku: &str| {
        let fields = [
            ("sku", sku),
            ("titulo", "Garrafa"),
            ("preco", "10"),
            ("custo", "5"),
            ("estoque", "1"),
        ];
        Request::new("POST", "/painel/produtos").header("Accept", "application/json").form(&fields)
    };
    ana.send(product("A-1")).expect(201);
    site.anonymous().get("/readyz").ok();

    site.limit_file_size(Some(NO_SPACE));
    let refused = ana.send(product("A-2")).expect(503);
    assert_eq!(refused.code(), "unavailable");
    assert!(refused.header("retry-after").is_some());
    let probe = site.anonymous().get("/readyz").expect(503);
    assert_eq!(probe.json()["database"], "full");
    assert!(probe.json()["message"].as_str().unwrap().contains("disk is full"));
    // Reading still works, and further requests do not hide the problem.
    ana.get("/painel/produtos").expect(200);
    site.anonymous().get("/healthz").ok();
    let figures = key.get("/metrics").expect(200).text();
    assert!(figures.contains("seller_platform_disk_full 1\n"), "{figures}");
    assert!(figures.contains("seller_platform_database_writable 0\n"), "{figures}");
    ana.send(product("A-2")).expect(503);
    site.anonymous().get("/readyz").expect(503);

    site.limit_file_size(None);
    until("there is space again", NOTICED, || {
        (site.anonymous().get("/readyz").status == 200).then_some(())
    });
    ana.send(product("A-2")).expect(201);
    let list = Request::new("GET", "/painel/produtos").header("Accept", "application/json");
    assert_eq!(ana.send(list).ok()["total"], json!(2), "what was refused is not there");
    assert!(site.log().contains("the database takes writes again"));
}

/// Small writes still succeed, and those of people do not.
#[test]
fn a_nearly_full_disk_is_not_told_to_be_well_in_between() {
    let site = Site::builder().unlimited().start();
    site.expect_in_log("the database takes no writes");
    let ana = site.person("ana");
    let rows: Vec<String> = (0..2_000).map(|row| format!("A-{row},Garrafa,10")).collect();
    let products = json!({ "csv": format!("sku,title,price\n{}", rows.join("\n")) });
    let send = || ana.post("/painel/produtos/importar", &products);
    let log = site.database().with_extension("db-wal");
    let written = std::fs::metadata(log).map_or(0, |log| log.len());
    site.limit_file_size(Some(written + FEW_PAGES));
    send().expect(503);
    let refused = Instant::now();
    while refused.elapsed() < TRIES {
        site.anonymous().get("/readyz").expect(503);
        pause(Duration::from_millis(20));
    }
    send().expect(503);
    site.limit_file_size(None);
    until("there is space again", NOTICED, || {
        (site.anonymous().get("/readyz").status == 200).then_some(())
    });
    send().expect(200);
}

#[test]
fn an_idle_server_notices_when_it_is_asked() {
    let site = Site::start();
    site.expect_in_log("the database takes no writes");
    site.anonymous().get("/readyz").ok();
    site.limit_file_size(Some(NO_SPACE));
    let probe = || site.anonymous().get("/readyz").status;
    until("the full disk is noticed", NOTICED, || (probe() == 503).then_some(()));
    // A kill in this state loses nothing.
    site.kill();
    site.start_again();
    assert_eq!(probe(), 200);
}
