//! When a channel may send: its pace, its pause while it is out of order, and
//! the internal clock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Monotonic};

/// How long a channel that is out of order is left alone.
const PAUSE: Duration = Duration::from_secs(60);
/// Failures in a row after which a channel counts as out of order.
const FAILURES: u32 = 10;

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
    state: Mutex<State>,
}

struct State {
    /// The next message may leave then.
    next: Monotonic,
    /// Whether a call has the queue worked.
    called: bool,
    /// Nothing leaves until then, because the other side asked for it.
    paused: Option<Monotonic>,
    /// Left alone until then, and why.
    down: Option<(Monotonic, String)>,
    failures: u32,
    counts: Counts,
    /// What was told of them.
    told: Counts,
    in_flight: usize,
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
            state: Mutex::new(State {
                next: now,
                called: false,
                paused: None,
                down: None,
                failures: 0,
                counts: Counts::default(),
                told: Counts::default(),
                in_flight: 0,
            }),
        }
    }

    /// Has the queue worked also without the internal clock, or no longer.
    pub fn call(&self, called: bool) {
        self.lock().called = called;
    }

    /// Takes the turn for one message; gives back how long it is to be waited
    /// for, or `None` while nothing may leave.
    pub fn turn(&self, now: Monotonic) -> Option<Duration> {
        let mut state = self.lock();
        if !self.is_open(&state, now) {
            return None;
        }
        if let Some((until, _)) = &mut state.down {
            // One probe a minute, by whoever comes first.
            *until = now + PAUSE;
        }
        let turn = state.next.max(now);
        state.next = turn + self.gap;
        state.in_flight += 1;
        Some(turn - now)
    }

    /// Whether a message might leave now.
    pub fn lets_through(&self, now: Monotonic) -> bool {
        self.is_open(&self.lock(), now)
    }

    fn is_open(&self, state: &State, now: Monotonic) -> bool {
        let is_paused = state.paused.is_some_and(|until| now < until);
        let rests = state.down.as_ref().is_some_and(|(until, _)| now < *until);
        !is_paused && !rests && (self.by_itself || state.called)
    }

    /// Whether something is on its way.
    pub fn is_busy(&self) -> bool {
        self.lock().in_flight > 0
    }

    /// Gives a turn back, whatever was done with it.
    pub fn done(&self) {
        self.lock().in_flight -= 1;
    }

    /// Counts a message that was taken.
    pub fn note_sent(&self) {
        let mut state = self.lock();
        state.counts.sent += 1;
        state.failures = 0;
        state.down = None;
    }

    /// Counts a message that its recipient or the channel refused; true when
    /// the channel is out of order since.
    pub fn note_failed(&self, error: &str, of_channel: Fault, now: Monotonic) -> bool {
        let mut state = self.lock();
        let was_good = state.down.is_none();
        state.counts.failed += 1;
        match of_channel {
            Fault::Message => state.failures = 0,
            Fault::Unknown => state.failures += 1,
            Fault::Channel => state.failures = FAILURES,
        }
        if state.failures >= FAILURES {
            state.down = Some((now + PAUSE, error.to_owned()));
        }
        was_good && state.down.is_some()
    }

    /// Lets nothing leave until an instant. That is no failure.
    pub fn pause(&self, until: Monotonic) {
        let mut state = self.lock();
        state.paused = state.paused.max(Some(until));
    }

    /// Counts messages that were dropped.
    pub fn note_dropped(&self, count: usize) {
        self.lock().counts.dropped += count;
    }

    /// What was counted since this was asked last.
    pub fn untold(&self) -> Counts {
        let mut state = self.lock();
        let fresh = state.counts.since(state.told);
        state.told = state.counts;
        fresh
    }

    /// Whether the channel is in order.
    pub fn health(&self) -> Health {
        match &self.lock().down {
            Some((_, error)) => Health::Down {
                error: error.clone(),
            },
            None => Health::Good,
        }
    }

    /// No code panics while it holds the lock, so a poisoned one is sound.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose fault a failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The message's or its recipient's.
    Message,
    /// Nobody knows: ten in a row are the channel's.
    Unknown,
    /// The channel's.
    Channel,
}
