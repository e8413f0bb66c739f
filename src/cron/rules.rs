//! When periodic work is due: pure rules over instants, civil time at their edge.

use jiff::civil::Time;

use crate::base::{Day, Instant, UserId, Zone};
use crate::named;

const HOUR_S: i64 = 3600;
/// Seconds over which messages that waited for the end of quiet hours are
/// spread.
const SPREAD_S: i64 = 300;

named! {
    /// How often a task runs.
    pub enum Every: text {
        /// In each run.
        Run = "execucao", "A cada execução";
        /// Once a civil day, in the day's first run.
        Day = "dia", "Uma vez por dia";
    }
}

impl Every {
    /// Whether a task that last began at `last` is due. A clock that was set
    /// back makes it due again, which is harmless: nothing is done twice.
    pub fn is_due(self, zone: Zone, last: Option<Instant>, now: Instant) -> bool {
        match self {
            Self::Run => true,
            Self::Day => last.is_none_or(|last| zone.day(last) != zone.day(now)),
        }
    }
}

named! {
    /// The moments before a meet at which its people are reminded.
    pub enum Moment: text {
        /// From 24 hours until 23 hours before.
        DayBefore = "24h";
        /// From 5 minutes before until it starts.
        MinutesBefore = "5min";
    }
}

impl Moment {
    /// Whether this moment is now. Its first second is included, its last one
    /// is not.
    pub const fn is_now(self, starts_at: Instant, now: Instant) -> bool {
        let ahead = starts_at.since(now);
        match self {
            Self::DayBefore => 23 * HOUR_S < ahead && ahead <= 24 * HOUR_S,
            Self::MinutesBefore => 0 < ahead && ahead <= 5 * 60,
        }
    }
}

/// A student whose last activity is before this instant has been inactive for
/// at least `full_days` full civil days.
pub fn away_since_before(zone: Zone, now: Instant, full_days: u32) -> Instant {
    zone.start_of(zone.day(now).plus(-i64::from(full_days)))
}

/// Full civil days between the last activity and today.
pub fn full_days_away(zone: Zone, active_at: Instant, now: Instant) -> i64 {
    (zone.day(now).0 - zone.day(active_at).0 - 1).max(0)
}

/// When a message that may wait is sent: now, or at the end of the current
/// quiet hours, up to five minutes later depending on the person. If both ends
/// are equal, no hour is quiet.
pub fn leaves_at(zone: Zone, now: Instant, (from, until): (Time, Time), user: UserId) -> Instant {
    let civil = zone.civil(now);
    let (day, time) = (Day::of(civil.date()), civil.time());
    let overnight = until < from;
    let quiet = if overnight { time >= from || time < until } else { from <= time && time < until };
    if !quiet {
        return now;
    }
    let day = if overnight && time >= from { day.plus(1) } else { day };
    zone.at(day, until).plus(user.0.rem_euclid(SPREAD_S)).max(now)
}

/// Log entries before this instant are old: entries of whole civil days that
/// ended at least `days` days ago.
pub fn old_before(zone: Zone, now: Instant, days: i64) -> Instant {
    zone.start_of(zone.day(now).plus(-days))
}
