//! Changes of the file that a full disk or a kill cut off, and copies that are not
//! what they were.

use std::path::Path;
use std::process::Command;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::support::process::{EXECUTABLE, Outcome, Process, run};

const FIRST_RELEASE: &str = include_str!("../../../src/db/migrations/0001_first_release.sql");
const DATABASE: &str = "seller-platform.db";

/// A folder with a database of the first release, as a restored copy is: one file
/// without a log.
fn old() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = open(&folder.path().join(DATABASE));
    file.execute_batch(FIRST_RELEASE).unwrap();
    file.pragma_update(None, "application_id", 0x5350_4C54).unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO user (email, name, role, created_at)
                SELECT 'p' || i || '@example.com', 'Pessoa ' || hex(zeroblob(30)), 'pro', 1 FROM n";
    file.execute(many, []).unwrap();
    let more = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                INSERT INTO setting SELECT 'k' || i, randomblob(300), 0 FROM n";
    file.execute(more, []).unwrap();
    folder
}

fn open(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    Connection::open_with_flags(path, flags).unwrap()
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(EXECUTABLE);
    command.env_clear().current_dir(folder.path()).args(arguments);
    command
}

fn people(folder: &TempDir) -> i64 {
    let file = open(&folder.path().join(DATABASE));
    assert_eq!(text(&file, "PRAGMA integrity_check"), "ok");
    file.query_row("SELECT count(*) FROM user", [], |row| row.get(0)).unwrap()
}

fn text(file: &Connection, sql: &str) -> String {
    file.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_migration_without_space_is_undone_and_done_later() {
    let folder = old();
    let bytes = std::fs::metadata(folder.path().join(DATABASE)).unwrap().len();
    // Enough for the copy, and for the first pages of the migration.
    let blocks = (bytes / 512 + 16).to_string();
    let limited = "trap '' XFSZ; ulimit -f \"$1\"; exec \"$0\" migrate";
    let mut migrate = Command::new("sh");
    migrate.env_clear().current_dir(folder.path()).args(["-c", limited, EXECUTABLE, &blocks]);
    let Outcome { code, stderr, .. } = run(&mut migrate, "");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("was undone") && stderr.contains("free some space"), "{stderr}");
    let journal = folder.path().join(format!("{DATABASE}-journal"));
    assert!(!journal.exists(), "it was not undone");
    assert_eq!(people(&folder), 3_000);
    let mut serve = command(&folder, &["serve", "--listen", "127.0.0.1:0"]);
    Process::start(&mut serve).stop(std::time::Duration::from_secs(30));
    assert_eq!(people(&folder), 3_000);
}

/// What a kill in the middle of a change leaves: half of it in the file, and the
/// journal to undo it.
fn killed() -> TempDir {
    let (before, after) = (old(), tempfile::tempdir().unwrap());
    let file = open(&before.path().join(DATABASE));
    file.execute_batch(
        "PRAGMA cache_size = 2;
         BEGIN IMMEDIATE;
         DELETE FROM setting WHERE name > 'k2';
         CREATE TABLE later (x);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
         INSERT INTO later SELECT hex(randomblob(3000)) FROM n;",
    )
    .unwrap();
    for suffix in ["", "-journal"] {
        let name = format!("{DATABASE}{suffix}");
        std::fs::copy(before.path().join(&name), after.path().join(&name)).unwrap();
    }
    // Such a file is its owner's alone.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(after.path().join(DATABASE), mode).unwrap();
    after
}

#[test]
fn a_change_that_a_kill_cut_off_is_no_damage() {
    let folder = killed();
    let files = || {
        let names = std::fs::read_dir(folder.path()).unwrap();
        let mut files: Vec<_> = names
            .map(|entry| entry.unwrap().path())
            .map(|path| (std::fs::read(&path).unwrap().len(), path))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let checked = run(&mut command(&folder, &["check"]), "");
    assert!(checked.stdout.contains("no damage found"), "{}", checked.stdout);
    run(&mut command(&folder, &["migrate", "status"]), "");
    assert_eq!(files(), before, "looking changes nothing");
    let mut serve = command(&folder, &["serve", "--listen", "127.0.0.1:0"]);
    Process::start(&mut serve).stop(std::time::Duration::from_secs(30));
    assert_eq!(people(&folder), 3_000);
    // The restore sets the whole database aside, not half of a change.
    let folder = killed();
    let copy = tempfile::tempdir().unwrap();
    let made = run(&mut command(&copy, &["migrate"]), "");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let copy = copy.path().join(DATABASE).display().to_string();
    let said = run(&mut command(&folder, &["restore", &copy]), "").stdout;
    let undo =
        said.lines().find_map(|line| line.split_once(" restore ")).expect(&said).1.to_owned();
    let undone = run(&mut command(&folder, &["restore", &undo]), "");
    assert_eq!(undone.code, Some(0), "{}", undone.stderr);
    assert_eq!(people(&folder), 3_000);
}

/// A folder with a database, a copy of it and the copy's manifest.
fn copied() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["migrate"][..], &["backup", "copia.db"]] {
        let done = run(&mut command(&folder, arguments), "");
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    (folder, "copia.db".to_owned())
}

#[test]
fn a_copy_that_is_not_what_its_manifest_says_is_refused() {
    let (folder, copy) = copied();
    let restore = || run(&mut command(&folder, &["restore", &copy]), "");
    let said = restore();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("manifest"), "{}", said.stdout);
    // A sound database, and not the one that was copied.
    let changed = open(&folder.path().join(&copy));
    changed.execute("INSERT INTO setting VALUES ('x', x'00', 0)", []).unwrap();
    drop(changed);
    let before = std::fs::read(folder.path().join(DATABASE)).unwrap();
    let said = restore();
    assert_eq!((said.code, &*said.stdout), (Some(1), ""), "{}", said.stderr);
    for word in ["copia.db", "SHA-256", "manifest", "another copy"] {
        assert!(said.stderr.contains(word), "{word}: {}", said.stderr);
    }
    assert!(std::fs::read(folder.path().join(DATABASE)).unwrap() == before);
    std::fs::write(folder.path().join("copia.db.json"), "{}").unwrap();
    assert_eq!(restore().code, Some(1));
    std::fs::remove_file(folder.path().join("copia.db.json")).unwrap();
    let said = restore();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("has no manifest"), "{}", said.stdout);
}

#[test]
fn the_way_to_undo_a_restore_is_told_when_there_is_one() {
    let (folder, copy) = copied();
    let restore = |file: &str| run(&mut command(&folder, &["restore", file]), "");
    let said = restore(&copy).stdout;
    assert!(said.contains("To undo this"), "{said}");
    let database = folder.path().join(DATABASE);
    let mut bytes = std::fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8_192].fill(0xaa);
    std::fs::write(&database, bytes).unwrap();
    let said = restore(&copy);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let said = said.stdout;
    assert!(!said.contains("To undo this") && said.contains("would refuse it"), "{said}");
    // And so it does.
    let aside =
        said.lines().find_map(|line| line.strip_prefix("The replaced database is ")).unwrap();
    assert_eq!(restore(aside.trim_end_matches('.')).code, Some(1));
}
