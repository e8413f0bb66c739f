//! What the sandbox holds: sellers, listings, orders, grants, switches, logs.
//!
//! One value behind one mutex. Every collection has a cap: the logs forget
//! their oldest entry, the rest refuses to grow.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::Options;
use super::chat::Message;
use super::config::Config;
use super::deliver::{Delivery, Missed, Notice};
use super::faults::Fault;
use super::oauth::Grants;
use super::push::Pushed;
use super::telegram::Telegram;
use crate::clock::{Clock, Instant};
use crate::money::Cents;
use crate::secrets::Secret;

/// Sellers that one sandbox holds.
pub const SELLERS_MAX: usize = 256;
/// Listings of all sellers.
pub const ITEMS_MAX: usize = 20_000;
/// Orders of all sellers.
pub const ORDERS_MAX: usize = 200_000;
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
            world: Mutex::new(World {
                config,
                ..World::default()
            }),
            bell: Condvar::new(),
            unsent: watch::Sender::new(0),
            telegram_bell: watch::Sender::new(()),
        }
    }

    /// The world, locked. Held for the length of one call, never across I/O.
    pub fn world(&self) -> MutexGuard<'_, World> {
        // Each call leaves the maps consistent one insertion at a time, and a
        // stand-in that stops for good helps nobody.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.violations.push(Violation {
            at: at.rfc3339(),
            rule,
            detail,
        });
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

/// A test seller.
#[derive(Clone, Debug, Serialize)]
pub struct Seller {
    /// Marketplace id.
    pub id: i64,
    /// Public name.
    pub nickname: String,
    /// E-mail address of the private record.
    pub email: String,
    /// What buyers see of the seller's conduct.
    pub reputation: Reputation,
    /// When the account was made.
    #[serde(skip)]
    pub created: Instant,
}

/// A seller's reputation: the level and the shares behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reputation {
    /// `1_red` … `5_green`; none for a new seller.
    pub level: Option<String>,
    /// `silver`, `gold`, `platinum` or none.
    pub power_seller: Option<String>,
    /// Share of sales with a claim.
    pub claims: f64,
    /// Share of sales handed over late.
    pub late: f64,
    /// Share of sales the seller cancelled.
    pub cancelled: f64,
}

impl Default for Reputation {
    fn default() -> Self {
        Self {
            level: Some("5_green".to_owned()),
            power_seller: None,
            claims: 0.005,
            late: 0.03,
            cancelled: 0.002,
        }
    }
}

/// A listing.
#[derive(Clone, Debug)]
pub struct Item {
    /// The number after `MLB`.
    pub number: i64,
    /// Whose it is.
    pub seller: i64,
    /// Title of the listing.
    pub title: String,
    /// Category id.
    pub category: String,
    /// Selling price.
    pub price: Cents,
    /// Units for sale.
    pub stock: i64,
    /// Units sold so far.
    pub sold: i64,
    /// `gold_special` (Clássico) or `gold_pro` (Premium).
    pub listing_type: String,
    /// `active`, `paused`, `closed` …
    pub status: String,
    /// Why it is not active.
    pub sub_status: Vec<String>,
    /// Attribute `SELLER_SKU`.
    pub sku: Option<String>,
    /// Attribute `GTIN`.
    pub ean: Option<String>,
    /// How the marketplace ships it.
    pub logistic: String,
    /// When it was published.
    pub created: Instant,
    /// When it last changed.
    pub updated: Instant,
}

impl Item {
    /// The listing's id on the wire.
    pub fn id(&self) -> String {
        format!("MLB{}", self.number)
    }
}

/// One order: one listing, one or more units.
#[derive(Clone, Debug)]
pub struct Order {
    /// Order id, 16 digits.
    pub id: i64,
    /// The seller.
    pub seller: i64,
    /// `paid`, `cancelled` …
    pub status: String,
    /// When it was placed.
    pub created: Instant,
    /// When it was first confirmed or paid.
    pub closed: Option<Instant>,
    /// When it last changed.
    pub updated: Instant,
    /// The cart it belongs to.
    pub pack: Option<i64>,
    /// The buyer's id.
    pub buyer: i64,
    /// The buyer's nickname, which orders do not always show.
    pub buyer_nickname: Option<String>,
    /// Number of the listing.
    pub item: i64,
    /// Units.
    pub quantity: i64,
    /// Price of one unit at the time.
    pub unit_price: Cents,
    /// The shipment, once the marketplace has made it.
    pub shipment: Option<Shipment>,
}

/// The way of an order to its buyer.
#[derive(Clone, Debug)]
pub struct Shipment {
    /// Shipment id.
    pub id: i64,
    /// `ready_to_ship`, `shipped` …
    pub status: String,
    /// Finer state, often empty.
    pub substatus: Option<String>,
    /// `drop_off`, `fulfillment` …
    pub logistic: String,
    /// When it last changed.
    pub updated: Instant,
}

/// Where a listing scan stands.
pub(super) struct Scroll {
    pub seller: i64,
    pub taken: usize,
    pub until: Instant,
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
        Self {
            entries: VecDeque::new(),
            total: 0,
        }
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

    /// How many there have been, forgotten ones too.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

/// A random UUID (version 4).
pub(super) fn uuid() -> String {
    let mut bytes: [u8; 16] = crate::secrets::random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = crate::text::hex(&bytes);
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}
