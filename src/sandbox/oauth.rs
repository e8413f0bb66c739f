//! Authorization: the consent page, codes with PKCE, rotating refresh tokens, and
//! the lists of grants.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::call::{ButtonResult, Call, ControlResult, HandlerResult};
use super::grants::{ACCESS_S, Code};
use super::http::{Reply, first, pairs};
use super::page::page;
use super::state::SandboxState;
use crate::base::Instant;
use crate::base::secrets::random_hex;

const CODE_S: i64 = 600;
const SCOPE: &str = "offline_access read write";
const ONLINE_SCOPE: &str = "read write";
const SCOPES: [&str; 3] = ["read", "write", "offline_access"];
/// Most grants of one page.
const GRANTS_MAX: usize = 50;

/// A checked authorization request.
struct AuthorizationRequest {
    redirect_uri: String,
    state: Option<String>,
    challenge: String,
}

impl AuthorizationRequest {
    /// Checks the query of `GET /authorization`. The error is a sentence that
    /// the page shows: the browser is never redirected to an unchecked address.
    fn read(call: &Call<'_>, query: &[(String, String)]) -> Result<Self, String> {
        let need = |name: &str| {
            first(query, name)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("Falta o parâmetro {name}."))
        };
        if need("response_type")? != "code" {
            return Err("O parâmetro response_type deve ser “code”.".to_owned());
        }
        if need("client_id")? != call.sandbox.client_id {
            return Err("Nenhum aplicativo tem esse client_id.".to_owned());
        }
        let redirect_uri = need("redirect_uri")?;
        if !registered(&call.state.config.redirect_uris, redirect_uri) {
            return Err(
                "O redirect_uri não é igual a nenhum endereço cadastrado no aplicativo.".to_owned()
            );
        }
        let challenge = need("code_challenge")?;
        if need("code_challenge_method")? != "S256" {
            return Err("O parâmetro code_challenge_method deve ser “S256”.".to_owned());
        }
        let well_formed = challenge.len() == 43
            && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !well_formed {
            return Err("O code_challenge não é um SHA-256 em base64url sem “=”.".to_owned());
        }
        Ok(Self {
            redirect_uri: redirect_uri.to_owned(),
            state: first(query, "state").map(str::to_owned),
            challenge: challenge.to_owned(),
        })
    }

    /// The seller agrees: returns the redirect address, with a code.
    fn accept(self, state: &mut SandboxState, seller: i64, now: Instant) -> String {
        state.grants.forget_old(now);
        let name = format!("TG-{}-{seller}", random_hex::<12>());
        let location = self.location(("code", &name));
        let code = Code {
            seller,
            redirect_uri: self.redirect_uri,
            challenge: self.challenge,
            until: now.plus(CODE_S),
        };
        state.grants.add_code(name, code);
        location
    }

    /// Returns the redirect address with an error.
    fn refuse(&self, error: &str) -> String {
        self.location(("error", error))
    }

    fn location(&self, result: (&str, &str)) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair(result.0, result.1);
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        let joint = if self.redirect_uri.contains('?') { '&' } else { '?' };
        format!("{}{joint}{}", self.redirect_uri, query.finish())
    }
}

/// Whether a redirect address is registered. If there are no registered addresses,
/// any loopback address is accepted.
fn registered(registered: &[String], presented: &str) -> bool {
    if !registered.is_empty() {
        return registered.iter().any(|uri| uri == presented);
    }
    let Ok(uri) = presented.parse::<hyper::Uri>() else {
        return false;
    };
    let scheme = uri.scheme_str();
    matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"))
        && matches!(scheme, Some("http" | "https"))
}

/// Why a seller did not authorise. The marketplace says so on its own page, and the
/// browser does not come back by itself.
enum Ending {
    /// The seller does not want to.
    Refused,
    /// Who signed in is a collaborator.
    Collaborator,
    /// The account has data that are not validated yet.
    PendingData,
}

impl Ending {
    /// What the marketplace has against an authorisation of a seller.
    fn of(call: &Call<'_>, seller: i64) -> Option<Self> {
        let config = &call.state.config;
        if config.collaborators.contains(&seller) {
            Some(Self::Collaborator)
        } else if config.pending_data.contains(&seller) {
            Some(Self::PendingData)
        } else {
            None
        }
    }

    /// Status, title and text of the page.
    const fn page(&self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Refused => (
                200,
                "Nada foi autorizado",
                "A plataforma continua sem acesso a esta conta. Você pode fechar esta página.",
            ),
            Self::Collaborator => (
                403,
                "Você não pode autorizar (invalid_operator_user_id)",
                "Só a conta principal da loja autoriza aplicativos; esta é de colaborador. Saia e entre com a principal.",
            ),
            Self::PendingData => (
                403,
                "Não foi possível conectar o aplicativo à sua conta",
                "Há dados da conta que precisam ser validados antes.",
            ),
        }
    }
}

#[derive(Template)]
#[template(path = "sandbox/consent_end.html", config = "assets/askama.toml")]
struct EndPage {
    title: &'static str,
    text: &'static str,
}

fn end(ending: &Ending) -> Reply {
    let (status, title, text) = ending.page();
    page(&EndPage { title, text }, status)
}

#[derive(Template)]
#[template(path = "sandbox/consent.html", config = "assets/askama.toml")]
struct ConsentPage {
    problem: Option<String>,
    query: String,
    shops: Vec<(i64, String, bool)>,
}

/// `GET /authorization`: asks which seller authorises, or shows what is wrong with
/// the request.
pub fn consent(call: &mut Call<'_>) -> HandlerResult {
    let problem = AuthorizationRequest::read(call, &call.request.query).err();
    let shops = call.state.sellers.values().map(|seller| {
        let connected = call.state.grants.connected(seller.id, call.now);
        (seller.id, seller.nickname.clone(), connected)
    });
    let shops = shops.collect();
    let status = if problem.is_some() { 400 } else { 200 };
    let query = call.request.raw_query.clone();
    Ok(page(&ConsentPage { problem, query, shops }, status))
}

/// `POST /authorization`: redirects the browser back with a code, or shows on a page of
/// its own why there is none.
pub fn decide(call: &mut Call<'_>) -> HandlerResult {
    if call.request.is_from_elsewhere() {
        return Err(Reply::text(403, "O pedido veio da página de outro site."));
    }
    let Ok(asked) = AuthorizationRequest::read(call, &call.request.query) else {
        return consent(call);
    };
    if call.field("decisao") == "recusar" {
        return Ok(end(&Ending::Refused));
    }
    let seller = call.field("ml_user_id").parse().ok();
    match seller.filter(|id| call.state.sellers.contains_key(id)) {
        Some(seller) => Ok(match Ending::of(call, seller) {
            Some(ending) => end(&ending),
            None => Reply::see_other(&asked.accept(call.state, seller, call.now)),
        }),
        None => consent(call),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Consent {
    ml_user_id: i64,
    /// The authorization address, or its query.
    query: String,
    /// Come back without a code. The real marketplace documents no such redirect: it shows
    /// a page of its own.
    #[serde(default)]
    refuse: bool,
    /// What that redirect says.
    #[serde(default = "access_denied")]
    error: String,
}

fn access_denied() -> String {
    "access_denied".to_owned()
}

/// `POST /_sandbox/authorize`: what the consent page does, without a browser.
pub fn control_authorize(call: &mut Call<'_>) -> ControlResult {
    let consent: Consent = call.body()?;
    let query = consent.query.split_once('?').map_or(consent.query.as_str(), |(_, query)| query);
    let asked = AuthorizationRequest::read(call, &pairs(query.as_bytes()))?;
    call.state.check_seller(consent.ml_user_id)?;
    let location = if consent.refuse {
        asked.refuse(&consent.error)
    } else {
        asked.accept(call.state, consent.ml_user_id, call.now)
    };
    Ok(json!({ "ok": true, "location": location }))
}

/// `POST /oauth/token`, for both grant types.
pub fn token(call: &mut Call<'_>) -> HandlerResult {
    call.state.grants.forget_old(call.now);
    let (access, refresh, seller) = exchange(call).map_err(|(code, text)| {
        let is_old = call.state.config.old_errors;
        let field = if is_old { "message" } else { "error_description" };
        Reply::json(400, &json!({ field: text, "error": code, "status": 400, "cause": [] }))
    })?;
    let is_online = call.state.config.no_offline_access;
    let mut body = json!({
        "access_token": access, "token_type": "bearer", "expires_in": ACCESS_S,
        "scope": if is_online { ONLINE_SCOPE } else { SCOPE }, "user_id": seller,
    });
    if !is_online {
        body["refresh_token"] = json!(refresh);
    }
    Ok(Reply::json(200, &body).header("cache-control", "no-store"))
}

type Refused = (&'static str, &'static str);

const NOT_VALID: Refused = ("invalid_grant", "grant not valid any more");
const OPERATOR: Refused =
    ("invalid_operator_user_id", "the user is an operator and cannot authorise");

/// Returns a new access token, a new refresh token and their seller.
fn exchange(call: &mut Call<'_>) -> Result<(String, String, i64), Refused> {
    let content_type = call.request.header("content-type").unwrap_or_default();
    if !content_type.starts_with("application/x-www-form-urlencoded") {
        return Err(("invalid_request", "the body must be a form"));
    }
    if !call.request.raw_query.is_empty() {
        call.violation("token_query", "POST /oauth/token has a query");
    }
    let form = call.request.form();
    let need = |name: &str| -> Result<&str, Refused> {
        let mut values = form.iter().filter(|(key, _)| key == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) if !value.is_empty() => Ok(value),
            _ => Err(("invalid_request", "a parameter is missing or doubled")),
        }
    };
    let grant_type = need("grant_type")?;
    let client_id = &call.sandbox.client_id;
    if need("client_id")? != client_id
        || !call.sandbox.client_secret.matches(need("client_secret")?)
    {
        return Err(("invalid_client", "invalid client_id or client_secret"));
    }
    if let Some(scope) = first(&form, "scope")
        && !scope.split_whitespace().all(|word| SCOPES.contains(&word))
    {
        return Err(("invalid_scope", "the scope is not one of the application's"));
    }
    let seller = match grant_type {
        "authorization_code" => {
            let (verifier, redirect_uri) = (need("code_verifier")?, need("redirect_uri")?);
            redeem(call, need("code")?, redirect_uri, verifier)?
        }
        "refresh_token" => refresh(call, need("refresh_token")?)?,
        _ => return Err(("unsupported_grant_type", "unsupported grant type")),
    };
    let (access, refresh) = call.state.grants.issue(client_id, seller, call.now);
    Ok((access, refresh, seller))
}

fn redeem(
    call: &mut Call<'_>,
    code: &str,
    redirect_uri: &str,
    verifier: &str,
) -> Result<i64, Refused> {
    // The code is used up even when something else is wrong.
    let code = call.state.grants.take_code(code).ok_or(NOT_VALID)?;
    let good = call.now < code.until
        && code.redirect_uri == redirect_uri
        && (43..=128).contains(&verifier.len())
        && challenge_of(verifier) == code.challenge
        && call.state.sellers.contains_key(&code.seller);
    match Ending::of(call, code.seller) {
        // Seen at both places: on the page, and when the code is exchanged.
        Some(Ending::Collaborator) if good => Err(OPERATOR),
        None if good => Ok(code.seller),
        _ => Err(NOT_VALID),
    }
}

/// The challenge of a verifier (RFC 7636).
pub fn challenge_of(verifier: &str) -> String {
    BASE64.encode(Sha256::digest(verifier.as_bytes()))
}

fn refresh(call: &mut Call<'_>, presented: &str) -> Result<i64, Refused> {
    let Some(seller) = call.state.grants.refreshed_by(presented, call.now) else {
        if call.state.grants.was_spent(presented) {
            let detail = "a refresh token was presented that was used or replaced";
            call.violation("refresh_reused", detail);
        }
        return Err(NOT_VALID);
    };
    if call.state.config.refresh_ends_access {
        call.state.grants.expire_access(seller);
    }
    Ok(seller)
}

/// 401, in the format that the switch `old_errors` selects.
pub fn unauthorized(state: &SandboxState) -> Reply {
    let body = if state.config.old_errors {
        json!({ "message": "invalid_token", "error": "not_found", "status": 401, "cause": [] })
    } else {
        json!({ "code": "unauthorized", "message": "invalid access token" })
    };
    Reply::json(401, &body)
}

/// `DELETE /users/{id}/applications/{id}`: the seller disconnects.
pub fn end_grant(call: &mut Call<'_>) -> HandlerResult {
    call.must_be_own(call.id())?;
    let application = call.variables.get(1).copied().unwrap_or_default();
    if application != call.sandbox.client_id {
        return Err(Reply::not_found("no grant for that application"));
    }
    call.state.grants.revoke(call.seller);
    let body =
        json!({ "user_id": call.id(), "app_id": application, "msg": "Autorización eliminada" });
    Ok(Reply::json(200, &body))
}

/// `GET /applications/{id}`.
pub fn application(call: &mut Call<'_>) -> HandlerResult {
    if call.id() != call.sandbox.client_id {
        return Err(Reply::not_found("application not found"));
    }
    Reply::ok(json!({
        "id": call.sandbox.application(), "name": "Sandbox", "site_id": "MLB", "active": true,
        "max_requests_per_hour": 18_000, "certification_status": "not_certified",
        "scopes": SCOPES,
    }))
}

/// `GET /applications/{id}/grants`: the sellers who authorised an application.
pub fn grants(call: &mut Call<'_>) -> HandlerResult {
    if call.id() != call.sandbox.client_id {
        return Err(Reply::forbidden("not the token's application"));
    }
    let (limit, offset) = call.paging(GRANTS_MAX)?;
    let limit = limit.min(GRANTS_MAX);
    let all = call.state.grants.granted(call.now);
    let page = all.iter().skip(offset).take(limit).map(|(seller, since)| {
        json!({ "user_id": seller, "app_id": call.sandbox.application(),
            "date_created": call.state.config.date(*seller, *since), "scopes": SCOPES })
    });
    Reply::ok(json!({
        "paging": { "total": all.len(), "limit": limit, "offset": offset },
        "grants": page.collect::<Vec<_>>(),
    }))
}

/// `GET /users/{id}/applications`: the applications that a user authorised. Ids are
/// text here.
pub fn granted_by(call: &mut Call<'_>) -> HandlerResult {
    call.must_be_own(call.id())?;
    let mut own = call.state.grants.granted(call.now);
    own.retain(|(seller, _)| *seller == call.seller);
    let body = own.into_iter().map(|(seller, since)| {
        json!({ "user_id": call.id(), "app_id": call.sandbox.client_id,
            "date_created": call.state.config.date(seller, since), "scopes": SCOPES })
    });
    Ok(Reply::json(200, &body.collect::<Vec<_>>()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndTokens {
    ml_user_id: i64,
    action: TokenAction,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TokenAction {
    /// The seller revokes the application.
    Revoke,
    /// The seller has a new password, which ends every token.
    PasswordChange,
    /// Access tokens end, the refresh token stays.
    ExpireAccess,
    /// The refresh token ends, access tokens stay.
    ExpireRefresh,
}

/// `POST /_sandbox/tokens`.
pub fn control_end_tokens(call: &mut Call<'_>) -> ControlResult {
    let EndTokens { ml_user_id: seller, action } = call.body()?;
    call.state.check_seller(seller)?;
    let grants = &mut call.state.grants;
    match action {
        TokenAction::Revoke | TokenAction::PasswordChange => grants.revoke(seller),
        TokenAction::ExpireAccess => grants.expire_access(seller),
        TokenAction::ExpireRefresh => grants.expire_refresh(seller),
    }
    Ok(json!({ "ok": true }))
}

/// `POST /acoes/revogar`.
pub fn press_revoke(call: &mut Call<'_>) -> ButtonResult {
    call.state.grants.revoke(call.number_field("ml_user_id")?);
    Ok("A autorização foi revogada.".to_owned())
}

/// `POST /acoes/vencer`.
pub fn press_expire(call: &mut Call<'_>) -> ButtonResult {
    call.state.grants.expire_access(call.number_field("ml_user_id")?);
    Ok("O token de acesso venceu; o de renovação continua valendo.".to_owned())
}
