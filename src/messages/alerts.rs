//! Alerts to administrators: a notification in the panel, and messages by the
//! channels that each administrator uses.

use serde_json::json;

use super::News;
use super::choices::ChannelSet;
use crate::accounts::store::administrators;
use crate::db::{Result, WriteTx};
use crate::outbox::{Channel, MessageKind};

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
    for administrator in administrators(tx, u32::MAX)? {
        let news = News {
            title: alert.title,
            text: alert.detail,
            reference: Some(alert.page),
            params: json!({ "title": alert.title, "detail": alert.detail }),
            without: alert.without,
            ..News::message(MessageKind::Alert, channel_set, alert.cause)
        };
        super::tell(tx, administrator, news)?;
    }
    Ok(())
}
