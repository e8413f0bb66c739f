//! When a receiver of the chat networks is tried again, and the client that tries it.

use std::time::{Duration, Instant as Monotonic};

/// How long the receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// First and longest pause before another try.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The tries of what is sent next.
pub struct Retries {
    /// What went wrong last; none after a success.
    pub error: Option<String>,
    /// When it is tried next.
    pub due: Monotonic,
    failed: u32,
}

impl Retries {
    /// Nothing was tried: the first try is due.
    pub fn new() -> Self {
        Self { error: None, due: Monotonic::now(), failed: 0 }
    }

    /// Notes how a try went; after a failure each pause is twice as long as the one before.
    pub fn settle(&mut self, error: Option<String>) {
        if error.is_some() {
            let pause = FIRST_PAUSE * 2_u32.pow(self.failed.min(16));
            self.due = Monotonic::now() + pause.min(LONGEST_PAUSE);
            self.failed += 1;
        } else {
            self.failed = 0;
        }
        self.error = error;
    }
}

/// A client that follows no redirect and waits only as long as a receiver may take.
pub fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(PATIENCE))
        .build()
        .into()
}
