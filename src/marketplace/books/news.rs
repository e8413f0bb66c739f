//! Notifications that tell the owner of an account what happened at the
//! marketplace.
//!
//! A notification is stored in the transaction of its cause. Each cause is
//! notified once, so reading the same state again sends nothing.

use serde_json::Value;

use crate::accounts::person::Group;
use crate::base::{DAY_S, MlUserId, UserId};
use crate::changes::{self, Topic};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::books::BookWrite;
use crate::messages::{self, NewNotification, NotificationKind, choices};
use crate::outbox::{self, Channel, NewMessage};

/// Something that happened to an account.
pub struct News<'n> {
    pub kind: NotificationKind,
    pub title: &'n str,
    /// The first part of the text; the account's name is added.
    pub about: &'n str,
    pub account: MlUserId,
    /// Such as the order id.
    pub reference: &'n str,
    /// The key that keeps it from being sent twice, such as `venda:2000001`.
    pub cause: &'n str,
}

/// A message that goes with the notification and leaves the platform, such as
/// an e-mail.
pub struct OutboundMessage {
    pub kind: outbox::MessageKind,
    /// Values for the placeholders of its text; the account's name is added as
    /// `store`.
    pub params: Value,
}

/// Notifies the owner, unless the cause was notified before.
pub fn notify((tx, context, owner): BookWrite<'_, '_>, news: &News<'_>) -> Result<()> {
    let store = nickname_of(tx, owner, news.account)?;
    store_notification((tx, context, owner), news, &store)?;
    Ok(())
}

/// The same, with a message by the channels that the owner chose.
pub fn notify_and_send(
    write: BookWrite<'_, '_>,
    news: &News<'_>,
    mut message: OutboundMessage,
) -> Result<()> {
    let (tx, context, owner) = write;
    let store = nickname_of(tx, owner, news.account)?;
    if store_notification((tx, context, owner), news, &store)? && is_let_in(tx, owner)? {
        message.params["store"] = store.into();
        send((tx, context, owner), news, &message)?;
    }
    Ok(())
}

/// Stores the notification; false when the cause was notified before.
fn store_notification(
    (tx, context, owner): BookWrite<'_, '_>,
    news: &News<'_>,
    store: &str,
) -> Result<bool> {
    let notification = NewNotification {
        kind: news.kind,
        title: news.title,
        message: &format!("{} na {store}", news.about),
        ml_user_id: Some(news.account),
        reference: Some(news.reference),
        cause: news.cause,
    };
    let is_new = messages::store::notify(tx, owner, &notification)?;
    if is_new {
        changes::stamp(tx, &context.issued, owner, Topic::Notifications)?;
    }
    Ok(is_new)
}

fn send(
    (tx, context, owner): BookWrite<'_, '_>,
    news: &News<'_>,
    message: &OutboundMessage,
) -> Result<()> {
    for channel in choices::channels_to(tx, context.channel_set, owner, message.kind)? {
        let key = format!("{}{}", key_of(owner, news.cause), channel.name());
        let new = NewMessage {
            channel,
            user: owner,
            kind: message.kind,
            params: message.params.clone(),
            key: &key,
            expires_at: Some(tx.now().plus(DAY_S)),
        };
        outbox::enqueue(tx, &new)?;
    }
    Ok(())
}

/// The beginning of the keys of all messages about a cause.
fn key_of(owner: UserId, cause: &str) -> String {
    format!("{cause}:{owner}:")
}

/// Drops the messages about a cause that were not sent yet, with the reason.
pub fn cancel_messages(tx: &WriteTx<'_>, owner: UserId, cause: &str, reason: &str) -> Result<()> {
    let beginning = key_of(owner, cause);
    outbox::drop_keyed(tx, &beginning, reason, Channel::ALL.len())?;
    Ok(())
}

/// Whether a person can open the panel page that the message links to. The
/// panel is also where such messages can be turned off.
fn is_let_in(tx: &ReadTx<'_>, user: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM user
             WHERE user_id = ?1 AND kind = ?2 AND suspended_at IS NULL)",
        (user, Group::Students),
    )
}

/// The name of an account, or its number.
fn nickname_of(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<String> {
    let nickname = tx.maybe::<String>(
        "SELECT nickname FROM ml_account WHERE ml_user_id = ?1 AND owner_id = ?2",
        (account, owner),
    )?;
    Ok(nickname.unwrap_or_else(|| account.to_string()))
}
