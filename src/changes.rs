//! The second in which data that pollers follow last changed, so that a poller
//! misses no change.
//!
//! A poller sends back the `Last-Modified` that it received and takes 304 as
//! "nothing new". It would miss a second change in the same second if that
//! second was sent out after the first change. So a change in a second that
//! was sent out already is stamped one second later.
//!
//! A change is stamped before it is committed, and a read may happen in
//! between. So a reader first records which second it may send out
//! ([`IssuedSeconds::mark`]), and learns whether a stamped change is not committed
//! yet. Whichever of the two comes second sees the other. Decision http-24.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::base::cache::Cache;
use crate::base::{Instant, UserId};
use crate::db::{DbError, ReadTx, WriteTx};

const SLOTS: u16 = 4096;

/// What pollers follow, in the database: the orders.
const ORDERS: u8 = 1;

/// The newest second that was sent out, by owner. Several owners may share a
/// slot; at worst that moves a stamp by a second.
pub struct IssuedSeconds {
    slots: Vec<Slot>,
    tickets: AtomicU64,
}

struct Slot {
    newest: AtomicI64,
    /// Ticket of the newest change that is stamped and not committed; 0 for
    /// none. One that was rolled back stays until the next change.
    under_way: AtomicU64,
}

impl Default for IssuedSeconds {
    fn default() -> Self {
        Self {
            slots: (0..SLOTS)
                .map(|_| Slot { newest: AtomicI64::new(i64::MIN), under_way: AtomicU64::new(0) })
                .collect(),
            tickets: AtomicU64::new(0),
        }
    }
}

impl IssuedSeconds {
    fn slot(&self, owner: UserId) -> &Slot {
        let index = usize::try_from(owner.0.rem_euclid(i64::from(SLOTS))).unwrap_or(0);
        &self.slots[index]
    }

    /// Records, before the data is read, that seconds up to `at` may be sent
    /// out. Returns true when a change that is already stamped may be missing
    /// from the read: then send out the second before the newest change.
    pub fn mark(&self, owner: UserId, at: Instant) -> bool {
        let slot = self.slot(owner);
        slot.newest.fetch_max(at.0, Ordering::SeqCst);
        slot.under_way.load(Ordering::SeqCst) != 0
    }

    /// Records at the start that an earlier run may have sent out seconds up to
    /// `at` for any owner.
    pub fn mark_all(&self, at: Instant) {
        for slot in &self.slots {
            slot.newest.fetch_max(at.0, Ordering::SeqCst);
        }
    }

    fn newest(&self, owner: UserId) -> i64 {
        self.slot(owner).newest.load(Ordering::SeqCst)
    }

    /// Notes that a change is about to be stamped; ended by the same ticket.
    fn begin(&self, owner: UserId) -> u64 {
        let ticket = self.tickets.fetch_add(1, Ordering::SeqCst) + 1;
        let slot = self.slot(owner);
        slot.under_way.store(ticket, Ordering::SeqCst);
        ticket
    }

    fn end(&self, owner: UserId, ticket: u64) {
        let slot = self.slot(owner);
        // A later change of the same batch is ended by its own ticket.
        let _ = slot.under_way.compare_exchange(ticket, 0, Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// When data of a person last changed, for data that has a version in memory.
///
/// No stamp is stored: a version that was not sent out yet gets the present second,
/// or the one after the last that was sent out. A start counts as a change.
pub struct LastChanges {
    cache: Mutex<Cache<UserId, Instant>>,
}

/// Size of the cache in bytes, and that of one entry.
const LAST_CHANGES_BYTES: usize = 1024 * 1024;
const LAST_CHANGE_BYTES: usize = 64;

impl Default for LastChanges {
    fn default() -> Self {
        Self { cache: Mutex::new(Cache::new(LAST_CHANGES_BYTES)) }
    }
}

impl LastChanges {
    /// The time of a version. The caller reads the version before the data.
    pub fn at(&self, owner: UserId, version: u64, now: Instant) -> Instant {
        let kept = self.cache.lock();
        let stamp = match kept.get(&owner) {
            Some((known, stamp)) if version <= known => return stamp,
            Some((_, stamp)) => now.max(stamp.plus(1)),
            None => now,
        };
        kept.put(owner, version, stamp, LAST_CHANGE_BYTES);
        stamp
    }
}

/// Notes a change now, in the transaction that makes it.
pub fn stamp(tx: &WriteTx<'_>, issued: &Arc<IssuedSeconds>, owner: UserId) -> Result<(), DbError> {
    let ticket = issued.begin(owner);
    let ending = Arc::clone(issued);
    tx.after_commit(move || ending.end(owner, ticket));
    let before = newest(tx, owner)?;
    let now = tx.now();
    let at = match before {
        Some(before) if before < now => now,
        Some(before) if issued.newest(owner) >= before.0 => before.plus(1),
        Some(before) => before,
        None => now,
    };
    tx.run(
        "INSERT INTO owner_change (owner_id, topic, changed_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (owner_id, topic) DO UPDATE SET changed_at = ?3",
        (owner, ORDERS, at.0),
    )
}

/// The newest change, `None` when there never was one.
pub fn newest(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<Instant>, DbError> {
    tx.optional(
        "SELECT changed_at FROM owner_change WHERE owner_id = ?1 AND topic = ?2",
        (owner, ORDERS),
        |row| row.get(0).map(Instant),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_nobody_was_told_of_is_newer_than_any_second_given_out() {
        let changes = LastChanges::default();
        let (ana, rui) = (UserId(1), UserId(2));
        assert_eq!(changes.at(ana, 1, Instant(10)), Instant(10));
        assert_eq!(changes.at(ana, 1, Instant(20)), Instant(10), "nothing changed");
        assert_eq!(changes.at(ana, 2, Instant(20)), Instant(20));
        assert_eq!(changes.at(ana, 3, Instant(20)), Instant(21), "in the same second");
        assert_eq!(changes.at(ana, 2, Instant(30)), Instant(21), "looked before the others");
        assert_eq!(changes.at(ana, 4, Instant(15)), Instant(22), "the clock was set back");
        assert_eq!(changes.at(rui, 1, Instant(12)), Instant(12));
    }
}
