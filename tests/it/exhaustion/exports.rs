//! Files that are being sent: many callers who read them slowly.

use std::time::Duration;

use rusqlite::{Connection as Database, OpenFlags};

use super::bodies::crowd;
use super::{besieged, narrow};
use crate::support::client::{Connection, Reply, Request};
use crate::support::cron::alter;
use crate::support::site::Site;
use crate::support::wait::until;

const FILE: &str = "/admin/alunos?formato=csv";
/// Students, and so lines of the file.
const STUDENTS: usize = 40_000;

/// A site with so many students that their list has 3.4 MB.
fn full() -> Site {
    let site =
        narrow(Site::builder().unlimited().config("server.max_connections_per_address", 4_096));
    alter(
        &site,
        &format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {STUDENTS})
             INSERT INTO user (user_id, email, name, role, created_at)
             SELECT 100000 + i, 'p' || i || '@example.com', printf('Pessoa %06d de Souza', 7 * i % {STUDENTS}), 'vip', 1795000000 FROM n"
        ),
    );
    site
}

/// A caller that requests the list and reads only the head.
fn slow(site: &Site, cookie: &str) -> (Connection, String) {
    let mut caller = Connection::open(site.address()).unwrap();
    caller.write(
        format!("GET {FILE} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n").as_bytes(),
    );
    let head = caller.read_head_only().unwrap();
    (caller, head)
}

/// Opens the database directly, beside the server.
fn outside(site: &Site) -> Database {
    Database::open_with_flags(site.database(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

fn names(file: &Reply) -> Vec<String> {
    let text = file.text();
    text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn an_account_is_sent_two_files_at_a_time() {
    let site = full();
    let cookies = crowd(&site, "admin", 2);
    let slowly = [slow(&site, &cookies[0]), slow(&site, &cookies[0])];
    for (_, head) in &slowly {
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    }
    let ask = |cookie: &str| {
        let request = Request::new("GET", FILE).header("Cookie", cookie);
        site.anonymous().send(request)
    };
    let third = ask(&cookies[0]).expect(503);
    assert!(third.header("retry-after").is_some(), "{third}");
    assert_eq!(ask(&cookies[1]).expect(200).text().lines().count(), STUDENTS + 1);
    drop(slowly);
    let file = until("a place is free again", Duration::from_secs(5), || {
        Some(ask(&cookies[0])).filter(|reply| reply.status == 200)
    });
    assert!(file.body.starts_with("\u{feff}id,nome,".as_bytes()));
    assert!(file.body.len() > 3_400_000, "{}", file.body.len());
    let names = names(&file);
    assert_eq!(names.len(), STUDENTS);
    assert!(names.is_sorted());
}

#[test]
fn two_hundred_take_a_large_file_slowly() {
    let site = full();
    let cookies = crowd(&site, "admin", 100);
    let ana = site.person("ana");
    let sent = besieged(&site, &ana, "/painel", || {
        let slowly: Vec<_> =
            cookies.iter().flat_map(|cookie| [slow(&site, cookie), slow(&site, cookie)]).collect();
        let good = slowly.iter().filter(|(_, head)| head.starts_with("HTTP/1.1 200 ")).count();
        // Requests that do not fit are answered with the reason.
        for (_, head) in &slowly {
            assert!(
                head.starts_with("HTTP/1.1 200 ")
                    || head.starts_with("HTTP/1.1 503 ") && head.contains("retry-after: "),
                "{head}"
            );
        }
        good
    });
    assert!(sent > 100, "{sent}");
}

#[test]
fn what_changes_meanwhile_neither_waits_for_a_slow_reader_nor_spoils_the_file() {
    let site = full();
    let admin = site.administrator();
    let cookies = crowd(&site, "admin", 1);
    let (mut caller, head) = slow(&site, &cookies[0]);
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    // The last person of the list is removed, and others are added or renamed.
    let person =
        site.stored("SELECT user_id || '' FROM user WHERE kind = 0 ORDER BY name_key DESC LIMIT 1");
    let last = &person[0];
    let gone = admin.get(&format!("/admin/alunos/{last}")).expect(200);
    assert_eq!(gone.status, 200);
    admin.post(&format!("/admin/alunos/{last}/excluir"), &serde_json::json!({})).expect(200);
    // The whole write-ahead log can be checkpointed, so the caller who reads slowly holds
    // no part of it. Other reads keep their snapshot for a moment.
    let database = outside(&site);
    until("no reader holds the log", Duration::from_secs(10), || {
        let busy: i64 =
            database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        (busy == 0).then_some(())
    });
    drop(database);
    let file = caller.read_rest("GET", &head).unwrap();
    let names = names(&file);
    assert_eq!(names.len(), STUDENTS - 1);
    assert!(names.is_sorted());
    assert!(!file.text().contains(&format!("\n{last},")));
}

#[test]
fn a_file_that_cannot_go_on_breaks_off() {
    let site = full();
    let cookies = crowd(&site, "admin", 1);
    let (mut caller, head) = slow(&site, &cookies[0]);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let rename = |from: &str, to: &str| {
        let database = outside(&site);
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        until("the database is free", Duration::from_secs(5), || database.execute(&sql, []).ok());
    };
    rename("user", "elsewhere");
    let file = caller.read_rest("GET", &head);
    rename("elsewhere", "user");
    assert!(file.is_err(), "a short file looks whole");
}
