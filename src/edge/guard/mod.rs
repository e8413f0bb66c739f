//! Credentials in, identities out: the only place that makes an identity.
//!
//! Holding a `&Seller` is the proof of a token, a plan and a role; there is no
//! check to forget in a handler. Every guard also says what the call costs
//! (`charge.rs`), because whether it counts against a token or an address
//! depends on whether the token is good. A refused credential counts at once.

mod browser;
mod charge;
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
pub use charge::{Charge, Charged};
pub use checkout::{CheckoutSender, checkout, prove_in_body};
pub use cron::{CronCaller, cron};
pub use keys::{KeyHolder, key};
pub use known::{Identities, Known, TokenKind};
pub use telegram::{TelegramSender, telegram};

use crate::accounts::Account;
use crate::accounts::viewing::View;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::TokenHash;
use crate::edge::route::Route;
use crate::http::limit::{Class, Limit, Subject, Verdict};
use crate::http::{Code, Problem, Reply, Request};
use crate::partner::operation::Declared;
use crate::partner::{self, Plan};
use charge::{Quota, Window};
use known::lookup;

/// What a guard found: an identity or a refusal.
pub struct Pass<I> {
    pub outcome: Result<I, Refused>,
    /// What the call of an identity costs.
    pub charge: Charge,
    /// What the limiter said of a refused credential.
    pub verdict: Option<Verdict>,
    /// Kind and id of the caller, for the log.
    pub who: Option<(&'static str, i64)>,
}

/// Why a caller does not get in.
pub enum Refused {
    Problem(Problem),
    /// To the login page for a browser without a session; a page that says so
    /// for one that may only look.
    Redirect(Reply),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl<I> Pass<I> {
    /// An identity that the log does not name, and whose call costs nothing.
    fn of(identity: I) -> Self {
        Self { outcome: Ok(identity), charge: Charge::default(), verdict: None, who: None }
    }

    fn refused(why: impl Into<Refused>) -> Self {
        let outcome = Err(why.into());
        Self { outcome, charge: Charge::default(), verdict: None, who: None }
    }
}

impl From<Reply> for Refused {
    fn from(reply: Reply) -> Self {
        Self::Redirect(reply)
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
    /// When this call came.
    pub called_at: Instant,
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
    if !route.counts_address() {
        return Pass::of(());
    }
    let leaving = if route.leaves { living_extension_token(app, request) } else { Ok(None) };
    let charge = match leaving {
        Err(problem) => return Pass::refused(problem),
        // Somebody who wants to leave may, also with the window used up.
        Ok(Some(token)) => Charge { is_never_refused: true, ..of_token(app, &token).into() },
        Ok(None) => {
            let subject = Subject::address(request.client);
            Window { class: Class::ApiAddress, subject, limit: api_limit(app) }.into()
        }
    };
    Pass { charge, ..Pass::of(()) }
}

/// The presented extension token, when it still opens something.
fn living_extension_token(app: &App, request: &Request) -> Result<Option<TokenHash>, Problem> {
    let Some(hash) = bearer(request).map(TokenHash::of) else {
        return Ok(None);
    };
    let entry = lookup(app, TokenKind::Extension, hash)?;
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
        let entry = lookup(app, TokenKind::Extension, hash)?;
        match &entry.known {
            Known::Extension { account, .. } if account.suspended => Err(Problem::suspended()),
            Known::Extension { account, expires_at, revoked: false }
                if request.now < *expires_at =>
            {
                entry.mark_used(app, TokenKind::Extension, hash, request.now);
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
            Pass { charge: of_token(app, &user.token).into(), who, ..Pass::of(user) }
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
    Pass::of(claim)
}

/// A wrong signature, counted against the address it came from.
pub fn signature_refused(app: &App, request: &Request) -> Problem {
    app.refused_signatures.add(1);
    refused_late(app, request, bad_signature())
}

fn bad_signature() -> Problem {
    Problem::new(Code::InvalidSignature, "the signature is missing or wrong")
}

/// An operation of the Partner API for sellers: token, plan and role, in this
/// order; then it costs a place in the windows and one of the quota.
pub fn seller(app: &App, operation: &Declared<Seller>, request: &Request) -> Pass<Seller> {
    match partner_identity(app, request) {
        // What failed on our side says nothing of the caller.
        Err(problem) if problem.code == Code::PlanRequired || is_ours(&problem) => {
            Pass::refused(problem)
        }
        Err(problem) => turned_away(app, request, Class::PartnerAddress, problem),
        Ok((seller, hash)) => Pass {
            charge: partner_charge(app, &seller, &hash, operation),
            who: Some(("partner", seller.account.user_id.0)),
            ..Pass::of(seller)
        },
    }
}

fn partner_identity(app: &App, request: &Request) -> Result<(Seller, TokenHash), Problem> {
    let token = bearer(request)
        .filter(|token| partner::is_token(token))
        .ok_or_else(Problem::unauthorized)?;
    let hash = TokenHash::of(token);
    let entry = lookup(app, TokenKind::Partner, hash)?;
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
    entry.mark_used(app, TokenKind::Partner, hash, request.now);
    Ok((
        Seller {
            account: Arc::clone(account),
            token: Arc::clone(token),
            last_used_at,
            plan,
            called_at: request.now,
        },
        hash,
    ))
}

/// Each account has its plan's rate over all tokens, and each token has one of
/// its own for calls that change something.
fn partner_charge(
    app: &App,
    seller: &Seller,
    hash: &TokenHash,
    operation: &Declared<Seller>,
) -> Charge {
    let limits = &app.config.limits;
    let limit = |count| Limit { count, window_s: limits.window_s };
    let user = seller.account.user_id;
    let all_calls = Window {
        class: Class::PartnerAccount,
        subject: Subject::id(user.0),
        limit: limit(seller.plan.per_minute),
    };
    let posts = (operation.method == Method::POST).then(|| Window {
        class: Class::PartnerPost,
        subject: Subject::token(hash),
        limit: limit(limits.partner_post),
    });
    let quota = Quota { user, monthly: seller.plan.quota, operation: operation.name };
    Charge { windows: [posts, Some(all_calls)], quota: Some(quota), ..Charge::default() }
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
    Pass { verdict: Some(verdict), ..Pass::refused(problem) }
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

/// A window of an extension token.
fn of_token(app: &App, token: &TokenHash) -> Window {
    let subject = Subject::token(token);
    Window { class: Class::ApiToken, subject, limit: api_limit(app) }
}

fn api_limit(app: &App) -> Limit {
    Limit { count: app.config.limits.requests, window_s: app.config.limits.window_s }
}

fn rate_limited() -> Problem {
    Problem::new(Code::RateLimited, "too many requests; wait until the window ends")
}
