//! Background threads: how they are started, woken and stopped.
//!
//! A panic in a worker is logged and the worker starts anew after a pause,
//! so that a bad record cannot end it for good.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pause before a worker that panicked starts anew.
const AFTER_PANIC: Duration = Duration::from_secs(1);

/// A signal to stop, and a bell to wake waiting workers.
#[derive(Clone, Default)]
pub struct Stop {
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    stopping: bool,
    rings: u64,
}

impl Stop {
    /// Waits for `at_most`; true when it is time to stop.
    pub fn wait(&self, at_most: Duration) -> bool {
        let (state, bell) = &*self.shared;
        let mut state = state.lock();
        bell.wait_while_for(&mut state, |state| !state.stopping, at_most);
        state.stopping
    }

    /// Waits for a ring after the `seen` ones, at most for `at_most`; returns
    /// the count of rings and whether it is time to stop.
    pub fn wait_ring(&self, seen: u64, at_most: Duration) -> (u64, bool) {
        let (state, bell) = &*self.shared;
        let mut state = state.lock();
        let is_quiet = |state: &mut State| !state.stopping && state.rings == seen;
        bell.wait_while_for(&mut state, is_quiet, at_most);
        (state.rings, state.stopping)
    }

    /// Wakes workers that wait for a ring.
    pub fn ring(&self) {
        self.change(|state| state.rings += 1);
    }

    /// Whether it is time to stop.
    pub fn is_set(&self) -> bool {
        let (state, _) = &*self.shared;
        state.lock().stopping
    }

    /// Tells all workers to stop.
    pub fn stop(&self) {
        self.change(|state| state.stopping = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let (state, bell) = &*self.shared;
        change(&mut state.lock());
        bell.notify_all();
    }
}

/// Work that is done by one thread at a time, while a few others may wait.
#[derive(Default)]
pub struct Turns {
    turn: Mutex<()>,
    waiting: AtomicUsize,
}

impl Turns {
    /// Waits for a turn, which ends when the value is dropped; `None` when
    /// `most_waiting` threads already wait.
    pub fn take(&self, most_waiting: usize) -> Option<MutexGuard<'_, ()>> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let turn = (before < most_waiting).then(|| self.turn.lock());
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        turn
    }

    /// Whether somebody has the turn.
    #[cfg(test)]
    pub fn is_taken(&self) -> bool {
        self.turn.try_lock().is_none()
    }
}

/// Starts a worker. `work` returns when it was told to stop.
pub fn start(
    name: &str,
    stop: &Stop,
    work: impl Fn(&Stop) + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let stop = stop.clone();
    let label = name.to_owned();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        while catch_unwind(AssertUnwindSafe(|| work(&stop))).is_err() {
            tracing::error!(worker = label, "a worker panicked and starts anew");
            if stop.wait(AFTER_PANIC) {
                return;
            }
        }
    })
}
