//! How far the import that runs is, and the bell of its worker (`apply.rs`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::base::worker::Stop;

/// The import that is running, if there is one.
#[derive(Default)]
pub struct Imports {
    pub(super) running: Mutex<Option<Arc<Running>>>,
    pub(super) bell: Stop,
}

/// Progress of an import.
pub struct Running {
    pub id: i64,
    pub total: u32,
    pub(super) done: AtomicU32,
}

impl Running {
    /// Rows that were handled.
    pub fn done(&self) -> u32 {
        self.done.load(Ordering::Relaxed)
    }
}

impl Imports {
    /// The import that is running.
    pub fn running(&self) -> Option<Arc<Running>> {
        self.running.lock().clone()
    }

    /// Wakes the worker, because the service stops.
    pub fn stop(&self) {
        self.bell.stop();
    }

    pub(super) fn show(&self, id: i64, total: u32, done: u32) -> Arc<Running> {
        let done = AtomicU32::new(done);
        let running = Arc::new(Running { id, total, done });
        *self.running.lock() = Some(Arc::clone(&running));
        running
    }
}
