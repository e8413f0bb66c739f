//! Delivery: from the queue to the people.
//!
//! Each configured channel has a few threads. One takes the message that is
//! due longest under a lease (`store.rs`), writes it out (`letter.rs`), lets it
//! leave through its channel and notes what came of it. No transaction is open
//! while the outside is asked, so a message leaves at least once: twice only
//! when the process dies between sending and noting it.
//!
//! A person gets the messages of a channel in their order. A channel that is
//! out of order is probed by one message now and then; meanwhile no message
//! uses up its tries (`gate.rs`).

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

use crate::app::App;
use crate::base::Stop;
use crate::base::worker as workers;
use crate::config::{Config, Gateway};
use crate::outbox::Channel;

use gate::{Counts, Gate};
use letter::Letter;

/// Threads of a channel.
const THREADS: usize = 6;
/// Pause between two looks at a queue that a call waits to see empty.
const LOOK: Duration = Duration::from_millis(20);

/// What to know of an address with letters beyond ASCII before the `@` while
/// nobody knows what the mail server takes.
pub const ACCENTS_NOTE: &str =
    "Nem todo servidor de e-mail aceita acento antes do @: as mensagens podem não chegar.";

/// What came of a try to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The provider took it, and calls it so.
    Accepted { provider: String },
    /// Not now, for a reason that may be the message's: a try.
    Later { error: String },
    /// Not now, and nobody's fault: a pause of so many seconds is due, for all
    /// messages of the channel or for this one alone.
    Held { error: String, after_s: i64, all: bool },
    /// Nobody is there to take anything.
    Away { error: String },
    /// This message will never be taken.
    Never { error: String },
    /// The channel refuses us, whatever the message.
    Down { error: String },
    /// Nothing of its person's is left to take it.
    Unreachable { reason: &'static str },
}

/// Whether a call cannot have been heard, because nobody was there. Of other
/// failures nobody knows whether the message was taken.
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

/// A way out, as it is configured.
pub enum Sender {
    Chat(chat::Chat),
    Email(Box<email::Email>),
    Push(push::Push),
    Telegram(Box<telegram::Telegram>),
}

impl Sender {
    fn send(&self, app: &App, letter: &Letter) -> Sent {
        match self {
            Self::Chat(chat) => chat.send(letter),
            Self::Email(email) => email.send(letter),
            Self::Push(push) => push.send(app, letter),
            Self::Telegram(telegram) => telegram.send(app, letter),
        }
    }
}

/// A channel with what is known of it.
pub struct Outlet {
    pub channel: Channel,
    pub sender: Sender,
    pub gate: Gate,
}

/// The configured channels.
pub struct Delivery {
    pub outlets: Vec<Arc<Outlet>>,
    /// Rung when something may be due.
    pub bell: Stop,
}

impl Delivery {
    /// The channels of a configuration.
    pub fn new(config: &Config) -> Result<Self, String> {
        let mut outlets = Vec::new();
        let mut add = |channel, sender, per_s| {
            let gate = Gate::new(per_s, config.cron.enabled);
            outlets.push(Arc::new(Outlet { channel, sender, gate }));
        };
        let pace = &config.messages;
        let chat_pace = match config.chat.gateway {
            Gateway::None => None,
            Gateway::Cloud => Some(pace.pace_cloud_per_s),
            Gateway::Evolution => Some(pace.pace_evolution_per_s),
        };
        if let Some(per_s) = chat_pace {
            add(Channel::Chat, Sender::Chat(chat::Chat::new(config)), per_s);
        }
        if !config.email.smtp_url.is_empty() {
            let email = email::Email::new(config)?;
            add(Channel::Email, Sender::Email(Box::new(email)), pace.pace_email_per_s);
        }
        if !config.push.subject.is_empty() {
            let push = push::Push::new(config);
            add(Channel::Push, Sender::Push(push), pace.pace_push_per_s);
        }
        if let Some(telegram) = telegram::Telegram::new(config) {
            add(Channel::Telegram, Sender::Telegram(Box::new(telegram)), pace.pace_telegram_per_s);
        }
        Ok(Self { outlets, bell: Stop::default() })
    }

    /// What to know of an address with letters beyond ASCII before the `@`;
    /// empty when the mail server takes it.
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
    for outlet in &app.delivery.outlets {
        if let Sender::Email(_) = &outlet.sender {
            let outlet = Arc::clone(outlet);
            started.push(workers::start("email-learns", stop, move |stop| {
                if let Sender::Email(email) = &outlet.sender {
                    email.learn(stop);
                }
            })?);
        }
        for number in 1..=THREADS {
            let (app, outlet) = (Arc::clone(app), Arc::clone(outlet));
            let name = format!("{}-{number}", outlet.channel.name());
            started.push(workers::start(&name, stop, move |stop| {
                worker::run(&app, &outlet, stop);
            })?);
        }
    }
    Ok(started)
}

/// Lets what is due leave when the internal clock does not, until nothing is
/// due or `is_over` says so; returns what each channel did since this was
/// asked last.
pub fn send_due(app: &App, is_over: impl Fn() -> bool) -> Vec<(Channel, Counts)> {
    let outlets = &app.delivery.outlets;
    if !app.config.cron.enabled {
        for outlet in outlets {
            outlet.gate.call(true);
        }
        app.delivery.bell.ring();
        while !is_over() && outlets.iter().any(|one| worker::has_work(app, one)) {
            app.delivery.bell.wait(LOOK);
        }
        for outlet in outlets {
            outlet.gate.call(false);
        }
    }
    let told = |outlet: &Arc<Outlet>| (outlet.channel, outlet.gate.untold());
    outlets.iter().map(told).collect()
}
