//! Credentials in, identities out: the only place that makes an identity.
//!
//! Holding a `&Seller` is the proof of a token, a plan and a role; there is no
//! check to forget in a handler. Every guard also counts the call in the
//! windows that its row names, because whether a call counts against a token
//! or an address depends on whether the token is good.

mod browser;
mod checkout;
mod cron;
mod keys;
mod known;
mod telegram;

use std::sync::Arc;

use http::Method;
use http::header::{AUTHORIZATION, HeaderName};

pub use browser::{
    SESSION_AGE_S, SESSION_IDLE_S, person, session_cookie, session_cookie_name, session_given,
    visitor,
};
pub use checkout::{CheckoutSender, checkout, prove_in_body};
pub use cron::{CronCaller, cron};
pub use keys::{KeyHolder, key};
pub use known::{Identities, Kind, Known};
pub use telegram::{TelegramSender, telegram};

use crate::accounts::Account;
use crate::accounts::viewing::View;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::TokenHash;
use crate::edge::route::{Rate, Route};
use crate::http::limit::{Class, Limit, Subject, Verdict};
use crate::http::{Code, Problem, Reply, Request};
use crate::partner::{self, Plan};
use known::lookup;

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
    /// A browser without a session is sent to the login page; one that may
    /// only look is told so.
    Redirect(Reply),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<I> Pass<I> {
    fn refused(problem: Problem) -> Self {
        Self { outcome: Err(problem.into()), verdict: None, who: None }
    }
}

/// A user of the browser extension.
pub struct ExtensionUser {
    pub account: Arc<Account>,
    /// The person's version that the account was read at.
    pub version: u64,
    pub token: TokenHash,
}

/// A seller with a partner token and an active API plan.
pub struct Seller {
    pub account: Arc<Account>,
    pub token: Arc<PartnerToken>,
    /// When the token was used before this call.
    pub last_used_at: Option<Instant>,
    pub plan: Plan,
}

/// A partner token as its owner named it.
#[derive(Clone, Debug)]
pub struct PartnerToken {
    pub name: String,
    pub created_at: Instant,
}

/// A person with a browser session.
pub struct Person {
    pub account: Arc<Account>,
    /// The session that this request came with.
    pub session: TokenHash,
    /// Set while an administrator looks as a student. On a student's rows the
    /// account is the student's then, and nothing can be changed.
    pub view: Option<View>,
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

/// A row that asks for no credential.
pub fn open(app: &App, route: &Route, request: &Request) -> Pass<()> {
    let verdict = match route.rate {
        Rate::None => None,
        Rate::Api => Some(count_address(app, request, Class::ApiAddress)),
        Rate::Leaving => match living_extension_token(app, request) {
            Err(problem) => return Pass::refused(problem),
            // Whoever wants to leave may, also with the window used up.
            Ok(Some(token)) => {
                let subject = Subject::token(&token);
                let verdict =
                    app.limiter.count(Class::ApiToken, subject, api_limit(app), request.now);
                Some(Verdict { allowed: true, ..verdict })
            }
            Ok(None) => Some(count_address(app, request, Class::ApiAddress)),
        },
    };
    let outcome = if verdict.is_none_or(|verdict| verdict.allowed) {
        Ok(())
    } else {
        Err(rate_limited().into())
    };
    Pass { outcome, verdict, who: None }
}

/// The presented extension token, when it still opens something.
fn living_extension_token(app: &App, request: &Request) -> Result<Option<TokenHash>, Problem> {
    let Some(hash) = bearer(request).map(TokenHash::of) else {
        return Ok(None);
    };
    let entry = lookup(app, Kind::Extension, hash)?;
    Ok(match entry.known {
        Known::Extension { expires_at, revoked: false, .. } if request.now < expires_at => {
            Some(hash)
        }
        _ => None,
    })
}

/// A row of the extension.
pub fn extension(app: &App, request: &Request) -> Pass<ExtensionUser> {
    let found = bearer(request).ok_or_else(Problem::unauthorized).and_then(|token| {
        let hash = TokenHash::of(token);
        let entry = lookup(app, Kind::Extension, hash)?;
        match &entry.known {
            Known::Extension { account, .. } if account.suspended => Err(Problem::suspended()),
            Known::Extension { account, expires_at, revoked: false }
                if request.now < *expires_at =>
            {
                entry.mark_used(app, Kind::Extension, hash, request.now);
                let (account, version) = (Arc::clone(account), entry.version);
                Ok(ExtensionUser { account, version, token: hash })
            }
            _ => Err(Problem::unauthorized()),
        }
    });
    match found {
        Err(problem) if is_ours(&problem) => Pass::refused(problem),
        Err(problem) => turned_away(app, request, Class::ApiAddress, problem),
        Ok(user) => {
            let who = Some(("extension", user.account.user_id.0));
            let verdict = app.limiter.count(
                Class::ApiToken,
                Subject::token(&user.token),
                api_limit(app),
                request.now,
            );
            let outcome = if verdict.allowed { Ok(user) } else { Err(rate_limited().into()) };
            Pass { outcome, verdict: Some(verdict), who }
        }
    }
}

/// The marketplace receiver: the header must be there before anything else;
/// whether it is right can only be said with the body.
pub fn notification(app: &App, request: &Request) -> Pass<Claim> {
    let text =
        |name: &'static str| request.header(&HeaderName::from_static(name)).map(str::to_owned);
    let claim = Claim { signature: text("x-signature"), request_id: text("x-request-id") };
    let required = app.config.marketplace.signature == crate::config::SignatureMode::Required;
    if required && claim.signature.is_none() {
        app.refused_signatures.add(1);
        return turned_away(app, request, Class::ApiAddress, bad_signature());
    }
    Pass { outcome: Ok(claim), verdict: None, who: None }
}

/// A wrong signature, counted against the address it came from.
pub fn signature_refused(app: &App, request: &Request) -> Problem {
    app.refused_signatures.add(1);
    refused_late(app, request, bad_signature())
}

fn bad_signature() -> Problem {
    Problem::new(Code::InvalidSignature, "the signature is missing or wrong")
}

/// A row of the Partner API for sellers: token, plan, role, limits, quota, in
/// this order.
pub fn seller(app: &App, route: &Route, request: &Request) -> Pass<Seller> {
    match partner_identity(app, request) {
        // What failed on our side says nothing of the caller.
        Err(problem) if problem.code == Code::PlanRequired || is_ours(&problem) => {
            Pass::refused(problem)
        }
        Err(problem) => turned_away(app, request, Class::PartnerAddress, problem),
        Ok((seller, hash)) => {
            let who = Some(("partner", seller.account.user_id.0));
            let minute = partner_minute(app, &seller, &hash, request);
            if !minute.allowed {
                return Pass { outcome: Err(rate_limited().into()), verdict: Some(minute), who };
            }
            match app.usage.count(app, &seller, route.operation, request.now) {
                Err(error) => {
                    Pass { outcome: Err(Problem::from(error).into()), verdict: Some(minute), who }
                }
                Ok(quota) if !quota.allowed => {
                    let problem =
                        Problem::new(Code::QuotaExceeded, "the plan's monthly quota is used up");
                    Pass { outcome: Err(problem.into()), verdict: Some(quota), who }
                }
                Ok(quota) => {
                    Pass { outcome: Ok(seller), verdict: Some(minute.stricter(quota)), who }
                }
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
    let Known::Partner { account, token, revoked: false, plan } = &entry.known else {
        return Err(Problem::unauthorized());
    };
    if account.suspended {
        return Err(Problem::suspended());
    }
    let plan = plan.filter(|plan| plan.is_valid(request.now)).ok_or_else(|| {
        Problem::new(
            Code::PlanRequired,
            "this account has no active API plan; contract or renew one",
        )
    })?;
    if !account.role.is_student() {
        return Err(Problem::forbidden("this operation is for sellers"));
    }
    let last_used_at = entry.last_used_at();
    entry.mark_used(app, Kind::Partner, hash, request.now);
    Ok((
        Seller { account: Arc::clone(account), token: Arc::clone(token), last_used_at, plan },
        hash,
    ))
}

fn partner_minute(app: &App, seller: &Seller, hash: &TokenHash, request: &Request) -> Verdict {
    let account = Subject::id(seller.account.user_id.0);
    let by_plan = Limit { count: seller.plan.per_minute, window_s: app.config.limits.window_s };
    if request.method() != Method::POST {
        return app.limiter.count(Class::PartnerAccount, account, by_plan, request.now);
    }
    let by_token =
        Limit { count: app.config.limits.partner_post, window_s: app.config.limits.window_s };
    let token = Subject::token(hash);
    let posts = app.limiter.peek(Class::PartnerPost, token, by_token, request.now);
    if !posts.allowed {
        return posts;
    }
    let calls = app.limiter.count(Class::PartnerAccount, account, by_plan, request.now);
    if !calls.allowed {
        return calls;
    }
    calls.stricter(app.limiter.count(Class::PartnerPost, token, by_token, request.now))
}

/// The token of `Authorization: Bearer …`.
pub fn bearer(request: &Request) -> Option<&str> {
    let value = request.header(&AUTHORIZATION)?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Whether a problem is a failure of ours.
fn is_ours(problem: &Problem) -> bool {
    matches!(problem.code, Code::Internal | Code::Unavailable)
}

/// A refused credential counts against the address; too many of them are
/// answered as such.
fn turned_away<I>(app: &App, request: &Request, class: Class, problem: Problem) -> Pass<I> {
    let verdict = count_address(app, request, class);
    let problem = if verdict.allowed { problem } else { rate_limited() };
    Pass { outcome: Err(problem.into()), verdict: Some(verdict), who: None }
}

/// The same for a credential that only the body could prove, when the guard
/// is long past and no longer says what the limiter found.
fn refused_late(app: &App, request: &Request, problem: Problem) -> Problem {
    let verdict = count_address(app, request, Class::ApiAddress);
    if verdict.allowed {
        return problem;
    }
    Problem { retry_after_s: Some(verdict.retry_after_s(request.now)), ..rate_limited() }
}

fn count_address(app: &App, request: &Request, class: Class) -> Verdict {
    app.limiter.count(class, Subject::address(request.client), api_limit(app), request.now)
}

fn api_limit(app: &App) -> Limit {
    Limit { count: app.config.limits.requests, window_s: app.config.limits.window_s }
}

fn rate_limited() -> Problem {
    Problem::new(Code::RateLimited, "too many requests; wait until the window ends")
}
