//! The periodic tasks, run when a test wants them to.

use rusqlite::{Connection as Database, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::{CRON_SECRET, START, Site};

pub const CRON: &str = "/api/v1/cron";

/// Makes a meet at an instant of UTC; returns its id.
#[track_caller]
pub fn meet(site: &Site, civil: &str) -> String {
    let new = json!({ "titulo": "Tira-dúvidas", "data_hora": civil, "duracao_minutos": 60 });
    let made = site.administrator().post("/admin/meets", &new).expect(201);
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Runs the tasks through the cron address.
#[track_caller]
pub fn run(site: &Site) -> Value {
    site.bearer(CRON_SECRET).get(CRON).ok()
}

/// Makes an old run that is archived, and one of today.
#[track_caller]
pub fn some_history(site: &Site) {
    site.clock().set("2026-08-01T12:00:00Z");
    run(site);
    site.clock().set(START);
    // The run itself, and its request.
    assert_eq!(run(site)["log_archival"]["arquivados"], 2);
}

#[track_caller]
pub fn run_at(site: &Site, instant: &str) -> Value {
    site.clock().set(instant);
    run(site)
}

/// Changes the database while the server is down.
#[track_caller]
pub fn alter(site: &Site, sql: &str) {
    site.stop();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let database = Database::open_with_flags(site.database(), flags).unwrap();
    database.execute_batch(sql).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    database.close().unwrap();
    site.start_again();
}

#[track_caller]
pub fn json_of(actor: &Actor<'_>, target: &str) -> Value {
    let request = Request::new("GET", target).header("Accept", "application/json");
    actor.send(request).ok()
}

/// A student with a chat number.
#[track_caller]
pub fn student(site: &Site, name: &str, plan: &str) {
    let new = json!({
        "nome": name, "email": format!("{name}@example.com"), "plano": plan,
        "chat_number": "5511987654321",
    });
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/criar", &new).expect(201);
}

/// Queued messages of a kind: channel and address, in order.
pub fn queued(site: &Site, kind: &str) -> Vec<String> {
    site.stored(&format!(
        "SELECT o.channel || ' ' || u.email FROM outbox o JOIN user u USING (user_id)
         WHERE o.kind = '{kind}' AND o.state = 0 ORDER BY u.email, o.message_id"
    ))
}
