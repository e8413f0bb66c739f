//! Notifications inside the platform, and messages that leave it: the queue as
//! operators see it (`queue/`) and the delivery (`delivery/`). The room
//! `outbox` puts messages into the queue.
//!
//! A notification is stored in the transaction that causes it, once for each
//! cause, so a repeated event does not notify twice.

pub mod alerts;
pub mod api;
pub mod channels;
pub mod choices;
pub mod delivery;
pub mod notices;
pub mod pages;
pub mod push;
pub mod queue;
pub mod reading;
pub mod store;
pub mod telegram;
pub mod texts;
pub mod unsubscribe;
pub mod views;
pub mod wire;

use serde::Serialize;

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
    [("Fila", queue::pages::PATH), ("Canais", channels::PATH), ("Textos", texts::pages::PATH)]
        .map(tab)
        .into()
}

crate::named! {
    /// What a notification is about.
    #[derive(Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum NotificationKind: number {
        Venda = 1, "venda";
        Reclamacao = 2, "reclamacao";
        Pergunta = 3, "pergunta";
        Anuncio = 4, "anuncio";
        Meet = 5, "meet";
        Programa = 6, "programa";
        Parceiro = 7, "parceiro";
        Sistema = 8, "sistema";
    }
}

/// A notification to be stored.
pub struct NewNotification<'n> {
    pub kind: NotificationKind,
    pub title: &'n str,
    pub message: &'n str,
    /// The marketplace account it is about.
    pub ml_user_id: Option<MlUserId>,
    /// What it refers to, such as the order id.
    pub reference: Option<&'n str>,
    /// Deduplication key, such as `venda:2000001`: each cause notifies once.
    pub cause: &'n str,
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
