//! The official chat API: a signature over the whole body with the secret of the app; for
//! the question whether an address is ours, a token in the query.

use std::sync::atomic::Ordering;

use hmac::Mac as _;
use http::Method;

use super::{Class, GuardResult, bad_signature, passed, refused_late};
use crate::app::App;
use crate::base::secrets;
use crate::base::text::from_hex;
use crate::http::{Problem, Request};
use crate::identity::{ChatSender, Seal};
use crate::services::Services;

/// Header of the signature: `sha256=` and 64 hexadecimal digits.
const HEADER: &str = "x-hub-signature-256";

/// The receiver of what becomes of messages. While it is not set up, it is not there. The
/// signature must be present; whether it is right can be checked only with the body.
pub fn chat(app: &App, request: &Request) -> GuardResult<ChatSender> {
    let chat = &app.config.chat;
    let is_post = request.head.method == Method::POST;
    if !chat.hears_receipts() {
        return GuardResult::refused(Problem::not_found());
    }
    let found = if is_post {
        signature(request).map(Some).ok_or_else(bad_signature)
    } else {
        prove_token(app, request).map(|()| None)
    };
    let found = found.map(|signature| {
        GuardResult::of(ChatSender { _seal: Seal, signature }).known_as("chat", 0)
    });
    passed(app, request, Class::ApiAddress, found)
}

/// The signature in the head; `None` unless there is exactly one of the right form.
fn signature(request: &Request) -> Option<[u8; 32]> {
    let mut presented = request.headers().get_all(HEADER).iter();
    let (Some(one), None) = (presented.next(), presented.next()) else { return None };
    let digits = one.to_str().ok()?.strip_prefix("sha256=")?;
    from_hex(digits)?.try_into().ok()
}

fn prove_token(services: &Services, request: &Request) -> Result<(), Problem> {
    let value = |wanted: &str| {
        let mut given = form_urlencoded::parse(request.query_text().as_bytes())
            .filter(|(name, _)| name == wanted)
            .map(|(_, value)| value.into_owned());
        // With two values it is unclear which one is meant.
        given.next().filter(|_| given.next().is_none())
    };
    let is_subscribing = value("hub.mode").is_some_and(|mode| mode == "subscribe");
    let token = value("hub.verify_token").unwrap_or_default();
    // Compared in any case, so that the time shows nothing.
    let is_right = services.config.chat.verify_token.matches(&token);
    if is_subscribing && is_right { Ok(()) } else { Err(Problem::unauthorized()) }
}

/// Checks the signature of a body; a wrong one counts against the address.
pub fn prove_signature(app: &App, request: &Request, sender: &ChatSender) -> Result<(), Problem> {
    let secret = app.config.chat.app_secret.reveal().as_bytes();
    let mut mac = secrets::hmac_sha256(secret);
    mac.update(&request.body);
    // Compares in constant time.
    let is_right = sender.signature.is_some_and(|given| mac.verify_slice(&given).is_ok());
    if is_right {
        return Ok(());
    }
    app.messages.receipts.refused.fetch_add(1, Ordering::Relaxed);
    Err(refused_late(app, request, bad_signature()))
}
