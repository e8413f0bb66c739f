//! The queue in the database.

use super::{Channel, MessageKind, MessageState, NewMessage, QueuedMessage, failed_since};
use crate::base::retention::{MESSAGE_BODIES, MESSAGE_COUNTS};
use crate::base::{Instant, UserId, trace};
use crate::db::{ReadTx, Result, WriteTx};

/// Queues a message for one channel; returns its number, or `None` when its key
/// was used.
pub fn queue(tx: &WriteTx<'_>, new: &NewMessage<'_>, channel: Channel) -> Result<Option<i64>> {
    let run_at = new.run_at.unwrap_or_else(|| tx.now());
    let dies_at = || new.kind.row().life_s.map(|life_s| run_at.plus(life_s));
    tx.insert_new(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, expires_at, request_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (dedup_key) DO NOTHING",
        rusqlite::params![
            channel,
            new.user,
            new.kind,
            new.params.to_string(),
            new.kind.key(new.cause, Some(new.user), Some(channel)),
            MessageState::Waiting,
            tx.now(),
            run_at,
            new.expires_at.or_else(dies_at),
            trace::current().as_deref().unwrap_or_default(),
        ],
    )
}

/// How many messages wait to be sent, and when the oldest of them was queued.
pub fn all_waiting(tx: &ReadTx<'_>) -> Result<(i64, Option<Instant>)> {
    let count = "SELECT coalesce(sum(messages), 0) FROM outbox_count WHERE state = 0";
    let oldest = "SELECT created_at FROM outbox WHERE state = 0 ORDER BY message_id LIMIT 1";
    Ok((tx.value(count, [])?, tx.maybe(oldest, [])?))
}

/// Whether a message of a kind to a person waits in a channel.
pub fn waits(tx: &ReadTx<'_>, user: UserId, channel: Channel, kind: MessageKind) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM outbox
             WHERE user_id = ?1 AND channel = ?2 AND state = 0 AND +kind = ?3)",
        (user, channel, kind),
    )
}

/// Drops every waiting message to a person, with the reason; returns how many.
pub fn drop_waiting(tx: &WriteTx<'_>, user: UserId, reason: &str) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4 WHERE user_id = ?1 AND state = 0",
        (user, MessageState::Dropped, tx.now(), reason),
    )
}

/// Drops a person's waiting messages that carry an earlier link to choose a
/// password; returns how many.
pub fn drop_links(tx: &WriteTx<'_>, user: UserId) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = 'um link mais novo tomou o lugar'
         WHERE user_id = ?1 AND state = 0 AND +kind IN (?4, ?5)",
        (user, MessageState::Dropped, tx.now(), MessageKind::Welcome, MessageKind::PasswordLink),
    )
}

/// Clears the parameters of messages that ended long ago, at most `most` of
/// them; returns how many. The rows and their keys stay until they are
/// archived.
pub fn forget_bodies(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET params = '{}' WHERE message_id IN (
             SELECT message_id FROM outbox WHERE done_at < ?1 AND params <> '{}' LIMIT ?2)",
        (MESSAGE_BODIES.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}

/// Removes old counts, at most `most` rows; returns how many.
pub fn forget_counts(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM outbox_done_count WHERE (quarter, channel, state) IN (
             SELECT quarter, channel, state FROM outbox_done_count WHERE quarter < ?1 LIMIT ?2)",
        (MESSAGE_COUNTS.before(tx.now()).0 / 900, i64::try_from(most).unwrap_or(1)),
    )
}

/// Messages that a request caused, in their order.
pub fn caused_by(tx: &ReadTx<'_>, request_id: &str, most: u32) -> Result<Vec<QueuedMessage>> {
    tx.records(
        "FROM outbox WHERE request_id = ?1 AND request_id <> '' ORDER BY message_id LIMIT ?2",
        (request_id, most),
    )
}

/// How many messages failed in those days, of a channel and a kind or of all.
pub fn failed_lately(tx: &ReadTx<'_>, channel: Option<&str>, kind: Option<&str>) -> Result<i64> {
    tx.value(
        "SELECT count(*) FROM outbox INDEXED BY outbox_failed
         WHERE state = 3 AND done_at >= ?1
             AND (?2 IS NULL OR channel = ?2) AND (?3 IS NULL OR kind = ?3)",
        (failed_since(tx.now()), channel, kind),
    )
}

/// Queues a message again that was given up; false when it was not given up,
/// has expired, or its parameters may have been cleared. A chat number that is not
/// reached gets another chance.
pub fn try_again(tx: &WriteTx<'_>, message: i64) -> Result<bool> {
    let queued = tx.execute(
        "UPDATE outbox SET state = ?5, run_at = ?3, done_at = NULL, outcome = NULL, attempts = 0, lease = NULL,
             receipt = 0, receipt_at = NULL
         WHERE message_id = ?1 AND state = ?2 AND (expires_at IS NULL OR expires_at > ?3)
             AND done_at >= ?4",
        (
            message,
            MessageState::GivenUp,
            tx.now(),
            MESSAGE_BODIES.before(tx.now()),
            MessageState::Waiting,
        ),
    )?;
    tx.run(
        "DELETE FROM chat_unreachable WHERE ?2 AND user_id = (
             SELECT user_id FROM outbox
             WHERE message_id = ?1 AND channel = 'chat' AND params ->> 'number' IS NULL)",
        (message, queued == 1),
    )?;
    Ok(queued == 1)
}

/// Drops one waiting message; false when it does not wait.
pub fn cancel(tx: &WriteTx<'_>, message: i64, reason: &str) -> Result<bool> {
    let dropped = tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4 WHERE message_id = ?1 AND state = 0",
        (message, MessageState::Dropped, tx.now(), reason),
    )?;
    Ok(dropped == 1)
}

/// Drops waiting messages whose keys begin with `beginning`, at most `most` of
/// them; returns how many.
pub fn drop_keyed(tx: &WriteTx<'_>, beginning: &str, reason: &str, most: usize) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?3, done_at = ?4, outcome = ?5 WHERE message_id IN (
             SELECT message_id FROM outbox
             WHERE dedup_key >= ?1 AND dedup_key < ?2 AND +state = 0 LIMIT ?6)",
        (
            beginning,
            format!("{beginning}\u{10ffff}"),
            MessageState::Dropped,
            tx.now(),
            reason,
            i64::try_from(most).unwrap_or(1),
        ),
    )
}
