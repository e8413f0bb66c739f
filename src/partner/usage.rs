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
use crate::http::limit::Verdict;

/// An account's calls of the current month.
///
/// Stored as the sums that `/usage` returns: programs poll it often, and a
/// month has three hundred pairs of a day and an operation. New calls are
/// added to the sums once a second, so that a call changes one entry in memory.
#[derive(Clone)]
pub struct Month {
    used: u64,
    first_day: Day,
    start: Instant,
    end: Instant,
    days: BTreeMap<Day, u64>,
    operations: BTreeMap<&'static str, u64>,
    /// Calls that are neither written nor in the sums yet.
    fresh: Vec<(Day, &'static str, u64)>,
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

    fn add(&mut self, day: Day, operation: &'static str) {
        self.used += 1;
        match self.fresh.iter_mut().find(|(on, of, _)| (*on, *of) == (day, operation)) {
            Some((_, _, calls)) => *calls += 1,
            None => self.fresh.push((day, operation, 1)),
        }
    }

    /// Moves the new calls into the sums and returns them.
    fn settle(&mut self) -> Vec<(Day, &'static str, u64)> {
        for (day, operation, calls) in &self.fresh {
            *self.days.entry(*day).or_default() += calls;
            *self.operations.entry(operation).or_default() += calls;
        }
        std::mem::take(&mut self.fresh)
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

/// Calls of an account on a day, by operation.
type Calls = (UserId, Day, &'static str, u64);

#[derive(Default)]
struct Counts {
    months: HashMap<UserId, Month, RandomState>,
    /// Accounts whose month has new calls.
    calling: Vec<UserId>,
    /// New calls that are in no month's list: of a month that ended, and those
    /// that could not be written.
    unwritten: Vec<Calls>,
}

impl Counts {
    /// An account's month, if it is in memory and covers `now`.
    fn current(&mut self, user: UserId, now: Instant) -> Option<&mut Month> {
        self.months.get_mut(&user).filter(|month| month.start <= now && now < month.end)
    }

    /// Keeps a month in the place of an earlier one, whose new calls stay to
    /// be written.
    fn replace(&mut self, user: UserId, month: Month) {
        if let Some(mut before) = self.months.insert(user, month) {
            let calls = before.settle().into_iter();
            self.unwritten
                .extend(calls.map(|(day, operation, calls)| (user, day, operation, calls)));
        }
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
            if let Some(month) = self.counts.lock().current(user, now) {
                let mut month = month.clone();
                month.settle();
                return Ok(month);
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

    /// Keeps a month as it is stored, unless another request was faster, whose
    /// count includes more.
    fn remember(&self, user: UserId, month: Month, now: Instant) {
        let mut counts = self.counts.lock();
        if counts.current(user, now).is_none() {
            counts.replace(user, month);
        }
    }

    fn ask_known(
        &self,
        user: UserId,
        call: Option<(Day, &'static str)>,
        quota: u64,
        now: Instant,
    ) -> Option<Verdict> {
        let counts = &mut *self.counts.lock();
        let month = counts.current(user, now)?;
        let allowed = month.used < quota;
        let mut is_first = false;
        if let Some((day, operation)) = call.filter(|_| allowed) {
            is_first = month.fresh.is_empty();
            month.add(day, operation);
        }
        let verdict = Verdict {
            allowed,
            limit: u32::try_from(quota).unwrap_or(u32::MAX),
            remaining: u32::try_from(quota.saturating_sub(month.used)).unwrap_or(u32::MAX),
            reset: month.end,
        };
        if is_first {
            counts.calling.push(user);
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
            fresh: Vec::new(),
        })
    }

    /// Calls since the last collection.
    pub fn take(&self) -> Vec<Calls> {
        let counts = &mut *self.counts.lock();
        let mut calls = std::mem::take(&mut counts.unwritten);
        for user in counts.calling.drain(..) {
            // Of a month that was replaced they are in `unwritten`.
            let fresh = counts.months.get_mut(&user).map(Month::settle).unwrap_or_default();
            calls.extend(
                fresh.into_iter().map(|(day, operation, count)| (user, day, operation, count)),
            );
        }
        calls
    }

    /// Keeps calls that could not be written for the next collection.
    pub fn put_back(&self, calls: &[Calls]) {
        self.counts.lock().unwritten.extend_from_slice(calls);
    }
}
