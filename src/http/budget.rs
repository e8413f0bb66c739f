//! Limits on the bytes that all clients together make the process hold.
//!
//! When the budget is used up, the next request is rejected; nothing waits for
//! it. What was taken is released when its value is dropped. Decisions http-18, http-21.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// Bytes that all clients together may hold.
#[derive(Debug)]
pub struct Budget {
    most: usize,
    held: AtomicUsize,
}

impl Budget {
    /// A budget of `most` bytes.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0) })
    }

    /// Takes bytes of the budget; `None` when too few are left.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Option<BudgetPermit> {
        let mut held = BudgetPermit { budget: Arc::clone(self), bytes: 0 };
        held.grow(bytes).then_some(held)
    }

    /// Whether this many bytes are left at the moment.
    pub fn has(&self, bytes: usize) -> bool {
        self.held().saturating_add(bytes) <= self.most
    }

    /// Bytes that are held at the moment.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

/// Bytes taken from a budget; they are released when this is dropped.
#[derive(Debug)]
pub struct BudgetPermit {
    budget: Arc<Budget>,
    bytes: usize,
}

impl BudgetPermit {
    /// Takes more bytes of the budget; false when too few are left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let before = self.budget.held.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= self.budget.most;
        if fits {
            self.bytes += bytes;
        } else {
            self.budget.held.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }
}

impl Drop for BudgetPermit {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The same bytes; what they hold is released when their last handle is dropped.
pub fn charged(bytes: impl AsRef<[u8]> + Send + 'static, held: impl Send + 'static) -> Bytes {
    struct Charged<B, H> {
        bytes: B,
        _held: H,
    }
    impl<B: AsRef<[u8]>, H> AsRef<[u8]> for Charged<B, H> {
        fn as_ref(&self) -> &[u8] {
            self.bytes.as_ref()
        }
    }
    Bytes::from_owner(Charged { bytes, _held: held })
}

/// The kind and number of an account.
pub type AccountKey = (&'static str, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_given_back() {
        let budget = Budget::new(10);
        let mut first = budget.take(6).unwrap();
        assert!(budget.take(5).is_none());
        assert!(first.grow(4) && !first.grow(1));
        assert!(!budget.has(1));
        drop(first);
        assert_eq!(budget.held(), 0);
        assert!(budget.take(10).is_some());
    }
}
