//! Things that one thread at a time works on, such as the accounts that are
//! being read.

use std::collections::HashSet;
use std::hash::Hash;

use parking_lot::Mutex;

/// Those that are taken.
pub struct Busy<K>(Mutex<HashSet<K>>);

impl<K> Default for Busy<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// One that this thread has taken; free again when dropped.
pub struct Taken<'b, K: Copy + Eq + Hash> {
    busy: &'b Busy<K>,
    key: K,
}

impl<K: Copy + Eq + Hash> Busy<K> {
    /// Takes one; `None` while another thread has it.
    pub fn take(&self, key: K) -> Option<Taken<'_, K>> {
        // Made only when it is free: what is made is dropped, and frees it.
        let is_free = self.0.lock().insert(key);
        is_free.then(|| Taken { busy: self, key })
    }

    /// Takes the one that `find` chooses, which is told those that are taken.
    pub fn take_next<T, E>(
        &self,
        find: impl FnOnce(&HashSet<K>) -> Result<Option<(K, T)>, E>,
    ) -> Result<Option<(Taken<'_, K>, T)>, E> {
        let mut taken = self.0.lock();
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
        self.busy.0.lock().remove(&self.key);
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
    }
}
