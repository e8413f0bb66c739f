//! The settings and the log entries of webhook receivers, and the check of a
//! signature (Standard Webhooks).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::Mac as _;
use serde::Serialize;
use serde_json::Value;

use super::http::Request;
use crate::base::{Instant, secrets};

/// How far a timestamp may be in the past or future, as in the usual libraries.
const TOLERANCE_S: i64 = 5 * 60;

/// The settings of a receiver.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    pub secrets: Vec<String>,
    /// Status of its answers; 204 unless set.
    pub status: Option<u16>,
}

/// A received webhook.
#[derive(Clone, Debug, Serialize)]
pub struct Received {
    /// RFC 3339.
    pub at: String,
    pub receiver: String,
    /// `webhook-id`.
    pub id: String,
    pub timestamp: i64,
    /// `valid`, `unknown` without a secret to check with, or what is wrong.
    pub signature: String,
    /// How many signatures the header has.
    pub signatures: usize,
    pub body: Value,
}

/// The key in a secret; `None` when the secret is malformed.
pub fn key_of(secret: &str) -> Option<Vec<u8>> {
    BASE64.decode(secret.strip_prefix("whsec_")?).ok()
}

/// Checks the signatures of a request; the result is [`Received::signature`].
pub fn judge(request: &Request, secrets: &[String], now: Instant) -> &'static str {
    let header = |name: &str| request.header(name).unwrap_or_default();
    let (id, stamp) = (header("webhook-id"), header("webhook-timestamp"));
    let Ok(at) = stamp.parse::<i64>() else {
        return "no timestamp";
    };
    if id.is_empty() {
        return "no id";
    }
    if (now.0 - at).abs() > TOLERANCE_S {
        return "too old or too new";
    }
    if secrets.is_empty() {
        return "unknown";
    }
    let given: Vec<Vec<u8>> = header("webhook-signature")
        .split_whitespace()
        .filter_map(|one| BASE64.decode(one.strip_prefix("v1,")?).ok())
        .collect();
    let holds = secrets.iter().filter_map(|secret| key_of(secret)).any(|key| {
        let mut mac = secrets::hmac_sha256(&key);
        mac.update(format!("{id}.{stamp}.").as_bytes());
        mac.update(&request.body);
        given.iter().any(|one| mac.clone().verify_slice(one).is_ok())
    });
    if holds { "valid" } else { "no signature holds" }
}
