//! When a channel may send: its pace, its pause while it is out of order, and
//! the internal clock.
//!
//! The pace is real time, as the other side feels it. Pauses follow the
//! service's clock.

use parking_lot::Mutex;
use std::time::{Duration, Instant as Monotonic};

use crate::base::Instant;

/// How long a channel that is out of order is left alone before each probe;
/// the last for good.
const PAUSES_S: [i64; 5] = [5, 10, 20, 40, 60];
/// No pause is longer, so one that is comes from a clock that was set back.
const LONGEST_PAUSE_S: i64 = 3600;
/// Failures in a row after which a channel counts as out of order.
const FAILURES: u32 = 10;
/// Probes in vain after which it is told that nobody answers.
const PROBES: usize = 2;

/// What a channel did since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: usize,
    /// Tries that failed.
    pub failed: usize,
    /// Messages that were dropped, because they could reach nobody.
    pub dropped: usize,
}

impl Counts {
    /// What was counted after an earlier look.
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            sent: self.sent - earlier.sent,
            failed: self.failed - earlier.failed,
            dropped: self.dropped - earlier.dropped,
        }
    }
}

/// Whether a channel is in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Good,
    /// Nothing leaves until the next probe.
    Down {
        error: String,
    },
}

/// The gate of one channel.
pub struct Gate {
    /// Time between two messages; zero without a pace.
    gap: Duration,
    /// Whether the internal clock sends what is due.
    by_itself: bool,
    state: Mutex<GateState>,
}

struct GateState {
    /// The next message may leave then.
    next: Monotonic,
    /// Whether a call has the queue worked.
    called: bool,
    /// Nothing leaves until then, because the other side asked for it.
    paused: Option<Instant>,
    down: Option<Down>,
    /// In a row.
    failures: u32,
    /// Whether it was told that the channel is out of order.
    told_down: bool,
    counts: Counts,
    /// What was told of them.
    told: Counts,
    in_flight: usize,
}

/// A channel that is out of order.
struct Down {
    /// The next probe.
    until: Instant,
    /// Probes so far.
    probes: usize,
    error: String,
}

impl Down {
    fn pause_from(&self, now: Instant) -> Instant {
        let [.., last] = PAUSES_S;
        now.plus(PAUSES_S.get(self.probes).copied().unwrap_or(last))
    }
}

/// What a failure says of the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// It was known to be out of order, so the failure is none of the message.
    pub was_down: bool,
    /// It is, and that was not told yet.
    pub is_news: bool,
}

impl Gate {
    /// A gate for so many messages a second; 0 for any number.
    pub fn new(per_s: f64, by_itself: bool) -> Self {
        let now = Monotonic::now();
        let gap = if per_s > 0.0 {
            Duration::try_from_secs_f64(1.0 / per_s).unwrap_or(Duration::ZERO)
        } else {
            Duration::ZERO
        };
        Self {
            gap,
            by_itself,
            state: Mutex::new(GateState {
                next: now,
                called: false,
                paused: None,
                down: None,
                failures: 0,
                told_down: false,
                counts: Counts::default(),
                told: Counts::default(),
                in_flight: 0,
            }),
        }
    }

    /// Has the queue worked also without the internal clock, or no longer.
    pub fn call(&self, called: bool) {
        self.state.lock().called = called;
    }

    /// Takes the turn for one message; returns how long it is to be waited
    /// for, or `None` while nothing may leave.
    pub fn turn(&self, now: Instant, wire: Monotonic) -> Option<Duration> {
        let mut state = self.state.lock();
        if !self.is_open(&state, now) {
            return None;
        }
        if let Some(down) = &mut state.down {
            // One probe, by whoever comes first.
            down.until = down.pause_from(now);
            down.probes += 1;
        }
        let turn = state.next.max(wire);
        state.next = turn + self.gap;
        state.in_flight += 1;
        Some(turn - wire)
    }

    /// Whether a message might leave now.
    pub fn lets_through(&self, now: Instant) -> bool {
        self.is_open(&self.state.lock(), now)
    }

    fn is_open(&self, state: &GateState, now: Instant) -> bool {
        let waits = |until: Instant| now < until && until.since(now) <= LONGEST_PAUSE_S;
        let is_paused = state.paused.is_some_and(waits);
        let rests = state.down.as_ref().is_some_and(|down| waits(down.until));
        !is_paused && !rests && (self.by_itself || state.called)
    }

    /// Whether something is on its way.
    pub fn is_busy(&self) -> bool {
        self.state.lock().in_flight > 0
    }

    /// Gives a turn back, whatever was done with it.
    pub fn done(&self) {
        self.state.lock().in_flight -= 1;
    }

    /// Counts a message that was taken.
    pub fn note_sent(&self) {
        let mut state = self.state.lock();
        state.counts.sent += 1;
        state.failures = 0;
        state.down = None;
        state.told_down = false;
    }

    /// Counts a message that did not leave.
    pub fn note_failed(&self, error: &str, fault: DeliveryFault, now: Instant) -> Judged {
        let mut state = self.state.lock();
        state.counts.failed += 1;
        let was_down = state.down.is_some();
        if fault == DeliveryFault::Message {
            // Whoever refuses a message is in order.
            state.failures = 0;
            state.down = None;
            state.told_down = false;
            return Judged { was_down, is_news: false };
        }
        state.failures += 1;
        let is_known = fault != DeliveryFault::Unknown;
        if !was_down && !is_known && state.failures < FAILURES {
            return Judged::default();
        }
        let mut down = Down {
            until: now,
            probes: state.down.as_ref().map_or(0, |down| down.probes),
            error: error.to_owned(),
        };
        down.until = down.pause_from(now);
        let is_sure =
            fault == DeliveryFault::Refusal || state.failures >= FAILURES || down.probes >= PROBES;
        state.down = Some(down);
        let is_news = is_sure && !state.told_down;
        state.told_down |= is_sure;
        Judged { was_down, is_news }
    }

    /// Lets nothing leave until an instant. That is no failure.
    pub fn pause(&self, until: Instant) {
        let mut state = self.state.lock();
        state.paused = state.paused.max(Some(until));
    }

    /// Counts messages that were dropped.
    pub fn note_dropped(&self, count: usize) {
        self.state.lock().counts.dropped += count;
    }

    /// What was counted since this was asked last.
    pub fn untold(&self) -> Counts {
        let mut state = self.state.lock();
        let fresh = state.counts.since(state.told);
        state.told = state.counts;
        fresh
    }

    /// Whether the channel is in order.
    pub fn health(&self) -> Health {
        match &self.state.lock().down {
            Some(down) => Health::Down { error: down.error.clone() },
            None => Health::Good,
        }
    }
}

/// Whose fault a failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// The message's or its recipient's.
    Message,
    /// Nobody knows: ten in a row are the channel's.
    Unknown,
    /// The channel's: nobody is there.
    Silence,
    /// The channel's: it refuses us.
    Refusal,
}
