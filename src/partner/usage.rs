//! The monthly quota: calls counted in memory, written behind by civil day
//! and operation.

use parking_lot::Mutex;
use std::collections::HashMap;

use foldhash::quality::RandomState;

use super::store;
use crate::app::App;
use crate::base::clock::{Day, Instant};
use crate::base::ids::UserId;
use crate::db::{DbError, Lane};
use crate::http::limit::Verdict;

/// An account's calls of the present month.
#[derive(Clone, Copy)]
struct Month {
    used: u64,
    /// First instant of the next month.
    end: Instant,
    start: Instant,
}

#[derive(Default)]
struct Counts {
    months: HashMap<UserId, Month, RandomState>,
    unwritten: HashMap<(UserId, Day, &'static str), u64, RandomState>,
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
            let month = Self::stored_month(app, user, day)?;
            // Another request may have been faster; its count includes more.
            self.lock()
                .months
                .entry(user)
                .and_modify(|known| {
                    if known.end <= now || now < known.start {
                        *known = month;
                    }
                })
                .or_insert(month);
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
        let month =
            counts.months.get_mut(&user).filter(|month| month.start <= now && now < month.end)?;
        let allowed = month.used < quota;
        let call = call.filter(|_| allowed);
        month.used += u64::from(call.is_some());
        let verdict = Verdict {
            allowed,
            limit: u32::try_from(quota).unwrap_or(u32::MAX),
            remaining: u32::try_from(quota.saturating_sub(month.used)).unwrap_or(u32::MAX),
            reset: month.end,
        };
        if let Some((day, operation)) = call {
            *counts.unwritten.entry((user, day, operation)).or_default() += 1;
        }
        Some(verdict)
    }

    /// What the database says of this month. Only an account's first call of
    /// a month comes here, so nothing of it waits to be written.
    fn stored_month(app: &App, user: UserId, day: Day) -> Result<Month, DbError> {
        let (first, next) = (day.month_start(), day.next_month_start());
        let used = app.db.read(Lane::InPlace, |tx| store::calls_between(tx, user, first, next))?;
        Ok(Month { used, start: app.zone().start_of(first), end: app.zone().start_of(next) })
    }

    /// Calls since the last collection.
    pub fn take(&self) -> Vec<(UserId, Day, &'static str, u64)> {
        let calls = std::mem::take(&mut self.lock().unwritten);
        calls
            .into_iter()
            .map(|((user, day, operation), calls)| (user, day, operation, calls))
            .collect()
    }

    /// Takes back calls that could not be written.
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
