//! `support-bundle`: what a helper needs to see, in one file, without secrets and
//! without addresses of people.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Context, check, installed, say};
use crate::base::text::hex;
use crate::base::zip::Archive;
use crate::db::{self, ReadTx, RowWindow, SCHEMA, migrate};
use crate::journal::{self, LoggedError, redacted};
use crate::operations::requests::store as requests;
use crate::operations::store;
use crate::panel::view;

/// Errors, failed requests and lines of the log that are taken.
const MOST_ERRORS: u32 = 200;
const LINES: &str = "1000";

/// Where the bundle goes.
#[derive(clap::Args)]
pub struct Target {
    /// The file to make; none is replaced.
    #[arg(value_name = "FILE.zip")]
    pub file: PathBuf,
}

struct Part {
    name: &'static str,
    /// What it is, for whoever reads the list.
    about: &'static str,
    content: String,
}

pub fn run(context: &Context, file: &Path) -> anyhow::Result<()> {
    let mut parts = vec![
        part("version.json", "version, commit and system", &version(context))?,
        part(
            "settings.json",
            "settings with their origins, secrets masked",
            &json!(context.loaded.origins.rows()),
        )?,
        part("check.json", "what `check` found", &json!(check::report(context)))?,
        part("counts.json", "rows by table", &counts(context))?,
        part("errors.json", "last errors, failed requests and failing tasks", &errors(context))?,
        part("schema.json", "version and digest of the schema", &schema(context))?,
    ];
    parts.extend(log(context).map(|content| Part {
        name: "log.txt",
        about: "the last lines of the log",
        content,
    }));
    let mut archive = Archive::new(Vec::new());
    for part in &parts {
        archive.add(part.name, |member| member.write_all(part.content.as_bytes()))?;
    }
    let bytes = archive.finish()?;
    write(file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    let mut lines = vec![format!("{}: {}", file.display(), size(bytes.len()))];
    lines.extend(
        parts.iter().map(|part| {
            format!("  {:14} {:>9}  {}", part.name, size(part.content.len()), part.about)
        }),
    );
    lines.push(
        "secrets, tokens, and addresses and telephone numbers of people are masked as ***; look through it before you give it away".to_owned(),
    );
    say(lines.join("\n"))
}

fn size(bytes: usize) -> String {
    view::size(bytes as u64).replace(',', ".")
}

/// A new file that its owner alone may read; none is replaced.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    let written = made.write_all(bytes).and_then(|()| made.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(file);
    }
    written
}

fn part(name: &'static str, about: &'static str, content: &Value) -> anyhow::Result<Part> {
    Ok(Part { name, about, content: serde_json::to_string_pretty(&masked(content))? })
}

/// The same value with all its texts redacted; names of members stay.
fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) => redacted(text).into(),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), masked(member))).collect()
        }
        other => other.clone(),
    }
}

/// Reads from the database; an error is what the part says then.
fn read<T: Serialize>(context: &Context, f: impl Fn(&ReadTx<'_>) -> db::Result<T>) -> Value {
    match context.look(f) {
        Ok(found) => json!(found),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

fn version(context: &Context) -> Value {
    let path = &context.config().database.path;
    json!({
        "version": super::VERSION,
        "made_at": context.clock.now().rfc3339(),
        "time_zone": context.config().server.timezone.name(),
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "sqlite": rusqlite::version(),
        "threads": std::thread::available_parallelism().map_or(0, usize::from),
        "server_runs": db::is_served(path),
        "database_bytes": std::fs::metadata(path).map_or(0, |file| file.len()),
        "log_bytes": std::fs::metadata(db::log_of(path)).map_or(0, |file| file.len()),
    })
}

/// Each table is counted in a read of its own, so that none is held for long.
fn counts(context: &Context) -> Value {
    let tables = read(context, |tx| {
        tx.values::<String>(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
             ORDER BY name",
            [],
        )
    });
    let Value::Array(tables) = tables else { return tables };
    let names = tables.iter().filter_map(Value::as_str);
    let counted = names.map(|name| {
        let sql = format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\""));
        (name.to_owned(), read(context, |tx| tx.value::<i64>(&sql, [])))
    });
    Value::Object(counted.collect())
}

fn errors(context: &Context) -> Value {
    let logged = read(context, |tx| {
        let told = |one: LoggedError| {
            let record = json!({
                "at": one.at.rfc3339(), "error": one.is_error, "message": one.message,
                "cause": one.cause,
            });
            with_request(&one.request_id, record)
        };
        let errors = journal::store::newest_errors(tx, MOST_ERRORS)?;
        Ok(errors.into_iter().map(told).collect::<Vec<_>>())
    });
    let failed = read(context, |tx| {
        let filter = requests::RequestLogFilter { class: Some(5), ..Default::default() };
        let (found, _) = requests::page(tx, &filter, RowWindow::first(MOST_ERRORS))?;
        let told = found.into_iter().map(|one| {
            let record = json!({
                "at": one.at.rfc3339(), "method": one.method, "path": one.path,
                "status": one.status, "us": one.us,
            });
            with_request(&one.request_id, record)
        });
        Ok(told.collect::<Vec<_>>())
    });
    let failing = read(context, |tx| {
        let tasks = store::upkeep(tx)?.failing.into_iter().map(|task| {
            json!({
                "title": task.title, "failures": task.failures, "error": task.error,
                "failed_at": task.failed_at.rfc3339(),
            })
        });
        Ok(tasks.collect::<Vec<_>>())
    });
    json!({ "log": logged, "failed_requests": failed, "failing_tasks": failing })
}

/// Ids of requests look like secrets and are none: each part of one is told.
fn with_request(id: &str, mut record: Value) -> Value {
    // Ours are UUIDs; what callers bring may be anything.
    if id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
        record["request_id"] = id.split('-').collect::<Vec<_>>().into();
    }
    record
}

/// The digest of what SQLite says of the schema, and that of a new file.
fn schema(context: &Context) -> Value {
    const WORDS: &str = "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema
                         WHERE name NOT LIKE '\\_litestream%' ESCAPE '\\' ORDER BY type, name";
    let digest = |words: Vec<String>| hex(&Sha256::digest(words.join("\n")));
    let found = read(context, |tx| Ok(grouped_hex(&digest(tx.values(WORDS, [])?))));
    let fresh = || -> rusqlite::Result<String> {
        let memory = rusqlite::Connection::open_in_memory()?;
        memory.execute_batch(SCHEMA)?;
        let mut statement = memory.prepare(WORDS)?;
        let words = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(digest(words))
    };
    let expected = fresh().map_or_else(
        |error| json!({ "error": error.to_string() }),
        |digest| json!(grouped_hex(&digest)),
    );
    let status = match migrate::status(&context.config().database.path) {
        Ok(lines) => json!(lines),
        Err(error) => json!({ "error": error.to_string() }),
    };
    json!({
        "version_of_program": migrate::VERSION,
        "status": status,
        "sha256": found,
        "sha256_of_new_file": expected,
        "is_as_new": found == expected,
    })
}

/// A digest in groups of eight digits, which no masking takes for a secret.
fn grouped_hex(digest: &str) -> Vec<String> {
    digest.as_bytes().chunks(8).map(|group| String::from_utf8_lossy(group).into_owned()).collect()
}

/// The last lines that the installed service wrote, where systemd keeps them.
fn log(context: &Context) -> Option<String> {
    let is_installed = context.loaded.file.as_deref() == Some(&installed::configuration());
    if !is_installed || !Path::new("/run/systemd/system").is_dir() {
        return None;
    }
    let told = Command::new("journalctl")
        .args(["--unit", "seller-platform", "--lines", LINES, "--no-pager", "--output", "cat"])
        .output()
        .ok()?;
    let lines = String::from_utf8_lossy(&told.stdout);
    let masked: Vec<_> = lines.lines().map(|line| without_clients(&redacted(line))).collect();
    (!masked.is_empty()).then(|| masked.join("\n"))
}

/// A line without the addresses that people came from.
fn without_clients(line: &str) -> String {
    let is_address = |c: char| c.is_ascii_hexdigit() || ".:".contains(c);
    let mut safe = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let takes = is_address(first);
        let end = rest.find(|c| is_address(c) != takes).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let is_client = takes && word.parse::<IpAddr>().is_ok_and(|ip| !ip.is_loopback());
        safe.push_str(&if is_client { Cow::Borrowed("***") } else { Cow::Borrowed(word) });
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_clients_leave_the_log() {
        for (line, safe) in [
            ("request client=203.0.113.7 kind=none", "request client=*** kind=none"),
            (r#"{"client":"2001:db8::1","who":0}"#, r#"{"client":"***","who":0}"#),
            ("listening on http://127.0.0.1:8080", "listening on http://127.0.0.1:8080"),
            ("2026-11-20T12:00:00Z INFO prepared", "2026-11-20T12:00:00Z INFO prepared"),
        ] {
            assert_eq!(without_clients(line), safe);
        }
    }
}
