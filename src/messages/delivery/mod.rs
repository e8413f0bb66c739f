//! Delivery: from the queue to the people.
//!
//! Each configured channel has a few threads. A thread claims the message that
//! is overdue longest, under a lease (`store.rs`), fills in its text
//! (`letter.rs`), sends it through its channel and stores the result. No
//! transaction is open during the call to the provider, so a message is sent at
//! least once. It is sent twice only when the process dies between sending and
//! storing the result.
//!
//! A person gets the messages of a channel in their order. A channel that is
//! down is probed by one message now and then; meanwhile no message uses up its
//! tries (`gate.rs`). A mail server that rejects one person after the other
//! counts as down, and what it rejected waits like the rest.

pub mod chat;
pub mod email;
pub mod gate;
pub mod letter;
pub mod mail_server;
pub mod push;
pub mod store;
pub mod telegram;
pub mod worker;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use ureq::config::ConfigBuilder;
use ureq::http::{Response, header};
use ureq::typestate::AgentScope;
use ureq::{Agent, Body};

use crate::app::App;
use crate::base::queue::{self, Purpose};
use crate::base::{Stop, worker as workers};
use crate::config::{Config, Gateway};
use crate::db::{Lane, rounds};
use crate::messages::choices::ChannelSet;
use crate::outbox::Channel;

use gate::{Counts, Gate};
use letter::Letter;
use store::Claimed;

/// Pause between two checks of a queue, while a call waits until it is empty.
const LOOK: Duration = Duration::from_millis(20);

/// Hint about an address with non-ASCII letters before the `@`, while it is
/// unknown whether the mail server accepts it.
pub const ACCENTS_NOTE: &str =
    "Nem todo servidor de e-mail aceita acento antes do @: as mensagens podem não chegar.";

/// The result of a try to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The provider accepted the message, under this id.
    Accepted(String),
    /// Not now, for this reason, perhaps because of the message itself: this counts as a try.
    Later(String),
    /// Not now, but this is no failure: the provider asks for a pause of so
    /// many seconds, for the whole channel (`all`) or for this message alone.
    Held { error: String, after_s: i64, all: bool },
    /// The provider cannot be reached.
    Away(String),
    /// This message will never be accepted.
    Never(String),
    /// The same, because the network does not reach the recipient's number.
    NotThere(String),
    /// The same, because the recipient does not want messages by this channel.
    Unwanted(String),
    /// The provider rejects the recipient for good. When it rejects one after
    /// the other, it is the channel that fails (`gate.rs`).
    Refused(String),
    /// The provider rejects us, whatever the message.
    Down(String),
    /// The recipient has nothing left that can receive the message.
    Unreachable(&'static str),
}

/// Whether a call cannot have reached the provider, because no connection was
/// made. After other errors it is unknown whether the message was accepted.
pub fn was_nobody_there(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(when) => {
            matches!(when, ureq::Timeout::Resolve | ureq::Timeout::Connect)
        }
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
        ),
        _ => false,
    }
}

/// How every provider is called.
pub fn agent_config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        // A proxy would resolve names itself, without our check of push services.
        .proxy(None)
        .user_agent(concat!("seller-platform/", env!("CARGO_PKG_VERSION")))
}

/// The JSON body of an answer; null when the body is not JSON.
pub fn json_of(answer: &mut Response<Body>, longest: u64) -> Value {
    let text = answer.body_mut().with_config().limit(longest).read_to_string();
    text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Seconds that a provider asks us to wait.
pub fn retry_after<B>(answer: &Response<B>) -> Option<i64> {
    answer.headers().get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// The sender of a configured channel.
pub enum Sender {
    Chat(chat::Chat),
    Email(Box<email::Email>),
    Push(push::Push),
    Telegram(Box<telegram::TelegramSender>),
}

impl Sender {
    fn send(&self, app: &App, claimed: &Claimed, letter: &Letter) -> SendOutcome {
        match self {
            Self::Chat(chat) => chat.send(claimed, letter),
            Self::Email(email) => email.send(claimed, letter),
            Self::Push(push) => push.send(app, claimed, letter),
            Self::Telegram(telegram) => telegram.send(app, claimed, letter),
        }
    }
}

/// A channel with its sender and its gate.
pub struct Outlet {
    pub channel: Channel,
    pub sender: Sender,
    pub gate: Gate,
}

/// How the queue of a channel is worked.
pub const fn queue_of(channel: Channel) -> &'static Purpose {
    match channel {
        Channel::Chat => &queue::CHAT,
        Channel::Email => &queue::EMAIL,
        Channel::Telegram => &queue::TELEGRAM,
        Channel::Push => &queue::PUSH,
    }
}

/// Most messages a second by a channel; 0 for no limit.
pub fn pace_of(config: &Config, channel: Channel) -> f64 {
    let pace = &config.messages;
    match channel {
        Channel::Chat if config.chat.gateway == Gateway::Cloud => pace.pace_cloud_per_s,
        Channel::Chat => pace.pace_evolution_per_s,
        Channel::Email => pace.pace_email_per_s,
        Channel::Telegram => pace.pace_telegram_per_s,
        Channel::Push => pace.pace_push_per_s,
    }
}

/// The configured channels.
pub struct Delivery {
    pub outlets: Vec<Arc<Outlet>>,
    /// Wakes the workers when a message may be due.
    pub bell: Stop,
}

impl Delivery {
    /// Prepares the configured channels.
    pub fn new(config: &Config) -> Result<Self, String> {
        let mut outlets = Vec::new();
        let configured = ChannelSet::of(config);
        let channels = [Channel::Chat, Channel::Email, Channel::Push, Channel::Telegram];
        for channel in channels.into_iter().filter(|channel| configured.has(*channel)) {
            let sender = match channel {
                Channel::Chat => Sender::Chat(chat::Chat::new(config)),
                Channel::Email => Sender::Email(Box::new(email::Email::new(config)?)),
                Channel::Push => Sender::Push(push::Push::new(config)),
                Channel::Telegram => match telegram::TelegramSender::new(config) {
                    Some(telegram) => Sender::Telegram(Box::new(telegram)),
                    None => continue,
                },
            };
            let per_s = pace_of(config, channel);
            let gate = Gate::new(queue_of(channel), per_s, config.cron.enabled);
            outlets.push(Arc::new(Outlet { channel, sender, gate }));
        }
        Ok(Self { outlets, bell: Stop::default() })
    }

    /// Hint about an address with non-ASCII letters before the `@`; empty when
    /// the mail server accepts it.
    pub fn accents_note(&self) -> &'static str {
        let taken = self.outlets.iter().find_map(|outlet| match &outlet.sender {
            Sender::Email(email) => email.takes_accents(),
            _ => None,
        });
        match taken {
            Some(true) => "",
            Some(false) => {
                "O servidor de e-mail não aceita acento antes do @: nenhum e-mail chega a este endereço."
            }
            None => ACCENTS_NOTE,
        }
    }
}

/// Starts the threads of every channel.
pub fn start_workers(app: &Arc<App>, stop: &Stop) -> std::io::Result<Vec<JoinHandle<()>>> {
    let mut started = Vec::new();
    for outlet in &app.messages.delivery.outlets {
        let channel = outlet.channel;
        let refused = app.db.read(Lane::Slow, |tx| store::refused(tx, channel));
        match refused {
            Ok(Some(refused)) => outlet.gate.begin_refused(&refused.reason, app.clock.now()),
            Ok(None) => {}
            // A damaged database is told of elsewhere, and its reads go on.
            Err(error) => {
                let channel = channel.name();
                tracing::warn!(%error, channel, "whether a channel was refused is not known");
            }
        }
        if let Sender::Email(_) = &outlet.sender {
            let outlet = Arc::clone(outlet);
            started.push(workers::start("email-learns", stop, move |stop| {
                if let Sender::Email(email) = &outlet.sender {
                    email.learn(stop);
                }
            })?);
        }
        let (own, outlet) = (Arc::clone(app), Arc::clone(outlet));
        let queue = queue_of(outlet.channel);
        started.extend(rounds::start(
            &app.db,
            queue,
            stop,
            &app.messages.delivery.bell,
            move |stop| worker::step(&own, &outlet, stop),
        )?);
    }
    Ok(started)
}

/// Sends due messages while the internal clock is off, until none is due or
/// `is_over` is true. Returns what each channel did since the last call.
pub fn send_due(app: &App, is_over: impl Fn() -> bool) -> Vec<(Channel, Counts)> {
    let outlets = &app.messages.delivery.outlets;
    if !app.config.cron.enabled {
        for outlet in outlets {
            outlet.gate.call(true);
        }
        app.messages.delivery.bell.ring();
        while !is_over() && outlets.iter().any(|one| worker::has_work(app, one)) {
            app.messages.delivery.bell.wait(LOOK);
        }
        for outlet in outlets {
            outlet.gate.call(false);
        }
    }
    let told = |outlet: &Arc<Outlet>| (outlet.channel, outlet.gate.take_counts());
    outlets.iter().map(told).collect()
}
