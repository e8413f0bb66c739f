//! Addresses with a recent successful login of any person.
//!
//! The database has them by person. Here they are in memory and not tied to a
//! person, because they are needed before the body of a request is read.
//! Decisions accounts-5, accounts-6.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::store;
use crate::base::{Instant, UserId};
use crate::db::{Db, Lane, Result, WriteTx};
use crate::http::limit::Subject;

/// How long an address is known after a successful login.
pub const KNOWN_FOR_S: i64 = 30 * 86_400;
/// Most addresses that are kept; a new one replaces the one that was unused for
/// longest.
const MOST: usize = 20_000;

/// The addresses, each with its last successful login.
#[derive(Default)]
pub struct KnownAddresses {
    last: Mutex<HashMap<Subject, Instant>>,
}

impl KnownAddresses {
    /// Whether anybody has signed in from an address in the last 30 days.
    pub fn holds(&self, address: IpAddr, now: Instant) -> bool {
        let last = self.last.lock().get(&Subject::address(address)).copied();
        last.is_some_and(|last| now.since(last) < KNOWN_FOR_S)
    }

    /// Stores a successful login of a person, and remembers its address after
    /// the commit.
    pub fn note(self: &Arc<Self>, tx: &WriteTx<'_>, user: UserId, address: IpAddr) -> Result<()> {
        let (now, known) = (tx.now(), Arc::clone(self));
        store::note_good_login(tx, user, &remembered_address(address), now.minus(KNOWN_FOR_S))?;
        tx.after_commit(move || known.remember(Subject::address(address), now));
        Ok(())
    }

    /// Loads the addresses from the database, at the start.
    pub fn load(&self, db: &Db, now: Instant) -> Result<()> {
        let stored = db.read(Lane::Slow, |tx| {
            store::good_addresses(tx, now.minus(KNOWN_FOR_S), i64::try_from(MOST).unwrap_or(0))
        })?;
        // The database has an address once per person; the newest login counts.
        for (address, last) in stored.into_iter().rev() {
            // IPv6 is stored by its /64.
            if let Ok(address) = address.trim_end_matches("/64").parse() {
                self.remember(Subject::address(address), last);
            }
        }
        Ok(())
    }

    fn remember(&self, address: Subject, at: Instant) {
        let mut last = self.last.lock();
        if last.len() >= MOST
            && !last.contains_key(&address)
            && let Some(oldest) = last.iter().min_by_key(|(_, at)| **at).map(|(one, _)| *one)
        {
            last.remove(&oldest);
        }
        last.insert(address, at);
    }
}

/// The form in which addresses of successful logins are stored; IPv6 by its
/// /64.
pub fn remembered_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_addresses_are_kept_for_thirty_days() {
        let known = KnownAddresses::default();
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        for number in 0..u32::try_from(MOST).unwrap() + 5 {
            known.remember(Subject::address(address(number)), Instant(i64::from(number)));
        }
        assert_eq!(known.last.lock().len(), MOST);
        let now = Instant(i64::try_from(MOST).unwrap());
        assert!(!known.holds(address(4), now));
        assert!(known.holds(address(5), now));
        assert!(!known.holds(address(5), now.plus(KNOWN_FOR_S)));
    }

    #[test]
    fn what_is_stored_reads_back() {
        let customer: IpAddr = "2001:db8:0:7::1".parse().unwrap();
        let stored = remembered_address(customer);
        assert_eq!(stored, "2001:db8:0:7::/64");
        let back: IpAddr = stored.trim_end_matches("/64").parse().unwrap();
        assert_eq!(Subject::address(back), Subject::address(customer));
    }
}
