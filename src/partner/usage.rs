//! The monthly quota: calls counted in memory, written behind by civil day
//! and operation.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::quality::RandomState;

use super::store;
use crate::base::{Day, Instant, UserId};
use crate::db::{DbError, Lane};
use crate::http::limit::{Scope, Verdict};
use crate::services::Services;

/// An account's calls of the current month.
///
/// Stored as the sums that `/usage` returns: programs poll it often, and a
/// month has three hundred pairs of a day and an operation.
#[derive(Clone)]
pub struct Month {
    /// All calls.
    pub used: u64,
    pub first_day: Day,
    start: Instant,
    /// First instant of the next month.
    pub end: Instant,
    pub calls: Calls,
}

/// Calls of some days: of each day and of each operation that has some.
#[derive(Clone)]
pub struct Calls {
    pub days: BTreeMap<Day, u64>,
    pub operations: BTreeMap<&'static str, u64>,
}

impl Calls {
    /// Calls by day and operation, summed up by each of both.
    pub fn of(calls: &BTreeMap<(Day, &'static str), u64>) -> Self {
        let mut sums = Self { days: BTreeMap::new(), operations: BTreeMap::new() };
        for ((day, operation), count) in calls {
            *sums.days.entry(*day).or_default() += count;
            *sums.operations.entry(operation).or_default() += count;
        }
        sums
    }

    /// Calls of each day up to one, which is left out.
    pub fn each_day(&self, from: Day, to: Day) -> Vec<i64> {
        let of = |day| self.days.get(&Day(day)).copied().unwrap_or_default();
        (from.0..to.0).map(|day| i64::try_from(of(day)).unwrap_or(i64::MAX)).collect()
    }

    /// The operations, the most used first.
    pub fn most_used(&self) -> Vec<(&'static str, u64)> {
        let mut sums: Vec<_> =
            self.operations.iter().map(|(name, calls)| (*name, *calls)).collect();
        sums.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sums
    }
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

    /// Takes back a call that was counted in memory, if that still holds its month.
    fn uncount(&mut self, user: UserId, day: Day, operation: &'static str) {
        let Some(month) =
            self.months.get_mut(&user).filter(|month| month.calls.days.contains_key(&day))
        else {
            return;
        };
        month.used = month.used.saturating_sub(1);
        take_one(&mut month.calls.days, &day);
        take_one(&mut month.calls.operations, &operation);
    }
}

/// Takes one from a count. A count of nothing is left out of sums.
fn take_one<K: Ord>(counts: &mut BTreeMap<K, u64>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Calls of all accounts that called lately.
#[derive(Default)]
pub struct Usage {
    counts: Mutex<Counts>,
}

/// A call that has its place in the quota and may still give it back. Until that is
/// decided it is not written, so that a crash never counts too much. A call that is
/// dropped counts.
pub struct HeldCall {
    usage: Arc<Usage>,
    user: UserId,
    day: Day,
    operation: &'static str,
    is_given_back: bool,
}

impl HeldCall {
    /// Gives the place in the quota back: the call used none.
    pub fn give_back(mut self) {
        self.is_given_back = true;
        self.usage.lock().uncount(self.user, self.day, self.operation);
    }
}

impl Drop for HeldCall {
    fn drop(&mut self) {
        if !self.is_given_back {
            self.usage.put_back(&[(self.user, self.day, self.operation, 1)]);
        }
    }
}

/// What is done with a call that the quota allows.
#[derive(Clone, Copy)]
enum Ask {
    Peek,
    Count(&'static str),
    /// Counted, but not yet to be written.
    Hold(&'static str),
}

impl Usage {
    /// Counts one call of an account against its quota, unless it is used up.
    pub fn count(
        &self,
        services: &Services,
        user: UserId,
        quota: u64,
        operation: &'static str,
        now: Instant,
    ) -> Result<Verdict, DbError> {
        self.ask(services, user, quota, Ask::Count(operation), now)
    }

    /// Counts a call that may give its place back; nothing is held when the quota is
    /// used up.
    pub fn hold(
        self: &Arc<Self>,
        services: &Services,
        user: UserId,
        quota: u64,
        operation: &'static str,
        now: Instant,
    ) -> Result<(Verdict, Option<HeldCall>), DbError> {
        let verdict = self.ask(services, user, quota, Ask::Hold(operation), now)?;
        // Made only for a call that was counted, because dropping it counts.
        let held = verdict.allowed.then(|| {
            let (usage, day) = (Arc::clone(self), services.day(now));
            HeldCall { usage, user, day, operation, is_given_back: false }
        });
        Ok((verdict, held))
    }

    /// Says whether a call would be counted, and counts nothing.
    pub fn peek(
        &self,
        services: &Services,
        user: UserId,
        quota: u64,
        now: Instant,
    ) -> Result<Verdict, DbError> {
        self.ask(services, user, quota, Ask::Peek, now)
    }

    /// What an account has used of the month of an instant.
    pub fn month(&self, services: &Services, user: UserId, now: Instant) -> Result<Month, DbError> {
        let day = services.day(now);
        loop {
            if let Some(month) = self.lock().current(user, now) {
                return Ok(month.clone());
            }
            self.remember(user, Self::stored_month(services, user, day)?, now);
        }
    }

    fn ask(
        &self,
        services: &Services,
        user: UserId,
        quota: u64,
        ask: Ask,
        now: Instant,
    ) -> Result<Verdict, DbError> {
        let day = services.day(now);
        loop {
            let mut counts = self.lock();
            if let Some(month) = counts.current(user, now) {
                let allowed = month.used < quota;
                let counted = match ask {
                    Ask::Count(operation) | Ask::Hold(operation) if allowed => Some(operation),
                    _ => None,
                };
                month.used += u64::from(counted.is_some());
                let verdict = Verdict {
                    allowed,
                    limit: u32::try_from(quota).unwrap_or(u32::MAX),
                    remaining: u32::try_from(quota.saturating_sub(month.used)).unwrap_or(u32::MAX),
                    reset: month.end,
                    scope: Scope::Quota,
                };
                if let Some(operation) = counted {
                    *month.calls.days.entry(day).or_default() += 1;
                    *month.calls.operations.entry(operation).or_default() += 1;
                    if matches!(ask, Ask::Count(_)) {
                        *counts.unwritten.entry((user, day, operation)).or_default() += 1;
                    }
                }
                return Ok(verdict);
            }
            drop(counts);
            self.remember(user, Self::stored_month(services, user, day)?, now);
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

    /// What the database says of this month. Only an account's first call of
    /// a month comes here, so nothing of it waits to be written.
    fn stored_month(services: &Services, user: UserId, day: Day) -> Result<Month, DbError> {
        let (first, next) = (day.month_start(), day.next_month_start());
        let calls: BTreeMap<_, _> =
            services.db.read(Lane::InPlace, |tx| store::calls_by_day(tx, user, first, next))?;
        Ok(Month {
            used: calls.values().sum(),
            first_day: first,
            start: services.zone().start_of(first),
            end: services.zone().start_of(next),
            calls: Calls::of(&calls),
        })
    }

    /// Calls since the last collection.
    pub fn take(&self) -> Vec<(UserId, Day, &'static str, u64)> {
        let calls = std::mem::take(&mut self.lock().unwritten);
        calls.into_iter().map(|((user, day, name), calls)| (user, day, name, calls)).collect()
    }

    /// Adds calls to the next collection, in memory already: those that could not be
    /// written, or were held.
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
