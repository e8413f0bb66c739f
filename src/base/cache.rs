//! A cache in memory, and the versions by which stale entries are found.
//!
//! This process makes every change, so each person has version numbers that
//! rise right after a commit that changes the person's data. A cache entry has
//! the version from which it was made; with another version it is not used. A
//! version is read before its data, so a change in between only causes an
//! unneeded reload. Commands that run beside the server raise the version of
//! everybody.

use parking_lot::{Mutex, MutexGuard};
use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::quality::RandomState;

use crate::base::ids::UserId;

/// Several people share a slot; this only causes unneeded reloads.
const SLOTS: u16 = 4096;
const SHARDS: usize = 16;

/// Version numbers of people, of what they own, of public content, of tokens, of API keys
/// and of what the team works on.
pub struct Versions {
    everything: AtomicU64,
    people: Vec<AtomicU64>,
    books: Vec<AtomicU64>,
    notices: Vec<AtomicU64>,
    content: AtomicU64,
    tokens: AtomicU64,
    keys: AtomicU64,
    desk: AtomicU64,
}

impl Default for Versions {
    fn default() -> Self {
        let slots = || (0..SLOTS).map(|_| AtomicU64::new(1)).collect();
        Self {
            everything: AtomicU64::new(1),
            people: slots(),
            books: slots(),
            notices: slots(),
            content: AtomicU64::new(1),
            tokens: AtomicU64::new(1),
            keys: AtomicU64::new(1),
            desk: AtomicU64::new(1),
        }
    }
}

impl Versions {
    /// Version of a person: the account, its permissions and its tokens.
    pub fn of(&self, person: UserId) -> u64 {
        self.everything.load(Ordering::Acquire) + self.people[slot(person)].load(Ordering::Acquire)
    }

    /// Version of what a person owns: linked accounts, orders, products,
    /// notifications. It is apart from the person's own version, so that a sale
    /// does not make cached tokens stale.
    pub fn books(&self, person: UserId) -> u64 {
        self.books[slot(person)].load(Ordering::Acquire)
    }

    /// Version of what partner programs sent to a person. No command that runs
    /// beside the server changes that.
    pub fn notices(&self, person: UserId) -> u64 {
        self.notices[slot(person)].load(Ordering::Acquire)
    }

    /// Version of plans, teachers, courses and meets.
    pub fn content(&self) -> u64 {
        self.everything.load(Ordering::Acquire) + self.content.load(Ordering::Acquire)
    }

    /// Version of the set of tokens, for tokens known not to exist.
    pub fn tokens(&self) -> u64 {
        self.everything.load(Ordering::Acquire) + self.tokens.load(Ordering::Acquire)
    }

    /// Version of the API keys.
    pub fn keys(&self) -> u64 {
        self.everything.load(Ordering::Acquire) + self.keys.load(Ordering::Acquire)
    }

    /// Version of what operators and the agency's team work on together: questions to
    /// clients, messages.
    pub fn desk(&self) -> u64 {
        self.desk.load(Ordering::Acquire)
    }

    /// What the team works on changed.
    pub fn raise_desk(&self) {
        self.desk.fetch_add(1, Ordering::AcqRel);
    }

    /// A person's account, permissions or tokens changed.
    pub fn raise(&self, person: UserId) {
        self.people[slot(person)].fetch_add(1, Ordering::AcqRel);
    }

    /// Something that a person owns changed.
    pub fn raise_books(&self, person: UserId) {
        self.books[slot(person)].fetch_add(1, Ordering::AcqRel);
    }

    /// What partner programs sent to a person changed.
    pub fn raise_notices(&self, person: UserId) {
        self.notices[slot(person)].fetch_add(1, Ordering::AcqRel);
    }

    /// Public content changed.
    pub fn raise_content(&self) {
        self.content.fetch_add(1, Ordering::AcqRel);
    }

    /// A token was made.
    pub fn raise_tokens(&self) {
        self.tokens.fetch_add(1, Ordering::AcqRel);
    }

    /// An API key was made, changed or revoked.
    pub fn raise_keys(&self) {
        self.keys.fetch_add(1, Ordering::AcqRel);
    }

    /// Anything may have changed.
    pub fn raise_everything(&self) {
        self.everything.fetch_add(1, Ordering::AcqRel);
    }
}

fn slot(person: UserId) -> usize {
    // Ids are consecutive, so their low bits spread well.
    usize::try_from(person.0.rem_euclid(i64::from(SLOTS))).unwrap_or(0)
}

struct CacheEntry<V> {
    version: u64,
    value: V,
    bytes: usize,
}

struct Shard<K, V> {
    entries: HashMap<K, CacheEntry<V>, RandomState>,
    /// Keys in the order of insertion, for eviction.
    order: VecDeque<K>,
    bytes: usize,
}

/// Values by key and version, limited in bytes; the oldest are evicted.
pub struct Cache<K, V> {
    shards: Vec<Mutex<Shard<K, V>>>,
    hasher: RandomState,
    shard_bytes: usize,
}

impl<K: Hash + Eq + Clone, V> Cache<K, V> {
    /// A cache for `bytes` bytes of values.
    pub fn new(bytes: usize) -> Self {
        let shard =
            || Mutex::new(Shard { entries: HashMap::default(), order: VecDeque::new(), bytes: 0 });
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            hasher: RandomState::default(),
            shard_bytes: bytes / SHARDS,
        }
    }

    /// The value of a key, of any version, with that version.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<(u64, V)>
    where
        K: Borrow<Q>,
        V: Clone,
    {
        self.shard(key).entries.get(key).map(|entry| (entry.version, entry.value.clone()))
    }

    /// Stores a value that needs about `bytes` bytes.
    pub fn put(&self, key: K, version: u64, value: V, bytes: usize) {
        if bytes > self.shard_bytes {
            return;
        }
        let mut shard = self.shard(&key);
        shard.bytes += bytes;
        match shard.entries.insert(key.clone(), CacheEntry { version, value, bytes }) {
            Some(before) => shard.bytes -= before.bytes,
            None => shard.order.push_back(key),
        }
        while shard.bytes > self.shard_bytes
            && let Some(oldest) = shard.order.pop_front()
        {
            if let Some(gone) = shard.entries.remove(&oldest) {
                shard.bytes -= gone.bytes;
            }
        }
    }

    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> MutexGuard<'_, Shard<K, V>> {
        let index = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        // The count of bytes may be wrong after a panic, which only wastes memory.
        self.shards[index].lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_values_make_room() {
        let cache: Cache<u32, u32> = Cache::new(SHARDS * 1000);
        for key in 0..10_000 {
            cache.put(key, 1, key, 100);
        }
        let kept = (0..10_000).filter(|key| cache.get(key).is_some()).count();
        assert!((100..=SHARDS * 10).contains(&kept), "{kept}");
        assert_eq!(cache.get(&9_999), Some((1, 9_999)));
        cache.put(1, 1, 1, 1001);
        assert_eq!(cache.get(&1), None);
    }

    #[test]
    fn a_newer_value_takes_the_place_of_an_older_one() {
        let cache: Cache<u32, &str> = Cache::new(SHARDS * 1000);
        cache.put(7, 1, "old", 900);
        cache.put(7, 2, "new", 900);
        assert_eq!(cache.get(&7), Some((2, "new")));
    }

    #[test]
    fn versions_rise_apart_and_together() {
        let versions = Versions::default();
        let (ana, rui) = (versions.of(UserId(1)), versions.of(UserId(2)));
        versions.raise(UserId(1));
        assert!(versions.of(UserId(1)) > ana && versions.of(UserId(2)) == rui);
        let (person, books) = (versions.of(UserId(1)), versions.books(UserId(1)));
        versions.raise_books(UserId(1));
        assert!(versions.books(UserId(1)) > books && versions.of(UserId(1)) == person);
        let content = versions.content();
        versions.raise_everything();
        assert!(versions.of(UserId(2)) > rui && versions.content() > content);
    }
}
