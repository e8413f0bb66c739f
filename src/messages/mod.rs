//! Notifications inside the platform, and messages that leave it: the queue as
//! operators see it (`queue/`) and the delivery (`delivery/`). The room
//! `outbox` puts messages into the queue.
//!
//! [`tell`] tells a person something. A notification is stored in the transaction
//! that causes it, once for each cause, so a repeated event does not notify twice.

pub mod alerts;
pub mod announcements;
pub mod api;
pub mod choices;
pub mod delivery;
pub mod notices;
pub mod pages;
pub mod push;
pub mod queue;
pub mod reading;
pub mod receipts;
pub mod store;
pub mod telegram;
mod tell;
pub mod texts;
pub mod views;
pub mod wire;

pub use crate::outbox::NotificationKind;
pub use tell::{News, tell};

use crate::base::{Instant, MlUserId};
use crate::panel::Tab;
use crate::row;

/// The tabs of the message pages in the operator's panel.
pub fn tabs(here: &str) -> Vec<Tab> {
    let tab = |(label, path): (&'static str, &str)| Tab {
        label,
        href: path.to_owned(),
        on: path == here,
    };
    [
        ("Fila", queue::pages::PATH),
        ("Canais", pages::channels::PATH),
        ("Textos", texts::pages::PATH),
    ]
    .map(tab)
    .into()
}

row! {
    /// A stored notification.
    #[derive(Clone, Debug)]
    pub struct Notification {
        pub id: i64 = "notification_id",
        pub kind: NotificationKind,
        pub title: String,
        pub message: String,
        pub ml_user_id: Option<MlUserId>,
        pub reference: Option<String>,
        pub created_at: Instant,
        pub read: bool = "read_at IS NOT NULL",
    }
}
