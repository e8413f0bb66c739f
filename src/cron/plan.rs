//! When each task last ran, what came of it, and when it runs next.

use super::rules::Every;
use super::{TASKS, store};
use crate::base::{Instant, Zone};
use crate::db::{ReadTx, Result};
use crate::services::Services;

/// A task as it last ran and will run.
pub struct PlannedTask {
    pub title: &'static str,
    /// `None` before its first run.
    pub last: Option<Instant>,
    pub ms: Option<i64>,
    /// Failures in a row.
    pub failures: i64,
    /// The last failure and when that was; kept when it works again.
    pub error: Option<(String, Instant)>,
    pub is_paused: bool,
    /// `None` while it is paused, and where somebody else asks for the runs.
    pub next: Option<Instant>,
}

/// All tasks, in the order in which they run.
pub fn planned(services: &Services, tx: &ReadTx<'_>) -> Result<Vec<PlannedTask>> {
    let known = store::tasks(tx)?;
    let now = services.clock.now();
    let interval = i64::try_from(services.config.cron.interval_s).unwrap_or(i64::MAX);
    let last_run = known.iter().filter_map(|state| state.started_at).max();
    let next_run = last_run.map_or(now, |last| Instant(last.0.saturating_add(interval).max(now.0)));
    let tasks = TASKS.iter().map(|task| {
        let state = known.iter().find(|state| state.name == task.name);
        let is_paused = state.is_some_and(|state| state.paused_at.is_some());
        let last = state.and_then(|state| state.started_at);
        let failures = state.map_or(0, |state| state.failures);
        let is_planned = services.config.cron.enabled && !is_paused;
        // One that failed is tried again in the next run.
        let settled = last.filter(|_| failures == 0);
        PlannedTask {
            title: task.title,
            last,
            ms: state.and_then(|state| state.ms),
            failures,
            error: state.and_then(|state| Some((state.error.clone()?, state.failed_at?))),
            is_paused,
            next: is_planned.then(|| next_of(task.every, services.zone(), settled, next_run)),
        }
    });
    Ok(tasks.collect())
}

/// When a task runs next, if the next run is at `run`.
fn next_of(every: Every, zone: Zone, last: Option<Instant>, run: Instant) -> Instant {
    if every.is_due(zone, last, run) { run } else { zone.start_of(zone.day(run).plus(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::DAY_S;

    #[test]
    fn a_daily_task_runs_next_when_the_day_is_over() {
        let (zone, run) = (Zone::SAO_PAULO, Instant(1_795_176_000));
        assert_eq!(next_of(Every::Run, zone, Some(run.minus(60)), run), run);
        assert_eq!(next_of(Every::Day, zone, None, run), run);
        assert_eq!(next_of(Every::Day, zone, Some(run.minus(DAY_S)), run), run);
        let midnight = zone.start_of(zone.day(run).plus(1));
        assert_eq!(next_of(Every::Day, zone, Some(run.minus(60)), run), midnight);
    }
}
