//! `POST /ml/notificacoes`: the marketplace says that something changed.
//!
//! A notification is verified, stored and answered; it is worked afterwards
//! (`inbox.rs`). The body is not signed and never believed: it only says what
//! to fetch. The signature covers the last segment of the resource, so a
//! captured one cannot be used for another resource. The same notification
//! again is answered alike and stored once.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::signature::Signed;
use crate::app::App;
use crate::config::SignatureMode;
use crate::db::{Result, WriteTx};
use crate::guard::{self, Claim};
use crate::http::problem::Fields;
use crate::http::reply::media;
use crate::http::{Code, Problem, Reply, Request};
use crate::ids::{MlUserId, short_digest};
use crate::routes::Job;

const LONGEST_RESOURCE: usize = 500;
const LONGEST_TOPIC: usize = 100;
/// The answer to every accepted notification.
const RECEIVED: Bytes = Bytes::from_static(
    br#"{"success":true,"message":"notification received","data":{"status":"received"}}"#,
);

/// What becomes of a stored notification. The number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    Waiting = 0,
    Done = 1,
    Ignored = 2,
    Failed = 3,
    /// Kept until this version's successor handles its topic.
    ForLater = 4,
}

/// Topics and what is done with them when their account is linked.
fn state_of(topic: &str) -> (State, Option<&'static str>) {
    match topic {
        "orders_v2" => (State::Waiting, None),
        "claims" | "post_purchase" | "items" | "questions" => (State::ForLater, None),
        _ => (
            State::Ignored,
            Some("the topic is not one this service follows"),
        ),
    }
}

/// A notification as the marketplace sends it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "MarketplaceNotification")]
struct Body<'b> {
    /// What changed, such as `/orders/2000001`; the leading slash may be missing.
    #[serde(borrow)]
    #[schemars(with = "String")]
    resource: Option<Loose<'b>>,
    /// Kind of what changed, such as `orders_v2`.
    #[serde(borrow)]
    #[schemars(with = "String")]
    topic: Option<Loose<'b>>,
    /// The seller account; a number or digits.
    #[serde(borrow)]
    #[schemars(with = "i64")]
    user_id: Option<Loose<'b>>,
    /// The application it is meant for; a number or digits.
    #[serde(default, borrow)]
    #[schemars(with = "Option<i64>")]
    application_id: Option<Loose<'b>>,
    /// When it was sent.
    #[serde(default, borrow)]
    #[schemars(with = "Option<String>")]
    sent: Option<Loose<'b>>,
}

/// A value of a body: numbers and texts mean something, the rest does not.
enum Loose<'b> {
    Number(i64),
    Text(Cow<'b, str>),
    Other,
}

/// A well-formed notification.
struct Notification {
    /// With its leading slash.
    resource: String,
    topic: String,
    account: MlUserId,
    application: Option<i64>,
    event_key: Option<[u8; 16]>,
}

/// Schema of the body.
pub fn body(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Body<'static>>()
}

/// Schema of the answer.
pub fn reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Received>()
}

/// The answer, for the documents; its bytes are [`RECEIVED`].
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NotificationReceived")]
struct Received {
    success: bool,
    message: &'static str,
    data: ReceivedData,
}

#[derive(Serialize, JsonSchema)]
struct ReceivedData {
    /// `received`.
    status: &'static str,
}

/// Verifies a notification and gives back the job that stores it.
pub fn receive(app: &App, claim: &Claim, request: &Request) -> std::result::Result<Job, Problem> {
    let notification = parse(&request.body)?;
    if !is_genuine(app, claim, request, &notification)? {
        return Err(guard::signature_refused(app, request));
    }
    let delivery_key = claim
        .request_id
        .as_ref()
        .map(|id| short_digest(&[id.as_bytes(), notification.resource.as_bytes()]));
    let (bell, body) = (app.marketplace.bell.clone(), request.body.clone());
    Ok(Box::new(move |tx| {
        if store(tx, &notification, &body, delivery_key.as_ref())? == Some(State::Waiting) {
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
        (Some(header), Some(request_id)) => Ok(app.marketplace.verifier.accepts(
            &Signed {
                header,
                request_id,
                data_id,
            },
            request.now,
        )),
        (Some(_), None) => Ok(false),
        (None, _) => is_expected(app, request, notification),
    }
}

/// Whether the query's `data.id`, when there is one, is the resource's.
fn query_agrees(query: &str, data_id: &str) -> bool {
    query.is_empty()
        || form_urlencoded::parse(query.as_bytes())
            .all(|(name, value)| name != "data.id" || value == data_id)
}

/// Whether an unsigned notification may be taken: only where the operator
/// allows it, for our application and a linked account.
fn is_expected(
    app: &App,
    request: &Request,
    notification: &Notification,
) -> std::result::Result<bool, Problem> {
    let config = &app.config.marketplace;
    let ours = config.client_id.parse().ok();
    if config.signature != SignatureMode::Optional
        || ours.is_none()
        || notification.application != ours
    {
        return Ok(false);
    }
    Ok(app
        .db
        .read(request.lane, |tx| {
            super::store::owner_of(tx, notification.account)
        })?
        .is_some())
}

/// Stores a notification that was not seen before; gives back its state.
fn store(
    tx: &WriteTx<'_>,
    notification: &Notification,
    body: &Bytes,
    delivery_key: Option<&[u8; 16]>,
) -> Result<Option<State>> {
    let (state, outcome) = match super::store::owner_of(tx, notification.account)? {
        Some(_) => state_of(&notification.topic),
        None => (State::Ignored, Some("the account is not linked")),
    };
    let stored = tx.execute(
        "INSERT INTO ml_notification
             (received_at, topic, resource, ml_user_id, body, delivery_key, event_key, state, next_try_at, outcome)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?1, ?9)
         ON CONFLICT DO NOTHING",
        (
            tx.now().0,
            &notification.topic,
            &notification.resource,
            notification.account,
            &body[..],
            delivery_key,
            notification.event_key.as_ref(),
            state as u8,
            outcome,
        ),
    )?;
    Ok((stored > 0).then_some(state))
}

impl Notification {
    /// Last segment of the resource.
    fn data_id(&self) -> &str {
        self.resource.rsplit('/').next().unwrap_or_default()
    }
}

fn parse(body: &[u8]) -> std::result::Result<Notification, Problem> {
    let body: Body<'_> = serde_json::from_slice(body).map_err(|_| {
        Problem::new(
            Code::InvalidBody,
            "the body must be a JSON object with each field once",
        )
    })?;
    let mut faults = Fields::new();
    let mut required = |name: &'static str, value: Option<Loose<'_>>, longest: usize| {
        let read = value
            .as_ref()
            .and_then(|value| value.line(longest))
            .map(str::to_owned);
        if read.is_none() {
            faults.push((
                name.into(),
                if value.is_none() {
                    "is required"
                } else {
                    "must be a short text"
                }
                .into(),
            ));
        }
        read.unwrap_or_default()
    };
    let resource = required("resource", body.resource, LONGEST_RESOURCE);
    let topic = required("topic", body.topic, LONGEST_TOPIC);
    let account = body.user_id.as_ref().and_then(Loose::id);
    if account.is_none() {
        let wrong = if body.user_id.is_none() {
            "is required"
        } else {
            "must be a positive whole number"
        };
        faults.push(("user_id".into(), wrong.into()));
    }
    let Some(account) = account.filter(|_| faults.is_empty()) else {
        return Err(Problem::invalid(faults));
    };
    let resource = if resource.starts_with('/') {
        resource
    } else {
        format!("/{resource}")
    };
    let event_key = body
        .sent
        .as_ref()
        .and_then(|sent| sent.line(LONGEST_TOPIC))
        .map(|sent| short_digest(&[resource.as_bytes(), topic.as_bytes(), sent.as_bytes()]));
    let application = body.application_id.as_ref().and_then(Loose::id);
    Ok(Notification {
        resource,
        topic,
        account: MlUserId(account),
        application,
        event_key,
    })
}

impl Loose<'_> {
    /// A text without control characters that is not empty and not too long.
    fn line(&self, longest: usize) -> Option<&str> {
        match self {
            Self::Text(text) => {
                let text = text.trim();
                let fits =
                    (1..=longest).contains(&text.len()) && !text.chars().any(char::is_control);
                fits.then_some(text)
            }
            _ => None,
        }
    }

    /// A positive number, also written as text.
    fn id(&self) -> Option<i64> {
        let number = match self {
            Self::Number(number) => *number,
            Self::Text(digits) => digits.trim().parse().ok()?,
            Self::Other => return None,
        };
        (number > 0).then_some(number)
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for Loose<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Self::Value, E> {
        Ok(Loose::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Loose::Other, Loose::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut items: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut fields: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(body: &str) -> Vec<String> {
        match parse(body.as_bytes()) {
            Ok(_) => Vec::new(),
            Err(problem) if problem.fields.is_empty() => vec![problem.message.into_owned()],
            Err(problem) => problem
                .fields
                .iter()
                .map(|(name, text)| format!("{name} {text}"))
                .collect(),
        }
    }

    #[test]
    fn notifications_come_in_several_forms() {
        for body in [
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":777}"#,
            r#"{"resource":"orders/1","topic":"orders_v2","user_id":"777","actions":["x"],"_id":null}"#,
            r#"{"user_id":777,"attempts":{"a":[1]},"resource":"\u002forders/1","topic":" orders_v2 "}"#,
        ] {
            let notification = parse(body.as_bytes()).unwrap();
            assert_eq!(
                (&*notification.resource, &*notification.topic),
                ("/orders/1", "orders_v2"),
                "{body}"
            );
            assert_eq!(
                (notification.account, notification.data_id()),
                (MlUserId(777), "1")
            );
        }
    }

    #[test]
    fn every_field_at_fault_is_named() {
        assert_eq!(
            faults("{}"),
            [
                "resource is required",
                "topic is required",
                "user_id is required"
            ]
        );
        assert_eq!(
            faults(r#"{"resource":["/orders/1"],"topic":"","user_id":1.5}"#),
            [
                "resource must be a short text",
                "topic must be a short text",
                "user_id must be a positive whole number"
            ],
        );
        for malformed in ["", "[]", "null", "{", r#"{"topic":"a","topic":"b"}"#] {
            assert_eq!(
                faults(malformed),
                ["the body must be a JSON object with each field once"],
                "{malformed}"
            );
        }
        for id in ["0", "-7", "\"abc\"", "null", "99999999999999999999"] {
            let body = format!(r#"{{"resource":"/orders/1","topic":"orders_v2","user_id":{id}}}"#);
            assert_eq!(faults(&body).len(), 1, "{id}");
        }
    }

    #[test]
    fn the_same_event_has_the_same_key() {
        let key = |sent: &str| {
            let body = format!(
                r#"{{"resource":"/orders/1","topic":"orders_v2","user_id":777,"sent":{sent}}}"#
            );
            parse(body.as_bytes()).unwrap().event_key
        };
        assert_eq!(
            key("\"2026-11-19T13:00:00.129Z\""),
            key("\"2026-11-19T13:00:00.129Z\"")
        );
        assert_ne!(
            key("\"2026-11-19T13:00:00.129Z\""),
            key("\"2026-11-19T13:00:00.130Z\"")
        );
        assert_eq!(key("null"), None);
    }

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
        let answer = Received {
            success: true,
            message: "notification received",
            data,
        };
        assert_eq!(serde_json::to_vec(&answer).unwrap(), RECEIVED);
    }
}
