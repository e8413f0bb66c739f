//! The marketplace: linked accounts, received notifications, and the books.
//!
//! Notifications are stored and answered at once (`inbox/api.rs`), then
//! processed in the background (`inbox/`). Their body is only a hint: the
//! record is always fetched with the owner's token. `account/link.rs` links
//! accounts, `account/tokens.rs` renews their tokens, and `sync/` reads what no
//! notification announced. `books/` stores every record that was read. No call
//! to the outside is ever made inside a write.

pub mod account;
pub mod books;
pub mod client;
pub mod inbox;
pub mod kinds;
pub mod outside;
pub mod sync;
pub mod tools;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::app::App;
use crate::base::queue::{self, KeyedSemaphore};
use crate::base::{Clock, MlUserId, Stop};
use crate::changes::IssuedSeconds;
use crate::config;
use crate::db::rounds;

use books::orders::effects::Effects;
use books::words::Words;
use client::Client;
use inbox::signature::Verifier;

/// What the service keeps in memory about the marketplace.
pub struct Marketplace {
    pub client: Client,
    /// Rung after a notification was stored, or an account unlinked.
    pub bell: Stop,
    /// Rung when a person waits for an account to be read.
    pub wanted: Stop,
    /// Accounts that are being read.
    pub busy: KeyedSemaphore<MlUserId>,
    /// Questions that are being answered.
    pub answering: KeyedSemaphore<i64>,
    /// Labels that could not be printed recently.
    pub refused_labels: tools::labels::refused::RefusedLabels,
    /// Files of labels that were just printed.
    pub printed_files: tools::labels::files::PrintedFiles,
    /// Seconds given out to pollers as `Last-Modified`.
    pub issued: Arc<IssuedSeconds>,
    /// States and kinds that orders refer to by number.
    pub words: Arc<Words>,
    /// Checks signatures of notifications.
    pub verifier: Verifier,
    /// What other rooms do about changes.
    pub effects: Effects,
    /// What came of the last request for notifications that were missed.
    pub last_missed: sync::missed::LastMissed,
    /// Accounts whose tokens are being refreshed.
    refreshing: KeyedSemaphore<MlUserId>,
}

impl Marketplace {
    /// The marketplace of a configuration. Nothing is called yet.
    pub fn new(config: &config::Marketplace, clock: Clock, effects: Effects) -> Self {
        Self {
            client: Client::new(config, clock),
            bell: Stop::default(),
            wanted: Stop::default(),
            busy: KeyedSemaphore::leases(),
            answering: KeyedSemaphore::leases(),
            refused_labels: tools::labels::refused::RefusedLabels::default(),
            printed_files: tools::labels::files::PrintedFiles::default(),
            issued: Arc::default(),
            words: Arc::default(),
            verifier: Verifier::new(config),
            effects,
            last_missed: sync::missed::LastMissed::default(),
            refreshing: KeyedSemaphore::leases(),
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
    let Marketplace { bell, wanted, .. } = &app.marketplace;
    let (db, sellers) = (&app.db, KeyedSemaphore::leases());
    let own = || Arc::clone(app);
    let app = own();
    let mut threads = rounds::start(db, &queue::INBOX, stop, bell, move |stop| {
        inbox::work_one(&app, &sellers, stop)
    })?;
    let app = own();
    threads.extend(rounds::start(db, &queue::READINGS, stop, wanted, move |stop| {
        sync::work_one(&app, stop)
    })?);
    let app = own();
    threads.extend(rounds::start(db, &queue::UNLINKED, stop, bell, move |_| {
        account::purge::work_one(&app)
    })?);
    Ok(threads)
}
