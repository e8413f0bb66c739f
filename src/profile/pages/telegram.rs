//! A person's own Telegram: connected by a link to the bot, and disconnected.
//! What happens in the chat is in `messages/telegram/`.

use serde::Serialize;
use serde_json::json;

use super::alerts;
use crate::app::App;
use crate::base::{UserId, Zone};
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::telegram::store::Chat;
use crate::messages::telegram::{self, store};
use crate::panel::{Answer, Notice, Tone};
use crate::profile::views::{TelegramLink, TelegramSection};
use crate::wire;

/// Seconds after which to retry when Telegram does not answer.
const AGAIN_S: i64 = 30;

/// The connected chat of a person; `None` without a bot.
pub fn chat(tx: &ReadTx<'_>, app: &App, user: UserId) -> Result<Option<Chat>, Problem> {
    if !app.messages.telegram.is_on() {
        return Ok(None);
    }
    Ok(store::chat(tx, user)?)
}

/// The section about Telegram on the page; `None` without a bot.
pub fn section(app: &App, chat: Option<Chat>) -> Option<TelegramSection> {
    let is_on = app.messages.telegram.is_on();
    is_on.then(|| TelegramSection { chat, ..TelegramSection::default() })
}

wire! {
    /// A connected chat, for programs.
    #[derive(Serialize)]
    pub struct WireChat of(chat: Chat, zone: Zone) {
        nome: String = chat.name,
        desde: String = zone.spaced(chat.linked_at),
        bloqueado: bool = chat.blocked_at.is_some(),
    }
}

/// `POST /perfil/telegram/conectar`: makes a link. The Telegram chat in which
/// it is opened becomes the person's chat. An earlier link ends.
pub fn connect(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let Some(bot) = app.messages.telegram.identity() else {
        return Err(Problem::not_found());
    };
    let bot = match bot {
        Ok(bot) => bot,
        Err(fault) => {
            tracing::warn!(error = fault.words(), "no link to the Telegram bot");
            if request.wants_json() {
                let said = "Telegram does not answer; try again in a moment";
                return Err(Problem::unavailable(said, AGAIN_S));
            }
            return silent(app, person, request);
        }
    };
    let (user, code) = (person.account.user_id, telegram::new_code());
    let address = telegram::link(&app.config.telegram, &bot, &code);
    let until = app.db.write(move |tx| telegram::keep_code(tx, user, &code))?;
    if request.wants_json() {
        return Reply::ok(&json!({ "link": address, "vale_ate": app.zone().spaced(until) }));
    }
    let link = TelegramLink { address, until: app.zone().page(until) };
    alerts::show((app, person, request), |section| section.link = Some(link))
}

/// The page with what to do when Telegram does not answer.
fn silent(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let trouble = Notice::new(
        Tone::Warn,
        "O Telegram não responde agora",
        "Nada mudou na sua conta. Tente de novo em alguns minutos; se continuar assim, avise a administração.",
    );
    let reply = alerts::show((app, person, request), |section| section.trouble = Some(trouble))?;
    Ok(reply
        .status(http::StatusCode::SERVICE_UNAVAILABLE)
        .with(http::header::RETRY_AFTER, AGAIN_S.into()))
}

/// `POST /perfil/telegram/desconectar`: removes the chat, and a link that would
/// connect one.
pub fn disconnect(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (user, answer) = (person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        store::forget_code(tx, user)?;
        store::unlink_person(tx, user)?;
        answer.done(user, alerts::PATH, "telegram_desconectado")
    }))
}
