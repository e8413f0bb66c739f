//! Answers as gzip, for callers that accept it: pages, and the JSON of programs.
//!
//! What is small is compressed where it is. A large answer is compressed piece by piece
//! while it is sent, few at a time, so that it holds up no thread of connections.

use std::sync::Arc;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::sync::Semaphore;

use crate::http::body::{Body, Pieces};
use crate::http::reply::media;
use crate::http::{Family, pack};

/// Compresses an answer, if it is one of those and the caller accepts gzip.
///
/// Two encodings of one content are two representations, so a compressed answer has a
/// weak tag (RFC 9110 §8.8.3.3). It is compared weakly anyway, so a caller gets 304
/// whichever of both it has.
pub fn pack(response: &mut Response<Body>, family: Family, accepted: bool, turns: &Arc<Semaphore>) {
    let is_program = is_of_programs(family);
    if response.status() == StatusCode::NOT_MODIFIED && is_program {
        vary(response.headers_mut());
        if accepted {
            weaken(response.headers_mut());
        }
        return;
    }
    let packs = match response.headers().get(CONTENT_TYPE) {
        Some(media) if *media == media::JSON => is_program,
        Some(media) => *media == media::HTML,
        None => false,
    };
    let Body::Bytes(plain) = response.body() else { return };
    if !packs || plain.len() < pack::LEAST {
        return;
    }
    let packed = match plain.len() {
        _ if !accepted => None,
        ..=pack::MOST_AT_ONCE => pack::gzip(plain).map(Body::Bytes),
        _ => Some(Pieces::made(pack::pieces(plain.clone()), Arc::clone(turns)).into()),
    };
    vary(response.headers_mut());
    if let Some(packed) = packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        weaken(response.headers_mut());
        *response.body_mut() = packed;
    }
}

/// Whether errors of this family are for programs. Not for those of `OAuth`, whose
/// answers hold secrets.
const fn is_of_programs(family: Family) -> bool {
    matches!(family, Family::Partner | Family::Agent | Family::Integration | Family::Internal)
}

fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
}

/// Makes a strong entity tag a weak one.
fn weaken(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\"")) else {
        return;
    };
    if let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()) {
        headers.insert(ETAG, weak);
    }
}
