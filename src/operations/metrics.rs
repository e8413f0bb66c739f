//! `GET /metrics`: figures of the process in the Prometheus text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;

use super::{https, load, soundness, store};
use crate::app::App;
use crate::base::Instant;
use crate::db::{Condition, FileKind, Lane, Trouble};
use crate::http::{Problem, Reply, Request};
use crate::identity::KeyHolder;
use crate::partner::webhooks;
use crate::services::Services;

const MEDIA: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The text of the response, built step by step.
#[derive(Default)]
pub(super) struct Figures(String);

impl Figures {
    /// Writes the description of a metric.
    pub(super) fn metric(&mut self, kind: &str, name: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Writes a value of a metric. `labels` is already formatted.
    pub(super) fn value(&mut self, name: &str, labels: &str, value: u64) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// Writes a value in seconds that is known in microseconds.
    pub(super) fn seconds(&mut self, name: &str, labels: &str, us: u64) {
        let _ = writeln!(self.0, "{name}{labels} {}.{:06}", us / 1_000_000, us % 1_000_000);
    }

    /// Writes a gauge with one value.
    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.metric("gauge", name, help);
        self.value(name, "", value);
    }
}

/// `GET /metrics`.
pub fn metrics(app: &App, _: &KeyHolder, request: &Request) -> Result<Reply, Problem> {
    let mut figures = Figures::default();
    process(&mut figures, app, request.now);
    if let Some(at) = https::ends_at(app) {
        figures.gauge(
            "seller_platform_certificate_expires_at",
            "When the served HTTPS certificate ends, in seconds since 1970; 0 without one.",
            count(at.0),
        );
    }
    held(&mut figures, app);
    answers(&mut figures, app);
    request_log(&mut figures, app);
    database(&mut figures, app);
    backups(&mut figures, app)?;
    replica(&mut figures, app);
    marketplace(&mut figures, app);
    queues(&mut figures, app)?;
    webhooks(&mut figures, app)?;
    load::write(&mut figures, app, request.now)?;
    Ok(Reply::of(MEDIA, figures.0))
}

fn webhooks(figures: &mut Figures, app: &App) -> Result<(), Problem> {
    let (hooks, seen) = (&app.webhooks, |one: &AtomicU64| one.load(Ordering::Relaxed));
    let name = "seller_platform_webhook_tries_total";
    figures.metric("counter", name, "Tries to deliver a webhook, by what came of them.");
    figures.value(name, "{outcome=\"delivered\"}", seen(&hooks.delivered));
    figures.value(name, "{outcome=\"failed\"}", seen(&hooks.failed));
    figures.gauge(
        "seller_platform_webhook_tries_under_way",
        "Tries to deliver a webhook that are under way.",
        seen(&hooks.in_flight),
    );
    let waiting = app.db.read(Lane::Slow, webhooks::waiting_endpoints)?;
    figures.gauge(
        "seller_platform_webhook_endpoints_waiting",
        "Endpoints for which something waits.",
        waiting,
    );
    Ok(())
}

fn process(figures: &mut Figures, app: &App, now: Instant) {
    let name = "seller_platform_info";
    figures.metric("gauge", name, "The program that is running.");
    let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    figures.value(name, &version, 1);
    figures.gauge(
        "process_start_time_seconds",
        "When the process started, in seconds since 1970.",
        count(app.started_at.0),
    );
    figures.gauge(
        "seller_platform_uptime_seconds",
        "How long the process has been running.",
        count(now.since(app.started_at)),
    );
    if let Some(bytes) = anonymous_memory() {
        let help = "Memory that belongs to the process alone (RssAnon).";
        figures.gauge("seller_platform_memory_anon_bytes", help, bytes);
    }
}

/// Memory that the process holds for its clients.
fn held(figures: &mut Figures, app: &App) {
    figures.gauge(
        "seller_platform_bodies_bytes",
        "Bodies of requests that are in memory.",
        app.server.intake.held() as u64,
    );
    figures.gauge(
        "seller_platform_unsent_bytes",
        "Large answers that wait to be sent or are on their way.",
        app.sending.unsent.held() as u64,
    );
}

fn answers(figures: &mut Figures, app: &App) {
    let name = "seller_platform_requests_total";
    let help = "Answers by group of routes and class of status.";
    figures.metric("counter", name, help);
    for (group, class, answers) in app.health.traffic.all() {
        let labels = format!("{{group=\"{group}\",status=\"{class}\"}}");
        figures.value(name, &labels, answers);
    }
}

fn request_log(figures: &mut Figures, app: &App) {
    figures.gauge(
        "seller_platform_request_log_waiting",
        "Entries of the request log that wait to be written.",
        app.health.requests.count_waiting() as u64,
    );
    let name = "seller_platform_request_log_dropped_total";
    let help = "Entries of the request log that found no place.";
    figures.metric("counter", name, help);
    figures.value(name, "", app.health.requests.dropped());
}

fn database(figures: &mut Figures, services: &Services) {
    figures.gauge(
        "seller_platform_writer_queue_jobs",
        "Jobs that wait for the writer.",
        services.db.queue_depth() as u64,
    );
    figures.gauge(
        "seller_platform_writer_largest_job_rows",
        "Rows that the largest job of the writer changed since the start.",
        services.db.largest_job(),
    );
    figures.gauge(
        "seller_platform_database_bytes",
        "Size of the database file.",
        std::fs::metadata(services.db.path()).map_or(0, |file| file.len()),
    );
    figures.gauge(
        "seller_platform_wal_bytes",
        "Size of the write-ahead log.",
        services.db.wal_bytes(),
    );
    let (condition, trouble) = (services.db.condition(), services.db.trouble());
    figures.gauge(
        "seller_platform_database_writable",
        "1 when the last write went through.",
        u64::from(condition == Condition::Writable && trouble.is_none()),
    );
    figures.gauge(
        "seller_platform_disk_full",
        "1 when the last write found no space.",
        u64::from(condition == Condition::Full),
    );
    figures.gauge(
        "seller_platform_file_system_read_only",
        "1 when the last write was refused because the file system is read-only.",
        u64::from(condition == Condition::ReadOnly),
    );
    figures.gauge(
        "seller_platform_database_damaged",
        "1 when damage was found; nothing is written then: restore a backup.",
        u64::from(matches!(trouble, Some(Trouble::Damaged(_)))),
    );
    let name = "seller_platform_database_file_gone";
    let help =
        "1 for a file that was removed or replaced while it was open; nothing is written then.";
    figures.metric("gauge", name, help);
    for kind in FileKind::ALL {
        let label = format!("{{file=\"{}\"}}", kind.name());
        figures.value(name, &label, u64::from(trouble == Some(Trouble::Gone(kind))));
    }
    figures.gauge(
        "seller_platform_database_writes_missing",
        "1 when answered writes were missing at a start.",
        u64::from(services.db.missing().is_some()),
    );
    if let Ok(at) = soundness::last_whole_check(services) {
        figures.gauge(
            "seller_platform_database_checked_timestamp_seconds",
            "When the whole database was last found sound, in seconds since 1970; 0 before the first time.",
            count(at.0),
        );
    }
}

fn backups(figures: &mut Figures, app: &App) -> Result<(), Problem> {
    let seen = app.health.copies.standing(app)?;
    figures.gauge(
        "seller_platform_backup_last_success_timestamp_seconds",
        "When the newest good copy of the database was made, in seconds since 1970; 0 without one.",
        count(seen.last_success().0),
    );
    figures.gauge(
        "seller_platform_backup_last_verified_timestamp_seconds",
        "When a copy was last found to be as its manifest says, in seconds since 1970; 0 before that.",
        count(seen.last_verified().0),
    );
    Ok(())
}

/// The replica, if one is configured.
fn replica(figures: &mut Figures, app: &App) {
    let Some(standing) = app.health.replica.standing() else { return };
    figures.gauge(
        "seller_platform_replica_lag_seconds",
        "What was written in these last seconds may not be at the replica.",
        count(standing.lag_s),
    );
    figures.gauge(
        "seller_platform_replica_failing",
        "1 while something keeps the replica from following; the log says what.",
        u64::from(standing.trouble.is_some()),
    );
}

fn marketplace(figures: &mut Figures, app: &App) {
    figures.gauge(
        "seller_platform_marketplace_away",
        "1 while calls to the marketplace hang or fail, so that people are told at once.",
        u64::from(app.marketplace.client.is_away()),
    );
}

fn queues(figures: &mut Figures, app: &App) -> Result<(), Problem> {
    let (inbox, outbox, last_run, failing) = app.db.read(Lane::Slow, |tx| {
        Ok::<_, Problem>((
            store::inbox(tx)?,
            store::outbox_waiting(tx)?,
            store::last_tick(tx)?,
            store::failing_tasks(tx)?,
        ))
    })?;
    figures.gauge(
        "seller_platform_cron_last_run_time_seconds",
        "When the periodic tasks last ran, in seconds since 1970; 0 before the first run.",
        count(last_run.0),
    );
    figures.gauge(
        "seller_platform_cron_failing_tasks",
        "Periodic tasks that failed three times in a row or more.",
        failing.len() as u64,
    );
    let name = "seller_platform_marketplace_notifications";
    let help = "Notifications of the marketplace by what became of them.";
    figures.metric("gauge", name, help);
    for (state, number) in
        [("waiting", inbox.waiting), ("failed", inbox.failed), ("later", inbox.for_later)]
    {
        figures.value(name, &format!("{{state=\"{state}\"}}"), count(number));
    }
    figures.gauge(
        "seller_platform_outbox_waiting",
        "Messages that wait to be sent.",
        count(outbox),
    );
    let name = "seller_platform_refused_signatures_total";
    let help = "Notifications refused for their signature.";
    figures.metric("counter", name, help);
    figures.value(name, "", app.callers.refused_signatures.counted());
    Ok(())
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// `RssAnon` of this process; `None` when the system does not report it.
fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
