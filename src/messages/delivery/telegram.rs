//! Telegram, by the Bot API.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::{Duration, Instant as Monotonic};

use super::SendOutcome;
use super::letter::Letter;
use super::store::Claimed;
use crate::app::App;
use crate::base::queue::BOT_RESTS_S;
use crate::config::Config;
use crate::db::{Result, WriteTx};
use crate::messages::telegram::bot::{Bot, BotFault, TIMEOUT};
use crate::messages::telegram::store;
use crate::services::Services;

/// Time between two messages in one chat, as Telegram asks for.
const GAP: Duration = Duration::from_secs(1);

/// The configured bot.
pub struct TelegramSender {
    bot: Bot,
    /// Chats written to within the last second.
    recent: Mutex<VecDeque<(Monotonic, i64)>>,
}

/// What a rejected message says about the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    Nothing,
    /// There is no such chat.
    Gone,
    /// The person blocked the bot.
    Blocked,
}

impl TelegramSender {
    /// The bot of a configuration; `None` without a token.
    pub fn new(config: &Config) -> Option<Self> {
        Some(Self { bot: Bot::new(&config.telegram)?, recent: Mutex::default() })
    }

    /// Sends a letter to its recipient's chat, and stores what the answer says
    /// about the chat.
    pub fn send(&self, app: &App, claimed: &Claimed, letter: &Letter) -> SendOutcome {
        let Some(chat) = claimed.telegram else {
            return SendOutcome::Never("a pessoa não tem um Telegram conectado".to_owned());
        };
        if !self.takes_turn(chat, Monotonic::now()) {
            return SendOutcome::Held {
                error: "a conversa recebeu outra mensagem há menos de um segundo".to_owned(),
                after_s: 1,
                all: false,
            };
        }
        let user = claimed.user;
        let mut answer = self.bot.say(chat, &letter.text, TIMEOUT);
        let moved_to = answer.as_ref().err().and_then(|fault| fault.refusal()?.moved_to);
        if let Some(new) = moved_to {
            note(app, move |tx| store::moved(tx, user, chat, new));
            answer = self.bot.say(new, &letter.text, TIMEOUT);
        }
        match answer {
            Ok(provider) => SendOutcome::Accepted(provider),
            Err(fault) => {
                match finding(&fault) {
                    Finding::Nothing => {}
                    Finding::Gone => note(app, move |tx| store::unlink(tx, user, chat)),
                    Finding::Blocked => note(app, move |tx| store::set_blocked(tx, chat, true)),
                }
                verdict(&fault)
            }
        }
    }

    /// Whether a chat had no message within the last second. If so, a message
    /// is recorded for it now.
    fn takes_turn(&self, chat: i64, now: Monotonic) -> bool {
        let mut recent = self.recent.lock();
        while recent.front().is_some_and(|(at, _)| now.duration_since(*at) >= GAP) {
            recent.pop_front();
        }
        if recent.iter().any(|(_, known)| *known == chat) {
            return false;
        }
        recent.push_back((now, chat));
        true
    }
}

/// Stores what was found out about a chat. If that fails, the next message
/// finds it out again.
fn note<T: Send + 'static>(
    services: &Services,
    write: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
) {
    if let Err(error) = services.db.write(write) {
        tracing::warn!(%error, "what Telegram says of a chat cannot be noted");
    }
}

/// What a fault means for the message.
fn verdict(fault: &BotFault) -> SendOutcome {
    let error = fault.words();
    let refusal = match fault {
        BotFault::Refused(refusal) => refusal,
        BotFault::Away(_) => return SendOutcome::Away(error),
        BotFault::Silent(_) => return SendOutcome::Later(error),
    };
    match refusal.code {
        400 | 403 => SendOutcome::Never(error),
        401 | 404 => {
            SendOutcome::Down(format!("{error}: confira o token do bot (telegram.bot_token)"))
        }
        429 => {
            let after_s = refusal.retry_after_s.unwrap_or(BOT_RESTS_S);
            SendOutcome::Held { error, after_s, all: true }
        }
        502..=504 => SendOutcome::Away(error),
        _ => SendOutcome::Later(error),
    }
}

/// What a fault says about the chat.
fn finding(fault: &BotFault) -> Finding {
    match fault.refusal() {
        Some(one) if one.code == 400 && one.description.contains("chat not found") => Finding::Gone,
        Some(one) if one.code == 403 => Finding::Blocked,
        _ => Finding::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::secrets::Secret;
    use crate::config::{self, Updates};
    use crate::messages::telegram::bot::Refusal;

    fn refused(code: i64, description: &str, retry_after_s: Option<i64>) -> (SendOutcome, Finding) {
        let fault = BotFault::Refused(Refusal {
            code,
            description: description.to_owned(),
            retry_after_s,
            moved_to: None,
        });
        (verdict(&fault), finding(&fault))
    }

    #[test]
    fn refusals_decide_over_message_and_chat() {
        let gone = refused(400, "Bad Request: chat not found", None);
        assert!(matches!(gone, (SendOutcome::Never { .. }, Finding::Gone)));
        let empty = refused(400, "Bad Request: message text is empty", None);
        assert!(matches!(empty, (SendOutcome::Never { .. }, Finding::Nothing)));
        let blocked = refused(403, "Forbidden: bot was blocked by the user", None);
        assert!(matches!(blocked, (SendOutcome::Never { .. }, Finding::Blocked)));
        for code in [401, 404] {
            assert!(matches!(refused(code, "", None).0, SendOutcome::Down { .. }));
        }
        let asked = |after| match refused(429, "Too Many Requests", after).0 {
            SendOutcome::Held { after_s, all, .. } => (after_s, all),
            other => panic!("{other:?}"),
        };
        assert_eq!((asked(Some(7)), asked(None)), ((7, true), (30, true)));
        for code in [500, 409, 0] {
            assert!(matches!(refused(code, "", None).0, SendOutcome::Later { .. }));
        }
        for code in [502, 503, 504] {
            assert!(matches!(refused(code, "", None).0, SendOutcome::Away { .. }));
        }
        let silent = verdict(&BotFault::Silent("nada"));
        assert!(matches!(silent, SendOutcome::Later { .. }));
        let away = verdict(&BotFault::Away("nada"));
        assert!(matches!(away, SendOutcome::Away { .. }));
    }

    #[test]
    fn a_chat_has_one_message_a_second() {
        let config = config::Telegram {
            bot_token: Secret::new("1:a"),
            api_base: String::new(),
            link_base: String::new(),
            updates: Updates::Polling,
        };
        let telegram = TelegramSender { bot: Bot::new(&config).unwrap(), recent: Mutex::default() };
        let now = Monotonic::now();
        assert!(telegram.takes_turn(1, now));
        assert!(!telegram.takes_turn(1, now + Duration::from_millis(900)));
        assert!(telegram.takes_turn(2, now + Duration::from_millis(900)));
        assert!(telegram.takes_turn(1, now + GAP));
        assert_eq!(telegram.recent.lock().len(), 2);
    }
}
