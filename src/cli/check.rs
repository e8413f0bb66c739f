//! `check`: what would go wrong, as a table.

use std::fs::File;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use super::seal::{self, KeyStatus};
use super::serve::cannot_listen;
use super::{Context, check_https, check_replica, check_upkeep, installed, say, secret};
use crate::db::{
    Depth, OpenError, ReadTx, access, alarm, is_served, migrate, missed_file, newest_good_copy,
};
use crate::messages::delivery::store as delivery;
use crate::messages::push::store as devices;
use crate::operations::{outside, way};
use crate::outbox::Channel;
use crate::settings;

pub(super) use crate::operations::findings::{Finding, Verdict};

/// What a finding is about.
#[derive(Clone, Copy)]
pub(super) struct Topic(pub &'static str);

impl Topic {
    pub fn finding(self, verdict: Verdict, text: impl Into<String>) -> Finding {
        Finding { what: self.0, verdict, state: None, text: text.into() }
    }

    pub fn good(self, text: impl Into<String>) -> Finding {
        self.finding(Verdict::Good, text)
    }

    pub fn note(self, text: impl Into<String>) -> Finding {
        self.finding(Verdict::Note, text)
    }

    pub fn bad(self, text: impl Into<String>) -> Finding {
        self.finding(Verdict::Bad, text)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Report {
    pub ok: bool,
    pub findings: Vec<Finding>,
}

pub(super) fn report(context: &Context) -> Report {
    let mut findings = vec![configuration(context), clock(context)];
    if let Some(standby) = check_replica::standby(context) {
        // No server is to run here, and no database of its own is to be there.
        findings.extend(standby);
        findings.extend(check_upkeep::space(context, None, &[]));
        return judged(findings);
    }
    findings.extend(database(context));
    findings.push(key(context));
    findings.extend(check_https::findings(context));
    findings.extend(outside::services(context.config(), &context.clock, stuck(context)));
    findings.push(push(context));
    findings.push(check_replica::replica(context));
    findings.extend(check_upkeep::findings(context));
    judged(findings)
}

fn judged(findings: Vec<Finding>) -> Report {
    let ok = findings.iter().all(|finding| finding.verdict != Verdict::Bad);
    Report { ok, findings }
}

pub fn run(context: &Context, json: bool) -> anyhow::Result<ExitCode> {
    let report = report(context);
    let code = if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if json {
        say(serde_json::to_string_pretty(&report)?)?;
        return Ok(code);
    }
    let findings = report.findings;
    let width = findings.iter().map(|finding| finding.what.len()).max().unwrap_or(0);
    for finding in &findings {
        let word = match finding.verdict {
            Verdict::Good => "ok  ",
            Verdict::Note => "note",
            Verdict::Bad => "FAIL",
        };
        say(format_args!("{word}  {:width$}  {}", finding.what, finding.text))?;
    }
    Ok(code)
}

/// Messages that wait because their channel is out of order. Other lines say what is
/// wrong with the database.
fn stuck(context: &Context) -> outside::Stuck {
    let read = |tx: &ReadTx<'_>| {
        Ok(outside::Stuck {
            mail: delivery::refused(tx, Channel::Email)?,
            chat: delivery::unconnected(tx)?,
        })
    };
    context.look(read).unwrap_or_default()
}

/// Whether files can be made in a folder; the problem when not.
pub(super) fn writable(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!("the folder {shown} does not exist"));
        }
        Err(error) => return Err(format!("the folder {shown}: {error}")),
        Ok(found) if !found.is_dir() => return Err(format!("{shown} is no folder")),
        // Root may write everywhere; the folder was made read-only all the same.
        Ok(found) if found.permissions().readonly() => {
            return Err(format!("the folder {shown} is read-only; run `chmod u+w` on it"));
        }
        Ok(_) => {}
    }
    let trial = folder.join(format!(".seller-platform-check-{}", std::process::id()));
    let made = File::create_new(&trial);
    // The test file is removed again.
    let removed = made.and_then(|_| std::fs::remove_file(&trial));
    removed.map_err(|error| format!("cannot write into the folder {shown}: {error}"))
}

fn configuration(context: &Context) -> Finding {
    let server = &context.config().server;
    let public = !server.listen.ip().is_loopback();
    if public && server.base_url.is_empty() && crate::https::origin(context.config()).is_none() {
        let text = "server.listen is reachable from outside but server.base_url is empty: set the public address";
        return Topic("configuration").note(text);
    }
    if let Err(problem) = can_listen(context, server.listen, "server.listen") {
        return Topic("configuration").bad(problem);
    }
    let text = format!("listens on {}", server.listen);
    let file = installed::shown(context.loaded.file.as_deref());
    Topic("configuration").good(format!("{text}; configured by {file}"))
}

/// Whether a server can listen on an address; the problem when not. One that runs does,
/// and the unit of an installed service may give it ports that this command is refused.
pub(super) fn can_listen(
    context: &Context,
    listen: SocketAddr,
    setting: &str,
) -> Result<(), String> {
    if is_served(&context.config().database.path) {
        return Ok(());
    }
    match TcpListener::bind(listen) {
        Err(error)
            if error.kind() != ErrorKind::PermissionDenied || !installed::gives_low_ports() =>
        {
            Err(cannot_listen(listen, &error, setting).to_string())
        }
        _ => Ok(()),
    }
}

fn clock(context: &Context) -> Finding {
    let now = context.clock.now();
    let zone = context.config().server.timezone;
    let text = format!("{} in {}", zone.spaced(now), zone.name());
    // Before the first release of this program no clock can be right.
    let verdict = if now.0 < 1_767_225_600 { Verdict::Bad } else { Verdict::Good };
    Topic("clock").finding(verdict, text)
}

fn database(context: &Context) -> Vec<Finding> {
    let path = &context.config().database.path;
    if let Err(error) = migrate::require_present(path) {
        return vec![Topic("database").bad(error.to_string())];
    }
    let mut findings = vec![mode(path)];
    // The log, the lock and the key stand beside the file.
    if let Err(problem) = writable(access::folder_of(path)) {
        findings.push(Topic("database").bad(problem));
    }
    match migrate::status(path) {
        Ok(lines) => findings.push(Topic("schema").good(lines.join("; "))),
        Err(error) => findings.push(Topic("schema").bad(error.to_string())),
    }
    findings.push(integrity(context));
    findings.extend(files(context));
    findings
}

fn mode(path: &Path) -> Finding {
    const WHAT: Topic = Topic("file mode");
    let mode = match std::fs::metadata(path) {
        Err(error) => return WHAT.bad(error.to_string()),
        Ok(found) => found.permissions().mode() & 0o777,
    };
    if let Some(obstacle) = access::obstacle(path) {
        return WHAT.bad(obstacle);
    }
    if mode.trailing_zeros() >= 6 {
        return WHAT.good(format!("{mode:04o} {}", path.display()));
    }
    WHAT.bad(format!("{mode:04o}: others can read {}; run `chmod 600` on it", path.display()))
}

fn integrity(context: &Context) -> Finding {
    let database = &context.config().database;
    let (path, now) = (&database.path, context.clock.now());
    let bad = |fault: &str| {
        let copy = newest_good_copy(path, database.backup_dir.as_deref());
        let copy = copy.map(|copy| copy.display().to_string());
        Topic("integrity")
            .bad(format!("{fault}; {}", way::restoring(context.config(), copy.as_deref())))
    };
    if let Some(known) = alarm::saved_damage(path) {
        return bad(&format!("damage is known ({known}), and nothing is written"));
    }
    // What this process sees of a file that a server changes is not kept: the
    // server checks it by itself.
    let fault = match context.look(|tx| tx.first_fault(Depth::Light)) {
        Ok(fault) => fault,
        Err(OpenError::Damaged { detail, .. }) => Some(detail),
        Err(error) => return Topic("integrity").bad(error.to_string()),
    };
    match fault {
        None => Topic("integrity").good(last_check(context)),
        Some(fault) => {
            if !is_served(path) {
                alarm::keep_damage(path, &fault, now);
            }
            bad(&fault)
        }
    }
}

/// That no damage was found, and when everything was last looked at.
fn last_check(context: &Context) -> String {
    match context.look(settings::last_whole_check) {
        Ok(at) if at.0 > 0 => {
            let zone = context.config().server.timezone;
            format!("no damage found; everything was last checked {}", zone.spaced(at))
        }
        _ => "no damage found".to_owned(),
    }
}

/// Answered writes that are known to be missing, and files that a running server
/// misses.
fn files(context: &Context) -> Vec<Finding> {
    let database = &context.config().database;
    let mut findings = Vec::new();
    if let Some(missing) = alarm::missing(&database.path) {
        let copy = newest_good_copy(&database.path, database.backup_dir.as_deref());
        let copy = copy.map(|copy| copy.display().to_string());
        findings.push(Topic("writes").bad(format!(
            "{}; then remove {}.missing",
            way::compared(&missing, copy.as_deref()),
            database.path.display()
        )));
    }
    if let Some(gone) = missed_file(&database.path) {
        findings.push(Topic("files").bad(gone.told()));
    }
    findings
}

/// Whether the present key is the one that the database was sealed with.
fn key(context: &Context) -> Finding {
    match seal::key_status(context) {
        Ok(KeyStatus::Right) => {
            let keep = if context.config().security.secret_key.is_empty() {
                "; keep a copy of it elsewhere"
            } else {
                ""
            };
            Topic("key").good(format!("{}{keep}", seal::source(context)))
        }
        Ok(KeyStatus::Fresh) => {
            Topic("key").note(format!("{}; nothing is sealed with it yet", seal::source(context)))
        }
        Ok(KeyStatus::Wrong(why)) => Topic("key").bad(seal::refusal(&why).to_string()),
        Err(error) => Topic("key").bad(format!("{error:#}")),
    }
}

/// Push: its key, and how many browsers it reaches.
fn push(context: &Context) -> Finding {
    if context.config().push.subject.is_empty() {
        let text = "not configured: nothing reaches browsers; set push.subject";
        return Topic("push").note(text);
    }
    let path = &context.config().database.path;
    let read = context
        .look(|tx| Ok((settings::value(tx, secret::PUSH_KEY)?.is_some(), devices::count(tx)?)));
    match read {
        Ok((true, reached)) => Topic("push").good(format!("reaches {reached} browsers")),
        Err(error) if path.exists() => Topic("push").bad(error.to_string()),
        Ok((false, _)) | Err(_) => Topic("push").good("a key is made at the first start"),
    }
}
