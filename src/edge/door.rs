//! The way from plain HTTP to HTTPS of our own, before everything else.

use http::header::{
    CONNECTION, CONTENT_LENGTH, LOCATION, STRICT_TRANSPORT_SECURITY, TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use super::request_id::request_id;
use super::stamp::Stamp;
use crate::app::App;
use crate::http::{Body, Family, Reply};

/// Paths that are answered by plain HTTP as well: health probes.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];
/// Where a certificate authority looks, which may not have a certificate of ours yet.
const CHALLENGES: &str = "/.well-known/acme-challenge/";

/// The answer that leads a request to HTTPS, if it belongs there.
pub(super) fn moved(app: &App, head: &Parts) -> Option<Response<Body>> {
    let path = head.uri.path();
    if !app.server.addresses.is_own_tls() || PROBES.contains(&path) || path.starts_with(CHALLENGES)
    {
        return None;
    }
    let target = HeaderValue::try_from(app.server.addresses.moved(head)?).ok()?;
    let stamp =
        Stamp::new(app, request_id(&head.headers), Family::of_unknown_path(path), app.clock.now());
    let reply = Reply::empty(StatusCode::PERMANENT_REDIRECT).with(LOCATION, target);
    let mut response = stamp.reply(reply);
    // It means nothing where nobody vouches for it.
    response.headers_mut().remove(STRICT_TRANSPORT_SECURITY);
    let length = head.headers.get(CONTENT_LENGTH);
    if head.headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0") {
        // The unread body must not be read as the next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    app.health.traffic.count(None, response.status(), 0);
    Some(response)
}
