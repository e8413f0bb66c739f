//! Limits how many tries of an endpoint may run at once, and chooses their lane.
//!
//! A new or failing endpoint may have one try at a time, in a lane with few
//! threads. Each quick success allows one more try at once, in the quick lane,
//! which failing endpoints do not use. One failure or slow answer resets that.
//! An endpoint that does not answer in time is paused, longer each time, so
//! that a receiver that hangs uses a thread for only some seconds per hour.
//! Decision webhooks-4.

use std::collections::HashMap;

use super::queue::TryResult;
use crate::base::queue::{
    Breaker, CAREFUL_TRIES_OF_ACCOUNT, KeyedSemaphore, Permit, TRIES_OF_ACCOUNT, TRIES_OF_ENDPOINT,
    WEBHOOKS,
};
use crate::base::{Instant, UserId};

/// A success that takes this long or longer is not quick.
const QUICK_MS: i64 = 2_000;
/// A failure that takes this long or longer means that the receiver hangs.
const HANGS_MS: i64 = 4_000;
/// Most endpoints that are remembered while none of their tries runs.
const REMEMBERED: usize = 10_000;

/// The group of threads that makes a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// For endpoints that answer quickly.
    Quick,
    /// For new endpoints, and for those that failed or were slow.
    Careful,
}

/// Threads of the careful lane that endpoints known to fail leave free, and that
/// second tries of an account leave free.
const KEPT_FROM_FAILING: usize = 4;
const KEPT_FROM_SECOND: usize = 8;

/// How many of the free threads of the careful lane an endpoint may use. Most of
/// those that hang are known to, also after a restart, so a few threads are
/// always there for one that may answer.
pub const fn careful_room(free: usize, is_failing: bool, is_second: bool) -> usize {
    let mut kept = if is_failing { KEPT_FROM_FAILING } else { 0 };
    if is_second && kept < KEPT_FROM_SECOND {
        kept = KEPT_FROM_SECOND;
    }
    free.saturating_sub(kept)
}

/// State of an endpoint.
struct EndpointHealth {
    /// Quick successes in a row.
    credit: usize,
    /// Open after tries that hung.
    breaker: Breaker<Instant>,
}

/// The places that a try takes while it runs: of its endpoint, and of its account
/// in a lane.
pub struct TryPermits(Permit<i64>, Permit<(UserId, Lane)>);

impl TryPermits {
    pub const fn endpoint(&self) -> i64 {
        self.0.key
    }

    pub const fn lane(&self) -> Lane {
        self.1.key.1
    }
}

/// The state of all endpoints and accounts.
pub struct ConcurrencyLimits {
    health: HashMap<i64, EndpointHealth>,
    endpoints: KeyedSemaphore<i64>,
    accounts: KeyedSemaphore<(UserId, Lane)>,
}

impl Default for ConcurrencyLimits {
    fn default() -> Self {
        Self {
            health: HashMap::new(),
            endpoints: KeyedSemaphore::new(usize::MAX, |_| TRIES_OF_ENDPOINT),
            accounts: KeyedSemaphore::new(usize::MAX, |_| TRIES_OF_ACCOUNT),
        }
    }
}

impl ConcurrencyLimits {
    /// How many more tries of an endpoint may begin now, and in which lane.
    pub fn available(&self, endpoint: i64, user: UserId, now: Instant) -> (Lane, usize) {
        let health = self.health.get(&endpoint);
        if health.and_then(|health| health.breaker.until()).is_some_and(|until| now < until) {
            return (Lane::Careful, 0);
        }
        let under_way = self.endpoints.count(&endpoint);
        let credit = health.map_or(0, |health| health.credit);
        if credit == 0 {
            let free = CAREFUL_TRIES_OF_ACCOUNT.saturating_sub(self.careful_under_way(user));
            return (Lane::Careful, 1_usize.saturating_sub(under_way).min(free));
        }
        let own = credit.min(TRIES_OF_ENDPOINT).saturating_sub(under_way);
        let free = TRIES_OF_ACCOUNT.saturating_sub(self.under_way(user));
        (Lane::Quick, own.min(free))
    }

    /// Tries of an account that are running.
    pub fn under_way(&self, user: UserId) -> usize {
        self.accounts.count(&(user, Lane::Quick)) + self.careful_under_way(user)
    }

    /// Those of them in the careful lane.
    pub fn careful_under_way(&self, user: UserId) -> usize {
        self.accounts.count(&(user, Lane::Careful))
    }

    /// Places for a try that begins; `available` says how many there are.
    pub fn begin(&self, endpoint: i64, user: UserId, lane: Lane) -> Option<TryPermits> {
        Some(TryPermits(self.endpoints.take(endpoint)?, self.accounts.take((user, lane))?))
    }

    /// A try ended: updates the endpoint's credit and pause.
    pub fn end(&mut self, places: TryPermits, ended: &TryResult) {
        let new = || EndpointHealth { credit: 0, breaker: Breaker::new(&WEBHOOKS) };
        let health = self.health.entry(places.endpoint()).or_insert_with(new);
        drop(places);
        let is_quick = ended.ms < QUICK_MS;
        health.credit = if ended.is_delivered() && is_quick {
            (health.credit + 1).min(TRIES_OF_ENDPOINT)
        } else {
            0
        };
        if !ended.is_delivered() && ended.ms >= HANGS_MS {
            health.breaker.look(|pause_s| ended.at.plus(pause_s));
        } else {
            health.breaker.answer();
        }
        if self.health.len() > REMEMBERED {
            let endpoints = &self.endpoints;
            self.health.retain(|endpoint, _| endpoints.count(endpoint) > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: UserId = UserId(1);
    const NOW: Instant = Instant(1_795_000_000);

    fn ended(is_delivered: bool, ms: i64) -> TryResult {
        TryResult {
            endpoint: 7,
            number: 1,
            at: NOW,
            ms,
            status: None,
            answer: None,
            error: (!is_delivered).then(|| "falhou".to_owned()),
            retry_at: None,
        }
    }

    fn one_try(limits: &mut ConcurrencyLimits, endpoint: i64, how: &TryResult) {
        let (lane, room) = limits.available(endpoint, ANA, NOW);
        assert!(room > 0);
        let places = limits.begin(endpoint, ANA, lane).unwrap();
        limits.end(places, how);
    }

    #[test]
    fn trust_is_earned_one_success_at_a_time_and_lost_at_once() {
        let mut limits = ConcurrencyLimits::default();
        assert_eq!(limits.available(7, ANA, NOW), (Lane::Careful, 1));
        for credit in 1..=TRIES_OF_ENDPOINT {
            one_try(&mut limits, 7, &ended(true, 20));
            assert_eq!(limits.available(7, ANA, NOW), (Lane::Quick, credit));
        }
        one_try(&mut limits, 7, &ended(true, 20));
        assert_eq!(limits.available(7, ANA, NOW), (Lane::Quick, TRIES_OF_ENDPOINT));
        one_try(&mut limits, 7, &ended(false, 20));
        assert_eq!(limits.available(7, ANA, NOW), (Lane::Careful, 1));
        one_try(&mut limits, 7, &ended(true, 20));
        one_try(&mut limits, 7, &ended(true, QUICK_MS));
        assert_eq!(
            limits.available(7, ANA, NOW),
            (Lane::Careful, 1),
            "slow is no better than failing"
        );
    }

    #[test]
    fn an_account_in_trouble_has_few_turns_whatever_it_has() {
        let limits = ConcurrencyLimits::default();
        let _running = [1, 2].map(|endpoint| {
            assert_eq!(limits.available(endpoint, ANA, NOW), (Lane::Careful, 1));
            limits.begin(endpoint, ANA, Lane::Careful).unwrap()
        });
        assert_eq!(limits.available(3, ANA, NOW).1, 0);
        assert_eq!(limits.available(3, UserId(2), NOW).1, 1, "another account's");
        assert_eq!(limits.available(1, ANA, NOW).1, 0, "one at a time");
    }

    #[test]
    fn what_fails_leaves_threads_for_what_may_answer() {
        assert_eq!(careful_room(16, true, false), 12);
        assert_eq!(careful_room(4, true, false), 0);
        assert_eq!(careful_room(4, false, false), 4);
        assert_eq!(careful_room(8, false, true), 0, "a second one of the account");
    }

    #[test]
    fn what_hangs_is_left_alone_longer_each_time() {
        let mut limits = ConcurrencyLimits::default();
        let mut later = NOW;
        for pause in [4, 8, 16, 32, 64, 128, 256, 300, 300] {
            let places = limits.begin(7, ANA, Lane::Careful).unwrap();
            limits.end(places, &TryResult { at: later, ..ended(false, 10_000) });
            assert_eq!(limits.available(7, ANA, later.plus(pause - 1)).1, 0, "{pause}");
            later = later.plus(pause);
            assert_eq!(limits.available(7, ANA, later).1, 1, "{pause}");
        }
        let places = limits.begin(7, ANA, Lane::Careful).unwrap();
        limits.end(places, &ended(false, 20));
        assert_eq!(limits.available(7, ANA, NOW).1, 1, "an error at once is no hanging");
    }
}
