//! `check` of what an installation needs over time: the server, space, copies, the
//! periodic tasks, addresses, and what was left behind.

use std::fs::DirEntry;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Context;
use super::check::{Finding, Verdict, finding, writable};
use super::healthcheck::{self, Readiness};
use crate::base::{Clock, DAY_S, Instant, shortened};
use crate::db::{self, Manifest, access, read_without_traces, sha256_of};
use crate::operations::store::{self, FailingTask};
use crate::panel::view;

/// Size of the write-ahead log that it does not reach while all is well.
const LARGE_LOG: u64 = 64_000_000;
/// Free space below which it is pointed out, whatever the database takes.
const LITTLE_SPACE: u64 = 256 << 20;
/// With fewer days until the disk is full, that is pointed out.
const FEW_DAYS: u64 = 30;
/// Longer forecasts say nothing.
const MANY_DAYS: u64 = 3650;
/// A clock may differ by this much from what wrote the newest row.
const SKEW_S: i64 = 300;
/// Without a run for at least this long, the periodic tasks count as stopped.
const TICK_AGE_S: i64 = 3600;
/// Most leftovers that are named.
const MOST_NAMED: usize = 20;
/// Longest error of a task that is shown.
const ERROR_BYTES: usize = 200;

pub(super) fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = vec![server(context)];
    findings.extend(addresses(context));
    let path = &context.config().database.path;
    if path.exists() {
        let seen = read_without_traces(path, context.clock.now(), store::upkeep).ok();
        let copies = copies(context);
        findings.extend(space(context, seen.as_ref(), &copies));
        findings.extend(log(context));
        findings.push(judge_copies(context, seen.as_ref(), &copies));
        if let Some(seen) = &seen {
            findings.extend(tasks(context, seen));
            findings.extend(newest_row(context, seen));
        }
    } else {
        findings.push(judge_copies(context, None, &copies(context)));
    }
    findings.extend(leftovers(context));
    findings
}

fn size(bytes: u64) -> String {
    // With a decimal point like the other numbers here.
    view::size(bytes).replace(',', ".")
}

/// The server on this database, and what it says of itself.
fn server(context: &Context) -> Finding {
    const WHAT: &str = "server";
    let path = &context.config().database.path;
    if !db::is_served(path) {
        let text = "none runs on this database; start it with `systemctl start seller-platform` or `seller-platform serve`";
        return finding(WHAT, Verdict::Note, text);
    }
    let Some(address) = db::server_address(path) else {
        return finding(
            WHAT,
            Verdict::Note,
            "it is starting, or another command holds the database",
        );
    };
    match healthcheck::ask(address) {
        Readiness::Ready => finding(WHAT, Verdict::Good, format!("ready at http://{address}")),
        Readiness::NotReady(why) => {
            finding(WHAT, Verdict::Bad, format!("at http://{address}, and not ready: {why}"))
        }
        Readiness::Silent(why) => {
            let text = format!("does not answer at http://{address}: {why}; look at its log");
            finding(WHAT, Verdict::Bad, text)
        }
    }
}

/// Settings of addresses that let strangers read or pretend something.
fn addresses(context: &Context) -> Vec<Finding> {
    let server = &context.config().server;
    let mut findings = Vec::new();
    let host = server.base_url.strip_prefix("http://").map(host_of);
    if host.is_some_and(is_public) {
        let text = format!(
            "{} is public and not https: passwords and cookies can be read on the way; put a proxy with TLS in front and set server.base_url to the https:// address",
            server.base_url
        );
        findings.push(finding("base_url", Verdict::Note, text));
    }
    let open = server.trusted_proxies.iter().filter(|network| network.prefix_len() <= 1);
    findings.extend(open.map(|network| {
        let text = format!(
            "server.trusted_proxies holds {network}: everybody can claim any address, so limits by address and the log are worth nothing; name the addresses of your proxy alone"
        );
        finding("trusted_proxies", Verdict::Note, text)
    }));
    findings
}

/// The host of an authority, without port and brackets.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split([':', '/']).next().unwrap_or_default(),
    }
}

/// Whether people reach a host over the internet, as far as its name tells.
fn is_public(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64;
            !(ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || shared)
        }
        Ok(IpAddr::V6(ip)) => {
            !(ip.is_loopback()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
                || ip.is_unspecified())
        }
        Err(_) => {
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            let inside = [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".test"];
            host.contains('.') && !inside.iter().any(|end| host.ends_with(end))
        }
    }
}

/// Free space where the database and its copies lie.
fn space(context: &Context, seen: Option<&store::Upkeep>, copies: &[KeptCopy]) -> Vec<Finding> {
    let database = &context.config().database;
    let folders = [Some(access::folder_of(&database.path)), database.backup_dir.as_deref()];
    let mut devices = Vec::new();
    let mut findings = Vec::new();
    for folder in folders.into_iter().flatten() {
        let (Ok(space), Ok(found)) = (rustix::fs::statvfs(folder), std::fs::metadata(folder))
        else {
            continue;
        };
        let device = std::os::unix::fs::MetadataExt::dev(&found);
        if devices.contains(&device) {
            continue;
        }
        devices.push(device);
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let no_names = space.f_files > 0 && space.f_favail == 0;
        findings.push(judge_space(context, seen, copies, (folder, free, no_names)));
    }
    findings
}

fn judge_space(
    context: &Context,
    seen: Option<&store::Upkeep>,
    copies: &[KeptCopy],
    (folder, free, no_names): (&Path, u64, bool),
) -> Finding {
    const WHAT: &str = "disk";
    let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = shown.display();
    let bytes = std::fs::metadata(&context.config().database.path).map_or(0, |found| found.len());
    if no_names {
        let text = format!("{shown}: no more files can be made (no inodes); remove some");
        return finding(WHAT, Verdict::Bad, text);
    }
    if !db::has_free_space(folder) || free < db::ROOM {
        let text = format!(
            "{shown} is full ({} free): nothing can be stored; free some space, old copies first",
            size(free)
        );
        return finding(WHAT, Verdict::Bad, text);
    }
    let growth = seen.and_then(|seen| growth_a_day(context.clock.now(), seen, bytes, copies));
    let lasts = growth.map(|(a_day, _)| free.checked_div(a_day).unwrap_or(u64::MAX));
    let forecast = match (growth, lasts) {
        (Some((a_day, since)), Some(days)) if days < MANY_DAYS => format!(
            "; the database grew {} a day since {}, so it lasts {days} days",
            size(a_day),
            context.config().server.timezone.day(since).iso()
        ),
        (Some(_), _) => "; at the present growth it lasts for more than ten years".to_owned(),
        (None, _) => "; how long it lasts is not known before a day of growth".to_owned(),
    };
    // A copy, a migration and a restore each need as much as the database takes.
    let is_little = free < LITTLE_SPACE.max(bytes.saturating_mul(2));
    let is_short = lasts.is_some_and(|days| days < FEW_DAYS);
    let (verdict, advice) = if is_little || is_short {
        (Verdict::Note, "; free some space, or move to a larger disk")
    } else {
        (Verdict::Good, "")
    };
    finding(WHAT, verdict, format!("{} free in {shown}{forecast}{advice}", size(free)))
}

/// Bytes by which the database grew a day, and since when: compared with the oldest
/// copy at hand, else with nothing at the first start. `None` within the first day.
fn growth_a_day(
    now: Instant,
    seen: &store::Upkeep,
    bytes: u64,
    copies: &[KeptCopy],
) -> Option<(u64, Instant)> {
    let by_manifest = copies.iter().filter_map(|copy| {
        let manifest = copy.manifest.as_ref().ok()?.as_ref()?;
        Some((manifest.taken_at()?, manifest.bytes?))
    });
    let is_old = |(at, _): &(Instant, u64)| now.since(*at) >= DAY_S;
    let from = by_manifest.filter(is_old).min_by_key(|(at, _)| *at);
    let (since, before) = from.or_else(|| Some((seen.oldest?, 0)).filter(is_old))?;
    let days = u64::try_from(now.since(since) / DAY_S).unwrap_or(1).max(1);
    Some((bytes.saturating_sub(before) / days, since))
}

/// The write-ahead log.
fn log(context: &Context) -> Option<Finding> {
    const WHAT: &str = "log";
    let path = &context.config().database.path;
    let bytes = std::fs::metadata(db::log_of(path)).map_or(0, |found| found.len());
    if bytes > 0 && !db::is_served(path) {
        let text = format!(
            "{} of changes wait in {}; it belongs to the database, and the next start takes them over: never remove it",
            size(bytes),
            db::log_of(path).display()
        );
        return Some(finding(WHAT, Verdict::Note, text));
    }
    if bytes > LARGE_LOG {
        let text = format!(
            "{}: it should shrink by itself within minutes; if it does not, look for long reads of other programs in the file",
            size(bytes)
        );
        return Some(finding(WHAT, Verdict::Note, text));
    }
    Some(finding(WHAT, Verdict::Good, size(bytes)))
}

/// A file in the folder of copies.
struct KeptCopy {
    path: PathBuf,
    /// When the file was last written, by the clock of the system.
    written_at: Option<Instant>,
    /// `None` without a manifest.
    manifest: Result<Option<Manifest>, String>,
}

impl KeptCopy {
    fn of(entry: &DirEntry) -> Option<Self> {
        let path = entry.path();
        let name = entry.file_name();
        let found = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let is_copy =
            path.extension().is_some_and(|end| end == "db") && !is_left(&name.to_string_lossy());
        if !is_copy {
            return None;
        }
        let since = found.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok();
        let written_at = since.and_then(|since| i64::try_from(since.as_secs()).ok()).map(Instant);
        let manifest = Manifest::of(&path).map_err(|error| error.to_string());
        Some(Self { path, written_at, manifest })
    }

    /// Seconds since it was made. A manifest is written by the clock of the platform;
    /// the file tells by that of the system, should it be older than it says.
    fn age(&self, now: Instant) -> i64 {
        let said = self.manifest.as_ref().ok().and_then(|found| found.as_ref()?.taken_at());
        let by_file = |now: Instant| self.written_at.map_or(i64::MAX, |at| now.since(at));
        match said {
            Some(at) => now.since(at).max(by_file(Clock::System.now())),
            None => by_file(now),
        }
    }

    /// Why it could not be restored.
    fn fault(&self) -> Option<String> {
        match &self.manifest {
            Err(problem) => Some(format!("its manifest cannot be read ({problem})")),
            Ok(Some(manifest)) => match sha256_of(&self.path) {
                Ok(found) if manifest.is_of(&found) => None,
                Ok(_) => Some("it is not what its manifest says (another SHA-256)".to_owned()),
                Err(error) => Some(error.to_string()),
            },
            Ok(None) => {
                let looked = read_without_traces(&self.path, Instant(0), |tx| {
                    tx.values::<String>("PRAGMA quick_check(1)", [])
                });
                match looked {
                    Ok(lines) => lines.into_iter().find(|line| line != "ok"),
                    Err(error) => Some(error.to_string()),
                }
            }
        }
    }
}

/// The copies in the folder for them.
fn copies(context: &Context) -> Vec<KeptCopy> {
    let folder = context.config().database.backup_dir.as_deref();
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    entries.into_iter().flatten().flatten().filter_map(|entry| KeptCopy::of(&entry)).collect()
}

/// Age and soundness of the newest copy.
fn judge_copies(context: &Context, seen: Option<&store::Upkeep>, copies: &[KeptCopy]) -> Finding {
    const WHAT: &str = "backups";
    let database = &context.config().database;
    let Some(folder) = &database.backup_dir else {
        let text = "none are expected anywhere: set database.backup_dir, and run `backup` on that folder from a timer";
        return finding(WHAT, Verdict::Note, text);
    };
    if let Err(problem) = writable(folder) {
        return finding(WHAT, Verdict::Bad, problem);
    }
    let shown = folder.display();
    let now = context.clock.now();
    let every_s = i64::from(database.backup_every_h) * 3600;
    let make = format!("run `seller-platform backup {shown}`, and see why its timer does not");
    let newest = copies.iter().map(|copy| (copy.age(now), copy)).min_by_key(|(age, _)| *age);
    let Some((age, copy)) = newest else {
        let age = seen.and_then(|seen| seen.oldest).map_or(0, |oldest| now.since(oldest));
        let text = format!("there is none in {shown} yet; {make}");
        let verdict = if is_overdue(age, every_s) { Verdict::Bad } else { Verdict::Note };
        return finding(WHAT, verdict, text);
    };
    let path = copy.path.display();
    if let Some(fault) = copy.fault() {
        let text = format!(
            "the newest, {path}, could not be restored: {fault}; make another with `seller-platform backup {shown}`"
        );
        return finding(WHAT, Verdict::Bad, text);
    }
    let old = span(age);
    if is_overdue(age, every_s) {
        let text = format!(
            "overdue: the newest, {path}, is {old} old, and one is due every {} h; {make}",
            database.backup_every_h
        );
        return finding(WHAT, Verdict::Bad, text);
    }
    if every_s == 0 {
        let text =
            format!("none are due (database.backup_every_h = 0); the newest, {path}, is {old} old");
        return finding(WHAT, Verdict::Note, text);
    }
    let checked = if matches!(copy.manifest, Ok(Some(_))) {
        "as its manifest says"
    } else {
        "sound, without a manifest"
    };
    finding(WHAT, Verdict::Good, format!("the newest, {path}, is {old} old and {checked}"))
}

/// Whether a copy is late by more than an interval.
fn is_overdue(age: i64, every_s: i64) -> bool {
    every_s > 0 && age > 2 * every_s
}

/// A span in its two largest units.
fn span(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / DAY_S, seconds % DAY_S / 3600, seconds % 3600 / 60);
    match (days, hours) {
        (1.., _) => format!("{days} d {hours} h"),
        (_, 1..) => format!("{hours} h {minutes} min"),
        _ => format!("{} min", minutes.max(0)),
    }
}

/// The periodic tasks.
fn tasks(context: &Context, seen: &store::Upkeep) -> Vec<Finding> {
    const WHAT: &str = "tasks";
    let zone = context.config().server.timezone;
    let mut findings: Vec<Finding> =
        seen.failing.iter().map(|task| failing(task, context)).collect();
    let cron = &context.config().cron;
    let interval = i64::try_from(cron.interval_s).unwrap_or(i64::MAX);
    let patience = interval.saturating_mul(3).max(TICK_AGE_S);
    let runs = cron.enabled && db::is_served(&context.config().database.path);
    let last = seen.last_tick;
    if runs && last > Instant(0) && context.clock.now().since(last) > patience {
        let text = format!(
            "they last ran at {}; restart the server and look at its log",
            zone.spaced(last)
        );
        findings.push(finding(WHAT, Verdict::Note, text));
    } else if findings.is_empty() && last > Instant(0) {
        let text = format!("none fails; they last ran at {}", zone.spaced(last));
        findings.push(finding(WHAT, Verdict::Good, text));
    } else if findings.is_empty() {
        let text = if cron.enabled {
            "they have not run yet; the server runs them"
        } else {
            "they have not run yet: call /api/v1/cron from a timer, or set cron.enabled = true"
        };
        findings.push(finding(WHAT, Verdict::Note, text));
    }
    findings
}

fn failing(task: &FailingTask, context: &Context) -> Finding {
    let zone = context.config().server.timezone;
    let text = format!(
        "{} failed {} times in a row, last at {}: {}; it is tried again in every run, and Cron in the panel shows more",
        task.title,
        task.failures,
        zone.spaced(task.failed_at),
        shortened(&task.error, ERROR_BYTES)
    );
    finding("tasks", Verdict::Bad, text)
}

/// The clock against the newest row.
fn newest_row(context: &Context, seen: &store::Upkeep) -> Option<Finding> {
    let now = context.clock.now();
    if seen.newest.since(now) <= SKEW_S {
        return None;
    }
    let zone = context.config().server.timezone;
    let text = format!(
        "it is {}, but the newest row was written at {}: the clock is wrong now, or was then; see `timedatectl`",
        zone.spaced(now),
        zone.spaced(seen.newest)
    );
    Some(finding("clock", Verdict::Bad, text))
}

/// Whether a name is that of an unfinished copy or of a database that was set aside.
fn is_left(name: &str) -> bool {
    // The manifest and the log of one are not counted by themselves.
    let belongs = [".json", "-wal", "-shm", "-journal"].iter().any(|end| name.ends_with(end));
    name.ends_with(".partial")
        || (name.contains(".before-") || name.starts_with("before-")) && !belongs
}

/// Files that nobody needs any more, perhaps.
fn leftovers(context: &Context) -> Vec<Finding> {
    let database = &context.config().database;
    let folders = [Some(access::folder_of(&database.path)), database.backup_dir.as_deref()];
    let mut found: Vec<(PathBuf, u64)> = Vec::new();
    for folder in folders.into_iter().flatten() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let size = entry.metadata().ok().filter(std::fs::Metadata::is_file);
            if let Some(size) = size
                && is_left(&entry.file_name().to_string_lossy())
            {
                found.push((entry.path(), size.len()));
            }
        }
    }
    found.sort();
    found.dedup();
    let mut findings: Vec<Finding> = found
        .iter()
        .take(MOST_NAMED)
        .map(|(path, bytes)| {
            let is_partial = path.extension().is_some_and(|end| end == "partial");
            let what = if is_partial {
                "an unfinished copy: worth nothing unless one is being made, remove it"
            } else {
                "kept before a change: remove it once you are sure that you need not go back"
            };
            finding(
                "leftover",
                Verdict::Note,
                format!("{} ({}), {what}", path.display(), size(*bytes)),
            )
        })
        .collect();
    let rest = &found[found.len().min(MOST_NAMED)..];
    if !rest.is_empty() {
        let bytes = rest.iter().map(|(_, bytes)| bytes).sum();
        let text = format!("{} more such files ({})", rest.len(), size(bytes));
        findings.push(finding("leftover", Verdict::Note, text));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whether_it_is_public() {
        for host in ["vendas.example.com", "203.0.113.7", "2001:db8::1", "example.com."] {
            assert!(is_public(host), "{host}");
        }
        let private = [
            "localhost",
            "servidor",
            "nas.local",
            "app.internal",
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.9",
            "100.64.0.1",
            "169.254.1.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "app.localhost",
        ];
        for host in private {
            assert!(!is_public(host), "{host}");
        }
        assert_eq!(host_of("[fd00::1]:8080"), "fd00::1");
        assert_eq!(host_of("example.com:8080"), "example.com");
    }

    #[test]
    fn a_copy_is_overdue_after_more_than_two_intervals() {
        let day = DAY_S;
        assert!(!is_overdue(2 * day, day) && is_overdue(2 * day + 1, day));
        assert!(!is_overdue(i64::MAX, 0), "nothing is due");
    }

    #[test]
    fn leftovers_are_told_by_their_names() {
        for name in
            ["a.db.partial", "seller-platform.before-v2.db", "a.db.before-restore-20261120-070700"]
        {
            assert!(is_left(name), "{name}");
        }
        for name in
            ["a.db", "seller-platform.before-v2.db.json", "seller-platform-20261120.db", "a.db-wal"]
        {
            assert!(!is_left(name), "{name}");
        }
    }
}
