//! Limits how many tries of an endpoint may run at once, and chooses their lane.
//!
//! A new or failing endpoint may have one try at a time, in a lane with few
//! threads. Each quick success allows one more try at once, in the quick lane,
//! which failing endpoints do not use. One failure or slow answer resets that.
//! An endpoint that does not answer in time is paused, longer each time, so
//! that a receiver that hangs uses a thread for only some seconds per hour.
//! Decision webhooks-4.

use std::collections::HashMap;

use crate::base::{Instant, UserId};

/// Most tries at once, for one endpoint and for all endpoints of an account.
pub const MOST_OF_ENDPOINT: usize = 8;
pub const MOST_OF_ACCOUNT: usize = 12;
/// Most tries of an account at once in the careful lane.
const MOST_TROUBLED: usize = 2;
/// A success that takes this long or longer is not quick.
const QUICK_MS: i64 = 2_000;
/// A failure that takes this long or longer means that the receiver hangs.
const HANGS_MS: i64 = 4_000;
/// First and longest pause of an endpoint that hangs.
const FIRST_PAUSE_S: i64 = 4;
const LONGEST_PAUSE_S: i64 = 300;
/// Most endpoints that are remembered while none of their tries runs.
const REMEMBERED: usize = 10_000;

/// The group of threads that makes a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default)]
struct EndpointHealth {
    /// Quick successes in a row.
    credit: usize,
    /// Hung tries in a row.
    hangs: u32,
    /// No try begins before this time.
    not_before: Option<Instant>,
    under_way: usize,
}

/// The result of a try, as far as it matters for fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryOutcome {
    pub is_delivered: bool,
    pub ms: i64,
    pub at: Instant,
}

/// The state of all endpoints and accounts.
#[derive(Default)]
pub struct ConcurrencyLimits {
    endpoints: HashMap<i64, EndpointHealth>,
    accounts: HashMap<UserId, [usize; 2]>,
}

impl ConcurrencyLimits {
    /// How many more tries of an endpoint may begin now, and in which lane.
    pub fn available(&self, endpoint: i64, user: UserId, now: Instant) -> (Lane, usize) {
        let health = self.endpoints.get(&endpoint).copied().unwrap_or_default();
        let of_account = self.accounts.get(&user).copied().unwrap_or_default();
        if health.not_before.is_some_and(|until| now < until) {
            return (Lane::Careful, 0);
        }
        if health.credit == 0 {
            let free = MOST_TROUBLED.saturating_sub(of_account[1]);
            return (Lane::Careful, 1_usize.saturating_sub(health.under_way).min(free));
        }
        let own = health.credit.min(MOST_OF_ENDPOINT).saturating_sub(health.under_way);
        let free = MOST_OF_ACCOUNT.saturating_sub(of_account.iter().sum());
        (Lane::Quick, own.min(free))
    }

    /// Tries of an account that are running.
    pub fn under_way(&self, user: UserId) -> usize {
        self.accounts.get(&user).map_or(0, |lanes| lanes.iter().sum())
    }

    /// Those of them in the careful lane.
    pub fn careful_under_way(&self, user: UserId) -> usize {
        self.accounts.get(&user).map_or(0, |lanes| lanes[Lane::Careful as usize])
    }

    /// Counts a try that begins.
    pub fn begin(&mut self, endpoint: i64, user: UserId, lane: Lane) {
        self.endpoints.entry(endpoint).or_default().under_way += 1;
        self.accounts.entry(user).or_default()[lane as usize] += 1;
    }

    /// Counts a try that ended, and updates the endpoint's credit and pause.
    pub fn end(&mut self, (endpoint, user, lane): (i64, UserId, Lane), ended: TryOutcome) {
        let health = self.endpoints.entry(endpoint).or_default();
        health.under_way = health.under_way.saturating_sub(1);
        let is_quick = ended.ms < QUICK_MS;
        health.credit = if ended.is_delivered && is_quick {
            (health.credit + 1).min(MOST_OF_ENDPOINT)
        } else {
            0
        };
        if !ended.is_delivered && ended.ms >= HANGS_MS {
            let pause = (FIRST_PAUSE_S << health.hangs.min(10)).min(LONGEST_PAUSE_S);
            health.hangs += 1;
            health.not_before = Some(ended.at.plus(pause));
        } else {
            health.hangs = 0;
            health.not_before = None;
        }
        if let Some(lanes) = self.accounts.get_mut(&user) {
            lanes[lane as usize] = lanes[lane as usize].saturating_sub(1);
            if *lanes == [0, 0] {
                self.accounts.remove(&user);
            }
        }
        if self.endpoints.len() > REMEMBERED {
            self.endpoints.retain(|_, health| health.under_way > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: UserId = UserId(1);
    const NOW: Instant = Instant(1_795_000_000);

    fn ended(is_delivered: bool, ms: i64) -> TryOutcome {
        TryOutcome { is_delivered, ms, at: NOW }
    }

    fn one_try(limits: &mut ConcurrencyLimits, endpoint: i64, how: TryOutcome) {
        let (lane, room) = limits.available(endpoint, ANA, NOW);
        assert!(room > 0);
        limits.begin(endpoint, ANA, lane);
        limits.end((endpoint, ANA, lane), how);
    }

    #[test]
    fn trust_is_earned_one_success_at_a_time_and_lost_at_once() {
        let mut limits = ConcurrencyLimits::default();
        assert_eq!(limits.available(7, ANA, NOW), (Lane::Careful, 1));
        for credit in 1..=MOST_OF_ENDPOINT {
            one_try(&mut limits, 7, ended(true, 20));
            assert_eq!(limits.available(7, ANA, NOW), (Lane::Quick, credit));
        }
        one_try(&mut limits, 7, ended(true, 20));
        assert_eq!(limits.available(7, ANA, NOW), (Lane::Quick, MOST_OF_ENDPOINT));
        one_try(&mut limits, 7, ended(false, 20));
        assert_eq!(limits.available(7, ANA, NOW), (Lane::Careful, 1));
        one_try(&mut limits, 7, ended(true, 20));
        one_try(&mut limits, 7, ended(true, QUICK_MS));
        assert_eq!(
            limits.available(7, ANA, NOW),
            (Lane::Careful, 1),
            "slow is no better than failing"
        );
    }

    #[test]
    fn an_account_in_trouble_has_few_turns_whatever_it_has() {
        let mut limits = ConcurrencyLimits::default();
        for endpoint in 1..=2 {
            assert_eq!(limits.available(endpoint, ANA, NOW), (Lane::Careful, 1));
            limits.begin(endpoint, ANA, Lane::Careful);
        }
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
        for pause in [4, 8, 16, 32, 64, 128, 256, 300, 300] {
            let later = NOW.plus(1_000);
            assert_eq!(limits.available(7, ANA, later).1, 1);
            limits.begin(7, ANA, Lane::Careful);
            limits.end((7, ANA, Lane::Careful), TryOutcome { at: later, ..ended(false, 10_000) });
            assert_eq!(limits.available(7, ANA, later.plus(pause - 1)).1, 0, "{pause}");
            assert_eq!(limits.available(7, ANA, later.plus(pause)).1, 1, "{pause}");
            limits.endpoints.get_mut(&7).unwrap().not_before = None;
        }
        one_try(&mut limits, 7, ended(false, 20));
        assert_eq!(limits.available(7, ANA, NOW).1, 1, "an error at once is no hanging");
    }
}
