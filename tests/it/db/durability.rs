//! When it is killed at any moment, the server keeps what it confirmed.
//!
//! Writers note every confirmed write in a journal outside the server. The
//! server is ended while they write, and started again on the same files. Then
//! the journal is compared with the server's answers and with a verified copy.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::faults;
use crate::support::actors::{Actor, signed_notification};
use crate::support::client::Request;
use crate::support::site::{Person, Site, lock};
use crate::support::wait::until;

/// How a cycle ends.
#[derive(Clone, Copy)]
enum End {
    /// Without warning, as by SIGKILL.
    Kill,
    /// By SIGTERM: also clean, which [`Site::stop`] checks.
    Stop,
}

/// What the server confirmed, and must therefore have.
#[derive(Default)]
struct Journal {
    next: AtomicU64,
    /// `resource` of every notification that was answered 200.
    notifications: Mutex<BTreeSet<String>>,
    /// `slug` of every plan that was answered 201.
    plans: Mutex<BTreeSet<String>>,
    logins: [Mutex<Logins>; 2],
}

/// The extension tokens of one person.
#[derive(Default)]
struct Logins {
    newest: Option<String>,
    before: Option<String>,
    /// A login got no answer, so the newest token may have been replaced.
    in_doubt: bool,
}

impl Journal {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn answered(&self) -> usize {
        lock(&self.notifications).len() + lock(&self.plans).len()
    }
}

#[test]
fn what_was_answered_survives_fifty_kills() {
    survives(End::Kill, faults::times(50, 500));
}

#[test]
fn what_was_answered_survives_a_stop_under_load() {
    survives(End::Stop, 5);
}

fn survives(end: End, cycles: u64) {
    let site = Site::builder().unlimited().start();
    let people = ["ana", "rui"].map(|name| site.make_person(name, "vip"));
    let administrator = site.administrator();
    let journal = Journal::default();
    let mut waits = Vec::new();
    for cycle in 0..cycles {
        // Short and long runs, the same in every execution.
        let writes = 1 + usize::try_from(cycle * 7919 % 97).unwrap();
        let enough = journal.answered() + writes;
        std::thread::scope(|scope| {
            let _ending = Ending(&site);
            for _ in 0..3 {
                scope.spawn(|| send_notifications(&site, &journal));
            }
            for (person, logins) in people.iter().zip(&journal.logins) {
                scope.spawn(|| log_in(&site, person, logins));
            }
            scope.spawn(|| make_plans(&administrator, &journal));
            until("writes are answered", Duration::from_mins(1), || {
                (journal.answered() >= enough).then_some(())
            });
            match end {
                End::Kill => site.kill(),
                End::Stop => site.stop(),
            }
        });
        let started = Instant::now();
        site.start_again();
        site.anonymous().get("/readyz").expect(200);
        waits.push(started.elapsed());
        compare_logins(&site, &journal);
        if cycle % 10 == 9 || cycle + 1 == cycles {
            compare_plans(&site, &journal);
            compare_notifications(&site, &journal, cycle);
        }
    }
    // A busy machine may delay one start, but not most of them.
    waits.sort();
    let usual = waits[waits.len() / 2];
    assert!(usual < Duration::from_secs(5), "ready again after {usual:?}");
    if matches!(end, End::Kill) {
        let (answered, usual) = (journal.answered(), usual.as_millis());
        let measured =
            format!("{cycles} kills, {answered} answered, 0 lost, ready again in {usual} ms");
        faults::figure("F01", &measured);
    }
}

/// Ends the server when a cycle fails, and so also the writers, which would
/// otherwise never end.
struct Ending<'s>(&'s Site);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// Sends signed notifications until the server has ended.
fn send_notifications(site: &Site, journal: &Journal) {
    let marketplace = site.anonymous();
    loop {
        let number = journal.number();
        let resource = format!("/orders/{}", 2_000_000_000_000 + number);
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let request = signed_notification(&resource, "orders_v2", 77, &id, 1_795_176_000);
        let Ok(reply) = marketplace.try_send(request) else {
            return;
        };
        reply.expect(200);
        lock(&journal.notifications).insert(resource);
    }
}

/// Logs one person's extension in until the server has ended.
fn log_in(site: &Site, person: &Person, logins: &Mutex<Logins>) {
    let browser = site.anonymous();
    loop {
        let login = json!({ "email": person.email, "senha": person.password });
        let request = Request::new("POST", "/api/ext/auth").json(&login);
        let reply = browser.try_send(request);
        let mut logins = lock(logins);
        let Ok(reply) = reply else {
            logins.in_doubt = true;
            return;
        };
        let token = reply.ok()["token"].as_str().unwrap().to_owned();
        logins.before = logins.newest.replace(token);
        logins.in_doubt = false;
    }
}

/// Makes plans until the server has ended.
fn make_plans(administrator: &Actor<'_>, journal: &Journal) {
    loop {
        let slug = format!("plano-{}", journal.number());
        let plan = json!({
            "titulo": format!("Plano {slug}"),
            "slug": slug,
            "preco": 49.9,
            "moeda": "BRL",
            "periodicidade": "mensal",
            "beneficios": ["Um benefício"],
            "link_checkout": "https://example.com/pagar",
            "ativo": true,
        });
        let request = Request::new("POST", "/admin/planos").json(&plan);
        let Ok(reply) = administrator.try_send(request) else {
            return;
        };
        reply.expect(201);
        lock(&journal.plans).insert(slug);
    }
}

/// The newest token works, the one before it does not.
fn compare_logins(site: &Site, journal: &Journal) {
    for logins in &journal.logins {
        let logins = lock(logins);
        if let Some(before) = &logins.before {
            site.bearer(before).get("/api/ext/me").expect(401);
        }
        if let Some(newest) = &logins.newest
            && !logins.in_doubt
        {
            site.bearer(newest).get("/api/ext/me").expect(200);
        }
    }
}

fn compare_plans(site: &Site, journal: &Journal) {
    let listed = site.anonymous().get("/api/v1/planos").ok();
    let listed: BTreeSet<&str> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|plan| plan["slug"].as_str())
        .collect();
    for slug in lock(&journal.plans).iter() {
        assert!(listed.contains(slug.as_str()), "answered and lost: {slug}");
    }
}

/// Reads a copy that the product itself made of the running server.
fn compare_notifications(site: &Site, journal: &Journal, cycle: u64) {
    let copy = site.folder().join(format!("copy-{cycle}.db"));
    site.command(&["backup", &copy.display().to_string()]).ok();
    let copy = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let all = |sql: &str| -> Vec<String> {
        let mut statement = copy.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(all("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(all("PRAGMA foreign_key_check"), [""; 0]);
    let stored = all("SELECT resource FROM ml_notification");
    let distinct: BTreeSet<&String> = stored.iter().collect();
    assert_eq!(stored.len(), distinct.len(), "a notification is there twice");
    for resource in lock(&journal.notifications).iter() {
        assert!(distinct.contains(resource), "answered and lost: {resource}");
    }
}
