//! `GET /fotos/{digest}`: a photo, for anybody who knows its address.

use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue};

use super::store;
use crate::app::App;
use crate::base::text::from_hex;
use crate::http::conditional::Validators;
use crate::http::{Problem, Reply, Request};

/// The address is made of the content, so the content never changes.
const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// Other sites show photos too: the browser extension, and users of the public API.
const ANYWHERE: HeaderValue = HeaderValue::from_static("cross-origin");

/// `GET /fotos/{digest}`: a photo.
pub fn photo(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let name = request.variable("digest");
    let digest: [u8; 32] = from_hex(name)
        .filter(|_| !name.bytes().any(|byte| byte.is_ascii_uppercase()))
        .and_then(|digest| digest.try_into().ok())
        .ok_or_else(Problem::not_found)?;
    let found = app.db.read(request.lane, |tx| store::by_digest(tx, &digest))?;
    let (media, bytes) = found.ok_or_else(Problem::not_found)?;
    let reply = Validators::new(&digest, None)
        .answer(request.headers(), || Reply::of(HeaderValue::from_static(media.name()), bytes));
    Ok(reply.with(CACHE_CONTROL, FOR_GOOD).with(RESOURCE_POLICY, ANYWHERE))
}
