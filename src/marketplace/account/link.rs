//! Linking: the redirect to the marketplace's consent page and the return from
//! it.
//!
//! The OAuth `state` is random, belongs to the person who started, and works
//! once within ten minutes. The code is exchanged with PKCE. An account belongs
//! to one person. Unlinking deletes the tokens at once. The orders read so far
//! stay with their owner; listings, questions and claims are deleted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::store::{self, Linking, NewLink};
use super::tokens;
use crate::app::App;
use crate::base::secrets::{self, SealContext};
use crate::base::{Instant, MlUserId, Secret, TokenHash, UserId, hex};
use crate::db::{self, Lane, ReadTx, WriteTx};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::marketplace::books::orders::BookContext;
use crate::marketplace::client::{Caller, Failure, TokenPair};
use crate::named;
use crate::panel::{Notice, Tone};

/// Seconds that a person may take at the marketplace.
const ATTEMPT_S: i64 = 600;
/// The page of linked accounts.
pub const ACCOUNTS: &str = "/painel/ml";
const RETURN_PATH: &str = "/painel/ml/retorno";

named! {
    /// The result of a visit to the consent page, or of another action on an
    /// account.
    pub enum LinkOutcome: text {
        NotConfigured = "nao_configurado";
        Linked = "vinculada";
        Relinked = "revinculada";
        /// It is linked, and its authorisation cannot be renewed.
        LinkedForHours = "vinculada_por_horas";
        Refused = "recusada";
        /// A collaborator of the account signed in, who may not authorise.
        Collaborator = "colaborador";
        /// The marketplace wants something of the account's owner first.
        PendingData = "dados_pendentes";
        /// The marketplace does not accept this application.
        AppRefused = "aplicativo_recusado";
        BelongsToAnother = "de_outra_pessoa";
        Expired = "expirada";
        Unavailable = "indisponivel";
        Unlinked = "desvinculada";
        /// A reading was requested and begins.
        Wanted = "sincronizando";
        /// A reading was already requested less than a minute ago.
        TooSoon = "ja_pedida";
        /// The agency no longer looks after an account.
        AgencyEnded = "agencia_encerrada";
    }
}

impl LinkOutcome {
    /// Redirects to the page of accounts, which shows the outcome.
    pub fn redirect(self) -> Result<Reply, Problem> {
        Reply::back(ACCOUNTS, self.name())
    }

    /// The outcome in words, with the name of an account that was linked;
    /// `None` when the page itself says it.
    pub fn notice(self, nickname: &str) -> Option<Notice> {
        let (tone, title, text) = match self {
            Self::Linked => (
                Tone::Good,
                format!("{nickname} foi vinculada"),
                "As vendas dos últimos meses estão chegando; isso pode levar alguns minutos.",
            ),
            Self::Relinked => (
                Tone::Good,
                format!("{nickname} voltou a funcionar"),
                "O que aconteceu enquanto o vínculo estava perdido será buscado agora.",
            ),
            Self::LinkedForHours => (
                Tone::Warn,
                format!("{nickname} foi vinculada, mas só por algumas horas"),
                "O marketplace não deu a renovação: daqui a poucas horas o acesso acaba e será preciso vincular de novo. Avise quem cuida da plataforma: no aplicativo do marketplace falta a permissão offline_access.",
            ),
            other => {
                let (tone, title, text) = other.words()?;
                (tone, title.to_owned(), text)
            }
        };
        Some(Notice::new(tone, title, text))
    }

    /// An outcome that names no account, in words.
    const fn words(self) -> Option<(Tone, &'static str, &'static str)> {
        Some(match self {
            Self::NotConfigured | Self::Linked | Self::Relinked | Self::LinkedForHours => {
                return None;
            }
            Self::Collaborator => (
                Tone::Warn,
                "Quem entrou no marketplace foi um colaborador",
                "Só a conta principal da loja pode autorizar. Saia do marketplace, entre com a conta principal, não a de colaborador, e vincule de novo.",
            ),
            Self::PendingData => (
                Tone::Warn,
                "O marketplace não confirmou a autorização",
                "Quase sempre há dados pendentes na conta. Entre nela no marketplace, complete o que ele pedir (cadastro, documentos, termos) e vincule de novo.",
            ),
            Self::AppRefused => (
                Tone::Bad,
                "O marketplace não aceita esta plataforma agora",
                "Não depende de você: o aplicativo dela precisa de acerto no marketplace. Avise quem cuida da plataforma. Nada mudou.",
            ),
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
            Self::AgencyEnded => (
                Tone::Good,
                "A agência não cuida mais desta conta",
                "A equipe dela deixou de ver a conta agora. O vínculo com esta plataforma continua seu.",
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
        })
    }
}

/// A visit to the consent page that is about to begin.
pub struct LinkStart {
    address: String,
    state: TokenHash,
    /// The verifier, sealed.
    sealed: Vec<u8>,
    expires_at: Instant,
}

impl LinkStart {
    /// Prepares a visit with a `state` that nobody can guess; `None` while the
    /// marketplace is not configured.
    pub fn prepare(app: &App, state: &str, now: Instant) -> Option<Self> {
        let config = &app.config.marketplace;
        if config.client_id.is_empty() {
            return None;
        }
        let verifier = secrets::random_hex::<32>();
        let page = format!("{}/authorization?", config.auth_base);
        let query_begins = page.len();
        let address: String = form_urlencoded::Serializer::for_suffix(page, query_begins)
            .append_pair("response_type", "code")
            .append_pair("client_id", &config.client_id)
            .append_pair("redirect_uri", &redirect_uri(app))
            .append_pair("state", state)
            .append_pair("code_challenge", &challenge_of(&verifier))
            .append_pair("code_challenge_method", "S256")
            .finish();
        let state = TokenHash::of(state);
        let sealed = app.sealer.seal(verifier.as_bytes(), verifier_place(&hex(&state.0)));
        Some(Self { address, state, sealed, expires_at: now.plus(ATTEMPT_S) })
    }

    /// Stores the attempt; returns the address of the consent page.
    pub fn store(self, tx: &WriteTx<'_>, user: UserId) -> db::Result<String> {
        store::insert_attempt(tx, user, &self.state, &self.sealed, self.expires_at)?;
        Ok(self.address)
    }
}

/// The PKCE challenge of a verifier, method S256 (RFC 7636 §4.2).
fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn redirect_uri(app: &App) -> String {
    format!("{}{RETURN_PATH}", app.server.addresses.base_url)
}

const fn verifier_place(row: &str) -> SealContext<'_> {
    SealContext { table: "ml_link_attempt", column: "verifier", row }
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

/// The return of a person from the consent page, with a code or a refusal.
pub struct LinkCallback {
    /// The `state` of the attempt; empty when the address has none.
    pub state: String,
    code: Option<String>,
    /// What the address says instead of a code.
    refusal: Option<LinkOutcome>,
}

impl LinkCallback {
    /// Reads the address to which the marketplace redirected the person.
    pub fn of(request: &Request) -> Result<Self, Problem> {
        let query: Return = request.query()?;
        let mut check = Check::text();
        let state = check.optional("state", query.state).unwrap_or_default();
        let code = check.optional("code", query.code);
        let error = check.optional("error", query.error);
        check.finish()?;
        // No redirect with an error is documented. Should one come, it may have any code.
        let refusal = error.map(|error| outcome_of(&error).unwrap_or(LinkOutcome::Refused));
        Ok(Self { state, code, refusal })
    }

    /// Uses up the person's attempt and exchanges the code for tokens, or
    /// returns the outcome when there are none. A code names its account, and
    /// exchanging the code ends the tokens that the account has. So `may_have`
    /// is called first: it says whether the account may belong to this person.
    pub fn redeem(
        &self,
        app: &App,
        user: UserId,
        may_have: impl Fn(&ReadTx<'_>, MlUserId) -> db::Result<bool>,
    ) -> Result<Result<TokenPair, LinkOutcome>, Problem> {
        let state = TokenHash::of(&self.state);
        let taken = app.db.write(move |tx| store::take_attempt(tx, user, &state))?;
        let Some(sealed) = taken else { return Ok(Err(LinkOutcome::Expired)) };
        let code = match (&self.code, self.refusal) {
            (_, Some(refusal)) => return Ok(Err(refusal)),
            (None, None) => return Ok(Err(LinkOutcome::Expired)),
            (Some(code), None) => code,
        };
        let place = hex(&state.0);
        let verifier = app.sealer.open_text(&sealed, verifier_place(&place));
        let verifier = verifier.map_err(Problem::internal)?;
        if let Some(account) = account_of_code(code)
            && !app.db.read(Lane::Brief, |tx| may_have(tx, account))?
        {
            return Ok(Err(LinkOutcome::BelongsToAnother));
        }
        Ok(exchange(app, code, &verifier))
    }
}

fn exchange(app: &App, code: &str, verifier: &Secret) -> Result<TokenPair, LinkOutcome> {
    let client = &app.marketplace.client;
    if client.may_call().is_err() {
        return Err(LinkOutcome::Unavailable);
    }
    client.exchange(code, verifier, &redirect_uri(app)).map_err(|failure| match failure {
        Failure::Refused { status, code } => {
            tracing::warn!(status, code, "the marketplace refused the code of a consent");
            outcome_of(&code).unwrap_or(LinkOutcome::AppRefused)
        }
        failure => {
            tracing::warn!(%failure, "an account could not be linked");
            LinkOutcome::Unavailable
        }
    })
}

/// What a code of the marketplace says of the account that was to be linked; `None` when
/// it says something else.
fn outcome_of(code: &str) -> Option<LinkOutcome> {
    Some(match code {
        "invalid_operator_user_id" => LinkOutcome::Collaborator,
        // The code is new, and was never sent before: the attempt works once. So it is the
        // account that the marketplace is not content with.
        "invalid_grant" => LinkOutcome::PendingData,
        "invalid_client" | "invalid_scope" | "unauthorized_client" | "unauthorized_application" => {
            LinkOutcome::AppRefused
        }
        _ => return None,
    })
}

/// Finishes the linking for a student: exchanges the code, links the account
/// and reads what the next page shows of it.
pub fn finish_link(
    app: &App,
    user: UserId,
    callback: &LinkCallback,
) -> Result<LinkOutcome, Problem> {
    let is_free = |tx: &ReadTx<'_>, account| {
        Ok(store::owner_of(tx, account)?.is_none_or(|(owner, _)| owner == user))
    };
    let pair = match callback.redeem(app, user, is_free)? {
        Ok(pair) => pair,
        Err(outcome) => return Ok(outcome),
    };
    let outcome = link(app, user, &pair)?;
    let is_linked = matches!(outcome, LinkOutcome::Linked | LinkOutcome::Relinked);
    if is_linked {
        read_account(app, user, &pair)?;
    }
    let renews = pair.refresh.is_some();
    Ok(if is_linked && !renews { LinkOutcome::LinkedForHours } else { outcome })
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

/// Stores the tokens of a consent. The exchange has already ended the previous
/// pair, so the new pair is stored before anything else can fail.
fn link(app: &App, user: UserId, pair: &TokenPair) -> Result<LinkOutcome, Problem> {
    let new = NewLink::of(app, pair);
    let wanted = app.marketplace.wanted.clone();
    let context = BookContext::of(app);
    let linking = app.db.write(move |tx| {
        let linking = store::link(tx, user, &new)?;
        if linking != Linking::BelongsToAnother {
            let effects = context.effects.links.iter();
            effects.copied().try_for_each(|effect| effect(tx, &context, user, new.ml_user_id))?;
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

/// Reads what the next page shows of an account. What cannot be read now comes
/// with the first reading.
pub fn read_account(app: &App, user: UserId, pair: &TokenPair) -> Result<(), Problem> {
    let client = &app.marketplace.client;
    let caller = Caller { ml_user_id: pair.ml_user_id, access: &pair.access };
    let seller = match client.me(&caller) {
        Ok(me) if me.id == pair.ml_user_id => me,
        Ok(_) => return Ok(()),
        Err(failure) => {
            tracing::info!(ml_user_id = pair.ml_user_id.0, %failure, "a new account is read later");
            return Ok(());
        }
    };
    let listings = client.listings(&caller).ok();
    app.db.write(move |tx| {
        if !store::is_linked_to(tx, user, seller.id)? {
            return Ok(());
        }
        store::note_seller(tx, &seller)?;
        if let Some(listings) = listings {
            store::note_listings(tx, seller.id, listings)?;
        }
        Ok(())
    })
}

/// Unlinks an owner's account and deletes its tokens, then revokes the
/// authorisation at the marketplace, if it can be reached; false when the
/// account is not theirs.
pub fn unlink_and_revoke(app: &App, owner: UserId, account: MlUserId) -> Result<bool, Problem> {
    let access = tokens::access_of(app, owner, account)?;
    let bell = app.marketplace.bell.clone();
    app.db.write_pieces(move |tx| {
        let is_linked = store::is_linked_to(tx, owner, account)?;
        Ok::<_, db::DbError>(!is_linked || tx.work_off(|most| store::empty(tx, account, most))?)
    })?;
    let is_gone = app.db.write(move |tx| {
        let is_gone = store::unlink(tx, owner, account)?;
        if is_gone {
            tx.after_commit(move || bell.ring());
        }
        Ok::<_, Problem>(is_gone)
    })?;
    if !is_gone {
        return Ok(false);
    }
    if let Some(access) = access.filter(|_| app.marketplace.client.may_call().is_ok()) {
        let caller = Caller { ml_user_id: account, access: &access };
        if let Err(error) = app.marketplace.client.revoke_consent(&caller) {
            tracing::info!(ml_user_id = account.0, %error, "the marketplace was not told of an unlinked account");
        }
    }
    Ok(true)
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
