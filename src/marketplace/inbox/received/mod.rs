//! The inbox of marketplace notifications, for operators: the list with
//! outcomes, and processing one again.

pub mod pages;
pub mod store;
pub mod views;

use super::state::NotificationState;
use crate::base::{Instant, MlUserId};
use crate::marketplace::inbox::outcome::words_of;
use crate::marketplace::kinds::topics;
use crate::panel::Badge;
use crate::row;

row! {
    /// A received notification.
    #[derive(Clone, Debug)]
    pub struct Received {
        pub id: i64 = "n.notification_id",
        pub at: Instant = "n.received_at",
        pub topic: String = "n.topic",
        pub resource: String = "n.resource",
        pub account: MlUserId = "n.ml_user_id",
        /// Nickname of the account, while it is linked.
        pub nickname: Option<String> = "a.nickname",
        pub state: NotificationState = "n.state",
        pub attempts: i64 = "n.attempts",
        pub next_try_at: Instant = "n.next_try_at",
        /// The outcome, or the last error.
        pub outcome: Option<String> = "n.outcome",
    }
}

impl Received {
    /// `Vendas · 2000001`: what it is about, in words, with its number.
    pub fn title(&self) -> String {
        let number = self.resource.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let topic = topic_words(&self.topic);
        if number.is_empty() { topic.to_owned() } else { format!("{topic} · {number}") }
    }

    /// Nickname of the account, else its number.
    pub fn store(&self) -> String {
        self.nickname.clone().unwrap_or_else(|| self.account.to_string())
    }

    /// The outcome in words; empty without one.
    pub fn outcome_words(&self) -> String {
        self.outcome.as_deref().map(words_of).unwrap_or_default()
    }

    pub fn is_waiting(&self) -> bool {
        self.state == NotificationState::Waiting
    }

    /// Whether it can be processed again, or now: it does not wait for its
    /// first try.
    pub fn may_be_tried(&self) -> bool {
        !self.is_waiting() || self.attempts > 0
    }
}

pub const fn badge(state: NotificationState) -> Badge {
    match state {
        NotificationState::Waiting => Badge::Pending,
        NotificationState::Done => Badge::Processed,
        NotificationState::Ignored => Badge::Ignored,
        NotificationState::Failed => Badge::Failed,
        NotificationState::Kept => Badge::Kept,
    }
}

/// Topics that the marketplace has and that we do nothing with.
const OTHER_TOPICS: [(&str, &str); 11] = [
    ("catalog_item_competition_status", "Disputa no catálogo"),
    ("catalog_suggestions", "Sugestões do catálogo"),
    ("fbm_stock_operations", "Estoque no Full"),
    ("flex-handshakes", "Entregas Flex"),
    ("invoices", "Notas fiscais"),
    ("leads-credits", "Contatos de crédito"),
    ("messages", "Mensagens de compradores"),
    ("payments", "Pagamentos"),
    ("price_suggestion", "Sugestões de preço"),
    ("public_candidates", "Candidatos a promoções"),
    ("public_offers", "Ofertas em promoções"),
];

/// The label of a topic; unknown topics keep their own name.
pub fn topic_words(topic: &str) -> &str {
    let known = topics().chain(OTHER_TOPICS).find(|(name, _)| *name == topic);
    known.map_or(topic, |(_, words)| words)
}
