//! The request that the present thread works for.
//!
//! Handlers, jobs of the writer and the workers that send messages run on different
//! threads. Each sets the id of the request while it works for it, so that what it
//! notes can name the request without carrying the id through every function.
//! Decision operations-3.

use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static CURRENT: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// The id of the request that this thread works for; `None` for what the service does
/// by itself.
pub fn current() -> Option<Arc<str>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Does something for a request.
pub fn within<T>(request: Option<Arc<str>>, work: impl FnOnce() -> T) -> T {
    let _before = Before(CURRENT.replace(request));
    work()
}

/// Puts back what was there, also after a panic.
struct Before(Option<Arc<str>>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_while_its_work_is_done() {
        assert_eq!(current(), None);
        within(Some("a".into()), || {
            within(None, || assert_eq!(current(), None));
            let panicked = std::panic::catch_unwind(|| within(Some("b".into()), || panic!("b")));
            assert!(panicked.is_err());
            assert_eq!(current().as_deref(), Some("a"));
        });
        assert_eq!(current(), None);
    }
}
