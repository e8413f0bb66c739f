//! A database of each version that was ever released: brought up with its data, served,
//! put back from the copy made before, and brought up once more.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::faults::{figure, times};
use crate::support::client::{Client, Request};
use crate::support::process::{EXECUTABLE, Process, run};

const DATABASE: &str = "seller-platform.db";

/// The steps in their order, the first release before them.
fn steps() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/db/migrations");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// What the first release may have stored.
const DATA: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO user (email, name, role, created_at, suspended_at)
    SELECT 'p' || i || '@example.com', 'Pessoa ' || i,
           CASE i % 4 WHEN 0 THEN 'pro' WHEN 1 THEN 'vip' WHEN 2 THEN 'drop' ELSE 'admin' END,
           i, CASE WHEN i % 9 = 0 THEN i + 1 END FROM n;
    INSERT INTO plan (slug, title, price_cents, period, benefits, created_at, updated_at)
    VALUES ('mensal', 'Mensal', 4990, 'mensal', '[\"Um\"]', 1, 1),
           ('anual', 'Anual', 49900, 'anual', '[]', 1, 1);
    INSERT INTO sold_item (item_id, variation_id, site, title, sku) VALUES (3, 0, 'MLB', 'Cabo', 'C-1');
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO sale_order (owner_id, created_at, order_id, ml_user_id, status, total_cents, currency,
                            updated_at, item_id, variation_id, quantity, buyer_nickname)
    SELECT 1 + i % 5, 1000 + i, 2000000 + i, 7, 5, 100 + i, 20, 1000 + i, 3, 0, 1, 'COMPRADOR' FROM n;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body, state, next_try_at)
    SELECT i, 'invoices', '/invoices/' || i, 7, x'7b7d', 2, 1 FROM n;
    INSERT INTO partner_account (user_id, plan, updated_at) VALUES (1, 'pro', 1);
";

/// Everything of it that any version must still have.
const KEPT: [&str; 4] = [
    "SELECT user_id || email || name || role || ifnull(suspended_at, '') FROM user ORDER BY user_id",
    "SELECT slug || title || price_cents || benefits FROM plan ORDER BY slug",
    "SELECT owner_id || ' ' || order_id || ' ' || total_cents || ' ' || status FROM sale_order ORDER BY order_id",
    "SELECT resource || state FROM ml_notification ORDER BY notification_id",
];

fn open(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    Connection::open_with_flags(path, flags).unwrap()
}

/// What a file has of the data, and its version.
#[track_caller]
fn content(path: &Path) -> (Vec<Vec<String>>, i64) {
    let file = open(path);
    let sound: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let all = |sql: &&str| {
        let mut statement = file.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<Vec<String>, _>>().unwrap()
    };
    let version = file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    (KEPT.iter().map(all).collect(), version)
}

/// A folder with a database of a version, as a program of that version left it.
fn of_version(version: usize, steps: &[String]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = open(&folder.path().join(DATABASE));
    file.create_scalar_function("stored_email", 1, FunctionFlags::SQLITE_UTF8, |call| {
        call.get::<String>(0)
    })
    .unwrap();
    // The entries of the audit log are not walked here.
    file.create_scalar_function("audit_link", -1, FunctionFlags::SQLITE_UTF8, |_| Ok(vec![0; 32]))
        .unwrap();
    file.execute_batch(&steps[0]).unwrap();
    file.execute_batch(DATA).unwrap();
    for step in &steps[1..version] {
        file.execute_batch(&format!("PRAGMA foreign_keys = OFF; BEGIN; {step}; COMMIT")).unwrap();
    }
    file.pragma_update(None, "application_id", 0x5350_4C54).unwrap();
    file.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(EXECUTABLE);
    command.env_clear().current_dir(folder).args(arguments);
    command
}

/// Starts the server, which brings the database up, requires that it is ready, and stops it.
#[track_caller]
fn serve(folder: &Path) {
    let mut server = Process::start(&mut command(folder, &["serve", "--listen", "127.0.0.1:0"]));
    let ready = Client::default().send(server.address, &Request::new("GET", "/readyz")).unwrap();
    assert_eq!(ready.status, 200, "{ready}");
    assert!(server.stop(Duration::from_secs(30)).success(), "{}", server.log());
}

#[test]
fn a_database_of_every_version_is_brought_up_and_goes_back() {
    let steps = steps();
    let newest = i64::try_from(steps.len()).unwrap();
    assert!(newest >= 25, "the steps were not found");
    for version in 1..=steps.len() {
        let folder = of_version(version, &steps);
        let folder = folder.path();
        let database = folder.join(DATABASE);
        let before = content(&database);
        assert_eq!(before.0.iter().map(Vec::len).sum::<usize>(), 602, "version {version}");
        // Some versions take the whole way also in the short tier.
        let is_whole = (version as u64).is_multiple_of(times(8, 1)) || version == 1;
        if is_whole {
            serve(folder);
        } else {
            let done = run(&mut command(folder, &["migrate"]), "");
            assert_eq!(done.code, Some(0), "version {version}: {}", done.stderr);
        }
        let (kept, reached) = content(&database);
        assert_eq!((&kept, reached), (&before.0, newest), "version {version}");
        let copy = format!("seller-platform.before-v{}.db", version + 1);
        if version == steps.len() {
            assert!(!folder.join(&copy).exists(), "nothing was to be done");
            continue;
        }
        assert_eq!(content(&folder.join(&copy)), before, "the copy of version {version}");
        if !is_whole {
            continue;
        }
        let back = run(&mut command(folder, &["restore", &copy]), "");
        assert_eq!(back.code, Some(0), "version {version}: {}", back.stderr);
        assert_eq!(content(&database), before, "version {version} is back");
        serve(folder);
        assert_eq!(content(&database), (kept, newest), "version {version} once more");
    }
    figure("Versions", &format!("{newest} versions brought up, back, and up again"));
}
