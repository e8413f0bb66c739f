//! Waiting: for an event where the service gives one, such as a line of its log or
//! the end of a process; else by checks that become rarer, until a deadline.

use std::process::Child;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Pauses between two checks of [`until`]: the first, and the longest.
const LOOKS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));

/// Waits until `condition` returns a value, and returns that; panics after
/// `limit`, naming `what` was waited for. Checks become rarer with time: they
/// cost the tested process time, and where each check advances the clock, many
/// days would pass on a slow machine.
#[track_caller]
pub fn until<T>(what: &str, limit: Duration, condition: impl FnMut() -> Option<T>) -> T {
    within(limit, condition).unwrap_or_else(|| panic!("waited {limit:?} in vain: {what}"))
}

/// The same; `None` when the time is over.
pub fn within<T>(limit: Duration, mut condition: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    let mut wait = LOOKS.0;
    loop {
        if let Some(value) = condition() {
            return Some(value);
        }
        if Instant::now() >= deadline {
            return None;
        }
        pause(wait);
        wait = LOOKS.1.min(wait * 9 / 8);
    }
}

/// Lets time pass, where that is what the test is about: callers who are slow, or
/// come at a steady rate, or a kill at some moment.
#[expect(clippy::disallowed_methods, reason = "nothing is waited for")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// What a process has written, which can be waited for.
#[derive(Default)]
pub struct Log {
    text: Mutex<String>,
    more: Condvar,
}

impl Log {
    pub fn text(&self) -> String {
        self.lock().clone()
    }

    pub fn push(&self, more: &str) {
        self.lock().push_str(more);
        self.more.notify_all();
    }

    /// Waits until this text stands in it.
    #[track_caller]
    pub fn wait_for(&self, text: &str, limit: Duration) {
        let waiting = self.more.wait_timeout_while(self.lock(), limit, |log| !log.contains(text));
        let (log, waited) = waiting.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "waited {limit:?} in vain for {text:?} in the log\n{}", *log);
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a child has ended, and leaves its status to be asked for.
#[track_caller]
pub fn await_end(child: &Child, limit: Duration) {
    assert!(has_ended(child, limit), "waited {limit:?} in vain: the process ends");
}

/// The same; whether it has ended within that time.
pub fn has_ended(child: &Child, limit: Duration) -> bool {
    let (tell, told) = mpsc::channel();
    let process = Pid::from_child(child);
    std::thread::spawn(move || {
        // The status stays with the handle of the child.
        let wait = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        retry_on_intr(|| waitid(WaitId::Pid(process), wait)).ok();
        tell.send(()).ok();
    });
    told.recv_timeout(limit).is_ok()
}
