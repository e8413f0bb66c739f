//! Calls to the marketplace: typed, bounded, with deadlines.
//!
//! One concrete client; tests point it at the sandbox. At most five calls run
//! at a time and two for one seller, redirects are not followed, answers are
//! read up to 2 MiB. Tokens travel in headers and bodies only and never reach
//! a log: failures carry the marketplace's status and code, nothing else.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant as Monotonic};

use serde_json::Value;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

use super::document::{OrderDocument, SellerRecord, Shipment, Unreadable, positive, text};
use crate::clock::Instant;
use crate::config;
use crate::ids::{MlUserId, OrderId};
use crate::secrets::Secret;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for a free place among the running calls.
const TURN_TIMEOUT: Duration = Duration::from_secs(15);
const MAX_BODY: u64 = 2 * 1024 * 1024;
/// Calls at a time, and for one seller.
const CALLS: usize = 5;
const CALLS_OF_SELLER: usize = 2;
/// Orders a page of a search; more are refused.
pub const ORDERS_PAGE: usize = 50;

/// Why a call brought nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The access token is not good any more.
    #[error("the access token is expired or revoked")]
    Expired,
    /// The marketplace says no; asking again will not help.
    #[error("refused with {status} {code}")]
    Refused { status: u16, code: String },
    /// Too many calls.
    #[error("too many calls")]
    RateLimited { retry_after_s: Option<i64> },
    /// No answer, or one that says that there is none now.
    #[error("unreachable or out of order")]
    Unreachable,
    /// An answer that makes no sense.
    #[error("the answer makes no sense: {0}")]
    Garbled(&'static str),
}

impl Failure {
    /// Whether there is no such thing at the marketplace.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Self::Garbled(unreadable.0)
    }
}

/// A pair of tokens as the marketplace gives it.
pub struct TokenPair {
    pub ml_user_id: MlUserId,
    pub access: Secret,
    /// Works once. `None` when the grant does not include offline access.
    pub refresh: Option<Secret>,
    /// Seconds the access token lives.
    pub expires_in_s: i64,
}

/// For whom a call is made.
pub struct Caller<'t> {
    pub ml_user_id: MlUserId,
    pub access: &'t Secret,
}

/// One page of an order search.
pub struct OrdersPage {
    /// How many orders the whole search finds, as the marketplace counts.
    pub total: i64,
    /// Records of the page, readable or not.
    pub orders: Vec<Result<OrderDocument, Unreadable>>,
}

/// What a search of orders asks for.
#[derive(Clone, Copy, Debug)]
pub struct OrderSearch {
    /// Span of `date_created`; whole hours, both ends included.
    pub created: (Instant, Instant),
    /// States to find; `None` for what the marketplace shows by default.
    pub states: Option<&'static str>,
}

/// The client.
pub struct Client {
    agent: Agent,
    api: String,
    application: String,
    secret: Secret,
    turns: Turns,
}

type Answer<T> = Result<T, Failure>;

impl Client {
    /// A client for the configured addresses.
    pub fn new(config: &config::Marketplace) -> Self {
        let agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(TOTAL_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .max_idle_connections_per_host(CALLS)
            .proxy(None)
            .user_agent(concat!("seller-platform/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .build()
            .new_agent();
        Self {
            agent,
            api: config.api_base.clone(),
            application: config.client_id.clone(),
            secret: config.client_secret.clone(),
            turns: Turns::default(),
        }
    }

    /// Exchanges the code of a consent for the first pair of tokens.
    pub fn exchange(&self, code: &str, verifier: &Secret, redirect_uri: &str) -> Answer<TokenPair> {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier.reveal()),
        ])
    }

    /// Exchanges a refresh token, which is used up by it, for a new pair.
    pub fn refresh(&self, refresh: &Secret) -> Answer<TokenPair> {
        self.token(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.reveal()),
        ])
    }

    fn token(&self, grant: &[(&str, &str)]) -> Answer<TokenPair> {
        let _turn = self.turns.take(None)?;
        let credentials = [
            ("client_id", &*self.application),
            ("client_secret", self.secret.reveal()),
        ];
        let form = grant.iter().copied().chain(credentials);
        let sent = self
            .agent
            .post(format!("{}/oauth/token", self.api))
            .send_form(form);
        // A refused client or grant is no expired access token.
        let answer = read(sent).map_err(|failure| match failure {
            Failure::Expired => Failure::Refused {
                status: 401,
                code: "unauthorized".to_owned(),
            },
            other => other,
        })?;
        let secret = |field: &str| {
            answer[field]
                .as_str()
                .filter(|text| !text.is_empty())
                .map(Secret::new)
        };
        Ok(TokenPair {
            ml_user_id: MlUserId(positive(&answer["user_id"]).ok_or(Failure::Garbled("user_id"))?),
            access: secret("access_token").ok_or(Failure::Garbled("access_token"))?,
            refresh: secret("refresh_token"),
            expires_in_s: positive(&answer["expires_in"]).ok_or(Failure::Garbled("expires_in"))?,
        })
    }

    /// The account that a token belongs to.
    pub fn me(&self, caller: &Caller<'_>) -> Answer<SellerRecord> {
        Ok(SellerRecord::read(&self.get(caller, "/users/me", &[])?)?)
    }

    /// The public nickname of any user; empty when there is none to see.
    pub fn nickname(&self, caller: &Caller<'_>, user: i64) -> Answer<String> {
        let answer = self.get(caller, &format!("/users/{user}"), &[])?;
        Ok(text(&answer["nickname"]).unwrap_or_default())
    }

    /// How many active and paused listings an account has.
    pub fn listings(&self, caller: &Caller<'_>) -> Answer<i64> {
        let path = format!("/users/{}/items/search", caller.ml_user_id);
        ["active", "paused"].into_iter().try_fold(0, |sum, status| {
            let query = [("status", status.to_owned()), ("limit", "1".to_owned())];
            let answer = self.get(caller, &path, &query)?;
            let total = answer["paging"]["total"]
                .as_i64()
                .filter(|total| *total >= 0);
            Ok(sum + total.ok_or(Failure::Garbled("paging.total"))?)
        })
    }

    /// One order.
    pub fn order(&self, caller: &Caller<'_>, order: OrderId) -> Answer<OrderDocument> {
        Ok(OrderDocument::read(&self.get(
            caller,
            &format!("/orders/{order}"),
            &[],
        )?)?)
    }

    /// A page of an account's orders, beginning at `offset`.
    pub fn orders(
        &self,
        caller: &Caller<'_>,
        search: &OrderSearch,
        offset: usize,
    ) -> Answer<OrdersPage> {
        let mut query = vec![
            ("seller", caller.ml_user_id.to_string()),
            ("order.date_created.from", search.created.0.rfc3339()),
            ("order.date_created.to", search.created.1.rfc3339()),
            ("sort", "date_asc".to_owned()),
            ("limit", ORDERS_PAGE.to_string()),
            ("offset", offset.to_string()),
        ];
        if let Some(states) = search.states {
            query.push(("order.status", states.to_owned()));
        }
        let answer = self.get(caller, "/orders/search", &query)?;
        let results = answer["results"]
            .as_array()
            .ok_or(Failure::Garbled("results"))?;
        Ok(OrdersPage {
            total: answer["paging"]["total"].as_i64().unwrap_or(0),
            orders: results.iter().map(OrderDocument::read).collect(),
        })
    }

    /// One shipment.
    pub fn shipment(&self, caller: &Caller<'_>, shipment: i64) -> Answer<Shipment> {
        Ok(Shipment::read(&self.get(
            caller,
            &format!("/shipments/{shipment}"),
            &[],
        )?))
    }

    fn get(&self, caller: &Caller<'_>, path: &str, query: &[(&str, String)]) -> Answer<Value> {
        let _turn = self.turns.take(Some(caller.ml_user_id))?;
        let request = self
            .agent
            .get(format!("{}{path}", self.api))
            .query_pairs(query.iter().map(|(name, value)| (*name, value.as_str())))
            .header(
                header::AUTHORIZATION,
                format!("Bearer {}", caller.access.reveal()),
            )
            // Shipments answer nothing useful without it; the rest ignores it.
            .header("x-format-new", "true");
        read(request.call())
    }
}

/// The JSON of an answer, or what kind of failure it is.
fn read(sent: Result<Response<Body>, ureq::Error>) -> Answer<Value> {
    let mut response = sent.map_err(|error| failure_of(&error))?;
    let status = response.status();
    let retry_after_s = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let body = response
        .body_mut()
        .with_config()
        .limit(MAX_BODY)
        .read_to_vec();
    if status.is_success() {
        let body = body.map_err(|error| failure_of(&error))?;
        return serde_json::from_slice(&body).map_err(|_| Failure::Garbled("it is not JSON"));
    }
    // What stands in a refusal is a hint only; some come as plain text.
    let answer: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let code = text(&answer["error"])
        .or_else(|| text(&answer["code"]))
        .unwrap_or_default();
    Err(match status {
        // An application that was blocked is no matter of this token.
        StatusCode::UNAUTHORIZED if code == "unauthorized_scopes" => {
            Failure::Refused { status: 401, code }
        }
        StatusCode::UNAUTHORIZED => Failure::Expired,
        StatusCode::TOO_MANY_REQUESTS => Failure::RateLimited { retry_after_s },
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT => Failure::Unreachable,
        status if status.is_client_error() => Failure::Refused {
            status: status.as_u16(),
            code,
        },
        _ => Failure::Unreachable,
    })
}

fn failure_of(error: &ureq::Error) -> Failure {
    tracing::debug!(%error, "a call to the marketplace failed");
    match error {
        ureq::Error::BodyExceedsLimit(_) => Failure::Garbled("it is larger than 2 MiB"),
        _ => Failure::Unreachable,
    }
}

/// Places for running calls.
#[derive(Default)]
struct Turns {
    running: Mutex<HashMap<Option<MlUserId>, usize>>,
    freed: Condvar,
}

/// A place; it is free again when dropped.
struct Turn<'t> {
    turns: &'t Turns,
    seller: Option<MlUserId>,
}

impl Turns {
    /// Waits for a place; sign-ins (no seller) count overall only.
    fn take(&self, seller: Option<MlUserId>) -> Answer<Turn<'_>> {
        let deadline = Monotonic::now() + TURN_TIMEOUT;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |running: &HashMap<Option<MlUserId>, usize>| {
            running.values().sum::<usize>() >= CALLS
                || seller.is_some()
                    && running
                        .get(&seller)
                        .is_some_and(|own| *own >= CALLS_OF_SELLER)
        };
        while is_full(&running) {
            let left = deadline.saturating_duration_since(Monotonic::now());
            if left.is_zero() {
                return Err(Failure::Unreachable);
            }
            running = self
                .freed
                .wait_timeout(running, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        *running.entry(seller).or_default() += 1;
        Ok(Turn {
            turns: self,
            seller,
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut running = self
            .turns
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = running.get_mut(&self.seller) {
            *own -= 1;
            if *own == 0 {
                running.remove(&self.seller);
            }
        }
        self.turns.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_for_a_seller_and_five_in_all() {
        let turns = Turns::default();
        let seller = |id| Some(MlUserId(id));
        let first = turns.take(seller(1)).unwrap();
        let _second = turns.take(seller(1)).unwrap();
        std::thread::scope(|scope| {
            let third = scope.spawn(|| turns.take(seller(1)).map(drop));
            let _others = [seller(2), seller(2), None].map(|who| turns.take(who).unwrap());
            assert_eq!(turns.running.lock().unwrap().values().sum::<usize>(), CALLS);
            drop(first);
            third.join().unwrap().unwrap();
        });
        assert_eq!(turns.running.lock().unwrap().values().sum::<usize>(), 1);
    }
}
