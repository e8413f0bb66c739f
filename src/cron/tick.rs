//! The internal tick: runs the tasks by itself, when it is switched on.

use std::time::{Duration, Instant as Monotonic};

use super::{Origin, run};
use crate::app::App;
use crate::base::Stop;

/// How often the time is checked. A clock change is noticed within this time.
const LOOK: Duration = Duration::from_secs(1);

/// Runs the tasks now, and then after each interval. The interval is over when
/// either the monotonic clock or the wall clock has advanced that far, so that
/// a sleep of the machine does not delay a run.
pub fn work(app: &App, stop: &Stop) {
    let interval_s = app.config.cron.interval_s;
    let interval = Duration::from_secs(interval_s);
    let far = i64::try_from(interval_s).unwrap_or(i64::MAX);
    loop {
        let (began, at) = (Monotonic::now(), app.clock.now());
        // Rejected only while other runs wait, and they do the same work.
        // No task can do its work while nothing can be stored.
        if !app.db.is_blocked() {
            let _ = run(app, Origin::Tick, Some(stop));
        }
        loop {
            if stop.wait(LOOK) {
                return;
            }
            if began.elapsed() >= interval || app.clock.now().since(at) >= far {
                break;
            }
        }
    }
}
