//! Invitations: a client that is no student opens a link, authorises an account
//! at the marketplace, and the agency looks after it.
//!
//! What is stored of an invitation is the digest of its code. It works for
//! thirty days and any number of accounts, until it is renewed or ended. What
//! it brings belongs to the client's **shell**, an empty row of `user` that
//! nobody can enter. The visit to the consent page is bound to the browser it
//! began in: its state is the digest of a cookie, so the address of that page,
//! sent on to a stranger, links nothing.

pub mod pages;
pub mod returns;
#[cfg(test)]
pub mod samples;
pub mod store;
pub mod views;

use http::HeaderValue;
use http::header::COOKIE;

use crate::accounts::session;
use crate::app::App;
use crate::base::secrets::Place;
use crate::base::text::{from_hex, hex};
use crate::base::{Secret, TokenHash};
use crate::http::Request;
use crate::marketplace::account::link::LinkOutcome;
use crate::named;

/// Where invitations are.
const PATH: &str = "/convite";
/// Where visitors end.
const DONE: &str = "/convite/pronto";
/// Life of the cookie, longer than a visit, so that a late return is known as one.
const COOKIE_S: i64 = 3_600;

/// The address of an invitation.
pub fn address(app: &App, code: &str) -> String {
    format!("{}{PATH}/{code}", app.addresses.base_url)
}

/// Over TLS the browser itself refuses a cookie of this name from a sibling host.
fn cookie_name(app: &App) -> &'static str {
    if app.addresses.is_https() { "__Host-convite" } else { "convite" }
}

/// The cookie of a visit that begins.
fn cookie(app: &App, secret: &str) -> HeaderValue {
    session::cookie_of(app, cookie_name(app), secret, COOKIE_S)
}

/// The state of the visit that a cookie belongs to.
fn state_of(secret: &str) -> String {
    hex(&TokenHash::of(&format!("{PATH}:{secret}")).0)
}

/// Whether a visit began in this browser.
fn began_here(app: &App, request: &Request, state: &str) -> bool {
    let name = cookie_name(app);
    let lines = request.headers().get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut values = lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim_matches(' ').split_once('='))
        .filter_map(|(known, value)| (known == name).then_some(value));
    let state = Secret::new(state);
    values.any(|value| state.matches(&state_of(value)))
}

named! {
    /// What came of a visit to the consent page by an invitation.
    pub enum Ending: text {
        Joined = "autorizada";
        Refused = "recusada";
        /// The agency looks after it for another client.
        OfAnother = "de_outro_cliente";
        Expired = "expirada";
        /// It began in another browser.
        Elsewhere = "outro_navegador";
        Unavailable = "indisponivel";
    }
}

impl Ending {
    /// Why there are no tokens.
    const fn without(outcome: LinkOutcome) -> Self {
        match outcome {
            LinkOutcome::Refused => Self::Refused,
            LinkOutcome::BelongsToAnother => Self::OfAnother,
            LinkOutcome::Expired => Self::Expired,
            _ => Self::Unavailable,
        }
    }
}

/// Seals the end of a visit into the address of its page, so that the page
/// says again what is true, and nobody can have it say something else.
fn told(app: &App, ending: Ending, account: &str) -> String {
    let text = format!("{}:{account}", ending.name());
    format!("{DONE}?fim={}", hex(&app.sealer.seal(text.as_bytes(), PLACE)))
}

/// What an address was made to say: the end, and the account's name.
fn read(app: &App, sealed: &str) -> Option<(Ending, String)> {
    let text = app.sealer.open_text(&from_hex(sealed)?, PLACE).ok()?;
    let (ending, account) = text.reveal().split_once(':')?;
    Some((Ending::from_name(ending)?, account.to_owned()))
}

const PLACE: Place<'_> = Place { table: "agency_client", column: "invite_hash", row: DONE };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_does_not_tell_the_cookie_it_comes_from() {
        let state = state_of("um");
        assert_eq!(state.len(), 64);
        assert_ne!(state, state_of("dois"));
        assert_ne!(state, hex(&TokenHash::of("um").0));
    }

    #[test]
    fn every_way_to_come_back_without_tokens_has_an_end() {
        assert_eq!(Ending::without(LinkOutcome::Refused), Ending::Refused);
        assert_eq!(Ending::without(LinkOutcome::BelongsToAnother), Ending::OfAnother);
        assert_eq!(Ending::without(LinkOutcome::Expired), Ending::Expired);
        assert_eq!(Ending::without(LinkOutcome::Unavailable), Ending::Unavailable);
    }
}
