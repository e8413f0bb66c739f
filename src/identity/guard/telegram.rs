//! Telegram: checks the secret that Telegram got together with our address.

use super::{Class, GuardResult, is_ours, turned_away};
use crate::app::App;
use crate::http::{Problem, Request};
use crate::identity::{Seal, TelegramSender};
use crate::messages::telegram;

/// Header of the secret.
const HEADER: &str = "x-telegram-bot-api-secret-token";

/// The receiver of updates: the secret is checked before the body is read.
pub fn telegram(app: &App, request: &Request) -> GuardResult<TelegramSender> {
    match is_right(app, request) {
        Ok(true) => {
            GuardResult { who: Some(("telegram", 0)), ..GuardResult::of(TelegramSender(Seal)) }
        }
        Ok(false) => turned_away(app, request, Class::ApiAddress, Problem::unauthorized()),
        Err(problem) if is_ours(&problem) => GuardResult::refused(problem),
        Err(problem) => turned_away(app, request, Class::ApiAddress, problem),
    }
}

fn is_right(app: &App, request: &Request) -> Result<bool, Problem> {
    let mut presented = request.headers().get_all(HEADER).iter();
    // With two headers of this name it is unclear which one is meant.
    let (Some(secret), None) = (presented.next(), presented.next()) else {
        return Ok(false);
    };
    let kept = telegram::hook_secret(app, request.lane)?;
    let presented = secret.to_str().unwrap_or_default();
    Ok(kept.is_some_and(|kept| kept.matches(presented)))
}
