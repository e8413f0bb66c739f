//! The app of the test shops, opened when the first test token is used, or at the start when
//! there are shops: those of people who are gone must go.
//!
//! Its database is beside the data file, in no copy and in no replica: what is in it can be
//! made again. It has the workers that events need, and none that leave the service but for
//! webhooks of the shops themselves.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use parking_lot::Mutex;

use crate::app::{App, Parts};
use crate::base::files::beside;
use crate::base::{Secret, Stop, worker};
use crate::behind;
use crate::config::Config;
use crate::db::{Db, Options, migrate};
use crate::partner::trial;
use crate::partner::webhooks;

/// Added to the name of the data file.
const SUFFIX: &str = ".teste";
/// What a database of shops has beside it, added to its name.
const FILES: [&str; 8] =
    ["", "-wal", "-shm", "-journal", ".lock", ".commits", ".damaged", ".missing"];
/// A larger file is made anew: what is in it is nobody's.
const LARGEST: u64 = 2 << 30;
/// Nothing is there, so nothing is called there by mistake.
const NOWHERE: &str = "http://127.0.0.1:9";
const READERS: usize = 2;
/// How often the last uses of shops are written.
const NOTED_EVERY_S: i64 = 60;

/// What runs for the test shops.
#[derive(Default)]
pub struct TestShops {
    stop: Stop,
    running: Mutex<Option<Running>>,
}

/// The app with its workers.
type Running = (Arc<App>, Vec<JoinHandle<()>>);

/// Tells the real app how the shops are opened, and opens those that are there.
pub fn prepare(real: &Arc<App>) -> Arc<TestShops> {
    let shops = Arc::new(TestShops::default());
    let (opened, of) = (Arc::clone(&shops), Arc::downgrade(real));
    real.trial.opens_by(Box::new(move || opened.open(&of).map_err(|error| format!("{error:#}"))));
    if beside(&real.config.database.path, SUFFIX).exists() {
        // Why they cannot be opened is logged; the next test token tries again.
        let _ = real.trial.shops();
    }
    shops
}

impl TestShops {
    fn open(&self, real: &Weak<App>) -> anyhow::Result<Arc<App>> {
        let real = real.upgrade().context("the service stops")?;
        let path = beside(&real.config.database.path, SUFFIX);
        let options = Options {
            path: path.clone(),
            clock: real.clock.clone(),
            readers: READERS,
            slow_readers: READERS,
        };
        let db = open_database(&options)?;
        let parts = Parts {
            config: config(&real, path),
            clock: real.clock.clone(),
            db,
            sealer: (*real.sealer).clone(),
            bound: real.config.server.listen,
            https: None,
            routes: Vec::new(),
            effects: real.marketplace.effects,
            demo: Vec::new(),
        };
        let app = App::new(parts).map_err(|problem| anyhow!(problem))?;
        app.trial.belongs_to(&real);
        behind::load(&app)?;
        let counted = Arc::clone(&app);
        let counting = worker::start("test-shops", &self.stop, move |stop| work(&counted, stop))?;
        let workers = vec![counting, webhooks::start_worker(&app, &self.stop)?];
        *self.running.lock() = Some((Arc::clone(&app), workers));
        Ok(app)
    }

    /// Ends what was opened.
    pub fn finish(&self) -> anyhow::Result<()> {
        self.stop.stop();
        let Some((app, workers)) = self.running.lock().take() else { return Ok(()) };
        app.marketplace.stop();
        app.db.stop_checks();
        for worker in workers {
            if worker.join().is_err() {
                tracing::error!("a worker of the test shops ended in a panic");
            }
        }
        behind::flush(&app).context("cannot write the last counters of the test shops")?;
        app.db.clone().close().context("cannot close the test shops cleanly")
    }
}

/// The configuration of the shops: that of the service, without any way out.
fn config(real: &App, path: PathBuf) -> Config {
    let mut config = (*real.config).clone();
    config.database.path = path;
    config.database.backup_dir = None;
    config.replica.url = None;
    let addresses = &real.server.addresses;
    addresses.base_url.clone_into(&mut config.server.base_url);
    addresses.dev_base_url.clone_into(&mut config.server.dev_base_url);
    NOWHERE.clone_into(&mut config.marketplace.api_base);
    NOWHERE.clone_into(&mut config.marketplace.auth_base);
    config.marketplace.client_id.clear();
    config.marketplace.client_secret = Secret::default();
    config.chat.base_url.clear();
    config.email.smtp_url = Secret::default();
    config.telegram.bot_token = Secret::default();
    config.push.subject.clear();
    config.cron.enabled = false;
    config
}

/// Writes counters once a second and removes what is over at first and once an hour.
fn work(shops: &App, stop: &Stop) {
    let mut noted_at = shops.clock.now();
    let mut tidied_at = noted_at.minus(behind::TIDY_EVERY_S);
    loop {
        let stopping = stop.wait(Duration::from_secs(1));
        let now = shops.clock.now();
        let mut written = behind::flush(shops);
        if written.is_ok() && (stopping || now.since(noted_at) >= NOTED_EVERY_S) {
            noted_at = now;
            written = trial::note_uses(shops);
        }
        if let Err(error) = written {
            tracing::warn!(%error, "counters of the test shops were not written; trying again");
        }
        if stopping {
            return;
        }
        if now.since(tidied_at) < behind::TIDY_EVERY_S {
            continue;
        }
        tidied_at = now;
        let Some(real) = shops.trial.real() else { return };
        // A shop that was just opened is in use.
        let tidied = trial::note_uses(shops)
            .and_then(|()| behind::delete_expired(shops))
            .and_then(|()| trial::sweep(shops, &real));
        if let Err(error) = tidied {
            tracing::warn!(%error, "what is over in the test shops was not removed; trying again in an hour");
        }
    }
}

/// Opens the database, or another one when it cannot be used.
fn open_database(options: &Options) -> anyhow::Result<Db> {
    if is_usable(&options.path) {
        match Db::open_exclusive(options) {
            Ok((db, _)) if !db.is_blocked() => return Ok(db),
            Ok((db, _)) => {
                db.stop_checks();
                db.close()?;
            }
            Err(error) => tracing::warn!(%error, "the test shops are made anew"),
        }
    }
    remove(&options.path)?;
    Ok(Db::open_exclusive(options)?.0)
}

/// Whether a database of shops can be opened as it is: this version's, and not too large.
fn is_usable(path: &Path) -> bool {
    let is_small = std::fs::metadata(path).is_ok_and(|found| found.len() < LARGEST);
    is_small && migrate::require_current(path).is_ok()
}

/// Removes a database of shops with all files that belong to it.
fn remove(path: &Path) -> anyhow::Result<()> {
    for end in FILES {
        let file = beside(path, end);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", file.display()));
            }
            _ => {}
        }
    }
    Ok(())
}
