//! `check` of what an installation needs over time: each trouble has a line that
//! says what to do, and what is wrong with it ends with 1.

use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::support::process::run;
use crate::support::site::{Builder, Site};

const DAY: Duration = Duration::from_hours(24);

/// A site without services outside, of which `check` finds nothing bad.
fn quiet() -> Builder {
    Site::builder().config("marketplace.client_id", "")
}

/// Exit code, and the lines about `what` as verdict and text.
#[track_caller]
fn told(site: &Site, what: &str) -> (Option<i32>, Vec<(String, String)>) {
    let outcome = site.command(&["check", "--json"]).run();
    let report: Value = serde_json::from_str(&outcome.stdout).expect(&outcome.stderr);
    let findings = report["findings"].as_array().unwrap();
    let lines = findings.iter().filter(|finding| finding["what"] == what).map(|finding| {
        let part = |name: &str| finding[name].as_str().unwrap().to_owned();
        (part("verdict"), part("text"))
    });
    (outcome.code, lines.collect())
}

/// The only line about something.
#[track_caller]
fn line(site: &Site, what: &str) -> (Option<i32>, String, String) {
    let (code, mut lines) = told(site, what);
    assert_eq!(lines.len(), 1, "{what}: {lines:?}");
    let (verdict, text) = lines.remove(0);
    (code, verdict, text)
}

/// Gives a file the age of some days.
fn age(file: &Path, days: u32) {
    let file = std::fs::File::options().append(true).open(file).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + since_1970() - DAY * days).unwrap();
}

/// The time of the system, by a file that is written now.
fn since_1970() -> Duration {
    let file = tempfile::NamedTempFile::new().unwrap();
    let at = file.as_file().metadata().unwrap().modified().unwrap();
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

#[test]
fn the_server_is_told_whether_it_runs_or_not() {
    let site = quiet().start();
    let (code, verdict, text) = line(&site, "server");
    assert_eq!((code, &*verdict), (Some(0), "ok"), "{text}");
    assert!(text.contains(&site.address().to_string()), "{text}");
    assert_eq!(site.command(&["healthcheck"]).ok().lines().count(), 1);
    site.stop();
    let (code, verdict, text) = line(&site, "server");
    assert_eq!((code, &*verdict), (Some(0), "note"), "{text}");
    assert!(text.contains("start"), "{text}");
    assert_eq!(site.command(&["healthcheck"]).exits(1).stdout.lines().count(), 1);
    site.start_again();
}

#[test]
fn a_copy_that_is_late_by_more_than_an_interval_fails() {
    let folder = tempfile::tempdir().unwrap();
    let site = quiet().config("database.backup_dir", folder.path().display().to_string()).start();
    let (code, verdict, text) = line(&site, "backups");
    assert_eq!((code, &*verdict), (Some(0), "note"), "one may still come: {text}");
    // A server would make the next one.
    site.stop();
    let copy = folder.path().join("copia.db");
    let make = || site.command(&["backup", "--force", &copy.display().to_string()]).ok();
    make();
    let (code, verdict, text) = line(&site, "backups");
    assert_eq!((code, &*verdict), (Some(0), "ok"), "{text}");
    assert!(text.contains("manifest"), "{text}");
    // By the time of the file, and by what its manifest says.
    age(&copy, 3);
    let late = |site: &Site| {
        let (code, verdict, text) = line(site, "backups");
        assert_eq!((code, &*verdict), (Some(1), "fail"), "{text}");
        assert!(
            text.contains("overdue") && text.contains("3 d") && text.contains("backup"),
            "{text}"
        );
    };
    late(&site);
    make();
    assert_eq!(line(&site, "backups").0, Some(0));
    site.clock().advance_s(3 * 86_400);
    late(&site);
    make();
    assert_eq!(line(&site, "backups").0, Some(0));
    // Another byte is not what was checked when the copy was made.
    let mut bytes = std::fs::read(&copy).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&copy, bytes).unwrap();
    let (code, _, text) = line(&site, "backups");
    assert!(code == Some(1) && text.contains("SHA-256"), "{text}");
    site.start_again();
    // Nothing is due.
    let site = quiet()
        .config("database.backup_dir", folder.path().display().to_string())
        .config("database.backup_every_h", 0)
        .start();
    std::fs::remove_file(&copy).unwrap();
    std::fs::remove_file(copy.with_extension("db.json")).unwrap();
    site.clock().advance_s(30 * 86_400);
    let (code, verdict, text) = line(&site, "backups");
    assert_eq!((code, &*verdict), (Some(0), "note"), "{text}");
}

#[test]
fn a_copy_that_never_came_fails_after_two_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let site = quiet().config("database.backup_dir", folder.path().display().to_string()).start();
    // A server would make one.
    site.stop();
    site.clock().advance_s(3 * 86_400);
    let (code, verdict, text) = line(&site, "backups");
    assert_eq!((code, &*verdict), (Some(1), "fail"), "{text}");
    site.clock().set(crate::support::site::START);
    site.start_again();
}

#[test]
fn a_full_disk_fails_and_free_space_is_told() {
    let site = quiet().start();
    let (code, verdict, text) = line(&site, "disk");
    assert!(code == Some(0) && verdict != "fail" && text.contains("free"), "{text}");
    let before = std::fs::read_dir(site.folder().join("data")).unwrap().count();
    // For a process it is the same when the system lets no file grow.
    let config = site.folder().join("seller-platform.toml");
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$0\" --config \"$1\" check"]);
    limited.arg(crate::support::process::EXECUTABLE).arg(&config);
    let outcome = run(&mut limited, "");
    assert_eq!(outcome.code, Some(1), "{}\n{}", outcome.stdout, outcome.stderr);
    let told = outcome.stdout.lines().find(|line| line.contains(" disk ")).unwrap().to_owned();
    assert!(
        told.starts_with("FAIL") && told.contains("full") && told.contains("free some"),
        "{told}"
    );
    assert_eq!(std::fs::read_dir(site.folder().join("data")).unwrap().count(), before);
    // How long it lasts follows from the growth since the first start.
    site.clock().advance_s(10 * 86_400);
    let (_, _, text) = line(&site, "disk");
    assert!(text.contains("lasts"), "{text}");
}

#[test]
fn a_task_whose_last_run_failed_fails_until_it_works_or_is_paused() {
    let site = quiet().start();
    assert_eq!(line(&site, "tasks").1, "note", "they have not run yet");
    site.stop();
    let set = |sql: &str| {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let file = Connection::open_with_flags(site.database(), flags).unwrap();
        file.execute(sql, []).unwrap();
    };
    set("INSERT INTO cron_task (name, title, started_at, failures, error, failed_at)
         VALUES ('a', 'Lembretes', 1795176000, 1, 'quebrou', 1795176000)");
    let (code, verdict, text) = line(&site, "tasks");
    assert_eq!((code, &*verdict), (Some(1), "fail"), "{text}");
    assert!(text.contains("Lembretes") && text.contains("quebrou"), "{text}");
    set("UPDATE cron_task SET paused_at = 1");
    assert_eq!(line(&site, "tasks").0, Some(0));
    set("UPDATE cron_task SET paused_at = NULL, failures = 0");
    let (code, verdict, text) = line(&site, "tasks");
    assert_eq!((code, &*verdict), (Some(0), "ok"), "{text}");
    site.start_again();
}

#[test]
fn addresses_that_let_strangers_in_are_told() {
    let none = |site: &Site, what: &str| assert_eq!(told(site, what).1, [], "{what}");
    for private in [
        "http://127.0.0.1:8080",
        "http://192.168.1.9",
        "http://localhost",
        "https://vendas.example.com",
    ] {
        none(&quiet().config("server.base_url", private).start(), "base_url");
    }
    let site = quiet().config("server.base_url", "http://vendas.example.com").start();
    let (code, verdict, text) = line(&site, "base_url");
    assert_eq!((code, &*verdict), (Some(0), "note"), "{text}");
    assert!(text.contains("https"), "{text}");
    none(&quiet().config("server.trusted_proxies", vec!["10.0.0.0/8"]).start(), "trusted_proxies");
    for all in ["0.0.0.0/0", "::/0"] {
        let site = quiet().config("server.trusted_proxies", vec![all]).start();
        let (code, verdict, text) = line(&site, "trusted_proxies");
        assert_eq!((code, &*verdict), (Some(0), "note"), "{text}");
        assert!(text.contains(all), "{text}");
    }
}

#[test]
fn a_port_that_another_program_has_is_told_before_the_start() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let site = quiet().config("server.listen", &*taken).start();
    assert_eq!(told(&site, "configuration").0, Some(0), "the server listens elsewhere");
    site.stop();
    let (code, lines) = told(&site, "configuration");
    assert_eq!(code, Some(1));
    assert!(lines[0].1.contains(&taken) && lines[0].1.contains("in use"), "{lines:?}");
    drop(other);
    assert_eq!(told(&site, "configuration").0, Some(0));
}

#[test]
fn leftovers_are_named_with_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let site = quiet().config("database.backup_dir", folder.path().display().to_string()).start();
    assert_eq!(told(&site, "leftover").1, []);
    let data = site.folder().join("data");
    let left = [
        data.join("copia.db.partial"),
        data.join("seller-platform.before-v2.db"),
        data.join("seller-platform.db.before-restore-20261120-070700"),
        folder.path().join("hoje.db.partial"),
    ];
    for file in &left {
        std::fs::write(file, vec![b'x'; 1234]).unwrap();
    }
    let (code, lines) = told(&site, "leftover");
    assert_eq!((code, lines.len()), (Some(0), left.len()), "{lines:?}");
    for file in &left {
        let path = file.display().to_string();
        let (verdict, text) = lines.iter().find(|(_, text)| text.contains(&path)).unwrap();
        assert!(verdict == "note" && text.contains("1.2 kB"), "{text}");
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_clock_behind_the_newest_row_is_wrong() {
    let site = quiet().start();
    site.clock().advance_s(86_400);
    site.make_person("ana", "pro");
    assert_eq!(told(&site, "clock").1.len(), 1);
    site.clock().set(crate::support::site::START);
    let (code, lines) = told(&site, "clock");
    assert_eq!(code, Some(1));
    assert!(
        lines.iter().any(|(verdict, text)| verdict == "fail" && text.contains("newest row")),
        "{lines:?}"
    );
}
