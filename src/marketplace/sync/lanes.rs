//! Runs two calls at a time for one seller, while earlier answers are parsed
//! and written.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use super::StepContext;
use crate::db::{DbError, Pending};
use crate::marketplace::account::tokens::CallError;

/// One more than the calls that the client allows for a seller, so that two run
/// while a third answer is processed.
const LANES: usize = 3;
/// Records that one job of the writer books.
const AT_ONCE: usize = 20;

/// The work of the lanes, in order. It gives out nothing after the time is
/// over.
pub struct Queue<T>(Mutex<VecDeque<T>>);

impl<T> Queue<T> {
    pub fn new(what: impl IntoIterator<Item = T>) -> Self {
        Self(Mutex::new(what.into_iter().collect()))
    }

    /// The next item; `None` when there is none or the time is over.
    pub fn take(&self, reading: &StepContext<'_>) -> Option<T> {
        let mut left = self.0.lock();
        (!reading.is_time_over()).then(|| left.pop_front()).flatten()
    }

    /// Whether all items were taken.
    pub fn is_done(&self) -> bool {
        let left = self.0.lock();
        left.is_empty()
    }
}

/// Fetches the items that `take` returns until there are no more, two at a
/// time. `book` queues the write of each result. Returns the sum of what was
/// written.
///
/// A lane waits for the write that it queued before it queues another. So
/// memory holds at most three pages besides those being fetched. The first
/// failure ends all lanes.
pub fn two_at_a_time<T, P>(
    take: impl Fn() -> Option<T> + Sync,
    fetch: impl Fn(T) -> Result<Option<P>, CallError> + Sync,
    book: impl Fn(P) -> Vec<Pending<usize, DbError>> + Sync,
) -> Result<usize, CallError> {
    let failed = AtomicBool::new(false);
    let lane = || -> Result<usize, CallError> {
        let mut booked = 0;
        let mut queued: Vec<Pending<usize, DbError>> = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let Some(what) = take() else { break };
            if let Some(found) = fetch(what)? {
                for before in queued.drain(..) {
                    booked += before.wait()?;
                }
                queued = book(found);
            }
        }
        for last in queued {
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

/// Records of a page in pieces that are one job of the writer each.
pub fn pieces<T>(mut records: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let piece: Vec<T> = records.drain(..records.len().min(AT_ONCE)).collect();
        (!piece.is_empty()).then_some(piece)
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
