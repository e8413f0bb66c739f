//! Messages that leave the platform, queued in the transaction that causes
//! them.
//!
//! Cause and message are stored together or not at all. The key of a message
//! makes a repeated cause send nothing twice. Texts are filled in and addresses
//! looked up when a message is sent.

pub mod kind;
mod notice;

pub use kind::MessageKind;
pub use notice::NotificationKind;

use serde_json::Value;

use crate::base::retention::{MESSAGE_BODIES, MESSAGE_COUNTS};
use crate::base::{DAY_S, Instant, UserId, trace};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

crate::named! {
    /// Channels by which messages leave the platform.
    pub enum Channel: text {
        Chat = "chat", "Chat";
        Email = "email", "E-mail";
        Telegram = "telegram", "Telegram";
        Push = "push", "Navegador";
    }
}

crate::named! {
    /// State of a message. Partial indexes cover those that wait and those that failed, so
    /// SQL says `state = 0` and `state = 3`.
    pub enum MessageState: number {
        Waiting = 0, "pendente", "Pendentes";
        Sent = 1, "enviada", "Enviadas";
        Dropped = 2, "descartada", "Descartadas";
        GivenUp = 3, "falhou", "Falharam";
    }
}

/// A message to be queued.
pub struct NewMessage<'m> {
    pub user: UserId,
    pub kind: MessageKind,
    /// What it is sent for, once: its kind makes the deduplication key of it.
    pub cause: &'m str,
    /// Parameters of its text; never a secret.
    pub params: Value,
    /// Not sent before this.
    pub run_at: Option<Instant>,
    /// Not sent after this; `None` for what its kind says.
    pub expires_at: Option<Instant>,
}

/// Queues a message for each channel, unless its key was used. Returns the
/// channels by which it is new.
pub fn send(
    tx: &WriteTx<'_>,
    new: &NewMessage<'_>,
    channels: impl IntoIterator<Item = Channel>,
) -> Result<Vec<Channel>> {
    let mut queued = Vec::new();
    for channel in channels {
        if queue(tx, new, channel)?.is_some() {
            queued.push(channel);
        }
    }
    Ok(queued)
}

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

row! {
    /// A message as staff sees it.
    pub struct QueuedMessage {
        pub id: i64 = "message_id",
        pub channel: String,
        pub kind: String,
        pub state: MessageState,
        pub created_at: Instant,
        /// Why it waits or how it ended.
        pub outcome: Option<String>,
    }
}

impl QueuedMessage {
    /// What it is about, in words.
    pub fn title(&self) -> &str {
        kind_words(&self.kind)
    }

    /// Its channel, in words.
    pub fn channel_words(&self) -> &str {
        channel_words(&self.channel)
    }
}

/// The label of a kind of message; the stored name when this version does not
/// know it.
pub fn kind_words(kind: &str) -> &str {
    MessageKind::from_name(kind).map_or(kind, |known| known.words())
}

/// The label of a channel; the stored name when this version does not know it.
pub fn channel_words(channel: &str) -> &str {
    Channel::from_name(channel).map_or(channel, |known| known.words())
}

/// Messages that a request caused, in their order.
pub fn caused_by(tx: &ReadTx<'_>, request_id: &str, most: u32) -> Result<Vec<QueuedMessage>> {
    tx.records(
        "FROM outbox WHERE request_id = ?1 AND request_id <> '' ORDER BY message_id LIMIT ?2",
        (request_id, most),
    )
}

/// Days over which failed messages are counted for operators: in the menu, on their home,
/// and in the list that both lead to.
const FAILED_DAYS: i64 = 7;

/// When those days begin.
pub const fn failed_since(now: Instant) -> Instant {
    now.minus(FAILED_DAYS * DAY_S)
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
/// has expired, or its parameters may have been cleared.
pub fn try_again(tx: &WriteTx<'_>, message: i64) -> Result<bool> {
    let queued = tx.execute(
        "UPDATE outbox SET state = ?5, run_at = ?3, done_at = NULL, outcome = NULL, attempts = 0, lease = NULL
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
