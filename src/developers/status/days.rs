//! Availability of the parts of the service by civil day: observed seconds, and
//! how many of them were impaired.
//!
//! Counted in memory and written once a minute, so a crash loses at most the last
//! minute. Time in which the process did not run counts as neither.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::state::{Component, State};
use crate::base::{Day, Instant, retention};
use crate::db::{Db, ReadTx, Result, WriteTx};
use crate::row;

/// How often the parts are checked.
const EVERY_S: i64 = 60;
/// A longer time between two checks is cut to this: a sleep or a clock change.
const LONGEST_S: i64 = 2 * EVERY_S;

row! {
    /// One part on one civil day.
    #[derive(Clone, Copy, Debug)]
    pub struct PartDay {
        pub component: Component,
        pub day: Day,
        /// Seconds that were observed.
        pub observed_s: i64,
        /// Observed seconds in which the part was not operational.
        pub impaired_s: i64,
    }
}

/// Observed and impaired seconds by part and day, not yet written.
type Unwritten = BTreeMap<(&'static str, i64), (i64, i64)>;

/// Time of the last check, and the seconds that are not yet written.
pub struct Watch {
    last: Mutex<Instant>,
    unwritten: Mutex<Unwritten>,
}

impl Watch {
    /// A watch that starts at `now`.
    pub fn new(now: Instant) -> Self {
        Self { last: Mutex::new(now), unwritten: Mutex::default() }
    }

    /// Seconds since the last check; `None` while the next one is not due.
    pub fn passed(&self, now: Instant, is_last: bool) -> Option<i64> {
        let mut last = self.last.lock();
        let passed = now.since(*last);
        if (0..EVERY_S).contains(&passed) && !is_last {
            return None;
        }
        *last = now;
        (passed > 0).then(|| passed.min(LONGEST_S))
    }

    /// Records the state of the parts for the `passed` seconds.
    pub fn note(&self, day: Day, parts: &[(Component, State)], passed: i64) {
        let mut unwritten = self.unwritten.lock();
        for (component, state) in parts {
            let seconds = unwritten.entry((component.name(), day.0)).or_default();
            seconds.0 += passed;
            seconds.1 += if *state == State::Operational { 0 } else { passed };
        }
    }

    /// Writes the recorded seconds; keeps them in memory when the write fails.
    pub fn flush(&self, db: &Db) -> Result<()> {
        let batch = std::mem::take(&mut *self.unwritten.lock());
        if batch.is_empty() {
            return Ok(());
        }
        let rows = batch.clone();
        db.write(move |tx| store(tx, &rows)).inspect_err(|_: &crate::db::DbError| {
            let mut unwritten = self.unwritten.lock();
            for (key, (observed, impaired)) in batch {
                let seconds = unwritten.entry(key).or_default();
                seconds.0 += observed;
                seconds.1 += impaired;
            }
        })
    }
}

fn store(tx: &WriteTx<'_>, rows: &Unwritten) -> Result<()> {
    for ((component, day), (observed, impaired)) in rows {
        tx.execute(
            "INSERT INTO component_day (component, day, observed_s, impaired_s) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (component, day) DO UPDATE
             SET observed_s = observed_s + ?3, impaired_s = impaired_s + ?4",
            (component, day, observed, impaired),
        )?;
    }
    Ok(())
}

/// Each part on each day since `first`, the oldest first.
pub fn history(tx: &ReadTx<'_>, first: Day) -> Result<Vec<PartDay>> {
    tx.records("FROM component_day WHERE day >= ?1 ORDER BY component, day", [first])
}

/// Removes days that are older than the retention.
pub fn forget(tx: &WriteTx<'_>, today: Day) -> Result<usize> {
    let first = today.plus(1 - retention::STATES.days);
    tx.execute("DELETE FROM component_day WHERE day < ?1", [first])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_counted_once_and_a_jump_is_a_minute_or_two() {
        let at = |seconds: i64| Instant(1_795_183_200 + seconds);
        let watch = Watch::new(at(0));
        assert_eq!(watch.passed(at(0), false), None);
        assert_eq!(watch.passed(at(59), false), None);
        assert_eq!(watch.passed(at(61), false), Some(61));
        assert_eq!(watch.passed(at(61), true), None);
        assert_eq!(watch.passed(at(70), true), Some(9), "the rest at the stop");
        assert_eq!(watch.passed(at(86_470), false), Some(LONGEST_S));
        assert_eq!(watch.passed(at(0), false), None, "a clock that was set back");
        assert_eq!(watch.passed(at(60), false), Some(60));
    }
}
