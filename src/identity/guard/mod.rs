//! Guards check credentials and make identities; nothing else makes one.
//!
//! A handler that has a `&Seller` can rely on a checked token, plan and role,
//! so no handler can forget a check. Every guard also says what the call costs
//! (`charge.rs`), because a call counts against its token when the token is
//! valid, and against its address when not. A rejected credential counts at
//! once.

mod browser;
mod challenge;
mod charge;
mod chat;
mod checkout;
mod cron;
mod keys;
mod lookup;
mod telegram;

use std::ops::Deref;
use std::sync::Arc;

use http::Method;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, ORIGIN};

pub use browser::{person, session_cookie, session_cookie_name, session_given, student, visitor};

pub use charge::{Charge, Charged, QuotaHold};
pub use chat::{chat, prove_signature};
pub use checkout::{checkout, prove_in_body};
pub use cron::cron;
pub use keys::key;
pub use telegram::telegram;

use super::token::{CachedToken, TokenKind, TokenRecord};
use super::{Agent, Claim, ExtensionUser, PartnerCaller, Seal, Seller, Supplier};
use crate::accounts::Role;
use crate::app::App;
use crate::base::ids::{TokenHash, UserId};
use crate::db::Lane;
use crate::dropshipping::relations;
use crate::edge::route::{Route, Surface};
use crate::http::conditional::may_have_copy;
use crate::http::limit::{Class, Limit, Subject, Verdict};
use crate::http::{Code, Problem, Request};
use crate::partner;
use crate::partner::oauth::Granted;
use crate::partner::operation::Declared;
use crate::partner::trial;
use crate::services::Services;
use challenge::challenged;
use charge::{Quota, Window};
use lookup::lookup;

/// What a guard found: an identity or a refusal.
pub struct GuardResult<I> {
    /// A refusal may be a page: a redirect to the login for a browser without a session, or
    /// what says that a view may only read.
    pub outcome: Result<I, Problem>,
    /// What an accepted call costs.
    pub charge: Charge,
    /// The rate limiter's verdict on a rejected credential.
    pub verdict: Option<Verdict>,
    /// Kind and id of the caller, for the log.
    pub who: Option<(&'static str, i64)>,
}

impl<I> GuardResult<I> {
    /// A pass for an identity that is not logged and whose call costs nothing.
    fn of(identity: I) -> Self {
        Self { outcome: Ok(identity), charge: Charge::default(), verdict: None, who: None }
    }

    fn refused(problem: Problem) -> Self {
        let outcome = Err(problem);
        Self { outcome, charge: Charge::default(), verdict: None, who: None }
    }

    /// The same, logged as a caller of this kind.
    fn known_as(self, kind: &'static str, id: i64) -> Self {
        Self { who: Some((kind, id)), ..self }
    }

    fn costing(self, charge: impl Into<Charge>) -> Self {
        Self { charge: charge.into(), ..self }
    }
}

impl Agent {
    /// The owner as a seller, for the operations of sellers.
    pub fn seller(&self) -> Result<Seller, Problem> {
        as_seller(self.caller.clone())
    }

    /// The owner as a supplier, for the operations of suppliers.
    pub fn supplier(&self, services: &Services) -> Result<Supplier, Problem> {
        as_supplier(services, self.caller.clone())
    }

    /// Rejects an operation that the owner did not allow.
    pub fn check_scope<I>(
        &self,
        app: &App,
        request: &Request,
        operation: &Declared<I>,
    ) -> Result<(), Problem> {
        if !self.caller.may(operation.access) {
            return Err(challenged(app, request, too_narrow(&self.caller)));
        }
        if operation.is_for_tests && !self.is_test() { Err(only_tests()) } else { Ok(()) }
    }

    /// What a call of an operation costs: the same as at its own address, but no quota
    /// for an assistant that the owner connected.
    pub fn call<I>(&self, app: &App, operation: &Declared<I>) -> Charge {
        let charge = partner_charge(app, &self.caller, &self.token, operation);
        if self.caller.granted.is_some() { Charge { quota: None, ..charge } } else { charge }
    }

    /// What every other message costs: one call in a rate window, and no quota.
    pub fn talk(&self, services: &Services) -> Charge {
        let limit =
            Limit { count: self.caller.plan.per_minute, window_s: services.config.limits.window_s };
        let subject = Subject::id(self.caller.account.user_id.0);
        Window { class: Class::AgentTalk, subject, limit }.into()
    }
}

/// A row that needs no credential.
pub fn open(app: &App, route: &Route, request: &Request) -> GuardResult<()> {
    if !route.counts_address() {
        return GuardResult::of(());
    }
    let leaving = if route.logs_out { living_extension_token(app, request) } else { Ok(None) };
    let charge = match leaving {
        Err(problem) => return GuardResult::refused(problem),
        // A logout is allowed even when the window is used up.
        Ok(Some(token)) => Charge { is_never_refused: true, ..of_token(app, &token).into() },
        Ok(None) => {
            let is_oauth = route.surface == Surface::OAuth;
            let class = if is_oauth { Class::OAuthAddress } else { Class::ApiAddress };
            if is_oauth && app.callers.known_addresses.holds(request.client, request.now) {
                // Strangers in the networks around must not use up its window.
                let subject = Subject::address(request.client);
                Window { class, subject, limit: api_limit(app) }.into()
            } else {
                Charge::of_address(class, request.client, api_limit(app))
            }
        }
    };
    GuardResult::of(()).costing(charge)
}

/// The presented extension token, when it is still valid.
fn living_extension_token(app: &App, request: &Request) -> Result<Option<TokenHash>, Problem> {
    let Some(hash) = bearer(request).map(TokenHash::of) else {
        return Ok(None);
    };
    let entry = lookup(app, TokenKind::Extension, hash)?;
    Ok(match entry.record {
        TokenRecord::Extension { expires_at, revoked: false, .. } if request.now < expires_at => {
            Some(hash)
        }
        _ => None,
    })
}

/// A row of the extension.
pub fn extension(app: &App, request: &Request) -> GuardResult<ExtensionUser> {
    let found = bearer(request).ok_or_else(Problem::unauthorized).and_then(|token| {
        let hash = TokenHash::of(token);
        let entry = lookup(app, TokenKind::Extension, hash)?;
        match &entry.record {
            TokenRecord::Extension { account, .. } if account.suspended => {
                Err(Problem::suspended())
            }
            TokenRecord::Extension { account, expires_at, revoked: false }
                if request.now < *expires_at =>
            {
                entry.mark_used(app, TokenKind::Extension, hash, request.now, request.client);
                let (account, version, owner) =
                    (Arc::clone(account), entry.version, account.user_id);
                let user = ExtensionUser { _seal: Seal, account, version };
                let pass = GuardResult::of(user).known_as("extension", owner.0);
                Ok(pass.costing(of_token(app, &hash)))
            }
            _ => Err(Problem::unauthorized()),
        }
    });
    passed(app, request, Class::ApiAddress, found)
}

/// The receiver of marketplace notifications. The signature header must be
/// present; whether it is right can be checked only with the body.
pub fn notification(app: &App, request: &Request) -> GuardResult<Claim> {
    let text =
        |name: &'static str| request.header(&HeaderName::from_static(name)).map(str::to_owned);
    let claim =
        Claim { _seal: Seal, signature: text("x-signature"), request_id: text("x-request-id") };
    let required = app.config.marketplace.signature == crate::config::SignatureMode::Required;
    if required && claim.signature.is_none() {
        app.callers.refused_signatures.add(1);
        return turned_away(app, request, Class::ApiAddress, bad_signature());
    }
    GuardResult::of(claim)
}

/// The refusal of a wrong signature, which counts against its address.
pub fn signature_refused(app: &App, request: &Request) -> Problem {
    app.callers.refused_signatures.add(1);
    refused_late(app, request, bad_signature())
}

fn bad_signature() -> Problem {
    Problem::new(Code::InvalidSignature, "the signature is missing or wrong")
}

/// An operation of the Partner API for sellers. Token, plan and role are
/// checked in this order. Then the call counts in the rate windows and in the
/// quota.
pub fn seller(app: &App, operation: &Declared<Seller>, request: &Request) -> GuardResult<Seller> {
    partner(app, operation, request, as_seller)
}

fn as_seller(known: PartnerCaller) -> Result<Seller, Problem> {
    if known.account.role.is_student() {
        Ok(Seller(known))
    } else {
        Err(Problem::forbidden("this operation is for sellers"))
    }
}

/// The same for suppliers, who also need a relation to a seller.
pub fn supplier(
    app: &App,
    operation: &Declared<Supplier>,
    request: &Request,
) -> GuardResult<Supplier> {
    partner(app, operation, request, |known| as_supplier(app, known))
}

fn as_supplier(services: &Services, known: PartnerCaller) -> Result<Supplier, Problem> {
    if known.account.role != Role::Drop {
        return Err(Problem::forbidden("this operation is for suppliers"));
    }
    let owner = known.account.user_id;
    // Read for every call, so that an ended relation has effect at once.
    if !services.db.read(Lane::InPlace, |tx| relations::has_any(tx, owner))? {
        return Err(Problem::forbidden("no seller is linked to this supplier"));
    }
    Ok(Supplier(known))
}

/// The endpoint of assistants. What a call costs depends on its message, so the
/// handler counts it.
pub fn agent(app: &App, request: &Request) -> GuardResult<Agent> {
    // A page of another origin must not make a browser in our network call us.
    let mut origins = request.headers().get_all(ORIGIN).iter();
    let is_known = |origin: &HeaderValue| {
        origin.to_str().is_ok_and(|origin| app.server.addresses.is_agent_origin(origin))
    };
    if !origins.all(is_known) {
        return GuardResult::refused(Problem::forbidden(
            "pages of this origin may not call this address",
        ));
    }
    let found = partner_caller(app, request).and_then(|(caller, token, entry)| {
        let role = caller.account.role;
        if !role.is_student() && role != Role::Drop {
            return Err(Problem::forbidden("this address is for sellers and suppliers"));
        }
        note_use(app, &caller, token, &entry);
        let person = caller.person();
        Ok(GuardResult::of(Agent { caller, token }).known_as("partner", person.0))
    });
    of_partner(app, request, found)
}

fn partner<I>(
    app: &App,
    operation: &Declared<I>,
    request: &Request,
    admit: impl FnOnce(PartnerCaller) -> Result<I, Problem>,
) -> GuardResult<I>
where
    I: Deref<Target = PartnerCaller>,
{
    let found = partner_caller(app, request).and_then(|(known, hash, entry)| {
        let caller = admit(known)?;
        if !caller.may(operation.access) {
            return Err(too_narrow(&caller));
        }
        if operation.is_for_tests && !caller.token.is_test {
            return Err(only_tests());
        }
        note_use(app, &caller, hash, &entry);
        let mut charge = partner_charge(app, &caller, &hash, operation);
        if let Some(quota) = &mut charge.quota {
            quota.has_copy = may_have_copy(request.headers());
        }
        let person = caller.person();
        Ok(GuardResult::of(caller).known_as("partner", person.0).costing(charge))
    });
    of_partner(app, request, found)
}

/// The pass of a caller with a valid partner token, or the refusal, which says how to
/// get another token.
fn of_partner<I>(
    app: &App,
    request: &Request,
    found: Result<GuardResult<I>, Problem>,
) -> GuardResult<I> {
    let found = found.map_err(|problem| challenged(app, request, problem));
    passed(app, request, Class::PartnerAddress, found)
}

/// The app that serves the calls of test tokens, when the token of a call is one and valid.
pub fn trial(app: &App, request: &Request) -> Result<Option<Arc<App>>, Problem> {
    let is_test = bearer(request).is_some_and(partner::is_test_token);
    // What is wrong with it is found again, and counted, as with any other token.
    if !is_test || token_owner(app, request).is_err() {
        return Ok(None);
    }
    app.trial.shops().map(Some)
}

/// Notes a successful use of a token, where the token is.
fn note_use(app: &App, caller: &PartnerCaller, hash: TokenHash, entry: &CachedToken) {
    let real = app.trial.real();
    let tokens = real.as_deref().unwrap_or(app);
    entry.mark_used(tokens, caller.token_kind(), hash, caller.called_at, caller.client);
}

/// The caller of a request, when the token is valid and the plan is in force. A test token
/// opens a shop of sample data and nothing else, and nothing else opens one.
fn partner_caller(
    app: &App,
    request: &Request,
) -> Result<(PartnerCaller, TokenHash, Arc<CachedToken>), Problem> {
    let real = app.trial.real();
    let found = token_owner(real.as_deref().unwrap_or(app), request)?;
    let (caller, hash, entry) = found;
    if caller.token.is_test != real.is_some() {
        return Err(Problem::unauthorized());
    }
    let Some(real) = real else { return Ok((caller, hash, entry)) };
    let account = trial::account(app, &real, &caller.account)?;
    let tester = Some(caller.account.user_id);
    Ok((PartnerCaller { account, tester, ..caller }, hash, entry))
}

/// The owner of the token of a request, when the token is valid and the plan is in force.
fn token_owner(
    app: &App,
    request: &Request,
) -> Result<(PartnerCaller, TokenHash, Arc<CachedToken>), Problem> {
    let token = bearer(request)
        .filter(|token| partner::is_token(token))
        .ok_or_else(Problem::unauthorized)?;
    let hash = TokenHash::of(token);
    let mut entry = lookup(app, TokenKind::Partner, hash)?;
    if matches!(entry.record, TokenRecord::Nothing) {
        entry = lookup(app, TokenKind::Granted, hash)?;
    }
    let TokenRecord::Partner { account, token, revoked: false, plan, granted } = &entry.record
    else {
        return Err(Problem::unauthorized());
    };
    if granted.is_some_and(|granted| granted.expires_at <= request.now) {
        return Err(Problem::unauthorized());
    }
    if account.suspended {
        return Err(Problem::suspended());
    }
    let plan = plan.filter(|plan| plan.is_valid(request.now)).ok_or_else(partner::no_plan)?;
    let caller = PartnerCaller {
        _seal: Seal,
        account: Arc::clone(account),
        token: Arc::clone(token),
        last_used_at: entry.last_used_at(),
        plan,
        granted: *granted,
        tester: None,
        called_at: request.now,
        client: request.client,
        request_id: request.id.clone(),
    };
    Ok((caller, hash, entry))
}

/// An account has the rate of its plan for all its tokens together, and each
/// token has a limit of its own for calls that change something. An operation
/// that is allowed only rarely has one more window for each token.
fn partner_charge<I>(
    app: &App,
    caller: &PartnerCaller,
    hash: &TokenHash,
    operation: &Declared<I>,
) -> Charge {
    let limits = &app.config.limits;
    let limit = |count| Limit { count, window_s: limits.window_s };
    let user = caller.account.user_id;
    let all_calls = Window {
        class: Class::PartnerAccount,
        subject: Subject::id(user.0),
        limit: limit(caller.plan.per_minute),
    };
    // The token of a connected app is replaced often.
    let token = || caller.granted.map_or_else(|| Subject::token(hash), Granted::subject);
    let posts = (operation.method == Method::POST).then(|| Window {
        class: Class::PartnerPost,
        subject: token(),
        limit: limit(limits.partner_post),
    });
    let rare = operation.is_rare.then(|| remind_all(app, token()));
    let (monthly, operation) = (caller.plan.quota, operation.name);
    let quota = Some(Quota { user, monthly, operation, has_copy: false });
    Charge { windows: [rare, posts, Some(all_calls)], quota, ..Charge::default() }
}

fn too_narrow(caller: &PartnerCaller) -> Problem {
    let said = if caller.granted.is_some() {
        "this app was not given partner:write for this; ask its owner to connect it again with it"
    } else {
        "this token has no partner:write; its owner gives it in the panel, under API de parceiros"
    };
    Problem::new(Code::InsufficientScope, said)
}

fn only_tests() -> Problem {
    Problem::new(
        Code::TestTokenRequired,
        "this makes sample data and takes a test token (ptk_test_…)",
    )
}

/// The window of reminders to all sellers: of a token, a connected app, or the panel of
/// a supplier.
fn remind_all(services: &Services, subject: Subject) -> Window {
    let limit = Limit { count: 1, window_s: services.config.limits.remind_all_window_s };
    Window { class: Class::PartnerRemindAll, subject, limit }
}

/// What a supplier's reminder to all sellers costs when sent from the panel.
pub fn remind_all_charge(app: &App, supplier: UserId) -> Charge {
    remind_all(app, Subject::id(supplier.0)).into()
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

/// The pass of a caller, or the refusal. A rejected credential counts against the
/// address, a missing plan or a failure on our side does not.
fn passed<I>(
    app: &App,
    request: &Request,
    class: Class,
    found: Result<GuardResult<I>, Problem>,
) -> GuardResult<I> {
    match found {
        Ok(pass) => pass,
        Err(problem) if problem.code == Code::PlanRequired || is_ours(&problem) => {
            GuardResult::refused(problem)
        }
        Err(problem) => turned_away(app, request, class, problem),
    }
}

/// A rejected credential counts against the address; when there are too many,
/// the answer is that of a rate limit.
fn turned_away<I>(app: &App, request: &Request, class: Class, problem: Problem) -> GuardResult<I> {
    let verdict = count_address(app, request, class);
    let problem = if verdict.allowed { problem } else { rate_limited() };
    GuardResult { verdict: Some(verdict), ..GuardResult::refused(problem) }
}

/// The same for a credential in the body. The guard has already returned, so
/// the verdict of the limiter can only be sent as `retry_after_s`.
fn refused_late(app: &App, request: &Request, problem: Problem) -> Problem {
    let verdict = count_address(app, request, Class::ApiAddress);
    if verdict.allowed {
        return problem;
    }
    Problem { retry_after_s: Some(verdict.retry_after_s(request.now)), ..rate_limited() }
}

fn count_address(app: &App, request: &Request, class: Class) -> Verdict {
    app.callers.limiter.count_address(class, request.client, api_limit(app), request.now)
}

/// A window of an extension token.
fn of_token(services: &Services, token: &TokenHash) -> Window {
    let subject = Subject::token(token);
    Window { class: Class::ApiToken, subject, limit: api_limit(services) }
}

fn api_limit(services: &Services) -> Limit {
    Limit { count: services.config.limits.requests, window_s: services.config.limits.window_s }
}

fn rate_limited() -> Problem {
    Problem::new(Code::RateLimited, "too many requests; wait until the window ends")
}
