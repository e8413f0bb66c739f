//! `/openapi.json`, `/openapi/platform.json`, the collection for Postman and ready clients.

use std::sync::OnceLock;

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION};
use serde_json::Value;

use super::documents::Document;
use super::{clients, openapi, postman};
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
    let rendered = app.caches.documents.postman.get_or_init(|| {
        let base_url = format!("{}{}", app.server.addresses.base_url, openapi::PARTNER);
        let made = super::document(app, Document::Partner);
        let collection = postman::collection(&made.value, &base_url);
        Rendered::new(collection.to_string().into_bytes(), None)
    });
    let reply = rendered.clone().answer(request.headers(), media::JSON);
    Ok(reply.with(CACHE_CONTROL, A_MINUTE).with(CONTENT_DISPOSITION, FILE))
}

/// `GET /desenvolvedores/cliente.py`: a client in Python, one file.
pub fn python(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    const FILE: HeaderValue =
        HeaderValue::from_static("attachment; filename=\"seller_platform.py\"");
    Ok(client(app, request, &app.caches.documents.python, clients::python, FILE))
}

/// `GET /desenvolvedores/cliente.ts`: a client in TypeScript, one file.
pub fn typescript(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    const FILE: HeaderValue =
        HeaderValue::from_static("attachment; filename=\"seller-platform.ts\"");
    Ok(client(app, request, &app.caches.documents.typescript, clients::typescript, FILE))
}

fn client(
    app: &App,
    request: &Request,
    kept: &OnceLock<Rendered>,
    make: fn(&Value, &str, &str) -> String,
    file: HeaderValue,
) -> Reply {
    let rendered = kept.get_or_init(|| {
        let address = &app.server.addresses.base_url;
        let document = &super::document(app, Document::Partner).value;
        let base_url = format!("{address}{}", openapi::PARTNER);
        Rendered::new(make(document, address, &base_url).into_bytes(), None)
    });
    let reply = rendered.clone().answer(request.headers(), media::TEXT);
    reply.with(CACHE_CONTROL, A_MINUTE).with(CONTENT_DISPOSITION, file)
}

fn document(app: &App, request: &Request, which: Document) -> Reply {
    let rendered = super::document(app, which).rendered.clone();
    rendered.answer(request.headers(), media::JSON).with(CACHE_CONTROL, A_MINUTE)
}
