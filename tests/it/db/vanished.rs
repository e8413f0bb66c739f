//! Files that go away under the running server, and a log that was removed after
//! a crash.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::actors::signed_notification;
use crate::support::site::Site;
use crate::support::wait::until;

/// It takes a second; the rest is for slow machines.
const NOTICED: Duration = Duration::from_secs(10);

fn beside(site: &Site, end: &str) -> PathBuf {
    site.database().with_extension(format!("db{end}"))
}

fn write(site: &Site, number: u64) -> u16 {
    let resource = format!("/orders/{}", 2_000_000_000_000 + number);
    let id = format!("00000000-0000-4000-8000-{number:012}");
    let ts = site.clock().now().as_second();
    site.anonymous().send(signed_notification(&resource, "orders_v2", 77, &id, ts)).status
}

fn stored(site: &Site) -> Vec<String> {
    site.stored("SELECT resource FROM ml_notification ORDER BY 1")
}

/// The reason in readiness, once it has fallen.
fn reason(site: &Site) -> (String, String) {
    let client = site.anonymous();
    until("readiness falls", NOTICED, || {
        let probe = client.get("/readyz");
        (probe.status == 503).then(|| {
            let told = probe.json();
            let text = |name: &str| told[name].as_str().unwrap().to_owned();
            (text("database"), text("message"))
        })
    })
}

fn site() -> Site {
    let site = Site::builder().unlimited().start();
    for error in ["nothing is written", "cannot close the database cleanly", "answered writes"] {
        site.expect_in_log_if_any(error);
    }
    assert_eq!(write(&site, 1), 200);
    site
}

/// Writes at once until one is refused: what was answered must be there later.
fn answered_until_refused(site: &Site) -> u64 {
    let refused = (2..1_000_000).find(|number| write(site, *number) != 200);
    refused.map_or(0, |number| number - 1)
}

#[test]
fn without_its_log_the_server_answers_no_write_and_loses_none() {
    let site = site();
    let key = site.key(&["admin"]);
    let administrator = site.administrator();
    std::fs::remove_file(beside(&site, "-wal")).unwrap();
    // The first commit after it must not be answered.
    assert_eq!(answered_until_refused(&site), 1);
    let (word, said) = reason(&site);
    assert_eq!(word, "log gone");
    assert!(said.contains("write-ahead log"), "{said}");
    let figures = key.get("/metrics").expect(200).text();
    assert!(figures.contains("seller_platform_database_file_gone{file=\"log\"} 1\n"), "{figures}");
    let home = administrator.get("/admin").expect(200).text();
    assert!(home.contains("O log de escrita foi removido ou trocado"), "{home}");
    let check = site.command(&["check"]).exits(1).stdout;
    assert!(check.contains("write-ahead log"), "{check}");
    let status = site.anonymous().get("/status").expect(200).text();
    assert!(status.contains("nada é gravado"), "{status}");
    site.wait_for_log("was moved into the database", NOTICED);
    // It does not end as if nothing had been.
    assert_eq!(site.stop_with_any_status(), Some(1));
    site.start_again();
    site.anonymous().get("/readyz").expect(200);
    assert!(stored(&site).contains(&"/orders/2000000000001".to_owned()));
    assert_eq!(write(&site, 90), 200);
}

#[test]
fn without_its_database_the_server_answers_no_write_and_makes_no_other() {
    let site = site();
    let aside = site.folder().join("aside.db");
    std::fs::rename(site.database(), &aside).unwrap();
    assert_eq!(answered_until_refused(&site), 1);
    assert_eq!(reason(&site).0, "file gone");
    assert_eq!(site.stop_with_any_status(), Some(1));
    let refused = site.command(&["serve", "--listen", "127.0.0.1:0"]).exits(1).stderr;
    assert!(refused.contains("is gone") && refused.contains("restore"), "{refused}");
    std::fs::rename(&aside, site.database()).unwrap();
    site.start_again();
    assert!(stored(&site).contains(&"/orders/2000000000001".to_owned()));
}

#[test]
fn a_database_put_in_the_place_of_the_open_one_is_not_written() {
    let site = site();
    let copy = site.folder().join("copy.db");
    site.command(&["backup", &copy.display().to_string()]).ok();
    assert_eq!(write(&site, 2), 200);
    let before = std::fs::read(&copy).unwrap();
    std::fs::rename(&copy, site.database()).unwrap();
    assert_eq!(write(&site, 3), 503);
    assert_eq!(reason(&site).0, "file gone");
    assert_eq!(site.stop_with_any_status(), Some(1));
    assert!(std::fs::read(site.database()).unwrap() == before, "the copy was changed");
    site.start_again();
    // It has not what was answered after it was made.
    let warning = site.anonymous().get("/readyz").expect(200).json();
    assert!(warning["warning"].as_str().unwrap().contains("answered writes may be missing"));
    assert_eq!(stored(&site), ["/orders/2000000000001"]);
    std::fs::remove_file(beside(&site, ".missing")).unwrap();
    remove_beside(&site, ".of-replaced");
}

fn remove_beside(site: &Site, end: &str) {
    for entry in std::fs::read_dir(site.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with(end) {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn a_removed_lock_lets_no_second_server_in() {
    let site = site();
    std::fs::remove_file(beside(&site, ".lock")).unwrap();
    let second = site.command(&["serve", "--listen", "127.0.0.1:0"]).exits(1).stderr;
    assert!(second.contains("in use by another server"), "{second}");
    let copy = site.folder().join("copy.db").display().to_string();
    site.command(&["backup", &copy]).ok();
    site.command(&["restore", &copy]).exits(1);
    assert_eq!(reason(&site).0, "lock gone");
    assert_eq!(write(&site, 2), 503);
    let check = site.command(&["check"]).exits(1).stdout;
    assert!(check.contains("lock file"), "{check}");
    site.stop();
    site.start_again();
    assert_eq!(write(&site, 3), 200);
}

#[test]
fn a_removed_key_is_told_at_once_and_all_is_well_when_it_is_back() {
    let site = site();
    let aside = site.folder().join("key");
    std::fs::rename(beside(&site, ".key"), &aside).unwrap();
    let (word, said) = reason(&site);
    assert_eq!(word, "key gone");
    assert!(said.contains("put it back"), "{said}");
    assert_eq!(write(&site, 2), 503);
    std::fs::write(beside(&site, ".key"), "ab".repeat(32)).unwrap();
    assert_eq!(reason(&site).0, "key gone", "another key is no key");
    std::fs::rename(&aside, beside(&site, ".key")).unwrap();
    until("it is ready again", NOTICED, || {
        (site.anonymous().get("/readyz").status == 200).then_some(())
    });
    assert_eq!(write(&site, 3), 200);
}

#[test]
fn a_log_removed_after_a_crash_is_told_with_the_copy_to_compare_with() {
    let site = site();
    let administrator = site.administrator();
    let copy = site.database().with_file_name("copia.db").display().to_string();
    site.command(&["backup", &copy]).ok();
    for number in 2..6 {
        assert_eq!(write(&site, number), 200);
    }
    site.kill();
    for end in ["-wal", "-shm", ".lock"] {
        std::fs::remove_file(beside(&site, end)).unwrap();
    }
    site.start_again();
    let told = until("the copy is named", NOTICED, || {
        let warning = site.anonymous().get("/readyz").expect(200).json()["warning"].take();
        warning.as_str().filter(|said| said.contains("copia.db")).map(str::to_owned)
    });
    assert!(told.contains("answered writes may be missing"), "{told}");
    let home = administrator
        .send(crate::support::client::Request::new("GET", "/admin").header("Accept", "text/html"));
    // The session may be among what is missing.
    if home.status == 200 {
        assert!(home.text().contains("Gravações já confirmadas podem faltar"), "{home}");
    }
    let check = site.command(&["check"]).exits(1).stdout;
    assert!(
        check.contains("answered writes may be missing") && check.contains("copia.db"),
        "{check}"
    );
    assert_eq!(write(&site, 9), 200);
    // After the operator has compared.
    std::fs::remove_file(beside(&site, ".missing")).unwrap();
    until("the warning ends", NOTICED, || {
        site.anonymous().get("/readyz").ok().get("warning").is_none().then_some(())
    });
    remove_beside(&site, "copia.db");
}

#[test]
fn a_log_that_others_moved_into_the_file_after_a_crash_is_not_missed() {
    let site = site();
    for number in 2..6 {
        assert_eq!(write(&site, number), 200);
    }
    site.kill();
    // Whoever opens the file last and may write moves the log into it.
    let database =
        rusqlite::Connection::open_with_flags(site.database(), rusqlite::OpenFlags::default())
            .unwrap();
    let count: i64 =
        database.query_row("SELECT count(*) FROM ml_notification", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 5);
    drop(database);
    assert!(!beside(&site, "-wal").exists());
    site.start_again();
    assert!(site.anonymous().get("/readyz").ok().get("warning").is_none());
}
