//! Invitations: a client that is no student opens a link, authorises an account
//! at the marketplace, and the agency looks after it.
//!
//! Only the digest of an invitation's code is stored. An invitation works for
//! thirty days and any number of accounts, until it is renewed or ended. The
//! accounts it links belong to the client's **shell**, an empty row of `user`
//! that nobody can sign in to. A visit to the consent page is bound to the
//! browser in which it began: its state is the digest of a cookie. If the
//! address of the consent page is sent to a stranger, it links nothing.
//! Decisions agency-2, agency-3.

pub mod pages;
pub mod store;
pub mod views;

use http::HeaderValue;
use http::header::COOKIE;

use crate::accounts::session;
use crate::app::App;
use crate::base::secrets::SealContext;
use crate::base::text::{from_hex, hex};
use crate::base::{Secret, TokenHash};
use crate::http::Request;
use crate::marketplace::account::link::LinkOutcome;
use crate::named;
use crate::services::Services;

/// Path of the invitations.
const PATH: &str = "/convite";
/// The page at which visits end.
const DONE: &str = "/convite/pronto";
/// Lifetime of the cookie. It is longer than a visit may last, so that a late
/// return is recognised as expired.
const COOKIE_S: i64 = 3_600;

/// The address of an invitation.
pub fn address(app: &App, code: &str) -> String {
    format!("{}{PATH}/{code}", app.server.addresses.base_url)
}

/// Over TLS, the prefix `__Host-` makes the browser reject this cookie from a
/// sibling host.
fn cookie_name(app: &App) -> &'static str {
    if app.server.addresses.is_https() { "__Host-convite" } else { "convite" }
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
    /// The result of a visit to the consent page by an invitation.
    pub enum Ending: text {
        Joined = "autorizada";
        /// The same, and the authorisation cannot be renewed.
        JoinedForHours = "autorizada_por_horas";
        Refused = "recusada";
        /// A collaborator of the account signed in, who may not authorise.
        Collaborator = "colaborador";
        /// The marketplace wants something of the account's owner first.
        PendingData = "dados_pendentes";
        /// The marketplace does not accept this application.
        AppRefused = "aplicativo_recusado";
        /// The agency looks after the account for another client.
        OfAnother = "de_outro_cliente";
        /// The client has as many accounts as a client may have.
        Full = "contas_demais";
        Expired = "expirada";
        /// The visit began in another browser.
        Elsewhere = "outro_navegador";
        Unavailable = "indisponivel";
    }
}

impl Ending {
    /// The ending of a visit that brought no tokens.
    const fn without(outcome: LinkOutcome) -> Self {
        match outcome {
            LinkOutcome::Refused => Self::Refused,
            LinkOutcome::Collaborator => Self::Collaborator,
            LinkOutcome::PendingData => Self::PendingData,
            LinkOutcome::AppRefused => Self::AppRefused,
            LinkOutcome::BelongsToAnother => Self::OfAnother,
            LinkOutcome::Expired => Self::Expired,
            _ => Self::Unavailable,
        }
    }
}

/// Encrypts the result of a visit into the address of its page. A reload shows
/// the same result, and nobody can forge another one.
fn seal_outcome(services: &Services, ending: Ending, account: &str) -> String {
    let text = format!("{}:{account}", ending.name());
    format!("{DONE}?fim={}", hex(&services.sealer.seal(text.as_bytes(), PLACE)))
}

/// Decrypts the ending and the account's name from the page's address.
fn open_outcome(services: &Services, sealed: &str) -> Option<(Ending, String)> {
    let text = services.sealer.open_text(&from_hex(sealed)?, PLACE).ok()?;
    let (ending, account) = text.reveal().split_once(':')?;
    Some((Ending::from_name(ending)?, account.to_owned()))
}

const PLACE: SealContext<'_> =
    SealContext { table: "agency_client", column: "invite_hash", row: DONE };

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
        assert_eq!(Ending::without(LinkOutcome::Collaborator), Ending::Collaborator);
        assert_eq!(Ending::without(LinkOutcome::PendingData), Ending::PendingData);
        assert_eq!(Ending::without(LinkOutcome::AppRefused), Ending::AppRefused);
        assert_eq!(Ending::without(LinkOutcome::BelongsToAnother), Ending::OfAnother);
        assert_eq!(Ending::without(LinkOutcome::Expired), Ending::Expired);
        assert_eq!(Ending::without(LinkOutcome::Unavailable), Ending::Unavailable);
    }
}
