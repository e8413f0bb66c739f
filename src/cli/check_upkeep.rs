//! `check` of what an installation needs over time: the server, space, the
//! periodic tasks and addresses; copies are in `check_copies.rs`.

use std::net::IpAddr;
use std::path::Path;

use super::Context;
use super::check::{Finding, Topic, Verdict};
use super::check_audit;
use super::check_copies::{copies, judge_copies, leftovers};
use super::healthcheck::{self, Readiness};
use crate::base::{Instant, shortened};
use crate::db::{self, BackupCopy};
use crate::operations::disk;
use crate::operations::open_items::is_log_large;
use crate::operations::store::{self, FailingTask};
use crate::panel::view;

/// A clock may differ by this much from what wrote the newest row.
const SKEW_S: i64 = 300;
/// Without a run for at least this long, the periodic tasks count as stopped.
const TICK_AGE_S: i64 = 3600;
/// Longest error of a task that is shown.
const ERROR_BYTES: usize = 200;

pub(super) fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = vec![server(context)];
    findings.extend(addresses(context));
    let path = &context.config().database.path;
    if path.exists() {
        let seen = context.look(store::upkeep).ok();
        let copies = copies(context);
        findings.extend(space(context, seen.as_ref(), &copies));
        findings.extend(log(context));
        findings.extend(check_audit::chain(context, &copies));
        findings.extend(judge_copies(context, seen.as_ref(), &copies));
        if let Some(seen) = &seen {
            findings.extend(tasks(context, seen));
            findings.extend(newest_row(context, seen));
        }
    } else {
        findings.extend(judge_copies(context, None, &copies(context)));
    }
    findings.extend(leftovers(context));
    findings
}

pub(super) fn size(bytes: u64) -> String {
    // With a decimal point like the other numbers here.
    view::size(bytes).replace(',', ".")
}

/// The server on this database, and what it says of itself.
fn server(context: &Context) -> Finding {
    const WHAT: Topic = Topic("server");
    let path = &context.config().database.path;
    if !db::is_served(path) {
        let text = "none runs on this database; start it with `systemctl start seller-platform` or `seller-platform serve`";
        return WHAT.note(text);
    }
    let Some(address) = db::server_address(path) else {
        return WHAT.note("it is starting, or another command holds the database");
    };
    match healthcheck::ask(address) {
        Readiness::Ready => WHAT.good(format!("ready at http://{address}")),
        Readiness::NotReady(why) => WHAT.bad(format!("at http://{address}, and not ready: {why}")),
        Readiness::Silent(why) => {
            WHAT.bad(format!("does not answer at http://{address}: {why}; look at its log"))
        }
    }
}

/// Settings of addresses that let strangers read or pretend something.
fn addresses(context: &Context) -> Vec<Finding> {
    let server = &context.config().server;
    let mut findings = Vec::new();
    let host = server.base_url.strip_prefix("http://").map(host_of);
    if host.is_some_and(is_public) {
        findings.push(Topic("base_url").note(format!(
            "{} is public and not https: passwords and cookies can be read on the way; put a proxy with TLS in front and set server.base_url to the https:// address",
            server.base_url
        )));
    }
    let open = server.trusted_proxies.iter().filter(|network| network.prefix_len() <= 1);
    findings.extend(open.map(|network| {
        Topic("trusted_proxies").note(format!(
            "server.trusted_proxies holds {network}: everybody can claim any address, so limits by address and the log are worth nothing; name the addresses of your proxy alone"
        ))
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
pub(super) fn space(
    context: &Context,
    seen: Option<&store::Upkeep>,
    copies: &[BackupCopy],
) -> Vec<Finding> {
    let mut devices = Vec::new();
    let mut findings = Vec::new();
    for folder in context.folders() {
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
        findings.push(judge_space(context, seen, copies, folder, free, no_names));
    }
    findings
}

fn judge_space(
    context: &Context,
    seen: Option<&store::Upkeep>,
    copies: &[BackupCopy],
    folder: &Path,
    free: u64,
    no_names: bool,
) -> Finding {
    const WHAT: Topic = Topic("disk");
    let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = shown.display();
    let bytes = std::fs::metadata(&context.config().database.path).map_or(0, |found| found.len());
    if no_names {
        return WHAT.bad(format!("{shown}: no more files can be made (no inodes); remove some"));
    }
    if !db::has_free_space(folder) || free < db::ROOM {
        return WHAT.bad(format!(
            "{shown} is full ({} free): nothing can be stored; free some space, old copies first",
            size(free)
        ));
    }
    let first_start = seen.and_then(|seen| seen.oldest);
    let outlook = disk::outlook(context.clock.now(), first_start, bytes, free, copies);
    let forecast = match (outlook.growth, outlook.days) {
        (Some((a_day, since)), Some(days)) if days < disk::MANY_DAYS => format!(
            "; the database grew {} a day since {}, so it lasts {days} days",
            size(a_day),
            context.config().server.timezone.day(since).iso()
        ),
        (Some(_), _) => "; at the present growth it lasts for more than ten years".to_owned(),
        (None, _) => "; how long it lasts is not known before a day of growth".to_owned(),
    };
    let (verdict, advice) = if outlook.is_little {
        (Verdict::Note, "; free some space, or move to a larger disk")
    } else {
        (Verdict::Good, "")
    };
    WHAT.finding(verdict, format!("{} free in {shown}{forecast}{advice}", size(free)))
}

fn log(context: &Context) -> Option<Finding> {
    const WHAT: Topic = Topic("log");
    let path = &context.config().database.path;
    let bytes = std::fs::metadata(db::log_of(path)).map_or(0, |found| found.len());
    if bytes > 0 && !db::is_served(path) {
        return Some(WHAT.note(format!(
            "{} of changes wait in {}; it belongs to the database, and the next start takes them over: never remove it",
            size(bytes),
            db::log_of(path).display()
        )));
    }
    if is_log_large(context.config(), bytes) {
        return Some(WHAT.note(format!(
            "{}: it should shrink by itself within minutes; if it does not, look for long reads of other programs in the file",
            size(bytes)
        )));
    }
    Some(WHAT.good(size(bytes)))
}

fn tasks(context: &Context, seen: &store::Upkeep) -> Vec<Finding> {
    const WHAT: Topic = Topic("tasks");
    let zone = context.config().server.timezone;
    let mut findings: Vec<Finding> =
        seen.failing.iter().map(|task| failing(task, context)).collect();
    let cron = &context.config().cron;
    let interval = i64::try_from(cron.interval_s).unwrap_or(i64::MAX);
    let patience = interval.saturating_mul(3).max(TICK_AGE_S);
    let runs = cron.enabled && db::is_served(&context.config().database.path);
    let last = seen.last_tick;
    if runs && last > Instant(0) && context.clock.now().since(last) > patience {
        findings.push(WHAT.note(format!(
            "they last ran at {}; restart the server and look at its log",
            zone.spaced(last)
        )));
    } else if findings.is_empty() && last > Instant(0) {
        findings.push(WHAT.good(format!("none fails; they last ran at {}", zone.spaced(last))));
    } else if findings.is_empty() {
        let text = if cron.enabled {
            "they have not run yet; the server runs them"
        } else {
            "they have not run yet: call /api/v1/cron from a timer, or set cron.enabled = true"
        };
        findings.push(WHAT.note(text));
    }
    findings
}

fn failing(task: &FailingTask, context: &Context) -> Finding {
    let zone = context.config().server.timezone;
    Topic("tasks").bad(format!(
        "{} failed {} times in a row, last at {}: {}; it is tried again in every run, and Cron in the panel shows more",
        task.title,
        task.failures,
        zone.spaced(task.failed_at),
        shortened(&task.error, ERROR_BYTES)
    ))
}

/// The clock against the newest row.
fn newest_row(context: &Context, seen: &store::Upkeep) -> Option<Finding> {
    let now = context.clock.now();
    if seen.newest.since(now) <= SKEW_S {
        return None;
    }
    let zone = context.config().server.timezone;
    Some(Topic("clock").bad(format!(
        "it is {}, but the newest row was written at {}: the clock is wrong now, or was then; see `timedatectl`",
        zone.spaced(now),
        zone.spaced(seen.newest)
    )))
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
}
