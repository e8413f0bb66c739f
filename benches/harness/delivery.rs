//! Messages that are sent by chat, to a gateway that answers at once and
//! without a pace, while the other threads of a server run on a seeded file.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use rusqlite::params;

use crate::hello;
use crate::lab::{Lab, pause, say};
use crate::report::{Figure, Target};
use crate::requests::unix_now;
use crate::seed;
use crate::students;

const MESSAGES: i64 = 10_000;
/// Longest time that they may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Messages a second, from the start of the server until nearly all are stored
/// as sent.
pub fn delivery(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(lab.small())?;
    say("adding 100000 students");
    students::fill(&copy.file)?;
    queue(&copy.file)?;
    let gateway = hello::start()?;
    let address = format!("http://{}", gateway.address());
    let server = lab.serve(
        &copy.file,
        &[
            ("CRON__ENABLED", "true"),
            ("CHAT__GATEWAY", "evolution"),
            ("CHAT__BASE_URL", &address),
            ("CHAT__API_KEY", "key-of-the-harness"),
            ("CHAT__INSTANCE", "harness"),
            ("MESSAGES__PACE_EVOLUTION_PER_S", "0"),
        ],
    )?;
    let began = Instant::now();
    // A few may wait for a retry after a closed connection.
    while waiting(&copy.file)? > MESSAGES / 500 {
        ensure!(began.elapsed() < PATIENCE, "{MESSAGES} messages take too long");
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    let rate = (MESSAGES - MESSAGES / 500) as f64 / began.elapsed().as_secs_f64();
    server.stop()?;
    gateway.stop()?;
    let figure = Figure::new("delivery", "messages a second by chat", rate);
    Ok(vec![figure.target(Target::AtLeast(500.0))])
}

/// Puts a message to each of many students into the queue.
fn queue(file: &Path) -> anyhow::Result<()> {
    let connection = seed::open(file)?;
    connection.execute("UPDATE user SET chat_number = '5511987654321' WHERE kind = 0", [])?;
    connection.execute(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at)
         SELECT 'chat', user_id, 'lembrete_encontro', '{\"title\":\"Encontro\",\"starts_at\":1}',
                'harness:' || user_id, 0, ?1, ?1
         FROM user WHERE kind = 0 AND suspended_at IS NULL ORDER BY user_id LIMIT ?2",
        params![unix_now(), MESSAGES],
    )?;
    connection.close().map_err(|(_, error)| error.into())
}

fn waiting(file: &Path) -> anyhow::Result<i64> {
    // Rarely enough to cost the server nothing.
    pause(Duration::from_millis(20));
    let connection = seed::open(file)?;
    let sql = "SELECT coalesce(sum(messages), 0) FROM outbox_count WHERE state = 0";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}
