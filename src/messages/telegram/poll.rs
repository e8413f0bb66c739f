//! Polls for updates: one call after the other, each of which waits until there
//! are some.
//!
//! Each call runs on a thread of its own that holds no resources, so a stop
//! need not wait for it. Updates that such a call still receives are not
//! confirmed, and come again after the next start.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant as Monotonic};

use super::apply::{self, PlatformInfo};
use super::bot::{Bot, BotFault};
use super::{store, update};
use crate::app::App;
use crate::base::Stop;
use crate::base::queue::CONNECTION;
use crate::db::{DbError, Lane};

/// How long a call waits for updates.
const WAIT: Duration = Duration::from_secs(25);
/// Pause between two checks whether to stop.
const LOOK: Duration = Duration::from_millis(200);
/// Seconds to wait when another program polls this bot's updates.
const CONFLICT_S: i64 = 10;
/// Longest pause, whatever Telegram asks for.
const LONGEST_PAUSE_S: i64 = 60;
/// An empty answer that comes sooner did not wait for updates.
const TOO_SOON: Duration = Duration::from_millis(500);

/// Why no updates came.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("{}", .0.words())]
    Fault(BotFault),
    #[error(transparent)]
    Database(#[from] DbError),
}

/// Polls for updates and applies them until the service stops.
pub fn run(app: &Arc<App>, bot: &Bot, stop: &Stop) {
    let mut pause = Pause::default();
    // While an earlier webhook is set, Telegram rejects polling.
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

/// One call, and applying its updates.
fn round(app: &Arc<App>, bot: &Bot, stop: &Stop) -> Result<(), Trouble> {
    let offset = app.db.read(Lane::Slow, store::handled)?.last().map(|last| last + 1);
    let started = Monotonic::now();
    let asked = {
        let bot = bot.clone();
        apart(stop, move || bot.updates(offset, WAIT))
    };
    let Some(told) = asked else { return Ok(()) };
    let told = told.map_err(Trouble::Fault)?;
    if told.is_empty() {
        if started.elapsed() < TOO_SOON {
            stop.wait(CONNECTION.pause(1));
        }
        return Ok(());
    }
    let updates: Vec<_> = told.iter().filter_map(update::parse).collect();
    if updates.is_empty() {
        // Without an id they cannot be confirmed, and would come again forever.
        return Err(Trouble::Fault(BotFault::Silent(
            "as atualizações do Telegram não fazem sentido",
        )));
    }
    let info = platform_info(app);
    let replies = app.db.write(move |tx| apply::apply(tx, &info, &updates))?;
    app.messages.telegram.replies.add(replies);
    Ok(())
}

/// The platform's name and address, for the bot's answers.
pub fn platform_info(app: &App) -> PlatformInfo {
    PlatformInfo {
        platform: app.config.server.name.clone(),
        address: app.server.addresses.base_url.clone(),
    }
}

/// Runs a call on a thread of its own; `None` when the service stops before the
/// call is over.
pub fn apart<T: Send + 'static>(
    stop: &Stop,
    call: impl FnOnce() -> Result<T, BotFault> + Send + 'static,
) -> Option<Result<T, BotFault>> {
    let (done, outcome) = mpsc::channel();
    let started = std::thread::Builder::new()
        .name("telegram-call".to_owned())
        // The receiver may be gone after a stop.
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

/// Backoff after failures, doubled each time, with the error that was last
/// logged.
#[derive(Default)]
pub struct Pause {
    failures: i64,
    said: String,
}

impl Pause {
    /// Waits after a failure.
    pub fn take(&mut self, trouble: &Trouble, stop: &Stop) {
        let words = trouble.to_string();
        let asked = match trouble {
            Trouble::Fault(BotFault::Refused(refusal)) => {
                refusal.retry_after_s.or((refusal.code == 409).then_some(CONFLICT_S))
            }
            Trouble::Fault(_) | Trouble::Database(_) => None,
        };
        // Logged once, not at every try.
        if self.said != words {
            tracing::warn!(error = words, "what people say to the Telegram bot does not come in");
            self.said = words;
        }
        self.failures += 1;
        let pause_s = CONNECTION.pause_asked_s(self.failures, asked).min(LONGEST_PAUSE_S);
        stop.wait(Duration::from_secs(pause_s.unsigned_abs()));
    }

    /// Ends the backoff after a success.
    pub fn end(&mut self) {
        if self.failures > 0 {
            tracing::info!("what people say to the Telegram bot comes in again");
            *self = Self::default();
        }
    }
}
