//! What a directory asks for at plain HTTP to see that a name leads here.

use crate::app::App;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};

/// `GET /.well-known/acme-challenge/{token}` (RFC 8555 §8.3).
pub fn challenge(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let https = app.server.https.as_ref();
    let answer = https.and_then(|https| https.challenge(request.variable("token")));
    answer.map(|answer| Reply::of(media::TEXT, answer)).ok_or_else(Problem::not_found)
}
