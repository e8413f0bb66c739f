//! A push service: the common behaviour of Chrome's, Firefox' and Apple's, with
//! every check that one of them makes.
//!
//! Any id is a browser. An id that begins with a status and a dash, such as
//! `410-a`, is answered with that status; `413-` accepts only small messages, and
//! `403-` simulates an unknown key. A browser accepts only the first key that sent
//! to it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use p256::PublicKey;
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use serde_json::Value;

use super::call::{Call, HandlerResult};
use super::http::{Reply, Request};
use super::logs::PushMessage;
use crate::base::{DAY_S, Instant};

/// Largest body that a service must accept.
const LARGEST: usize = 4096;
/// Largest body that the browsers `413-` accept.
const SMALL: usize = 1500;
/// Length of the head: salt, record size, length of the key, and the key.
const HEAD: usize = 16 + 4 + 1 + 65;
/// Length of the end: the delimiter after the text, and the cipher's tag.
const TAIL: usize = 1 + 16;

/// `POST /push/{id}`.
pub fn receive(call: &mut Call<'_>) -> HandlerResult {
    let device = call.id();
    let scripted = device.split_once('-').and_then(|(status, _)| status.parse::<u16>().ok());
    let pushed = check(call.request, device, call.now).map_err(|(status, problem)| {
        call.violation("push", problem);
        refused(status, problem)
    })?;
    match scripted {
        Some(413) if call.request.body.len() <= SMALL => {}
        Some(429) => {
            return Err(refused(429, "too many messages").header("retry-after", "30"));
        }
        Some(status @ 400..=599) => return Err(refused(status, "as scripted")),
        _ => {}
    }
    let bound = call.state.pushed.iter().find(|one| one.device == device);
    if bound.is_some_and(|one| one.key != pushed.key) {
        let problem = "the key does not correspond to the one of the subscription";
        return Err(refused(403, problem));
    }
    call.state.pushed.push(pushed);
    let number = call.state.next_number();
    Ok(Reply::empty(201).header("location", &format!("/message/{number}")))
}

fn refused(status: u16, problem: &str) -> Reply {
    Reply::json(status, &serde_json::json!({ "code": status, "message": problem }))
}

type Checked<T> = Result<T, (u16, &'static str)>;

fn check(request: &Request, device: &str, now: Instant) -> Checked<PushMessage> {
    let bad = |problem| (400, problem);
    let ttl: i64 = request
        .header("ttl")
        .and_then(|ttl| ttl.parse().ok())
        .filter(|ttl| *ttl >= 0)
        .ok_or(bad("TTL must be a number of seconds"))?;
    if request.header("content-encoding") != Some("aes128gcm") {
        return Err(bad("the content coding must be aes128gcm"));
    }
    let urgency = request.header("urgency");
    if urgency.is_some_and(|word| !["very-low", "low", "normal", "high"].contains(&word)) {
        return Err(bad("no such urgency"));
    }
    let topic = request.header("topic");
    let is_topic = |topic: &str| {
        (1..=32).contains(&topic.len())
            && topic.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if topic.is_some_and(|topic| !is_topic(topic)) {
        return Err(bad("a topic has at most 32 letters of base64url"));
    }
    if request.body.len() > LARGEST {
        return Err((413, "the body is larger than 4096 bytes"));
    }
    check_body(&request.body).map_err(bad)?;
    let (key, subject) = signer(request, now).map_err(|problem| (401, problem))?;
    Ok(PushMessage {
        at: now.rfc3339(),
        device: device.to_owned(),
        ttl,
        urgency: urgency.map(str::to_owned),
        topic: topic.map(str::to_owned),
        key,
        subject,
        body: BASE64.encode(&request.body),
    })
}

/// Checks that the body is one record of RFC 8188 with the sender's key in its
/// head.
fn check_body(body: &[u8]) -> Result<(), &'static str> {
    if body.len() < HEAD + TAIL {
        return Err("the body is no message");
    }
    let size = u32::from_be_bytes([body[16], body[17], body[18], body[19]]);
    let fits = usize::try_from(size).is_ok_and(|size| body.len() - HEAD <= size);
    if size < 18 || !fits {
        return Err("the record size does not fit");
    }
    let key = &body[21..HEAD];
    if usize::from(body[20]) != key.len() || PublicKey::from_sec1_bytes(key).is_err() {
        return Err("the head holds no key");
    }
    Ok(())
}

/// Verifies the signature; returns the key that signed and the contact (RFC 8292).
fn signer(request: &Request, now: Instant) -> Result<(String, String), &'static str> {
    let given = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("vapid "))
        .ok_or("a signature is needed")?;
    let part = |name: &str| {
        let mut parts = given.split(',').filter_map(|part| part.trim().split_once('='));
        parts.find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    let (token, key) = part("t").zip(part("k")).ok_or("t and k are needed")?;
    let decoded = |text: &str| BASE64.decode(text).map_err(|_| "that is no base64url");
    let verifying =
        VerifyingKey::from_sec1_bytes(&decoded(key)?).map_err(|_| "k is no key of the curve")?;
    let (signed, signature) = token.rsplit_once('.').ok_or("t is no token")?;
    let signature =
        Signature::from_slice(&decoded(signature)?).map_err(|_| "that is no signature")?;
    verifying.verify(signed.as_bytes(), &signature).map_err(|_| "the signature is not by k")?;
    let (header, claims) = signed.split_once('.').ok_or("t is no token")?;
    let json = |text: &str| -> Result<Value, &'static str> {
        serde_json::from_slice(&decoded(text)?).map_err(|_| "t holds no JSON")
    };
    if json(header)?["alg"] != "ES256" {
        return Err("the algorithm must be ES256");
    }
    let claims = json(claims)?;
    let origin = request.header("host").map(|host| format!("http://{host}"));
    if claims["aud"].as_str() != origin.as_deref() {
        return Err("aud is another service");
    }
    let end = claims["exp"].as_i64().ok_or("exp is needed")?;
    if end <= now.0 || end > now.plus(DAY_S).0 {
        return Err("exp must be within 24 hours");
    }
    let subject = claims["sub"].as_str().unwrap_or_default();
    if !(subject.starts_with("mailto:") || subject.starts_with("https:")) {
        return Err("sub must be a contact");
    }
    Ok((key.to_owned(), subject.to_owned()))
}
