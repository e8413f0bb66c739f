//! Public reads (contract §6): answers ready to send, with their validators.

use std::sync::Arc;

use http::HeaderValue;
use http::header::CACHE_CONTROL;
use schemars::{Schema, SchemaGenerator};

use super::public::{self, Page};
use super::schema_doc::WireSchema;
use super::wire::{WireContext, WireMeet, WirePlan, WireTeacher};
use crate::app::App;
use crate::http::envelope::Envelope;
use crate::http::{Problem, Reply, Request};

const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// The schema of [`plans`]' answer.
pub fn plans_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<Vec<WirePlan>>>()
}

/// `GET /api/v1/planos`: all active plans.
pub fn plans(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::plans(app, request).map(|page| answer(&page, request))
}

/// The schema of [`teachers`]' answer.
pub fn teachers_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<Vec<WireTeacher>>>()
}

/// `GET /api/v1/professores`: all teachers.
pub fn teachers(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::teachers(app, request).map(|page| answer(&page, request))
}

/// The schema of [`meets`]' answer.
pub fn meets_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<Vec<WireMeet>>>()
}

/// `GET /api/v1/meets`: the next ten meets.
pub fn meets(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::meets(app, request).map(|page| answer(&page, request))
}

/// The schema of [`context`]'s answer.
pub fn context_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<WireContext>>()
}

/// `GET /api/v1/contexto`: everything a language model should know.
pub fn context(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::context(app, request).map(|page| answer(&page, request))
}

/// The schema of [`schema`]'s answer.
pub fn schema_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<WireSchema>>()
}

/// `GET /api/v1/schema`: the tables of the database and the roles.
pub fn schema(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    public::schema(app, request).map(|page| answer(&page, request))
}

fn answer(page: &Arc<Page>, request: &Request) -> Reply {
    page.rendered
        .validators
        .answer(request.headers(), || page.reply())
        .with(CACHE_CONTROL, A_MINUTE)
}
