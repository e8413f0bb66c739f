//! Updates by asking for them: one call after the other, each of which waits
//! until there are some.
//!
//! Calls run on a thread of their own that holds nothing, so a stop need not
//! wait for one. What such a call may still bring was not confirmed and comes
//! again after the next start.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant as Monotonic};

use super::apply::{self, House};
use super::bot::{Bot, BotFault};
use super::{store, update};
use crate::app::App;
use crate::base::Stop;
use crate::db::{DbError, Lane};

/// How long a call waits for updates.
const WAIT: Duration = Duration::from_secs(25);
/// Pause between two looks whether it is time to stop.
const LOOK: Duration = Duration::from_millis(200);
/// First and longest pause after a failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Pause when somebody else asks for this bot's updates.
const CONFLICT: Duration = Duration::from_secs(10);
/// An answer without updates that comes sooner was no waiting.
const TOO_SOON: Duration = Duration::from_millis(500);

/// Why no updates came.
pub enum Trouble {
    Fault(BotFault),
    Database(DbError),
}

/// Asks for updates and applies them until it is told to stop.
pub fn run(app: &Arc<App>, bot: &Bot, stop: &Stop) {
    let mut pause = Pause::default();
    // A webhook of before would keep updates from those who ask.
    while let Some(outcome) = {
        let bot = bot.clone();
        apart(stop, move || bot.delete_webhook())
    } {
        match outcome {
            Ok(()) => break,
            Err(fault) => pause.take(&Trouble::Fault(fault), stop),
        }
    }
    while !stop.is_set() {
        match round(app, bot, stop) {
            Ok(()) => pause.end(),
            Err(trouble) => pause.take(&trouble, stop),
        }
    }
}

/// One call and what it brings.
fn round(app: &Arc<App>, bot: &Bot, stop: &Stop) -> Result<(), Trouble> {
    let handled = app.db.read(Lane::Slow, store::handled);
    let offset = handled.map_err(Trouble::Database)?.last().map(|last| last + 1);
    let started = Monotonic::now();
    let asked = {
        let bot = bot.clone();
        apart(stop, move || bot.updates(offset, WAIT))
    };
    let Some(told) = asked else { return Ok(()) };
    let told = told.map_err(Trouble::Fault)?;
    if told.is_empty() {
        if started.elapsed() < TOO_SOON {
            stop.wait(FIRST_PAUSE);
        }
        return Ok(());
    }
    let updates: Vec<_> = told.iter().filter_map(update::parse).collect();
    if updates.is_empty() {
        // Without a number they cannot be confirmed, and would come for ever.
        return Err(Trouble::Fault(BotFault::Silent(
            "as atualizações do Telegram não fazem sentido",
        )));
    }
    let house = house(app);
    let replies =
        app.db.write(move |tx| apply::apply(tx, &house, &updates)).map_err(Trouble::Database)?;
    app.telegram.replies.add(replies);
    Ok(())
}

/// What the bot says of this platform.
pub fn house(app: &App) -> House {
    House { platform: app.config.server.name.clone(), address: app.addresses.base_url.clone() }
}

/// Runs a call on a thread of its own; `None` when it is time to stop before
/// the call is over.
pub fn apart<T: Send + 'static>(
    stop: &Stop,
    call: impl FnOnce() -> Result<T, BotFault> + Send + 'static,
) -> Option<Result<T, BotFault>> {
    let (done, outcome) = mpsc::channel();
    let started = std::thread::Builder::new()
        .name("telegram-call".to_owned())
        // Nobody may be left to hear what comes of it.
        .spawn(move || done.send(call()).is_ok());
    if started.is_err() {
        return Some(Err(BotFault::Silent("faltam recursos para chamar o Telegram")));
    }
    while !stop.is_set() {
        match outcome.recv_timeout(LOOK) {
            Ok(outcome) => return Some(outcome),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Some(Err(BotFault::Silent("a chamada ao Telegram falhou")));
            }
        }
    }
    None
}

/// Pauses after failures, each twice as long as the one before, and what was
/// said of them.
#[derive(Default)]
pub struct Pause {
    failures: u32,
    said: String,
}

impl Pause {
    /// Waits after a failure.
    pub fn take(&mut self, trouble: &Trouble, stop: &Stop) {
        let (words, asked) = match trouble {
            Trouble::Database(error) => (error.to_string(), None),
            Trouble::Fault(fault) => {
                let refusal = fault.refusal();
                let asked = refusal.and_then(|refusal| refusal.retry_after_s);
                let asked = asked.map(|asked| Duration::from_secs(asked.max(1).unsigned_abs()));
                let is_conflict = refusal.is_some_and(|refusal| refusal.code == 409);
                (fault.words(), asked.or(is_conflict.then_some(CONFLICT)))
            }
        };
        // Said once, not at every try.
        if self.said != words {
            tracing::warn!(error = words, "what people say to the Telegram bot does not come in");
            self.said = words;
        }
        let doubled = FIRST_PAUSE * 2_u32.pow(self.failures.min(10));
        self.failures += 1;
        stop.wait(doubled.max(asked.unwrap_or_default()).min(LONGEST_PAUSE));
    }

    /// All is well again.
    pub fn end(&mut self) {
        if self.failures > 0 {
            tracing::info!("what people say to the Telegram bot comes in again");
            *self = Self::default();
        }
    }
}
