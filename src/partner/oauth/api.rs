//! The endpoints that programs call: registration, tokens, revocation.

use std::net::IpAddr;

use http::HeaderName;
use http::header::{AUTHORIZATION, CACHE_CONTROL, PRAGMA};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::documents::{AUTHORIZE, REGISTER, RESOURCE_DOCUMENT, REVOKE, Resource, TOKEN, issuer};
use super::parameters::Parameters;
use super::redirect::Targets;
use super::refusal::{Fault, Refusal};
use super::{READ, WRITE, clients, documents, family_of, store, tokens};
use crate::app::App;
use crate::audit::{Actor, ActorKind};
use crate::base::{Instant, TokenHash, UserId};
use crate::db::WriteTx;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::input::is_form;
use crate::http::limit::{Class, Limit, Subject};
use crate::http::{Code, Problem, Reply, Request};
use crate::partner;

/// New clients of an address, or of a person with a session. There is no limit
/// for all together, which strangers could use up; the table has one instead.
const CLIENTS: Limit = Limit { count: 20, window_s: 3_600 };

/// The guide for developers.
const GUIDE: &str = "/desenvolvedores";

/// Programs read the documents once per connection. After a change of an
/// address they may use the old one for this long.
const AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

const NO_CACHE: (HeaderName, HeaderValue) = (PRAGMA, HeaderValue::from_static("no-cache"));

/// Whose limits a request counts against.
#[derive(Clone, Copy)]
pub(super) enum Caller {
    /// Somebody with a session.
    Person(UserId),
    /// Somebody at an address with a recent successful login, by that address
    /// alone: strangers in the networks around it do not count.
    KnownAddresses(IpAddr),
    /// Anybody else, by the networks of the address.
    Address(IpAddr),
}

impl Caller {
    /// Somebody without a session.
    pub(super) fn without_session(app: &App, request: &Request) -> Self {
        if app.callers.known_addresses.holds(request.client, request.now) {
            Self::KnownAddresses(request.client)
        } else {
            Self::Address(request.client)
        }
    }
}

/// Counts a request against the limit of its caller.
pub(super) fn count(
    app: &App,
    caller: Caller,
    class: Class,
    limit: Limit,
    now: Instant,
) -> Result<(), Problem> {
    let limiter = &app.callers.limiter;
    let verdict = match caller {
        Caller::Person(person) => limiter.count(class, Subject::id(person.0), limit, now),
        Caller::KnownAddresses(at) => limiter.count(class, Subject::address(at), limit, now),
        Caller::Address(address) => limiter.count_address(class, address, limit, now),
    };
    if verdict.allowed {
        return Ok(());
    }
    Err(Problem {
        retry_after_s: Some(verdict.retry_after_s(now)),
        ..Problem::new(Code::RateLimited, "too many requests; wait until the window ends")
    })
}

/// Counts a new client, registered or described by a document.
pub(super) fn count_client(app: &App, caller: Caller, now: Instant) -> Result<(), Problem> {
    count(app, caller, Class::OAuthClients, CLIENTS, now)
}

/// `POST /oauth/register`: registers a program with what it says about itself.
pub fn register(app: &App, (): &(), request: &Request) -> Result<Job, Problem> {
    let said = match request.json::<Map<String, Value>>() {
        Ok(said) => said,
        Err(problem) => {
            let about = problem.message;
            return refused(&Refusal::new(Fault::InvalidClientMetadata, about));
        }
    };
    let known = app.callers.known_addresses.holds(request.client, request.now);
    let made = clients::registration(
        &said,
        &Targets::of(&app.config.agents, &app.server.addresses),
        request.now.0,
        known,
    );
    let (client, answer) = match made {
        Ok(made) => made,
        Err(refusal) => return refused(&refusal),
    };
    count_client(app, Caller::without_session(app, request), request.now)?;
    let reply = Reply::json(&answer)?.status(StatusCode::CREATED);
    Ok(Box::new(move |tx| {
        store::keep_client(tx, &client)?;
        Ok(reply)
    }))
}

/// `POST /oauth/token`: tokens for a code or for a refresh token.
pub fn token(app: &App, (): &(), request: &Request) -> Result<Job, Problem> {
    if has_secret(request) {
        return Refusal::of_a_secret().map(nothing_to_do);
    }
    let wanted = form_of(request).and_then(|given| {
        let is_resource = |asked: &[u8]| documents::is_resource(app, asked);
        tokens::read(&given, &is_resource, issuer(app))
    });
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(refusal) => return refused(&refusal),
    };
    let actor = Actor::requesting(ActorKind::System, "OAuth".to_owned(), request);
    Ok(Box::new(move |tx| {
        let reply = match tokens::issue(tx, &wanted, &actor)? {
            Ok(issued) => Reply::json(&issued)?,
            Err(refusal) => refusal.reply()?,
        };
        Ok(reply.with(NO_CACHE.0, NO_CACHE.1))
    }))
}

/// `POST /oauth/revoke`: revokes a token (RFC 7009). Having the token is
/// enough. Revoking a refresh token ends its connection.
pub fn revoke(app: &App, (): &(), request: &Request) -> Result<Job, Problem> {
    if has_secret(request) {
        return Refusal::of_a_secret().map(nothing_to_do);
    }
    let read = form_of(request).and_then(|given| {
        given.unrepeated()?;
        let token = given.required("token")?.to_owned();
        Ok((token, given.text("client_id")?.map(str::to_owned)))
    });
    let (token, client_id) = match read {
        Ok(read) => read,
        Err(refusal) => return refused(&refusal),
    };
    let versions = std::sync::Arc::clone(&app.versions);
    let done = Reply::empty(StatusCode::OK);
    Ok(Box::new(move |tx| {
        let (hash, found) = of_token(tx, &token)?;
        let Some(grant) = found else { return Ok(done) };
        if client_id.is_some_and(|sent| sent != grant.client_id) {
            let about = "the token is another client's";
            return Refusal::new(Fault::InvalidGrant, about).reply();
        }
        if family_of(&token).is_some() {
            store::end_grant(tx, grant.id)?;
        } else {
            store::end_access(tx, &hash)?;
        }
        tx.after_commit(move || versions.raise(grant.user));
        Ok(done)
    }))
}

/// The grant of a token, access token or refresh token.
fn of_token(tx: &WriteTx<'_>, token: &str) -> Result<(TokenHash, Option<store::Grant>), Problem> {
    let hash = TokenHash::of(token);
    let found = match family_of(token) {
        Some(family) => store::by_family(tx, &TokenHash::of(family))?,
        None if partner::is_token(token) => store::by_access(tx, &hash)?,
        None => None,
    };
    Ok((hash, found))
}

/// Whether a program proves itself by `client_secret_basic` or `client_secret_post`,
/// which nobody has given it.
fn has_secret(request: &Request) -> bool {
    let given = Parameters::of(&request.body);
    let shown = request.header(&AUTHORIZATION).unwrap_or_default();
    let is_basic = shown.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("basic "));
    is_basic || given.all("client_secret").next().is_some()
}

/// The parameters of a request. They must be in the body: addresses end up in
/// logs and histories.
fn form_of(request: &Request) -> Result<Parameters, Refusal> {
    if !request.query_text().is_empty() {
        return Err(Refusal::request("parameters belong in the body, not in the address"));
    }
    if !is_form(request.headers()) {
        return Err(Refusal::request("send the body as application/x-www-form-urlencoded"));
    }
    Ok(Parameters::of(&request.body))
}

fn refused(refusal: &Refusal) -> Result<Job, Problem> {
    refusal.reply().map(nothing_to_do)
}

/// `GET /.well-known/oauth-protected-resource` and below: a resource and its
/// authorization server. Without a resource's path it is that of assistants, whose
/// programs look there last.
pub fn protected_resource(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let of = request.path().strip_prefix(RESOURCE_DOCUMENT).unwrap_or_default();
    let resource = Resource::at(of);
    let guide = format!("{}{}", app.server.addresses.base_url, GUIDE);
    let document = json!({
        "resource": format!("{}{}", resource.origin(app), resource.path()),
        "authorization_servers": [issuer(app)],
        "scopes_supported": [READ, WRITE],
        "bearer_methods_supported": ["header"],
        "resource_name": app.config.server.name,
        "resource_documentation": guide,
    });
    Ok(Reply::json(&document)?.with(CACHE_CONTROL, AN_HOUR))
}

/// `GET /.well-known/oauth-authorization-server`: the endpoints and what they
/// support.
pub fn authorization_server(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let issuer = issuer(app);
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{}{AUTHORIZE}", app.server.addresses.base_url),
        "token_endpoint": format!("{issuer}{TOKEN}"),
        "registration_endpoint": format!("{issuer}{REGISTER}"),
        "revocation_endpoint": format!("{issuer}{REVOKE}"),
        "scopes_supported": [READ, WRITE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "service_documentation": format!("{}{}", app.server.addresses.base_url, GUIDE),
    });
    Ok(Reply::json(&document)?.with(CACHE_CONTROL, AN_HOUR))
}
