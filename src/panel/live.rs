//! What moves on open pages: the numbers beside the entries of the menu, and how many
//! rows have come to a list since the page was made.
//!
//! The numbers of a person are read when the person's version has risen, once for all
//! pages and connections. Open connections are streams of events (`http/events.rs`); they
//! are counted, and those of one person end when the account changes, as by leaving.
//! Decisions panel-11, panel-12.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Notify, watch};

use crate::base::cache::Cache;
use crate::base::queue::{KeyedSemaphore, Permit};
use crate::base::{Instant, UserId, Versions};
use crate::db::{self, Lane, ReadTx};
use crate::http::{Code, Problem};
use crate::services::Services;

/// Open connections in all, and of one person.
const MOST: usize = 1_000;
const MOST_OF_ONE: usize = 6;
/// Seconds after which a refused connection may be tried again.
const RETRY_S: i64 = 60;

/// Size of the cache in bytes, and that of one entry.
const KEPT_BYTES: usize = 4 * 1024 * 1024;
const KEPT_EACH: usize = 1_024;

/// Whose menu it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Desk {
    Student,
    /// A student who may use the agency's pages.
    Staff,
    Supplier,
    Operator,
}

/// Somebody whose pages are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watcher {
    pub person: UserId,
    pub desk: Desk,
}

/// How many rows a list has had, and the words for one and for several new ones.
pub type Came = (i64, &'static str, &'static str);

/// The numbers of a menu.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// What waits behind an entry of the menu, by its address.
    pub menu: BTreeMap<&'static str, i64>,
    /// By the address of the list.
    pub came: BTreeMap<&'static str, Came>,
}

impl Counts {
    /// What waits behind an entry.
    pub fn of(&self, href: &str) -> i64 {
        self.menu.get(href).copied().unwrap_or(0)
    }

    /// How many rows each list has had, as JSON, for the page to compare with.
    pub fn seen(&self) -> String {
        let seen: BTreeMap<_, _> = self.came.iter().map(|(href, came)| (href, came.0)).collect();
        serde_json::to_string(&seen).unwrap_or_default()
    }

    fn event(&self) -> Bytes {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("data: {text}\n\n").into()
    }
}

/// Reads the numbers.
type Read = fn(&ReadTx<'_>, Watcher, Instant) -> db::Result<Counts>;

/// Everybody's numbers, and the connections that follow them.
pub struct Live {
    read: Read,
    cache: Cache<Watcher, Arc<Counts>>,
    rooms: Mutex<HashMap<Watcher, MenuStream>>,
    places: KeyedSemaphore<UserId>,
    all: KeyedSemaphore<()>,
    is_closed: AtomicBool,
    /// Rung when a version has risen.
    pub bell: Arc<Notify>,
}

/// The connections of one menu.
struct MenuStream {
    told: watch::Sender<Bytes>,
    /// Of what was told last.
    version: u64,
    /// Of the account, when the room was opened.
    person: u64,
}

impl MenuStream {
    fn tell(&mut self, version: u64, event: Bytes) {
        self.version = version;
        self.told.send_if_modified(|last| {
            let is_other = *last != event;
            *last = event;
            is_other
        });
    }
}

/// Kept while a connection is open.
pub type Seat = (Permit<UserId>, Permit<()>);

impl Live {
    /// Nobody's numbers yet; `read` reads them.
    pub fn new(read: Read) -> Self {
        Self {
            read,
            cache: Cache::new(KEPT_BYTES),
            rooms: Mutex::default(),
            places: KeyedSemaphore::new(usize::MAX, |_| MOST_OF_ONE),
            all: KeyedSemaphore::new(usize::MAX, |()| MOST),
            is_closed: AtomicBool::new(false),
            bell: Arc::default(),
        }
    }

    /// The present numbers of a menu.
    pub fn counts(
        &self,
        services: &Services,
        watcher: Watcher,
        lane: Lane,
    ) -> Result<Arc<Counts>, db::DbError> {
        let now = services.clock.now();
        let version = version(&services.versions, watcher, now);
        if let Some((known, counts)) = self.cache.get(&watcher)
            && known == version
        {
            return Ok(counts);
        }
        let counts = services.db.read(lane, |tx| (self.read)(tx, watcher, now))?;
        let counts = Arc::new(counts);
        self.cache.put(watcher, version, Arc::clone(&counts), KEPT_EACH);
        Ok(counts)
    }

    /// A connection: its first event, the channel of the others, and its place.
    pub fn follow(
        &self,
        services: &Services,
        watcher: Watcher,
    ) -> Result<(Bytes, watch::Receiver<Bytes>, Seat), Problem> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(Problem::unavailable("the service is stopping", RETRY_S));
        }
        let own = self.places.take(watcher.person).ok_or_else(|| Problem {
            retry_after_s: Some(RETRY_S),
            ..Problem::new(Code::RateLimited, "too many pages of this account are live")
        })?;
        let all = self
            .all
            .take(())
            .ok_or_else(|| Problem::unavailable("too many pages are live", RETRY_S))?;
        let version = version(&services.versions, watcher, services.clock.now());
        let person = services.versions.of(watcher.person);
        let first = self.counts(services, watcher, Lane::InPlace)?.event();
        let mut rooms = self.rooms.lock();
        let room = rooms.entry(watcher).or_insert_with(|| MenuStream {
            told: watch::Sender::new(first.clone()),
            version,
            person,
        });
        if version > room.version {
            // Who is here already hears it now: what comes next may be what they saw last.
            room.tell(version, first.clone());
        }
        let mut channel = room.told.subscribe();
        if room.version > version {
            // What was told since `first` was read counts as seen by who comes now.
            channel.mark_changed();
        }
        drop(rooms);
        // A stop may have come in between.
        if self.is_closed.load(Ordering::Acquire) {
            self.close();
        }
        Ok((first, channel, (own, all)))
    }

    /// Ends the connections of accounts that changed, forgets menus that nobody follows,
    /// and returns those whose numbers may have changed.
    pub fn stale(&self, versions: &Versions, now: Instant) -> Vec<Watcher> {
        let mut stale = Vec::new();
        self.rooms.lock().retain(|watcher, room| {
            let stays =
                room.told.receiver_count() > 0 && versions.of(watcher.person) == room.person;
            if stays && version(versions, *watcher, now) != room.version {
                stale.push(*watcher);
            }
            stays
        });
        stale
    }

    /// Reads the numbers of a menu and tells its connections, if they changed.
    pub fn tell(&self, services: &Services, watcher: Watcher) -> Result<(), db::DbError> {
        let version = version(&services.versions, watcher, services.clock.now());
        let event = self.counts(services, watcher, Lane::InPlace)?.event();
        if let Some(room) = self.rooms.lock().get_mut(&watcher) {
            room.tell(version, event);
        }
        Ok(())
    }

    /// Ends all connections; no more are opened.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.rooms.lock().clear();
    }
}

/// The version of the numbers of a menu. What depends on the hour, or on what raises no
/// version, is read again each minute.
fn version(versions: &Versions, Watcher { person, desk }: Watcher, now: Instant) -> u64 {
    let own = versions.of(person) + versions.books(person);
    let minute = u64::try_from(now.0 / 60).unwrap_or(0);
    match desk {
        Desk::Student => own,
        Desk::Staff => own + versions.desk(),
        Desk::Supplier => own + minute,
        Desk::Operator => own + versions.desk() + minute,
    }
}
