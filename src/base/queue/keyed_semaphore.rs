//! Places by key: how many may be taken at a time, of one key and in all. With
//! one place of a key it is a lease: one thread at a time works on the key.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Places of all keys. Clones share them.
#[derive(Clone, Debug)]
pub struct KeyedSemaphore<K>(Arc<Shared<K>>);

#[derive(Debug)]
struct Shared<K> {
    /// Most places in all, and of a key.
    most: usize,
    most_of: fn(&K) -> usize,
    taken: Mutex<HashMap<K, usize>>,
    freed: Condvar,
    is_closed: AtomicBool,
}

/// A place; it is free again when dropped.
#[derive(Debug)]
pub struct Permit<K: Copy + Eq + Hash> {
    places: Arc<Shared<K>>,
    pub key: K,
}

impl<K: Copy + Eq + Hash> KeyedSemaphore<K> {
    /// At most `most` places in all, and of each key as many as `most_of` says.
    pub fn new(most: usize, most_of: fn(&K) -> usize) -> Self {
        let (taken, freed) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { most, most_of, taken, freed, is_closed: AtomicBool::new(false) }))
    }

    /// Places of which each key has one.
    pub fn leases() -> Self {
        Self::new(usize::MAX, |_| 1)
    }

    /// How many places of a key are taken.
    pub fn count(&self, key: &K) -> usize {
        self.0.taken.lock().get(key).copied().unwrap_or(0)
    }

    /// How many are taken in all.
    #[cfg(test)]
    pub fn all(&self) -> usize {
        self.0.taken.lock().values().sum()
    }

    /// Takes a place; `None` when none is free.
    pub fn take(&self, key: K) -> Option<Permit<K>> {
        self.take_up_to(key, (self.0.most_of)(&key))
    }

    /// Takes a place, of which the key has `most`.
    pub fn take_up_to(&self, key: K, most: usize) -> Option<Permit<K>> {
        let mut taken = self.0.taken.lock();
        self.0.has_room(&taken, &key, most).then(|| self.0.place(&mut taken, key))
    }

    /// Takes a place as soon as one is free.
    pub fn wait(&self, key: K) -> Permit<K> {
        let mut taken = self.0.taken.lock();
        while !self.0.has_room(&taken, &key, (self.0.most_of)(&key)) {
            self.0.freed.wait(&mut taken);
        }
        self.0.place(&mut taken, key)
    }

    /// Takes a place as soon as one is free; `None` when that takes longer than
    /// `patience`, or no places are given any more.
    pub fn take_within(&self, key: K, patience: Duration) -> Option<Permit<K>> {
        let deadline = Instant::now() + patience;
        let mut taken = self.0.taken.lock();
        while !self.0.is_closed.load(Ordering::Relaxed) {
            if self.0.has_room(&taken, &key, (self.0.most_of)(&key)) {
                return Some(self.0.place(&mut taken, key));
            }
            if Instant::now() >= deadline {
                return None;
            }
            self.0.freed.wait_until(&mut taken, deadline);
        }
        None
    }

    /// Takes a place of the key that `find` chooses, which sees those taken.
    pub fn take_next<T, E>(
        &self,
        find: impl FnOnce(&mut dyn Iterator<Item = K>) -> Result<Option<(K, T)>, E>,
    ) -> Result<Option<(Permit<K>, T)>, E> {
        let mut taken = self.0.taken.lock();
        let found = find(&mut taken.keys().copied())?;
        Ok(found.map(|(key, found)| (self.0.place(&mut taken, key), found)))
    }

    /// Gives no more places to those that wait for one.
    pub fn close(&self) {
        let _taken = self.0.taken.lock();
        self.0.is_closed.store(true, Ordering::Relaxed);
        self.0.freed.notify_all();
    }
}

impl<K: Copy + Eq + Hash> Shared<K> {
    fn has_room(&self, taken: &HashMap<K, usize>, key: &K, most: usize) -> bool {
        taken.get(key).is_none_or(|own| *own < most)
            && (self.most == usize::MAX || taken.values().sum::<usize>() < self.most)
    }

    fn place(self: &Arc<Self>, taken: &mut HashMap<K, usize>, key: K) -> Permit<K> {
        *taken.entry(key).or_default() += 1;
        Permit { places: Arc::clone(self), key }
    }
}

impl<K: Copy + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        if let Some(own) = taken.get_mut(&self.key) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.key);
            }
        }
        self.places.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_one_place_is_one_threads_at_a_time() {
        let answering = KeyedSemaphore::leases();
        let taken = answering.take(1);
        assert!(taken.is_some() && answering.take(1).is_none() && answering.take(2).is_some());
        drop(taken);
        assert!(answering.take(1).is_some());
        let other = answering.take(1);
        let next = answering.take_next(|taken| {
            let taken: Vec<_> = taken.collect();
            let free = [1, 2].into_iter().find(|key| !taken.contains(key));
            Ok::<_, ()>(free.map(|key| (key, ())))
        });
        assert!(matches!(next, Ok(Some((Permit { key: 2, .. }, ())))));
        drop((other, next));
        let taken = answering.take(3);
        assert!(answering.take_within(3, Duration::ZERO).is_none());
        let minute = Duration::from_mins(1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| answering.take_within(3, minute).is_some());
            drop(taken);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn one_key_does_not_take_the_places_of_another() {
        let places = KeyedSemaphore::new(usize::MAX, |_| 2);
        let (ana, bia) = (("person", 1), ("person", 2));
        let first = places.take(ana).unwrap();
        let _second = places.take(ana).unwrap();
        assert!(places.take(ana).is_none() && places.count(&ana) == 2);
        assert!(places.take(bia).is_some());
        drop(first);
        assert!(places.take(ana).is_some());
    }
}
