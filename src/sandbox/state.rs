//! What the sandbox holds: sellers, listings, orders, grants, switches, logs.
//!
//! One value behind one mutex. Every collection has a cap: the logs forget
//! their oldest entry, the rest refuses to grow.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde::Serialize;
use tokio::sync::watch;

use super::Options;
use super::chat::Message;
use super::config::Config;
use super::deliver::{Delivery, Missed, Notice};
use super::faults::Fault;
use super::oauth::Grants;
use super::push::Pushed;
use super::telegram::Telegram;
use super::things::{Claim, Item, Order, Question, Seller, Shipment};
use crate::base::clock::{Clock, Instant};
use crate::base::secrets::Secret;

/// Sellers that one sandbox holds.
pub const SELLERS_MAX: usize = 256;
/// Listings of all sellers.
pub const ITEMS_MAX: usize = 20_000;
/// Orders of all sellers.
pub const ORDERS_MAX: usize = 200_000;
/// Questions of all buyers.
pub const QUESTIONS_MAX: usize = 50_000;
/// Claims of all buyers.
pub const CLAIMS_MAX: usize = 50_000;
/// Notifications that wait.
pub const QUEUE_MAX: usize = 10_000;
/// Entries of each log.
pub const LOG_MAX: usize = 1_000;

/// The sandbox: fixed settings, and the world behind its lock.
pub struct Sandbox {
    /// Whose time counts.
    pub clock: Clock,
    /// The application's id, digits.
    pub client_id: String,
    /// The application's secret.
    pub client_secret: Secret,
    world: Mutex<World>,
    /// Rung when a notification may have become due.
    pub(super) bell: Condvar,
    /// Notifications that still have to go out.
    pub(super) unsent: watch::Sender<usize>,
    /// Rung when a call for updates may have something to say.
    pub(super) telegram_bell: watch::Sender<()>,
}

impl Sandbox {
    pub(super) fn new(options: Options) -> Self {
        let config = Config {
            redirect_uris: options.redirect_uris,
            notify_url: options.notify_url,
            ..Config::default()
        };
        Self {
            clock: options.clock,
            client_id: options.client_id,
            client_secret: options.client_secret,
            world: Mutex::new(World { config, ..World::default() }),
            bell: Condvar::new(),
            unsent: watch::Sender::new(0),
            telegram_bell: watch::Sender::new(()),
        }
    }

    /// The world, locked. Held for the length of one call, never across I/O.
    pub fn world(&self) -> MutexGuard<'_, World> {
        // Each call leaves the maps consistent one insertion at a time, and a
        // stand-in that stops for good helps nobody.
        self.world.lock()
    }

    /// The application's id as notifications carry it.
    pub(super) fn application(&self) -> i64 {
        self.client_id.parse().unwrap_or_default()
    }

    /// Lets those who deliver or wait look again.
    pub(super) fn ring(&self) {
        let unsent = self.world().unsent();
        self.unsent.send_replace(unsent);
        self.telegram_bell.send_replace(());
        self.bell.notify_all();
    }

    pub(super) fn stop_delivering(&self) {
        self.world().stopping = true;
        self.bell.notify_all();
    }
}

/// Everything that changes.
#[derive(Default)]
pub struct World {
    /// Switches, set by `POST /_sandbox/config`.
    pub config: Config,
    /// Sellers by marketplace id.
    pub sellers: BTreeMap<i64, Seller>,
    /// Listings by the number after `MLB`.
    pub items: BTreeMap<i64, Item>,
    /// Orders by id.
    pub orders: BTreeMap<i64, Order>,
    /// The same by seller and date of creation, for searches.
    pub(super) orders_by_date: BTreeSet<(i64, Instant, i64)>,
    /// Shipments by id.
    pub shipments: BTreeMap<i64, Shipment>,
    /// Questions by id.
    pub questions: BTreeMap<i64, Question>,
    /// Claims by id.
    pub claims: BTreeMap<i64, Claim>,
    /// Records that are served unreadable, such as `orders/2000001`.
    pub(super) spoiled: BTreeSet<String>,
    /// Topics that go out no more, because the receiver was too slow.
    pub(super) silenced: BTreeSet<String>,
    /// Notifications in a row that a topic's receiver missed.
    pub(super) misses: HashMap<String, u32>,
    /// Calls that are being answered, and the most there ever were.
    pub(super) load: Load,
    pub(super) grants: Grants,
    pub(super) scrolls: HashMap<String, Scroll>,
    pub(super) faults: Vec<Fault>,
    pub(super) queue: Vec<Notice>,
    pub(super) in_flight: usize,
    pub(super) stopping: bool,
    pub(super) deliveries: Log<Delivery>,
    pub(super) missed: Log<Missed>,
    pub(super) requests: Log<Seen>,
    pub(super) violations: Log<Violation>,
    /// What the chat gateways and Telegram took.
    pub(super) messages: Log<Message>,
    /// When a number last wrote to us, which opens a window of 24 hours.
    pub(super) wrote: HashMap<String, Instant>,
    /// What the push service took.
    pub(super) pushed: Log<Pushed>,
    pub(super) telegram: Telegram,
    /// How many test users a seller made.
    pub(super) test_users: HashMap<i64, usize>,
    counter: i64,
}

impl World {
    /// The next number of a running count; ids are built from it.
    pub(super) fn next_number(&mut self) -> i64 {
        self.counter += 1;
        self.counter
    }

    /// Notes a use of the interface that the real marketplace would not take.
    pub(super) fn violation(&mut self, at: Instant, rule: &'static str, detail: String) {
        self.violations.push(Violation { at: at.rfc3339(), rule, detail });
    }

    /// Notifications that still have to go out; held ones do not count.
    pub(super) fn unsent(&self) -> usize {
        if self.config.hold || self.config.notify_url.is_none() {
            return self.in_flight;
        }
        self.queue.len() + self.in_flight
    }

    /// A listing by its wire id (`MLB123`).
    pub(super) fn item(&self, id: &str) -> Option<&Item> {
        self.items.get(&item_number(id)?)
    }
}

/// The number of a listing id.
pub(super) fn item_number(id: &str) -> Option<i64> {
    id.strip_prefix("MLB")?.parse().ok()
}

/// Where a scan stands. It goes through what there was when it began.
pub(super) struct Scroll {
    pub seller: i64,
    pub ids: Vec<i64>,
    pub taken: usize,
    pub until: Instant,
}

/// Calls at one time, overall and by seller.
#[derive(Default)]
pub(super) struct Load {
    running: HashMap<Option<i64>, usize>,
    /// The most at one time.
    pub most: usize,
    /// The most at one time for one seller.
    pub most_of_seller: usize,
}

impl Load {
    /// A call begins.
    pub fn begin(&mut self, seller: Option<i64>) {
        let own = self.running.entry(seller).or_default();
        *own += 1;
        if seller.is_some() {
            self.most_of_seller = self.most_of_seller.max(*own);
        }
        self.most = self.most.max(self.running.values().sum());
    }

    /// It ends.
    pub fn end(&mut self, seller: Option<i64>) {
        if let Some(own) = self.running.get_mut(&seller) {
            *own = own.saturating_sub(1);
        }
    }
}

/// One call that arrived.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    /// Running number.
    pub number: i64,
    /// When, RFC 3339.
    pub at: String,
    /// HTTP method.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Query with secrets masked.
    pub query: String,
    /// Whether a bearer token came along.
    pub bearer: bool,
    /// Whose token it was, when it was good.
    pub ml_user_id: Option<i64>,
    /// The answer; none when the connection ended without one.
    pub status: Option<u16>,
    /// The fault that was played.
    pub fault: Option<&'static str>,
}

/// A use of the interface that the marketplace documents differently.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    /// When, RFC 3339.
    pub at: String,
    /// Which rule.
    pub rule: &'static str,
    /// What was asked, without secrets.
    pub detail: String,
}

/// A log that forgets its oldest entry.
pub struct Log<T> {
    entries: VecDeque<T>,
    total: u64,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), total: 0 }
    }
}

impl<T> Log<T> {
    /// Adds an entry.
    pub fn push(&mut self, entry: T) {
        if self.entries.len() == LOG_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
        self.total += 1;
    }

    /// Entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.entries.iter()
    }

    /// How many there have been, also those that made room for newer ones.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets all entries, and how many there were.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A random UUID (version 4).
pub(super) fn uuid() -> String {
    let mut bytes: [u8; 16] = crate::base::secrets::random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = crate::base::text::hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
