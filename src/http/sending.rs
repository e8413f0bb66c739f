//! What large answers may hold while they are sent: a budget of bytes for all, and
//! places for files, few for each account.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::body::UNSENT_BYTES;
use super::budget::{AccountKey, Budget};
use crate::base::queue::KeyedSemaphore;

/// Files that may be sent to one account at the same time.
const FILES_AT_A_TIME: usize = 2;
/// Pieces of files that are read at the same time, so that exports leave slow readers
/// to other requests.
const TURNS: usize = 2;

/// Limits the memory of what is being sent.
pub struct Sending {
    /// Bytes of large answers that are not sent yet.
    pub unsent: Arc<Budget>,
    /// Files on their way, by account.
    pub files: KeyedSemaphore<AccountKey>,
    /// Taken while the next piece of a file is read.
    pub turns: Arc<Semaphore>,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            unsent: Budget::new(UNSENT_BYTES),
            files: KeyedSemaphore::new(usize::MAX, |_| FILES_AT_A_TIME),
            turns: Arc::new(Semaphore::new(TURNS)),
        }
    }
}
