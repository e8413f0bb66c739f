//! Credentials in, identities out: the only place that makes an identity.
//!
//! Holding a `&Seller` is the proof of a token, a plan and a role; there is no
//! check to forget in a handler. Every guard also counts the call in the
//! windows that its row names, because whether a call counts against a token
//! or an address depends on whether the token is good.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use http::{HeaderMap, Method};

use crate::accounts::{Account, Role, store as accounts};
use crate::app::App;
use crate::cache::Cache;
use crate::clock::Instant;
use crate::db::Lane;
use crate::http::limit::{Class, Limit, Subject, Verdict};
use crate::http::{Code, Problem, Reply, Request};
use crate::ids::{TokenHash, UserId};
use crate::partner::{self, Plan, store as partners};
use crate::routes::{Access, Rate, Route};

/// A session ends after so long without a request.
pub const SESSION_IDLE_S: i64 = 12 * 3600;
/// A session ends at this age, whatever happens.
pub const SESSION_AGE_S: i64 = 30 * 86_400;
/// Last-use times are written at most this often.
const TOUCH_EVERY_S: i64 = 60;
/// Bytes for known tokens; about fifty thousand of them.
const CACHE_BYTES: usize = 16 * 1024 * 1024;
const ENTRY_BYTES: usize = 320;

/// What a guard found: an identity or a refusal, and what the limiter said.
pub struct Pass<I> {
    pub outcome: Result<I, Refused>,
    pub verdict: Option<Verdict>,
    /// Kind and id of the caller, for the log.
    pub who: Option<(&'static str, i64)>,
}

/// Why a caller does not get in.
pub enum Refused {
    Problem(Problem),
    /// A browser without a session is sent to the login page.
    Redirect(Reply),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<I> Pass<I> {
    fn refused(problem: Problem) -> Self {
        Self {
            outcome: Err(problem.into()),
            verdict: None,
            who: None,
        }
    }
}

/// A user of the browser extension.
pub struct ExtensionUser {
    pub account: Arc<Account>,
    pub token: TokenHash,
}

/// A seller with a partner token and an active API plan.
pub struct Seller {
    pub account: Arc<Account>,
    pub token: Arc<PartnerToken>,
    pub plan: Plan,
}

/// A partner token as its owner named it.
#[derive(Clone, Debug)]
pub struct PartnerToken {
    pub name: String,
    pub created_at: Instant,
    pub last_used_at: Option<Instant>,
}

/// A person with a browser session.
pub struct Person {
    pub account: Arc<Account>,
}

/// Somebody at a page that needs no session.
pub struct Visitor {
    /// The person, when there is a session all the same.
    pub person: Option<Arc<Account>>,
}

/// The marketplace's signature on a notification, still to be compared with
/// the body it came with.
pub struct Claim {
    pub signature: Option<String>,
    pub request_id: Option<String>,
}

/// A token as the database knows it.
#[derive(Clone)]
pub enum Known {
    Extension {
        account: Arc<Account>,
        expires_at: Instant,
        revoked: bool,
    },
    Session {
        account: Arc<Account>,
        created_at: Instant,
        ended: bool,
    },
    Partner {
        account: Arc<Account>,
        token: Arc<PartnerToken>,
        revoked: bool,
        plan: Option<Plan>,
    },
    Nothing,
}

impl Known {
    fn owner(&self) -> Option<UserId> {
        match self {
            Self::Extension { account, .. }
            | Self::Session { account, .. }
            | Self::Partner { account, .. } => Some(account.user_id),
            Self::Nothing => None,
        }
    }
}

/// Kinds of tokens, each with its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Extension,
    Session,
    Partner,
}

struct Entry {
    known: Known,
    /// Last use, in seconds; written behind when it moved far enough.
    used_at: AtomicI64,
    noted_at: AtomicI64,
}

/// Tokens seen lately, by digest.
pub struct Identities {
    entries: Cache<(Kind, TokenHash), Arc<Entry>>,
}

impl Default for Identities {
    fn default() -> Self {
        Self {
            entries: Cache::new(CACHE_BYTES),
        }
    }
}

/// A row that asks for no credential.
pub fn open(app: &App, route: &Route, request: &Request) -> Pass<()> {
    match route.rate {
        Rate::None => Pass {
            outcome: Ok(()),
            verdict: None,
            who: None,
        },
        Rate::Api => {
            let verdict = count_address(app, request, Class::ApiAddress);
            let outcome = if verdict.allowed {
                Ok(())
            } else {
                Err(rate_limited().into())
            };
            Pass {
                outcome,
                verdict: Some(verdict),
                who: None,
            }
        }
    }
}

/// A row of the extension.
pub fn extension(app: &App, request: &Request) -> Pass<ExtensionUser> {
    let found = bearer(request)
        .ok_or_else(Problem::unauthorized)
        .and_then(|token| {
            let hash = TokenHash::of(token);
            let entry = lookup(app, Kind::Extension, hash)?;
            match &entry.known {
                Known::Extension { account, .. } if account.suspended => Err(Problem::suspended()),
                Known::Extension {
                    account,
                    expires_at,
                    revoked: false,
                } if request.now < *expires_at => {
                    entry.mark_used(app, Kind::Extension, hash, request.now);
                    Ok(ExtensionUser {
                        account: Arc::clone(account),
                        token: hash,
                    })
                }
                _ => Err(Problem::unauthorized()),
            }
        });
    match found {
        Err(problem) => turned_away(app, request, Class::ApiAddress, problem),
        Ok(user) => {
            let who = Some(("extension", user.account.user_id.0));
            let verdict = app.limiter.count(
                Class::ApiToken,
                Subject::token(&user.token),
                api_limit(app),
                request.now,
            );
            let outcome = if verdict.allowed {
                Ok(user)
            } else {
                Err(rate_limited().into())
            };
            Pass {
                outcome,
                verdict: Some(verdict),
                who,
            }
        }
    }
}

/// The marketplace receiver: the header must be there before anything else;
/// whether it is right can only be said with the body.
pub fn notification(app: &App, request: &Request) -> Pass<Claim> {
    let text = |name: &'static str| {
        request
            .header(&HeaderName::from_static(name))
            .map(str::to_owned)
    };
    let claim = Claim {
        signature: text("x-signature"),
        request_id: text("x-request-id"),
    };
    let required = app.config.marketplace.signature == crate::config::SignatureMode::Required;
    if required && claim.signature.is_none() {
        app.refused_signatures.add(1);
        return turned_away(app, request, Class::ApiAddress, bad_signature());
    }
    Pass {
        outcome: Ok(claim),
        verdict: None,
        who: None,
    }
}

/// A wrong signature, counted against the address it came from.
pub fn signature_refused(app: &App, request: &Request) -> Problem {
    app.refused_signatures.add(1);
    if count_address(app, request, Class::ApiAddress).allowed {
        bad_signature()
    } else {
        rate_limited()
    }
}

fn bad_signature() -> Problem {
    Problem::new(Code::InvalidSignature, "the signature is missing or wrong")
}

/// A row of the Partner API for sellers: token, plan, role, limits, quota, in
/// this order.
pub fn seller(app: &App, route: &Route, request: &Request) -> Pass<Seller> {
    match partner_identity(app, request) {
        Err(problem) if problem.code == Code::PlanRequired => Pass::refused(problem),
        Err(problem) => turned_away(app, request, Class::PartnerAddress, problem),
        Ok((seller, hash)) => {
            let who = Some(("partner", seller.account.user_id.0));
            let minute = partner_minute(app, &seller, &hash, request);
            if !minute.allowed {
                return Pass {
                    outcome: Err(rate_limited().into()),
                    verdict: Some(minute),
                    who,
                };
            }
            match app.usage.count(app, &seller, route.operation, request.now) {
                Err(error) => Pass {
                    outcome: Err(Problem::from(error).into()),
                    verdict: Some(minute),
                    who,
                },
                Ok(quota) if !quota.allowed => {
                    let problem =
                        Problem::new(Code::QuotaExceeded, "the plan's monthly quota is used up");
                    Pass {
                        outcome: Err(problem.into()),
                        verdict: Some(quota),
                        who,
                    }
                }
                Ok(quota) => Pass {
                    outcome: Ok(seller),
                    verdict: Some(minute.stricter(quota)),
                    who,
                },
            }
        }
    }
}

fn partner_identity(app: &App, request: &Request) -> Result<(Seller, TokenHash), Problem> {
    let token = bearer(request)
        .filter(|token| partner::is_token(token))
        .ok_or_else(Problem::unauthorized)?;
    let hash = TokenHash::of(token);
    let entry = lookup(app, Kind::Partner, hash)?;
    let Known::Partner {
        account,
        token,
        revoked: false,
        plan,
    } = &entry.known
    else {
        return Err(Problem::unauthorized());
    };
    if account.suspended {
        return Err(Problem::suspended());
    }
    let plan = plan
        .filter(|plan| plan.is_valid(request.now))
        .ok_or_else(|| {
            Problem::new(
                Code::PlanRequired,
                "this account has no active API plan; contract or renew one",
            )
        })?;
    if !account.role.is_student() {
        return Err(Problem::forbidden("this operation is for sellers"));
    }
    entry.mark_used(app, Kind::Partner, hash, request.now);
    Ok((
        Seller {
            account: Arc::clone(account),
            token: Arc::clone(token),
            plan,
        },
        hash,
    ))
}

fn partner_minute(app: &App, seller: &Seller, hash: &TokenHash, request: &Request) -> Verdict {
    let account = Subject::id(seller.account.user_id.0);
    let by_plan = Limit {
        count: seller.plan.per_minute,
        window_s: app.config.limits.window_s,
    };
    if request.method() != Method::POST {
        return app
            .limiter
            .count(Class::PartnerAccount, account, by_plan, request.now);
    }
    let by_token = Limit {
        count: app.config.limits.partner_post,
        window_s: app.config.limits.window_s,
    };
    let token = Subject::token(hash);
    let posts = app
        .limiter
        .peek(Class::PartnerPost, token, by_token, request.now);
    if !posts.allowed {
        return posts;
    }
    let calls = app
        .limiter
        .count(Class::PartnerAccount, account, by_plan, request.now);
    if !calls.allowed {
        return calls;
    }
    calls.stricter(
        app.limiter
            .count(Class::PartnerPost, token, by_token, request.now),
    )
}

/// A page for anybody; a session is used when there is one.
pub fn visitor(app: &App, request: &Request) -> Pass<Visitor> {
    if let Err(problem) = same_origin(app, request) {
        return Pass::refused(problem);
    }
    let person = match session(app, request) {
        Ok(person) => Some(person.account),
        Err(problem) if problem.code == Code::Internal || problem.code == Code::Unavailable => {
            return Pass::refused(problem);
        }
        Err(_) => None,
    };
    let who = person
        .as_ref()
        .map(|account| ("session", account.user_id.0));
    Pass {
        outcome: Ok(Visitor { person }),
        verdict: None,
        who,
    }
}

/// A page or internal route for people of some roles.
pub fn person(app: &App, access: Access, route: &Route, request: &Request) -> Pass<Person> {
    if (*request.method() != Method::GET && *request.method() != Method::HEAD
        || route.changes_state)
        && let Err(problem) = same_origin(app, request)
    {
        return Pass::refused(problem);
    }
    let person = match session(app, request) {
        Ok(person) => person,
        Err(problem) if problem.code == Code::Unauthorized && !request.wants_json() => {
            return Pass {
                outcome: Err(to_login(request)),
                verdict: None,
                who: None,
            };
        }
        Err(problem) => return Pass::refused(problem),
    };
    let who = Some(("session", person.account.user_id.0));
    let outcome = if access.admits(person.account.role) {
        Ok(person)
    } else {
        Err(Problem::forbidden("esta página é de outro perfil").into())
    };
    Pass {
        outcome,
        verdict: None,
        who,
    }
}

fn to_login(request: &Request) -> Refused {
    let back = if *request.method() == Method::GET {
        let target = request
            .head
            .uri
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str);
        let query: String = form_urlencoded::Serializer::new(String::new())
            .append_pair("volta", target)
            .finish();
        format!("/entrar?{query}")
    } else {
        "/entrar".to_owned()
    };
    Reply::redirect(&back).map_or_else(Refused::Problem, Refused::Redirect)
}

fn session(app: &App, request: &Request) -> Result<Person, Problem> {
    let cookie = session_cookie(app, request.headers())?.ok_or_else(Problem::unauthorized)?;
    let hash = TokenHash::of(cookie);
    let entry = lookup(app, Kind::Session, hash)?;
    let idle_end = Instant(entry.used_at.load(Ordering::Relaxed)).plus(SESSION_IDLE_S);
    match &entry.known {
        Known::Session { account, .. } if account.suspended => Err(Problem::suspended()),
        Known::Session {
            account,
            created_at,
            ended: false,
        } if request.now < created_at.plus(SESSION_AGE_S) && request.now < idle_end => {
            entry.mark_used(app, Kind::Session, hash, request.now);
            Ok(Person {
                account: Arc::clone(account),
            })
        }
        _ => Err(Problem::unauthorized()),
    }
}

/// The session cookie's value. Two cookies of that name are a spoofing
/// attempt and refused.
pub fn session_cookie<'h>(app: &App, headers: &'h HeaderMap) -> Result<Option<&'h str>, Problem> {
    let name = session_cookie_name(app);
    let lines = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok());
    let mut found = lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim_matches(' ').split_once('='))
        .filter_map(|(known, value)| (known == name).then_some(value));
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(Problem::new(
            Code::BadRequest,
            "two session cookies were sent",
        )),
        (first, None) => Ok(first),
    }
}

/// Over TLS the browser itself refuses a cookie of this name from a sibling host.
pub fn session_cookie_name(app: &App) -> &'static str {
    if app.addresses.is_https() {
        "__Host-sessao"
    } else {
        "sessao"
    }
}

/// State may change only from our own pages (facts/reliability §4.4, contract §4).
fn same_origin(app: &App, request: &Request) -> Result<(), Problem> {
    let text = |name: &'static str| {
        request
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let ours = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), origin) => {
            matches!(site, "same-origin" | "none")
                && origin.is_none_or(|origin| is_own(app, request, origin))
        }
        (None, Some(origin)) => is_own(app, request, origin),
        (None, None) => true,
    };
    if ours {
        Ok(())
    } else {
        Err(Problem::forbidden(
            "esta ação só pode ser feita a partir das nossas páginas",
        ))
    }
}

/// Whether an origin is our configured one, or the loopback address under
/// which this very request reached us.
fn is_own(app: &App, request: &Request, origin: &str) -> bool {
    let host = request.header(&http::header::HOST).unwrap_or_default();
    app.addresses.origins.iter().any(|own| own == origin)
        || app.addresses.is_loopback_host(host) && origin.strip_prefix("http://") == Some(host)
}

/// The token of `Authorization: Bearer …`.
pub fn bearer(request: &Request) -> Option<&str> {
    let value = request.header(&AUTHORIZATION)?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// A refused credential counts against the address; too many of them are
/// answered as such.
fn turned_away<I>(app: &App, request: &Request, class: Class, problem: Problem) -> Pass<I> {
    let verdict = count_address(app, request, class);
    let problem = if verdict.allowed {
        problem
    } else {
        rate_limited()
    };
    Pass {
        outcome: Err(problem.into()),
        verdict: Some(verdict),
        who: None,
    }
}

fn count_address(app: &App, request: &Request, class: Class) -> Verdict {
    app.limiter.count(
        class,
        Subject::address(request.client),
        api_limit(app),
        request.now,
    )
}

fn api_limit(app: &App) -> Limit {
    Limit {
        count: app.config.limits.requests,
        window_s: app.config.limits.window_s,
    }
}

fn rate_limited() -> Problem {
    Problem::new(
        Code::RateLimited,
        "too many requests; wait until the window ends",
    )
}

/// A token by digest, from memory when it is there and not stale.
fn lookup(app: &App, kind: Kind, hash: TokenHash) -> Result<Arc<Entry>, Problem> {
    let key = (kind, hash);
    let current = |known: &Known| {
        known
            .owner()
            .map_or_else(|| app.versions.tokens(), |owner| app.versions.of(owner))
    };
    let kept = app.identities.entries.get(&key);
    if let Some((version, entry)) = &kept
        && *version == current(&entry.known)
    {
        return Ok(Arc::clone(entry));
    }
    let read = || {
        app.db.read(Lane::InPlace, |tx| match kind {
            Kind::Extension => accounts::extension_token(tx, &hash),
            Kind::Session => accounts::session(tx, &hash),
            Kind::Partner => partners::token(tx, &hash, &app.config, app.zone()),
        })
    };
    // The version must be older than the data. Whose version it is shows only
    // in the data, so a token's first sight reads twice.
    let mut version = app.versions.tokens();
    let (mut known, mut last_used) = read()?;
    if known.owner().is_some() {
        version = current(&known);
        (known, last_used) = read()?;
    }
    // What memory knows of the last use is newer than what is written.
    let remembered = kept.map_or(i64::MIN, |(_, entry)| entry.used_at.load(Ordering::Relaxed));
    let entry = Arc::new(Entry {
        known,
        used_at: AtomicI64::new(last_used.0.max(remembered)),
        noted_at: AtomicI64::new(i64::MIN / 2),
    });
    app.identities
        .entries
        .put(key, version, Arc::clone(&entry), ENTRY_BYTES);
    Ok(entry)
}

impl Entry {
    /// Notes a good use, for idle times and the last-use columns.
    fn mark_used(&self, app: &App, kind: Kind, hash: TokenHash, now: Instant) {
        self.used_at.store(now.0, Ordering::Relaxed);
        if now
            .0
            .saturating_sub(self.noted_at.load(Ordering::Relaxed))
            .saturating_abs()
            >= TOUCH_EVERY_S
            && let Some(owner) = self.known.owner()
        {
            self.noted_at.store(now.0, Ordering::Relaxed);
            app.touches.note(kind, hash, owner, now);
        }
    }
}

impl Access {
    /// Whether people of a role may use the row.
    pub const fn admits(self, role: Role) -> bool {
        match self {
            Self::Student => role.is_student(),
            Self::Supplier => matches!(role, Role::Drop),
            Self::Admin => matches!(role, Role::Admin),
        }
    }
}
