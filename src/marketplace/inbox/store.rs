//! Stores notifications: received ones, missed ones, and those that we make
//! ourselves of records that a list left unreadable.

use bytes::Bytes;
use serde_json::Value;

use super::WAITS;
use super::notification::Notification;
use super::outcome::InboxOutcome;
use super::state::NotificationState;
use crate::base::MlUserId;
use crate::base::ids::short_digest;
use crate::db::{Result, WriteTx};
use crate::marketplace::account::store::owner_of;
use crate::marketplace::kinds::{COUNTED_TOPICS, RecordKind};

/// Stores a notification that was not seen before; returns its state.
pub fn store(
    tx: &WriteTx<'_>,
    notification: &Notification,
    body: &Bytes,
    delivery_key: Option<&[u8; 16]>,
) -> Result<Option<NotificationState>> {
    let ignored = |why: InboxOutcome| (NotificationState::Ignored, Some(why.name()));
    let (state, outcome) = match owner_of(tx, notification.account)? {
        None => ignored(InboxOutcome::NotLinked),
        Some(_) if RecordKind::of_topic(&notification.topic).is_none() => {
            ignored(InboxOutcome::OtherTopic)
        }
        Some(_) => (NotificationState::Waiting, None),
    };
    let stored = insert(tx, notification, body, delivery_key, (state, outcome))?;
    Ok(stored.then_some(state))
}

/// Adds a notification; false when the same one is there already.
fn insert(
    tx: &WriteTx<'_>,
    notification: &Notification,
    body: &[u8],
    delivery_key: Option<&[u8; 16]>,
    (state, outcome): (NotificationState, Option<&str>),
) -> Result<bool> {
    let Notification { resource, topic, account, event_key, .. } = notification;
    let is_counted = COUNTED_TOPICS.iter().any(|(counted, _)| counted == topic);
    let stored = tx.execute(
        "INSERT INTO ml_notification
             (received_at, topic, resource, ml_user_id, body, delivery_key, event_key, state,
              next_try_at, outcome, counted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?1, ?9, ?10)
         ON CONFLICT DO NOTHING",
        (
            tx.now(),
            topic,
            resource,
            account,
            body,
            delivery_key,
            event_key.as_ref(),
            state,
            outcome,
            is_counted,
        ),
    )?;
    Ok(stored > 0)
}

/// Stores a notification from the marketplace's list of undelivered ones; true
/// when it is to be processed.
pub fn store_missed(tx: &WriteTx<'_>, message: &Value) -> Result<bool> {
    let body = Bytes::from(message.to_string());
    let Ok(notification) = Notification::parse(&body) else {
        tracing::warn!("a missed notification that cannot be read was passed over");
        return Ok(false);
    };
    // The list repeats it for two days. A key from the body detects the
    // repetition, also when the body has no time of sending.
    let key = short_digest(&[b"missed", &body]);
    Ok(store(tx, &notification, &body, Some(&key))? == Some(NotificationState::Waiting))
}

/// Unreadable records are added only while fewer notifications of the account
/// wait.
const MOST_WAITING: i64 = 200;

/// Queues a record that could not be read in a list, as if a notification had
/// announced it, so that it is fetched alone. At most once an hour, and not
/// when so many wait that the marketplace must have changed something.
pub fn store_unreadable(
    tx: &WriteTx<'_>,
    account: MlUserId,
    kind: RecordKind,
    id: i64,
) -> Result<bool> {
    let (topic, resource) = kind.announcement(id);
    let waiting: i64 = tx.value(
        &format!(
            "SELECT count(*) FROM (
                 SELECT 1 FROM ml_notification WHERE {WAITS} AND ml_user_id = ?1 LIMIT ?2)"
        ),
        (account, MOST_WAITING),
    )?;
    if waiting >= MOST_WAITING {
        return Ok(false);
    }
    let body = serde_json::json!({
        "resource": resource, "topic": topic, "user_id": account.0,
        "reason": "it came in a list and made no sense there",
    });
    let hour = tx.now().0.div_euclid(3600);
    let key = short_digest(&[b"odd", resource.as_bytes(), &hour.to_le_bytes()]);
    let notification = Notification {
        resource,
        topic: topic.to_owned(),
        account,
        application: None,
        event_key: None,
    };
    let waits = (NotificationState::Waiting, None);
    insert(tx, &notification, body.to_string().as_bytes(), Some(&key), waits)
}
