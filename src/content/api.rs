//! Public reads (docs/contract.md, "Public answers"): answers ready to send, with their validators.

use std::sync::Arc;

use http::HeaderValue;
use http::header::CACHE_CONTROL;

use super::documents::Page;
use super::public;
use crate::app::App;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};

const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// `GET /api/v1/planos`: all active plans.
pub fn plans(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::plans(app, request).map(|page| answer(&page, request))
}

/// `GET /api/v1/professores`: all teachers.
pub fn teachers(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::teachers(app, request).map(|page| answer(&page, request))
}

/// `GET /api/v1/meets`: the next ten meets.
pub fn meets(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::meets(app, request).map(|page| answer(&page, request))
}

/// `GET /api/v1/contexto`: everything a language model should know.
pub fn context(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::context(app, request).map(|page| answer(&page, request))
}

/// `GET /api/v1/schema`: the tables of the database and the roles.
pub fn schema(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::schema(app, request).map(|page| answer(&page, request))
}

fn answer(page: &Arc<Page>, request: &Request) -> Reply {
    page.rendered.clone().answer(request.headers(), media::JSON).with(CACHE_CONTROL, A_MINUTE)
}
