//! Acts that write very many rows: the one writer goes on with them in small
//! jobs, so another person's write does not wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection as Database, OpenFlags};
use serde_json::{Value, json};

use super::{Ended, Waits, p99};
use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::hooked::{Made, Manner, Receiver, json_of, make, near};
use crate::support::site::Site;
use crate::support::wait::until;

/// How long another person may wait for 99 of 100 writes, in addition to what
/// the machine itself takes.
const BEARABLE: Duration = Duration::from_millis(50);
/// Rows that a job of the writer may change: its share, and the record at which
/// it notices that it has done enough.
const MOST_ROWS: u64 = 600;
/// How long an act may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);
/// Fewest writes that another person makes.
const WRITES: usize = 60;

/// Another person's write: it changes a row and is answered after the commit.
fn write(actor: &Actor<'_>, product: &str) {
    let moved = json!({ "tipo": "entrada", "quantidade": 1, "motivo": "" });
    actor.post(&format!("/painel/produtos/{product}/movimentos"), &moved).expect(201);
}

#[track_caller]
fn product_of(actor: &Actor<'_>, sku: &str) -> String {
    let product = json!({ "sku": sku, "titulo": "Garrafa", "preco": 20, "estoque": 1 });
    let made = actor.post("/painel/produtos", &product).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

/// Runs `act` while another person writes all the time, and compares the waits
/// with those of a calm server.
#[track_caller]
fn beside<T>(site: &Site, what: &str, act: impl FnOnce() -> T) -> T {
    let rui = site.person("rui");
    let product = product_of(&rui, what);
    let mut calm = Waits::begin();
    (0..WRITES).for_each(|_| calm.measure(|| write(&rui, &product)));
    let over = AtomicBool::new(false);
    let (outcome, mut waits) = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut waits = Waits::begin();
            while !over.load(Ordering::Acquire) || waits.asked.len() < WRITES {
                waits.measure(|| write(&rui, &product));
            }
            waits
        });
        let end = Ended(&over);
        let outcome = act();
        drop(end);
        (outcome, writing.join().expect("the other person's writes were made"))
    });
    let (asked, bare, calm) = (p99(&mut waits.asked), p99(&mut waits.bare), p99(&mut calm.asked));
    assert!(
        asked < BEARABLE + calm + 3 * bare,
        "{what}: another's write took {asked:?} (p99 of {}), {calm:?} on a calm server, a bare exchange {bare:?}",
        waits.asked.len()
    );
    let rows = largest_job(site);
    assert!(rows <= MOST_ROWS, "{what}: a job of the writer changed {rows} rows");
    outcome
}

fn largest_job(site: &Site) -> u64 {
    let figures = site.key(&["admin"]).get("/metrics").expect(200).text();
    let line = figures
        .lines()
        .find_map(|line| line.strip_prefix("seller_platform_writer_largest_job_rows "));
    line.unwrap().parse().unwrap()
}

/// Stops the site, changes its database, and starts it again.
fn with_rows(site: &Site, sql: &str) {
    site.stop();
    let database = Database::open_with_flags(site.database(), OpenFlags::default()).unwrap();
    database.execute_batch(sql).unwrap();
    drop(database);
    site.start_again();
}

/// The numbers from 1 to `most`, as the beginning of a statement.
fn numbers(most: u32) -> String {
    format!("WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {most})")
}

#[track_caller]
fn import(actor: &Actor<'_>, products: usize) -> Value {
    let rows: Vec<String> = (1..=products).map(|n| format!("A-{n},Garrafa {n},20,7")).collect();
    let file = format!("sku,title,price,stock\n{}\n", rows.join("\n"));
    let request = Request::new("POST", "/painel/produtos/importar")
        .header("Accept", "application/json")
        .body("text/csv", file.as_bytes());
    actor.send(request).expect(200).json()
}

#[test]
fn an_import_told_to_twenty_programs_holds_no_other_write() {
    const PRODUCTS: usize = 1_000;
    let site = near(Site::builder().unlimited()).start();
    let receiver = Receiver::start();
    receiver.answers(Manner::Hang);
    let ana = site.person("ana");
    let made: Vec<Made> = (0..20)
        .map(|number| make(&site, &ana, &receiver.url(&format!("/{number}")), &["stock.changed"]))
        .collect();
    beside(&site, "import", || {
        assert_eq!(import(&ana, PRODUCTS)["criados"], PRODUCTS);
        until("all wait", PATIENCE, || {
            (made[19].read(&ana)["pendentes"] == PRODUCTS).then_some(())
        });
    });
    beside(&site, "endpoints removed", || {
        for one in &made[..3] {
            ana.post(&one.path("/excluir"), &json!({})).expect(200);
        }
    });
}

#[test]
fn removals_of_very_many_rows_hold_no_other_write() {
    const ROWS: u32 = 8_000;
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let (ana, bia) = (site.person("ana"), site.person("bia"));
    site.make_person("eve", "pro");
    let product = product_of(&ana, "A-1");
    let id_of = |name: &str| {
        let sql = format!("SELECT user_id || '' FROM user WHERE email = '{name}@example.com'");
        site.stored(&sql).remove(0)
    };
    let (eve_id, bia_id) = (id_of("eve"), id_of("bia"));
    let numbers = numbers(ROWS);
    with_rows(
        &site,
        &format!(
            "{numbers} INSERT INTO stock_movement
                 (product_id, movement_id, kind, quantity, change, balance, reason, created_at)
             SELECT {product}, n + 1, 1, 1, 1, n, '', 1 FROM n;
             {numbers} INSERT INTO notification
                 (owner_id, created_at, notification_id, kind, title, message)
             SELECT {bia_id}, n, n, 8, 'Aviso', '' FROM n;
             INSERT INTO notification_count (owner_id, unread, told, last_id)
             VALUES ({bia_id}, {ROWS}, {ROWS}, {ROWS})
             ON CONFLICT DO UPDATE SET unread = {ROWS}, told = {ROWS}, last_id = {ROWS};
             {numbers} INSERT INTO product
                 (owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
             SELECT {eve_id}, 'E-' || n, '', 'Garrafa', 1, 1, 0, 1, 1, 'garrafa' FROM n;
             {numbers} INSERT INTO program_entry (student_id, day, at, action, cause, turn, xp)
             SELECT {eve_id}, n, n, 2, n, 0, 1 FROM n;
             {numbers} INSERT INTO partner_usage (user_id, day, operation, calls)
             SELECT {eve_id}, n, 'list_orders', 1 FROM n;
             INSERT INTO course (course_id, title, position, published, created_at, updated_at)
             VALUES (1, 'Curso', 1, 1, 1, 1);
             INSERT INTO lesson (lesson_id, course_id, title, video_url, position, created_at, updated_at)
             VALUES (1, 1, 'Aula', 'https://example.com/', 1, 1, 1);
             {numbers} INSERT INTO user (user_id, email, name, role, created_at)
             SELECT 100000 + n, n || '@exemplo.com', 'Aluna', 'pro', 1 FROM n;
             {numbers} INSERT INTO lesson_done (user_id, lesson_id, done_at)
             SELECT 100000 + n, 1, 1 FROM n;"
        ),
    );
    let post = |actor: &Actor<'_>, path: &str| actor.post(path, &json!({})).expect(200).json();
    beside(&site, "movements", || post(&ana, &format!("/painel/produtos/{product}/excluir")));
    beside(&site, "notifications", || {
        assert_eq!(post(&bia, "/painel/avisos/lidos")["lidas"], ROWS);
    });
    beside(&site, "lesson", || post(&admin, "/admin/aulas/1/excluir"));
    beside(&site, "person", || post(&admin, &format!("/admin/alunos/{eve_id}/excluir")));
    let left = |sql: &str| site.stored(&format!("SELECT count(*) || '' FROM {sql}")).remove(0);
    assert_eq!(left("stock_movement WHERE product_id > 0 AND reason = '' AND created_at = 1"), "0");
    assert_eq!(left("notification WHERE read_at IS NULL"), "0");
    assert_eq!(left("lesson_done"), "0");
    assert_eq!(left(&format!("product WHERE owner_id = {eve_id}")), "0");
    assert_eq!(left("program_entry"), "0");
}

#[test]
fn reminders_and_lists_of_a_supplier_hold_no_other_write() {
    const ORDERS: u32 = 6_000;
    const SELLERS: u32 = 400;
    let site = Site::builder().unlimited().start();
    site.make_person("sol", "drop");
    let sol_id = site.stored("SELECT user_id || '' FROM user WHERE email = 'sol@example.com'");
    let (orders, sellers) = (numbers(ORDERS), numbers(SELLERS));
    with_rows(
        &site,
        &format!(
            "{sellers} INSERT INTO user (user_id, email, name, role, created_at)
             SELECT 100000 + n, n || '@exemplo.com', 'Vendedora', 'pro', 1 FROM n;
             {sellers} INSERT INTO drop_relation (supplier_id, seller_id, email, state, invited_at, since)
             SELECT {sol}, 100000 + n, n || '@exemplo.com', 2, 1, 1 FROM n;
             {orders} INSERT INTO drop_order
                 (supplier_id, seller_id, order_id, ordered_at, sku, title, quantity, unit_cents,
                  amount_cents, state, due_at)
             SELECT {sol}, 100001 + iif(n > {SELLERS}, 0, n % {SELLERS}), n, 1, 'A-1', 'Garrafa', 1, 100, 100, 1, 2
             FROM n;
             {sellers} INSERT INTO product
                 (owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
             SELECT {sol}, 'S-' || n, '', 'Garrafa', 1, 1, 0, 1, 1, 'garrafa' FROM n;
             {sellers} INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, linked_at)
             SELECT 500000 + n, 100000 + n, 'LOJA', 0, 1, 0 FROM n;
             {sellers} INSERT INTO listing
                 (owner_id, ml_user_id, item_id, site, title, status, sub_status, price_cents, currency,
                  available, sold, listing_type, category, sku, ean, permalink, thumbnail, created_at, updated_at)
             SELECT 100000 + n, 500000 + n, 700000 + n, 'MLB', 'Garrafa', 1, '', 100, 1,
                    1, 0, 1, '', '', '', '', '', 1, 1 FROM n;",
            sol = sol_id[0],
        ),
    );
    let sol = site.person_as("sol", "drop");
    beside(&site, "reminders", || {
        let told = sol.post("/fornecedor/pedidos/lembrar", &json!({})).expect(200).json();
        assert_eq!((&told["vendedores"], &told["pedidos"]), (&json!(SELLERS), &json!(ORDERS)));
    });
    let count = |sql: &str| site.stored(&format!("SELECT count(*) || '' FROM {sql}")).remove(0);
    assert_eq!(count("drop_order WHERE reminded_at IS NULL"), "0");
    assert_eq!(count("notification WHERE title = 'Pagamento a fornecedor'"), SELLERS.to_string());
    let rows: Vec<String> =
        (1..=SELLERS).map(|n| format!("{},MLB{},S-{n}", 100_000 + n, 700_000 + n)).collect();
    let list = json!({ "csv": format!("seller_id,ml_id,sku\n{}\n", rows.join("\n")) });
    beside(&site, "links", || {
        let made = sol.post("/fornecedor/vinculos/importar/aplicar", &list).expect(200).json();
        assert_eq!(made["criados"], SELLERS, "{made}");
    });
}

#[test]
fn a_list_of_students_holds_no_other_write_and_outlives_a_kill() {
    const STUDENTS: usize = 600;
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let rows: Vec<String> =
        (1..=STUDENTS).map(|n| format!("Aluna {n},aluna{n}@exemplo.com,pro")).collect();
    let csv = format!("nome,email,plano\n{}\n", rows.join("\n"));
    let list = "/admin/alunos/importar";
    let sent = admin.post(list, &json!({ "csv": csv })).expect(201).json();
    let path = format!("{list}/{}", sent["id"].as_str().unwrap());
    let done = |actor: &Actor<'_>| {
        until("the students are made", PATIENCE, || {
            let report = json_of(actor, &format!("{path}?por_pagina=1"));
            (report["estado"] == "importada").then_some(report)
        })
    };
    beside(&site, "students", || {
        admin.post(&format!("{path}/aplicar"), &json!({})).expect(202);
        assert_eq!(done(&admin)["criados"], STUDENTS);
    });
    let more = csv.replace("aluna", "outra");
    let sent = admin.post(list, &json!({ "csv": more })).expect(201).json();
    let path = format!("{list}/{}", sent["id"].as_str().unwrap());
    admin.post(&format!("{path}/aplicar"), &json!({})).expect(202);
    until("some are made", PATIENCE, || {
        let report = json_of(&admin, &format!("{path}?por_pagina=1"));
        (report["feitas"].as_u64() > Some(20)).then_some(())
    });
    site.kill();
    site.start_again();
    let admin = site.administrator();
    let report = until("the students are made", PATIENCE, || {
        let report = json_of(&admin, &format!("{path}?por_pagina=1"));
        (report["estado"] == "importada").then_some(report)
    });
    assert_eq!((&report["criados"], &report["existem"]), (&json!(STUDENTS), &json!(0)));
    let acts = "SELECT count(*) || '' FROM audit WHERE action = 'importacao.aplicar'";
    assert_eq!(site.stored(acts), ["2"]);
}

#[test]
fn an_import_that_is_killed_becomes_whole_or_nothing() {
    const PRODUCTS: usize = 3_000;
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    // The connection breaks when the server is killed.
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let rows: Vec<String> =
                (1..=PRODUCTS).map(|n| format!("A-{n},Garrafa {n},20,7")).collect();
            let file = format!("sku,title,price,stock\n{}\n", rows.join("\n"));
            let request = Request::new("POST", "/painel/produtos/importar")
                .header("Accept", "application/json")
                .body("text/csv", file.as_bytes());
            ana.try_send(request).is_ok_and(|reply| reply.status == 200)
        });
        let rui = site.person("rui");
        let began = Instant::now();
        until("some products are there", PATIENCE, || {
            let is_over = sending.is_finished();
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
            let database = Database::open_with_flags(site.database(), flags).unwrap();
            let made: i64 =
                database.query_row("SELECT count(*) FROM product", [], |row| row.get(0)).unwrap();
            drop(database);
            (is_over || made > 50).then_some(())
        });
        assert!(began.elapsed() < PATIENCE && rui.get("/painel").status == 200);
        site.kill();
        sending.join().unwrap()
    });
    site.start_again();
    let products = site.stored("SELECT count(*) || '' FROM product").remove(0);
    assert!(products == "0" || products == PRODUCTS.to_string(), "{products}");
    assert_eq!(site.stored("SELECT count(*) || '' FROM product_import"), ["0"]);
    let ana = site.person("ana");
    assert_eq!(import(&ana, PRODUCTS)["sem_mudanca"], PRODUCTS);
}
