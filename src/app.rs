//! The state of the service: one value, made at start, that all handlers and
//! jobs share.

use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use tokio::sync::Semaphore;

use crate::accounts::confirm::Confirmations;
use crate::accounts::familiar::Familiar;
use crate::accounts::passwords::Passwords;
use crate::accounts::views::DemoLogin;
use crate::agency::questions::holds::Holds;
use crate::audit::looks::Looks;
use crate::base::worker::{Stop, Turns};
use crate::base::{Clock, Day, Instant, Sealer, Versions, Zone};
use crate::behind::{Counter, LastUses};
use crate::changes::LastChanges;
use crate::config::{Config, ShownSetting};
use crate::content::PublicContent;
use crate::copies::Copies;
use crate::db::Db;
use crate::developers::{Documents, status};
use crate::edge::guard::Identities;
use crate::edge::lanes::Lanes;
use crate::edge::route::{self, Route};
use crate::extension::kept::Dashboards;
use crate::http::addresses::Addresses;
use crate::http::body::UNSENT_BYTES;
use crate::http::budget::Budget;
use crate::http::intake::Intake;
use crate::http::limit::Limiter;
use crate::http::router::Router;
use crate::https::Https;
use crate::marketplace::Marketplace;
use crate::marketplace::books::orders::effects::Effects;
use crate::messages::delivery::Delivery;
use crate::messages::push::vapid;
use crate::messages::telegram::TelegramState;
use crate::operations::channel_tests::ChannelTests;
use crate::operations::requests::Recorder;
use crate::operations::rounds::Rounds;
use crate::operations::soundness::Way;
use crate::operations::traffic::Traffic;
use crate::panel::export::Exports;
use crate::panel::notices::Notices;
use crate::panel::once;
use crate::partner::oauth::Fetcher;
use crate::partner::pages_cache::Pages;
use crate::partner::usage::Usage;
use crate::partner::webhooks::Webhooks;
use crate::people::import::apply::Imports;
use crate::program::recount::Recount;
use crate::replica;
use crate::stale;

/// The service's state.
pub struct App {
    /// A reference to itself, for work that outlives the handler that began it.
    pub own: Weak<App>,
    pub config: Arc<Config>,
    pub clock: Clock,
    pub db: Db,
    pub addresses: Addresses,
    /// HTTPS of our own; `None`: there is none.
    pub https: Option<Arc<Https>>,
    pub sealer: Arc<Sealer>,
    pub limiter: Arc<Limiter>,
    pub versions: Arc<Versions>,
    pub identities: Identities,
    pub last_uses: LastUses,
    pub usage: Arc<Usage>,
    pub pages: Pages,
    pub dashboards: Dashboards,
    /// When the notifications that partner programs sent to a person last changed.
    pub notices_changed: LastChanges,
    pub public: PublicContent,
    pub passwords: Passwords,
    /// Addresses with a recent successful login.
    pub familiar: Arc<Familiar>,
    pub marketplace: Marketplace,
    /// Which team member of the agency is answering which question.
    pub holds: Holds,
    pub delivery: Delivery,
    pub webhooks: Webhooks,
    /// Our keys for push services, set at start if push is on.
    pub push_keys: OnceLock<vapid::Keys>,
    pub telegram: TelegramState,
    pub refused_signatures: Counter,
    pub routes: Vec<Route>,
    pub router: Router,
    pub lanes: Lanes,
    /// Who gave the password once more of late.
    pub confirmations: Confirmations,
    /// The copies that the service makes by itself.
    pub copies: Copies,
    /// Lets one copy of the database be sent at a time.
    pub copying: Arc<Semaphore>,
    pub traffic: Traffic,
    pub requests: Recorder,
    /// Limits the memory of request bodies.
    pub intake: Intake,
    /// Limits the memory of large answers that are being sent.
    pub unsent: Arc<Budget>,
    pub exports: Exports,
    /// What staff looked at within the hour.
    pub looks: Looks,
    /// Tests of channels: those under way, and what came of the last.
    pub channel_tests: ChannelTests,
    /// What the service does again and again by itself.
    pub rounds: Rounds,
    /// The settings in force with their origins, set at start.
    pub settings: OnceLock<Vec<ShownSetting>>,
    /// The copy to restore while the database is in trouble.
    pub way: Way,
    /// How far the replica is.
    pub replica: replica::State,
    pub notices: Notices,
    pub documents: Documents,
    /// The observed state of the service's parts, to be written by day.
    pub states: status::Watch,
    /// Requests with the same form run one after the other.
    pub form_locks: once::FormLocks,
    /// Runs of the periodic tasks happen one after the other.
    pub cron_turns: Turns,
    /// Cycles that read the agency's clients run one after the other.
    pub agency_turns: Turns,
    pub imports: Arc<Imports>,
    pub recount: Recount,
    /// Wakes the worker that tells students of lowered milestones.
    pub milestone_bell: Stop,
    /// Fetches the documents in which OAuth clients describe themselves.
    pub fetcher: Fetcher,
    /// Set when another process, such as a command, changed the database.
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
    pub https: Option<Arc<Https>>,
    pub routes: Vec<Route>,
    pub effects: Effects,
    pub demo: Vec<DemoLogin>,
}

impl App {
    /// Builds the service. Conflicting rows of the route table are an error.
    #[expect(clippy::too_many_lines, reason = "a list of all parts")]
    pub fn new(parts: Parts) -> Result<Arc<Self>, String> {
        let Parts { config, clock, db, sealer, bound, https, routes, effects, demo } = parts;
        let router = route::router(&routes)?;
        let addresses = addresses(&config, bound, https.as_deref());
        let started_at = clock.now();
        let passwords = Passwords::start()
            .map_err(|error| format!("cannot start the password thread: {error}"))?;
        let delivery = Delivery::new(&config)?;
        let app = Arc::new_cyclic(|own| Self {
            own: own.clone(),
            addresses,
            https,
            sealer: Arc::new(sealer),
            limiter: Arc::default(),
            versions: Arc::default(),
            identities: Identities::default(),
            last_uses: LastUses::default(),
            usage: Arc::default(),
            pages: Pages::default(),
            dashboards: Dashboards::default(),
            notices_changed: LastChanges::default(),
            public: PublicContent::default(),
            passwords,
            familiar: Arc::default(),
            marketplace: Marketplace::new(&config.marketplace, clock.clone(), effects),
            holds: Holds::default(),
            delivery,
            webhooks: Webhooks::default(),
            push_keys: OnceLock::new(),
            telegram: TelegramState::new(&config.telegram),
            refused_signatures: Counter::new("refused_signatures"),
            router,
            traffic: Traffic::new(&routes),
            requests: Recorder::new(&routes),
            intake: Intake::default(),
            unsent: Budget::new(UNSENT_BYTES),
            exports: Exports::default(),
            looks: Looks::default(),
            routes,
            lanes: Lanes::default(),
            confirmations: Confirmations::default(),
            copies: Copies::default(),
            copying: Arc::new(Semaphore::new(1)),
            channel_tests: ChannelTests::default(),
            rounds: Rounds::default(),
            settings: OnceLock::new(),
            way: Way::default(),
            replica: replica::State::default(),
            notices: Notices::default(),
            documents: Documents::default(),
            states: status::Watch::new(started_at),
            form_locks: once::FormLocks::default(),
            cron_turns: Turns::default(),
            agency_turns: Turns::default(),
            imports: Arc::default(),
            recount: Recount::default(),
            milestone_bell: Stop::default(),
            fetcher: Fetcher::new(&config.agents),
            outside_change: Arc::default(),
            started_at,
            demo,
            today: Mutex::new((Instant(0), Instant(0), Day(0))),
            config: Arc::new(config),
            clock,
            db,
        });
        app.marketplace.issued.mark_all(started_at);
        let (versions, outside) = (Arc::clone(&app.versions), Arc::clone(&app.outside_change));
        let bell = app.webhooks.bell.clone();
        stale::watch(&app.db, &app.versions, move || bell.ring())
            .map_err(|error| error.to_string())?;
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
        let mut today = self.today.lock();
        let (start, end, day) = *today;
        if start <= at && at < end {
            return day;
        }
        let day = self.zone().day(at);
        *today = (self.zone().start_of(day), self.zone().start_of(day.plus(1)), day);
        day
    }
}

fn addresses(config: &Config, bound: SocketAddr, https: Option<&Https>) -> Addresses {
    let (server, origins) = (&config.server, &config.agents.allowed_origins);
    let is_proxied = !server.trusted_proxies.is_empty();
    let own = (&*server.base_url, &*server.dev_base_url);
    let tls = https.map(|https| Arc::clone(&https.tls));
    Addresses::new(own, origins, bound, is_proxied).with_tls(tls)
}
