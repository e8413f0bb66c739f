//! Linking: to the marketplace's consent page and back.
//!
//! The state is random, belongs to the person who left, works once and for
//! ten minutes; the code is exchanged with PKCE. An account belongs to one
//! person. Unlinking forgets the tokens at once; the orders read so far stay
//! with their owner, listings, questions and claims are removed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::store::{self, Linking, NewLink};
use super::tokens;
use crate::app::App;
use crate::base::secrets::Place;
use crate::base::text::hex;
use crate::base::{MlUserId, Secret, TokenHash, UserId, secrets};
use crate::db::Lane;
use crate::edge::guard::Person;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::marketplace::client::{Caller, Failure, TokenPair};
use crate::named;
use crate::panel::{Answer, Notice, Tone};
use crate::program::ledger::{self, Cause};
use crate::program::{Action, Terms};

/// Seconds that a person may take at the marketplace.
const ATTEMPT_S: i64 = 600;
/// The page of linked accounts.
pub const ACCOUNTS: &str = "/painel/ml";
const RETURN_PATH: &str = "/painel/ml/retorno";

named! {
    /// What came of a visit to the consent page, or of another act on an account.
    pub enum LinkOutcome: text {
        NotConfigured = "nao_configurado";
        Linked = "vinculada";
        Relinked = "revinculada";
        Refused = "recusada";
        BelongsToAnother = "de_outra_pessoa";
        Expired = "expirada";
        Unavailable = "indisponivel";
        Unlinked = "desvinculada";
        /// A reading was asked for and begins.
        Wanted = "sincronizando";
        /// It was asked for less than a minute ago.
        TooSoon = "ja_pedida";
    }
}

impl LinkOutcome {
    /// Leads back to the accounts, whose page shows the outcome.
    pub fn redirect(self) -> Result<Reply, Problem> {
        Reply::back(ACCOUNTS, self.name())
    }

    /// The outcome in words, with the name of an account that was linked;
    /// `None` when the page itself says it.
    pub fn notice(self, nickname: &str) -> Option<Notice> {
        let (tone, title, text) = match self {
            Self::NotConfigured => return None,
            Self::Linked => {
                let text =
                    "As vendas dos últimos meses estão chegando; isso pode levar alguns minutos.";
                return Some(Notice::new(Tone::Good, format!("{nickname} foi vinculada"), text));
            }
            Self::Relinked => {
                let text = "O que aconteceu enquanto o vínculo estava perdido será buscado agora.";
                return Some(Notice::new(
                    Tone::Good,
                    format!("{nickname} voltou a funcionar"),
                    text,
                ));
            }
            Self::Refused => (
                Tone::Warn,
                "A autorização não foi dada",
                "Nada mudou. Se foi sem querer, clique em Vincular conta e autorize na página do marketplace.",
            ),
            Self::BelongsToAnother => (
                Tone::Bad,
                "Esta conta já é de outra pessoa daqui",
                "Uma conta do marketplace pertence a uma só pessoa. Para vincular outra, saia da sua conta no marketplace, entre com a certa e tente de novo.",
            ),
            Self::Expired => (
                Tone::Warn,
                "O pedido de vínculo venceu",
                "Ele vale por dez minutos e uma vez só. Nada mudou; comece de novo em Vincular conta.",
            ),
            Self::Unavailable => (
                Tone::Bad,
                "O marketplace não respondeu",
                "Nada mudou e suas outras contas continuam vinculadas. Tente de novo em alguns minutos.",
            ),
            Self::Unlinked => (
                Tone::Good,
                "A conta foi desvinculada",
                "O acesso ao marketplace foi esquecido. O histórico de vendas continua aqui.",
            ),
            Self::Wanted => (
                Tone::Good,
                "A sincronização começou",
                "O que mudou no marketplace aparece aqui em instantes.",
            ),
            Self::TooSoon => (
                Tone::Info,
                "A sincronização já foi pedida",
                "Espere um minuto antes de pedir de novo.",
            ),
        };
        Some(Notice::new(tone, title, text))
    }
}

/// `GET /painel/ml/conectar`: leads to the consent page.
pub fn begin(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let config = &app.config.marketplace;
    if config.client_id.is_empty() {
        return Ok(nothing_to_do(LinkOutcome::NotConfigured.redirect()?));
    }
    let state = secrets::random_hex::<32>();
    let verifier = secrets::random_hex::<32>();
    let challenge = challenge_of(&verifier);
    let page = format!("{}/authorization?", config.auth_base);
    let query_begins = page.len();
    let address: String = form_urlencoded::Serializer::for_suffix(page, query_begins)
        .append_pair("response_type", "code")
        .append_pair("client_id", &config.client_id)
        .append_pair("redirect_uri", &redirect_uri(app))
        .append_pair("state", &state)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .finish();
    let (hash, user, expires_at) =
        (TokenHash::of(&state), person.account.user_id, request.now.plus(ATTEMPT_S));
    let sealed = app.sealer.seal(verifier.as_bytes(), verifier_place(&hex(&hash.0)));
    Ok(Box::new(move |tx| {
        store::insert_attempt(tx, user, &hash, &sealed, expires_at)?;
        Reply::redirect(&address)
    }))
}

/// The PKCE challenge of a verifier, method S256 (RFC 7636 §4.2).
fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn redirect_uri(app: &App) -> String {
    format!("{}{RETURN_PATH}", app.addresses.base_url)
}

const fn verifier_place(row: &str) -> Place<'_> {
    Place { table: "ml_link_attempt", column: "verifier", row }
}

#[derive(Deserialize)]
struct Return {
    #[serde(default)]
    state: Field<String>,
    #[serde(default)]
    code: Field<String>,
    #[serde(default)]
    error: Field<String>,
}

/// `GET /painel/ml/retorno`: the person is back, with a code or a refusal.
pub fn finish(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query: Return = request.query()?;
    let mut check = Check::text();
    let state = check.optional("state", query.state).unwrap_or_default();
    let code = check.optional("code", query.code);
    let error = check.optional("error", query.error);
    check.finish()?;
    let hash = TokenHash::of(&state);
    let user = person.account.user_id;
    let Some(sealed) = app.db.write(move |tx| store::take_attempt(tx, user, &hash))? else {
        return LinkOutcome::Expired.redirect();
    };
    let outcome = match (error, code) {
        (Some(_), _) => LinkOutcome::Refused,
        (None, None) => LinkOutcome::Expired,
        (None, Some(code)) => {
            let verifier = app
                .sealer
                .open_text(&sealed, verifier_place(&hex(&hash.0)))
                .map_err(Problem::internal)?;
            redeem(app, user, &code, &verifier)?
        }
    };
    outcome.redirect()
}

/// Exchanges the code, links its account and looks at it.
fn redeem(app: &App, user: UserId, code: &str, verifier: &Secret) -> Result<LinkOutcome, Problem> {
    // A code names its account. Exchanging one for an account of somebody else
    // would end their tokens, so that is refused before.
    if let Some(account) = account_of_code(code) {
        let owner = app.db.read(Lane::Brief, |tx| store::owner_of(tx, account))?;
        if owner.is_some_and(|(owner, _)| owner != user) {
            return Ok(LinkOutcome::BelongsToAnother);
        }
    }
    let client = &app.marketplace.client;
    if client.may_call().is_err() {
        return Ok(LinkOutcome::Unavailable);
    }
    match client.exchange(code, verifier, &redirect_uri(app)) {
        Ok(pair) => {
            let outcome = link(app, user, &pair)?;
            if matches!(outcome, LinkOutcome::Linked | LinkOutcome::Relinked) {
                look(app, user, &pair)?;
            }
            Ok(outcome)
        }
        Err(Failure::Refused { status, code }) => {
            tracing::warn!(status, code, "the marketplace refused the code of a consent");
            Ok(if code == "invalid_grant" {
                LinkOutcome::Expired
            } else {
                LinkOutcome::Unavailable
            })
        }
        Err(failure) => {
            tracing::warn!(%failure, "an account could not be linked");
            Ok(LinkOutcome::Unavailable)
        }
    }
}

/// The account that an address names.
pub fn account_in(request: &Request) -> Result<MlUserId, Problem> {
    request.variable("ml_user_id").parse().map(MlUserId).map_err(|_| Problem::not_found())
}

/// The account at the end of a code such as `TG-…-777`.
fn account_of_code(code: &str) -> Option<MlUserId> {
    let (rest, account) = code.rsplit_once('-')?;
    account.parse().ok().filter(|_| rest.contains('-')).map(MlUserId)
}

/// Stores the tokens of a consent. The pair before it has ended by now, so this
/// one is kept before anything else can go wrong.
fn link(app: &App, user: UserId, pair: &TokenPair) -> Result<LinkOutcome, Problem> {
    let (access_token, refresh_token) = tokens::seal_pair(&app.sealer, pair.ml_user_id, pair);
    let new = NewLink {
        ml_user_id: pair.ml_user_id,
        access_token,
        refresh_token,
        token_expires_at: app.clock.now().plus(pair.expires_in_s),
    };
    let wanted = app.marketplace.wanted.clone();
    let terms = Terms::of(&app.config);
    let linking = app.db.write(move |tx| {
        let linking = store::link(tx, user, &new)?;
        if linking != Linking::BelongsToAnother {
            let day = terms.zone.day(tx.now());
            let cause = Cause { action: Action::Linked, id: new.ml_user_id.0, day };
            ledger::give(tx, terms, user, cause)?;
        }
        tx.after_commit(move || wanted.ring());
        Ok::<_, Problem>(linking)
    })?;
    Ok(match linking {
        Linking::Linked => LinkOutcome::Linked,
        Linking::Relinked => LinkOutcome::Relinked,
        Linking::BelongsToAnother => LinkOutcome::BelongsToAnother,
    })
}

/// Reads what the next page shows of an account. What cannot be had now comes
/// with the first reading.
fn look(app: &App, user: UserId, pair: &TokenPair) -> Result<(), Problem> {
    let client = &app.marketplace.client;
    let caller = Caller { ml_user_id: pair.ml_user_id, access: &pair.access };
    let seller = match client.me(&caller) {
        Ok(me) if me.id == pair.ml_user_id => me,
        Ok(_) => return Ok(()),
        Err(failure) => {
            tracing::info!(ml_user_id = pair.ml_user_id.0, %failure, "a new account is looked at later");
            return Ok(());
        }
    };
    let listings = client.listings(&caller).ok();
    app.db.write(move |tx| {
        let owner = store::owner_of(tx, seller.id)?;
        if owner.is_none_or(|(owner, _)| owner != user) {
            return Ok(());
        }
        store::note_seller(tx, &seller)?;
        if let Some(listings) = listings {
            store::note_listings(tx, seller.id, listings)?;
        }
        Ok(())
    })
}

/// `POST /painel/ml/contas/{ml_user_id}/desvincular`: forgets an account's
/// tokens, then gives the leave back at the marketplace, if it can be reached.
pub fn unlink(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let account = account_in(request)?;
    let user = person.account.user_id;
    let access = tokens::access_of(app, user, account)?;
    let forget = app.marketplace.bell.clone();
    app.db.write(move |tx| {
        if !store::unlink(tx, user, account)? {
            return Err(Problem::not_found());
        }
        tx.after_commit(move || forget.ring());
        Ok(())
    })?;
    if let Some(access) = access.filter(|_| app.marketplace.client.may_call().is_ok()) {
        let caller = Caller { ml_user_id: account, access: &access };
        if let Err(error) = app.marketplace.client.give_back(&caller) {
            tracing::info!(ml_user_id = account.0, %error, "the marketplace was not told of an unlinked account");
        }
    }
    Answer::to(request).with(ACCOUNTS, LinkOutcome::Unlinked.name(), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_the_one_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge_of(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn a_code_names_its_account() {
        assert_eq!(account_of_code("TG-6745bc-777"), Some(MlUserId(777)));
        assert_eq!(account_of_code("TG-674500"), None);
        assert_eq!(account_of_code("777"), None);
    }

    #[test]
    fn words_of_outcomes_read_back() {
        for outcome in LinkOutcome::ALL {
            assert_eq!(LinkOutcome::from_name(outcome.name()), Some(outcome));
        }
        assert_eq!(LinkOutcome::from_name("outra"), None);
    }
}
