//! The way from plain HTTP to HTTPS of our own, before everything else.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{
    CONNECTION, CONTENT_LENGTH, LOCATION, STRICT_TRANSPORT_SECURITY, TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use hyper::body::Incoming;

use super::stamp::Stamp;
use super::{answer, request_id};
use crate::app::App;
use crate::http::body::Body;
use crate::http::{Family, Reply};

/// Paths that are answered by plain HTTP as well: health probes.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];
/// Where a certificate authority looks, which may not have a certificate of ours yet.
const CHALLENGES: &str = "/.well-known/acme-challenge/";

/// Answers one request of a peer, or leads it to HTTPS.
pub fn open(
    app: &Arc<App>,
    peer: SocketAddr,
    request: http::Request<Incoming>,
) -> impl Future<Output = Response<Body>> + Send + use<> {
    let way = if app.server.addresses.is_own_tls() {
        let (head, body) = request.into_parts();
        match moved(app, &head) {
            Some(response) => Way::Moved(response),
            None => Way::Answered(answer(app, peer, http::Request::from_parts(head, body))),
        }
    } else {
        Way::Answered(answer(app, peer, request))
    };
    async move {
        match way {
            Way::Moved(response) => response,
            Way::Answered(answer) => answer.await,
        }
    }
}

enum Way<F> {
    Moved(Response<Body>),
    Answered(F),
}

fn moved(app: &App, head: &Parts) -> Option<Response<Body>> {
    let path = head.uri.path();
    if PROBES.contains(&path) || path.starts_with(CHALLENGES) {
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
