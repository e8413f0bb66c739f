//! Telegram: chats that people have linked, and how they do it.
//!
//! Somebody who is signed in gets a link with a code; opening it has Telegram
//! tell us the code from within the chat. `update.rs` reads what it tells,
//! `apply.rs` does what it means. Updates come in by asking for them
//! (`poll.rs`) or by being sent (`hook.rs`); what the bot answers leaves by
//! `replies.rs`, and messages from the queue by `delivery/telegram.rs`.

pub mod apply;
pub mod bot;
pub mod hook;
pub mod poll;
pub mod replies;
pub mod store;
pub mod update;

#[cfg(test)]
mod tests;

use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Monotonic};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::app::App;
use crate::base::{Instant, Secret, Stop, TokenHash, UserId, secrets, worker};
use crate::config::{self, Updates};
use crate::db::{DbError, Lane, WriteTx};
use crate::operations::store as settings;

use bot::{Bot, BotFault, Identity};
use replies::Replies;

/// How long a link to the bot works.
pub const CODE_AGE_S: i64 = 15 * 60;
/// How long the bot's name is believed, and its silence.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
const SILENT_FOR: Duration = Duration::from_secs(5);
/// Where updates are sent to.
pub const HOOK_PATH: &str = "/api/v1/webhook/telegram";
/// Name of the secret that comes with them.
pub const SECRET: &str = "telegram_secret";

/// The bot, with what is remembered of it.
pub struct Telegram {
    bot: Option<Bot>,
    identity: Mutex<Option<Known>>,
    pub replies: Arc<Replies>,
}

struct Known {
    at: Monotonic,
    answer: Result<Identity, BotFault>,
}

impl Telegram {
    /// The bot of a configuration.
    pub fn new(config: &config::Telegram) -> Self {
        Self { bot: Bot::new(config), identity: Mutex::default(), replies: Arc::default() }
    }

    /// Whether there is a bot.
    pub fn is_on(&self) -> bool {
        self.bot.is_some()
    }

    /// Who the bot is, as it said lately or says now; `None` without a bot.
    pub fn identity(&self) -> Option<Result<Identity, BotFault>> {
        let bot = self.bot.as_ref()?;
        // Held while it is asked, so that it is asked once.
        let mut known = self.identity.lock();
        let good_for = |known: &Known| {
            if known.answer.is_ok() { KNOWN_FOR } else { SILENT_FOR }
        };
        if let Some(known) = known.as_ref().filter(|known| known.at.elapsed() < good_for(known)) {
            return Some(known.answer.clone());
        }
        let answer = bot.identity();
        *known = Some(Known { at: Monotonic::now(), answer: answer.clone() });
        Some(answer)
    }
}

/// A code for a link to the bot: 43 characters that the link may have.
pub fn new_code() -> String {
    URL_SAFE_NO_PAD.encode(secrets::random::<32>())
}

/// The link that opens a chat with the bot and brings a code along.
pub fn link(config: &config::Telegram, bot: &Identity, code: &str) -> String {
    format!("{}/{}?start={code}", config.link_base, bot.username)
}

/// Keeps a code for a person in the place of an earlier one; returns until
/// when it works.
pub fn keep_code(tx: &WriteTx<'_>, user: UserId, code: &str) -> crate::db::Result<Instant> {
    let until = tx.now().plus(CODE_AGE_S);
    store::set_code(tx, user, &TokenHash::of(code), until)?;
    Ok(until)
}

/// The secret that updates are sent with; `None` while they are not sent.
pub fn hook_secret(app: &App, lane: Lane) -> Result<Option<Secret>, DbError> {
    if !app.telegram.is_on() || app.config.telegram.updates != Updates::Webhook {
        return Ok(None);
    }
    app.db.read(lane, |tx| settings::secret(tx, &app.sealer, SECRET))
}

/// The same, made when there is none.
fn ensure_hook_secret(app: &App) -> Result<Secret, DbError> {
    if let Some(secret) = hook_secret(app, Lane::Slow)? {
        return Ok(secret);
    }
    let secret = Secret::new(secrets::random_hex::<32>());
    let (kept, sealer) = (secret.clone(), Arc::clone(&app.sealer));
    app.db.write(move |tx| settings::keep_secret(tx, &sealer, SECRET, &kept))?;
    Ok(secret)
}

/// Starts what hears people, and what answers them.
pub fn start_workers(app: &Arc<App>, stop: &Stop) -> std::io::Result<Vec<JoinHandle<()>>> {
    let Some(bot) = &app.telegram.bot else {
        return Ok(Vec::new());
    };
    let (hears, answers) = (Arc::clone(app), Arc::clone(app));
    let (ear, mouth) = (bot.clone(), bot.clone());
    let hearing = match app.config.telegram.updates {
        Updates::Polling => worker::start("telegram-updates", stop, move |stop| {
            poll::run(&hears, &ear, stop);
        })?,
        Updates::Webhook => worker::start("telegram-webhook", stop, move |stop| {
            hook::register(&hears, &ear, stop);
        })?,
    };
    let answering = worker::start("telegram-replies", stop, move |stop| {
        replies::run(&answers, &mouth, stop);
    })?;
    Ok(vec![hearing, answering])
}
