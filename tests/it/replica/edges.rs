//! The replica where things meet at a bad moment: a stop under load, two takeovers at
//! once, a disk that is not mounted, a replica that fails, and a disk that fills.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::SignedDuration;
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use super::following::{Journal, Over, Pair, follows, get};
use crate::support::process::{EXECUTABLE, Process, run};
use crate::support::replica::{FOLLOWS, MINUTE, Machine, litestream, now};
use crate::support::wait::until;

/// Nobody on any machine.
const NOBODY: u32 = 65_534;

/// A Litestream that does something before some of its commands.
fn wrapped(folder: &Path, before: &str) -> PathBuf {
    let path = folder.join("litestream");
    let script = format!("#!/bin/sh\n{before}\nexec {} \"$@\"\n", litestream().display());
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn commits(database: &Path) -> i64 {
    let connection =
        Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'commits'";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The first write fails; the cause goes away, and the server is started again.
#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_replica_whose_first_write_failed_begins_once_the_cause_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken");
    std::fs::write(&broken, "").unwrap();
    let before = format!(
        "case \"$*\" in *-once*) if [ -e {broken} ]; then echo 'no space' >&2; exit 1; fi ;; esac",
        broken = broken.display()
    );
    let failing = wrapped(folder.path(), &before);
    let replica = folder.path().join("replica");
    let machine = Machine::with(&format!("file://{}", replica.display()), &failing);
    for is_mended in [false, true] {
        let mut server = machine.serve();
        if is_mended {
            machine.wait_level();
        } else {
            let begun = machine.path("seller.db-litestream/epoch");
            until("the first write is tried", MINUTE, || begun.exists().then_some(()));
        }
        assert!(server.stop(MINUTE).success(), "{}", server.log());
        let _ = std::fs::remove_file(&broken);
    }
}

/// As Ctrl+C and a supervisor do: all processes are told at once.
#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_stop_of_all_processes_at_once_still_sends_the_last_writes() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::new(&folder.path().join("replica"));
    let mut serve = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server = Process::start(serve.process_group(0));
    let journal = Journal::default();
    journal.send_many(server.address, 20);
    machine.wait_level();
    let (writing, address) = (&journal, server.address);
    let group = Pid::from_raw(server.pid().cast_signed()).unwrap();
    std::thread::scope(|scope| {
        let _over = Over(&journal);
        scope.spawn(move || writing.keep_sending(address));
        let before = journal.count();
        until("writes are answered", MINUTE, || (journal.count() > before + 50).then_some(()));
        kill_process_group(group, Signal::TERM).unwrap();
        assert!(server.end(MINUTE).success(), "{}", server.log());
    });
    let answered = commits(&machine.path("seller.db"));
    std::fs::rename(machine.path("seller.db"), machine.path("lost.db")).unwrap();
    machine.ok(&["restore", "replica"]);
    journal.compare(&machine.kept(), now());
    assert_eq!(commits(&machine.path("seller.db")), answered);
}

/// While the second machine fetches, the first takes over; and a supervisor starts what
/// it has on the second.
#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn of_two_takeovers_at_once_one_is_told_and_nothing_starts_under_it() {
    let Pair { first, second, mut server, folder, .. } = Pair::start();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    let meanwhile = tempfile::tempdir().unwrap();
    let (said, other) = (meanwhile.path().join("said"), first.path("seller-platform.toml"));
    let before = format!(
        "case \"$*\" in *fetched-*) if [ ! -e {said} ]; then\n\
         for command in serve 'standby --rejoin'; do {EXECUTABLE} $command --listen 127.0.0.1:0; done >>{said} 2>&1\n\
         (cd {first} && {EXECUTABLE} --config {other} takeover) >>{said} 2>&1\n\
         fi ;; esac",
        said = said.display(),
        first = first.path("").display(),
        other = other.display(),
    );
    let slow = wrapped(meanwhile.path(), &before);
    let replica = folder.path().join("replica");
    let third = Machine::with(&format!("file://{}", replica.display()), &slow);
    third.take_key_of(&first);
    // The first has to have something to take over from.
    second.take_key_of(&first);
    second.ok(&["takeover"]);
    third.refuses(
        &["takeover"],
        &["another machine was first", "epoch 3", "run `seller-platform takeover` again"],
    );
    let said = std::fs::read_to_string(said).unwrap();
    assert_eq!(said.matches("is at work on").count(), 2, "{said}");
    assert!(said.contains("epoch 3 begins here"), "{said}");
    third.refuses(&["serve", "--listen", "127.0.0.1:0"], &["another server took over"]);
    let mut server = first.serve();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
}

/// Two that looked in the same moment both wrote their note; the later one stands.
#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_server_whose_note_was_replaced_ends() {
    let Pair { first: _first, mut server, folder, .. } = Pair::start();
    let place = folder.path().join("other");
    std::fs::create_dir(&place).unwrap();
    let note = place.join("note.db");
    let text = json!({ "number": 1, "id": "0123456789abcdef", "by": "another", "at": 0 });
    let connection = Connection::open_with_flags(
        &note,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )
    .unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT)").unwrap();
    connection.execute("INSERT INTO note VALUES (?1)", [text.to_string()]).unwrap();
    drop(connection);
    let settings = json!({ "dbs": [{ "path": note, "replica": {
        "type": "file", "path": folder.path().join("replica/epochs/1"),
    } }] });
    std::fs::write(place.join("litestream.yml"), settings.to_string()).unwrap();
    let mut replace = Command::new(litestream());
    replace.args(["replicate", "-config"]).arg(place.join("litestream.yml")).arg("-once");
    let replaced = run(&mut replace, "");
    assert_eq!(replaced.code, Some(0), "{}", replaced.stderr);
    assert_eq!(server.end(MINUTE).code(), Some(1), "{}", server.log());
    assert!(server.log().contains("the replica belongs to another since"), "{}", server.log());
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_mount_point_without_its_disk_is_no_empty_replica() {
    let folder = tempfile::tempdir().unwrap();
    let (mounted, away) = (folder.path().join("mnt"), folder.path().join("away"));
    std::fs::create_dir(&mounted).unwrap();
    let machine = Machine::new(&mounted.join("shop"));
    let mut server = machine.serve();
    Journal::default().send_many(server.address, 20);
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    // What is there without the disk.
    std::fs::rename(&mounted, &away).unwrap();
    std::fs::create_dir(&mounted).unwrap();
    let mut server = machine.serve();
    server.wait_for_log("is it mounted?", FOLLOWS);
    assert!(machine.run(&["check"]).stdout.contains("is it mounted?"));
    assert_eq!(std::fs::read_dir(&mounted).unwrap().count(), 0, "nothing is written there");
    get(server.address, "/readyz").expect(200);
    std::fs::remove_dir(&mounted).unwrap();
    std::fs::rename(&away, &mounted).unwrap();
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_fault_while_fetching_is_no_reason_to_restore_an_older_epoch() {
    let Pair { first, second, mut server, journal, folder } = Pair::start();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    second.take_key_of(&first);
    second.ok(&["takeover"]);
    let mut server = second.serve();
    journal.send_many(server.address, 5);
    second.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    let broken = wrapped(
        folder.path(),
        "case \"$*\" in *-timestamp*) [ -e once ] || { : >once; echo 'Error: no answer' >&2; exit 1; } ;; esac",
    );
    let url = format!("file://{}", folder.path().join("replica").display());
    let third = Machine::with(&url, &broken);
    third.take_key_of(&first);
    let later = now() + SignedDuration::from_secs(1);
    until("a second has passed", MINUTE, || (now() > later).then_some(()));
    let at = format!("{:.0}", now());
    third.refuses(&["restore", "replica", "--at", &at], &["no answer"]);
    assert!(!third.path("seller.db").exists());
    third.ok(&["restore", "replica", "--at", &at]);
    assert_eq!(third.kept().len(), 25);
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn root_follows_no_link_that_the_service_left() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let Pair { first, second, mut server, folder, .. } = Pair::start();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    second.take_key_of(&first);
    let target = folder.path().join("of-root");
    std::fs::write(&target, "kept").unwrap();
    let place = second.path("seller.db-litestream");
    std::fs::create_dir(&place).unwrap();
    chown(second.path(""), Some(NOBODY), Some(NOBODY)).unwrap();
    for name in ["planted", "epoch", "epoch.partial"] {
        symlink(&target, place.join(name)).unwrap();
    }
    second.ok(&["takeover"]);
    assert_eq!(target.metadata().unwrap().uid(), 0);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
    for path in [second.path("seller.db"), place.join("epoch"), place] {
        assert_eq!(path.symlink_metadata().unwrap().uid(), NOBODY, "{}", path.display());
    }
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_standby_feeds_the_watchdog() {
    let Pair { first, second, server: _server, folder, .. } = Pair::start();
    second.take_key_of(&first);
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut standby = second.command(&["standby", "--listen", "127.0.0.1:0"]);
    standby.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "800000");
    let mut standby = Process::start(&mut standby);
    let fed = || {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).ok()?;
        String::from_utf8_lossy(&bytes[..length]).contains("WATCHDOG=1").then_some(())
    };
    for _ in 0..4 {
        until("the watchdog is fed", MINUTE, fed);
    }
    follows(&standby);
    assert!(standby.stop(MINUTE).success(), "{}", standby.log());
}

/// The disk is a small one of its own, which only the server sees.
#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_replica_gives_its_space_up_before_answered_writes_need_it() {
    if run(Command::new("unshare").args(["-rm", "true"]), "").code != Some(0) {
        eprintln!("not tried: this system lets nobody mount a disk of their own");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::new(&folder.path().join("replica"));
    let key = machine.path("seller.db.key");
    std::fs::write(&key, "5".repeat(64)).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut person = machine.command(&[
        "user",
        "create",
        "--email",
        "ana@example.com",
        "--nome",
        "Ana",
        "--role",
        "admin",
        "--password-stdin",
    ]);
    machine.ok(&["migrate", "up"]);
    let made = run(&mut person, "senha da ana 1234");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    std::fs::create_dir(machine.path("small")).unwrap();
    let mut serve = Command::new("unshare");
    serve.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").current_dir(machine.path(""));
    let mount = format!(
        "mount -t tmpfs -o size=96m tmpfs small && cp seller.db seller.db.key small/ && \
         exec {EXECUTABLE} --db small/seller.db serve --listen 127.0.0.1:0"
    );
    let mut server = Process::start(serve.args(["-rm", "sh", "-c", &mount]));
    let inside = Path::new("/proc").join(server.pid().to_string()).join("root");
    let inside = inside.join(machine.path("small").strip_prefix("/").unwrap());
    let state = inside.join("seller.db-litestream/state");
    let follows = |times: usize| {
        until("Litestream follows", FOLLOWS, || {
            (server.log().matches("Litestream follows").count() == times && state.exists())
                .then_some(())
        });
    };
    follows(1);
    let (journal, filler) = (Journal::default(), inside.join("filler"));
    journal.send_many(server.address, 20);
    let space = rustix::fs::statvfs(&inside).unwrap();
    let fill = (space.f_bavail * space.f_frsize).saturating_sub(1_800_000);
    std::fs::write(&filler, vec![1; usize::try_from(fill).unwrap()]).unwrap();
    until("the state is given up", FOLLOWS, || (!state.exists()).then_some(()));
    journal.send_many(server.address, 20);
    until("the administrators are told", FOLLOWS, || {
        // SQLite does not open it by such a path.
        let seen = folder.path().join("seen.db");
        for end in ["", "-wal"] {
            let name = format!("seller.db{end}");
            std::fs::copy(inside.join(name), format!("{}{end}", seen.display())).unwrap();
        }
        let connection =
            Connection::open_with_flags(&seen, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let sql = "SELECT count(*) FROM notification WHERE title LIKE '%espaço para a réplica%'";
        let told = connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        (told == 1).then_some(())
    });
    assert!(server.log().contains("disk space runs short"), "{}", server.log());
    std::fs::remove_file(&filler).unwrap();
    server.wait_for_log("the replica follows again", MINUTE + FOLLOWS);
    journal.send_many(server.address, 5);
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    assert_eq!(journal.count(), 45);
    machine.ok(&["restore", "replica"]);
    journal.compare(&machine.kept(), now());
}
