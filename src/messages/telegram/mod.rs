//! Telegram: the chats of people, and how they are linked.
//!
//! A person who is signed in gets a link with a code. When the person opens it,
//! Telegram sends us the code from the person's chat. `update.rs` parses
//! updates, `apply.rs` applies them. Updates are polled (`poll.rs`) or sent to
//! a webhook (`api.rs`). The bot's answers are sent by `replies.rs`, messages
//! of the queue by `delivery/telegram.rs`.

pub mod api;
pub mod apply;
pub mod bot;
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
use crate::settings;

use bot::{Bot, BotFault};
use replies::Replies;

/// How long a link to the bot works.
pub const CODE_AGE_S: i64 = 15 * 60;
/// How long the bot's name is cached, and how long a failed request for it.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
const SILENT_FOR: Duration = Duration::from_secs(5);
/// Where updates are sent to.
pub const HOOK_PATH: &str = "/api/v1/webhook/telegram";
/// Name of the secret that Telegram sends with each update.
pub const SECRET: &str = "telegram_secret";

/// The bot, with its cached identity and its waiting replies.
pub struct TelegramState {
    bot: Option<Bot>,
    /// What the last call said of the bot's name, and when.
    identity: Mutex<Option<(Monotonic, Result<String, BotFault>)>>,
    pub replies: Arc<Replies>,
}

impl TelegramState {
    /// The bot of a configuration.
    pub fn new(config: &config::Telegram) -> Self {
        Self { bot: Bot::new(config), identity: Mutex::default(), replies: Arc::default() }
    }

    /// Whether a bot is configured.
    pub fn is_on(&self) -> bool {
        self.bot.is_some()
    }

    /// The bot's name, from the cache or from a call; `None` without a bot.
    pub fn identity(&self) -> Option<Result<String, BotFault>> {
        let bot = self.bot.as_ref()?;
        // Locked during the call, so that only one thread calls.
        let mut known = self.identity.lock();
        if let Some((at, answer)) = &*known
            && at.elapsed() < if answer.is_ok() { KNOWN_FOR } else { SILENT_FOR }
        {
            return Some(answer.clone());
        }
        let answer = bot.identity();
        *known = Some((Monotonic::now(), answer.clone()));
        Some(answer)
    }
}

/// A code for a link to the bot: 43 characters that are allowed in the link.
pub fn new_code() -> String {
    URL_SAFE_NO_PAD.encode(secrets::random::<32>())
}

/// The link that opens a chat with the bot and sends it a code.
pub fn link(config: &config::Telegram, bot: &str, code: &str) -> String {
    format!("{}/{bot}?start={code}", config.link_base)
}

/// Stores a code for a person, replacing an earlier one; returns when it
/// expires.
pub fn keep_code(tx: &WriteTx<'_>, user: UserId, code: &str) -> crate::db::Result<Instant> {
    let until = tx.now().plus(CODE_AGE_S);
    store::set_code(tx, user, &TokenHash::of(code), until)?;
    Ok(until)
}

/// The secret that Telegram sends with updates; `None` while updates are not
/// sent to the webhook.
pub fn hook_secret(app: &App, lane: Lane) -> Result<Option<Secret>, DbError> {
    if !app.messages.telegram.is_on() || app.config.telegram.updates != Updates::Webhook {
        return Ok(None);
    }
    app.db.read(lane, |tx| settings::secret(tx, &app.sealer, SECRET))
}

/// The same, created when there is none.
fn ensure_hook_secret(app: &App) -> Result<Secret, DbError> {
    if let Some(secret) = hook_secret(app, Lane::Slow)? {
        return Ok(secret);
    }
    let secret = Secret::new(secrets::random_hex::<32>());
    let (kept, sealer) = (secret.clone(), Arc::clone(&app.sealer));
    app.db.write(move |tx| settings::keep_secret(tx, &sealer, SECRET, &kept))?;
    Ok(secret)
}

/// Starts the worker that receives updates, and the one that sends replies.
pub fn start_workers(app: &Arc<App>, stop: &Stop) -> std::io::Result<Vec<JoinHandle<()>>> {
    let Some(bot) = &app.messages.telegram.bot else {
        return Ok(Vec::new());
    };
    let (hears, answers) = (Arc::clone(app), Arc::clone(app));
    let (ear, mouth) = (bot.clone(), bot.clone());
    let hearing = match app.config.telegram.updates {
        Updates::Polling => worker::start("telegram-updates", stop, move |stop| {
            poll::run(&hears, &ear, stop);
        })?,
        Updates::Webhook => worker::start("telegram-webhook", stop, move |stop| {
            api::register(&hears, &ear, stop);
        })?,
    };
    let answering = worker::start("telegram-replies", stop, move |stop| {
        replies::run(&answers, &mouth, stop);
    })?;
    Ok(vec![hearing, answering])
}
