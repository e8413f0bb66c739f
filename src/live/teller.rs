//! Tells open pages of changes: one task for all of them, which sleeps until a version has
//! risen, and reads once for each menu whose numbers may have changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use crate::app::App;

/// Changes that come within this time are told together.
const GATHERED: Duration = Duration::from_millis(200);
/// So often the task looks without a change, for what depends on the hour.
const ROUND: Duration = Duration::from_secs(30);

/// Works until `stop` is true, then ends all connections.
pub async fn work(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = app.live.bell.notified() => {}
            () = sleep(ROUND) => {}
            // A dropped sender means the same.
            _ = stop.wait_for(|stop| *stop) => break,
        }
        round(&app).await;
        sleep(GATHERED).await;
    }
    app.live.close();
}

async fn round(app: &Arc<App>) {
    let stale = app.live.stale(&app.versions, app.clock.now());
    if stale.is_empty() {
        return;
    }
    let telling = Arc::clone(app);
    let told = tokio::task::spawn_blocking(move || {
        let mut failed = None;
        for watcher in stale {
            // Tried again at the next round; the others are told all the same.
            if let Err(error) = telling.live.tell(&telling, watcher) {
                failed = Some(error);
            }
        }
        failed
    });
    match told.await {
        Ok(None) => {}
        Ok(Some(error)) => tracing::warn!(%error, "open pages were not told of changes"),
        Err(error) => tracing::error!(%error, "open pages were not told of changes"),
    }
}
