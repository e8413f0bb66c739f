//! Two calls at a time for one seller, while what they brought before is
//! being read and written.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Reading;
use crate::db::{DbError, Pending};
use crate::marketplace::account::tokens::CallError;

/// One more than the calls that the client lets run for a seller, so that two
/// run while a third answer is looked through.
const LANES: usize = 3;

/// What the lanes take from, in its order, as long as there is time.
pub struct Queue<T>(Mutex<VecDeque<T>>);

impl<T> Queue<T> {
    pub fn new(what: impl IntoIterator<Item = T>) -> Self {
        Self(Mutex::new(what.into_iter().collect()))
    }

    /// The next one; `None` when there is none or no time.
    pub fn take(&self, reading: &Reading<'_>) -> Option<T> {
        let mut left = self.0.lock();
        (!reading.is_over()).then(|| left.pop_front()).flatten()
    }

    /// Whether all of it was taken.
    pub fn is_done(&self) -> bool {
        let left = self.0.lock();
        left.is_empty()
    }
}

/// Fetches what `take` names until it names nothing more, two at a time, and
/// lets `book` queue what came; returns the sum of what was booked.
///
/// A lane waits for what it queued before it queues more, so memory holds
/// three pages at most beside those being fetched. The first failure ends all.
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
    std::thread::scope(|scope| {
        let others: [_; LANES - 1] = std::array::from_fn(|_| scope.spawn(lane));
        let mine = lane();
        others.into_iter().fold(mine, |sum, other| {
            let other = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            Ok(sum? + other?)
        })
    })
}

/// Does two things at the same time.
pub fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        (first, second.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
