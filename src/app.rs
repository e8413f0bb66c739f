//! What handlers and jobs may use: one value, made at start, shared by all.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::accounts::passwords::Passwords;
use crate::accounts::views::DemoLogin;
use crate::behind::{Counter, Touches};
use crate::cache::Versions;
use crate::clock::{Clock, Day, Instant, Zone};
use crate::config::Config;
use crate::content::PublicContent;
use crate::db::Db;
use crate::guard::Identities;
use crate::http::Problem;
use crate::http::addresses::Addresses;
use crate::http::limit::Limiter;
use crate::http::router::Router;
use crate::marketplace::Marketplace;
use crate::messages::delivery::Delivery;
use crate::messages::push::vapid;
use crate::messages::telegram::Telegram;
use crate::operations::Soundness;
use crate::operations::traffic::Traffic;
use crate::partner::pages_cache::Pages;
use crate::partner::usage::Usage;
use crate::people::import::apply::Imports;
use crate::requests::Recorder;
use crate::route::Route;
use crate::secrets::Sealer;
use crate::worker::Turns;

/// Slow requests that run at a time, and that may wait for their turn.
const SLOW_RUNNING: usize = 16;
const SLOW_WAITING: usize = 112;
/// Calls that may wait for their run of the periodic tasks.
const RUNS_WAITING: usize = 64;

/// The service's state.
pub struct App {
    pub config: Config,
    pub clock: Clock,
    pub db: Db,
    pub addresses: Addresses,
    pub sealer: Arc<Sealer>,
    pub limiter: Arc<Limiter>,
    pub versions: Arc<Versions>,
    pub identities: Identities,
    pub touches: Touches,
    pub usage: Usage,
    pub pages: Pages,
    pub public: PublicContent,
    pub passwords: Passwords,
    pub marketplace: Marketplace,
    pub delivery: Delivery,
    /// Our keys for push services, set at start while push is on.
    pub push_keys: OnceLock<vapid::Keys>,
    pub telegram: Telegram,
    pub refused_signatures: Counter,
    pub routes: Vec<Route>,
    pub router: Router,
    pub slow: SlowPool,
    /// A place for one run of the periodic tasks that was called for.
    pub cron_pool: SlowPool,
    /// A place for one copy of the database that is being sent.
    pub copying: Arc<Semaphore>,
    pub traffic: Traffic,
    pub requests: Recorder,
    pub soundness: Soundness,
    /// Runs of the periodic tasks take turns.
    pub cron_turns: Turns,
    pub imports: Arc<Imports>,
    /// Set when a command beside the server changed the database.
    pub outside_change: Arc<AtomicBool>,
    pub started_at: Instant,
    /// Logins to show on the login page of a demonstration.
    pub demo: Vec<DemoLogin>,
    today: Mutex<(Instant, Instant, Day)>,
}

/// What an [`App`] is made of.
pub struct Parts {
    pub config: Config,
    pub clock: Clock,
    pub db: Db,
    pub sealer: Sealer,
    pub bound: SocketAddr,
    pub routes: Vec<Route>,
    pub demo: Vec<DemoLogin>,
}

impl App {
    /// Puts the service together. Rows of the route table that contradict
    /// each other are an error.
    pub fn new(parts: Parts) -> Result<Arc<Self>, String> {
        let Parts { config, clock, db, sealer, bound, routes, demo } = parts;
        let router =
            Router::new(routes.iter().map(|row| (&row.method, row.path, !row.changes_state)))?;
        let addresses = Addresses::new(&config.server.base_url, &config.server.dev_base_url, bound);
        let started_at = clock.now();
        let app = Arc::new(Self {
            addresses,
            sealer: Arc::new(sealer),
            limiter: Arc::default(),
            versions: Arc::default(),
            identities: Identities::default(),
            touches: Touches::default(),
            usage: Usage::default(),
            pages: Pages::default(),
            public: PublicContent::default(),
            passwords: Passwords::start()
                .map_err(|error| format!("cannot start the password thread: {error}"))?,
            marketplace: Marketplace::new(&config.marketplace, clock.clone()),
            delivery: Delivery::new(&config)?,
            push_keys: OnceLock::new(),
            telegram: Telegram::new(&config.telegram),
            refused_signatures: Counter::new("refused_signatures"),
            router,
            traffic: Traffic::new(&routes),
            requests: Recorder::new(&routes),
            routes,
            slow: SlowPool::new(SLOW_RUNNING, SLOW_WAITING),
            cron_pool: SlowPool::new(1, RUNS_WAITING),
            copying: Arc::new(Semaphore::new(1)),
            soundness: Soundness::default(),
            cron_turns: Turns::default(),
            imports: Arc::default(),
            outside_change: Arc::default(),
            started_at,
            demo,
            today: Mutex::new((Instant(0), Instant(0), Day(0))),
            config,
            clock,
            db,
        });
        app.marketplace.given.mark_everybody(started_at);
        let (versions, outside) = (Arc::clone(&app.versions), Arc::clone(&app.outside_change));
        app.db.on_outside_change(move || {
            versions.raise_everything();
            outside.store(true, Ordering::Release);
        });
        Ok(app)
    }

    /// The zone of civil time.
    pub fn zone(&self) -> Zone {
        self.config.server.timezone
    }

    /// The civil day of an instant. The present day is remembered, because
    /// finding it takes longer than a whole lookup.
    pub fn day(&self, at: Instant) -> Day {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, end, day) = *today;
        if start <= at && at < end {
            return day;
        }
        let day = self.zone().day(at);
        *today = (self.zone().start_of(day), self.zone().start_of(day.plus(1)), day);
        day
    }
}

/// Places for requests that run on the blocking pool.
pub struct SlowPool {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl SlowPool {
    fn new(running: usize, waiting: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(running)),
            waiting: Arc::new(Semaphore::new(running + waiting)),
        }
    }

    /// A place in the queue, or a refusal when the queue is full. The second
    /// value waits for the turn.
    pub fn enter(&self) -> Result<(OwnedSemaphorePermit, Arc<Semaphore>), Problem> {
        let place = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| {
            Problem::unavailable("too many slow requests at once; try again in a moment", 2)
        })?;
        Ok((place, Arc::clone(&self.running)))
    }
}
