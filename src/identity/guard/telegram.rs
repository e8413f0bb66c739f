//! Telegram: checks the secret that Telegram got together with our address.

use super::{Class, GuardResult, passed};
use crate::app::App;
use crate::http::{Problem, Request};
use crate::identity::{Seal, TelegramSender};
use crate::messages::telegram;

/// Header of the secret.
const HEADER: &str = "x-telegram-bot-api-secret-token";

/// The receiver of updates: the secret is checked before the body is read.
pub fn telegram(app: &App, request: &Request) -> GuardResult<TelegramSender> {
    let found = prove(app, request);
    let found = found.map(|()| GuardResult::of(TelegramSender(Seal)).known_as("telegram", 0));
    passed(app, request, Class::ApiAddress, found)
}

fn prove(app: &App, request: &Request) -> Result<(), Problem> {
    let mut presented = request.headers().get_all(HEADER).iter();
    // With two headers of this name it is unclear which one is meant.
    let (Some(secret), None) = (presented.next(), presented.next()) else {
        return Err(Problem::unauthorized());
    };
    let kept = telegram::hook_secret(app, request.lane)?;
    let presented = secret.to_str().unwrap_or_default();
    if kept.is_some_and(|kept| kept.matches(presented)) {
        Ok(())
    } else {
        Err(Problem::unauthorized())
    }
}
