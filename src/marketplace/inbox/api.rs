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

use super::notification::Notification;
use super::signature::Signed;
use super::state::NotificationState;
use super::store::store;
use crate::app::App;
use crate::base::ids::short_digest;
use crate::config::SignatureMode;
use crate::edge::route::Job;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::identity::Claim;
use crate::identity::guard;
use crate::marketplace::account::store::owner_of;
use crate::services::Services;

/// The answer to every accepted notification.
const RECEIVED: Bytes = Bytes::from_static(
    br#"{"success":true,"message":"notification received","data":{"status":"received"}}"#,
);

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
pub fn receive(app: &App, claim: &Claim, request: &Request) -> Result<Job, Problem> {
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
) -> Result<bool, Problem> {
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
) -> Result<bool, Problem> {
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
