//! Opening a session: its secret, its cookie and what is stored of it.

use http::HeaderValue;
use http::header::USER_AGENT;

use super::store::NewSession;
use crate::app::App;
use crate::base::{TokenHash, secrets};
use crate::http::Request;
use crate::identity::{SESSION_AGE_S, guard};

/// A session that is about to be opened, and its cookie.
pub fn new_session(app: &App, request: &Request) -> (NewSession, HeaderValue) {
    let secret = secrets::random_hex::<32>();
    let agent = request.header(&USER_AGENT).unwrap_or_default();
    let session = NewSession {
        hash: TokenHash::of(&secret),
        address: request.client.to_string(),
        user_agent: crate::base::text::shortened(agent, 200).to_owned(),
    };
    (session, cookie(app, &secret, SESSION_AGE_S))
}

/// The session cookie of this installation.
pub fn cookie(app: &App, value: &str, age_s: i64) -> HeaderValue {
    cookie_of(app, guard::session_cookie_name(app), value, age_s)
}

/// A cookie that scripts cannot read; its value is hexadecimal digits.
pub fn cookie_of(app: &App, name: &str, value: &str, age_s: i64) -> HeaderValue {
    let secure = if app.server.addresses.is_https() { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age_s}{secure}");
    HeaderValue::try_from(text).expect("hexadecimal digits fit a cookie")
}
