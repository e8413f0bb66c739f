//! Notifications that wait, in the database: which are due, and what came of a try.

use super::state::NotificationState;
use crate::base::queue::INBOX;
use crate::base::{Instant, MlUserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::kinds::OutcomeCode;
use crate::row;

/// [`NotificationState::Waiting`] in SQL, as a literal because a partial index
/// needs that.
pub const WAITS: &str = "state = 0";

/// Notifications taken at a time.
const TAKEN: i64 = 50;

/// Sellers that the other workers may have taken.
const MOST_TAKEN: usize = INBOX.workers - 1;

row! {
    /// A waiting notification.
    #[derive(Clone)]
    pub struct Waiting {
        pub id: i64 = "notification_id",
        pub topic: String,
        pub resource: String,
        pub attempts: i64,
        pub received_at: Instant,
        /// The outcome of the last try.
        pub outcome: Option<String>,
    }
}

/// The seller of the notification that has waited longest, of those not taken.
pub fn longest_waiting(
    tx: &ReadTx<'_>,
    now: Instant,
    taken: &mut dyn Iterator<Item = MlUserId>,
) -> Result<Option<MlUserId>> {
    let mut others = [MlUserId(-1); MOST_TAKEN];
    for (place, seller) in others.iter_mut().zip(taken) {
        *place = seller;
    }
    let [first, second, third] = others;
    let sql = format!(
        "SELECT ml_user_id FROM ml_notification
         WHERE {WAITS} AND next_try_at <= ?1 AND ml_user_id NOT IN (?2, ?3, ?4)
         ORDER BY next_try_at, notification_id
         LIMIT 1"
    );
    tx.maybe(&sql, (now, first, second, third))
}

pub fn waiting_of(tx: &ReadTx<'_>, now: Instant, seller: MlUserId) -> Result<Vec<Waiting>> {
    let rest = format!(
        "FROM ml_notification
         WHERE {WAITS} AND next_try_at <= ?1 AND ml_user_id = ?2
         ORDER BY next_try_at, notification_id
         LIMIT ?3"
    );
    tx.records(&rest, (now, seller, TAKEN))
}

pub fn close(
    tx: &WriteTx<'_>,
    rows: &[Waiting],
    state: NotificationState,
    outcome: OutcomeCode,
) -> Result<()> {
    for row in rows {
        tx.execute(
            "UPDATE ml_notification SET state = ?2, attempts = attempts + 1, outcome = ?3
             WHERE notification_id = ?1 AND state = ?4",
            (row.id, state, outcome.stored, NotificationState::Waiting),
        )?;
    }
    Ok(())
}

/// Stores the end of a try that failed.
pub fn retry(
    tx: &WriteTx<'_>,
    row: &Waiting,
    state: NotificationState,
    next: Instant,
    error: &str,
) -> Result<()> {
    tx.run(
        "UPDATE ml_notification SET state = ?2, attempts = ?3, next_try_at = ?4, outcome = ?5
         WHERE notification_id = ?1 AND state = ?6",
        (row.id, state, row.attempts + 1, next, error, NotificationState::Waiting),
    )
}

/// Has a notification wait until then, without a try.
pub fn postpone(tx: &WriteTx<'_>, row: &Waiting, next: Instant) -> Result<()> {
    tx.run(
        "UPDATE ml_notification SET next_try_at = ?2 WHERE notification_id = ?1 AND state = ?3",
        (row.id, next, NotificationState::Waiting),
    )
}
