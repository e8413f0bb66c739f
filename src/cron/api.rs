//! `GET /api/v1/cron`: a scheduler has the periodic tasks run.

use super::{Origin, run};
use crate::app::App;
use crate::edge::guard::CronCaller;
use crate::http::{Problem, Reply, Request};

pub use super::report::Answer;

/// The handler.
pub fn trigger(app: &App, _: &CronCaller, _: &Request) -> Result<Reply, Problem> {
    let run = run(app, Origin::Address, None).ok_or_else(too_many)?;
    Reply::json(&Answer::of(app, &run))
}

/// Runs take turns, and only so many may wait for theirs.
pub fn too_many() -> Problem {
    Problem::unavailable("several runs wait for their turn already", 10)
}
