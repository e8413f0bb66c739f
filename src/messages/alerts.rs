//! Alerts to administrators: a notification in the panel, and messages by the
//! channels that each administrator uses.

use serde_json::json;

use super::choices::{self, ChannelSet};
use super::{NewNotification, NotificationKind, store};
use crate::base::{DAY_S, UserId};
use crate::db::{Result, WriteTx};
use crate::outbox::{self, Channel, NewMessage};

/// Something that needs an administrator.
pub struct Alert<'a> {
    /// What happened, without a full stop.
    pub title: &'a str,
    /// More about it, in whole sentences.
    pub detail: &'a str,
    /// Path of the page that shows it, such as `/admin/cron`.
    pub page: &'a str,
    /// Deduplication key, such as `cron:arquivamento:1795183200`: each cause
    /// alerts once.
    pub cause: &'a str,
    /// A channel to skip, because the alert says that it does not work.
    pub without: Option<Channel>,
}

/// Notifies all administrators, once for each cause.
pub fn tell(tx: &WriteTx<'_>, channel_set: ChannelSet, alert: &Alert<'_>) -> Result<()> {
    let administrators: Vec<UserId> =
        tx.values("SELECT user_id FROM user WHERE role = 'admin' AND suspended_at IS NULL", [])?;
    for administrator in administrators {
        let told = NewNotification {
            kind: NotificationKind::Sistema,
            title: alert.title,
            message: alert.detail,
            ml_user_id: None,
            reference: Some(alert.page),
            cause: alert.cause,
        };
        if store::notify(tx, administrator, &told)? {
            send(tx, channel_set, administrator, alert)?;
        }
    }
    Ok(())
}

fn send(tx: &WriteTx<'_>, channel_set: ChannelSet, user: UserId, alert: &Alert<'_>) -> Result<()> {
    let kind = outbox::MessageKind::Alert;
    let channels = choices::channels_to(tx, channel_set, user, kind)?;
    for channel in channels {
        if alert.without == Some(channel) {
            continue;
        }
        let key = format!("{}:{}:{user}:{}", kind.name(), alert.cause, channel.name());
        let new = NewMessage {
            channel,
            user,
            kind,
            params: json!({ "title": alert.title, "detail": alert.detail, "page": alert.page }),
            key: &key,
            expires_at: Some(tx.now().plus(DAY_S)),
        };
        outbox::enqueue(tx, &new)?;
    }
    Ok(())
}
