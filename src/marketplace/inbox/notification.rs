//! The body of a notification, in the forms it comes in.
//!
//! Ids are numbers or texts of digits. The leading slash may be missing. Fields
//! that are not needed may have any value. The answer names every invalid
//! field.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::base::MlUserId;
use crate::base::ids::short_digest;
use crate::http::input::whole;
use crate::http::{Code, Fields, Problem, schema, structure};

const LONGEST_RESOURCE: usize = 500;
const LONGEST_TOPIC: usize = 100;

/// A notification as the marketplace sends it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "MarketplaceNotification")]
pub struct Body<'b> {
    /// What changed, such as `/orders/2000001`; the leading slash may be missing.
    #[serde(borrow)]
    #[schemars(with = "String", regex(pattern = schema::line(1..=LONGEST_RESOURCE)))]
    resource: Option<Loose<'b>>,
    /// Kind of what changed, such as `orders_v2`.
    #[serde(borrow)]
    #[schemars(with = "String", regex(pattern = schema::line(1..=LONGEST_TOPIC)))]
    topic: Option<Loose<'b>>,
    /// The seller account; a number or digits.
    #[serde(borrow)]
    #[schemars(schema_with = "account_id")]
    user_id: Option<Loose<'b>>,
    /// The application it is meant for; a number or digits.
    #[serde(default, borrow)]
    #[schemars(schema_with = "anything")]
    application_id: Option<Loose<'b>>,
    /// When it was sent.
    #[serde(default, borrow)]
    #[schemars(schema_with = "anything")]
    sent: Option<Loose<'b>>,
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

/// A value of a body. Only numbers and texts are used.
enum Loose<'b> {
    Number(i64),
    Text(Cow<'b, str>),
    Other,
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
        let body: Body<'_> = read.ok_or_else(|| {
            Problem::new(Code::InvalidBody, "the body must be a JSON object with each field once")
        })?;
        let mut faults = Fields::new();
        let mut required = |name: &'static str, value: Option<Loose<'_>>, longest: usize| {
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
        let resource = if resource.starts_with('/') { resource } else { format!("/{resource}") };
        let event_key =
            body.sent.as_ref().and_then(|sent| sent.line(LONGEST_TOPIC)).map(|sent| {
                short_digest(&[resource.as_bytes(), topic.as_bytes(), sent.as_bytes()])
            });
        let application = body.application_id.as_ref().and_then(Loose::id);
        Ok(Notification { resource, topic, account: MlUserId(account), application, event_key })
    }

    /// Last segment of the resource.
    pub fn data_id(&self) -> &str {
        self.resource.rsplit('/').next().unwrap_or_default()
    }
}

impl Loose<'_> {
    /// A text without control characters that is not empty and not too long.
    fn line(&self, longest: usize) -> Option<&str> {
        match self {
            Self::Text(text) => {
                let text = text.trim();
                let fits = (1..=longest).contains(&text.chars().count())
                    && !text.chars().any(char::is_control);
                fits.then_some(text)
            }
            _ => None,
        }
    }

    /// A positive number, also written as text.
    fn id(&self) -> Option<i64> {
        let number = match self {
            Self::Number(number) => *number,
            Self::Text(digits) => digits_in(digits.trim())?,
            Self::Other => return None,
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

impl<'de: 'b, 'b> Deserialize<'de> for Loose<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Loose::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Loose::Other, Loose::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        let whole = serde_json::Number::from_f64(number).and_then(|number| whole(&number));
        Ok(whole.map_or(Loose::Other, Loose::Number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
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
}
