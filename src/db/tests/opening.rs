//! Which files are opened, which are refused, and what stays behind.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_clean_stop_leaves_one_private_file() {
    let (place, db) = opened();
    write(&db, |tx| put(tx, "a", b""));
    for name in place.files() {
        let mode = std::fs::metadata(place.file(&name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(
        place.files(),
        ["seller.db", "seller.db-shm", "seller.db-wal", "seller.db.commits", "seller.db.lock"]
    );
    db.close().unwrap();
    assert_eq!(place.files(), ["seller.db"]);
}

#[test]
fn commands_leave_no_file_behind_either() {
    let place = made();
    let db = Db::open_beside(&place.options()).unwrap();
    write(&db, |tx| put(tx, "a", b""));
    db.close().unwrap();
    assert_eq!(place.files(), ["seller.db"]);
    assert_eq!(count(&place.open()), 1);
}

#[test]
fn a_second_server_is_refused_until_the_first_is_gone() {
    let place = TestFile::new();
    let first = place.open();
    let error = Db::open_exclusive(&place.options()).err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    let pid = std::process::id().to_string();
    assert!(error.to_string().contains(&pid), "{error}");
    drop(first);
    let (_, opened) = Db::open_exclusive(&place.options()).unwrap();
    assert!(opened.was_clean);
}

#[test]
fn a_log_or_lock_left_behind_tells_of_an_unclean_stop() {
    let place = made();
    std::fs::write(place.file("seller.db.lock"), "1\n").unwrap();
    let (db, opened) = Db::open_exclusive(&place.options()).unwrap();
    assert!(!opened.was_clean);
    assert_eq!(db.check(Depth::Light).unwrap(), None);
    db.close().unwrap();
    let (_, opened) = Db::open_exclusive(&place.options()).unwrap();
    assert!(opened.was_clean);
}

#[test]
fn what_a_kill_left_in_the_log_is_there_at_the_next_start() {
    let place = made();
    let db = place.open();
    write(&db, |tx| put(tx, "a", b""));
    let after_kill = TestFile::new();
    for suffix in ["", "-wal", ".lock"] {
        let name = format!("seller.db{suffix}");
        std::fs::copy(place.file(&name), after_kill.file(&name)).unwrap();
    }
    let (db, opened) = Db::open_exclusive(&after_kill.options()).unwrap();
    assert!(!opened.was_clean);
    assert_eq!(count(&db), 1);
}

/// Opens `place` both ways, checks that both fail alike and that neither
/// changed or made a file.
#[track_caller]
fn refused(place: &TestFile, what: &str) -> OpenError {
    let before = std::fs::read(place.path()).ok();
    let files = place.files();
    let beside = Db::open_beside(&place.options()).err().unwrap();
    let error = Db::open_exclusive(&place.options()).err().unwrap();
    assert_eq!(std::fs::read(place.path()).ok(), before);
    assert_eq!(place.files(), files);
    for text in [error.to_string(), beside.to_string()] {
        assert!(text.contains(what), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
    error
}

#[test]
fn a_newer_file_is_refused_untouched() {
    let place = made();
    let connection =
        pragmas::open_plain(&place.path(), rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection.pragma_update(None, "user_version", 77).unwrap();
    connection.close().unwrap();
    let error = refused(&place, "schema version 77");
    assert!(error.to_string().contains(&format!("knows {}", migrate::VERSION)), "{error}");
}

#[test]
fn another_programs_database_is_refused_untouched() {
    let place = made();
    let connection =
        pragmas::open_plain(&place.path(), rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection.pragma_update(None, "application_id", 7).unwrap();
    connection.close().unwrap();
    refused(&place, "another program");
}

#[test]
fn other_files_are_refused_untouched() {
    let place = TestFile::new();
    std::fs::write(place.path(), "notes\n".repeat(100)).unwrap();
    refused(&place, "not a SQLite database");
    std::fs::remove_file(place.path()).unwrap();
    std::fs::create_dir(place.path()).unwrap();
    refused(&place, "not a SQLite database");
}

#[test]
fn damaged_files_are_refused_untouched() {
    let place = made();
    let whole = std::fs::read(place.path()).unwrap();
    std::fs::write(place.path(), &whole[..whole.len() / 2]).unwrap();
    refused(&place, "damaged");
    let mut garbled = whole;
    garbled[100..4_096].fill(0xff);
    std::fs::write(place.path(), garbled).unwrap();
    refused(&place, "damaged");
}

#[test]
fn a_missing_folder_is_named() {
    let place = TestFile::new();
    let options = Options { path: place.file("nowhere/seller.db"), ..place.options() };
    for error in
        [Db::open_exclusive(&options).err().unwrap(), Db::open_beside(&options).err().unwrap()]
    {
        assert!(matches!(error, OpenError::NoFolder(_)), "{error}");
    }
}

#[test]
fn commands_make_no_database() {
    let place = TestFile::new();
    let error = Db::open_beside(&place.options()).err().unwrap();
    assert!(matches!(error, OpenError::Missing(_)), "{error}");
    assert_eq!(place.files(), Vec::<String>::new());
    std::fs::write(place.path(), "").unwrap();
    let error = Db::open_beside(&place.options()).err().unwrap();
    assert!(matches!(error, OpenError::Older { .. }), "{error}");
}

#[test]
fn the_settings_that_promises_rest_on_are_in_force() {
    let (_place, db) = opened();
    let setting = |db: &Db, sql: &'static str| {
        let value: i64 = write(db, move |tx| tx.value(sql, []));
        value
    };
    assert_eq!(setting(&db, "PRAGMA synchronous"), 2);
    assert_eq!(setting(&db, "PRAGMA foreign_keys"), 1);
    assert_eq!(setting(&db, "PRAGMA secure_delete"), 1);
    assert_eq!(setting(&db, "PRAGMA trusted_schema"), 0);
    assert_eq!(setting(&db, "PRAGMA wal_autocheckpoint"), 0);
    let misspelt = db.write(|tx| tx.value::<String>("SELECT \"none\"", []));
    assert!(misspelt.is_err(), "a quoted name must not become a text");
}
