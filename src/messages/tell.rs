//! Telling a person something, in the transaction of its cause: a notice inside
//! the platform, once for each cause, and with it a message by the channels that
//! the person chose.
//!
//! The row of its kind (`outbox/kind.rs`) says which notice that is, how many
//! channels carry the message, until when, under which key, and which page it
//! opens. Messages about a person's access do not ask what the person chose:
//! they are queued by `outbox::send`.

use serde_json::Value;

use super::choices::{self, ChannelSet};
use super::store;
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{Result, WriteTx};
use crate::outbox::{self, Channel, MessageKind, NewMessage, NotificationKind};

/// What a person is told.
pub struct News<'n> {
    /// Made by [`News::notice`] or [`News::message`].
    pub kind: NewsKind,
    /// Deduplication key, such as `venda:2000001`: each cause is told once.
    pub cause: &'n str,
    /// Title and text of the notice.
    pub title: &'n str,
    pub text: &'n str,
    /// The marketplace account it is about.
    pub account: Option<MlUserId>,
    /// What the notice refers to, such as the order id, or the path of its page.
    pub reference: Option<&'n str>,
    /// Values for the placeholders of the message.
    pub params: Value,
    /// The message does not leave before, and not after.
    pub run_at: Option<Instant>,
    pub expires_at: Option<Instant>,
    /// A channel to skip.
    pub without: Option<Channel>,
    /// The channels to choose from; `None` for all.
    pub among: Option<ChannelSet>,
}

/// How a person is told.
#[derive(Clone, Copy)]
pub enum NewsKind {
    /// A notice alone.
    Notice(NotificationKind),
    /// What the row of the kind says, with the configured channels.
    Message(MessageKind, ChannelSet),
}

impl<'n> News<'n> {
    /// A notice inside the platform, without a message.
    pub const fn notice(kind: NotificationKind, cause: &'n str) -> Self {
        Self::of(NewsKind::Notice(kind), cause)
    }

    /// A message, with the notice of its kind; `channels` are those configured.
    pub const fn message(kind: MessageKind, channels: ChannelSet, cause: &'n str) -> Self {
        Self::of(NewsKind::Message(kind, channels), cause)
    }

    const fn of(kind: NewsKind, cause: &'n str) -> Self {
        Self {
            kind,
            cause,
            title: "",
            text: "",
            account: None,
            reference: None,
            params: Value::Null,
            run_at: None,
            expires_at: None,
            without: None,
            among: None,
        }
    }
}

/// Tells a person something, unless its cause was told before. Returns the
/// channels by which a message was queued.
pub fn tell(tx: &WriteTx<'_>, person: UserId, mut news: News<'_>) -> Result<Vec<Channel>> {
    let notice = match news.kind {
        NewsKind::Notice(kind) => Some(kind),
        NewsKind::Message(kind, _) => kind.row().notice,
    };
    if let Some(notice) = notice {
        if !store::notify(tx, person, notice, &news)? {
            return Ok(Vec::new());
        }
        let page = notice.page(news.reference.unwrap_or_default(), news.account.is_some());
        if !page.is_empty() {
            news.params["page"] = page.into();
        }
    }
    let NewsKind::Message(kind, configured) = news.kind else { return Ok(Vec::new()) };
    let most = if kind.row().by_first_channel { 1 } else { Channel::ALL.len() };
    let channels = choices::channels_among(tx, configured, person, kind, news.among)?.into_iter();
    let channels = channels.filter(|channel| news.without != Some(*channel)).take(most);
    let News { cause, params, run_at, expires_at, .. } = news;
    let message = NewMessage { user: person, kind, cause, params, run_at, expires_at };
    outbox::send(tx, &message, channels)
}
