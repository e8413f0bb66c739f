//! The one place that checks a password, and the throttle in front of it.
//!
//! Ten failures for an account or from an address close that door until the
//! window ends, right password or not. An address from which the person has
//! signed in well lately has a counter of its own, so strangers cannot shut a
//! person out. Counting happens on the password thread, one login after the
//! other, so a flood of simultaneous guesses gets no more tries than ten.

use std::net::IpAddr;
use std::sync::Arc;

use super::{Account, store};
use crate::app::App;
use crate::clock::Instant;
use crate::db::{Lane, WriteTx};
use crate::http::limit::{Class, Limit, Limiter, Subject, Verdict};
use crate::http::{Code, Problem, Request};
use crate::ids::UserId;

/// How long a good login makes an address known.
pub const KNOWN_FOR_S: i64 = 30 * 86_400;
/// Longer passwords are not even hashed.
const LONGEST: usize = 200;

/// Who a password was right for.
pub struct Login {
    pub account: Account,
    /// Where it came from, as it is remembered.
    pub address: String,
    /// The hash that the password was right for.
    password_hash: Option<String>,
}

/// What became of a try.
enum Tried {
    Right,
    Wrong,
    Throttled(Verdict),
}

/// Checks e-mail and password. Unknown accounts and wrong passwords are
/// answered alike and take the same time.
pub fn check(app: &App, email: &str, password: &str, request: &Request) -> Result<Login, Problem> {
    let email = crate::text::email(email).unwrap_or_else(|| email.trim().to_lowercase());
    let address = remembered_address(request.client);
    let since = request.now.minus(KNOWN_FOR_S);
    let found = app.db.read(Lane::Slow, |tx| store::for_login(tx, &email, &address, since))?;
    let (account, stored, known) = match found {
        Some(found) => (Some(found.account), found.password_hash, found.known_address),
        None => (None, None, false),
    };
    let doors =
        Doors::new(app, account.as_ref().map(|account| account.user_id), &email, known, request);
    let (password, password_hash) = (password.to_owned(), stored.clone());
    let now = request.now;
    let tried = app.passwords.run(move |hasher| {
        if let Some(verdict) = doors.closed(now) {
            return Tried::Throttled(verdict);
        }
        if password.chars().count() <= LONGEST && hasher.verify(&password, stored.as_deref()) {
            return Tried::Right;
        }
        doors.count_failure(now);
        Tried::Wrong
    })?;
    match (tried, account) {
        (Tried::Throttled(verdict), _) => Err(Problem {
            retry_after_s: Some(verdict.retry_after_s(now)),
            ..Problem::new(Code::RateLimited, "too many failed logins; wait until the window ends")
        }),
        (Tried::Right, Some(account)) if account.suspended => Err(Problem::suspended()),
        (Tried::Right, Some(account)) => Ok(Login { account, address, password_hash }),
        _ => Err(wrong()),
    }
}

fn wrong() -> Problem {
    Problem::new(Code::InvalidCredentials, "e-mail or password is wrong")
}

impl Login {
    /// Notes the good login in the transaction that makes its session or
    /// token. Refused when the account was suspended or got another password
    /// while this one was being checked.
    pub fn note(&self, tx: &WriteTx<'_>) -> Result<(), Problem> {
        let user = self.account.user_id;
        if store::is_suspended(tx, user)? {
            return Err(Problem::suspended());
        }
        if store::password_hash(tx, user)? != self.password_hash {
            return Err(wrong());
        }
        store::note_good_login(tx, user, &self.address, tx.now().minus(KNOWN_FOR_S))?;
        Ok(())
    }
}

/// An address as good logins remember it; IPv6 by its /64.
pub fn remembered_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// The counters that a login must pass.
struct Doors {
    limiter: Arc<Limiter>,
    limit: Limit,
    counters: [(Class, Subject); 2],
}

impl Doors {
    fn new(app: &App, user: Option<UserId>, email: &str, known: bool, request: &Request) -> Self {
        let limits = &app.config.limits;
        let limit = Limit { count: limits.login_failures, window_s: limits.login_window_s };
        let account = match user {
            Some(user) if known => (Class::LoginKnown, known_subject(user, request.client)),
            Some(user) => (Class::LoginAccount, Subject::id(user.0)),
            None => (Class::LoginAccount, Subject::text(&[b"unknown", email.as_bytes()])),
        };
        // A known address is judged by its own counter alone, so that a flood
        // from the same network does not shut the person out either.
        let address =
            if known { account } else { (Class::LoginAddress, Subject::address(request.client)) };
        Self { limiter: Arc::clone(&app.limiter), limit, counters: [account, address] }
    }

    fn closed(&self, now: Instant) -> Option<Verdict> {
        let ask = |(class, subject)| self.limiter.peek(class, subject, self.limit, now);
        self.counters.into_iter().map(ask).find(|verdict| !verdict.allowed)
    }

    fn count_failure(&self, now: Instant) {
        let [account, address] = self.counters;
        self.limiter.count(account.0, account.1, self.limit, now);
        if address != account {
            self.limiter.count(address.0, address.1, self.limit, now);
        }
    }
}

/// The counter of a person at an address the person knows. It begins with the
/// person's id, so that a new password can clear all of them.
fn known_subject(user: UserId, address: IpAddr) -> Subject {
    Subject::of_person(user.0, &remembered_address(address))
}
