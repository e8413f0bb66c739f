//! `/openapi.json` and `/openapi/platform.json`.

use http::HeaderValue;
use http::header::CACHE_CONTROL;

use super::documents::Document;
use crate::app::App;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};

/// Tools request the documents often; after this they revalidate by entity tag.
const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// `GET /openapi.json`: the Partner API.
pub fn partner(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    Ok(document(app, request, Document::Partner))
}

/// `GET /openapi/platform.json`: all other APIs.
pub fn platform(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    Ok(document(app, request, Document::Platform))
}

fn document(app: &App, request: &Request, which: Document) -> Reply {
    let rendered = super::document(app, which).rendered.clone();
    rendered.answer(request.headers(), media::JSON).with(CACHE_CONTROL, A_MINUTE)
}
