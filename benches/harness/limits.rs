//! Cases with a limit of their own instead of a share of the ceiling: how one
//! kind of work affects another, memory, time, bytes.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::answer;
use crate::lab::{Lab, pause};
use crate::load::{self, Load};
use crate::report::{Figure, Target};
use crate::requests::{self, get_bytes};
use crate::rounds::{Subject, median};
use crate::seed::{self, Recipe};
use crate::server::Server;

const MB: f64 = 1024.0 * 1024.0;

/// Connections that sign in at the same time as others read.
const LOGIN_CONNECTIONS: u32 = 16;

/// Logins that do not fit into the queue of the hashing thread are rejected;
/// this helps to keep reads fast.
const LOGIN_ANSWERS: &[u16] = &[200, 429, 503];

fn login_load(server: &Server) -> Load {
    let request = requests::logins(seed::WITH_PASSWORD);
    let mut load = Load::new(server.address(), request, LOGIN_ANSWERS);
    load.connections = LOGIN_CONNECTIONS;
    load
}

/// p99 of order pages, quiet and while people sign in.
pub fn logins(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let recipe = lab.large();
    ensure!(
        recipe.sellers() >= seed::WITH_PASSWORD,
        "logins need a size of --orders of at least {}",
        seed::WITH_PASSWORD * 1000
    );
    let site = lab.site(recipe, &[])?;
    let subject = Subject::new(&site.server, requests::order_pages(recipe.sellers(), 20));
    subject.warm(lab)?;
    let mut reads = subject.load(lab);
    reads.connections = lab.args.connections.div_ceil(2);
    let (mut quiet, mut busy, mut ratios, mut rates) = (vec![], vec![], vec![], vec![]);
    for _ in 0..lab.args.rounds {
        let alone = load::run(&reads)?.latencies.percentile_ms(99);
        let (logins, read) = load::during(login_load(&site.server), || load::run(&reads))?;
        let beside = read.latencies.percentile_ms(99);
        quiet.push(alone);
        busy.push(beside);
        ratios.push(beside / alone);
        rates.push(logins.per_second());
    }
    Ok(vec![
        Figure::new("logins", "p99 of reads by quiet", median(ratios)).target(Target::AtMost(1.2)),
        Figure::new("logins", "p99 ms of reads, quiet", median(quiet)),
        Figure::new("logins", "p99 ms of reads, with logins", median(busy)),
        Figure::new("logins", "answers to logins a second", median(rates)),
    ])
}

/// p99 of notifications while the `backup` command copies the live file.
pub fn backup(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let site = lab.site(Recipe::GIGABYTE, &[])?;
    let subject = Subject::new(&site.server, requests::notifications());
    subject.warm(lab)?;
    let mut writes = subject.load(lab);
    writes.connections = lab.args.connections.div_ceil(4);
    let before = load::run(&writes)?.per_second();
    let copy = site.file.with_file_name("copy.db");
    let (outcome, took) = load::during(writes.clone(), || {
        let started = Instant::now();
        let done = lab.command(&site.file)?.args(["backup", "--force"]).arg(&copy).output()?;
        ensure!(done.status.success(), "`backup` failed; see target/bench-data/server.log");
        Ok(started.elapsed())
    })?;
    ensure!(copy.metadata()?.len() >= 1_000_000_000, "the backup is smaller than its source");
    let quiet = f64::midpoint(before, load::run(&writes)?.per_second());
    let p99 = outcome.latencies.percentile_ms(99);
    Ok(vec![
        Figure::new("backup", "p99 ms of writes meanwhile", p99).target(Target::AtMost(100.0)),
        Figure::new("backup", "rate of writes by quiet", outcome.per_second() / quiet),
        Figure::new("backup", "seconds of the backup", took.as_secs_f64()),
    ])
}

/// The largest size of the write-ahead log while half of the connections read
/// and half write.
pub fn log_size(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let recipe = lab.large();
    let site = lab.site(recipe, &[])?;
    let half = lab.args.connections.div_ceil(2);
    let mut reads =
        Subject::new(&site.server, requests::order_pages(recipe.sellers(), 20)).load(lab);
    let mut writes = Subject::new(&site.server, requests::notifications()).load(lab);
    (reads.connections, writes.connections) = (half, half);
    let log = site.file.with_file_name("bench.db-wal");
    let duration = lab.args.duration() * u32::try_from(lab.args.rounds)?;
    let (_, (_, largest)) =
        load::during(reads, || load::during(writes, || largest_mb(&log, duration)))?;
    Ok(vec![Figure::new("log-size", "MB of log, largest", largest).target(Target::AtMost(64.0))])
}

fn largest_mb(file: &Path, duration: Duration) -> anyhow::Result<f64> {
    highest(duration, Duration::from_millis(20), || megabytes(file))
}

/// Time from starting the process to a 200 of `/readyz`.
pub fn start(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(Recipe::GIGABYTE)?;
    // The first start after seeding is not the usual one.
    lab.serve(&copy.file, &[])?.stop()?;
    let mut times = Vec::new();
    for _ in 0..lab.args.rounds {
        let started = Instant::now();
        let server = lab.serve(&copy.file, &[])?;
        ready(&server)?;
        times.push(started.elapsed().as_secs_f64());
        server.stop()?;
    }
    Ok(vec![Figure::new("start", "seconds to ready", median(times)).target(Target::AtMost(1.0))])
}

fn ready(server: &Server) -> anyhow::Result<()> {
    let request = get_bytes("/readyz", None, "");
    let deadline = Instant::now() + Duration::from_mins(1);
    while answer::ask(server.address(), &request)?.status != 200 {
        ensure!(Instant::now() < deadline, "not ready after a minute");
        pause(Duration::from_millis(5));
    }
    Ok(())
}

/// `RssAnon` at rest, at its highest while people sign in, and a minute later.
pub fn memory(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let recipe = lab.large();
    ensure!(
        recipe.sellers() >= seed::WITH_PASSWORD,
        "logins need a size of --orders of at least {}",
        seed::WITH_PASSWORD * 1000
    );
    let site = lab.site(recipe, &[])?;
    pause(Duration::from_secs(5));
    let idle = site.server.rss_anon_mb()?;
    let (_, hashing) = load::during(login_load(&site.server), || {
        highest(lab.args.duration(), Duration::from_millis(20), || site.server.rss_anon_mb())
    })?;
    pause(Duration::from_secs(65));
    let after = site.server.rss_anon_mb()?;
    Ok(vec![
        Figure::new("memory", "MB idle", idle).target(Target::AtMost(25.0)),
        Figure::new("memory", "MB while hashing", hashing).target(Target::AtMost(64.0)),
        Figure::new("memory", "MB a minute later", after).target(Target::AtMost(25.0)),
    ])
}

/// Bytes of the executable, and of an order in its table and its indexes.
pub fn size(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let recipe = lab.large();
    let connection = seed::open(&seed::file(lab, recipe)?)?;
    let bytes: f64 = connection.query_row(
        "SELECT CAST(sum(pgsize) AS REAL) FROM dbstat
         WHERE aggregate = TRUE
           AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = 'sale_order')",
        [],
        |row| row.get(0),
    )?;
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    let an_order = bytes / recipe.orders as f64;
    let executable = megabytes(lab.exe())?;
    Ok(vec![
        Figure::new("size", "MB of the executable", executable).target(Target::AtMost(20.0)),
        Figure::new("size", "bytes of an order", an_order).target(Target::AtMost(200.0)),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "files stay far below 2^53 bytes")]
fn megabytes(file: &Path) -> anyhow::Result<f64> {
    let metadata =
        std::fs::metadata(file).with_context(|| format!("looking at {}", file.display()))?;
    Ok(metadata.len() as f64 / MB)
}

/// The highest value during a period of time.
fn highest(
    duration: Duration,
    every: Duration,
    mut value: impl FnMut() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    let end = Instant::now() + duration;
    let mut highest = value()?;
    while Instant::now() < end {
        pause(every);
        highest = highest.max(value()?);
    }
    Ok(highest)
}
