//! A damaged database is told of, however it was damaged, and takes no writes.
//!
//! Each case overwrites one part of a sound database that has pages of all
//! kinds: after a clean stop, after a kill, or under the running server. Where a
//! start is refused, that is the alarm.

use std::cell::Cell;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::support::actors::signed_notification;
use crate::support::site::Site;
use crate::support::wait::until;

const PAGE: u64 = 4_096;
/// A light check comes each ten seconds; the rest is for slow machines.
const NOTICED: Duration = Duration::from_secs(60);
/// After this the check of everything is due.
const EIGHT_DAYS_S: i64 = 8 * 86_400;
/// A table of rows, one of keys, and an index, each with hundreds of pages.
const FILL: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
    INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body, delivery_key, state, next_try_at)
    SELECT 1795176000, 'items', '/items/MLB' || i, 77, x'7b7d', randomblob(16), 2, 0 FROM n;
    INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body, state, next_try_at)
    VALUES (1795176000, 'items', '/items/MLB0', 77, randomblob(50000), 2, 0);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
    INSERT INTO daily_count (name, day, count) SELECT 'filler ' || i, i, 1 FROM n;
    INSERT INTO setting (name, value, updated_at) VALUES ('filler', randomblob(50000), 0);
    CREATE TABLE gone (x BLOB) STRICT;
    INSERT INTO gone VALUES (randomblob(400000));
    DROP TABLE gone;";

/// What is overwritten.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A page of a table or index, by name and type in `dbstat`.
    Page(&'static str, &'static str),
    /// The first page of the list of free pages.
    FreeList,
    /// The first bytes of the file.
    Header,
    /// What page 1 holds of the schema.
    SchemaRoot,
    /// Contents of the log's pages.
    LogPages,
    /// The first bytes of the log.
    LogHeader,
}

use What::{FreeList, Header, LogHeader, LogPages, Page, SchemaRoot};

const TABLE: &str = "ml_notification";
const KEYED: &str = "daily_count";
const INDEX: &str = "ml_notification_delivery";

/// On a stopped server.
const STOPPED: [What; 15] = [
    Page(TABLE, "leaf"),
    Page(TABLE, "internal"),
    Page(TABLE, "overflow"),
    Page(KEYED, "leaf"),
    Page(KEYED, "internal"),
    Page("setting", "overflow"),
    Page("user", "leaf"),
    Page("session", "leaf"),
    Page(INDEX, "leaf"),
    Page(INDEX, "internal"),
    Page("sqlite_schema", "leaf"),
    Page("plan", "leaf"),
    FreeList,
    Header,
    SchemaRoot,
];

/// Under the running server.
const RUNNING: [What; 10] = [
    Page(TABLE, "leaf"),
    Page(TABLE, "internal"),
    Page(TABLE, "overflow"),
    Page(KEYED, "leaf"),
    Page(INDEX, "leaf"),
    Page(INDEX, "internal"),
    Page("sqlite_schema", "leaf"),
    FreeList,
    Header,
    LogPages,
];

/// A site, stopped, and its sound database.
struct Bench {
    site: Site,
    sound: Vec<u8>,
    /// The next notification.
    next: Cell<u64>,
}

impl Bench {
    fn new() -> Self {
        let site = Site::builder().unlimited().start();
        for error in ["damaged", "found damage", "malformed", "answered writes"] {
            site.expect_in_log_if_any(error);
        }
        site.person("ana").get("/painel").expect(200);
        site.stop();
        let database = Connection::open_with_flags(site.database(), OpenFlags::default()).unwrap();
        database.execute_batch(FILL).unwrap();
        drop(database);
        let sound = std::fs::read(site.database()).unwrap();
        Self { site, sound, next: Cell::new(0) }
    }

    fn beside(&self, end: &str) -> PathBuf {
        self.site.database().with_extension(format!("db{end}"))
    }

    /// Puts the sound database back, as a copy of its bytes.
    fn mend(&self) {
        self.site.kill();
        for end in ["-wal", "-shm", ".lock", ".commits", ".damaged", ".missing"] {
            std::fs::remove_file(self.beside(end)).ok();
        }
        std::fs::write(self.site.database(), &self.sound).unwrap();
    }

    /// Where the damage goes: file, offset and length.
    fn place(&self, what: What) -> (PathBuf, u64, u64) {
        let database = self.site.database();
        match what {
            Page(name, kind) => {
                let folder = tempfile::tempdir().unwrap();
                let copy = folder.path().join("sound.db");
                std::fs::write(&copy, &self.sound).unwrap();
                let copy = Connection::open_with_flags(copy, OpenFlags::default()).unwrap();
                // One in the middle: the last pages are written again by the next
                // row. The last page of an overflow chain holds content alone.
                let sql = "SELECT pageno FROM (
                               SELECT pageno, row_number() OVER (ORDER BY pageno) AS place, count(*) OVER () AS pages
                               FROM dbstat
                               WHERE name = ?1 AND pagetype = ?2
                                 AND (pagetype <> 'overflow' OR path LIKE '%+000000'))
                           WHERE place = (pages + 1) / 2";
                let page: u32 = copy.query_row(sql, (name, kind), |row| row.get(0)).unwrap();
                assert!(page > 1, "{what:?}");
                (database, (u64::from(page) - 1) * PAGE, PAGE)
            }
            FreeList => {
                let trunk = u32::from_be_bytes(self.sound[32..36].try_into().unwrap());
                assert!(trunk > 1, "the file has free pages");
                (database, (u64::from(trunk) - 1) * PAGE, PAGE)
            }
            Header => (database, 0, 100),
            SchemaRoot => (database, 100, PAGE - 100),
            LogPages => {
                let log = self.beside("-wal");
                let length = std::fs::metadata(&log).unwrap().len();
                (log, 32 + 24, length - 32 - 24)
            }
            LogHeader => (self.beside("-wal"), 0, 32),
        }
    }

    fn damage(&self, what: What, byte: u8) {
        let (path, from, length) = self.place(what);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let bytes = vec![byte; usize::try_from(length).unwrap()];
        if matches!(what, LogPages) {
            // The frames stay frames: their pages are destroyed.
            let mut at = from;
            while at + PAGE <= from + length {
                file.write_all_at(&bytes[..usize::try_from(PAGE).unwrap()], at).unwrap();
                at += PAGE + 24;
            }
            return;
        }
        file.write_all_at(&bytes, from).unwrap();
    }

    /// Sends a notification, which is stored before it is answered.
    fn write(&self) -> u16 {
        self.next.set(self.next.get() + 1);
        let resource = format!("/orders/{}", 2_000_000_000_000 + self.next.get());
        let id = format!("00000000-0000-4000-8000-{:012}", self.next.get());
        let ts = self.site.clock().now().as_second();
        let request = signed_notification(&resource, "orders_v2", 77, &id, ts);
        self.site.anonymous().send(request).status
    }

    /// Starts the server; true when it refuses and says why.
    fn is_refused(&self, what: What) -> bool {
        // Whether the key fits is read from the settings before anything else.
        let is_readable =
            !matches!(what, Header | SchemaRoot | Page("sqlite_schema" | "setting", _));
        let Some(outcome) = self.site.try_start() else { return false };
        assert!(!is_readable, "{what:?}: what can be read is served\n{}", outcome.stderr);
        assert_eq!(outcome.code, Some(1), "{what:?}\n{}", outcome.stderr);
        let said = &outcome.stderr;
        let is_told = said.contains("damaged") || said.contains("not a SQLite database");
        assert!(is_told && said.contains("restore"), "{what:?}\n{said}");
        true
    }

    /// The alarm is raised, tells what to do, and nothing is stored from then on.
    fn is_told(&self, what: What) {
        let client = self.site.anonymous();
        let probe = until(&format!("{what:?} is told"), NOTICED, || {
            let probe = client.get("/readyz");
            (probe.status == 503).then_some(probe)
        });
        let told = probe.json();
        assert_eq!(told["database"], "damaged", "{what:?}\n{probe}");
        assert!(told["message"].as_str().unwrap().contains("seller-platform restore"), "{probe}");
        assert!(probe.header("retry-after").is_some());
        drop(client);
        assert_eq!(self.write(), 503, "{what:?}: a write was answered");
        assert!(self.beside(".damaged").exists(), "{what:?}: it is not kept");
    }
}

#[test]
fn fifteen_kinds_of_damage_to_a_stopped_database_are_told_at_the_start() {
    let bench = Bench::new();
    for (number, what) in STOPPED.into_iter().enumerate() {
        bench.mend();
        bench.damage(what, if number % 2 == 0 { 0 } else { 0xa5 });
        if !bench.is_refused(what) {
            // Before anything can be written, so without waiting.
            assert_eq!(bench.site.anonymous().get("/readyz").status, 503, "{what:?}");
            bench.is_told(what);
            bench.site.anonymous().get("/healthz").expect(200);
        }
    }
    bench.mend();
    bench.site.start_again();
    bench.site.anonymous().get("/readyz").expect(200);
    assert_eq!(bench.write(), 200);
}

#[test]
fn ten_kinds_of_damage_under_a_running_server_are_told() {
    let bench = Bench::new();
    for (number, what) in RUNNING.into_iter().enumerate() {
        bench.mend();
        bench.site.start_again();
        bench.site.anonymous().get("/readyz").expect(200);
        assert_eq!(bench.write(), 200);
        // An idle server empties the log. What is in it would be written over the damage.
        let log = bench.beside("-wal");
        until("the log is empty", NOTICED, || {
            (std::fs::metadata(&log).unwrap().len() == 0).then_some(())
        });
        if matches!(what, LogPages) {
            while std::fs::metadata(&log).unwrap().len() < PAGE {
                assert_eq!(bench.write(), 200);
            }
        }
        bench.damage(what, if number % 2 == 0 { 0xa5 } else { 0 });
        bench.site.clock().advance_s(EIGHT_DAYS_S);
        bench.is_told(what);
    }
    bench.mend();
    bench.site.start_again();
}

#[test]
fn a_log_damaged_after_a_kill_is_told_because_answered_writes_are_missing() {
    let bench = Bench::new();
    for what in [LogPages, LogHeader] {
        bench.mend();
        bench.site.start_again();
        for _ in 0..5 {
            assert_eq!(bench.write(), 200);
        }
        bench.site.kill();
        bench.damage(what, 0x5a);
        bench.site.start_again();
        bench.is_told(what);
        let check = bench.site.command(&["check"]).exits(1).stdout;
        assert!(check.contains("answered writes may be missing"), "{check}");
    }
    bench.mend();
    bench.site.start_again();
}

#[test]
fn a_damage_is_known_after_a_restart_and_everything_that_reports_says_so() {
    let bench = Bench::new();
    bench.mend();
    bench.site.start_again();
    let copies = bench.site.folder().join("copy.db").display().to_string();
    let administrator = bench.site.administrator();
    let key = bench.site.key(&["admin"]);
    // Beside the database, where the way on finds it.
    let copy = bench.site.database().with_file_name("copia.db").display().to_string();
    bench.site.command(&["backup", &copy]).ok();
    bench.damage(Page(INDEX, "leaf"), 0);
    // A copy that fails on it is enough.
    let failed = bench.site.command(&["backup", &copies]).exits(1).stderr;
    assert!(failed.contains("damaged"), "{failed}");
    bench.is_told(Page(INDEX, "leaf"));
    let told = |site: &Site| {
        let readiness = until("the copy is named", NOTICED, || {
            let said = site.anonymous().get("/readyz").expect(503).text();
            said.contains("copia.db").then_some(said)
        });
        assert!(readiness.contains("seller-platform restore copia.db"), "{readiness}");
        let status = site.anonymous().get("/status");
        assert!(
            status.text().contains("damaged") || status.text().contains("danificado"),
            "{status}"
        );
        let figures = key.get("/metrics").expect(200).text();
        assert!(figures.contains("seller_platform_database_damaged 1\n"), "{figures}");
        assert!(figures.contains("seller_platform_database_writable 0\n"), "{figures}");
        let home = administrator.get("/admin").expect(200).text();
        assert!(home.contains("O banco de dados está danificado"), "{home}");
        assert!(home.contains("copia.db"), "{home}");
        let check = site.command(&["check"]).exits(1).stdout;
        assert!(check.contains("restore") && check.contains("copia.db"), "{check}");
    };
    told(&bench.site);
    let refused =
        ["user", "create", "--email", "rui@example.com", "--nome", "Rui Prado", "--role", "pro"];
    bench.site.command(&refused).exits(1);
    for kill in [true, false] {
        if kill {
            bench.site.kill();
        } else {
            stop(&bench.site);
        }
        bench.site.start_again();
        told(&bench.site);
        assert_eq!(bench.write(), 503);
    }
    // Told when it changes, and not with each request.
    let errors = bench.site.log().lines().filter(|line| line.contains("ERROR")).count();
    assert!(errors < 20, "{errors}");
    stop(&bench.site);
    bench.site.command(&["restore", &copy]).ok();
    assert!(!bench.beside(".damaged").exists());
    bench.site.start_again();
    bench.site.anonymous().get("/readyz").expect(200);
    assert_eq!(bench.write(), 200);
    // What the restore put aside is a second database.
    bench.site.kill();
    for entry in std::fs::read_dir(bench.site.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        if name.contains("before-restore") || name.contains("copia") {
            std::fs::remove_file(path).unwrap();
        }
    }
    bench.site.start_again();
}

/// Stops the server while other files lie beside the database.
fn stop(site: &Site) {
    site.stop_beside_other_files();
}

#[test]
fn a_sound_file_in_the_place_of_a_damaged_one_is_judged_anew() {
    let bench = Bench::new();
    bench.mend();
    bench.damage(Page(INDEX, "leaf"), 0);
    bench.site.start_again();
    bench.is_told(Page(INDEX, "leaf"));
    stop(&bench.site);
    assert!(bench.beside(".damaged").exists());
    // Under the same name, and in the same file of the system.
    std::fs::write(bench.site.database(), &bench.sound).unwrap();
    bench.site.start_again();
    bench.site.anonymous().get("/readyz").expect(200);
    assert_eq!(bench.write(), 200);
    assert!(!bench.beside(".damaged").exists());
}
