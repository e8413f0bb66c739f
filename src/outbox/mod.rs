//! Messages that leave the platform, queued in the transaction that causes
//! them.
//!
//! Cause and message are stored together or not at all. The key of a message
//! makes a repeated cause send nothing twice. Texts are filled in and addresses
//! looked up when a message is sent.

pub mod kind;
mod notice;
mod store;
pub mod unreachable;

pub use kind::MessageKind;
pub use notice::NotificationKind;
pub use store::{
    all_waiting, cancel, caused_by, drop_keyed, drop_links, drop_waiting, failed_lately,
    forget_bodies, forget_counts, queue, try_again, waits,
};

use serde_json::Value;

use crate::base::{DAY_S, Instant, UserId};
use crate::db::{Result, WriteTx};
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

crate::named! {
    /// What the provider told of a message after it had taken it, from the least to the most.
    #[derive(PartialOrd, Ord)]
    pub enum Receipt: number {
        Nothing = 0, "", "";
        /// It left the provider.
        SentOn = 1, "enviada", "Enviada";
        Delivered = 2, "entregue", "Entregue";
        Read = 3, "lida", "Lida";
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

/// Days over which failed messages are counted for operators: in the menu, on their home,
/// and in the list that both lead to.
const FAILED_DAYS: i64 = 7;

/// When those days begin.
pub const fn failed_since(now: Instant) -> Instant {
    now.minus(FAILED_DAYS * DAY_S)
}
