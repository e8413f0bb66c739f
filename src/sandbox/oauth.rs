//! Authorization: codes with PKCE, rotating refresh tokens, bearer checks.
//!
//! A code works once and for ten minutes, only the latest refresh token of a
//! seller works and works once, an access token lives six hours.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::http::{Reply, Request, first};
use super::routes::Call;
use super::state::{LOG_MAX, Sandbox, World};
use crate::base::clock::{DAY_S, Instant};
use crate::base::secrets::random_hex;

const CODE_S: i64 = 600;
const ACCESS_S: i64 = 6 * 3600;
const REFRESH_S: i64 = 180 * DAY_S;
const SCOPE: &str = "offline_access read write";

/// Codes and tokens given out.
#[derive(Default)]
pub struct Grants {
    codes: HashMap<String, Code>,
    access: HashMap<String, Access>,
    by_seller: BTreeMap<i64, Grant>,
    /// Refresh tokens that were used or replaced, to tell reuse from invention
    /// and from what the seller took back.
    spent: VecDeque<String>,
}

struct Code {
    seller: i64,
    redirect_uri: String,
    challenge: String,
    until: Instant,
}

struct Access {
    seller: i64,
    until: Instant,
}

struct Grant {
    refresh: String,
    until: Instant,
    /// When the seller first agreed.
    since: Instant,
}

impl Grants {
    /// Whether a seller's grant can still be refreshed.
    pub fn connected(&self, seller: i64, now: Instant) -> bool {
        self.by_seller.get(&seller).is_some_and(|grant| now < grant.until)
    }

    /// Who granted something that is still good, and since when.
    pub fn granted(&self, now: Instant) -> Vec<(i64, Instant)> {
        let good = self.by_seller.iter().filter(|(_, grant)| now < grant.until);
        good.map(|(seller, grant)| (*seller, grant.since)).collect()
    }

    /// Ends everything that a seller granted.
    pub fn revoke(&mut self, seller: i64) {
        self.expire_access(seller);
        self.codes.retain(|_, code| code.seller != seller);
        self.by_seller.remove(&seller);
    }

    /// Ends a seller's access tokens; the refresh token stays good.
    pub fn expire_access(&mut self, seller: i64) {
        self.access.retain(|_, access| access.seller != seller);
    }

    /// Ends a seller's refresh token; access tokens live out their time.
    pub fn expire_refresh(&mut self, seller: i64) {
        self.by_seller.remove(&seller);
    }

    /// The answer that spent the latest refresh token is lost on its way:
    /// whoever presents that token again cannot know better.
    pub fn forgive(&mut self) {
        self.spent.pop_back();
    }

    fn spend(&mut self, refresh: String) {
        if self.spent.len() == LOG_MAX {
            self.spent.pop_front();
        }
        self.spent.push_back(refresh);
    }

    fn forget_old(&mut self, now: Instant) {
        self.codes.retain(|_, code| now < code.until);
        self.access.retain(|_, access| now < access.until);
    }
}

/// A checked authorization request.
pub struct Asked {
    redirect_uri: String,
    state: Option<String>,
    challenge: String,
}

impl Asked {
    /// Checks the query of `GET /authorization`. The error is a sentence for
    /// the person in front of the page: nothing is sent to an address that
    /// was not checked.
    pub fn read(
        sandbox: &Sandbox,
        world: &World,
        query: &[(String, String)],
    ) -> Result<Self, String> {
        let need = |name: &str| {
            first(query, name)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("Falta o parâmetro {name}."))
        };
        if need("response_type")? != "code" {
            return Err("O parâmetro response_type deve ser “code”.".to_owned());
        }
        if need("client_id")? != sandbox.client_id {
            return Err("Nenhum aplicativo tem esse client_id.".to_owned());
        }
        let redirect_uri = need("redirect_uri")?;
        if !registered(&world.config.redirect_uris, redirect_uri) {
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

    /// The seller agrees: where the browser goes next, with a code.
    pub fn accept(self, world: &mut World, seller: i64, now: Instant) -> String {
        world.grants.forget_old(now);
        let code = format!("TG-{}-{seller}", random_hex::<12>());
        let location = self.location(("code", &code));
        world.grants.codes.insert(
            code,
            Code {
                seller,
                redirect_uri: self.redirect_uri,
                challenge: self.challenge,
                until: now.plus(CODE_S),
            },
        );
        location
    }

    /// The seller refuses: where the browser goes next, with an error.
    pub fn refuse(&self) -> String {
        self.location(("error", "access_denied"))
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

/// Exact match with a registered address, or any loopback address when none is.
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

/// `POST /oauth/token`, both grants.
pub fn token(sandbox: &Sandbox, world: &mut World, request: &Request, now: Instant) -> Reply {
    world.grants.forget_old(now);
    match exchange(sandbox, world, request, now) {
        Ok(reply) => reply,
        Err((code, text)) => {
            let field = if world.config.old_errors { "message" } else { "error_description" };
            let body = json!({ field: text, "error": code, "status": 400, "cause": [] });
            Reply::json(400, &body)
        }
    }
}

type Refused = (&'static str, &'static str);

const NOT_VALID: Refused = ("invalid_grant", "grant not valid any more");

fn exchange(
    sandbox: &Sandbox,
    world: &mut World,
    request: &Request,
    now: Instant,
) -> Result<Reply, Refused> {
    let is_form = request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if !is_form {
        return Err(("invalid_request", "the body must be a form"));
    }
    if !request.raw_query.is_empty() {
        world.violation(now, "token_query", "POST /oauth/token has a query".into());
    }
    let form = request.form();
    let need = |name: &str| -> Result<&str, Refused> {
        let mut values = form.iter().filter(|(key, _)| key == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) if !value.is_empty() => Ok(value),
            _ => Err(("invalid_request", "a parameter is missing or doubled")),
        }
    };
    let grant_type = need("grant_type")?;
    if need("client_id")? != sandbox.client_id
        || !sandbox.client_secret.matches(need("client_secret")?)
    {
        return Err(("invalid_client", "invalid client_id or client_secret"));
    }
    if let Some(scope) = first(&form, "scope")
        && !scope.split_whitespace().all(|word| SCOPE.split(' ').any(|known| known == word))
    {
        return Err(("invalid_scope", "the scope is not one of the application's"));
    }
    match grant_type {
        "authorization_code" => {
            let (verifier, redirect_uri) = (need("code_verifier")?, need("redirect_uri")?);
            let seller = redeem(world, need("code")?, redirect_uri, verifier, now)?;
            Ok(issue(sandbox, world, seller, now))
        }
        "refresh_token" => refresh(sandbox, world, need("refresh_token")?, now),
        _ => Err(("unsupported_grant_type", "unsupported grant type")),
    }
}

fn redeem(
    world: &mut World,
    code: &str,
    redirect_uri: &str,
    verifier: &str,
    now: Instant,
) -> Result<i64, Refused> {
    // Whatever is wrong with the rest, the code is used up.
    let code = world.grants.codes.remove(code).ok_or(NOT_VALID)?;
    let good = now < code.until
        && code.redirect_uri == redirect_uri
        && (43..=128).contains(&verifier.len())
        && base64url(&Sha256::digest(verifier.as_bytes())) == code.challenge
        && world.sellers.contains_key(&code.seller);
    good.then_some(code.seller).ok_or(NOT_VALID)
}

fn refresh(
    sandbox: &Sandbox,
    world: &mut World,
    presented: &str,
    now: Instant,
) -> Result<Reply, Refused> {
    let owner = world
        .grants
        .by_seller
        .iter()
        .find(|(_, grant)| grant.refresh == presented && now < grant.until)
        .map(|(seller, _)| *seller);
    let Some(seller) = owner else {
        if world.grants.spent.iter().any(|spent| spent == presented) {
            let detail = "a refresh token was presented that was used or replaced";
            world.violation(now, "refresh_reused", detail.to_owned());
        }
        return Err(NOT_VALID);
    };
    if world.config.refresh_ends_access {
        world.grants.expire_access(seller);
    }
    Ok(issue(sandbox, world, seller, now))
}

/// A fresh pair; the seller's refresh token before it is spent.
fn issue(sandbox: &Sandbox, world: &mut World, seller: i64, now: Instant) -> Reply {
    let access = format!("APP_USR-{}-{}-{seller}", sandbox.client_id, random_hex::<16>());
    let refresh = format!("TG-{}-{seller}", random_hex::<16>());
    let before = world.grants.by_seller.get(&seller);
    let grant = Grant {
        refresh: refresh.clone(),
        until: now.plus(REFRESH_S),
        since: before.map_or(now, |before| before.since),
    };
    if let Some(before) = world.grants.by_seller.insert(seller, grant) {
        world.grants.spend(before.refresh);
    }
    let entry = Access { seller, until: now.plus(ACCESS_S) };
    world.grants.access.insert(access.clone(), entry);
    let body = json!({
        "access_token": access, "token_type": "bearer", "expires_in": ACCESS_S,
        "scope": SCOPE, "user_id": seller, "refresh_token": refresh,
    });
    Reply::json(200, &body).header("cache-control", "no-store")
}

/// Whose bearer token a request carries, while it is good.
pub fn bearer(world: &World, request: &Request, now: Instant) -> Option<i64> {
    let (scheme, token) = request.header("authorization")?.split_once(' ')?;
    let access = world.grants.access.get(token.trim())?;
    (scheme.eq_ignore_ascii_case("bearer") && now < access.until).then_some(access.seller)
}

/// 401, in the shape that the switch asks for.
pub fn unauthorized(world: &World) -> Reply {
    if world.config.old_errors {
        let body = json!({
            "message": "invalid_token", "error": "not_found", "status": 401, "cause": [],
        });
        return Reply::json(401, &body);
    }
    let body = json!({ "code": "unauthorized", "message": "invalid access token" });
    Reply::json(401, &body)
}

/// `DELETE /users/{user}/applications/{application}`: the seller disconnects.
pub fn end_grant(
    sandbox: &Sandbox,
    world: &mut World,
    call: Call,
    user: &str,
    application: &str,
) -> Reply {
    if user != call.seller.to_string() {
        return Reply::error(403, "forbidden", "the token belongs to another user");
    }
    if application != sandbox.client_id {
        return Reply::error(404, "not_found", "no grant for that application");
    }
    world.grants.revoke(call.seller);
    let body = json!({ "user_id": user, "app_id": application, "msg": "Autorización eliminada" });
    Reply::json(200, &body)
}

/// Base64 with the alphabet for addresses, without padding (RFC 4648 §5).
fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0_usize, |word, index| {
            word << 8 | usize::from(group.get(index).copied().unwrap_or(0))
        });
        // One byte fills two characters, two fill three, three fill four.
        for index in 0..=group.len() {
            text.push(char::from(ALPHABET[word >> (18 - 6 * index) & 63]));
        }
    }
    text
}

#[cfg(test)]
pub(super) fn challenge_of(verifier: &str) -> String {
    base64url(&Sha256::digest(verifier.as_bytes()))
}
