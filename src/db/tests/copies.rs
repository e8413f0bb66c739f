//! Backups and restores.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};

use super::backup::{self, BackupError, Report, copy_unnamed};
use super::copying::Making;
use super::restore::{restore, restore_as};
use super::*;

/// Copies a database, watched by nobody.
fn copy(database: &Path, to: &Path, clock: &Clock) -> Result<Report, BackupError> {
    backup::make(database, to, &Making::plain(clock))
}

/// Moves one unit between two counters, so that their sum never changes.
fn transfer(tx: &WriteTx<'_>) -> Result<()> {
    tx.execute("UPDATE daily_count SET count = count - 1 WHERE name = 'left'", [])?;
    tx.execute("UPDATE daily_count SET count = count + 1 WHERE name = 'right'", [])?;
    Ok(())
}

fn counters(db: &Db) -> (i64, i64) {
    db.read(Lane::InPlace, |tx| {
        let count = |name| tx.value("SELECT count FROM daily_count WHERE name = ?1", [name]);
        Ok::<_, DbError>((count("left")?, count("right")?))
    })
    .unwrap()
}

fn with_counters(place: &TestFile) -> Db {
    let db = place.open();
    write(&db, |tx| {
        tx.execute(
            "INSERT INTO daily_count (name, day, count) VALUES ('left', 0, 0), ('right', 0, 0)",
            [],
        )
    });
    db
}

#[test]
fn a_backup_under_writes_restores_to_one_moment() {
    let place = TestFile::new();
    let db = with_counters(&place);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                write(&db, transfer);
            }
        });
        for number in 0..5 {
            let before = counters(&db).1;
            let file = place.file(&format!("copy-{number}.db"));
            let report = copy(&place.path(), &file, &Clock::System).unwrap();
            assert_eq!(report.bytes, std::fs::metadata(&file).unwrap().len());

            let elsewhere = TestFile::new();
            restore(&file, &elsewhere.path(), &Clock::System).unwrap();
            assert_eq!(elsewhere.files(), ["seller.db"]);
            let restored = elsewhere.open();
            let (left, right) = counters(&restored);
            assert_eq!(left + right, 0);
            assert!(right >= before, "older than its start");
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_copy_is_one_private_file_with_a_manifest() {
    let place = made();
    let report = copy(&place.path(), &place.file("copy.db"), &Clock::System).unwrap();
    assert_eq!(place.files(), ["copy.db", "copy.db.json", "seller.db"]);
    for name in place.files() {
        let mode = std::fs::metadata(place.file(&name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
    let bytes = std::fs::read(place.file("copy.db")).unwrap();
    assert_eq!(bytes[18..20], [1, 1], "the copy must not ask for a log");
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.file("copy.db.json")).unwrap()).unwrap();
    assert_eq!(manifest["bytes"], bytes.len());
    assert_eq!(manifest["sha256"], report.sha256);
    assert_eq!(manifest["schema"], migrate::VERSION);
    assert_eq!(manifest["rows"]["word"], 11);
    assert_eq!(manifest["file"], "copy.db");
}

#[test]
fn what_a_killed_backup_left_is_replaced_and_never_taken_for_a_copy() {
    let place = made();
    let file = place.file("copy.db");
    copy(&place.path(), &file, &Clock::System).unwrap();
    let good = std::fs::read(&file).unwrap();
    std::fs::write(place.file("copy.db.partial"), vec![7; 1 << 20]).unwrap();
    std::fs::write(place.file("copy.db.partial-journal"), "half").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), good);
    copy(&place.path(), &file, &Clock::System).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), good);
    assert_eq!(place.files(), ["copy.db", "copy.db.json", "seller.db"]);
}

#[test]
fn two_backups_to_one_file_do_not_mix() {
    let place = made();
    let held = lock::lock_path(&place.file("copy.db.partial")).unwrap();
    let error = copy(&place.path(), &place.file("copy.db"), &Clock::System).unwrap_err();
    assert!(matches!(error, BackupError::InProgress(_)), "{error}");
    drop(held);
    copy(&place.path(), &place.file("copy.db"), &Clock::System).unwrap();
}

#[test]
fn a_link_in_the_place_of_a_lock_or_an_unfinished_copy_is_refused() {
    let place = made();
    std::fs::write(place.file("other"), "another file of whoever runs this").unwrap();
    for name in ["seller.db.lock", "copy.db.partial"] {
        std::os::unix::fs::symlink(place.file("other"), place.file(name)).unwrap();
    }
    let error = copy(&place.path(), &place.file("copy.db"), &Clock::System).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    let error = Db::open_exclusive(&place.options()).err().unwrap();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    let other = std::fs::read_to_string(place.file("other")).unwrap();
    assert_eq!(other, "another file of whoever runs this");
}

#[test]
fn the_database_itself_is_none_of_its_copies() {
    let place = made();
    let now = Clock::System.now();
    copy(&place.path(), &place.file("copy.db"), &Clock::System).unwrap();
    let named_otherwise = place.file(".").join("seller.db");
    let names: Vec<String> = copies_in(place.folder.path(), &named_otherwise, now)
        .iter()
        .map(BackupCopy::name)
        .collect();
    assert_eq!(names, ["copy.db"]);
}

#[test]
fn only_what_differs_is_a_fault_of_a_copy() {
    let place = made();
    let copied = place.file("copy.db");
    copy(&place.path(), &copied, &Clock::System).unwrap();
    let kept = || copies_in(place.folder.path(), &place.path(), Clock::System.now()).remove(0);
    assert_eq!(kept().compare(None).unwrap(), None);
    let stop = Stop::default();
    stop.stop();
    let error = kept().compare(Some(&stop)).unwrap_err();
    assert!(matches!(error, BackupError::Stopped), "{error}");
    let gone = kept();
    let aside = place.file("aside");
    std::fs::rename(&copied, &aside).unwrap();
    assert!(matches!(gone.compare(None).unwrap_err(), BackupError::Io { .. }));
    let mut bytes = std::fs::read(&aside).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&copied, bytes).unwrap();
    assert!(kept().compare(None).unwrap().unwrap().contains("SHA-256"));
}

#[test]
fn a_restore_that_is_only_tried_ends_when_the_service_stops() {
    let place = made();
    copy(&place.path(), &place.file("copy.db"), &Clock::System).unwrap();
    let before = place.files();
    let stop = Stop::default();
    let clock = Clock::System;
    let making = Making { stop: Some(&stop), is_gentle: true, ..Making::plain(&clock) };
    let tried = place.file("tried.db");
    stop.stop();
    let error = restore_as(&place.file("copy.db"), &tried, &making).unwrap_err();
    assert!(matches!(error, BackupError::Stopped), "{error}");
    assert_eq!(place.files(), before);
}

#[test]
fn a_restore_keeps_the_present_database_and_can_be_undone() {
    let place = made();
    let file = place.file("copy.db");
    copy(&place.path(), &file, &Clock::System).unwrap();
    let db = place.open();
    write(&db, |tx| put(tx, "later", b""));
    let error = restore(&file, &place.path(), &Clock::System).unwrap_err();
    assert!(error.to_string().contains("in use by another server"), "{error}");
    db.close().unwrap();

    let restored = restore(&file, &place.path(), &Clock::System).unwrap();
    let aside = restored.aside.unwrap();
    assert!(restored.lines.iter().any(|line| line.contains("To undo")));
    assert_eq!(count(&place.open()), 0);
    restore(&aside, &place.path(), &Clock::System).unwrap();
    assert_eq!(count(&place.open()), 1);
}

#[test]
fn a_restore_after_a_kill_keeps_what_the_log_held() {
    let place = made();
    let file = place.file("copy.db");
    copy(&place.path(), &file, &Clock::System).unwrap();
    let db = place.open();
    write(&db, |tx| put(tx, "only in the log", b""));
    let after_kill = TestFile::new();
    for suffix in ["", "-wal"] {
        let name = format!("seller.db{suffix}");
        std::fs::copy(place.file(&name), after_kill.file(&name)).unwrap();
    }
    let restored = restore(&file, &after_kill.path(), &Clock::System).unwrap();
    assert_eq!(count(&after_kill.open()), 0);
    restore(&restored.aside.unwrap(), &after_kill.path(), &Clock::System).unwrap();
    assert_eq!(count(&after_kill.open()), 1);
}

#[test]
fn a_restore_replaces_a_database_that_is_damaged() {
    let place = made();
    let file = place.file("copy.db");
    copy(&place.path(), &file, &Clock::System).unwrap();
    std::fs::write(place.path(), "garbage").unwrap();
    std::fs::write(place.file("seller.db-wal"), "more garbage").unwrap();
    restore(&file, &place.path(), &Clock::System).unwrap();
    assert_eq!(count(&place.open()), 0);
}

#[test]
fn a_bad_copy_is_refused_and_changes_nothing() {
    let place = made();
    let file = place.file("copy.db");
    copy(&place.path(), &file, &Clock::System).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    // Somewhere in the pages, where only the thorough check looks.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4_096].fill(0xaa);
    std::fs::write(&file, bytes).unwrap();
    refused(&place, &file, "copy.db is not what its manifest says");
    std::fs::remove_file(place.file("copy.db.json")).unwrap();
    refused(&place, &file, "copy.db is damaged");
    std::fs::write(&file, "notes").unwrap();
    refused(&place, &file, "not a SQLite database");
    std::fs::remove_file(&file).unwrap();
    refused(&place, &file, "copy.db does not exist");
    refused(&place, &place.path(), "the database itself");
}

#[test]
fn a_copy_to_send_is_checked_and_leaves_no_name() {
    let place = made();
    let mut unnamed = copy_unnamed(&place.path()).unwrap();
    assert_eq!(place.files(), ["seller.db"]);
    let mut bytes = Vec::new();
    unnamed.file.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, unnamed.bytes);
    assert_eq!(unnamed.sha256, <[u8; 32]>::from(Sha256::digest(&bytes)));
    let file = place.file("received.db");
    std::fs::write(&file, &bytes).unwrap();
    restore(&file, &place.path(), &Clock::System).unwrap();
    std::fs::remove_file(&file).unwrap();

    let mut bytes = std::fs::read(place.path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4_096].fill(0xaa);
    std::fs::write(place.path(), bytes).unwrap();
    let before = place.files();
    let error = copy_unnamed(&place.path()).err().unwrap();
    assert!(matches!(error, BackupError::Damaged { .. }), "{error}");
    assert_eq!(place.files(), before);
}

#[test]
fn a_backup_of_nothing_or_onto_itself_is_refused() {
    let place = made();
    let missing = place.file("missing.db");
    let error = copy(&missing, &place.file("copy.db"), &Clock::System).unwrap_err();
    assert!(error.to_string().contains("no database"), "{error}");
    let error = copy(&place.path(), &place.path(), &Clock::System).unwrap_err();
    assert!(matches!(error, BackupError::SameFile(_)), "{error}");
    let error = copy(&place.path(), &place.file("no/copy.db"), &Clock::System).unwrap_err();
    assert!(matches!(error, BackupError::NoFolder(_)), "{error}");
    assert_eq!(place.files(), ["seller.db"]);
}

#[track_caller]
fn refused(place: &TestFile, file: &Path, what: &str) {
    let before = (std::fs::read(place.path()).unwrap(), place.files());
    let error = restore(file, &place.path(), &Clock::System).unwrap_err();
    assert!(error.to_string().contains(what), "{error}");
    assert_eq!((std::fs::read(place.path()).unwrap(), place.files()), before);
}
