//! The schema: `schema.sql` and the migration steps give the same result, and
//! every table follows the rules of the project.

use rusqlite::{Connection, OpenFlags};

use super::migrate::{STEPS, Step, in_transaction};
use super::*;

/// The schema of the first release, never edited.
const BASELINE: &str = include_str!("../migrations/0001_first_release.sql");

#[test]
fn the_first_release_and_all_steps_end_at_schema_sql() {
    let place = made();
    let made = pragmas::open_plain(&place.path(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let fresh = schema_of(&made);
    assert_eq!(schema_of(&migrated(BASELINE, STEPS)), fresh);
    assert!(fresh.len() > 20, "that cannot be all of it");
}

#[test]
fn people_of_the_first_release_stay_as_they_were() {
    let mut connection = migrated(BASELINE, &[]);
    let person = "INSERT INTO user (email, name, role, created_at, suspended_at)
                  VALUES ('ana@exemplo.com', 'Ana', 'pro', 1, 2)";
    connection.execute(person, []).unwrap();
    let student = "INSERT INTO user (email, name, role, created_at) VALUES ('rui@exemplo.com', 'Rui', 'vip', 1)";
    connection.execute(student, []).unwrap();
    for (step, version) in STEPS.iter().zip(2..) {
        in_transaction(&mut connection, step.sql, version).unwrap();
    }
    let counted = "SELECT name || ' ' || count FROM total ORDER BY name";
    assert_eq!(texts(&connection, counted), ["active_students 1", "linked_accounts 0"]);
    let kept = "SELECT email || name || role || suspended_at || (late_since IS NULL) FROM user WHERE user_id = 1";
    assert_eq!(texts(&connection, kept), ["ana@exemplo.comAnapro21"]);
}

#[test]
fn notifications_that_waited_for_a_handler_wait_in_the_queue() {
    let marketplace = STEPS.iter().position(|step| step.name.contains("marketplace"));
    let (before, from) = STEPS.split_at(marketplace.unwrap());
    let mut connection = migrated(BASELINE, before);
    connection
        .execute_batch(
            "INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body, state, next_try_at)
             VALUES (1, 'questions', '/questions/1', 7, x'', 4, 1), (1, 'claims', '/claims/1', 7, x'', 4, 1),
                    (1, 'invoices', '/x', 7, x'', 2, 1), (1, 'questions', '/questions/2', 7, x'', 1, 1)",
        )
        .unwrap();
    for step in from {
        in_transaction(&mut connection, step.sql, 9).unwrap();
    }
    let states = "SELECT resource || ' ' || state FROM ml_notification ORDER BY notification_id";
    let expected = ["/questions/1 0", "/claims/1 0", "/x 2", "/questions/2 1"];
    assert_eq!(texts(&connection, states), expected);
    let counted = "SELECT topic || ' ' || state || ' ' || notifications FROM ml_notification_count
                   WHERE notifications > 0 ORDER BY topic, state";
    let expected = [" 2 1", "claims 0 1", "questions 0 1", "questions 1 1"];
    assert_eq!(texts(&connection, counted), expected);
}

#[test]
fn orders_of_before_keep_their_words_and_the_state_of_their_parcel() {
    let areas = STEPS.iter().position(|step| step.name.contains("areas"));
    let (before, from) = STEPS.split_at(areas.unwrap());
    let mut connection = migrated(BASELINE, before);
    // So many words that they use up the free numbers below the fixed ones.
    for number in 0..15 {
        let word = format!("INSERT INTO word (text) VALUES ('palavra {number}')");
        connection.execute(&word, []).unwrap();
    }
    connection
        .execute_batch(
            "INSERT INTO word (text) VALUES ('ready_to_ship');
             INSERT INTO sold_item (item_id, variation_id, site, title, sku) VALUES (3, 0, 'MLB', 'Cabo', 'C-1');
             INSERT INTO sale_order (owner_id, created_at, order_id, ml_user_id, status, total_cents, currency,
                 updated_at, item_id, variation_id, quantity, buyer_nickname, shipping_id, shipping_status)
             SELECT 1, 1, 2, 7, 5, 100, 20, 1, 3, 0, 1, '', 44, word_id FROM word WHERE text = 'ready_to_ship';
             INSERT INTO sale_order (owner_id, created_at, order_id, ml_user_id, status, total_cents, currency,
                 updated_at, item_id, variation_id, quantity, buyer_nickname, shipping_id, shipping_status)
             SELECT 1, 1, 3, 7, 5, 100, 20, 1, 3, 0, 1, '', 45, word_id FROM word WHERE text = 'palavra 9';",
        )
        .unwrap();
    for step in from {
        in_transaction(&mut connection, step.sql, 9).unwrap();
    }
    let shown = "SELECT o.order_id || ' ' || w.text || ' ' || i.title || ' ' || i.sku
                 FROM sale_order o JOIN word w ON w.word_id = o.shipping_status
                 JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id
                     AND i.version = o.item_version
                 ORDER BY o.order_id";
    let expected = ["2 ready_to_ship Cabo C-1", "3 palavra 9 Cabo C-1"];
    assert_eq!(texts(&connection, shown), expected);
    let ready = "SELECT count(*) || '' FROM sale_order WHERE shipping_status = 10";
    assert_eq!(texts(&connection, ready), ["1"]);
    // Its parcel is to be printed, until the marketplace tells more.
    let stages = "SELECT stage || '' FROM sale_order ORDER BY order_id";
    assert_eq!(texts(&connection, stages), ["4", "0"]);
}

#[test]
fn what_was_sold_before_is_summed_up_by_the_days_that_were_counted() {
    let earned = STEPS.iter().position(|step| step.name.contains("what_a_sale_earned"));
    let (before, from) = STEPS.split_at(earned.unwrap());
    let mut connection = migrated(BASELINE, before);
    // The first is of the last hour of November in Acre, and of December in Brasília.
    connection
        .execute_batch(
            "INSERT INTO sale_order (owner_id, created_at, order_id, ml_user_id, status, total_cents, currency,
                 updated_at, item_id, variation_id, quantity, buyer_nickname)
             VALUES (1, 1764563400, 1, 7, 5, 100, 20, 1, 3, 0, 3, ''), (1, 1764570000, 2, 7, 5, 50, 20, 1, 3, 0, 1, ''),
                    (1, 1764570000, 3, 7, 8, 9, 20, 1, 3, 0, 1, '');
             INSERT INTO order_count (owner_id, ml_user_id, status, day, orders)
             VALUES (1, 7, 5, -1, 2), (1, 7, 5, 20422, 1), (1, 7, 5, 20423, 1), (1, 7, 8, 20423, 1), (1, 0, 0, 20422, 1),
                    (1, 0, 0, 20423, 2)",
        )
        .unwrap();
    for step in from {
        in_transaction(&mut connection, step.sql, 9).unwrap();
    }
    let sums =
        "SELECT concat_ws(' ', span, orders, gross_cents, units) FROM sold_sum ORDER BY span";
    let expected =
        ["-24312 1 50 1", "-24311 1 100 3", "-1 2 150 4", "20422 1 100 3", "20423 1 50 1"];
    assert_eq!(texts(&connection, sums), expected);
}

#[test]
fn messages_that_waited_get_names_and_keep_their_numbers() {
    let names = STEPS.iter().position(|step| step.name.contains("names_of_messages"));
    let (before, from) = STEPS.split_at(names.unwrap());
    let mut connection = migrated(BASELINE, before);
    connection
        .execute_batch(
            "INSERT INTO user (user_id, email, name, role, created_at)
             VALUES (1, 'ana@xn--exmple-cua.com', 'Ana', 'pro', 1), (2, 'rui@exemplo.com', 'Rui', 'pro', 1);
             INSERT INTO outbox (message_id, channel, user_id, kind, params, dedup_key, state, created_at, run_at)
             VALUES (7, 'email', 1, 'x', '{}', 'a', 0, 1, 1), (9, 'email', 2, 'x', '{}', 'b', 0, 1, 1);
             INSERT INTO log_batch (kind, day, part, entries, first_id, last_id, bytes, digest, created_at, body)
             VALUES ('mensagens', 1, 1, 1, 1, 338, 1, x'', 1, x'')",
        )
        .unwrap();
    for step in from {
        in_transaction(&mut connection, step.sql, 9).unwrap();
    }
    let queue = "SELECT message_id || ' ' || length(global_id) FROM outbox ORDER BY 1";
    assert_eq!(texts(&connection, queue), ["7 32", "9 32"]);
    let distinct = "SELECT count(DISTINCT global_id) || ' ' || (SELECT sum(messages) FROM outbox_count) FROM outbox";
    assert_eq!(texts(&connection, distinct), ["2 2"]);
    let next =
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at)
                VALUES ('email', 1, 'x', '{}', 'c', 0, 1, 1) RETURNING message_id || ''";
    assert_eq!(texts(&connection, next), ["339"], "those in the archive are taken");
    let people = "SELECT email FROM user ORDER BY user_id";
    assert_eq!(texts(&connection, people), ["ana@exämple.com", "rui@exemplo.com"]);
}

#[test]
fn accounts_of_the_partner_api_are_summed_up_as_triggers_would_have_it() {
    let summary = STEPS.iter().position(|step| step.name.contains("partner_summary")).unwrap();
    let rows = "INSERT INTO user (user_id, email, name, role, created_at)
                VALUES (1, 'ana@x.com', 'Ána', 'pro', 1), (2, 'rui@x.com', 'Rui', 'drop', 1), (3, 'eva@x.com', 'Eva', 'pro', 1);
                INSERT INTO partner_account (user_id, plan, until_day, updated_at) VALUES (1, 'pro', 20700, 1);
                INSERT INTO partner_token (token_hash, user_id, name, prefix, created_at, last_used_at, revoked_at)
                VALUES (x'01', 1, 'a', 'p', 1, 70, NULL), (x'02', 1, 'b', 'p', 1, 90, 95), (x'03', 2, 'c', 'p', 1, NULL, NULL);
                -- The last of October and two days of November 2026.
                INSERT INTO partner_usage (user_id, day, operation, calls)
                VALUES (1, 20757, 'x', 5), (1, 20758, 'x', 7), (1, 20760, 'y', 2), (2, 20757, 'x', 1)";
    let mut late = migrated(BASELINE, &STEPS[..summary]);
    late.execute_batch(rows).unwrap();
    for step in &STEPS[summary..] {
        in_transaction(&mut late, step.sql, 9).unwrap();
    }
    let early = migrated(BASELINE, STEPS);
    early.execute_batch(rows).unwrap();
    let said = "SELECT concat_ws(' ', user_id, search, plan, until_day, month, calls, tokens, last_used_at)
                FROM partner_summary ORDER BY name_key";
    let expected = ["1 ana@x.com ana pro 20700 20758 9 1 90", "2 rui@x.com rui 20727 1 1"];
    assert_eq!(texts(&late, said), expected);
    assert_eq!(texts(&early, said), expected);
    early
        .execute_batch(
            "UPDATE partner_usage SET calls = calls + 3 WHERE user_id = 1;
             UPDATE partner_token SET revoked_at = 99, last_used_at = 98 WHERE user_id = 1 AND revoked_at IS NULL;
             DELETE FROM partner_account; DELETE FROM user WHERE user_id = 2;
             UPDATE user SET name = 'Bia' WHERE user_id = 1",
        )
        .unwrap();
    assert_eq!(texts(&early, said), ["1 ana@x.com bia 20758 15 0 98"]);
}

#[test]
fn days_of_the_agency_have_the_sales_of_the_books() {
    let place = STEPS.iter().position(|step| step.name.contains("state_not_steps")).unwrap();
    let (before, from) = STEPS.split_at(place);
    let mut connection = migrated(BASELINE, before);
    connection
        .execute_batch(
            "INSERT INTO user (user_id, email, name, role, created_at) VALUES (1, 'ana@x.com', 'Ana', 'pro', 1);
             INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, linked_at)
             VALUES (7, 1, 'LOJA', 0, 1, 0);
             INSERT INTO agency_client (client_id, name, search, created_at) VALUES (3, 'Loja', 'loja', 1);
             INSERT INTO agency_account (ml_user_id, client_id, owner_id, joined_at) VALUES (7, 3, 1, 1);
             INSERT INTO sales_day (owner_id, ml_user_id, day, orders, units, gross_cents)
             VALUES (1, 7, 101, 2, 2, 500), (1, 7, 102, 1, 1, 100), (1, 7, 104, 1, 1, 900);
             -- A day that is right, one that has too much, and one whose last sale was cancelled.
             INSERT INTO agency_day (client_id, day, ml_user_id, orders, gross_cents, listings, claims, questions, reputation, seen)
             VALUES (3, 101, 7, 2, 500, 0, 0, 0, 0, 0), (3, 102, 7, 2, 300, 0, 0, 0, 0, 0), (3, 103, 7, 1, 700, 4, 1, 2, 5, 1)",
        )
        .unwrap();
    for step in from {
        in_transaction(&mut connection, step.sql, 9).unwrap();
    }
    let days = "SELECT concat_ws(' ', client_id, day, orders, gross_cents, listings, seen) FROM agency_day ORDER BY client_id, day";
    let sums = ["101 2 500 0 0", "102 1 100 0 0", "103 0 0 4 1"];
    let expected: Vec<_> =
        [0, 3].iter().flat_map(|client| sums.map(|sum| format!("{client} {sum}"))).collect();
    assert_eq!(texts(&connection, days), expected);
}

#[test]
fn movements_of_before_get_numbers_in_their_order() {
    let numbers = STEPS.iter().position(|step| step.name.contains("movement_numbers")).unwrap();
    let (before, from) = STEPS.split_at(numbers);
    let mut connection = migrated(BASELINE, before);
    connection
        .execute_batch(
            "INSERT INTO user (user_id, email, name, role, created_at) VALUES (1, 'ana@x.com', 'Ana', 'pro', 1);
             INSERT INTO product (product_id, owner_id, sku, ean, title, cost_cents, price_cents, stock,
                                  created_at, updated_at, search_key)
             VALUES (7, 1, 'A', '', 'A', 1, 2, 3, 1, 1, 'a'), (8, 1, 'B', '', 'B', 1, 2, 3, 1, 1, 'b');
             INSERT INTO stock_movement (product_id, movement_id, kind, quantity, change, balance, reason, created_at)
             VALUES (7, 1, 1, 1, 1, 1, '', 10), (7, 2, 1, 1, 1, 2, '', 30), (8, 1, 1, 1, 1, 1, '', 20)",
        )
        .unwrap();
    for step in from {
        in_transaction(&mut connection, step.sql, 9).unwrap();
    }
    let numbered = "SELECT product_id || ' ' || movement_id || ' ' || number FROM stock_movement ORDER BY number";
    assert_eq!(texts(&connection, numbered), ["7 1 1", "8 1 2", "7 2 3"]);
    assert_eq!(number(&connection, "SELECT number FROM stock_movement_last"), 3);
}

#[test]
fn the_comparison_sees_columns_and_checks_but_not_layout() {
    let old = "CREATE TABLE a (id INTEGER PRIMARY KEY -- number\n) STRICT;";
    let step = Step { name: "0002_b", sql: "ALTER TABLE a ADD COLUMN b TEXT CHECK (b <> '');" };
    let got = schema_of(&migrated(old, &[step]));
    let want = |sql| schema_of(&migrated(sql, &[]));
    assert_eq!(
        got,
        want(
            "CREATE TABLE a (\n  id INTEGER PRIMARY KEY,\n  b TEXT CHECK (b <> '') -- words\n) STRICT"
        )
    );
    assert_ne!(got, want("CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT) STRICT"));
    assert_ne!(got, want("CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT CHECK (b <> ''))"));
}

#[test]
fn steps_keep_the_data_and_a_copy_of_the_file_before_them() {
    let place = made();
    let db = place.open();
    write(&db, |tx| put(tx, "kept", b"1"));
    db.close().unwrap();
    let mut file = pragmas::open_plain(&place.path(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let next = Step {
        name: "next_note",
        sql: "ALTER TABLE setting ADD COLUMN note TEXT NOT NULL DEFAULT 'new'",
    };
    let done = migrate::apply(&mut file, &place.path(), &[next], &Clock::System).unwrap();
    assert_eq!(done.len(), 2, "{done:?}");
    let version = migrate::VERSION;
    assert_eq!(number(&file, "PRAGMA user_version"), version + 1);
    let kept = "SELECT name || ' ' || note FROM setting WHERE name <> 'commits'";
    assert_eq!(texts(&file, kept), ["kept new"]);
    drop(file);

    let copy = place.file(&format!("seller.before-v{}.db", version + 1));
    assert!(done[0].contains(copy.to_str().unwrap()), "{done:?}");
    // This is the way back to the program before the update. Here both programs
    // are the same.
    restore::restore(&copy, &place.path(), &Clock::System).unwrap();
    assert_eq!(count(&place.open()), 1);
}

#[test]
fn a_step_that_fails_leaves_the_file_at_the_version_before() {
    let mut connection = migrated("CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT", &[]);
    let before = schema_of(&connection);
    let broken = "CREATE TABLE b (x TEXT) STRICT; CREATE TABLE nonsense";
    in_transaction(&mut connection, broken, 2).unwrap_err();
    let orphan = "CREATE TABLE c (a_id INTEGER REFERENCES a (id)) STRICT; INSERT INTO c VALUES (7)";
    let error = in_transaction(&mut connection, orphan, 2).unwrap_err();
    assert!(error.contains("refer to nothing"), "{error}");
    assert_eq!(schema_of(&connection), before);
    assert_eq!(number(&connection, "PRAGMA user_version"), 1);
    assert_eq!(number(&connection, "PRAGMA foreign_keys"), 1);
}

#[test]
fn an_older_file_is_tried_without_a_copy_of_it_unless_the_service_stops() {
    let place = TestFile::new();
    let version = || migrate::version_of_file(&place.path()).unwrap();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut file = pragmas::open_plain(&place.path(), flags).unwrap();
    in_transaction(&mut file, BASELINE, 1).unwrap();
    drop(file);
    let stop = Stop::default();
    stop.stop();
    migrate::try_up(&place.path(), &stop).unwrap_err();
    assert_eq!(version(), Some(1));
    migrate::try_up(&place.path(), &Stop::default()).unwrap();
    assert_eq!(version(), Some(migrate::VERSION));
    assert_eq!(place.files(), ["seller.db"]);
}

#[test]
fn every_table_is_strict() {
    let connection = migrated(BASELINE, STEPS);
    let lax = texts(
        &connection,
        "SELECT name FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite%'",
    );
    assert_eq!(lax, Vec::<String>::new());
}

#[test]
fn every_foreign_key_leads_an_index() {
    // Without an index, deleting a parent row reads the whole child table. Only
    // the first column of a composite key is checked, and rows that refer to
    // nothing need no entry in the index.
    let connection = migrated(BASELINE, STEPS);
    let bare = texts(
        &connection,
        "SELECT t.name || '.' || f.\"from\"
         FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS f
         WHERE t.schema = 'main' AND f.seq = 0
           AND NOT EXISTS (
               SELECT 1 FROM pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c
                   JOIN sqlite_schema AS s ON s.name = i.name
               WHERE c.seqno = 0 AND c.name = f.\"from\"
                   AND (i.partial = 0 OR s.sql LIKE '%) WHERE ' || c.name || ' IS NOT NULL'))
           AND NOT EXISTS (
               SELECT 1 FROM pragma_table_info(t.name) AS p
               WHERE p.pk = 1 AND p.name = f.\"from\")",
    );
    assert_eq!(bare, Vec::<String>::new());
}

#[test]
fn every_instant_is_an_integer() {
    let connection = migrated(BASELINE, STEPS);
    let others = texts(
        &connection,
        "SELECT t.name || '.' || c.name || ' ' || c.type
         FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
         WHERE t.schema = 'main' AND c.name LIKE '%\\_at' ESCAPE '\\' AND c.type <> 'INTEGER'",
    );
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn every_reference_names_a_table_and_its_key() {
    let connection = migrated(BASELINE, STEPS);
    let dangling = texts(
        &connection,
        "SELECT t.name || '.' || f.\"from\" || ' -> ' || f.\"table\"
         FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS f
         WHERE t.schema = 'main'
           AND NOT EXISTS (
               SELECT 1 FROM pragma_table_info(f.\"table\") AS p WHERE p.name = f.\"to\")",
    );
    assert_eq!(dangling, Vec::<String>::new());
}

#[test]
fn status_and_up_tell_what_is_to_come_and_what_was_done() {
    let place = TestFile::new();
    assert!(matches!(migrate::status(&place.path()), Err(OpenError::Missing(_))));
    let done = migrate::up(&place.path(), &Clock::System).unwrap();
    assert_eq!(done, [format!("created with schema version {}", migrate::VERSION)]);
    assert_eq!(place.files(), ["seller.db"]);
    assert!(migrate::up(&place.path(), &Clock::System).unwrap().is_empty());
    let version = migrate::VERSION;
    assert_eq!(
        migrate::status(&place.path()).unwrap(),
        [format!("schema version {version} of {version}")]
    );
    // Beside a server of this version there is nothing to do.
    let _db = place.open();
    let beside = migrate::up(&place.path(), &Clock::System).unwrap();
    assert!(beside.is_empty(), "{beside:?}");
}

fn migrated(baseline: &str, steps: &[Step]) -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    in_transaction(&mut connection, baseline, 1).unwrap();
    for (step, version) in steps.iter().zip(2..) {
        in_transaction(&mut connection, step.sql, version).unwrap();
    }
    connection
}

/// Name and text of everything in the schema, without comments, layout and
/// quotes around names.
fn schema_of(connection: &Connection) -> Vec<String> {
    texts(
        connection,
        "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name",
    )
    .iter()
    .map(|sql| normal(sql))
    .collect()
}

fn normal(sql: &str) -> String {
    let bare: String = sql
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(" ")
        .replace('"', "")
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(',', " , ");
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    connection
        .prepare(sql)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}
