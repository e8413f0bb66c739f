//! `GET /api/v1/cron`: a scheduler has the periodic tasks run.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::report::Answer;
use super::{Origin, run};
use crate::app::App;
use crate::guard::CronCaller;
use crate::http::{Problem, Reply, Request};

pub use super::report::reply;

/// What the address takes in its query; read by the guard.
#[derive(JsonSchema)]
#[schemars(rename = "CronQuery")]
#[allow(dead_code, reason = "it describes what the guard reads")]
struct Query {
    /// The cron secret, where it does not come as Bearer.
    token: Option<String>,
}

/// Schema of the query.
pub fn query(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Query>()
}

/// The handler.
pub fn trigger(app: &App, _: &CronCaller, _: &Request) -> Result<Reply, Problem> {
    let run = run(app, Origin::Address, None).ok_or_else(too_many)?;
    Reply::json(&Answer::of(app, &run))
}

/// Runs take turns, and only so many may wait for theirs.
pub fn too_many() -> Problem {
    Problem::unavailable("several runs wait for their turn already", 10)
}
