//! Locks by key: only one thread at a time works on a key, such as an account
//! that is being read.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// The keys that are taken.
pub struct Busy<K> {
    taken: Mutex<HashSet<K>>,
    freed: Condvar,
}

impl<K> Default for Busy<K> {
    fn default() -> Self {
        Self { taken: Mutex::default(), freed: Condvar::default() }
    }
}

/// A key that this thread has taken; free again when dropped.
pub struct Taken<'b, K: Copy + Eq + Hash> {
    busy: &'b Busy<K>,
    key: K,
}

impl<K: Copy + Eq + Hash> Busy<K> {
    /// Takes a key; `None` while another thread has it.
    pub fn take(&self, key: K) -> Option<Taken<'_, K>> {
        // Create `Taken` only when the key was free: dropping it frees the key.
        let is_free = self.taken.lock().insert(key);
        is_free.then(|| Taken { busy: self, key })
    }

    /// Takes a key as soon as it is free; `None` when that takes longer than
    /// `most`.
    pub fn take_within(&self, key: K, most: Duration) -> Option<Taken<'_, K>> {
        let deadline = Instant::now() + most;
        let mut taken = self.taken.lock();
        while taken.contains(&key) {
            if self.freed.wait_until(&mut taken, deadline).timed_out() {
                return None;
            }
        }
        taken.insert(key);
        Some(Taken { busy: self, key })
    }

    /// Takes the key that `find` chooses. `find` receives the keys that are
    /// taken.
    pub fn take_next<T, E>(
        &self,
        find: impl FnOnce(&HashSet<K>) -> Result<Option<(K, T)>, E>,
    ) -> Result<Option<(Taken<'_, K>, T)>, E> {
        let mut taken = self.taken.lock();
        Ok(find(&taken)?.map(|(key, found)| {
            taken.insert(key);
            (Taken { busy: self, key }, found)
        }))
    }
}

impl<K: Copy + Eq + Hash> Taken<'_, K> {
    pub fn key(&self) -> K {
        self.key
    }
}

impl<K: Copy + Eq + Hash> Drop for Taken<'_, K> {
    fn drop(&mut self) {
        self.busy.taken.lock().remove(&self.key);
        self.busy.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_persons_at_a_time() {
        let answering = Busy::default();
        let taken = answering.take(1);
        assert!(taken.is_some() && answering.take(1).is_none() && answering.take(2).is_some());
        drop(taken);
        assert!(answering.take(1).is_some());
        let other = answering.take(1);
        let next = answering.take_next(|taken| {
            let free = [1, 2].into_iter().find(|key| !taken.contains(key));
            Ok::<_, ()>(free.map(|key| (key, ())))
        });
        assert!(matches!(next, Ok(Some((Taken { key: 2, .. }, ())))));
        drop((other, next));
        let taken = answering.take(3);
        assert!(answering.take_within(3, Duration::ZERO).is_none());
        std::thread::scope(|scope| {
            let waiting =
                scope.spawn(|| answering.take_within(3, Duration::from_secs(60)).is_some());
            drop(taken);
            assert!(waiting.join().unwrap());
        });
    }
}
