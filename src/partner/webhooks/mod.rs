//! Webhooks: events are delivered to programs of sellers and suppliers, by the
//! Standard Webhooks specification.
//!
//! A cause writes an event (`crate::events`). `spread.rs` turns it into one
//! delivery for each subscribed endpoint, with the body that all tries send
//! (`objects.rs`), and appends it to the log of events for programs that pull them
//! (`event_log.rs`). `worker.rs` chooses the deliveries to try now, so that a slow or
//! failing receiver does not delay others (`fairness.rs`). `sender.rs`
//! posts a delivery, signed (`sign.rs`), to an allowed address (`address.rs`).
//! `queue.rs` stores the result, `attempts.rs` each attempt. The pages are in `pages.rs`
//! (endpoints), `pages/acts.rs` (actions on an endpoint) and `pages/log.rs` (deliveries), the operations
//! of programs in `operations.rs` and `delivered.rs`. Both doors change endpoints by
//! `keeper.rs`.
//!
//! Webhooks need an API plan. What happens while an account has none in force is
//! not told, also not later; what waited when the plan ended still leaves.

pub mod address;
mod attempts;
mod delivered;
mod event_log;
mod fairness;
mod keeper;
mod objects;
pub mod operations;
mod pages;
mod queue;
mod sender;
pub mod sign;
mod spread;
pub mod state;
mod store;
pub mod views;
mod wire;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

pub use delivered::ListWebhookDeliveries;
pub use event_log::{LoggedEvent, Position, forget_events, stretch};
pub use objects::{schema, tell_gone_listing};
pub use pages::acts::{remove, replay, rotate, switch_off, switch_on, test};
pub use pages::endpoint::{change, one};
pub use pages::log::{deliveries, delivery, replay_one};
pub use pages::{create, list};
pub use queue::forget;
pub use store::{
    all_open, all_waiting, count_sealed, forget_old_secrets, give_up_secrets, waiting_endpoints,
};

use crate::app::App;
use crate::base::queue::WEBHOOKS;
use crate::base::worker as workers;
use crate::base::{DAY_S, Instant, Stop, UserId, hex};
use crate::events::EventType;
use crate::{named, row, stored_as_number};

/// Most endpoints of an account.
pub const MOST_ENDPOINTS: usize = 20;
/// Most waiting deliveries of an account, over all its endpoints.
pub const MOST_WAITING: u64 = 100_000;
/// Most deliveries that one request sends again.
pub const MOST_REPLAYED: usize = 10_000;
/// Longest pause that a receiver may ask for.
const LONGEST_PAUSE_S: i64 = DAY_S;
/// Most tries of a delivery that come sooner than we would, because its receiver asked.
const MOST_EARLY: i64 = 50;
/// How long the previous secret still signs too.
const OVERLAP_S: i64 = DAY_S;

named! {
    /// State of an endpoint. Indexes contain only those that are on, so SQL
    /// says `state = 1`.
    pub enum EndpointState: number {
        On = 1, "ligado", "Ligado";
        /// Switched off by its owner.
        Off = 2, "desligado", "Desligado";
        /// The receiver answered 410.
        Gone = 3, "encerrado", "Encerrado pelo destino";
        /// It failed for days.
        GivenUp = 4, "desistimos", "Desligado após falhas";
    }
}

named! {
    /// State of a delivery. Indexes contain only those that wait, so SQL says
    /// `state = 0`.
    pub enum DeliveryState: number {
        Waiting = 0, "pendente", "Pendentes";
        Delivered = 1, "entregue", "Entregues";
        GivenUp = 2, "falhou", "Falharam";
    }
}

/// The value of `webhook-id`: the same for all tries and all endpoints, and for programs
/// that pull events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId(pub [u8; 16]);

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "msg_{}", hex(&self.0))
    }
}

row! {
    /// An endpoint as it is stored, without its secrets.
    #[derive(Clone, Debug)]
    pub struct Endpoint {
        pub id: i64 = "endpoint_id",
        pub user: UserId = "user_id",
        pub entry: EndpointEntry as row,
        pub state: EndpointState,
        pub created_at: Instant,
        pub off_at: Option<Instant>,
        pub failing_since: Option<Instant>,
        pub error: Option<String>,
        pub delivered_at: Option<Instant>,
        /// Until when the previous secret signs too.
        pub old_until: Option<Instant>,
        /// Events that were dropped because the queue was full.
        pub lost: i64,
        /// Until when its receiver asked to be left alone.
        pub paused_until: Option<Instant>,
    }
}

row! {
    /// The fields of an endpoint that its owner enters.
    #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
    pub struct EndpointEntry: stored {
        pub url: String,
        pub eventos: Events = "events",
    }
}

/// A set of event types; in the database a number with one bit per type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events(i64);

impl Events {
    pub fn of(kinds: impl IntoIterator<Item = EventType>) -> Self {
        Self(kinds.into_iter().fold(0, |all, kind| all | kind.bit()))
    }

    /// Whether the set contains a type.
    pub const fn has(self, kind: EventType) -> bool {
        self.0 & kind.bit() != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The types of the set.
    pub fn all(self) -> impl Iterator<Item = EventType> {
        EventType::ALL.into_iter().filter(move |kind| self.has(*kind))
    }

    /// The names of the types.
    pub fn names(self) -> Vec<&'static str> {
        self.all().map(EventType::name).collect()
    }
}

impl serde::Serialize for Events {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.names().serialize(serializer)
    }
}

stored_as_number!(Events);

pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<JoinHandle<()>> {
    let app = Arc::clone(app);
    workers::start("webhooks", stop, move |stop| worker::run(&app, stop))
}

/// When a delivery is retried after this many tries, and whether that is early; `None`
/// when that was the last try. The time that the receiver asks for is kept to the second,
/// from one second to a day. Where that is sooner than our own pause, the try is early and
/// none of the ten, so that who asks for short pauses loses nothing; of a delivery only the
/// first [`MOST_EARLY`].
fn next_try(
    now: Instant,
    tries: i64,
    early: i64,
    asked: Option<Instant>,
) -> Option<(Instant, bool)> {
    let counted = tries - early;
    if counted >= WEBHOOKS.tries {
        return None;
    }
    let own = WEBHOOKS.retry.pause_s(counted);
    let asked = asked.map(|at| at.since(now).clamp(1, LONGEST_PAUSE_S));
    Some(match asked {
        Some(asked) if asked < own && early < MOST_EARLY => (now.plus(asked), true),
        asked => (now.plus(own.max(asked.unwrap_or(0))), false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_go_on_for_three_days_and_heed_what_the_receiver_asks() {
        let now = Instant(1_795_000_000);
        let pause = |tries, asked: Option<i64>| {
            let asked = asked.map(|asked| Instant(now.0.saturating_add(asked)));
            next_try(now, tries, 0, asked).map(|(at, _)| at.since(now))
        };
        let pauses: Vec<i64> = (1..).map_while(|tries| pause(tries, None)).collect();
        assert_eq!(pauses, WEBHOOKS.retry.pauses_s);
        assert!((3 * DAY_S..4 * DAY_S).contains(&pauses.iter().sum::<i64>()));
        assert_eq!(pause(10, None), None);
        assert_eq!(pause(10, Some(5)), None);
        assert_eq!(pause(1, Some(120)), Some(120));
        assert_eq!(pause(2, Some(120)), Some(120), "sooner than without being asked");
        assert_eq!(pause(1, Some(-7)), Some(1));
        let at = |seconds| now.plus(seconds);
        assert_eq!(
            next_try(now, 12, 9, Some(at(60))),
            Some((at(60), true)),
            "the third that counts"
        );
        assert_eq!(next_try(now, 52, 50, Some(at(60))), Some((at(300), false)), "often enough");
        assert_eq!(next_try(now, 60, 50, Some(at(60))), None);
        assert_eq!(pause(1, Some(i64::MAX)), Some(DAY_S));
    }

    #[test]
    fn events_are_kept_as_bits_and_told_by_name() {
        let some = Events::of([EventType::OrderPaid, EventType::StockChanged]);
        assert_eq!(some.names(), ["order.paid", "stock.changed"]);
        assert!(some.has(EventType::OrderPaid) && !some.has(EventType::OrderCreated));
        assert!(Events::of([]).is_empty());
        assert_eq!(serde_json::to_string(&some).unwrap(), r#"["order.paid","stock.changed"]"#);
    }
}
