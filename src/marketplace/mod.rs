//! The marketplace: linked accounts, received notifications, and the books.
//!
//! Notifications are stored and answered at once (`inbox/hook.rs`), then
//! processed in the background (`inbox/`). Their body is only a hint: the
//! record is always fetched with the owner's token. `account/link.rs` links
//! accounts, `account/tokens.rs` renews their tokens, and `sync/` reads what no
//! notification announced. `books/` stores every record that was read. No call
//! to the outside is ever made inside a write.

pub mod account;
pub mod books;
pub mod busy;
pub mod client;
pub mod inbox;
pub mod kinds;
pub mod sync;
pub mod tools;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::app::App;
use crate::base::{Clock, MlUserId, Stop, worker};
use crate::changes::IssuedSeconds;
use crate::config;
use crate::db::{Db, DbError};

use account::tokens::RefreshLocks;
use books::orders::effects::Effects;
use books::words::Words;
use busy::Busy;
use client::Client;
use inbox::signature::Verifier;

/// Longest pause of a worker between two checks for due work. It is measured in
/// real time, because the clock may have been changed.
const LOOK: Duration = Duration::from_secs(1);

/// What the service keeps in memory about the marketplace.
pub struct Marketplace {
    pub client: Client,
    /// Rung after a notification was stored, or an account unlinked.
    pub bell: Stop,
    /// Rung when a person waits for an account to be read.
    pub wanted: Stop,
    /// Accounts that are being read.
    pub busy: Busy<MlUserId>,
    /// Questions that are being answered.
    pub answering: Busy<i64>,
    /// Labels that could not be printed recently.
    pub refused_labels: tools::labels::refused::RefusedLabels,
    /// Seconds given out to pollers as `Last-Modified`.
    pub issued: Arc<IssuedSeconds>,
    /// States and kinds that orders refer to by number.
    pub words: Arc<Words>,
    /// Checks signatures of notifications.
    pub verifier: Verifier,
    /// What other rooms do about changes.
    pub effects: Effects,
    refresh_locks: RefreshLocks,
}

impl Marketplace {
    /// The marketplace of a configuration. Nothing is called yet.
    pub fn new(config: &config::Marketplace, clock: Clock, effects: Effects) -> Self {
        Self {
            client: Client::new(config, clock),
            bell: Stop::default(),
            wanted: Stop::default(),
            busy: Busy::default(),
            answering: Busy::default(),
            refused_labels: tools::labels::refused::RefusedLabels::default(),
            issued: Arc::default(),
            words: Arc::default(),
            verifier: Verifier::new(config),
            effects,
            refresh_locks: RefreshLocks::default(),
        }
    }

    /// Wakes the workers and rejects further calls, so that a shutdown waits
    /// only for running calls.
    pub fn stop(&self) {
        self.bell.stop();
        self.wanted.stop();
        self.client.stop();
    }

    /// Whether [`Self::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.wanted.is_set()
    }
}

/// Starts the workers: for the inbox, for readings that people wait for, and
/// for removing data of unlinked accounts.
pub fn start_workers(app: &Arc<App>, stop: &Stop) -> std::io::Result<Vec<JoinHandle<()>>> {
    let busy = Arc::new(Busy::default());
    let mut threads = Vec::with_capacity(inbox::WORKERS + sync::WORKERS + 1);
    for number in 1..=inbox::WORKERS {
        let (app, busy) = (Arc::clone(app), Arc::clone(&busy));
        let work = move |stop: &Stop| {
            repeat(&app.db, stop, &app.marketplace.bell, || {
                inbox::work(&app, &busy, stop);
            });
        };
        threads.push(worker::start(&format!("inbox-{number}"), stop, work)?);
    }
    for number in 1..=sync::WORKERS {
        let app = Arc::clone(app);
        let work = move |stop: &Stop| {
            repeat(&app.db, stop, &app.marketplace.wanted, || sync::work(&app, stop));
        };
        threads.push(worker::start(&format!("sync-{number}"), stop, work)?);
    }
    let app = Arc::clone(app);
    let work = move |stop: &Stop| {
        repeat(&app.db, stop, &app.marketplace.bell, || account::purge::work(&app, stop));
    };
    threads.push(worker::start("forget", stop, work)?);
    Ok(threads)
}

/// Calls `one` until it finds no work. After a failure the next round tries
/// again.
fn work_off(stop: &Stop, what: &str, mut one: impl FnMut() -> Result<bool, DbError>) {
    while !stop.wait(Duration::ZERO) {
        match one() {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) if error.is_told() => return,
            Err(error) => {
                tracing::warn!(%error, "{what} failed; trying again");
                return;
            }
        }
    }
}

/// Runs `round` now, at each ring and at least once per [`LOOK`], until `stop`
/// is set; not while nothing can be stored.
fn repeat(db: &Db, stop: &Stop, bell: &Stop, mut round: impl FnMut()) {
    let (mut rings, _) = bell.wait_ring(u64::MAX, Duration::ZERO);
    while !stop.wait(Duration::ZERO) {
        if !db.is_blocked() {
            round();
        }
        let (seen, stopping) = bell.wait_ring(rings, LOOK);
        if stopping {
            return;
        }
        rings = seen;
    }
}
