//! The rate limiter: fixed windows, counted in memory and written later.
//!
//! A window starts with the first counted request of its subject. Counting
//! never waits for the database: changed windows are collected once a second
//! and written by one job. So a crash loses at most the counts of the last
//! second, and no count is ever too high.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;

use foldhash::quality::RandomState;

pub use super::rate_class::{Class, Scope};
use crate::base::{Instant, TokenHash};

const SHARDS: usize = 64;
const SHARD_WINDOWS: usize = 4096;
/// Windows for which a full shard makes room at once.
const FREED: usize = 64;

/// Whose calls a window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subject([u8; 16]);

impl Subject {
    /// A client address; IPv6 by its /64.
    pub fn address(address: IpAddr) -> Self {
        Self::network(address, 64)
    }

    /// The widest network of a client address that may be one client's; IPv6 by its /48.
    pub fn site(address: IpAddr) -> Self {
        Self::network(address, 48)
    }

    /// An IPv6 network of so many bits, in whole bytes; of IPv4 the address.
    fn network(address: IpAddr, bits: u8) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self(v4.to_ipv6_mapped().octets()),
            IpAddr::V6(v6) => {
                let (octets, length) = (v6.octets(), usize::from(bits / 8));
                let mut subject = [0; 16];
                subject[..length].copy_from_slice(&octets[..length]);
                // Otherwise a network would be the first of those within it.
                subject[15] = if bits == 64 { 0 } else { bits };
                Self(subject)
            }
        }
    }

    /// A token or key.
    pub fn token(hash: &TokenHash) -> Self {
        Self(std::array::from_fn(|index| hash.0[index]))
    }

    /// A row id, such as an account's.
    pub fn id(id: i64) -> Self {
        Self::beginning(id, [0xff; 16])
    }

    /// A person together with something else; begins like [`Subject::id`].
    pub fn of_person(id: i64, other: &str) -> Self {
        Self::beginning(id, crate::base::ids::short_digest(&[other.as_bytes()]))
    }

    fn beginning(id: i64, mut subject: [u8; 16]) -> Self {
        subject[..8].copy_from_slice(&id.to_be_bytes());
        Self(subject)
    }

    /// Any other text, by its digest.
    pub fn text(parts: &[&[u8]]) -> Self {
        Self(crate::base::ids::short_digest(parts))
    }
}

/// A limit: `count` calls in `window_s` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub count: u32,
    pub window_s: i64,
}

impl Limit {
    const fn times(self, times: u32) -> Self {
        Self { count: self.count.saturating_mul(times), ..self }
    }
}

/// The networks of a client address that are counted, each with how many times the
/// limit of a single address it has. Of IPv6 a client has a /64 at least, but often a
/// /56 or a /48, which it must not use as hundreds or thousands of clients.
pub fn networks(address: IpAddr, [home, site]: [u32; 2]) -> [Option<(Subject, u32)>; 3] {
    let single = Some((Subject::address(address), 1));
    if address.to_canonical().is_ipv4() {
        return [single, None, None];
    }
    let [home, site] = [(56, home), (48, site)]
        .map(|(bits, times)| Some((Subject::network(address, bits), times)));
    [single, home, site]
}

/// The windows in which a call of a client address is counted.
pub fn windows(address: IpAddr, limit: Limit) -> [Option<(Subject, Limit)>; 3] {
    networks(address, [4, 16])
        .map(|network| network.map(|(subject, times)| (subject, limit.times(times))))
}

/// The limiter's decision on one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    /// The limit that applies.
    pub limit: u32,
    /// Calls left in this window after this one.
    pub remaining: u32,
    /// First instant of the next window.
    pub reset: Instant,
    /// What the limit belongs to.
    pub scope: Scope,
}

impl Verdict {
    /// The stricter of two verdicts on one call: a refusal, else the one with
    /// fewer calls left.
    pub fn stricter(self, other: Self) -> Self {
        match (self.allowed, other.allowed) {
            (true, false) => other,
            (false, true) => self,
            _ if other.remaining < self.remaining => other,
            _ => self,
        }
    }

    /// Seconds until the window ends, at least one.
    pub fn retry_after_s(&self, now: Instant) -> i64 {
        self.reset.since(now).max(1)
    }
}

type Key = [u8; 17];

#[derive(Clone, Copy)]
struct Window {
    started: Instant,
    length_s: i64,
    count: u32,
    dirty: bool,
}

impl Window {
    /// Says whether a call is allowed, and counts it if `add` is set.
    fn ask(&mut self, scope: Scope, limit: Limit, add: bool) -> Verdict {
        let allowed = self.count < limit.count;
        if allowed && add {
            self.count += 1;
            self.dirty = true;
        }
        Verdict {
            allowed,
            limit: limit.count,
            remaining: limit.count.saturating_sub(self.count),
            reset: self.started.plus(self.length_s),
            scope,
        }
    }

    /// Whether the window covers an instant. Setting the clock back ends the
    /// window.
    fn covers(&self, now: Instant) -> bool {
        (0..self.length_s).contains(&now.since(self.started))
    }
}

crate::row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StoredWindow {
        /// Class and subject.
        pub subject: Vec<u8>,
        pub started_at: i64,
        pub length_s: i64,
        pub count: u32,
    }
}

/// All windows of the process.
pub struct Limiter {
    shards: Vec<Mutex<HashMap<Key, Window, RandomState>>>,
}

impl Default for Limiter {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl Limiter {
    /// Counts one call and says whether it is allowed. A refused call is not counted.
    pub fn count(&self, class: Class, subject: Subject, limit: Limit, now: Instant) -> Verdict {
        self.ask(class, subject, limit, now, true)
    }

    /// Says whether a call would be allowed, without counting it.
    pub fn peek(&self, class: Class, subject: Subject, limit: Limit, now: Instant) -> Verdict {
        self.ask(class, subject, limit, now, false)
    }

    /// Counts one call of a client address in the windows of its networks. A
    /// refused call is counted in none.
    pub fn count_address(
        &self,
        class: Class,
        address: IpAddr,
        limit: Limit,
        now: Instant,
    ) -> Verdict {
        let asked = self.peek_address(class, address, limit, now);
        if !asked.allowed {
            return asked;
        }
        let counted = windows(address, limit).into_iter().flatten();
        let counted = counted.map(|(subject, limit)| self.count(class, subject, limit, now));
        counted.reduce(Verdict::stricter).unwrap_or(asked)
    }

    /// Says whether such a call would be allowed, without counting it.
    pub fn peek_address(
        &self,
        class: Class,
        address: IpAddr,
        limit: Limit,
        now: Instant,
    ) -> Verdict {
        let single = self.peek(class, Subject::address(address), limit, now);
        let wider = windows(address, limit).into_iter().skip(1).flatten();
        wider.fold(single, |verdict, (subject, limit)| {
            verdict.stricter(self.peek(class, subject, limit, now))
        })
    }

    /// Undoes the count of one call in a window.
    pub fn uncount(&self, class: Class, subject: Subject, now: Instant) {
        let key = key(class, subject);
        if let Some(window) = self.shard(&key).get_mut(&key)
            && window.covers(now)
        {
            window.count = window.count.saturating_sub(1);
            window.dirty = true;
        }
    }

    /// Drops all windows of a class whose subject begins with the id of a
    /// person, whether they were written or not.
    pub fn forget_person(&self, class: Class, person: i64) {
        let prefix = person_prefix(class, person);
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.retain(|key, _| !key.starts_with(&prefix));
        }
    }

    fn ask(
        &self,
        class: Class,
        subject: Subject,
        limit: Limit,
        now: Instant,
        add: bool,
    ) -> Verdict {
        let key = key(class, subject);
        let mut shard = self.shard(&key);
        if let Some(window) = shard.get_mut(&key)
            && window.covers(now)
        {
            return window.ask(class.scope(), limit, add);
        }
        let mut fresh = Window { started: now, length_s: limit.window_s, count: 0, dirty: false };
        let verdict = fresh.ask(class.scope(), limit, add);
        if fresh.dirty {
            if shard.len() >= SHARD_WINDOWS && !shard.contains_key(&key) {
                make_room(&mut shard, now);
            }
            shard.insert(key, fresh);
        }
        verdict
    }

    /// Windows that changed since the last call, marked as written. Ended
    /// windows are dropped from memory.
    pub fn take_dirty(&self, now: Instant) -> Vec<StoredWindow> {
        let mut changed = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.retain(|key, window| {
                if window.dirty {
                    window.dirty = false;
                    changed.push(StoredWindow {
                        subject: key.to_vec(),
                        started_at: window.started.0,
                        length_s: window.length_s,
                        count: window.count,
                    });
                }
                window.covers(now)
            });
        }
        changed
    }

    /// Marks windows as changed again, because they could not be written.
    pub fn mark_dirty(&self, windows: &[StoredWindow]) {
        for stored in windows {
            let Ok(key) = Key::try_from(&*stored.subject) else {
                continue;
            };
            if let Some(window) = self.shard(&key).get_mut(&key) {
                window.dirty = true;
            }
        }
    }

    /// Loads stored windows, at the start and after a change by another process.
    pub fn load(&self, windows: Vec<StoredWindow>) {
        for stored in windows {
            let Ok(key) = Key::try_from(&*stored.subject) else {
                continue;
            };
            let (started, length_s, count) =
                (Instant(stored.started_at), stored.length_s, stored.count);
            self.shard(&key).insert(key, Window { started, length_s, count, dirty: false });
        }
    }

    fn shard(&self, key: &Key) -> parking_lot::MutexGuard<'_, HashMap<Key, Window, RandomState>> {
        // Token digests differ in every byte, addresses in their last ones.
        let spread = key[1..].iter().fold(key[0], |spread, byte| spread.rotate_left(3) ^ byte);
        // A panic cannot leave a window half-written, so the lock needs no
        // poisoning.
        self.shards[usize::from(spread) % SHARDS].lock()
    }
}

/// The beginning of the stored keys of a person's windows; see [`Subject::id`].
pub fn person_prefix(class: Class, person: i64) -> [u8; 9] {
    let id = person.to_be_bytes();
    std::array::from_fn(|index| if index == 0 { class as u8 } else { id[index - 1] })
}

fn key(class: Class, subject: Subject) -> Key {
    std::array::from_fn(|index| if index == 0 { class as u8 } else { subject.0[index - 1] })
}

/// Makes room for [`FREED`] windows, so that they share one search: drops those
/// that have ended, then those that end soonest.
fn make_room(shard: &mut HashMap<Key, Window, RandomState>, now: Instant) {
    shard.retain(|_, window| window.covers(now));
    let excess = shard.len().saturating_sub(SHARD_WINDOWS - FREED);
    if excess == 0 {
        return;
    }
    let mut ends: Vec<(Instant, Key)> =
        shard.iter().map(|(key, window)| (window.started.plus(window.length_s), *key)).collect();
    ends.select_nth_unstable(excess);
    for (_, key) in &ends[..excess] {
        shard.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const THREE_A_MINUTE: Limit = Limit { count: 3, window_s: 60 };

    fn call(limiter: &Limiter, now: i64) -> Verdict {
        limiter.count(Class::ApiToken, Subject::id(7), THREE_A_MINUTE, Instant(now))
    }

    #[test]
    fn a_window_starts_with_its_first_call() {
        let limiter = Limiter::default();
        assert_eq!(call(&limiter, 1000).remaining, 2);
        assert_eq!(call(&limiter, 1059).remaining, 1);
        assert_eq!(call(&limiter, 1059).remaining, 0);
        let refused = call(&limiter, 1059);
        assert_eq!((refused.allowed, refused.reset), (false, Instant(1060)));
        assert_eq!(call(&limiter, 1060).remaining, 2);
    }

    #[test]
    fn a_call_that_is_given_back_has_cost_nothing() {
        let limiter = Limiter::default();
        call(&limiter, 1000);
        call(&limiter, 1000);
        limiter.take_dirty(Instant(1000));
        limiter.uncount(Class::ApiToken, Subject::id(7), Instant(1001));
        assert_eq!(limiter.take_dirty(Instant(1001))[0].count, 1);
        assert_eq!(call(&limiter, 1001).remaining, 1);
        limiter.uncount(Class::ApiToken, Subject::id(7), Instant(1060));
        assert_eq!(call(&limiter, 1059).remaining, 0, "another window took nothing back");
    }

    #[test]
    fn classes_and_subjects_are_counted_apart() {
        let limiter = Limiter::default();
        let now = Instant(0);
        let one = Limit { count: 1, window_s: 60 };
        assert!(limiter.count(Class::ApiToken, Subject::id(1), one, now).allowed);
        assert!(limiter.count(Class::ApiToken, Subject::id(2), one, now).allowed);
        assert!(limiter.count(Class::PartnerPost, Subject::id(1), one, now).allowed);
        assert!(!limiter.count(Class::ApiToken, Subject::id(1), one, now).allowed);
    }

    #[test]
    fn addresses_count_by_network() {
        let subject = |text: &str| Subject::address(text.parse().unwrap());
        assert_eq!(subject("192.0.2.1"), subject("::ffff:192.0.2.1"));
        assert_ne!(subject("192.0.2.1"), subject("192.0.2.2"));
        assert_eq!(subject("2001:db8::1"), subject("2001:db8::ffff"));
        assert_ne!(subject("2001:db8:0:1::1"), subject("2001:db8:0:2::1"));
    }

    #[test]
    fn a_client_with_many_networks_does_not_have_as_many_windows() {
        let limiter = Limiter::default();
        let ask = |address: String| {
            let address = address.parse().unwrap();
            let peeked =
                limiter.peek_address(Class::ApiAddress, address, THREE_A_MINUTE, Instant(7));
            let counted =
                limiter.count_address(Class::ApiAddress, address, THREE_A_MINUTE, Instant(7));
            assert_eq!(peeked.allowed, counted.allowed);
            counted.allowed
        };
        let allowed = |addresses: &mut dyn Iterator<Item = String>| {
            addresses.filter(|address| ask(address.clone())).count()
        };
        // Of a /64, then of further ones of its /56, then of further /56s.
        assert_eq!(allowed(&mut (0..10).map(|host| format!("2001:db8:1::{host:x}"))), 3);
        assert_eq!(allowed(&mut (0..256).map(|net| format!("2001:db8:1:{net:x}::1"))), 9);
        assert_eq!(allowed(&mut (0..256).map(|net| format!("2001:db8:1:{net:x}00::1"))), 36);
        assert_eq!(allowed(&mut (0..9).map(|_| "2001:db8:2::1".to_owned())), 3);
        // The neighbours of an IPv4 address are other clients.
        assert_eq!(allowed(&mut (0..256).map(|host| format!("192.0.2.{host}"))), 256);
        assert_eq!(allowed(&mut (0..9).map(|_| "::ffff:198.51.100.1".to_owned())), 3);
    }

    #[test]
    fn windows_survive_a_restart() {
        let limiter = Limiter::default();
        call(&limiter, 1000);
        call(&limiter, 1000);
        let stored = limiter.take_dirty(Instant(1001));
        assert_eq!(stored.len(), 1);
        assert!(limiter.take_dirty(Instant(1001)).is_empty());
        let restarted = Limiter::default();
        restarted.load(stored);
        assert_eq!(call(&restarted, 1010).remaining, 0);
    }

    #[test]
    fn memory_is_bounded() {
        let limiter = Limiter::default();
        for id in 0..(2 * SHARDS * SHARD_WINDOWS) {
            let subject = Subject::text(&[&id.to_le_bytes()]);
            limiter.count(Class::ApiToken, subject, THREE_A_MINUTE, Instant(0));
        }
        let kept: usize = limiter.shards.iter().map(|shard| shard.lock().len()).sum();
        let full = SHARDS * (SHARD_WINDOWS - FREED)..=SHARDS * SHARD_WINDOWS;
        assert!(full.contains(&kept), "{kept}");
    }

    #[test]
    fn ended_windows_make_room_and_then_those_that_end_soonest() {
        let mut shard = HashMap::with_hasher(RandomState::default());
        for number in 0..SHARD_WINDOWS {
            let started = Instant(i64::try_from(number).unwrap());
            let subject = Subject::id(started.0);
            let window = Window { started, length_s: 10_000, count: 1, dirty: false };
            shard.insert(key(Class::ApiToken, subject), window);
        }
        let first = |shard: &HashMap<Key, Window, RandomState>| {
            shard.values().map(|window| window.started.0).min()
        };
        make_room(&mut shard, Instant(10_009));
        assert_eq!((shard.len(), first(&shard)), (SHARD_WINDOWS - FREED, Some(64)));
        make_room(&mut shard, Instant(10_099));
        assert_eq!((shard.len(), first(&shard)), (SHARD_WINDOWS - 100, Some(100)));
    }

    proptest! {
        /// A window never allows more than the limit, and a caller that waits
        /// until the named reset is never rejected twice in a row.
        #[test]
        fn callers_who_heed_the_reset_are_served(steps in prop::collection::vec(0_i64..40, 1..200)) {
            let limiter = Limiter::default();
            let mut now = 0;
            let mut served: Vec<i64> = Vec::new();
            for step in steps {
                now += step;
                let verdict = call(&limiter, now);
                if verdict.allowed {
                    served.push(now);
                } else {
                    now = verdict.reset.0;
                    prop_assert!(call(&limiter, now).allowed);
                    served.push(now);
                }
            }
            for window in served.windows(7) {
                // Seven calls in one minute would need more than two windows.
                prop_assert!(window[6] - window[0] >= 60, "{:?}", window);
            }
        }
    }
}
