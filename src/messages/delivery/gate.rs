//! When a channel may send: its rate limit, its pause while it is down, and the
//! internal clock.
//!
//! The rate limit uses real time, because the provider measures it. Pauses use
//! the service's clock. Decisions messages-3, messages-4.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant as Monotonic};

use crate::base::queue::{Breaker, CHANNEL_RESTS_S, Purpose};
use crate::base::{Instant, UserId};

/// People in a row whom the provider rejects, after which it rejects everybody.
const REFUSED_PEOPLE: usize = 3;
/// Most rejected messages that are brought back when everybody is rejected.
const MOST_REVIVED: usize = 100;
/// Most messages that are remembered because they were rejected with
/// everybody's.
const MOST_DOUBTED: usize = 10_000;
/// So often a message may be rejected with everybody's; then it is at fault itself.
const MOST_TIMES: u8 = 3;
/// Failed probes after which administrators are told that the channel does not
/// answer.
const PROBES: i64 = 2;
/// For so long after a provider rejected us later, when it had taken a message, what it
/// takes does not show that it works.
const LATE_REFUSAL_S: i64 = 10 * 60;

/// What a channel did since it was asked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: usize,
    /// Tries that failed.
    pub failed: usize,
    /// Messages that were dropped, such as expired ones.
    pub dropped: usize,
}

/// Decides when one channel may send.
pub struct Gate {
    /// Time between two messages; zero without a rate limit.
    gap: Duration,
    /// Whether the internal clock is on: due messages are sent without a call.
    by_itself: bool,
    queue: &'static Purpose,
    state: Mutex<GateState>,
}

struct GateState {
    /// Earliest time of the next message.
    next: Monotonic,
    /// Whether a call (`send_due`) is processing the queue.
    called: bool,
    /// Nothing is sent until then, because the provider asked for a pause.
    paused: Option<Instant>,
    breaker: Breaker<Instant>,
    /// Why the channel is down, while the breaker is open.
    down: Option<Down>,
    /// Messages whose recipients were rejected since one was accepted.
    refused: Vec<(i64, UserId)>,
    /// Messages that were rejected together with everybody's and wait, and how
    /// often that was.
    doubted: BTreeMap<i64, u8>,
    /// When the provider last rejected us after it had taken a message.
    late: Option<Instant>,
    /// Whether administrators were told that the channel is down.
    told_down: bool,
    counts: Counts,
    in_flight: usize,
}

/// Why a channel is down.
struct Down {
    error: String,
    /// Whether the provider rejects every recipient: then only a message that
    /// it accepts shows that it works.
    refuses_all: bool,
}

impl GateState {
    fn refuses_all(&self) -> bool {
        self.down.as_ref().is_some_and(|down| down.refuses_all)
    }

    /// The channel answers.
    fn answers(&mut self) {
        self.late = None;
        self.breaker.answer();
        self.down = None;
        self.told_down = false;
    }
}

/// What a failure means for the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureVerdict {
    /// The channel was already down, so this is not a failure of the message.
    pub was_down: bool,
    /// The channel is down, and administrators were not told yet.
    pub should_alert: bool,
}

/// What the rejection of a recipient means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalVerdict {
    /// The recipient's fault: the message fails.
    Recipient,
    /// The channel's fault: the message waits.
    Channel {
        /// Messages that failed before it was known that everybody is rejected.
        revived: Vec<i64>,
        /// Administrators were not told yet.
        should_alert: bool,
    },
}

impl Gate {
    /// A gate for `per_s` messages a second; 0 for no limit.
    pub fn new(queue: &'static Purpose, per_s: f64, by_itself: bool) -> Self {
        let now = Monotonic::now();
        let gap = if per_s > 0.0 {
            Duration::try_from_secs_f64(1.0 / per_s).unwrap_or(Duration::ZERO)
        } else {
            Duration::ZERO
        };
        Self {
            gap,
            by_itself,
            queue,
            state: Mutex::new(GateState {
                next: now,
                called: false,
                paused: None,
                breaker: Breaker::new(queue),
                down: None,
                refused: Vec::new(),
                doubted: BTreeMap::new(),
                late: None,
                told_down: false,
                counts: Counts::default(),
                in_flight: 0,
            }),
        }
    }

    /// Opens the gate also while the internal clock is off, or closes it again.
    pub fn call(&self, called: bool) {
        self.state.lock().called = called;
    }

    /// Reserves a send time for one message. Returns how long to wait for it,
    /// or `None` while nothing may be sent.
    pub fn turn(&self, now: Instant, wire: Monotonic) -> Option<Duration> {
        let mut state = self.state.lock();
        if !self.is_open(&state, now) {
            return None;
        }
        let is_recent = |at: &Instant| (0..LATE_REFUSAL_S).contains(&now.since(*at));
        state.late = state.late.filter(is_recent);
        if state.breaker.is_open() {
            // This caller sends the only probe before the next pause ends.
            state.breaker.look(|pause_s| now.plus(pause_s));
        }
        let turn = state.next.max(wire);
        state.next = turn + self.gap;
        state.in_flight += 1;
        Some(turn - wire)
    }

    /// Whether a message might be sent now.
    pub fn lets_through(&self, now: Instant) -> bool {
        self.is_open(&self.state.lock(), now)
    }

    fn is_open(&self, state: &GateState, now: Instant) -> bool {
        // A longer pause means that the clock was set back.
        let waits = |until: Instant| now < until && until.since(now) <= CHANNEL_RESTS_S;
        let is_paused = state.paused.is_some_and(waits);
        let rests = state.breaker.until().is_some_and(waits);
        !is_paused && !rests && (self.by_itself || state.called)
    }

    /// Whether a message is being sent.
    pub fn is_busy(&self) -> bool {
        self.state.lock().in_flight > 0
    }

    /// Ends a turn, whether or not a message was sent.
    pub fn done(&self) {
        self.state.lock().in_flight -= 1;
    }

    /// Counts a message that the provider accepted.
    pub fn note_sent(&self) {
        let mut state = self.state.lock();
        state.counts.sent += 1;
        state.refused.clear();
        if state.late.is_none() {
            state.answers();
        }
    }

    /// The provider told that a message went on its way that it had taken at an instant.
    /// Of one that it took before it rejected us that shows nothing.
    pub fn note_arrived(&self, taken_at: Instant) {
        let mut state = self.state.lock();
        if state.late.is_some_and(|late| taken_at >= late) {
            state.answers();
        }
    }

    /// Counts a message that failed after the provider had taken it.
    pub fn note_failed_later(&self) {
        self.state.lock().counts.failed += 1;
    }

    /// The provider rejected us after it had taken a message. Until it tells of one that
    /// went on its way, or of nothing for a while, its taking messages shows nothing.
    pub fn note_refused_later(&self, error: &str, now: Instant) -> FailureVerdict {
        self.state.lock().late = Some(now);
        self.note_failed(error, DeliveryFault::Refusal, now)
    }

    /// Counts a failed try, and decides whether the channel is down.
    pub fn note_failed(&self, error: &str, fault: DeliveryFault, now: Instant) -> FailureVerdict {
        let mut state = self.state.lock();
        state.counts.failed += 1;
        let was_down = state.breaker.is_open();
        let refuses_all = state.refuses_all();
        if fault == DeliveryFault::Message {
            if !refuses_all && state.late.is_none() {
                // A provider that rejects a single message works.
                state.answers();
            }
            return FailureVerdict { was_down, should_alert: false };
        }
        let after = |pause_s| now.plus(pause_s);
        let is_known = fault != DeliveryFault::Unknown;
        let is_down = state.breaker.fail(1, after) || was_down || is_known;
        if !is_down {
            return FailureVerdict::default();
        }
        state.breaker.rest(after);
        state.down = Some(Down { error: error.to_owned(), refuses_all });
        let is_sure = fault == DeliveryFault::Refusal
            || state.breaker.failures >= self.queue.away_after
            || state.breaker.looks() >= PROBES;
        let should_alert = is_sure && !state.told_down;
        state.told_down |= is_sure;
        FailureVerdict { was_down, should_alert }
    }

    /// Counts a message whose recipient was rejected, and decides whose fault
    /// that is. One person who is rejected while others are not gets nothing.
    /// When one after the other is rejected, the channel is down and all those
    /// messages wait. One that is among them time and again fails at last.
    pub fn note_refused(
        &self,
        error: &str,
        message: i64,
        person: UserId,
        now: Instant,
    ) -> RefusalVerdict {
        let mut state = self.state.lock();
        state.counts.failed += 1;
        state.breaker.failures = 0;
        let mut revived = Vec::new();
        let was_refusing = state.refuses_all();
        if !was_refusing {
            // It answers, so it is neither away nor does it reject us.
            state.answers();
            // What is rejected each time is at fault itself.
            if state.doubted.get(&message).is_some_and(|times| *times >= MOST_TIMES) {
                state.doubted.remove(&message);
                return RefusalVerdict::Recipient;
            }
            state.refused.push((message, person));
            let people: BTreeSet<UserId> =
                state.refused.iter().map(|(_, person)| *person).collect();
            if people.len() < REFUSED_PEOPLE {
                let surplus = state.refused.len().saturating_sub(MOST_REVIVED);
                state.refused.drain(..surplus);
                return RefusalVerdict::Recipient;
            }
            let refused = std::mem::take(&mut state.refused);
            revived.extend(refused.into_iter().map(|(id, _)| id).filter(|id| *id != message));
        }
        // A probe says nothing new of its message.
        let times = u8::from(!was_refusing);
        for doubted in revived.iter().copied().chain([message]) {
            *state.doubted.entry(doubted).or_insert(u8::from(was_refusing)) += times;
        }
        while state.doubted.len() > MOST_DOUBTED {
            state.doubted.pop_first();
        }
        state.breaker.rest(|pause_s| now.plus(pause_s));
        state.down = Some(Down { error: error.to_owned(), refuses_all: true });
        let should_alert = !state.told_down;
        state.told_down = true;
        RefusalVerdict::Channel { revived, should_alert }
    }

    /// Begins with a channel that rejected everybody before the service
    /// stopped. The first message is a probe.
    pub fn begin_refused(&self, error: &str, now: Instant) {
        let mut state = self.state.lock();
        state.breaker.rest(|_| now);
        state.down = Some(Down { error: error.to_owned(), refuses_all: true });
    }

    /// Stops sending until an instant. This does not count as a failure.
    pub fn pause(&self, until: Instant) {
        let mut state = self.state.lock();
        state.paused = state.paused.max(Some(until));
    }

    /// Counts messages that were dropped.
    pub fn note_dropped(&self, count: usize) {
        self.state.lock().counts.dropped += count;
    }

    /// What was counted since the last call.
    pub fn take_counts(&self) -> Counts {
        std::mem::take(&mut self.state.lock().counts)
    }

    /// Why nothing is sent until the next probe; `None` while the channel works.
    pub fn error(&self) -> Option<String> {
        self.state.lock().down.as_ref().map(|down| down.error.clone())
    }
}

/// Whose fault a failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// The message's or its recipient's.
    Message,
    /// Unknown; ten in a row count as the channel's.
    Unknown,
    /// The channel's: the provider cannot be reached.
    Silence,
    /// The channel's: the provider rejects us.
    Refusal,
}
