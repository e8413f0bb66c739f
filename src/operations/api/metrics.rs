//! `GET /metrics`: figures of the process in the Prometheus text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;

use crate::app::App;
use crate::base::Instant;
use crate::db::{Condition, FileKind, Lane, Trouble};
use crate::http::{Problem, Reply, Request};
use crate::identity::KeyHolder;
use crate::marketplace::inbox::received::store as inbox;
use crate::operations::traffic::BOUNDS;
use crate::operations::{disk, https, queues, soundness, store};
use crate::outbox;
use crate::partner::webhooks;
use crate::services::Services;

const MEDIA: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The text of the response, built step by step. Names are without `seller_platform_`.
#[derive(Default)]
struct Figures(String);

impl Figures {
    fn metric(&mut self, kind: &str, name: &str, help: &str) {
        let _ = writeln!(
            self.0,
            "# HELP seller_platform_{name} {help}\n# TYPE seller_platform_{name} {kind}"
        );
    }

    /// Writes a value of a metric. `labels` is already formatted; a negative value is 0.
    fn value(&mut self, name: &str, labels: &str, value: impl TryInto<u64>) {
        let value = value.try_into().unwrap_or(0);
        let _ = writeln!(self.0, "seller_platform_{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl TryInto<u64>) {
        self.metric("gauge", name, help);
        self.value(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.metric("counter", name, help);
        self.value(name, "", value);
    }
}

/// `GET /metrics`.
pub fn metrics(app: &App, _: &KeyHolder, request: &Request) -> Result<Reply, Problem> {
    let mut figures = Figures::default();
    process(&mut figures, app, request.now);
    answers(&mut figures, app);
    database(&mut figures, app);
    copies(&mut figures, app)?;
    let help = "1 while calls to the marketplace hang or fail, so that people are told at once.";
    figures.gauge("marketplace_away", help, app.marketplace.client.is_away());
    work(&mut figures, app)?;
    webhooks(&mut figures, app)?;
    surfaces(&mut figures, app);
    lanes(&mut figures, app);
    disks(&mut figures, app);
    waiting(&mut figures, app, request.now)?;
    Ok(Reply::of(MEDIA, figures.0))
}

fn process(figures: &mut Figures, app: &App, now: Instant) {
    figures.metric("gauge", "info", "The program that is running.");
    let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    figures.value("info", &version, 1_u64);
    // Named as everywhere.
    let _ = writeln!(
        figures.0,
        "# HELP process_start_time_seconds When the process started, in seconds since 1970.\n\
         # TYPE process_start_time_seconds gauge\n\
         process_start_time_seconds {}",
        app.started_at.0.max(0)
    );
    let uptime = now.since(app.started_at);
    figures.gauge("uptime_seconds", "How long the process has been running.", uptime);
    if let Some(bytes) = anonymous_memory() {
        let help = "Memory that belongs to the process alone (RssAnon).";
        figures.gauge("memory_anon_bytes", help, bytes);
    }
    if let Some(at) = https::ends_at(app) {
        let help = "When the served HTTPS certificate ends, in seconds since 1970; 0 without one.";
        figures.gauge("certificate_expires_at", help, at.0);
    }
    let held = app.server.intake.held();
    figures.gauge("bodies_bytes", "Bodies of requests that are in memory.", held);
    let help = "Large answers that wait to be sent or are on their way.";
    figures.gauge("unsent_bytes", help, app.sending.unsent.held());
}

fn answers(figures: &mut Figures, app: &App) {
    let name = "requests_total";
    figures.metric("counter", name, "Answers by group of routes and class of status.");
    for (group, class, answers) in app.health.traffic.all() {
        figures.value(name, &format!("{{group=\"{group}\",status=\"{class}\"}}"), answers);
    }
    let requests = &app.health.requests;
    let help = "Entries of the request log that wait to be written.";
    figures.gauge("request_log_waiting", help, requests.count_waiting());
    let help = "Entries of the request log that found no place.";
    figures.counter("request_log_dropped_total", help, requests.dropped());
}

fn database(figures: &mut Figures, services: &Services) {
    let db = &services.db;
    figures.gauge("writer_queue_jobs", "Jobs that wait for the writer.", db.queue_depth());
    let help = "Rows that the largest job of the writer changed since the start.";
    figures.gauge("writer_largest_job_rows", help, db.largest_job());
    let bytes = std::fs::metadata(db.path()).map_or(0, |file| file.len());
    figures.gauge("database_bytes", "Size of the database file.", bytes);
    figures.gauge("wal_bytes", "Size of the write-ahead log.", db.wal_bytes());
    let (condition, trouble) = (db.condition(), db.trouble());
    let is_writable = condition == Condition::Writable && trouble.is_none();
    figures.gauge("database_writable", "1 when the last write went through.", is_writable);
    let is_full = condition == Condition::Full;
    figures.gauge("disk_full", "1 when the last write found no space.", is_full);
    let help = "1 when the last write was refused because the file system is read-only.";
    figures.gauge("file_system_read_only", help, condition == Condition::ReadOnly);
    let help = "1 when damage was found; nothing is written then: restore a backup.";
    let is_damaged = matches!(trouble, Some(Trouble::Damaged(_)));
    figures.gauge("database_damaged", help, is_damaged);
    let name = "database_file_gone";
    let help =
        "1 for a file that was removed or replaced while it was open; nothing is written then.";
    figures.metric("gauge", name, help);
    for kind in FileKind::ALL {
        let label = format!("{{file=\"{}\"}}", kind.name());
        figures.value(name, &label, trouble == Some(Trouble::Gone(kind)));
    }
    let help = "1 when answered writes were missing at a start.";
    figures.gauge("database_writes_missing", help, db.missing().is_some());
    if let Ok(at) = soundness::last_whole_check(services) {
        let help = "When the whole database was last found sound, in seconds since 1970; 0 before the first time.";
        figures.gauge("database_checked_timestamp_seconds", help, at.0);
    }
}

/// The copies, and the replica if one is configured.
fn copies(figures: &mut Figures, app: &App) -> Result<(), Problem> {
    let seen = app.health.copies.status(app)?;
    let help =
        "When the newest good copy of the database was made, in seconds since 1970; 0 without one.";
    figures.gauge("backup_last_success_timestamp_seconds", help, seen.last_success().0);
    let help = "When a copy was last found to be as its manifest says, in seconds since 1970; 0 before that.";
    figures.gauge("backup_last_verified_timestamp_seconds", help, seen.last_verified().0);
    if let Some(status) = app.health.replica.status() {
        let help = "What was written in these last seconds may not be at the replica.";
        figures.gauge("replica_lag_seconds", help, status.lag_s);
        let help = "1 while something keeps the replica from following; the log says what.";
        figures.gauge("replica_failing", help, status.trouble.is_some());
    }
    Ok(())
}

/// Periodic tasks, notifications of the marketplace and messages.
fn work(figures: &mut Figures, app: &App) -> Result<(), Problem> {
    let (inbox, outbox, last_run, failing) = app.db.read(Lane::Slow, |tx| {
        Ok::<_, Problem>((
            inbox::figures(tx)?,
            outbox::all_waiting(tx)?.0,
            store::last_tick(tx)?,
            store::failing_tasks(tx)?,
        ))
    })?;
    let help = "When the periodic tasks last ran, in seconds since 1970; 0 before the first run.";
    figures.gauge("cron_last_run_time_seconds", help, last_run.0);
    let help = "Periodic tasks that failed three times in a row or more.";
    figures.gauge("cron_failing_tasks", help, failing.len());
    let name = "marketplace_notifications";
    figures.metric("gauge", name, "Notifications of the marketplace by what became of them.");
    for (state, number) in
        [("waiting", inbox.waiting), ("failed", inbox.failed), ("later", inbox.for_later)]
    {
        figures.value(name, &format!("{{state=\"{state}\"}}"), number);
    }
    figures.gauge("outbox_waiting", "Messages that wait to be sent.", outbox);
    let told = &app.messages.receipts;
    let name = "chat_receipts_total";
    let help = "What the official chat API told of messages that it took, by what it was good for.";
    figures.metric("counter", name, help);
    for (outcome, count) in
        [("changed", &told.changed), ("known", &told.known), ("unknown", &told.unknown)]
            .into_iter()
            .chain([("refused", &told.refused)])
    {
        let count = count.load(Ordering::Relaxed);
        figures.value(name, &format!("{{outcome=\"{outcome}\"}}"), count);
    }
    let refused = app.callers.refused_signatures.counted();
    let help = "Notifications refused for their signature.";
    figures.counter("refused_signatures_total", help, refused);
    Ok(())
}

fn webhooks(figures: &mut Figures, app: &App) -> Result<(), Problem> {
    let (hooks, seen) = (&app.webhooks, |one: &AtomicU64| one.load(Ordering::Relaxed));
    let name = "webhook_tries_total";
    figures.metric("counter", name, "Tries to deliver a webhook, by what came of them.");
    figures.value(name, "{outcome=\"delivered\"}", seen(&hooks.delivered));
    figures.value(name, "{outcome=\"failed\"}", seen(&hooks.failed));
    let help = "Tries to deliver a webhook that are under way.";
    figures.gauge("webhook_tries_under_way", help, seen(&hooks.in_flight));
    let waiting = app.db.read(Lane::Slow, webhooks::waiting_endpoints)?;
    let help = "Endpoints for which something waits.";
    figures.gauge("webhook_endpoints_waiting", help, waiting);
    Ok(())
}

/// Errors and durations by surface.
fn surfaces(figures: &mut Figures, app: &App) {
    let seen: Vec<_> = app.health.traffic.surfaces().collect();
    let name = "request_errors_total";
    let help = "Answers with an error by surface: refused (4xx) or failed (5xx).";
    figures.metric("counter", name, help);
    for one in &seen {
        let label = |kind: &str| format!("{{surface=\"{}\",kind=\"{kind}\"}}", one.name);
        figures.value(name, &label("refused"), one.refused);
        figures.value(name, &label("failed"), one.failed);
    }
    let name = "request_duration_seconds";
    let bucket = format!("{name}_bucket");
    figures.metric("histogram", name, "Time until the headers of answers, by surface.");
    for one in &seen {
        let label = |bound: &str| format!("{{surface=\"{}\",le=\"{bound}\"}}", one.name);
        for ((_, bound), count) in BOUNDS.iter().zip(one.within) {
            figures.value(&bucket, &label(bound), count);
        }
        figures.value(&bucket, &label("+Inf"), one.all);
        let (label, us) = (format!("{{surface=\"{}\"}}", one.name), one.sum_us);
        let (whole, rest) = (us / 1_000_000, us % 1_000_000);
        let _ = writeln!(figures.0, "seller_platform_{name}_sum{label} {whole}.{rest:06}");
        figures.value(&format!("{name}_count"), &label, one.all);
    }
}

fn lanes(figures: &mut Figures, app: &App) {
    let name = "lane_requests";
    let help = "Requests in the lanes of slow work, running or waiting for a thread.";
    figures.metric("gauge", name, help);
    for lane in app.server.lanes.figures() {
        let label = |state: &str| format!("{{lane=\"{}\",state=\"{state}\"}}", lane.name);
        figures.value(name, &label("running"), lane.running);
        figures.value(name, &label("waiting"), lane.waiting);
    }
}

fn disks(figures: &mut Figures, services: &Services) {
    let disks = disk::disks(services);
    let name = "disk_free_bytes";
    figures.metric("gauge", name, "Free space where the database and its copies lie.");
    for disk in &disks {
        figures.value(name, &format!("{{folder=\"{}\"}}", disk.name), disk.free);
    }
    let name = "disk_bytes";
    figures.metric("gauge", name, "Size of the disks where the database and its copies lie.");
    for disk in &disks {
        figures.value(name, &format!("{{folder=\"{}\"}}", disk.name), disk.total);
    }
}

fn waiting(figures: &mut Figures, services: &Services, now: Instant) -> Result<(), Problem> {
    let queues = services.db.read(Lane::Slow, queues::all)?;
    let name = "queue_length";
    figures.metric("gauge", name, "What waits in each queue.");
    for queue in &queues {
        figures.value(name, &format!("{{queue=\"{}\"}}", queue.name), queue.length);
    }
    let name = "queue_oldest_seconds";
    figures.metric("gauge", name, "Age of the oldest in each queue; 0 when nothing waits.");
    for queue in &queues {
        figures.value(name, &format!("{{queue=\"{}\"}}", queue.name), queue.age_s(now));
    }
    Ok(())
}

/// `RssAnon` of this process; `None` when the system does not report it.
fn anonymous_memory() -> Option<u64> {
    Some(process_status("RssAnon:")? * 1024)
}

/// A number of `/proc/self/status`, such as its size in KiB.
pub fn process_status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
