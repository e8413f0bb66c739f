//! The one place that checks a password, and the throttle in front of it.
//!
//! After ten failures for an account or from an address, its logins are
//! rejected until the window ends, even with the right password. An address
//! from which the person has recently signed in has its own counter, so
//! strangers cannot lock a person out. Failures are counted on the password
//! thread, one login after the other, so a flood of simultaneous guesses gets
//! no more than ten tries.

use std::net::IpAddr;
use std::sync::Arc;

use super::known_addresses::KNOWN_FOR_S;
use super::known_addresses::{KnownAddresses, remembered_address};
use super::{Account, store};
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::db::{Lane, WriteTx};
use crate::http::limit::{self, Class, Limit, Limiter, Subject, Verdict};
use crate::http::{Code, Problem, Reply, Request};
use crate::services::Services;

/// Most successful logins of an account per window, as a multiple of the
/// failures that it may have. It is more than any person or program needs.
const GOOD_BY_FAILED: u32 = 30;
/// Longer passwords are not even hashed.
const LONGEST: usize = 200;

/// The account whose password was right.
pub struct Login {
    pub account: Account,
    from: IpAddr,
    known_addresses: Arc<KnownAddresses>,
    /// The hash that the password was right for.
    password_hash: Option<String>,
}

/// Checks e-mail and password. Unknown accounts and wrong passwords are
/// answered alike and take the same time.
pub fn check(app: &App, email: &str, password: &str, request: &Request) -> Result<Login, Problem> {
    let email = crate::base::text::email(email).unwrap_or_else(|| email.trim().to_lowercase());
    let address = remembered_address(request.client);
    let since = request.now.minus(KNOWN_FOR_S);
    let found = app.db.read(Lane::Brief, |tx| store::for_login(tx, &email, &address, since))?;
    let (account, stored, known) = match found {
        Some(found) => (Some(found.account), found.password_hash, found.known_address),
        None => (None, None, false),
    };
    let counters = LoginCounters::new(
        app,
        account.as_ref().map(|account| account.user_id),
        &email,
        known,
        request,
    );
    let (password, password_hash) = (password.to_owned(), stored.clone());
    let now = request.now;
    if let Some(verdict) = counters.exceeded(now) {
        return Err(too_many(&verdict, now));
    }
    // Whether it was right, or why it was not looked at.
    let outcome = app.callers.passwords.run(move |hasher| {
        if let Some(verdict) = counters.exceeded(now) {
            return Err(verdict);
        }
        let is_right =
            password.chars().count() <= LONGEST && hasher.verify(&password, stored.as_deref());
        if is_right {
            counters.count(&counters.good, now);
        } else {
            counters.count(&counters.failed, now);
        }
        Ok(is_right)
    })?;
    let is_right = outcome.map_err(|verdict| too_many(&verdict, now))?;
    match account.filter(|_| is_right) {
        Some(account) if account.suspended => Err(Problem::suspended()),
        Some(account) => {
            let known_addresses = Arc::clone(&app.callers.known_addresses);
            Ok(Login { account, from: request.client, known_addresses, password_hash })
        }
        None => Err(wrong()),
    }
}

/// Rejects an address with too many failed logins, before the body of the
/// request is read. An address with a recent successful login is not rejected
/// here: its limit depends on the person, who is named in the body.
pub fn reject_early(app: &App, request: &Request) -> Option<Result<Reply, Problem>> {
    let (now, client) = (request.now, request.client);
    let limit = failures(app);
    let verdict = app.callers.limiter.peek_address(Class::LoginAddress, client, limit, now);
    (!verdict.allowed && !app.callers.known_addresses.holds(client, now))
        .then(|| Err(too_many(&verdict, now)))
}

fn failures(services: &Services) -> Limit {
    let limits = &services.config.limits;
    Limit { count: limits.login_failures, window_s: limits.login_window_s }
}

fn too_many(verdict: &Verdict, now: Instant) -> Problem {
    Problem {
        retry_after_s: Some(verdict.retry_after_s(now)),
        ..Problem::new(Code::RateLimited, "too many logins; wait until the window ends")
    }
}

fn wrong() -> Problem {
    Problem::new(Code::InvalidCredentials, "e-mail or password is wrong")
}

impl Login {
    /// Stores the successful login in the transaction that makes its session or
    /// token. Fails when the account was suspended or got another password
    /// while this password was being checked.
    pub fn note(&self, tx: &WriteTx<'_>) -> Result<(), Problem> {
        let user = self.account.user_id;
        if store::is_suspended(tx, user)? {
            return Err(Problem::suspended());
        }
        if store::password_hash(tx, user)? != self.password_hash {
            return Err(wrong());
        }
        Ok(self.known_addresses.note(tx, user, self.from)?)
    }
}

/// A counter in the limiter.
type Counter = (Class, Subject, Limit);

/// The counters that a login must pass.
struct LoginCounters {
    limiter: Arc<Limiter>,
    /// Of failed logins.
    failed: Vec<Counter>,
    /// Of successful logins; none for accounts that do not exist.
    good: Option<Counter>,
}

impl LoginCounters {
    fn new(app: &App, user: Option<UserId>, email: &str, known: bool, request: &Request) -> Self {
        let account = match user {
            Some(user) if known => (Class::LoginKnown, known_subject(user, request.client)),
            Some(user) => (Class::LoginAccount, Subject::id(user.0)),
            None => (Class::LoginAccount, Subject::text(&[b"unknown", email.as_bytes()])),
        };
        let limit = failures(app);
        let mut failed = vec![(account.0, account.1, limit)];
        // A known address has only its own counter, so that a flood from the
        // same network does not lock the person out either.
        if !known {
            let networks = limit::windows(request.client, limit).into_iter().flatten();
            failed.extend(networks.map(|(subject, limit)| (Class::LoginAddress, subject, limit)));
        }
        let most = Limit { count: limit.count.saturating_mul(GOOD_BY_FAILED), ..limit };
        let good = user.map(|user| (Class::LoginGood, Subject::id(user.0), most));
        Self { limiter: Arc::clone(&app.callers.limiter), failed, good }
    }

    fn exceeded(&self, now: Instant) -> Option<Verdict> {
        let all = self.failed.iter().chain(&self.good);
        all.map(|(class, subject, limit)| self.limiter.peek(*class, *subject, *limit, now))
            .find(|verdict| !verdict.allowed)
    }

    fn count<'c>(&self, counters: impl IntoIterator<Item = &'c Counter>, now: Instant) {
        for (class, subject, limit) in counters {
            self.limiter.count(*class, *subject, *limit, now);
        }
    }
}

/// The counter of a person at an address the person knows. It begins with the
/// person's id, so that a new password can clear all of them.
fn known_subject(user: UserId, address: IpAddr) -> Subject {
    Subject::of_person(user.0, &remembered_address(address))
}
