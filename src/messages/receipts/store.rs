//! Messages as the official API tells of them.

use super::status::Status;
use crate::base::{Instant, UserId, shortened};
use crate::db::{ReadTx, Result, WriteTx};
use crate::outbox::{MessageState, Receipt};
use crate::row;

/// Longest reason that is noted.
const LONGEST_REASON: usize = 300;

row! {
    /// A message that something is told of.
    #[derive(Clone, Debug)]
    pub struct Sent {
        pub id: i64 = "o.message_id",
        pub user: UserId = "o.user_id",
        pub state: MessageState = "o.state",
        /// The API's id for the try that it took last.
        pub provider: Option<String> = "o.provider",
        pub receipt: Receipt = "o.receipt",
        /// When the API took it, or it ended otherwise.
        pub taken_at: Option<Instant> = "o.done_at",
        /// Tries so far.
        pub attempts: i64 = "o.attempts",
        /// Whether a try is under way, whose answer is not stored yet.
        pub is_under_way: bool = "o.lease IS NOT NULL",
        /// The person's present number.
        pub number: Option<String> = "u.chat_number",
        /// Whether it went to a number of its own instead, such as a test has.
        pub has_own_number: bool = "o.params ->> 'number' IS NOT NULL",
    }
}

/// The message that a status is about.
pub fn find(tx: &ReadTx<'_>, status: &Status) -> Result<Option<Sent>> {
    const TABLES: &str = "FROM outbox o JOIN user u ON u.user_id = o.user_id";
    if let Some(tracking) = &status.tracking {
        let sql = format!(
            "{TABLES} WHERE o.message_id = ?1 AND o.global_id = ?2 AND +o.channel = 'chat'"
        );
        let found = tx.record(&sql, (tracking.message, &tracking.global_id))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    let sql = format!("{TABLES} WHERE o.provider = ?1 AND o.channel = 'chat' LIMIT 1");
    tx.record(&sql, [&status.id])
}

/// Stores how far a message came.
pub fn arrived(tx: &WriteTx<'_>, message: i64, receipt: Receipt, at: Instant) -> Result<()> {
    tx.run(
        "UPDATE outbox SET receipt = ?2, receipt_at = ?3 WHERE message_id = ?1",
        (message, receipt, at),
    )
}

/// A message counts as sent from now on, under this id of the API's, whatever it counted as
/// before.
pub fn was_sent(tx: &WriteTx<'_>, message: i64, provider: &str) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = ?2, done_at = ?3, provider = ?4, outcome = NULL, lease = NULL
         WHERE message_id = ?1",
        (message, MessageState::Sent, tx.now(), provider),
    )
}

/// A message, and the API's id for the try that failed after it was taken. It is noted, so
/// that the same failure, told again, is not that of the next try.
type FailedTry<'t> = (i64, &'t str);

/// A try failed, and the message is given up, with the reason.
pub fn give_up(tx: &WriteTx<'_>, (message, provider): FailedTry<'_>, error: &str) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4, lease = NULL, provider = ?5,
             receipt = 0, receipt_at = NULL
         WHERE message_id = ?1",
        (message, MessageState::GivenUp, tx.now(), shortened(error, LONGEST_REASON), provider),
    )
}

/// A try failed, and the message waits for `pause_s` seconds and goes again. Unless it
/// `is_try`, no try is counted.
pub fn put_back(
    tx: &WriteTx<'_>,
    (message, provider): FailedTry<'_>,
    error: &str,
    pause_s: i64,
    is_try: bool,
) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = ?2, done_at = NULL, run_at = ?3, outcome = ?4, lease = NULL,
             attempts = max(attempts - ?5, 0), provider = ?6, receipt = 0, receipt_at = NULL
         WHERE message_id = ?1",
        (
            message,
            MessageState::Waiting,
            tx.now().plus(pause_s),
            shortened(error, LONGEST_REASON),
            i64::from(!is_try),
            provider,
        ),
    )
}
