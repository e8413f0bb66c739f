//! A student's progress as programs read it.

use schemars::JsonSchema;
use serde::Serialize;

use super::rules::LedgerTotals;
use crate::base::Day;

/// A student's progress.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Progress {
    checkin_hoje: bool,
    /// Consecutive days with a check-in, up to yesterday or today.
    streak: i64,
    /// 1 and the completed laps.
    lap: i64,
    /// Day of the last check-in; null when there never was one.
    ultimo_checkin: Option<String>,
    /// Whole days since the last check-in; null when there never was one.
    dias_sem_check: Option<i64>,
}

impl Progress {
    /// The progress of a student on a day.
    pub fn of(totals: Option<&LedgerTotals>, today: Day, lap_days: i64) -> Self {
        let none = LedgerTotals::default();
        let totals = totals.unwrap_or(&none);
        Self {
            checkin_hoje: totals.last_checkin == Some(today),
            streak: totals.streak_on(today),
            lap: totals.lap(lap_days),
            ultimo_checkin: totals.last_checkin.map(Day::iso),
            dias_sem_check: totals.days_away(today),
        }
    }
}
