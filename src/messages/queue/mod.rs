//! The queue of messages that leave the platform, for operators: what waits
//! and why, what was sent, what was dropped.

pub mod pages;
pub mod store;
pub mod views;
pub mod words;

use crate::accounts::Role;
use crate::base::retention::MESSAGE_BODIES;
use crate::base::{Instant, UserId};
use crate::config::{Config, Gateway};
use crate::messages::choices::ChannelSet;
use crate::outbox::{Channel, MessageState, Receipt, channel_words, kind_words};
use crate::panel::Badge;
use crate::row;

/// The filter's value for messages that failed in the last days. So many has the menu.
pub const FAILED_LATELY: &str = "falhou-7";

row! {
    /// A queued message with its recipient.
    #[derive(Clone, Debug)]
    pub struct Message {
        pub id: i64 = "o.message_id",
        /// As stored, such as `email`.
        pub channel: String = "o.channel",
        /// As stored, such as `boas_vindas`.
        pub kind: String = "o.kind",
        pub user: UserId = "o.user_id",
        pub role: Role = "u.role",
        pub name: String = "u.name",
        pub email: String = "u.email",
        pub state: MessageState = "o.state",
        pub created_at: Instant = "o.created_at",
        /// Not sent before this.
        pub run_at: Instant = "o.run_at",
        /// Not sent after this.
        pub expires_at: Option<Instant> = "o.expires_at",
        /// When it was sent, dropped or given up.
        pub done_at: Option<Instant> = "o.done_at",
        /// Why it waits or how it ended.
        pub outcome: Option<String> = "o.outcome",
        /// Tries to send it so far.
        pub attempts: i64 = "o.attempts",
        /// The provider's id for it, or its answer.
        pub provider: Option<String> = "o.provider",
        /// What the provider told of it since it took it, and when that was.
        pub receipt: Receipt = "o.receipt",
        pub receipt_at: Option<Instant> = "o.receipt_at",
        /// Where it goes by chat; `None` without a number.
        pub number: Option<String> = "coalesce(o.params ->> 'number', u.chat_number)",
        /// Whether that is a number of the message alone, such as a test has.
        pub has_own_number: bool = "o.params ->> 'number' IS NOT NULL",
    }
}

impl Message {
    pub fn kind_words(&self) -> &str {
        kind_words(&self.kind)
    }

    pub fn channel_words(&self) -> &str {
        channel_words(&self.channel)
    }

    pub fn badge(&self) -> Badge {
        badge(self.state)
    }

    /// Where it goes, as far as that is an address.
    pub fn address(&self) -> &str {
        match Channel::from_name(&self.channel) {
            Some(Channel::Email) => &self.email,
            Some(Channel::Chat) => self.number.as_deref().unwrap_or_default(),
            _ => "",
        }
    }

    /// Whether it failed and can be sent again: in its time, and while its text is known.
    pub fn can_go_again(&self, now: Instant) -> bool {
        self.state == MessageState::GivenUp
            && self.expires_at.is_none_or(|end| end > now)
            && self.done_at.is_some_and(|at| at >= MESSAGE_BODIES.before(now))
    }

    /// Whether it went by the official chat API, which takes a message before it delivers it.
    pub fn is_told_of(&self, config: &Config) -> bool {
        self.channel == Channel::Chat.name()
            && self.state == MessageState::Sent
            && (self.receipt > Receipt::Nothing || config.chat.gateway == Gateway::Cloud)
    }

    /// Whether it can still be cancelled.
    pub fn waits(&self) -> bool {
        self.state == MessageState::Waiting
    }
}

pub const fn badge(state: MessageState) -> Badge {
    match state {
        MessageState::Sent => Badge::Sent,
        MessageState::Dropped => Badge::Dropped,
        MessageState::GivenUp => Badge::Failed,
        MessageState::Waiting => Badge::Pending,
    }
}

/// Whether messages can leave by a channel, given by its stored name.
pub fn is_configured(config: &Config, channel: &str) -> bool {
    Channel::from_name(channel).is_some_and(|channel| ChannelSet::of(config).has(channel))
}

/// Why a message waits, or how it ended.
pub fn reason(config: &Config, message: &Message, now: Instant) -> String {
    let waits = message.waits();
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
