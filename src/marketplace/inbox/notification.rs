//! The body of a notification, in the forms it comes in.
//!
//! Ids are numbers or texts of digits. The leading slash may be missing. Fields
//! that are not needed may have any value. The answer names every invalid
//! field.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::base::MlUserId;
use crate::base::ids::short_digest;
use crate::http::input::whole;
use crate::http::{Code, Fields, Problem, schema, structure};

const LONGEST_RESOURCE: usize = 500;
const LONGEST_TOPIC: usize = 100;

/// A notification as the marketplace sends it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "MarketplaceNotification")]
pub struct Body {
    /// What changed, such as `/orders/2000001`; the leading slash may be missing.
    #[schemars(with = "String", regex(pattern = schema::line(1..=LONGEST_RESOURCE)))]
    resource: Option<Scalar>,
    /// Kind of what changed, such as `orders_v2`.
    #[schemars(with = "String", regex(pattern = schema::line(1..=LONGEST_TOPIC)))]
    topic: Option<Scalar>,
    /// The seller account; a number or digits.
    #[schemars(schema_with = "account_id")]
    user_id: Option<Scalar>,
    /// The application it is meant for; a number or digits.
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    application_id: Option<Scalar>,
    /// When it was sent.
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    sent: Option<Scalar>,
}

fn account_id(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "integer", "minimum": 1, "maximum": i64::MAX },
        { "type": "string", "pattern": schema::number_text() },
    ] })
}

/// A value that cannot be used counts as missing.
fn anything(_: &mut SchemaGenerator) -> Schema {
    Schema::default()
}

/// A value of a body: a list or an object as null, because only numbers and texts are
/// used, and nobody has vouched for the sender yet when it is read.
struct Scalar(Value);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let value = if raw.starts_with(['[', '{']) { "null" } else { raw };
        serde_json::from_str(value).map(Self).map_err(D::Error::custom)
    }
}

/// A well-formed notification.
pub struct Notification {
    /// With its leading slash.
    pub resource: String,
    pub topic: String,
    pub account: MlUserId,
    /// The application it is meant for, when it says so.
    pub application: Option<i64>,
    /// Equal for the same event; `None` when the body has no time of sending.
    pub event_key: Option<[u8; 16]>,
}

impl Notification {
    /// Parses a body; the problem names every invalid field.
    pub fn parse(body: &[u8]) -> Result<Notification, Problem> {
        structure::check(body)?;
        // Otherwise a JSON list would be read as the fields in their order.
        let is_object = body.trim_ascii_start().starts_with(b"{");
        let read = is_object.then(|| serde_json::from_slice(body).ok()).flatten();
        let body: Body = read.ok_or_else(|| {
            Problem::new(Code::InvalidBody, "the body must be a JSON object with each field once")
        })?;
        let mut faults = Fields::new();
        let mut required = |name: &'static str, value: Option<Scalar>, longest: usize| {
            let read = value.as_ref().and_then(|value| value.line(longest)).map(str::to_owned);
            if read.is_none() {
                faults.push((
                    name.into(),
                    if value.is_none() { "is required" } else { "must be a short text" }.into(),
                ));
            }
            read.unwrap_or_default()
        };
        let resource = required("resource", body.resource, LONGEST_RESOURCE);
        let topic = required("topic", body.topic, LONGEST_TOPIC);
        let account = body.user_id.as_ref().and_then(Scalar::id);
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
        let resource = if resource.starts_with('/') { resource } else { format!("/{resource}") };
        let event_key =
            body.sent.as_ref().and_then(|sent| sent.line(LONGEST_TOPIC)).map(|sent| {
                short_digest(&[resource.as_bytes(), topic.as_bytes(), sent.as_bytes()])
            });
        let application = body.application_id.as_ref().and_then(Scalar::id);
        Ok(Notification { resource, topic, account: MlUserId(account), application, event_key })
    }

    /// Last segment of the resource.
    pub fn data_id(&self) -> &str {
        self.resource.rsplit('/').next().unwrap_or_default()
    }
}

impl Scalar {
    /// A text without control characters that is not empty and not too long.
    fn line(&self, longest: usize) -> Option<&str> {
        let text = self.0.as_str()?.trim();
        let fits = (1..=longest).contains(&text.chars().count());
        (fits && !text.chars().any(char::is_control)).then_some(text)
    }

    /// A positive number, also written as text.
    fn id(&self) -> Option<i64> {
        let number = match &self.0 {
            Value::Number(number) => whole(number)?,
            Value::String(digits) => digits_in(digits.trim())?,
            _ => return None,
        };
        (number > 0).then_some(number)
    }
}

/// A number of up to 18 digits, not counting leading zeros.
fn digits_in(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = text.trim_start_matches('0');
    (is_number && digits.len() <= 18).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(body: &str) -> Vec<String> {
        match Notification::parse(body.as_bytes()) {
            Ok(_) => Vec::new(),
            Err(problem) if problem.fields.is_empty() => vec![problem.message.into_owned()],
            Err(problem) => {
                problem.fields.iter().map(|(name, text)| format!("{name} {text}")).collect()
            }
        }
    }

    #[test]
    fn notifications_come_in_several_forms() {
        for body in [
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":777}"#,
            r#"{"resource":"orders/1","topic":"orders_v2","user_id":"777","actions":["x"],"_id":null}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":777.0}"#,
            r#"{"resource":"/orders/1","topic":"orders_v2","user_id":" 0777 "}"#,
            r#"{"user_id":777,"attempts":{"a":[1]},"resource":"\u002forders/1","topic":" orders_v2 "}"#,
        ] {
            let notification = Notification::parse(body.as_bytes()).unwrap();
            assert_eq!(
                (&*notification.resource, &*notification.topic),
                ("/orders/1", "orders_v2"),
                "{body}"
            );
            assert_eq!((notification.account, notification.data_id()), (MlUserId(777), "1"));
        }
    }

    #[test]
    fn every_field_at_fault_is_named() {
        assert_eq!(
            faults("{}"),
            ["resource is required", "topic is required", "user_id is required"]
        );
        assert_eq!(
            faults(r#"{"resource":["/orders/1"],"topic":"","user_id":1.5}"#),
            [
                "resource must be a short text",
                "topic must be a short text",
                "user_id must be a positive whole number"
            ],
        );
        for malformed in [
            "",
            "[]",
            r#"["/orders/1","orders_v2",777,null,null]"#,
            "null",
            "{",
            r#"{"topic":"a","topic":"b"}"#,
        ] {
            assert_eq!(
                faults(malformed),
                ["the body must be a JSON object with each field once"],
                "{malformed}"
            );
        }
        for id in ["0", "-7", "\"abc\"", "\"+7\"", "\"7.0\"", "null", "99999999999999999999"] {
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
            Notification::parse(body.as_bytes()).unwrap().event_key
        };
        assert_eq!(key("\"2026-11-19T13:00:00.129Z\""), key("\"2026-11-19T13:00:00.129Z\""));
        assert_ne!(key("\"2026-11-19T13:00:00.129Z\""), key("\"2026-11-19T13:00:00.130Z\""));
        assert_eq!(key("null"), None);
    }

    /// Lists are skipped without being built: nobody has vouched for the sender yet.
    #[test]
    fn lists_where_none_is_used_count_as_missing() {
        let deep = format!("{}{}", "[".repeat(30), "]".repeat(30));
        for other in [&*deep, "[1e999]", r#"["\ud800"]"#, r#"{"a":{"a":1}}"#] {
            let body = format!(
                r#"{{"resource":"/orders/1","topic":"orders_v2","user_id":777,"sent":{other},"application_id":{other}}}"#
            );
            let read = Notification::parse(body.as_bytes()).unwrap();
            assert_eq!((read.event_key, read.application), (None, None), "{other}");
        }
    }
}
