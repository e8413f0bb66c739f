//! Copies of the database that the service makes by itself.
//!
//! All that is known of a copy lies beside it, in its manifest: when it was made,
//! what it holds, how it was found since. So a folder of copies speaks for itself,
//! also after a restore. A worker (`work.rs`) makes the next copy when it is due,
//! opens the newest again each night, and removes those that are too many. Here are
//! the rules, and what the panel asks of the worker.
//!
//! Look next: `db/copying.rs` (how a copy is made beside a busy writer),
//! `drill.rs` (a restore that is only tried), `pages.rs`.

pub mod drill;
pub mod pages;
pub mod store;
pub mod views;
pub mod work;

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant as Monotonic};

use jiff::civil::Time;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::audit::chain;
use crate::base::{Instant, Stop, Zone};
use crate::config::Database;
use crate::db::copying::{Facts, Progress};
use crate::db::{BackupCopy, Lane, ReadTx, Result, copies_in};
use crate::services::Services;
use crate::settings;

/// The page of the copies.
pub const PATH: &str = "/admin/copias";
/// How names of copies begin.
const STEM: &str = "seller-platform-";
/// Time until a failed copy is tried again.
const AFTER_FAILURE_S: u64 = 600;

/// What the worker does, and what it is asked to do.
#[derive(Default)]
pub struct Copies {
    bell: Stop,
    progress: Progress,
    first_start: OnceLock<Instant>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    wants_copy: bool,
    /// Name of the copy of which a restore is to be tried.
    wants_drill: Option<String>,
    doing: Option<Doing>,
    failure: Option<Failure>,
    drill: Option<drill::Drill>,
    /// When the last try failed, by both clocks.
    failed: Option<(Monotonic, Instant)>,
}

/// What the worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Copying,
    /// Opening the newest copy again.
    Checking,
    /// Trying a restore.
    Drilling,
}

/// Why there is no newer copy, or why the newest is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub at: i64,
    /// In English, for `check` and the log.
    pub said: String,
    /// In Portuguese: what happened, and more about it.
    pub title: String,
    pub detail: String,
}

impl Copies {
    /// Has a copy made; false while one is being made.
    fn ask_copy(&self) -> bool {
        let mut state = self.state.lock();
        let is_new = !state.wants_copy && state.doing != Some(Doing::Copying);
        state.wants_copy |= is_new;
        self.bell.ring();
        is_new
    }

    /// Has a restore of a copy tried; false while one is being tried.
    fn ask_drill(&self, name: String) -> bool {
        let mut state = self.state.lock();
        if state.wants_drill.is_some() || state.doing == Some(Doing::Drilling) {
            return false;
        }
        state.wants_drill = Some(name);
        self.bell.ring();
        true
    }

    /// What the worker does now, or will do in a moment.
    pub fn doing(&self) -> Option<Doing> {
        let state = self.state.lock();
        let asked = state.wants_copy.then_some(Doing::Copying);
        let asked = asked.or_else(|| state.wants_drill.as_ref().map(|_| Doing::Drilling));
        state.doing.or(asked)
    }

    /// The failure of the last try, if it failed.
    pub fn failure(&self) -> Option<Failure> {
        self.state.lock().failure.clone()
    }

    /// The last restore that was tried since the start.
    pub fn drill(&self) -> Option<drill::Drill> {
        self.state.lock().drill.clone()
    }

    /// Looks into the folder of copies.
    pub fn status(&self, services: &Services) -> Result<CopiesStatus> {
        let first_start = if let Some(at) = self.first_start.get() {
            *at
        } else {
            let stored = services.db.read(Lane::Slow, settings::first_start)?;
            *self.first_start.get_or_init(|| stored.unwrap_or(services.started_at))
        };
        let database = &services.config.database;
        Ok(CopiesStatus::of(database, first_start, self.failure(), services.clock.now()))
    }

    /// Ends the worker, and a copy that is being made.
    pub fn stop(&self) {
        self.bell.stop();
    }

    /// Whether a failed try is too fresh for another.
    fn pauses(&self, now: Instant) -> bool {
        let patience = Duration::from_secs(AFTER_FAILURE_S);
        self.state.lock().failed.is_some_and(|(tried, at)| {
            let by_clock = now.since(at).unsigned_abs() >= AFTER_FAILURE_S;
            tried.elapsed() < patience && !by_clock
        })
    }
}

/// What a copy says in its manifest about what it holds.
pub fn facts(tx: &ReadTx<'_>) -> Result<Facts> {
    let sealed: Option<Vec<u8>> = store::key_mark(tx)?;
    let key_id = sealed.and_then(|sealed| crate::db::key_id(&sealed));
    let head = if chain::exists(tx)? { chain::head(tx)? } else { None };
    Ok(Facts { key_id, audit_head: head.map(|head| head.to_string()) })
}

/// How the copies are doing.
pub struct CopiesStatus {
    /// The copies in the folder, the newest first; none without a folder.
    pub copies: Vec<BackupCopy>,
    /// Seconds from one copy to the next; `None`: none are made.
    pub every_s: Option<i64>,
    /// Whether there is a folder for them.
    pub has_folder: bool,
    /// From when the first copy is waited for.
    pub first_start: Instant,
    pub failure: Option<Failure>,
}

impl CopiesStatus {
    fn of(config: &Database, first_start: Instant, failure: Option<Failure>, now: Instant) -> Self {
        let folder = config.backup_dir.as_deref();
        let copies = folder.map(|folder| copies_in(folder, &config.path, now));
        Self {
            copies: copies.unwrap_or_default(),
            every_s: Some(i64::from(config.backup_every_h) * 3600)
                .filter(|every_s| folder.is_some() && *every_s > 0),
            has_folder: folder.is_some(),
            first_start,
            failure,
        }
    }

    /// The newest copy of which nothing bad is known. One from the future is not known
    /// to be the newest.
    pub fn newest_good(&self) -> Option<&BackupCopy> {
        self.dated().find(|copy| copy.known_fault().is_none())
    }

    /// The copies without those from the future, the newest first.
    fn dated(&self) -> impl Iterator<Item = &BackupCopy> {
        self.copies.iter().filter(|copy| !copy.is_from_future())
    }

    /// Those of them that have a manifest, and nothing bad is known of them.
    fn good(&self) -> impl Iterator<Item = &BackupCopy> {
        self.dated().filter(|copy| copy.manifest().is_some() && copy.known_fault().is_none())
    }

    /// Total size of the copies.
    pub fn bytes(&self) -> u64 {
        self.copies.iter().map(|copy| copy.bytes).sum()
    }

    /// Copies that are not what they were, with what is wrong.
    pub fn broken(&self) -> impl Iterator<Item = (&BackupCopy, String)> {
        self.copies.iter().filter_map(|copy| Some((copy, copy.known_fault()?)))
    }

    /// When the next copy is due; `None`: none are made.
    pub fn next_due(&self, now: Instant) -> Option<Instant> {
        let every_s = self.every_s?;
        let made = self.dated().filter(|copy| copy.manifest().is_some());
        let newest = made.filter_map(BackupCopy::made_at).max();
        Some(newest.unwrap_or(self.first_start.min(now)).plus(every_s))
    }

    /// Whether a good copy is missing for longer than an interval.
    pub fn is_late(&self, now: Instant) -> bool {
        let newest = self.newest_good().and_then(BackupCopy::made_at);
        let since = newest.unwrap_or(self.first_start);
        self.every_s.is_some_and(|every_s| now.since(since) > 2 * every_s)
    }

    /// When the newest good copy was made; 0 without one.
    pub fn last_success(&self) -> Instant {
        self.good().filter_map(BackupCopy::made_at).max().unwrap_or(Instant(0))
    }

    /// When a good copy was last found to be what it was; 0 without one.
    pub fn last_verified(&self) -> Instant {
        self.good().filter_map(BackupCopy::checked_at).max().unwrap_or(Instant(0))
    }

    /// The copy that is to be opened again, because it was not since the last night.
    fn unchecked(&self, zone: Zone, now: Instant) -> Option<&BackupCopy> {
        let newest = self.newest_good().filter(|copy| copy.manifest().is_some())?;
        let last = newest.checked_at().or_else(|| newest.made_at())?;
        (last < night_before(zone, now)).then_some(newest)
    }
}

/// The last three o'clock in the morning.
fn night_before(zone: Zone, now: Instant) -> Instant {
    let three = Time::constant(3, 0, 0, 0);
    let today = zone.at(zone.day(now), three);
    if today <= now { today } else { zone.at(zone.day(now).plus(-1), three) }
}

/// Whether a name is one that the service gives: the stem, date and time, and
/// perhaps a number.
fn is_our_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(STEM).and_then(|rest| rest.strip_suffix(".db")) else {
        return false;
    };
    let parts: Vec<&str> = rest.split('-').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(&parts[..], [day, time] | [day, time, _] if day.len() == 8 && time.len() == 6)
        && parts.iter().all(is_number)
}

/// The copies that are too many once `made` was made with the key `key_id`: those of
/// the service that are older than the `keep` newest good ones. Copies of another key
/// may belong to another database; they and copies with other names stay. So do those
/// from the future, which do not count either, and what was made just now, whatever
/// the clock says.
fn too_many<'k>(
    copies: &'k [BackupCopy],
    keep: usize,
    made: &Path,
    key_id: Option<&str>,
) -> Vec<&'k Path> {
    let ours = |copy: &&BackupCopy| {
        let key = copy.manifest().map(|manifest| manifest.key_id.as_deref());
        is_our_name(&copy.name()) && key == Some(key_id) && !copy.is_from_future()
    };
    let good = copies.iter().filter(ours).filter(|copy| copy.known_fault().is_none());
    let Some(oldest) = good.filter_map(BackupCopy::made_at).nth(keep.max(1) - 1) else {
        return Vec::new();
    };
    let old =
        copies.iter().filter(ours).filter(|copy| copy.made_at().is_some_and(|at| at < oldest));
    old.map(|copy| &*copy.path).filter(|path| *path != made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Manifest;

    #[test]
    fn a_name_with_date_and_time_is_ours() {
        for name in ["seller-platform-20261120-120000.db", "seller-platform-20261120-120000-2.db"] {
            assert!(is_our_name(name), "{name}");
        }
        for name in [
            "latest.db",
            "seller-platform.db",
            "seller-platform-20261120.db",
            "seller-platform-20261120-120000.db.json",
            "seller-platform-20261120-120000-.db",
            "seller-platform-20261120-120000-2-3.db",
            "loja-20261120-120000.db",
            "seller-platform-hoje.db",
        ] {
            assert!(!is_our_name(name), "{name}");
        }
    }

    #[test]
    fn the_night_ends_at_three_in_the_zone() {
        let zone = Zone::named("America/Sao_Paulo").unwrap();
        let at = |text: &str| Instant::parse(text).unwrap();
        let three = at("2026-11-20T06:00:00Z");
        assert_eq!(night_before(zone, three), three);
        assert_eq!(night_before(zone, at("2026-11-21T05:59:59Z")), three);
        assert_eq!(night_before(zone, at("2026-11-21T06:00:00Z")), at("2026-11-21T06:00:00Z"));
    }

    #[test]
    fn the_first_copy_is_due_an_interval_after_the_first_start_and_late_after_another() {
        let first_start = Instant(1_795_183_200);
        let day = crate::base::DAY_S;
        let config = |folder: Option<&str>, backup_every_h| Database {
            path: "a.db".into(),
            backup_dir: folder.map(Into::into),
            backup_every_h,
            backup_keep: 7,
        };
        let of = |config: &Database| CopiesStatus::of(config, first_start, None, first_start);
        let seen = of(&config(Some("/none"), 24));
        assert_eq!(seen.next_due(first_start), Some(first_start.plus(day)));
        assert!(!seen.is_late(first_start.plus(2 * day)));
        assert!(seen.is_late(first_start.plus(2 * day + 1)));
        for none in [config(None, 24), config(Some("/none"), 0)] {
            let seen = of(&none);
            assert_eq!(seen.next_due(first_start), None);
            assert!(!seen.is_late(first_start.plus(90 * day)));
        }
    }

    /// Puts a copy into a folder: its name, and when it was made and checked.
    fn put(folder: &Path, name: &str, made: Instant, checked: Instant) {
        let copy = folder.join(name);
        std::fs::write(&copy, "copy").unwrap();
        let manifest = serde_json::json!({
            "created_at": made.rfc3339(), "checked_at": checked.rfc3339(), "bytes": 4,
            "sha256": "00",
        });
        std::fs::write(Manifest::path(&copy), manifest.to_string()).unwrap();
    }

    #[test]
    fn copies_from_the_future_count_for_nothing_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (now, day) = (Instant(1_795_183_200), crate::base::DAY_S);
        let name = |day: i64| format!("seller-platform-202611{day:02}-120000.db");
        for ago in 0..5 {
            let made = now.minus(ago * day);
            put(folder.path(), &name(20 - ago), made, made);
        }
        let ahead = now.plus(1_200 * day);
        for number in 1..=3 {
            put(folder.path(), &format!("seller-platform-2030030{number}-120000.db"), ahead, ahead);
        }
        let config = Database {
            path: folder.path().join("a.db"),
            backup_dir: Some(folder.path().to_owned()),
            backup_every_h: 24,
            backup_keep: 3,
        };
        let seen = CopiesStatus::of(&config, now, None, now);
        let names: Vec<String> = seen.copies.iter().map(BackupCopy::name).collect();
        assert_eq!((names.len(), &names[0], &names[4]), (8, &name(20), &name(16)));
        assert_eq!(seen.newest_good().map(BackupCopy::name), Some(name(20)));
        assert_eq!((seen.last_success(), seen.last_verified()), (now, now));
        assert_eq!(seen.next_due(now), Some(now.plus(day)));
        let later = CopiesStatus::of(&config, now.minus(90 * day), None, now.plus(3 * day));
        assert!(later.is_late(now.plus(3 * day)));

        let made = folder.path().join(name(20));
        let gone = too_many(&seen.copies, 3, &made, None);
        assert_eq!(gone, [folder.path().join(name(17)), folder.path().join(name(16))]);
        // The clock went back while it was made: all others are from the future.
        let before = now.minus(10 * day);
        let seen = CopiesStatus::of(&config, before, None, before);
        assert!(too_many(&seen.copies, 1, &made, None).is_empty());
        // The clock goes ahead: what was made is the oldest.
        let oldest = folder.path().join(name(16));
        let seen = CopiesStatus::of(&config, now, None, now);
        assert!(!too_many(&seen.copies, 1, &oldest, None).contains(&&*oldest));
    }

    #[test]
    fn a_check_in_the_future_is_none_and_copies_made_by_hand_are_opened_at_night_too() {
        let folder = tempfile::tempdir().unwrap();
        let (now, day) = (Instant(1_795_183_200), crate::base::DAY_S);
        put(folder.path(), "by-hand.db", now, now.plus(1_200 * day));
        let config = Database {
            path: folder.path().join("a.db"),
            backup_dir: Some(folder.path().to_owned()),
            backup_every_h: 0,
            backup_keep: 3,
        };
        let zone = Zone::named("America/Sao_Paulo").unwrap();
        let unchecked = |at: Instant| {
            let seen = CopiesStatus::of(&config, now, None, at);
            assert_eq!(seen.last_verified(), Instant(0));
            seen.unchecked(zone, at).map(BackupCopy::name)
        };
        assert_eq!(unchecked(now), None);
        assert_eq!(unchecked(now.plus(day)).as_deref(), Some("by-hand.db"));
    }
}
