//! `POST /ml/notificacoes`: the marketplace says that something changed.
//!
//! A notification is verified, stored and answered, and processed afterwards
//! (`mod.rs`). The body is not signed and never trusted: it only says what to
//! fetch. The signature covers the last segment of the resource, so a captured
//! signature cannot be used for another resource. A repeated notification gets
//! the same answer and is stored once. Decisions marketplace-1, marketplace-2.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::notification::Notification;
use super::outcome::InboxOutcome;
use super::signature::Signed;
use crate::app::App;
use crate::base::MlUserId;
use crate::base::ids::short_digest;
use crate::config::SignatureMode;
use crate::db::{Result, WriteTx};
use crate::edge::route::Job;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::identity::Claim;
use crate::identity::guard;
use crate::marketplace::account::store::owner_of;
use crate::marketplace::inbox::WAITS;
use crate::marketplace::kinds::RecordKind;
use crate::named;
use crate::services::Services;

/// The answer to every accepted notification.
const RECEIVED: Bytes = Bytes::from_static(
    br#"{"success":true,"message":"notification received","data":{"status":"received"}}"#,
);

named! {
    /// The state of a stored notification.
    pub enum NotificationState: number {
        Waiting = 0, "pendente", "Pendentes";
        Done = 1, "processada", "Processadas";
        Ignored = 2, "ignorada", "Ignoradas";
        Failed = 3, "falhou", "Falharam";
        /// Of a topic without a handler, kept by an older version.
        Kept = 4, "guardada", "Guardadas";
    }
}

/// The first state of a notification about a topic, when its account is linked.
fn state_of(topic: &str) -> (NotificationState, Option<&'static str>) {
    match RecordKind::of_topic(topic) {
        Some(_) => (NotificationState::Waiting, None),
        None => (NotificationState::Ignored, Some(InboxOutcome::OtherTopic.name())),
    }
}

/// What may stand in the address.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the schema: the query is compared as it stands")]
pub struct NotificationQuery {
    /// Last segment of the resource, which it must equal; else the signature
    /// counts as wrong.
    #[schemars(rename = "data.id")]
    data_id: Option<String>,
}

/// The notification is stored.
// Its bytes are `RECEIVED`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NotificationReceived")]
pub struct Received {
    success: bool,
    message: &'static str,
    data: ReceivedData,
}

#[derive(Serialize, JsonSchema)]
struct ReceivedData {
    /// `received`.
    status: &'static str,
}

/// Verifies a notification and returns the job that stores it.
pub fn receive(app: &App, claim: &Claim, request: &Request) -> std::result::Result<Job, Problem> {
    let notification = Notification::parse(&request.body)?;
    if !is_genuine(app, claim, request, &notification)? {
        return Err(guard::signature_refused(app, request));
    }
    let delivery_key = claim
        .request_id
        .as_ref()
        .map(|id| short_digest(&[id.as_bytes(), notification.resource.as_bytes()]));
    let (bell, body) = (app.marketplace.bell.clone(), request.body.clone());
    Ok(Box::new(move |tx| {
        if store(tx, &notification, &body, delivery_key.as_ref())?
            == Some(NotificationState::Waiting)
        {
            tx.after_commit(move || bell.ring());
        }
        Ok(Reply::of(media::JSON, RECEIVED))
    }))
}

fn is_genuine(
    app: &App,
    claim: &Claim,
    request: &Request,
    notification: &Notification,
) -> std::result::Result<bool, Problem> {
    let data_id = notification.data_id();
    if !query_agrees(request.query_text(), data_id) {
        return Ok(false);
    }
    match (&claim.signature, &claim.request_id) {
        (Some(header), Some(request_id)) => Ok(app
            .marketplace
            .verifier
            .accepts(&Signed { header, request_id, data_id }, request.now)),
        (Some(_), None) => Ok(false),
        (None, _) => is_expected(app, request, notification),
    }
}

/// Whether `data.id` in the query, if it is there, is the resource's.
fn query_agrees(query: &str, data_id: &str) -> bool {
    query.is_empty()
        || form_urlencoded::parse(query.as_bytes())
            .all(|(name, value)| name != "data.id" || value == data_id)
}

/// Whether an unsigned notification may be accepted: only where the operator
/// allows it, for our application and a linked account.
fn is_expected(
    services: &Services,
    request: &Request,
    notification: &Notification,
) -> std::result::Result<bool, Problem> {
    let config = &services.config.marketplace;
    let ours = config.client_id.parse().ok();
    if config.signature != SignatureMode::Optional
        || ours.is_none()
        || notification.application != ours
    {
        return Ok(false);
    }
    Ok(services.db.read(request.lane, |tx| owner_of(tx, notification.account))?.is_some())
}

/// Stores a notification that was not seen before; returns its state.
fn store(
    tx: &WriteTx<'_>,
    notification: &Notification,
    body: &Bytes,
    delivery_key: Option<&[u8; 16]>,
) -> Result<Option<NotificationState>> {
    let (state, outcome) = match owner_of(tx, notification.account)? {
        Some(_) => state_of(&notification.topic),
        None => (NotificationState::Ignored, Some(InboxOutcome::NotLinked.name())),
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
    let stored = tx.execute(
        "INSERT INTO ml_notification
             (received_at, topic, resource, ml_user_id, body, delivery_key, event_key, state, next_try_at, outcome)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?1, ?9)
         ON CONFLICT DO NOTHING",
        (tx.now(), topic, resource, account, body, delivery_key, event_key.as_ref(), state, outcome),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_must_name_the_resource() {
        for (query, agrees) in [
            ("", true),
            ("data.id=1", true),
            ("type=x&data.id=1", true),
            ("data.id=2", false),
            ("data.id=1&data.id=2", false),
            ("data%2Eid=2", false),
            ("data.id=", false),
        ] {
            assert_eq!(query_agrees(query, "1"), agrees, "{query}");
        }
    }

    #[test]
    fn the_prepared_answer_is_the_documented_one() {
        let data = ReceivedData { status: "received" };
        let answer = Received { success: true, message: "notification received", data };
        assert_eq!(serde_json::to_vec(&answer).unwrap(), RECEIVED);
    }
}
