//! A worker that takes step after step in the background.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::app::App;
use crate::base::worker::{self, Stop};
use crate::db::Result;

/// How long a worker sleeps when nothing wakes it.
const IDLE: Duration = Duration::from_secs(3600);
/// Pause after a step failed.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Starts a worker that takes step after step, and waits for its bell when none
/// is left.
pub(super) fn steps(
    name: &'static str,
    app: &Arc<App>,
    stop: &Stop,
    bell: fn(&App) -> &Stop,
    failure: &'static str,
    step: fn(&App) -> Result<bool>,
) -> std::io::Result<JoinHandle<()>> {
    let app = Arc::clone(app);
    worker::start(name, stop, move |stop| {
        let mut rings = 0;
        while !stop.is_set() {
            match step(&app) {
                Ok(true) => {}
                Ok(false) => (rings, _) = bell(&app).wait_ring(rings, IDLE),
                Err(error) => {
                    if !error.is_told() {
                        tracing::warn!(%error, "{failure}");
                    }
                    stop.wait(AFTER_FAILURE);
                }
            }
        }
    })
}
