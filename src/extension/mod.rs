//! The program: check-ins, streaks and laps.
//!
//! Check-ins come with their own subject; what the dashboard shows of
//! somebody who never checked in is true already.

pub mod api;
pub mod kept;

use schemars::JsonSchema;
use serde::Serialize;

/// A student's progress (specification, "Program progress").
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Progress {
    checkin_hoje: bool,
    streak: u32,
    lap: u32,
    /// Day of the last check-in; null when there never was one.
    ultimo_checkin: Option<String>,
    /// Whole days since the last check-in; null when there never was one.
    dias_sem_check: Option<u32>,
}

impl Progress {
    /// The progress of somebody who never checked in.
    pub const fn never() -> Self {
        Self { checkin_hoje: false, streak: 0, lap: 1, ultimo_checkin: None, dias_sem_check: None }
    }
}
