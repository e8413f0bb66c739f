//! The supervisor's watchdog: it hears from the server as long as the writer and a
//! reader answer.
//!
//! An answer is an answer, whatever it says: a full disk or a damaged file refuses
//! writes, and a new start would change nothing about that. Only silence counts.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::app::App;
use crate::base::{Stop, worker};
use crate::db::{Db, DbError, Lane, ReadTx, Result};

/// Looks within the time after which the supervisor gives up.
const LOOKS: u32 = 4;

/// Starts the watching, if the supervisor asked for it.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<Option<JoinHandle<()>>> {
    let Some(patience) = sd_notify::watchdog_enabled() else {
        return Ok(None);
    };
    let app = Arc::clone(app);
    worker::start("watchdog", stop, move |stop| watch(&app.db, stop, patience / LOOKS)).map(Some)
}

fn watch(db: &Db, stop: &Stop, pause: Duration) {
    loop {
        if answers(db) {
            // Nobody to tell is nothing to act on.
            let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
        } else {
            tracing::warn!(
                "the database does not answer; the supervisor is not told that all is well"
            );
        }
        if stop.wait(pause) {
            return;
        }
    }
}

/// Whether the writer and a reader answer. Waits for both.
fn answers(db: &Db) -> bool {
    let written = db.submit(|_| Ok::<_, DbError>(()));
    // A queue that takes nothing more is no answer of the writer.
    let is_refused_unread = written.is_refused_as_busy();
    let _ = written.wait();
    let read = db.read(Lane::InPlace, |tx: &ReadTx<'_>| -> Result<i64> {
        tx.value("SELECT count(*) FROM sqlite_schema", [])
    });
    !is_refused_unread && !matches!(read, Err(DbError::Busy))
}
