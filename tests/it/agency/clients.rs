//! The agency's clients: who they are, how they are read in cycles of five,
//! what a checkup finds, and what happens to all of it when a client leaves.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::agency::CLIENTS;
use crate::support::client::Request;
use crate::support::cron;
use crate::support::site::Site;
use crate::support::sync::{joined, wait_until_read, wait_until_worked};
use crate::support::world::World;

const SYNC_ALL: &str = "/admin/agencia/ml/sincronizar-todos";
const CHECKUP: &str = "/admin/agencia/checkup";
/// The number before that of the first seller.
const SELLERS: u64 = 900_000_100;
const HOUR_S: i64 = 3600;
/// How often a student was told that the agency looks after an account.
const TOLD: &str =
    "SELECT CAST(count(*) AS TEXT) FROM notification WHERE title LIKE 'A agência cuida de %'";

/// A world with this many sellers, each with a listing.
fn world_of(sellers: u64) -> World {
    let world = World::start();
    for number in 1..=sellers {
        world.seller(SELLERS + number, &format!("LOJA {number:03}"));
        world.item(SELLERS + number, "Garrafa térmica 1 litro", 89.9);
    }
    world
}

/// A student links all sellers, and each becomes a client of the agency.
fn clients_of<'s>(site: &'s Site, world: &World, sellers: u64) -> Actor<'s> {
    let ana = site.person("ana");
    for number in 1..=sellers {
        world.link(&ana, SELLERS + number);
    }
    wait_until_read(site, &ana);
    let operator = site.administrator();
    for number in 1..=sellers {
        client(&operator, number);
    }
    operator
}

/// Makes a client of a seller; its id.
fn client(operator: &Actor<'_>, number: u64) -> String {
    let body = json!({
        "nome": format!("Cliente {number:03}"), "ml_user_id": (SELLERS + number).to_string(),
    });
    let made = operator.post(CLIENTS, &body).expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

pub fn shown(actor: &Actor<'_>, path: &str) -> Value {
    actor.send(Request::new("GET", path).header("Accept", "application/json")).ok()
}

#[track_caller]
fn sync_all(operator: &Actor<'_>) -> (i64, i64, i64) {
    let done = operator.post(SYNC_ALL, &json!({})).ok();
    assert_eq!(done["ok"], true);
    let count = |name: &str| done[name].as_i64().unwrap();
    (count("sincronizados"), count("erros"), count("pendentes"))
}

/// How often the questions of each seller were requested.
fn readings(world: &World, sellers: u64) -> Vec<usize> {
    let calls = world.requests();
    let of = |number: u64| {
        let path = format!("/users/{}/items/search", SELLERS + number);
        calls.iter().filter(|call| call["path"] == *path).count()
    };
    (1..=sellers).map(of).collect()
}

#[test]
fn clients_are_made_found_changed_and_removed() {
    let world = world_of(1);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 1);
    let bia = site.person_as("bia", "admin");
    let keeper = site.stored(
        "SELECT CAST(user_id AS TEXT) FROM user WHERE name LIKE 'bia%' OR email LIKE 'bia%'",
    );
    let body = json!({
        "nome": "Ótica São João", "responsavel_id": keeper[0], "etiquetas": ["Moda", "full", "moda"],
        "anotacoes": "Liga às segundas.\nPrefere chat.",
    });
    let made = operator.post(CLIENTS, &body).expect(201).json();
    assert!(made["convite"].as_str().unwrap().contains("/convite/"), "{made}");
    let one = format!("{CLIENTS}/{}", made["id"].as_str().unwrap());
    let found = shown(&operator, &one);
    assert_eq!(found["nome"], "Ótica São João");
    assert_eq!(found["etiquetas"], json!(["moda", "full"]));
    assert_eq!(found["anotacoes"], body["anotacoes"]);
    assert_eq!(found["contas"], json!([]));
    for (query, total) in [
        ("", 2),
        ("?q=otica", 1),
        ("?q=FULL", 1),
        ("?q=nada", 0),
        ("?situacao=sem_conta", 1),
        ("?situacao=pendente", 0),
        ("?responsavel=ninguem", 1),
        ("?responsavel=eu", 0),
        ("?por_pagina=1&pagina=2", 2),
    ] {
        let list = shown(&operator, &format!("{CLIENTS}{query}"));
        assert_eq!(list["total"], total, "{query}: {list}");
    }
    assert_eq!(shown(&bia, &format!("{CLIENTS}?responsavel=eu"))["total"], 1);
    operator.post(&one, &json!({ "etiquetas": "casa, jardim" })).ok();
    let found = shown(&operator, &one);
    assert_eq!(found["etiquetas"], json!(["casa", "jardim"]));
    assert_eq!(found["responsavel_id"], *keeper[0]);
    operator.post(&format!("{one}/excluir"), &json!({})).ok();
    operator.get(&one).expect(404);
    for (wrong, status) in [
        (json!({ "nome": "" }), 422),
        (json!({ "nome": "X" }), 422),
        (json!({ "nome": "Certo", "responsavel_id": "999999" }), 422),
        (json!({ "nome": "Certo", "etiquetas": "x".repeat(31) }), 422),
        (json!({ "nome": "Certo", "ml_user_id": "123" }), 422),
        (json!({ "nome": "Certo", "ml_user_id": (SELLERS + 1).to_string() }), 409),
    ] {
        operator.post(CLIENTS, &wrong).expect(status);
    }
    // The rejected requests stored nothing.
    assert_eq!(shown(&operator, CLIENTS)["total"], 1);
}

#[test]
fn a_cycle_reads_five_clients_and_says_how_many_are_left() {
    let world = world_of(12);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 12);
    world.forget_requests();
    assert_eq!(sync_all(&operator), (5, 0, 7));
    assert_eq!(sync_all(&operator), (5, 0, 2));
    assert_eq!(sync_all(&operator), (2, 0, 0));
    let first = readings(&world, 12);
    assert!(first.iter().all(|count| *count > 0 && *count == first[0]), "{first:?}");
    // The next round starts with the clients that have waited longest.
    world.forget_requests();
    site.clock().advance_s(60);
    assert_eq!(sync_all(&operator), (5, 0, 7));
    let again = readings(&world, 12);
    assert_eq!(again.iter().filter(|count| **count > 0).count(), 5, "{again:?}");
    assert!(again[..5].iter().all(|count| *count > 0), "{again:?}");
    // The periodic tasks continue with the clients that are still to be read.
    assert_eq!(cron::run(&site)["agencia_sync"], json!({ "sincronizados": 5, "erros": 0 }));
    assert_eq!(sync_all(&operator), (2, 0, 0));
    world.no_violations();
}

#[test]
fn a_client_that_fails_neither_blocks_nor_is_forgotten() {
    let world = world_of(7);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 7);
    let closed = format!("/users/{}/items", SELLERS + 2);
    world.fault(&json!({ "path_prefix": closed, "times": 0, "kind": "status", "code": 403 }));
    site.clock().advance_s(60);
    assert_eq!(sync_all(&operator), (4, 1, 2));
    assert_eq!(sync_all(&operator), (2, 0, 0));
    let failed = shown(&operator, &format!("{CLIENTS}?situacao=erro"));
    assert_eq!(failed["total"], 1);
    assert_eq!(failed["dados"][0]["nome"], "Cliente 002");
    assert!(failed["dados"][0]["erro"].is_string(), "{failed}");
    world.clear_faults();
    site.clock().advance_s(HOUR_S);
    assert_eq!(sync_all(&operator), (5, 0, 2));
    assert_eq!(shown(&operator, &format!("{CLIENTS}?situacao=erro"))["total"], 0);
    // A token that is rejected counts as an error once, and is then skipped.
    assert_eq!(sync_all(&operator), (2, 0, 0));
    world.end_tokens(SELLERS + 3, "revoke");
    site.clock().advance_s(HOUR_S);
    assert_eq!(sync_all(&operator), (4, 1, 2));
    assert_eq!(sync_all(&operator), (2, 0, 0));
    site.clock().advance_s(HOUR_S);
    assert_eq!(sync_all(&operator), (5, 0, 1));
    assert_eq!(sync_all(&operator), (1, 0, 0));
}

#[test]
fn two_who_ask_at_once_read_nobody_twice() {
    let world = world_of(10);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 10);
    world.forget_requests();
    let both = std::thread::scope(|scope| {
        let other = scope.spawn(|| sync_all(&operator));
        let mine = sync_all(&operator);
        [mine, other.join().unwrap()]
    });
    let mut pending: Vec<_> = both.iter().map(|done| done.2).collect();
    pending.sort_unstable();
    assert_eq!((pending, both[0].0 + both[1].0), (vec![0, 5], 10));
    let readings = readings(&world, 10);
    assert!(readings.iter().all(|count| *count == readings[0]), "{readings:?}");
}

#[test]
fn a_checkup_finds_each_fault_with_its_age() {
    let world = world_of(1);
    world.control(
        "/_sandbox/sellers",
        &json!({
            "ml_user_id": SELLERS + 2, "nickname": "LOJA 002", "reputation": { "level": "1_red" },
        }),
    );
    world.item(SELLERS + 2, "Caneca", 19.9);
    let site = joined(&world).start();
    clients_of(&site, &world, 2);
    let report = cron::run(&site);
    assert_eq!(
        report["checkup_agencia"],
        json!({ "verificados": 2, "prontos": 1, "pendentes": 1 })
    );
    // It does not run again within six hours.
    assert_eq!(cron::run(&site)["checkup_agencia"]["verificados"], 0);
    world.control("/_sandbox/questions", &json!({ "ml_user_id": SELLERS + 1, "text": "Serve?" }));
    site.clock().advance_s(25 * HOUR_S);
    let report = cron::run(&site);
    assert_eq!(report["checkup_agencia"]["verificados"], 2, "{report}");
    // The marketplace pauses a sold-out listing, but not for all sellers.
    cron::alter(&site, "UPDATE listing SET available = 0 WHERE ml_user_id = 900000101");
    let operator = site.administrator();
    operator.post(CHECKUP, &json!({})).ok();
    let list = shown(&operator, CHECKUP);
    let faults = |number: u64| -> Vec<String> {
        let rows = list["dados"].as_array().unwrap().iter();
        let account = (SELLERS + number).to_string();
        let own = rows.filter(|row| row["conta"] == *account);
        own.map(|row| row["pendencia"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(faults(1), ["perguntas", "sem_estoque"], "{list}");
    assert_eq!(faults(2), ["reputacao"], "{list}");
    let since = list["dados"][0]["desde"].as_str().unwrap().to_owned();
    let only = shown(&operator, &format!("{CHECKUP}?pendencia=sem_estoque"));
    assert_eq!((&only["total"], &only["dados"][0]["cliente"]), (&json!(1), &json!("Cliente 001")));
    // Running the same check again changes nothing, not even its `desde`.
    let again = operator.post(CHECKUP, &json!({})).ok();
    assert_eq!(again["verificados"].as_i64().unwrap(), 2, "{again}");
    assert_eq!(shown(&operator, CHECKUP)["dados"][0]["desde"], *since);
    let page = operator.get(CHECKUP).expect(200).text();
    assert!(page.contains("1 anúncio ativo sem estoque") && page.contains("Reponha o estoque"));
}

#[test]
fn days_and_sums_say_what_the_books_say() {
    let world = world_of(2);
    let site = joined(&world).start();
    let plan = json!({ "ml_user_id": SELLERS + 1, "days": 70, "daily": 2, "seed": 7 });
    world.control("/_sandbox/history", &plan);
    let operator = clients_of(&site, &world, 2);
    let sums = || {
        site.stored(
            "SELECT (SELECT sum(orders) || '/' || sum(gross_cents) FROM sales_day)
                 || ' ' || (SELECT sum(orders) || '/' || sum(gross_cents) FROM agency_day WHERE client_id > 0)
                 || ' ' || (SELECT sum(orders) || '/' || sum(gross_cents) FROM agency_day WHERE client_id = 0)",
        )
    };
    let agree = |told: &[String]| {
        let parts: Vec<_> = told[0].split(' ').collect();
        assert!(parts[0] == parts[1] && parts[1] == parts[2] && parts[0] != "0/0", "{told:?}");
    };
    sync_all(&operator);
    agree(&sums());
    // A day that is too old for every chart is removed at the next reading,
    // from the sums as well.
    let old = "INSERT INTO agency_day VALUES (1, 100, 900000101, 7, 700, 0, 0, 0, 0, 0)";
    cron::alter(&site, old);
    let operator = site.administrator();
    world.sale(SELLERS + 2);
    site.clock().advance_s(HOUR_S);
    sync_all(&operator);
    agree(&sums());
    let own = shown(&operator, &format!("{CLIENTS}?q=Cliente%20001"));
    assert!(own["dados"][0]["vendas_30d"].as_i64().unwrap() > 30, "{own}");
    let home = shown(&operator, "/admin/agencia?dias=90");
    assert_eq!((&home["contas"], home["dias"].as_array().unwrap().len() > 60), (&json!(2), true));
    for wrong in ["31", "0", "x"] {
        operator.get(&format!("/admin/agencia?dias={wrong}")).expect(422);
    }
    // When an account leaves, its days are removed.
    let list = shown(&operator, CLIENTS);
    let leave = format!(
        "{CLIENTS}/{}/contas/{}/retirar",
        list["dados"][0]["id"].as_str().unwrap(),
        SELLERS + 1
    );
    operator.post(&leave, &json!({})).ok();
    operator.post(&leave, &json!({})).expect(404);
    let left = site.stored(
        "SELECT (SELECT count(*) FROM agency_day WHERE ml_user_id = 900000101)
             || ' ' || (SELECT sum(orders) FROM agency_day WHERE client_id = 0)
             || ' ' || (SELECT sum(orders) FROM agency_day WHERE client_id > 0)",
    );
    assert_eq!(left, ["0 1 1"]);
}

#[test]
fn a_day_whose_only_sale_was_cancelled_sold_nothing() {
    let world = world_of(1);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 1);
    let order = world.sale(SELLERS + 1)["id"].to_string();
    let sold = || {
        site.stored(
            "SELECT sum(orders) || ' ' || (sum(gross_cents) > 0) FROM agency_day GROUP BY client_id ORDER BY client_id",
        )
    };
    wait_until_worked(&world, &site);
    sync_all(&operator);
    assert_eq!(sold(), ["1 1", "1 1"]);
    site.clock().advance_s(2 * 24 * HOUR_S);
    let operator = site.administrator();
    sync_all(&operator);
    world.control(&format!("/_sandbox/orders/{order}"), &json!({ "status": "cancelled" }));
    wait_until_worked(&world, &site);
    site.clock().advance_s(HOUR_S);
    sync_all(&operator);
    assert_eq!(sold(), ["0 0", "0 0"]);
    assert_eq!(shown(&operator, CLIENTS)["dados"][0]["vendas_30d"], 0);
}

#[test]
fn an_account_that_is_unlinked_leaves_at_once() {
    let world = world_of(2);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 2);
    sync_all(&operator);
    cron::run(&site);
    // The student got a notification of a type that the extension's programs know.
    let told = site.extension("ana").get("/api/ext/me").ok()["ml"]["notificacoes"].take();
    let told = told.as_array().unwrap().iter();
    let mut told = told.filter(|one| one["titulo"].as_str().unwrap().starts_with("A agência"));
    assert!(told.all(|one| one["tipo"] == "sistema") && site.stored(TOLD) == ["2"]);
    let ana = site.person("ana");
    ana.post(&format!("/painel/ml/contas/{}/desvincular", SELLERS + 1), &json!({})).ok();
    let list = shown(&operator, CLIENTS);
    assert_eq!((&list["dados"][0]["contas"], &list["total"]), (&json!([]), &json!(2)));
    let left = site.stored(
        "SELECT (SELECT count(*) FROM agency_account WHERE ml_user_id = 900000101)
             || (SELECT count(*) FROM agency_day WHERE ml_user_id = 900000101)
             || (SELECT count(*) FROM agency_question WHERE ml_user_id = 900000101)",
    );
    assert_eq!(left, ["000"]);
    site.clock().advance_s(60);
    assert_eq!(sync_all(&operator), (1, 0, 0));
}

#[test]
fn a_hundred_clients_with_faults_are_all_worked() {
    let world = world_of(100);
    let site = joined(&world).start();
    let operator = clients_of(&site, &world, 100);
    let closed = |number: u64| format!("/users/{}/items", SELLERS + number);
    for number in (10..=100).step_by(10) {
        let fault = json!({
            "path_prefix": closed(number), "times": 0, "kind": "status", "code": 403,
        });
        world.fault(&fault);
    }
    for number in (5..=95).step_by(30) {
        world.end_tokens(SELLERS + number, "revoke");
    }
    site.clock().advance_s(60);
    world.forget_requests();
    let (mut synced, mut errors) = (0, 0);
    for cycle in 1..=20 {
        let done = sync_all(&operator);
        assert_eq!(done.0 + done.1, 5, "{done:?} in cycle {cycle}");
        assert_eq!(done.2, 100 - 5 * cycle, "{done:?} in cycle {cycle}");
        synced += done.0;
        errors += done.1;
    }
    // Ten accounts are partly closed to us, and four have revoked their access.
    assert_eq!((synced, errors), (86, 14));
    let well = readings(&world, 100);
    let counts: Vec<_> = (1..=100_u64)
        .zip(&well)
        .filter(|(number, _)| number % 10 != 0 && number % 30 != 5)
        .map(|(_, count)| *count)
        .collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{well:?}");
    assert_eq!(shown(&operator, &format!("{CLIENTS}?situacao=erro"))["total"], 14);
    let looked = cron::run(&site)["checkup_agencia"].clone();
    let count = |name: &str| looked[name].as_i64().unwrap();
    assert_eq!((count("verificados"), count("prontos") + count("pendentes")), (100, 100));
}
