//! `check` of the copies that are kept, and of what was left behind.

use std::fs::Metadata;
use std::path::PathBuf;

use super::Context;
use super::check::{Finding, Topic, Verdict, writable};
use super::check_upkeep::size;
use crate::base::{Clock, DAY_S, Instant};
use crate::copies::store::{failure as kept_failure, key_mark};
use crate::db::{BackupCopy, Manifest, access, copies_in, is_left, key_id};
use crate::operations::store;

const WHAT: Topic = Topic("backups");

/// Most leftovers that are named.
const MOST_NAMED: usize = 20;

/// Seconds since a copy was made. A manifest is written by the clock of the platform;
/// the file tells by that of the system, should it be older than it says.
fn age(copy: &BackupCopy, now: Instant) -> i64 {
    let said = copy.manifest().and_then(Manifest::created_at);
    let by_file = |now: Instant| copy.written_at.map_or(i64::MAX, |at| now.since(at));
    match said {
        Some(at) => now.since(at).max(by_file(Clock::System.now())),
        None => by_file(now),
    }
}

pub(super) fn copies(context: &Context) -> Vec<BackupCopy> {
    let database = &context.config().database;
    let kept = database.backup_dir.as_deref();
    let kept = kept.map(|folder| copies_in(folder, &database.path, context.clock.now()));
    kept.unwrap_or_default()
}

/// Age and soundness of the newest copy, and what failed since.
pub(super) fn judge_copies(
    context: &Context,
    seen: Option<&store::Upkeep>,
    copies: &[BackupCopy],
) -> Vec<Finding> {
    let now = context.clock.now();
    let dated = copies.iter().filter(|copy| !copy.is_from_future());
    let newest = dated.min_by_key(|copy| age(copy, now));
    let mut findings = vec![judge_newest(context, seen, newest)];
    let zone = context.config().server.timezone;
    let failure = context.look(kept_failure).ok().flatten();
    findings.extend(failure.map(|failure| {
        let at = zone.spaced(Instant(failure.at));
        WHAT.bad(format!("the last try failed at {at}: {}", failure.said))
    }));
    let ahead = copies.iter().filter(|copy| copy.is_from_future());
    findings.extend(ahead.map(|copy| {
        let at = copy.made_at().map_or_else(String::new, |at| zone.spaced(at));
        WHAT.note(format!(
            "{} is from the future ({at}): the clock was wrong when it was made, or is now; it counts for nothing and stays, remove it",
            copy.path.display()
        ))
    }));
    let others = copies.iter().filter(|copy| newest.is_none_or(|newest| newest.path != copy.path));
    let broken = others.filter_map(|copy| Some((copy, copy.known_fault()?)));
    findings.extend(broken.map(|(copy, fault)| {
        WHAT.bad(format!(
            "{} could not be restored: {fault}; look at the disk, and remove it",
            copy.path.display()
        ))
    }));
    findings
}

/// Whether a copy was sealed with another key than the database is now.
fn is_of_another_key(context: &Context, copy: &BackupCopy) -> bool {
    let mark = context.look(key_mark).ok().flatten();
    let own = mark.and_then(|sealed| key_id(&sealed));
    let its = copy.manifest().and_then(|manifest| manifest.key_id.clone());
    its.is_some() && own.is_some() && its != own
}

fn judge_newest(
    context: &Context,
    seen: Option<&store::Upkeep>,
    newest: Option<&BackupCopy>,
) -> Finding {
    let database = &context.config().database;
    let Some(folder) = &database.backup_dir else {
        let text = "none are made (database.backup_dir is empty): remove that line, or run `backup` from a timer and look after its copies yourself";
        return WHAT.note(text);
    };
    let parent = access::folder_of(folder);
    // The service makes the folder with the first copy.
    if let Err(problem) = writable(if folder.exists() { folder } else { parent }) {
        return WHAT.bad(problem);
    }
    let shown = folder.display();
    let now = context.clock.now();
    let every_s = i64::from(database.backup_every_h) * 3600;
    let make = format!(
        "the server makes them while it runs: see its log and the page Cópias, or run `seller-platform backup {shown}`"
    );
    let Some(copy) = newest else {
        let age = seen.and_then(|seen| seen.oldest).map_or(0, |oldest| now.since(oldest));
        if every_s == 0 {
            return WHAT.note(format!(
                "none are made (database.backup_every_h = 0), and there is none in {shown}"
            ));
        }
        let text = format!("there is none in {shown} yet; {make}");
        let verdict = if is_overdue(age, every_s) { Verdict::Bad } else { Verdict::Note };
        return WHAT.finding(verdict, text);
    };
    let (age, path) = (age(copy, now), copy.path.display());
    let fault = copy.known_fault().or_else(|| match copy.fault(None) {
        Ok(fault) => fault,
        Err(error) => Some(error.to_string()),
    });
    if let Some(fault) = fault {
        return WHAT.bad(format!(
            "the newest, {path}, could not be restored: {fault}; make another with `seller-platform backup {shown}`"
        ));
    }
    let old = span(age);
    if is_overdue(age, every_s) {
        return WHAT.bad(format!(
            "overdue: the newest, {path}, is {old} old, and one is due every {} h; {make}",
            database.backup_every_h
        ));
    }
    if every_s == 0 {
        return WHAT.note(format!(
            "none are made (database.backup_every_h = 0); the newest, {path}, is {old} old"
        ));
    }
    if is_of_another_key(context, copy) {
        return WHAT.note(format!(
            "the newest, {path}, is {old} old, and was sealed with another key than the database: what is sealed in it opens only with that one; {make}"
        ));
    }
    let checked = if copy.manifest().is_some() {
        "as its manifest says"
    } else {
        "sound, without a manifest"
    };
    WHAT.good(format!("the newest, {path}, is {old} old and {checked}"))
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

/// Files that nobody needs any more, perhaps.
pub(super) fn leftovers(context: &Context) -> Vec<Finding> {
    let left = |path: PathBuf| {
        let found = path.symlink_metadata().ok().filter(Metadata::is_file)?;
        let is_left = is_left(&path.file_name()?.to_string_lossy());
        is_left.then_some((path, found.len()))
    };
    let found: Vec<_> = context.files_around().into_iter().filter_map(left).collect();
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
            Topic("leftover").note(format!("{} ({}), {what}", path.display(), size(*bytes)))
        })
        .collect();
    let rest = &found[found.len().min(MOST_NAMED)..];
    if !rest.is_empty() {
        let bytes = rest.iter().map(|(_, bytes)| bytes).sum();
        findings.push(Topic("leftover").note(format!(
            "{} more such files ({})",
            rest.len(),
            size(bytes)
        )));
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
}
