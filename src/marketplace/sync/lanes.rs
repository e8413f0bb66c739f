//! Two calls at a time for one seller, while what they brought before is
//! being written.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::db::{DbError, Pending};
use crate::marketplace::tokens::CallError;

/// Fetches what `take` names until it names nothing more, two at a time, and
/// lets `book` queue what came; gives back the sum of what was booked.
///
/// A lane waits for what it queued before it queues more, so memory holds two
/// pages at most beside those being fetched. The first failure ends both.
pub fn two_at_a_time<T, P>(
    take: impl Fn() -> Option<T> + Sync,
    fetch: impl Fn(T) -> Result<Option<P>, CallError> + Sync,
    book: impl Fn(P) -> Pending<usize, DbError> + Sync,
) -> Result<usize, CallError> {
    let failed = AtomicBool::new(false);
    let lane = || -> Result<usize, CallError> {
        let mut booked = 0;
        let mut queued: Option<Pending<usize, DbError>> = None;
        while !failed.load(Ordering::Relaxed) {
            let Some(what) = take() else { break };
            if let Some(found) = fetch(what)? {
                if let Some(before) = queued.take() {
                    booked += before.wait()?;
                }
                queued = Some(book(found));
            }
        }
        if let Some(last) = queued {
            booked += last.wait()?;
        }
        Ok(booked)
    };
    let lane = || lane().inspect_err(|_| failed.store(true, Ordering::Relaxed));
    let (first, second) = both(lane, lane);
    Ok(first? + second?)
}

/// Does two things at the same time.
pub fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        (
            first,
            second.join().unwrap_or_else(|panic| resume_unwind(panic)),
        )
    })
}
