//! When each task last ran, what came of it, and when it runs next.

use super::Task;
use super::rules::Every;
use super::store::{self, TaskState};
use crate::base::{Instant, Zone};
use crate::db::{ReadTx, Result};
use crate::services::Services;

/// A task as it last ran and will run.
pub struct PlannedTask {
    pub task: &'static Task,
    pub state: TaskState,
    /// `None` while it is paused, and where somebody else asks for the runs.
    pub next: Option<Instant>,
}

/// All tasks, in the order in which they run.
pub fn planned(services: &Services, tx: &ReadTx<'_>) -> Result<Vec<PlannedTask>> {
    let tasks = store::tasks(tx)?;
    let now = services.clock.now();
    let interval = i64::try_from(services.config.cron.interval_s).unwrap_or(i64::MAX);
    let last_run = tasks.iter().filter_map(|(_, state)| state.started_at).max();
    let next_run = last_run.map_or(now, |last| Instant(last.0.saturating_add(interval).max(now.0)));
    let planned = tasks.into_iter().map(|(task, state)| {
        let is_planned = services.config.cron.enabled && state.paused_at.is_none();
        // One that failed is tried again in the next run.
        let settled = state.started_at.filter(|_| state.failures == 0);
        let next = is_planned.then(|| next_of(task.every, services.zone(), settled, next_run));
        PlannedTask { task, state, next }
    });
    Ok(planned.collect())
}

/// When a task runs next, if the next run is at `run`.
fn next_of(every: Every, zone: Zone, last: Option<Instant>, run: Instant) -> Instant {
    if every.is_due(zone, last, run) { run } else { zone.start_of(zone.day(run).plus(1)) }
}

/// `320 ms` or `1,2 s`.
pub fn took(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        _ => format!("{},{} s", ms / 1_000, ms % 1_000 / 100),
    }
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
