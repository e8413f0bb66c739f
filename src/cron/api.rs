//! `GET /api/v1/cron`: lets an external scheduler run the periodic tasks.

use super::{Origin, run};
use crate::app::App;
use crate::http::{Problem, Reply, Request};
use crate::identity::CronCaller;

pub use super::report::Answer;

pub fn trigger(app: &App, _: &CronCaller, _: &Request) -> Result<Reply, Problem> {
    let run = run(app, Origin::Address, None).ok_or_else(too_many)?;
    Reply::json(&Answer::of(app, &run))
}

/// The answer when too many runs wait already. Only one run executes at a time.
pub fn too_many() -> Problem {
    Problem::unavailable("several runs wait for their turn already", 10)
}
