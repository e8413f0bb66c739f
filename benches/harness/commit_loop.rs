//! The ceiling for durable notifications: a loop in this process that commits
//! the same rows as the server, 64 jobs at a time, without HTTP.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use crate::lab::Copy;
use crate::random::Random;
use crate::requests::{Notification, unix_now};
use crate::seed;

const JOBS_PER_COMMIT: u32 = 64;

/// A loop on a file of its own. Rows are kept between runs, as in the server.
pub struct CommitLoop {
    connection: Connection,
    random: Random,
    // Removed after the connection is closed.
    _copy: Copy,
}

impl CommitLoop {
    /// Opens a copy with the durability and the caches of the server's writer.
    pub fn open(copy: Copy) -> anyhow::Result<Self> {
        let connection = seed::open(&copy.file)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA secure_delete = ON;
             PRAGMA cache_size = -16000;
             PRAGMA wal_autocheckpoint = 4000;",
        )?;
        Ok(Self { connection, random: Random::fresh()?, _copy: copy })
    }

    /// Jobs committed a second.
    pub fn run(&mut self, duration: Duration) -> anyhow::Result<f64> {
        let started = Instant::now();
        let mut jobs = 0_u32;
        while started.elapsed() < duration {
            self.batch()?;
            jobs += JOBS_PER_COMMIT;
        }
        Ok(f64::from(jobs) / started.elapsed().as_secs_f64())
    }

    fn batch(&mut self) -> anyhow::Result<()> {
        let execute = |sql: &str| -> rusqlite::Result<()> {
            self.connection.prepare_cached(sql)?.execute([]).map(drop)
        };
        execute("BEGIN IMMEDIATE")?;
        for _ in 0..JOBS_PER_COMMIT {
            execute("SAVEPOINT job")?;
            store(&self.connection, &Notification::new(&mut self.random, unix_now()))?;
            execute("RELEASE job")?;
        }
        execute("COMMIT")?;
        Ok(())
    }
}

fn store(connection: &Connection, notice: &Notification) -> anyhow::Result<()> {
    let resource = format!("/orders/{}", notice.order_id);
    connection
        .prepare_cached(
            "INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body,
                                          delivery_key, event_key, state, attempts, next_try_at, counted)
             VALUES (?1, 'orders_v2', ?2, ?3, ?4, ?5, ?6, 0, 0, ?1, 1)",
        )?
        .execute(params![
            notice.signed_at,
            resource,
            notice.ml_user_id,
            notice.body.as_bytes(),
            key(&notice.request_id, &resource),
            key("orders_v2", &resource),
        ])?;
    Ok(())
}

fn key(one: &str, other: &str) -> [u8; 16] {
    let digest = Sha256::digest(format!("{one}\n{other}"));
    std::array::from_fn(|at| digest[at])
}
