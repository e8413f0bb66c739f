//! `check` of the copies that are kept, and of what was left behind.

use std::fs::DirEntry;
use std::path::PathBuf;
use std::time::SystemTime;

use super::Context;
use super::check::{Finding, Verdict, finding, writable};
use super::check_upkeep::size;
use crate::base::{Clock, DAY_S, Instant};
use crate::db::{Manifest, access, read_without_traces, sha256_of};
use crate::operations::store;

/// Most leftovers that are named.
const MOST_NAMED: usize = 20;

/// A file in the folder of copies.
pub(super) struct KeptCopy {
    pub(super) path: PathBuf,
    /// When the file was last written, by the clock of the system.
    written_at: Option<Instant>,
    /// `None` without a manifest.
    pub(super) manifest: Result<Option<Manifest>, String>,
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
pub(super) fn copies(context: &Context) -> Vec<KeptCopy> {
    let folder = context.config().database.backup_dir.as_deref();
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    entries.into_iter().flatten().flatten().filter_map(|entry| KeptCopy::of(&entry)).collect()
}

/// Age and soundness of the newest copy.
pub(super) fn judge_copies(
    context: &Context,
    seen: Option<&store::Upkeep>,
    copies: &[KeptCopy],
) -> Finding {
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

/// Whether a name is that of an unfinished copy or of a database that was set aside.
fn is_left(name: &str) -> bool {
    // The manifest and the log of one are not counted by themselves.
    let belongs = [".json", "-wal", "-shm", "-journal"].iter().any(|end| name.ends_with(end));
    name.ends_with(".partial")
        || (name.contains(".before-") || name.starts_with("before-")) && !belongs
}

/// Files that nobody needs any more, perhaps.
pub(super) fn leftovers(context: &Context) -> Vec<Finding> {
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
