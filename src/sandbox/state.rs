//! The state of the sandbox: sellers, listings, orders, grants, switches, logs.
//!
//! One value behind one mutex. Every collection has a maximum size: full logs drop
//! their oldest entry, the other collections reject new entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::watch;

use super::chat_network::ChatNetwork;
use super::config::Config;
use super::faults::Fault;
use super::grants::Grants;
use super::logs::{
    ChatMessage, Delivery, Log, LoggedRequest, MissedNotification, Notification, PushMessage,
    Violation,
};
use super::receivers::{Received, Receiver};
use super::telegram::Telegram;
use super::things::{Claim, Item, Order, Question, Seller, Shipment, item_number};
use crate::base::{Clock, Instant, Secret};

/// Most sellers of one sandbox.
pub const SELLERS_MAX: usize = 256;
/// Most listings, of all sellers together.
pub const ITEMS_MAX: usize = 20_000;
/// Most orders, of all sellers together.
pub const ORDERS_MAX: usize = 200_000;
/// Most notifications that wait.
pub const QUEUE_MAX: usize = 10_000;

/// How a sandbox is set up.
pub struct Options {
    /// Address to listen on; port 0 chooses a free port.
    pub listen: SocketAddr,
    /// The clock for tokens, codes and dates.
    pub clock: Clock,
    /// The one application that this marketplace knows; digits.
    pub client_id: String,
    /// Its secret, which also signs notifications where they are signed.
    pub client_secret: Secret,
    /// Registered redirect addresses; empty accepts any loopback address.
    pub redirect_uris: Vec<String>,
    /// Where notifications go; without it they wait in the queue.
    pub notify_url: Option<String>,
}

/// The sandbox: fixed settings, and the changing state behind a lock.
pub struct Sandbox {
    pub clock: Clock,
    /// The application's id, digits.
    pub client_id: String,
    pub client_secret: Secret,
    state: Mutex<SandboxState>,
    /// Signalled when a notification may have become due.
    pub bell: Condvar,
    /// Number of notifications that still have to be sent.
    pub unsent: watch::Sender<usize>,
    /// Signalled when a waiting `getUpdates` call may have an answer.
    pub telegram_bell: watch::Sender<()>,
}

impl Sandbox {
    pub fn new(options: Options) -> Self {
        let config = Config {
            redirect_uris: options.redirect_uris,
            notify_url: options.notify_url,
            ..Config::default()
        };
        Self {
            clock: options.clock,
            client_id: options.client_id,
            client_secret: options.client_secret,
            state: Mutex::new(SandboxState { config, ..SandboxState::default() }),
            bell: Condvar::new(),
            unsent: watch::Sender::new(0),
            telegram_bell: watch::Sender::new(()),
        }
    }

    /// Locks the state. The lock is held during one call, never across I/O.
    pub fn state(&self) -> MutexGuard<'_, SandboxState> {
        // A panic does not poison this lock. The maps stay consistent, because each
        // insertion is complete by itself, and the sandbox should go on.
        self.state.lock()
    }

    /// The application's id as a number, as in notifications.
    pub fn application(&self) -> i64 {
        self.client_id.parse().unwrap_or_default()
    }

    /// Wakes the delivering threads and the waiting calls to check again.
    pub fn ring(&self) {
        let unsent = self.state().unsent();
        self.unsent.send_replace(unsent);
        self.telegram_bell.send_replace(());
        self.bell.notify_all();
    }

    pub fn stop_delivering(&self) {
        self.state().stopping = true;
        self.bell.notify_all();
    }
}

/// The state of the sandbox that changes.
#[derive(Default)]
pub struct SandboxState {
    /// Switches, set by `POST /_sandbox/config`.
    pub config: Config,
    /// Sellers by marketplace id.
    pub sellers: BTreeMap<i64, Seller>,
    /// Listings by the number after `MLB`.
    pub items: BTreeMap<i64, Item>,
    /// Orders by id.
    pub orders: BTreeMap<i64, Order>,
    /// Index of the orders by seller and date of creation, for searches.
    pub orders_by_date: BTreeSet<(i64, Instant, i64)>,
    /// Shipments by id.
    pub shipments: BTreeMap<i64, Shipment>,
    /// Questions by id.
    pub questions: BTreeMap<i64, Question>,
    /// Claims by id.
    pub claims: BTreeMap<i64, Claim>,
    /// Records that are served with invalid values, such as `orders/2000001`.
    pub spoiled: BTreeSet<String>,
    /// Topics that are no longer sent, because the receiver was too slow.
    pub silenced: BTreeSet<String>,
    /// Number of missed notifications in a row, by topic.
    pub misses: HashMap<String, u32>,
    /// The number of calls in progress, and its maximum so far.
    pub load: Load,
    pub grants: Grants,
    pub scrolls: HashMap<String, Scroll>,
    pub faults: Vec<Fault>,
    pub queue: Vec<Notification>,
    pub in_flight: usize,
    pub stopping: bool,
    pub deliveries: Log<Delivery>,
    pub missed: Log<MissedNotification>,
    pub requests: Log<LoggedRequest>,
    pub violations: Log<Violation>,
    /// Messages that the chat gateways and Telegram accepted.
    pub messages: Log<ChatMessage>,
    /// The chat network, but for the messages.
    pub chat: ChatNetwork,
    /// When each phone number last wrote to us, which opens a window of 24 hours.
    pub wrote: HashMap<String, Instant>,
    /// Messages that the push service accepted.
    pub pushed: Log<PushMessage>,
    /// Webhooks that the receivers received.
    pub webhooks: Log<Received>,
    /// The settings of receivers by name.
    pub receivers: HashMap<String, Receiver>,
    pub telegram: Telegram,
    /// How many test users each seller created.
    pub test_users: HashMap<i64, usize>,
    counter: i64,
}

impl SandboxState {
    /// The next number of a counter; ids are built from it.
    pub fn next_number(&mut self) -> i64 {
        self.counter += 1;
        self.counter
    }

    /// Records a use of the interface that the real marketplace would not accept.
    pub fn violation(&mut self, at: Instant, rule: &'static str, detail: String) {
        self.violations.push(Violation { at: at.rfc3339(), rule, detail });
    }

    /// Returns the seller, or an error when the seller does not exist.
    pub fn check_seller(&self, id: i64) -> Result<&Seller, String> {
        self.sellers.get(&id).ok_or_else(|| format!("there is no seller {id}"))
    }

    /// The number of a seller's listing: the one named, or the first on sale.
    pub fn item_of(&self, seller: i64, id: Option<&str>) -> Result<i64, String> {
        let own = |item: &&Item| item.seller == seller;
        let found = match id {
            Some(id) => self.item(id).filter(own),
            None => self.items.values().filter(own).find(|item| item.status == "active"),
        };
        found.map(|item| item.number).ok_or_else(|| match id {
            Some(id) => format!("seller {seller} has no listing {id}"),
            None => format!("seller {seller} has no active listing"),
        })
    }

    /// Number of notifications that wait or are being sent.
    pub fn waiting(&self) -> usize {
        self.queue.len() + self.in_flight
    }

    /// Number of notifications that still have to be sent; held ones do not count.
    pub fn unsent(&self) -> usize {
        if self.config.hold || self.config.notify_url.is_none() {
            return self.in_flight;
        }
        self.waiting()
    }

    /// A listing by its wire id (`MLB123`).
    pub fn item(&self, id: &str) -> Option<&Item> {
        self.items.get(&item_number(id)?)
    }
}

/// Checks that there is room for one more record.
pub fn check_room(count: usize, most: usize, name: &str) -> Result<(), String> {
    if count < most { Ok(()) } else { Err(format!("at most {most} {name} fit")) }
}

/// The position of a scan. A scan covers the records that existed when it began.
pub struct Scroll {
    pub seller: i64,
    pub ids: Vec<i64>,
    pub taken: usize,
    pub until: Instant,
}

/// Calls in progress, overall and by seller.
#[derive(Default)]
pub struct Load {
    running: HashMap<Option<i64>, usize>,
    /// Highest number of calls at one time.
    pub most: usize,
    /// Highest number of calls at one time for one seller.
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

    /// A call ends.
    pub fn end(&mut self, seller: Option<i64>) {
        if let Some(own) = self.running.get_mut(&seller) {
            *own = own.saturating_sub(1);
        }
    }
}
