//! Work that waits: the kit that all queues share, and one table of their pauses,
//! limits and tries, by purpose.
//!
//! A queue is rows of the database with the time of their next try. Workers take
//! what is due (`db/rounds.rs`), leave to each key its permits (`keyed_semaphore.rs`), wait
//! longer after each failure (`backoff.rs`), and notice when the other side is
//! away (`breaker.rs`).

mod backoff;
mod breaker;
mod keyed_semaphore;

use std::time::Duration;

use crate::base::clock::DAY_S;

pub use backoff::{Backoff, Spread};
pub use breaker::Breaker;
pub use keyed_semaphore::{KeyedSemaphore, Permit};

/// How one queue is worked.
#[derive(Debug)]
pub struct Purpose {
    /// Its name in the log, and that of its threads.
    pub name: &'static str,
    /// Threads that work it.
    pub workers: usize,
    /// Longest pause between two looks at it, in real time, because the clock may
    /// have been changed.
    pub look: Duration,
    /// Pauses before another try.
    pub retry: Backoff,
    /// Tries after which it is given up.
    pub tries: i64,
    /// Failures in a row after which the other side counts as away.
    pub away_after: u32,
    /// Pauses before each look whether it is back.
    pub probe: Backoff,
}

const HOUR_S: i64 = 3600;

/// Notifications of the marketplace.
pub const INBOX: Purpose = Purpose {
    name: "inbox",
    workers: 4,
    look: Duration::from_secs(1),
    retry: Backoff::doubling(&[5], HOUR_S, Spread::Longer),
    tries: 12,
    away_after: 10,
    // Short, because people have to wait this long after an outage has ended.
    probe: Backoff::doubling(&[4], 4, Spread::None),
};
/// Readings of accounts. One that fails is tried as long as the account is linked.
pub const READINGS: Purpose = Purpose { name: "sync", workers: 2, tries: i64::MAX, ..INBOX };
/// What was read of accounts that are no longer linked, to be removed.
pub const UNLINKED: Purpose = Purpose { name: "forget", workers: 1, ..READINGS };

/// Messages to people, where a channel has no row of its own.
const MESSAGES: Purpose = Purpose {
    name: "messages",
    workers: 6,
    look: Duration::from_millis(250),
    retry: Backoff::doubling(&[30], HOUR_S, Spread::Shorter),
    tries: 8,
    away_after: 10,
    probe: Backoff::doubling(&[5], 60, Spread::None),
};
pub const CHAT: Purpose = Purpose { name: "chat", ..MESSAGES };
pub const EMAIL: Purpose = Purpose { name: "email", ..MESSAGES };
pub const TELEGRAM: Purpose = Purpose { name: "telegram", ..MESSAGES };
pub const PUSH: Purpose = Purpose { name: "push", ..MESSAGES };

/// More than three days in all.
const WEBHOOK_PAUSES_S: [i64; 9] =
    [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600];
/// Deliveries to webhooks. A receiver that hangs once is left alone.
pub const WEBHOOKS: Purpose = Purpose {
    name: "webhooks",
    workers: 1,
    look: Duration::from_millis(250),
    retry: Backoff::doubling(&WEBHOOK_PAUSES_S, DAY_S, Spread::None),
    tries: 10,
    away_after: 1,
    probe: Backoff::doubling(&[4], 300, Spread::None),
};

/// Asking Telegram for updates, and starting Litestream again.
pub const CONNECTION: Backoff = Backoff::doubling(&[1], 60, Spread::None);

/// How long a notification is tried, however often, when the failure may go away
/// by itself: an outage, an unreadable answer, a lost link.
pub const INBOX_WAITS_OUT_S: i64 = 4 * DAY_S;
/// A record that the marketplace does not have counts as gone once its notification is
/// this old: new ones were seen to be missing for up to four minutes.
pub const INBOX_MISSING_S: i64 = 5 * 60;
/// How long a try to send a message may take before another worker may try.
/// Longer than any channel's time limit.
pub const MESSAGE_LEASE_S: i64 = 60;
/// How long an account's other areas wait after one got no answer.
pub const AREAS_REST_S: i64 = 30;
/// Pause of the whole bot when Telegram asks for one and does not say how long.
pub const BOT_RESTS_S: i64 = 30;
/// Longest pause of a channel, also when its provider asks for more.
pub const CHANNEL_RESTS_S: i64 = HOUR_S;
/// An endpoint that only failed for this long is switched off.
pub const ENDPOINT_PATIENCE_S: i64 = 5 * DAY_S;

/// Calls to the marketplace at a time, in all and for one seller, and how long one
/// waits for its turn.
pub const CALLS: usize = 5;
pub const CALLS_OF_SELLER: usize = 2;
pub const CALL_PATIENCE: Duration = Duration::from_secs(15);
/// Deliveries to webhooks at a time: to endpoints that answer quickly, and to those
/// that are new, fail or are slow.
pub const QUICK_TRIES: usize = 24;
pub const CAREFUL_TRIES: usize = 16;
/// Tries at a time of one endpoint and of all endpoints of an account, and those
/// of an account whose endpoints are new or failing.
pub const TRIES_OF_ENDPOINT: usize = 8;
pub const TRIES_OF_ACCOUNT: usize = 12;
pub const CAREFUL_TRIES_OF_ACCOUNT: usize = 2;
