//! The id of a request: the caller's, or a new one.

use http::{HeaderMap, HeaderValue, Response};

use super::stamp;
use crate::http::body::Body;

/// Longest request id that is accepted from a caller.
const MAX_REQUEST_ID: usize = 128;

/// The caller's request id if it is short printable ASCII, else a new one.
pub(super) fn request_id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(stamp::X_REQUEST_ID).filter(|value| {
        let bytes = value.as_bytes();
        (1..=MAX_REQUEST_ID).contains(&bytes.len())
            && bytes.iter().all(|byte| (0x20..=0x7e).contains(byte))
    });
    given.cloned().unwrap_or_else(new_request_id)
}

/// The request id that an answer carries.
pub(super) fn request_id_of(response: &Response<Body>) -> &str {
    response.headers().get(stamp::X_REQUEST_ID).map_or("", text)
}

/// A request id as text; both our own ids and accepted ones are ASCII.
pub(super) fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}

pub(super) fn new_request_id() -> HeaderValue {
    HeaderValue::from_bytes(&crate::base::ids::request_id())
        .expect("hexadecimal digits fit a header")
}
