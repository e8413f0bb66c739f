//! What the service notes beside its log: calls to other services that were made for a
//! request, and the warnings and errors of the log.
//!
//! Entries wait in memory for about a second and are then written by the thread that
//! writes counters (`behind.rs`), so nobody waits for them. Both are limited in rate, in
//! number and in age, and hold no secrets and no addresses of people (`redacted.rs`).

mod redacted;
pub mod store;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::base::{Instant, shortened, trace};
use crate::db::DbError;
use crate::row;
use crate::services::Services;

pub use redacted::redacted;

/// Most entries of each kind that wait to be written.
const MOST_WAITING: usize = 500;
/// Most entries of each kind that are taken in a second.
const MOST_A_SECOND: u32 = 50;
const MOST_ERRORS_A_SECOND: u32 = 5;
const PIECE: usize = 100;
/// Longest texts that are kept, in characters.
const LONGEST: usize = 500;

row! {
    /// A call to another service.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OutsideCall {
        pub at: Instant,
        /// The request that caused it.
        pub request_id: String,
        /// Such as `marketplace`.
        pub service: String,
        /// Method and path without the query, or the kind of message.
        pub what: String,
        /// `None` without an answer.
        pub status: Option<u16>,
        pub us: i64,
        /// Why it was no success; empty when it was one.
        pub error: String,
    }
}

row! {
    /// A warning or an error of the log.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LoggedError {
        pub at: Instant,
        pub is_error: bool,
        pub message: String,
        /// Why, with the other fields of the line; may be empty.
        pub cause: String,
        /// Empty for what the service does by itself.
        pub request_id: String,
    }
}

/// Entries of one kind that wait to be written.
struct Waiting<T> {
    entries: VecDeque<T>,
    second: i64,
    taken: u32,
}

impl<T> Waiting<T> {
    const fn new() -> Self {
        Self { entries: VecDeque::new(), second: 0, taken: 0 }
    }

    /// Takes an entry unless there are too many of the same second, or altogether.
    fn keep(&mut self, at: Instant, most: u32, entry: impl FnOnce() -> T) {
        if self.second != at.0 {
            (self.second, self.taken) = (at.0, 0);
        }
        self.taken = self.taken.saturating_add(1);
        if self.taken <= most && self.entries.len() < MOST_WAITING {
            self.entries.push_back(entry());
        }
    }

    fn take(&mut self) -> Vec<T> {
        let count = self.entries.len().min(PIECE);
        self.entries.drain(..count).collect()
    }

    fn put_back(&mut self, entries: &[T])
    where
        T: Clone,
    {
        for entry in entries.iter().rev() {
            self.entries.push_front(entry.clone());
        }
        self.entries.truncate(MOST_WAITING);
    }
}

// The log is one of the process, too.
static CALLS: Mutex<Waiting<OutsideCall>> = Mutex::new(Waiting::new());
static ERRORS: Mutex<Waiting<LoggedError>> = Mutex::new(Waiting::new());

/// How a call to another service ended.
pub struct Ending {
    /// `None` without an answer.
    pub status: Option<u16>,
    /// Empty for a success.
    pub error: String,
}

/// Notes a call to another service, if the present thread works for a request.
pub fn note_call(
    at: Instant,
    took: Duration,
    service: &'static str,
    what: &str,
    ending: impl FnOnce() -> Ending,
) {
    let Some(request_id) = trace::current() else { return };
    CALLS.lock().keep(at, MOST_A_SECOND, || {
        let Ending { status, error } = ending();
        OutsideCall {
            at,
            request_id: request_id.to_string(),
            service: service.to_owned(),
            what: shortened(what, LONGEST).to_owned(),
            status,
            us: i64::try_from(took.as_micros()).unwrap_or(i64::MAX),
            error: shortened(&redacted(&error), LONGEST).to_owned(),
        }
    });
}

/// Notes a warning or an error of the log.
pub fn note_error(error: &LoggedError) {
    ERRORS.lock().keep(error.at, MOST_ERRORS_A_SECOND, || LoggedError {
        at: error.at,
        is_error: error.is_error,
        message: shortened(&redacted(&error.message), LONGEST).to_owned(),
        cause: shortened(&redacted(&error.cause), LONGEST).to_owned(),
        request_id: error.request_id.clone(),
    });
}

/// Errors that are not written yet, for pages that show the newest.
pub fn unwritten() -> Vec<LoggedError> {
    ERRORS.lock().entries.iter().cloned().collect()
}

/// Writes what waits.
pub fn flush(services: &Services) -> Result<(), DbError> {
    let (calls, errors) = (Arc::new(CALLS.lock().take()), Arc::new(ERRORS.lock().take()));
    if calls.is_empty() && errors.is_empty() {
        return Ok(());
    }
    let job = (Arc::clone(&calls), Arc::clone(&errors));
    let written = services.db.write_piece(move |tx| store::add(tx, &job.0, &job.1));
    if written.is_err() {
        CALLS.lock().put_back(&calls);
        ERRORS.lock().put_back(&errors);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_by_the_second_and_by_number() {
        let mut waiting = Waiting::new();
        for number in 0..100 {
            waiting.keep(Instant(1), 5, || number);
        }
        waiting.keep(Instant(2), 5, || 100);
        assert_eq!(waiting.take(), [0, 1, 2, 3, 4, 100]);
        for second in 0..2_000 {
            waiting.keep(Instant(second), 5, || 7);
        }
        assert_eq!(waiting.entries.len(), MOST_WAITING);
        let taken = waiting.take();
        waiting.keep(Instant(9), 5, || 8);
        waiting.put_back(&taken);
        assert_eq!(
            (waiting.entries.len(), waiting.entries[0]),
            (MOST_WAITING - PIECE + 1 + PIECE - 1, 7)
        );
    }
}
