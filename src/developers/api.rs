//! `/openapi.json` and `/openapi/platform.json`.

use http::HeaderValue;
use http::header::CACHE_CONTROL;

use super::openapi::Document;
use crate::app::App;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};

/// Tools ask often; a new version is known by its entity tag.
const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// `GET /openapi.json`: the Partner API.
pub fn partner(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    Ok(document(app, request, Document::Partner))
}

/// `GET /openapi/platform.json`: everything else.
pub fn platform(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    Ok(document(app, request, Document::Platform))
}

fn document(app: &App, request: &Request, which: Document) -> Reply {
    let rendered = &app.documents.get(app, which).rendered;
    let full = || Reply::of(media::JSON, rendered.body.clone());
    rendered.validators.answer(request.headers(), full).with(CACHE_CONTROL, A_MINUTE)
}
