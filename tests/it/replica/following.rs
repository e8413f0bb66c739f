//! The replica and a second machine, by Litestream; two folders act as two machines.
//!
//! Tests that need Litestream are marked as ignored: `tests/run` installs it and runs
//! them. `SELLER_PLATFORM_TEST_LITESTREAM` names another executable.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::actors::signed_notification;
use crate::support::client::{Client, Reply, Request};
use crate::support::process::{Process, run};
use crate::support::replica::{FOLLOWS, MINUTE, Machine, kept, now};
use crate::support::site::{Site, lock};
use crate::support::wait::{pause, until};

/// What is longer than the replica lags, on a slow machine too.
const LAG: SignedDuration = SignedDuration::from_secs(4);
pub fn get(to: SocketAddr, path: &str) -> Reply {
    Client::default().send(to, &Request::new("GET", path)).unwrap()
}

/// A program that writes all the time and notes what was answered, and when.
#[derive(Default)]
pub struct Journal {
    /// How many were sent: one that was stored and not answered is not sent again.
    sent: AtomicUsize,
    answered: Mutex<Vec<(String, Timestamp)>>,
    refused: AtomicBool,
    is_over: AtomicBool,
}

impl Journal {
    /// Sends one; whether it was answered as stored.
    fn send(&self, client: &mut Client, to: SocketAddr) -> bool {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let resource = format!("/orders/{}", 700_000_000 + number);
        let request_id = format!("r-{number}");
        let request = signed_notification(
            &resource,
            "orders_v2",
            900_000_001,
            &request_id,
            now().as_second(),
        );
        match client.send(to, &request) {
            Ok(reply) if reply.status == 200 => {
                lock(&self.answered).push((resource, now()));
                true
            }
            Ok(reply) => {
                self.refused.fetch_or(reply.status == 503, Ordering::Relaxed);
                false
            }
            Err(_) => false,
        }
    }

    pub fn send_many(&self, to: SocketAddr, count: usize) {
        let mut client = Client::default();
        for _ in 0..count {
            assert!(self.send(&mut client, to), "a write is answered");
        }
    }

    /// Sends until it is over.
    pub fn keep_sending(&self, to: SocketAddr) {
        let mut client = Client::default();
        while !self.is_over.load(Ordering::Relaxed) {
            if !self.send(&mut client, to) {
                client = Client::default();
                pause(Duration::from_millis(20));
            }
        }
    }

    pub fn count(&self) -> usize {
        lock(&self.answered).len()
    }

    /// Requires that everything answered before an instant is there.
    #[track_caller]
    pub fn compare(&self, kept: &[String], until: Timestamp) {
        let answered = lock(&self.answered);
        let missing: Vec<_> = answered
            .iter()
            .filter(|(resource, at)| *at < until && !kept.contains(resource))
            .collect();
        assert!(missing.is_empty(), "{} answered writes are missing: {missing:?}", missing.len());
    }
}

/// Ends the writer when a test fails.
pub struct Over<'j>(pub &'j Journal);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// Two machines with one replica; a server on the first, which follows what it answered.
pub struct Pair {
    pub first: Machine,
    pub second: Machine,
    pub server: Process,
    pub journal: Journal,
    pub folder: TempDir,
}

impl Pair {
    #[track_caller]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let replica = folder.path().join("replica");
        let (first, second) = (Machine::new(&replica), Machine::new(&replica));
        let (server, journal) = (first.serve(), Journal::default());
        journal.send_many(server.address, 20);
        first.wait_level();
        Self { first, second, server, journal, folder }
    }
}

#[track_caller]
pub fn follows(standby: &Process) -> Value {
    until("the standby follows and has checked its copy", FOLLOWS, || {
        let found = get(standby.address, "/readyz").expect(503).json();
        let lag_s = found["lag_s"].as_i64().unwrap();
        (lag_s < 5 && found["verified_at"].is_string()).then_some(found)
    })
}

#[test]
fn without_litestream_the_service_starts_and_says_so() {
    let replica = tempfile::tempdir().unwrap();
    let url = format!("file://{}", replica.path().display());
    let site = Site::builder()
        .config("replica.url", url)
        .config("replica.litestream", "/nowhere/litestream")
        .start();
    let figures = site.key(&["admin"]).get("/metrics").expect(200).text();
    assert!(figures.contains("\nseller_platform_replica_lag_seconds "), "{figures}");
    until("the worker has looked", FOLLOWS, || {
        let figures = site.key(&["admin"]).get("/metrics").expect(200).text();
        figures.contains("\nseller_platform_replica_failing 1\n").then_some(())
    });
    assert!(site.log().contains("/nowhere/litestream"), "{}", site.log());
    let home = site.administrator().get("/admin").expect(200).text();
    assert!(home.contains("A réplica está"), "the operator's home says so");
    let check = site.command(&["check"]).run();
    assert_eq!(check.code, Some(1));
    assert!(check.stdout.contains("install Litestream 0.5 or later"), "{}", check.stdout);
    site.anonymous().get("/readyz").expect(200);
}

#[test]
fn a_litestream_that_is_too_old_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("litestream");
    std::fs::write(&old, "#!/bin/sh\necho v0.3.13\n").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let machine = Machine::with(&format!("file://{}/replica", folder.path().display()), &old);
    machine.ok(&["migrate", "up"]);
    for command in ["takeover", "standby"] {
        machine.refuses(&[command], &["0.3.13", "0.5 or later"]);
    }
    let mut server = machine.serve();
    server.wait_for_log("0.3.13", FOLLOWS);
    assert!(server.stop(MINUTE).success());
}

#[test]
fn without_a_replica_its_commands_say_what_to_set() {
    let machine = Machine::with("", Path::new("litestream"));
    for command in [&["takeover"][..], &["standby"], &["restore", "replica"]] {
        machine.refuses(command, &["replica.url"]);
    }
    machine.refuses(&["restore", "copy.db", "--at", "2026-11-20T12:00:00Z"], &["--at", "replica"]);
    machine.ok(&["migrate", "up"]);
    assert!(machine.check_of("replica").contains("not configured"));
}

#[test]
fn a_folder_that_is_not_mounted_is_no_empty_replica() {
    let machine = Machine::with("file:///nowhere/at/all", Path::new("/bin/true"));
    machine.refuses(&["takeover"], &["/bin/true"]);
    let mut server = machine.serve();
    server.wait_for_log("/nowhere/at", FOLLOWS);
    assert!(server.stop(MINUTE).success());
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn the_server_runs_litestream_and_stops_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::new(&folder.path().join("replica"));
    let mut server = machine.serve();
    let journal = Journal::default();
    journal.send_many(server.address, 50);
    machine.wait_level();
    // No secret on a command line, and files that others cannot read.
    let settings = std::fs::read_dir(machine.path("seller.db-litestream")).unwrap();
    let mut seen = 0;
    for entry in settings.map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
        seen += 1;
    }
    assert!(seen > 0);
    journal.send_many(server.address, 50);
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    assert!(!machine.path("seller.db-wal").exists(), "the log is folded in");
    assert_eq!(machine.kept().len(), 100);
    let found = machine.run(&["check"]);
    assert!(!found.stdout.contains("FAIL  integrity") && !found.stdout.contains("FAIL  schema"));
    // The last commits are at the replica too.
    std::fs::rename(machine.path("seller.db"), machine.path("lost.db")).unwrap();
    machine.ok(&["restore", "replica"]);
    assert_eq!(machine.kept().len(), 100);
    // It goes on where it was.
    let mut server = machine.serve();
    journal.send_many(server.address, 5);
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn killed_in_turns_litestream_and_the_server_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::new(&folder.path().join("replica"));
    let mut server = machine.serve();
    let journal = Journal::default();
    machine.wait_level();
    for cycle in 0..4 {
        let (writing, address) = (&journal, server.address);
        std::thread::scope(|scope| {
            let _over = Over(&journal);
            journal.is_over.store(false, Ordering::Relaxed);
            let before = journal.count();
            scope.spawn(move || writing.keep_sending(address));
            until("writes are answered", MINUTE, || (journal.count() > before + 30).then_some(()));
            if cycle % 2 == 0 {
                let pid =
                    std::fs::read_to_string(machine.path("seller.db-litestream/lock")).unwrap();
                run(Command::new("kill").args(["-9", pid.trim()]), "");
            } else {
                server.kill();
            }
        });
        if cycle % 2 == 1 {
            server = machine.serve();
        }
    }
    journal.send_many(server.address, 3);
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    journal.compare(&machine.kept(), now());
    std::fs::rename(machine.path("seller.db"), machine.path("lost.db")).unwrap();
    machine.ok(&["restore", "replica"]);
    journal.compare(&machine.kept(), now());
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_restore_goes_back_to_a_second_before_a_deletion() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::new(&folder.path().join("replica"));
    let mut server = machine.serve();
    let journal = Journal::default();
    journal.send_many(server.address, 20);
    machine.wait_level();
    let before = now() + SignedDuration::from_secs(1);
    until("a second has passed", MINUTE, || {
        (now() > before + SignedDuration::from_secs(1)).then_some(())
    });
    let connection =
        Connection::open_with_flags(machine.path("seller.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)
            .unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection.execute("DELETE FROM ml_notification", []).unwrap();
    drop(connection);
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    assert_eq!(machine.kept().len(), 0);
    let at = format!("{before:.0}");
    let said = machine.ok(&["restore", "replica", "--at", &at]);
    assert!(said.contains("The replaced database is") && !said.contains("fetched-"), "{said}");
    assert_eq!(machine.kept().len(), 20);
    machine.refuses(
        &["restore", "replica", "--at", "2020-01-01T00:00:00Z"],
        &["does not reach back to 2020-01-01T00:00:00Z; the first instant that it has is 20"],
    );
    // The server goes on with what was restored, and so does the replica.
    let mut server = machine.serve();
    journal.send_many(server.address, 5);
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    machine.ok(&["restore", "replica"]);
    assert_eq!(machine.kept().len(), 25);
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_second_machine_takes_over_from_one_that_was_killed() {
    let Pair { first, second, mut server, journal, folder: _folder } = Pair::start();
    second.refuses(&["standby"], &["seller.db.key", "by hand"]);
    std::fs::write(second.path("seller.db.key"), "5".repeat(64)).unwrap();
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(second.path("seller.db.key"), mode).unwrap();
    second.refuses(&["standby", "--listen", "127.0.0.1:0"], &["another key", "by hand"]);
    second.take_key_of(&first);
    let mut standby = second.standby();
    let found = follows(&standby);
    assert_eq!(found["status"], "standby");
    assert_eq!(get(standby.address, "/healthz").expect(200).json()["status"], "standby");
    get(standby.address, "/login").expect(503);
    second.refuses(&["serve", "--listen", "127.0.0.1:0"], &["takeover", "epoch 1"]);
    let checked = second.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    assert!(checked.stdout.contains("ok    standby        follows, "), "{}", checked.stdout);
    assert!(!checked.stdout.contains("--rejoin"), "{}", checked.stdout);

    let (writing, address) = (&journal, server.address);
    let killed = std::thread::scope(|scope| {
        let _over = Over(&journal);
        scope.spawn(move || writing.keep_sending(address));
        let before = journal.count();
        let begun = Instant::now();
        until("writes are answered for a while", MINUTE, || {
            (journal.count() > before + 100 && begun.elapsed() > Duration::from_secs(6))
                .then_some(())
        });
        server.kill();
        now()
    });
    let said = second.ok(&["takeover"]);
    assert!(said.contains("epoch 2 begins here") && said.contains("commit "), "{said}");
    assert!(standby.has_ended(), "the standby has ended");
    assert!(standby.log().contains("takeover"), "{}", standby.log());
    assert!(!said.contains("standby.db"), "{said}");
    journal.compare(&second.kept(), killed - LAG);
    let mut new = second.serve();
    get(new.address, "/readyz").expect(200);
    let taken = second.kept().len();
    journal.send_many(new.address, 10);
    second.wait_level();

    // Both machines are started after the takeover.
    first.refuses(
        &["serve", "--listen", "127.0.0.1:0"],
        &["another server took over", "epoch 2", "standby --rejoin"],
    );
    first.refuses(&["standby"], &["--rejoin"]);
    let mut rejoined =
        Process::start(&mut first.command(&["standby", "--rejoin", "--listen", "127.0.0.1:0"]));
    follows(&rejoined);
    // What the first one answered and the second never got is kept aside.
    let aside = std::fs::read_dir(first.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let aside = aside.filter(|path| path.display().to_string().contains(".before-restore-"));
    let aside: Vec<_> = aside.collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    journal.compare(&kept(&aside[0]), killed);

    // And back again.
    assert!(new.stop(MINUTE).success(), "{}", new.log());
    let said = first.ok(&["takeover"]);
    assert!(said.contains("epoch 3 begins here"), "{said}");
    assert!(rejoined.has_ended());
    assert_eq!(first.kept().len(), taken + 10);
    second.refuses(&["serve", "--listen", "127.0.0.1:0"], &["epoch 3"]);
    // With a key that does not fit it says what it did, and ends.
    std::fs::write(second.path("seller.db.key"), "5".repeat(64)).unwrap();
    let rejoined = second.run(&["standby", "--rejoin", "--listen", "127.0.0.1:0"]);
    assert!(rejoined.stdout.contains("Nothing is missing"), "{}", rejoined.stdout);
    let mut server = first.serve();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_server_that_was_taken_over_from_stops_writing_and_ends() {
    let Pair { first, second, mut server, journal, folder: _folder } = Pair::start();
    second.take_key_of(&first);
    let (writing, address) = (&journal, server.address);
    let taken = std::thread::scope(|scope| {
        let _over = Over(&journal);
        scope.spawn(move || writing.keep_sending(address));
        let taken = now();
        second.ok(&["takeover"]);
        let ended = server.end(MINUTE);
        assert_eq!(ended.code(), Some(1), "{}", server.log());
        taken
    });
    assert!(server.log().contains("standby --rejoin"), "{}", server.log());
    journal.compare(&second.kept(), taken - LAG);
    let mut new = second.serve();
    get(new.address, "/readyz").expect(200);
    assert!(new.stop(MINUTE).success(), "{}", new.log());
    // Nothing keeps a second takeover by the same machine from being noticed.
    second.refuses(&["takeover"], &["already writes"]);
}
