//! The internal tick: runs the tasks by itself, when it is switched on.

use std::time::{Duration, Instant as Monotonic};

use super::{Origin, run};
use crate::app::App;
use crate::base::Stop;

/// How often it looks whether it is time. A moved clock is noticed by then.
const LOOK: Duration = Duration::from_secs(1);

/// Runs the tasks now, and then whenever the interval is over: by time that
/// passes evenly, and also when the clock has moved on that far, as it does
/// after a sleep of the machine.
pub fn work(app: &App, stop: &Stop) {
    let interval_s = app.config.cron.interval_s;
    let interval = Duration::from_secs(interval_s);
    let far = i64::try_from(interval_s).unwrap_or(i64::MAX);
    loop {
        let (began, at) = (Monotonic::now(), app.clock.now());
        // Refused only while others wait, who do the same work.
        let _ = run(app, Origin::Tick, Some(stop));
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
