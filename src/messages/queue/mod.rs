//! The queue of messages that leave the platform, for operators: what waits
//! and why, what was sent, what was dropped.

pub mod pages;
pub mod store;
pub mod views;

use crate::accounts::Role;
use crate::base::clock::Instant;
use crate::base::ids::UserId;
use crate::config::{Config, Gateway};
use crate::outbox::state;
use crate::panel::view::Badge;

/// A queued message with its recipient.
#[derive(Clone, Debug)]
pub struct Message {
    pub id: i64,
    /// As stored, such as `email`.
    pub channel: String,
    /// As stored, such as `boas_vindas`.
    pub kind: String,
    pub user: UserId,
    pub role: Role,
    pub name: String,
    pub email: String,
    pub state: i64,
    pub created_at: Instant,
    /// Not before.
    pub run_at: Instant,
    /// Worthless after.
    pub expires_at: Option<Instant>,
    /// When it was sent, dropped or given up.
    pub done_at: Option<Instant>,
    /// Why it waits or what became of it.
    pub outcome: Option<String>,
    /// Tries to send it so far.
    pub attempts: i64,
    /// What the provider calls it, or what it answered.
    pub provider: Option<String>,
}

/// The states in their order, each with its name in addresses and its words.
const STATES: [(i64, &str, &str); 4] = [
    (state::WAITING, "pendente", "Pendentes"),
    (state::SENT, "enviada", "Enviadas"),
    (state::DROPPED, "descartada", "Descartadas"),
    (state::GIVEN_UP, "falhou", "Falharam"),
];

/// The name of a state on the wire.
pub fn state_name(state: i64) -> &'static str {
    let known = STATES.iter().find(|(number, ..)| *number == state);
    known.map_or("pendente", |(_, name, _)| name)
}

/// The state of a name on the wire.
pub fn state_of(name: &str) -> Option<i64> {
    let known = STATES.iter().find(|(_, known, _)| *known == name);
    known.map(|(number, ..)| *number)
}

/// What a state looks like.
pub const fn badge(state: i64) -> Badge {
    match state {
        state::SENT => Badge::Sent,
        state::DROPPED => Badge::Dropped,
        state::GIVEN_UP => Badge::Failed,
        _ => Badge::Pending,
    }
}

/// Whether messages can leave by a channel.
pub fn is_configured(config: &Config, channel: &str) -> bool {
    match channel {
        "chat" => config.chat.gateway != Gateway::None,
        "email" => !config.email.smtp_url.is_empty(),
        "telegram" => !config.telegram.bot_token.is_empty(),
        "push" => !config.push.subject.is_empty(),
        _ => false,
    }
}

/// Why a message waits, or what became of it.
pub fn reason(config: &Config, message: &Message, now: Instant) -> String {
    let waits = message.state == state::WAITING;
    if waits && message.expires_at.is_some_and(|end| end <= now) {
        "passou do prazo sem ser enviada".to_owned()
    } else if waits && !is_configured(config, &message.channel) {
        "canal não configurado".to_owned()
    } else if let Some(outcome) = &message.outcome {
        outcome.clone()
    } else if waits {
        "aguarda a vez".to_owned()
    } else {
        String::new()
    }
}
