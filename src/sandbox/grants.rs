//! Codes and tokens. A code works once and for ten minutes. Only the latest
//! refresh token of a seller works, and only once. An access token is valid for
//! six hours.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::http::Request;
use super::logs::LOG_MAX;
use crate::base::secrets::random_hex;
use crate::base::{DAY_S, Instant};

/// How long an access token is valid.
pub const ACCESS_S: i64 = 6 * 3600;
const REFRESH_S: i64 = 180 * DAY_S;

/// The issued codes and tokens.
#[derive(Default)]
pub struct Grants {
    codes: HashMap<String, Code>,
    access: HashMap<String, Access>,
    by_seller: BTreeMap<i64, Grant>,
    /// Refresh tokens that were used or replaced. They show whether a rejected
    /// token is a reused one, and not an invented or a revoked one.
    spent: VecDeque<String>,
}

/// An authorization code, issued after a seller agreed.
pub struct Code {
    pub seller: i64,
    pub redirect_uri: String,
    /// SHA-256 of the verifier, base64url.
    pub challenge: String,
    pub until: Instant,
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

    /// The sellers with a valid grant, and when each first agreed.
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

    /// Ends a seller's access tokens; the refresh token stays valid.
    pub fn expire_access(&mut self, seller: i64) {
        self.access.retain(|_, access| access.seller != seller);
    }

    /// Ends a seller's refresh token; access tokens stay valid until they expire.
    pub fn expire_refresh(&mut self, seller: i64) {
        self.by_seller.remove(&seller);
    }

    /// Removes the newest of the used refresh tokens. The answer to it was lost,
    /// so a client that sends the token again makes no mistake.
    pub fn unmark_used_refresh_token(&mut self) {
        self.spent.pop_back();
    }

    /// Stores a code.
    pub fn add_code(&mut self, name: String, code: Code) {
        self.codes.insert(name, code);
    }

    /// Removes a code and returns it: a code works once.
    pub fn take_code(&mut self, name: &str) -> Option<Code> {
        self.codes.remove(name)
    }

    /// The seller of a refresh token, if the token is valid.
    pub fn refreshed_by(&self, refresh: &str, now: Instant) -> Option<i64> {
        let good = |grant: &Grant| grant.refresh == refresh && now < grant.until;
        self.by_seller.iter().find(|(_, grant)| good(grant)).map(|(seller, _)| *seller)
    }

    /// Whether a refresh token was used or replaced.
    pub fn was_spent(&self, refresh: &str) -> bool {
        self.spent.iter().any(|spent| spent == refresh)
    }

    /// Issues a new access token and refresh token. The previous refresh token
    /// becomes invalid.
    pub fn issue(&mut self, client_id: &str, seller: i64, now: Instant) -> (String, String) {
        let access = format!("APP_USR-{client_id}-{}-{seller}", random_hex::<16>());
        let refresh = format!("TG-{}-{seller}", random_hex::<16>());
        let before = self.by_seller.remove(&seller);
        let grant = Grant {
            refresh: refresh.clone(),
            until: now.plus(REFRESH_S),
            since: before.as_ref().map_or(now, |before| before.since),
        };
        self.by_seller.insert(seller, grant);
        if let Some(before) = before {
            if self.spent.len() == LOG_MAX {
                self.spent.pop_front();
            }
            self.spent.push_back(before.refresh);
        }
        self.access.insert(access.clone(), Access { seller, until: now.plus(ACCESS_S) });
        (access, refresh)
    }

    /// The seller of a request's bearer token, if the token is valid.
    pub fn bearer(&self, request: &Request, now: Instant) -> Option<i64> {
        let (scheme, token) = request.header("authorization")?.split_once(' ')?;
        let access = self.access.get(token.trim())?;
        (scheme.eq_ignore_ascii_case("bearer") && now < access.until).then_some(access.seller)
    }

    /// Removes expired codes and access tokens.
    pub fn forget_old(&mut self, now: Instant) {
        self.codes.retain(|_, code| now < code.until);
        self.access.retain(|_, access| now < access.until);
    }
}
