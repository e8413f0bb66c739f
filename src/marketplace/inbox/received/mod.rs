//! The inbox of marketplace notifications, for operators: the list with
//! outcomes, and processing one again.

pub mod pages;
pub mod store;
pub mod views;

use crate::base::{Instant, MlUserId};
use crate::marketplace::inbox::hook::NotificationState;
use crate::marketplace::kinds::topics;
use crate::panel::Badge;

/// A received notification.
#[derive(Clone, Debug)]
pub struct Received {
    pub id: i64,
    pub at: Instant,
    pub topic: String,
    pub resource: String,
    pub account: MlUserId,
    /// Nickname of the account, while it is linked.
    pub nickname: Option<String>,
    pub state: NotificationState,
    pub attempts: i64,
    pub next_try_at: Instant,
    /// The outcome, or the last error.
    pub outcome: Option<String>,
}

/// The badge of a state.
pub const fn badge(state: NotificationState) -> Badge {
    match state {
        NotificationState::Waiting => Badge::Pending,
        NotificationState::Done => Badge::Processed,
        NotificationState::Ignored => Badge::Ignored,
        NotificationState::Failed => Badge::Failed,
        NotificationState::Kept => Badge::Kept,
    }
}

/// The label of a topic; unknown topics keep their own name.
pub fn topic_words(topic: &str) -> &str {
    topics().find(|(name, _)| *name == topic).map_or(topic, |(_, words)| words)
}
