//! When what pollers follow last changed, to the second, without a gap.
//!
//! A poller sends back the `Last-Modified` it was given and takes 304 as
//! "nothing new". Two changes in one second would fool it if the first was
//! already given out, so a change within a second that was given out is
//! stamped one second later (contract §9).

use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Instant;
use crate::db::{DbError, ReadTx, WriteTx};
use crate::ids::UserId;

const SLOTS: u16 = 4096;

/// What a poller follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Topic {
    Orders = 1,
    Notifications = 2,
}

/// The newest second given out, by owner and topic. Owners share slots, which
/// at worst moves a stamp by a second.
pub struct GivenOut {
    slots: Vec<AtomicI64>,
}

impl Default for GivenOut {
    fn default() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| AtomicI64::new(i64::MIN)).collect(),
        }
    }
}

impl GivenOut {
    fn slot(&self, owner: UserId, topic: Topic) -> &AtomicI64 {
        let index =
            usize::try_from((owner.0 * 2 + topic as i64).rem_euclid(i64::from(SLOTS))).unwrap_or(0);
        &self.slots[index]
    }

    /// Says, before the data is read, that seconds up to `at` may be given out.
    pub fn mark(&self, owner: UserId, topic: Topic, at: Instant) {
        self.slot(owner, topic).fetch_max(at.0, Ordering::SeqCst);
    }

    fn newest(&self, owner: UserId, topic: Topic) -> i64 {
        self.slot(owner, topic).load(Ordering::SeqCst)
    }
}

/// Notes a change now, in the transaction that makes it.
pub fn stamp(
    tx: &WriteTx<'_>,
    given: &GivenOut,
    owner: UserId,
    topic: Topic,
) -> Result<(), DbError> {
    let before = newest(tx, owner, topic)?;
    let now = tx.now();
    let at = match before {
        Some(before) if before < now => now,
        Some(before) if given.newest(owner, topic) >= before.0 => before.plus(1),
        Some(before) => before,
        None => now,
    };
    tx.execute(
        "INSERT INTO owner_change (owner_id, topic, changed_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (owner_id, topic) DO UPDATE SET changed_at = ?3",
        (owner, topic as u8, at.0),
    )?;
    Ok(())
}

/// The newest change, `None` when there never was one.
pub fn newest(tx: &ReadTx<'_>, owner: UserId, topic: Topic) -> Result<Option<Instant>, DbError> {
    tx.optional(
        "SELECT changed_at FROM owner_change WHERE owner_id = ?1 AND topic = ?2",
        (owner, topic as u8),
        |row| row.get(0).map(Instant),
    )
}
