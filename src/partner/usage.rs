//! The monthly quota: calls counted in memory, written behind by civil day
//! and operation.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

use foldhash::quality::RandomState;

use super::store;
use crate::app::App;
use crate::base::clock::{Day, Instant};
use crate::base::ids::UserId;
use crate::db::{DbError, Lane};
use crate::http::limit::{Scope, Verdict};

/// An account's calls of the current month.
///
/// Stored as the sums that `/usage` returns: programs poll it often, and a
/// month has three hundred pairs of a day and an operation.
#[derive(Clone)]
pub struct Month {
    used: u64,
    first_day: Day,
    start: Instant,
    end: Instant,
    days: BTreeMap<Day, u64>,
    operations: BTreeMap<&'static str, u64>,
}

impl Month {
    /// All calls.
    pub const fn used(&self) -> u64 {
        self.used
    }

    pub const fn first_day(&self) -> Day {
        self.first_day
    }

    /// First instant of the next month.
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// Calls of each day that has some, in order.
    pub fn by_day(&self) -> BTreeMap<Day, u64> {
        self.days.clone()
    }

    /// Calls of each operation that was called, by name.
    pub fn by_operation(&self) -> BTreeMap<&'static str, u64> {
        self.operations.clone()
    }
}

/// Calls by day and operation, summed up by one of both.
pub fn sums<K: Ord>(
    calls: &BTreeMap<(Day, &'static str), u64>,
    key: impl Fn((Day, &'static str)) -> K,
) -> BTreeMap<K, u64> {
    let mut sums = BTreeMap::new();
    for (call, count) in calls {
        *sums.entry(key(*call)).or_default() += count;
    }
    sums
}

#[derive(Default)]
struct Counts {
    months: HashMap<UserId, Month, RandomState>,
    unwritten: HashMap<(UserId, Day, &'static str), u64, RandomState>,
}

impl Counts {
    /// An account's month, if it is in memory and covers `now`.
    fn current(&mut self, user: UserId, now: Instant) -> Option<&mut Month> {
        self.months.get_mut(&user).filter(|month| month.start <= now && now < month.end)
    }
}

/// Calls of all accounts that called lately.
#[derive(Default)]
pub struct Usage {
    counts: Mutex<Counts>,
}

impl Usage {
    /// Counts one call of an account against its quota, unless it is used up.
    pub fn count(
        &self,
        app: &App,
        account: (UserId, u64),
        operation: &'static str,
        now: Instant,
    ) -> Result<Verdict, DbError> {
        self.ask(app, account, Some(operation), now)
    }

    /// Says whether a call would be counted, and counts nothing.
    pub fn peek(
        &self,
        app: &App,
        account: (UserId, u64),
        now: Instant,
    ) -> Result<Verdict, DbError> {
        self.ask(app, account, None, now)
    }

    /// What an account has used of the month of an instant.
    pub fn month(&self, app: &App, user: UserId, now: Instant) -> Result<Month, DbError> {
        let day = app.day(now);
        loop {
            if let Some(month) = self.lock().current(user, now) {
                return Ok(month.clone());
            }
            self.remember(user, Self::stored_month(app, user, day)?, now);
        }
    }

    fn ask(
        &self,
        app: &App,
        (user, quota): (UserId, u64),
        counted: Option<&'static str>,
        now: Instant,
    ) -> Result<Verdict, DbError> {
        let day = app.day(now);
        let call = counted.map(|operation| (day, operation));
        loop {
            if let Some(verdict) = self.ask_known(user, call, quota, now) {
                return Ok(verdict);
            }
            self.remember(user, Self::stored_month(app, user, day)?, now);
        }
    }

    /// Keeps a month as it is stored, unless another request was faster: its
    /// count includes more calls.
    fn remember(&self, user: UserId, month: Month, now: Instant) {
        let mut counts = self.lock();
        if counts.current(user, now).is_none() {
            counts.months.insert(user, month);
        }
    }

    fn ask_known(
        &self,
        user: UserId,
        call: Option<(Day, &'static str)>,
        quota: u64,
        now: Instant,
    ) -> Option<Verdict> {
        let mut counts = self.lock();
        let month = counts.current(user, now)?;
        let allowed = month.used < quota;
        let call = call.filter(|_| allowed);
        month.used += u64::from(call.is_some());
        let verdict = Verdict {
            allowed,
            limit: u32::try_from(quota).unwrap_or(u32::MAX),
            remaining: u32::try_from(quota.saturating_sub(month.used)).unwrap_or(u32::MAX),
            reset: month.end,
            scope: Scope::Quota,
        };
        if let Some((day, operation)) = call {
            *month.days.entry(day).or_default() += 1;
            *month.operations.entry(operation).or_default() += 1;
            *counts.unwritten.entry((user, day, operation)).or_default() += 1;
        }
        Some(verdict)
    }

    /// What the database says of this month. Only an account's first call of
    /// a month comes here, so nothing of it waits to be written.
    fn stored_month(app: &App, user: UserId, day: Day) -> Result<Month, DbError> {
        let (first, next) = (day.month_start(), day.next_month_start());
        let calls: BTreeMap<_, _> =
            app.db.read(Lane::InPlace, |tx| store::calls_by_day(tx, user, first, next))?;
        Ok(Month {
            used: calls.values().sum(),
            first_day: first,
            start: app.zone().start_of(first),
            end: app.zone().start_of(next),
            days: sums(&calls, |(day, _)| day),
            operations: sums(&calls, |(_, operation)| operation),
        })
    }

    /// Calls since the last collection.
    pub fn take(&self) -> Vec<(UserId, Day, &'static str, u64)> {
        let calls = std::mem::take(&mut self.lock().unwritten);
        calls
            .into_iter()
            .map(|((user, day, operation), calls)| (user, day, operation, calls))
            .collect()
    }

    /// Adds calls that could not be written to the next collection.
    pub fn put_back(&self, calls: &[(UserId, Day, &'static str, u64)]) {
        let mut counts = self.lock();
        for (user, day, operation, calls) in calls {
            *counts.unwritten.entry((*user, *day, operation)).or_default() += calls;
        }
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Counts> {
        // Counts are whole numbers that a panic cannot leave half-changed.
        self.counts.lock()
    }
}
