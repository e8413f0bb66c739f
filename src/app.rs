//! The state of the service: one value, made at start, that all handlers and
//! jobs share.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;

use crate::accounts::confirmations::Confirmations;
use crate::accounts::known_addresses::KnownAddresses;
use crate::accounts::passwords::Passwords;
use crate::accounts::views::DemoLogin;
use crate::agency::questions::holds::Holds;
use crate::audit::recent::Looks;
use crate::base::counter::Counter;
use crate::base::worker::{Stop, Turns};
use crate::base::{Clock, Sealer};
use crate::changes::LastChanges;
use crate::config::{Config, ShownSetting};
use crate::content::PublicContent;
use crate::copies::Copies;
use crate::db::Db;
use crate::developers::documents::Documents;
use crate::developers::status::days::Watch;
use crate::edge::lanes::Lanes;
use crate::edge::route::{self, Route};
use crate::extension::cache::DashboardCache;
use crate::http::Request;
use crate::http::addresses::Addresses;
use crate::http::intake::Intake;
use crate::http::limit::Limiter;
use crate::http::router::Router;
use crate::https::Https;
use crate::identity::Person;
use crate::identity::last_uses::LastUses;
use crate::identity::token::Identities;
use crate::invalidation;
use crate::live;
use crate::marketplace::Marketplace;
use crate::marketplace::books::orders::effects::Effects;
use crate::messages::delivery::Delivery;
use crate::messages::push::vapid;
use crate::messages::receipts::ReceiptCounts;
use crate::messages::telegram::TelegramState;
use crate::operations::channel_tests::ChannelTests;
use crate::operations::requests::Recorder;
use crate::operations::rounds::Rounds;
use crate::operations::traffic::Traffic;
use crate::operations::way::Way;
use crate::panel::live::Live;
use crate::panel::notices::Notices;
use crate::panel::once;
use crate::partner::oauth::fetched::Fetcher;
use crate::partner::pages_cache::Pages;
use crate::partner::trial::Trial;
use crate::partner::usage::Usage;
use crate::partner::webhooks::state::Webhooks;
use crate::people::import::running::Imports;
use crate::program::recounting::Recount;
use crate::replica;
use crate::services::Services;

/// The service's state, in parts by what they are for.
pub struct App {
    pub services: Arc<Services>,
    pub server: Server,
    pub callers: Callers,
    pub caches: Caches,
    pub messages: Messages,
    pub health: Health,
    pub work: Work,
    pub marketplace: Marketplace,
    pub webhooks: Webhooks,
    /// Shops of sample data for test tokens.
    pub trial: Trial,
    /// The numbers of menus, and the pages that follow them.
    pub live: Live,
}

/// How requests reach us and are handled.
pub struct Server {
    pub addresses: Addresses,
    /// HTTPS of our own; `None`: there is none.
    pub https: Option<Arc<Https>>,
    pub routes: Vec<Route>,
    pub router: Router,
    pub lanes: Lanes,
    /// Limits the memory of request bodies.
    pub intake: Intake,
    /// Requests with the same form run one after the other.
    pub form_locks: once::FormLocks,
    pub notices: Notices,
    /// The settings in force with their origins, set at start.
    pub settings: OnceLock<Vec<ShownSetting>>,
    /// Logins to show on the login page of a demonstration.
    pub demo: Vec<DemoLogin>,
}

/// Who may come in, how often, and what they used.
pub struct Callers {
    pub limiter: Arc<Limiter>,
    pub identities: Identities,
    pub last_uses: LastUses,
    pub usage: Arc<Usage>,
    pub passwords: Passwords,
    /// Addresses with a recent successful login.
    pub known_addresses: Arc<KnownAddresses>,
    /// Who gave the password once more of late.
    pub confirmations: Confirmations,
    /// What staff looked at within the hour.
    pub looks: Looks,
    pub refused_signatures: Counter,
}

/// Answers that are kept in memory.
#[derive(Default)]
pub struct Caches {
    pub pages: Pages,
    pub dashboards: DashboardCache,
    /// When the notifications that partner programs sent to a person last changed.
    pub notices_changed: LastChanges,
    pub public: PublicContent,
    pub documents: Documents,
}

/// What leaves for people.
pub struct Messages {
    pub delivery: Delivery,
    /// Our keys for push services, set at start if push is on.
    pub push_keys: OnceLock<vapid::Keys>,
    /// What the official chat API told of messages that it took.
    pub receipts: Arc<ReceiptCounts>,
    pub telegram: TelegramState,
    /// Tests of channels: those under way, and what came of the last.
    pub channel_tests: ChannelTests,
}

/// How the service is doing, and what is done about it.
pub struct Health {
    pub traffic: Traffic,
    pub requests: Recorder,
    /// What the service does again and again by itself.
    pub rounds: Rounds,
    /// The observed state of the service's parts, to be written by day.
    pub states: Watch,
    /// The copy to restore while the database is in trouble.
    pub way: Way,
    /// The copies that the service makes by itself.
    pub copies: Copies,
    /// Lets one copy of the database be sent at a time.
    pub copying: Arc<Semaphore>,
    /// How far the replica is.
    pub replica: replica::State,
    /// Set when another process, such as a command, changed the database.
    pub outside_change: Arc<AtomicBool>,
}

/// What goes on by itself, or one after the other.
pub struct Work {
    /// Which team member of the agency is answering which question.
    pub holds: Holds,
    /// Runs of the periodic tasks happen one after the other.
    pub cron_turns: Turns,
    /// Cycles that read the agency's clients run one after the other.
    pub agency_turns: Turns,
    pub imports: Arc<Imports>,
    /// Wakes the worker that sends announcements.
    pub announcements: Stop,
    pub recount: Recount,
    /// Wakes the worker that tells students of lowered milestones.
    pub milestone_bell: Stop,
    /// Fetches the documents in which OAuth clients describe themselves.
    pub fetcher: Fetcher,
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

/// Arguments that the functions of a page pass on: the app, the signed-in
/// person and the request.
pub type Visit<'a> = (&'a App, &'a Person, &'a Request);

impl Deref for App {
    type Target = Services;

    /// So that what needs no more than the services says so and is given the app.
    fn deref(&self) -> &Services {
        &self.services
    }
}

impl App {
    /// Builds the service. Conflicting rows of the route table are an error.
    #[expect(clippy::too_many_lines, reason = "a list of all parts")]
    pub fn new(parts: Parts) -> Result<Arc<Self>, String> {
        let Parts { config, clock, db, sealer, bound, https, routes, effects, demo } = parts;
        let router = route::router(&routes)?;
        let addresses = addresses(&config, bound, https.as_deref());
        let passwords = Passwords::start()
            .map_err(|error| format!("cannot start the password thread: {error}"))?;
        let delivery = Delivery::new(&config)?;
        let (marketplace, telegram) = (
            Marketplace::new(&config.marketplace, clock.clone(), effects),
            TelegramState::new(&config.telegram),
        );
        let fetcher = Fetcher::new(&config.agents);
        let services = Services::new(config, clock, db, sealer);
        let app = Arc::new(Self {
            callers: Callers {
                limiter: Arc::default(),
                identities: Identities::default(),
                last_uses: LastUses::default(),
                usage: Arc::default(),
                passwords,
                known_addresses: Arc::default(),
                confirmations: Confirmations::default(),
                looks: Looks::default(),
                refused_signatures: Counter::new("refused_signatures"),
            },
            caches: Caches::default(),
            messages: Messages {
                delivery,
                push_keys: OnceLock::new(),
                receipts: Arc::default(),
                telegram,
                channel_tests: ChannelTests::default(),
            },
            health: Health {
                traffic: Traffic::new(routes.iter().map(Route::counted_in)),
                requests: Recorder::new(routes.iter().map(|row| (row.path, row.secret_path))),
                rounds: Rounds::default(),
                states: Watch::new(services.started_at),
                way: Way::default(),
                copies: Copies::default(),
                copying: Arc::new(Semaphore::new(1)),
                replica: replica::State::default(),
                outside_change: Arc::default(),
            },
            work: Work {
                holds: Holds::default(),
                cron_turns: Turns::default(),
                agency_turns: Turns::default(),
                imports: Arc::default(),
                announcements: Stop::default(),
                recount: Recount::default(),
                milestone_bell: Stop::default(),
                fetcher,
            },
            marketplace,
            webhooks: Webhooks::default(),
            trial: Trial::default(),
            live: Live::new(live::store::read),
            server: Server {
                addresses,
                https,
                routes,
                router,
                lanes: Lanes::default(),
                intake: Intake::default(),
                form_locks: once::FormLocks::default(),
                notices: Notices::default(),
                settings: OnceLock::new(),
                demo,
            },
            services,
        });
        app.marketplace.issued.mark_all(app.started_at);
        let (versions, outside) =
            (Arc::clone(&app.versions), Arc::clone(&app.health.outside_change));
        let bell = app.webhooks.bell.clone();
        let (raised, changed) = (Arc::clone(&app.live.bell), Arc::clone(&app.live.bell));
        invalidation::watch(
            &app.db,
            &app.versions,
            move || bell.ring(),
            move || raised.notify_one(),
        )
        .map_err(|error| error.to_string())?;
        app.db.on_outside_change(move || {
            versions.raise_everything();
            changed.notify_one();
            outside.store(true, Ordering::Release);
        });
        Ok(app)
    }
}

fn addresses(config: &Config, bound: SocketAddr, https: Option<&Https>) -> Addresses {
    let (server, origins) = (&config.server, &config.agents.allowed_origins);
    let is_proxied = !server.trusted_proxies.is_empty();
    let tls = https.map(|https| Arc::clone(&https.tls));
    Addresses::new(&server.base_url, &server.dev_base_url, origins, bound, is_proxied).with_tls(tls)
}
