//! Every table is told of, and nothing of an erased person is left in the file.

mod others;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::Arc;

use rusqlite::Connection;

use super::erase::Eraser;
use super::tables::{Part, TABLES};
use super::{Owner, by_email, export};
use crate::audit::chain::Walk;
use crate::audit::{self, Act, Actor, ActorKind};
use crate::base::{DAY_S, Sealer, UserId};
use crate::db::{DbError, SCHEMA};
use crate::fixture::{NOW, TestApp, TestDir, ZONE, config};

/// Tables with their columns, without those of full-text indexes.
fn schema() -> BTreeMap<String, BTreeSet<String>> {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    let mut tables = BTreeMap::<String, BTreeSet<String>>::new();
    let mut statement = connection
        .prepare(
            "SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
             WHERE t.type = 'table' AND t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    for row in rows {
        let (table, column): (String, String) = row.unwrap();
        tables.entry(table).or_default().insert(column);
    }
    tables
}

/// The columns that a shown expression is of.
fn columns_of(shown: &str, all: &BTreeSet<String>) -> Vec<String> {
    let plain = shown.split(" AS ").next().unwrap_or_default();
    let named = shown.rsplit(" AS ").next().unwrap_or_default();
    let words = plain.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let mut found: Vec<String> =
        words.filter(|word| all.contains(*word)).map(str::to_owned).collect();
    found.extend(all.get(named).cloned());
    found
}

#[test]
fn every_table_and_column_is_exported_or_left_out_for_a_reason() {
    let schema = schema();
    let listed: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
    let unknown: Vec<&String> =
        schema.keys().filter(|table| !listed.contains(&table.as_str())).collect();
    assert!(unknown.is_empty(), "say in tables.rs what of these is a person's: {unknown:?}");
    assert_eq!(listed.len(), schema.len(), "tables.rs names tables that are not there");
    // Columns by which a row is of a person.
    let owners = ["user_id", "owner_id", "student_id", "supplier_id", "seller_id", "caller_id"];
    let mut names = BTreeSet::new();
    for (table, part) in TABLES {
        let columns = &schema[*table];
        match part {
            Part::Nothing(reason) => assert!(reason.len() > 10, "{table}: why?"),
            Part::File { name, shown, withheld, which } => {
                assert!(names.insert(*name), "two files are called {name}");
                let mut left = columns.clone();
                for one in *shown {
                    for column in columns_of(one, columns) {
                        left.remove(&column);
                    }
                }
                let secret = shown.iter().any(|one| {
                    ["hash", "token_hash", "secret", "access_token", "code", "auth"].contains(one)
                });
                assert!(!secret, "{table} shows a secret");
                let withheld: BTreeSet<String> =
                    withheld.iter().map(|name| (*name).to_owned()).collect();
                left.retain(|column| !withheld.contains(column));
                assert!(left.is_empty(), "{table}: shown or withheld? {left:?}");
                let is_narrowed = which.contains("?1");
                assert!(is_narrowed, "{table} is not narrowed to a person");
                let _ = owners;
            }
        }
    }
}

/// A word in each text of Ana's.
const WORD: &str = "Zorbaxinha";

/// Fills every table that can name Ana, whose number is 7; Bia has number 8.
fn seed(test: &TestApp) {
    test.write(|tx| {
        let sql = include_str!("../seed.sql").replace("$NOW", &NOW.0.to_string());
        for statement in sql.split(";\n").filter(|text| !text.trim().is_empty()) {
            tx.run(statement, []).unwrap_or_else(|error| panic!("{error} in {statement}"));
        }
        for (action, object, id, name) in [
            ("aluno.criar", "aluno", "7", "Ana Zorbaxinha"),
            ("aluno.criar", "aluno", "8", "Bia Pública"),
            ("relacao.criar", "relacao", "3", "Bia e Ana Zorbaxinha"),
        ] {
            let actor = Actor::local(ActorKind::Command, "teste");
            let act = Act { action, object, object_id: id.to_owned(), object_name: name };
            let after = serde_json::json!({ "nome": name, "email": "ana@zorbaxinha.com" });
            let after = (id != "8").then_some(after);
            audit::note(tx, &actor, &act, (), after.as_ref())?;
        }
        let actor = Actor {
            kind: ActorKind::Person,
            id: Some(7),
            name: "Ana Zorbaxinha".to_owned(),
            address: "203.0.113.77".to_owned(),
            request_id: "zorbaxinha-1".to_owned(),
        };
        let act = Act {
            action: "plano.criar",
            object: "plano",
            object_id: "1".to_owned(),
            object_name: "Pro",
        };
        audit::note(tx, &actor, &act, (), ())?;
        audit::log::store::index(tx, 1_000)?;
        crate::people::store::index(tx, 1_000)?;
        Ok(())
    });
}

fn eraser(test: &TestApp) -> Eraser {
    Eraser {
        db: test.app.db.clone(),
        sealer: Sealer::new([7; 32]),
        database: test.dir.folder.path().join("test.db"),
    }
}

/// How often a word is in the file, in whatever case, after a checkpoint.
fn left(dir: &TestDir) -> usize {
    let mut bytes = std::fs::read(dir.folder.path().join("test.db")).unwrap();
    bytes.make_ascii_lowercase();
    let word = WORD.to_lowercase();
    memchr::memmem::find_iter(&bytes, word.as_bytes()).count()
}

/// Closes the service, so that all is in the one file.
fn closed(test: TestApp) -> TestDir {
    let TestApp { app, dir } = test;
    let services = Arc::into_inner(app).map(|app| app.services);
    let services = services.and_then(Arc::into_inner);
    services.expect("nobody else holds the service").db.close().unwrap();
    dir
}

fn command() -> Actor {
    Actor::local(ActorKind::Command, "teste")
}

#[test]
fn nothing_that_names_an_erased_person_is_left_in_the_file() {
    let test = TestApp::new(config(&[]));
    seed(&test);
    let before = test.dir.folder.path().join("test.db");
    assert!(before.exists());
    let dir = closed(test);
    let full = left(&dir);
    assert!(full > 60, "{full}");
    let test = TestApp::at(dir, config(&[]));
    eraser(&test).erase(UserId(7), &command()).unwrap();
    // Who is somebody else stays, and so do amounts and acts.
    let kept = test.ask(
        "SELECT name FROM user WHERE user_id = 8
         UNION ALL SELECT title FROM notification WHERE owner_id = 8
         UNION ALL SELECT body FROM checkout_body WHERE event_id = 1
         UNION ALL SELECT action FROM audit WHERE audit_id = 1
         UNION ALL SELECT object_name FROM audit WHERE audit_id = 2
         UNION ALL SELECT amount_cents || '' FROM drop_order
         UNION ALL SELECT rows FROM student_import",
        |row| row.get::<_, String>(0),
    );
    assert_eq!(kept[..2], ["Bia Pública", "[apagado] aceitou o convite"]);
    assert_eq!(
        kept[2],
        r#"{"data":{"purchase":{"price":{"currency_value":"BRL","value":97},"transaction":"HP1"}}}"#
    );
    assert_eq!(kept[3..6], ["aluno.criar", "Bia Pública", "990"]);
    assert!(kept[6].contains("[apagado]") && kept[6].contains("\"erro\""), "{}", kept[6]);
    let mut walk = Walk::START;
    while !walk.is_over {
        walk = test.read(|tx| walk.on(tx));
    }
    assert_eq!((walk.broken, walk.entries), (None, 5));
    assert!(test.read(|tx| by_email(tx, "ana@zorbaxinha.com")).is_none());
    let dir = closed(test);
    assert_eq!(left(&dir), 0);
}

#[test]
fn a_copy_of_before_is_brought_to_the_same_state_and_nobody_else_is() {
    let test = TestApp::new(config(&[]));
    seed(&test);
    let dir = closed(test);
    let path = dir.folder.path().join("test.db");
    let copy = std::fs::read(&path).unwrap();
    let test = TestApp::at(dir, config(&[]));
    eraser(&test).erase(UserId(7), &command()).unwrap();
    assert_eq!(eraser(&test).reconcile().unwrap(), 0, "all is known already");
    let dir = closed(test);
    // A restored copy of before has the person and no note.
    std::fs::write(&path, copy).unwrap();
    assert!(left(&dir) > 0);
    let test = TestApp::at(dir, config(&[]));
    // In this copy the same number may belong to somebody who came later.
    test.write(|tx| {
        tx.run(
            "INSERT INTO user (user_id, email, name, role, created_at) VALUES (9, 'eva@exemplo.com', 'Eva', 'pro', 5)",
            [],
        )
    });
    assert_eq!(eraser(&test).reconcile().unwrap(), 1);
    assert_eq!(eraser(&test).reconcile().unwrap(), 0);
    let people = test.ask("SELECT user_id FROM user WHERE removed_at IS NULL ORDER BY 1", |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(people, [8, 9]);
    // Without the file, the notes of the database are written down again.
    let ledger = super::ledger::file_of(&path);
    std::fs::remove_file(&ledger).unwrap();
    eraser(&test).reconcile().unwrap();
    assert_eq!(super::ledger::read(&ledger).unwrap().len(), 1);
    // Somebody else with that number, made at another second, is not the person.
    test.write(|tx| {
        tx.run("DELETE FROM erasure", [])?;
        tx.run(
            "UPDATE user SET email = 'nova@exemplo.com', name = 'Nova', removed_at = NULL, created_at = ?1 WHERE user_id = 7",
            [NOW.0 + DAY_S],
        )
    });
    assert_eq!(eraser(&test).reconcile().unwrap(), 0);
    assert!(test.read(|tx| by_email(tx, "nova@exemplo.com")).is_some());
    let dir = closed(test);
    assert_eq!(left(&dir), 0);
}

#[test]
fn an_erasure_that_was_cut_off_is_finished_at_the_start() {
    let test = TestApp::new(config(&[]));
    seed(&test);
    // As a kill after the first job leaves it.
    let subject = r#"{"user":7,"email":"ana@zorbaxinha.com","words":["ana@zorbaxinha.com","Ana Zorbaxinha","LOJA ZORBAXINHA","@zorbaxinha","5511987654321"],"accounts":[701]}"#;
    test.write(move |tx| {
        tx.run(
            "INSERT INTO erasure (person, email, at, subject) VALUES (zeroblob(32), zeroblob(32), 1, ?1)",
            [subject],
        )
    });
    assert_eq!(eraser(&test).resume().unwrap(), 1);
    assert_eq!(eraser(&test).resume().unwrap(), 0);
    assert!(test.read(|tx| by_email(tx, "ana@zorbaxinha.com")).is_none());
    let dir = closed(test);
    assert_eq!(left(&dir), 0);
}

#[test]
fn the_file_has_all_of_a_person_and_nothing_of_others_nor_secrets() {
    let test = TestApp::new(config(&[]));
    seed(&test);
    let mut file = Vec::new();
    let owner = Owner { id: UserId(7), email: "ana@zorbaxinha.com".to_owned() };
    let written = export::write(&test.app.db, ZONE, &owner, &mut file).unwrap();
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    let empty: Vec<&str> = TABLES
        .iter()
        .filter_map(|(_, part)| match part {
            Part::File { name, .. } => Some(*name),
            Part::Nothing(_) => None,
        })
        .filter(|name| !names.contains(name))
        .collect();
    assert!(empty.is_empty(), "nothing of Ana in {empty:?}: seed it");
    let text = unzipped(&file);
    for part in
        ["conta.json", "ana@zorbaxinha.com", "Ana Zorbaxinha", "\"total\":\"45.60\"", "foto.png"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    for part in ["Bia", "bia@exemplo.com", "SEGREDO", "COMPRADOR", "Produtor"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
}

/// The archive's names and texts, read by its directory.
fn unzipped(archive: &[u8]) -> String {
    use flate2::read::DeflateDecoder;
    let number = |at: usize, bytes: usize| {
        archive[at..at + bytes]
            .iter()
            .rev()
            .fold(0_usize, |all, byte| all << 8 | usize::from(*byte))
    };
    let end = memchr::memmem::rfind(archive, b"PK\x05\x06").unwrap();
    let (files, mut at, mut text) = (number(end + 10, 2), number(end + 16, 4), Vec::new());
    for _ in 0..files {
        assert_eq!(&archive[at..at + 4], b"PK\x01\x02");
        let (sum, packed, plain) = (number(at + 16, 4), number(at + 20, 4), number(at + 24, 4));
        let (length, local) = (number(at + 28, 2), number(at + 42, 4));
        writeln!(text, "{}", String::from_utf8_lossy(&archive[at + 46..at + 46 + length])).unwrap();
        let from = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        let mut content = Vec::new();
        let mut unpacker = DeflateDecoder::new(&archive[from..from + packed]);
        std::io::copy(&mut unpacker, &mut content).unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(&content);
        assert_eq!((content.len(), crc.sum() as usize), (plain, sum));
        text.extend(content);
        at += 46 + length;
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn an_address_without_an_account_is_erased_too() {
    let test = TestApp::new(config(&[]));
    test.write(|tx| {
        tx.run(
            "INSERT INTO checkout_event (event_id, received_at, dedup_key, event, kind, state, outcome, email, happened_ms)
             VALUES (1, 1, x'01', 'PURCHASE_APPROVED', 1, 4, 'x', 'ana@zorbaxinha.com', 1)",
            [],
        )?;
        tx.run(
            "INSERT INTO checkout_body (event_id, received_at, body) VALUES (1, 1, '{\"data\":{\"buyer\":\"ana@zorbaxinha.com\"}}')",
            [],
        )
    });
    assert!(eraser(&test).erase_address("eva@exemplo.com", &command()).is_err());
    eraser(&test).erase_address("ana@zorbaxinha.com", &command()).unwrap();
    let dir = closed(test);
    assert_eq!(left(&dir), 0);
}

#[test]
fn the_last_administrator_is_not_erased() {
    let test = TestApp::new(config(&[]));
    test.write(|tx| {
        tx.run(
            "INSERT INTO user (user_id, email, name, role, password_hash, created_at) VALUES (1, 'a@b.c', 'Eva', 'admin', 'x', 1)",
            [],
        )
    });
    assert!(eraser(&test).erase(UserId(1), &command()).is_err());
    assert!(test.read(|tx| Ok::<_, DbError>(by_email(tx, "a@b.c")?.is_some())));
}
