//! Notices that somebody is away, so that others do not wait for an answer that
//! will not come: after some failures in a row one try at a time looks whether
//! they are back, with pauses in between.
//!
//! The time may be that of the service's clock or that of the processor: each
//! call brings `after`, which says when so many seconds are over.

use super::Purpose;

/// Whether somebody is away.
pub struct Breaker<T> {
    purpose: &'static Purpose,
    /// Failures in a row.
    pub failures: u32,
    open: Option<Open<T>>,
}

#[derive(Clone, Copy)]
struct Open<T> {
    until: T,
    /// Looks so far whether they are back.
    looks: i64,
}

impl<T: Copy> Breaker<T> {
    pub const fn new(purpose: &'static Purpose) -> Self {
        Self { purpose, failures: 0, open: None }
    }

    /// Until when nothing is tried; `None` while they answer.
    pub fn until(&self) -> Option<T> {
        self.open.map(|open| open.until)
    }

    /// Whether they count as away.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Looks so far whether they are back.
    pub fn looks(&self) -> i64 {
        self.open.map_or(0, |open| open.looks)
    }

    /// Counts a failure, as `weight` of them. Returns true when they count as away
    /// from now on.
    pub fn fail(&mut self, weight: u32, after: impl Fn(i64) -> T) -> bool {
        self.failures = self.failures.saturating_add(weight);
        let opens = self.failures >= self.purpose.away_after && !self.is_open();
        if opens {
            self.rest(after);
        }
        opens
    }

    /// They are away, whatever was counted: nothing is tried for the present pause.
    pub fn rest(&mut self, after: impl Fn(i64) -> T) {
        let looks = self.looks();
        let until = after(self.purpose.probe.pause_s(looks + 1));
        self.open = Some(Open { until, looks });
    }

    /// A look whether they are back: the next one waits for the present pause, and
    /// the pause grows.
    pub fn look(&mut self, after: impl Fn(i64) -> T) {
        self.rest(after);
        self.open = self.open.map(|open| Open { looks: open.looks + 1, ..open });
    }

    /// They answered. Returns true when they were away.
    pub fn answer(&mut self) -> bool {
        self.failures = 0;
        self.open.take().is_some()
    }
}
