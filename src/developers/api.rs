//! `/openapi.json`, `/openapi/platform.json` and the collection for Postman.

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION};

use super::documents::Document;
use super::{openapi, postman};
use crate::app::App;
use crate::http::conditional::Rendered;
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

/// `GET /desenvolvedores/postman.json`: the Partner API as a collection.
pub fn postman(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    const FILE: HeaderValue = HeaderValue::from_static(
        "attachment; filename=\"seller-platform.postman_collection.json\"",
    );
    let rendered = app.kept.documents.postman.get_or_init(|| {
        let base_url = format!("{}{}", app.server.addresses.base_url, openapi::PARTNER);
        let made = super::document(app, Document::Partner);
        let collection = postman::collection(&made.value, &base_url);
        Rendered::new(collection.to_string().into_bytes(), None)
    });
    let reply = rendered.clone().answer(request.headers(), media::JSON);
    Ok(reply.with(CACHE_CONTROL, A_MINUTE).with(CONTENT_DISPOSITION, FILE))
}

fn document(app: &App, request: &Request, which: Document) -> Reply {
    let rendered = super::document(app, which).rendered.clone();
    rendered.answer(request.headers(), media::JSON).with(CACHE_CONTROL, A_MINUTE)
}
