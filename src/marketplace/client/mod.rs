//! Calls to the marketplace: typed, bounded, with deadlines.
//!
//! One concrete client; tests point it at the sandbox. At most five calls run
//! at a time, and two for one seller. An endpoint that says "too many" is
//! paused (`limits.rs`). While the marketplace is down, calls for people fail at
//! once (`breaker.rs`). Redirects are not followed, and answers are read up to
//! a limit. Tokens are sent only in headers and bodies and never reach a log:
//! failures carry the marketplace's status and code, nothing else.

mod breaker;
mod claims;
mod fees;
mod invoices;
mod items;
mod labels;
mod limits;
mod missed;
mod orders;
mod parcels;
mod questions;
#[cfg(test)]
mod tests;
mod users;

pub use claims::{CLAIMS_PAGE, CLAIMS_REACH, ClaimSearch};
pub use fees::{Fee, FeeQuestion, Fees};
pub use items::{ITEMS_AT_ONCE, ItemFailure, ItemIds};
pub use labels::{LABELS_AT_ONCE, RETRY, Unprinted};
pub use missed::MISSED_PAGE;
pub use orders::{ORDERS_PAGE, OrderSearch, Span};
pub use questions::{AnswerSent, QUESTIONS_PAGE, QUESTIONS_REACH};

use std::time::{Duration, Instant as Monotonic};

use serde_json::Value;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

use self::breaker::Breaker;
use self::limits::{Pauses, call_places, endpoint_of};
use self::parcels::KnownHours;
use crate::base::queue::{CALL_PATIENCE, CALLS, KeyedSemaphore, Permit};
use crate::base::{Clock, Instant, MlUserId, Secret};
use crate::config;
use crate::journal::{self, Ending};
use crate::marketplace::books::document::{
    Unreadable, UnreadableRecord, positive, read_each, text,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Files may take longer.
const FILE_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_BODY: u64 = 2 * 1024 * 1024;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The access token has expired or was revoked.
    #[error("the access token is expired or revoked")]
    Expired,
    /// The marketplace refused the request; a retry will not help.
    #[error("refused with {status} {code}")]
    Refused { status: u16, code: String },
    /// These labels cannot be printed, at least one; so none was.
    #[error("{} labels cannot be printed", .0.len())]
    Unprintable(Vec<Unprinted>),
    /// Too many calls.
    #[error("too many calls")]
    RateLimited { retry_after_s: Option<i64> },
    /// No answer, or one that reports a temporary failure.
    #[error("unreachable or out of order")]
    Unreachable,
    /// The breaker is open, so no call was made. Only calls for people fail in
    /// this way.
    #[error("away")]
    Away { retry_after_s: i64 },
    /// An answer that cannot be understood.
    #[error("the answer makes no sense: {0}")]
    Garbled(&'static str),
}

impl Failure {
    /// What the marketplace answered, where it is known.
    const fn status(&self) -> Option<u16> {
        match self {
            Self::Expired => Some(401),
            Self::Refused { status, .. } => Some(*status),
            Self::RateLimited { .. } => Some(429),
            _ => None,
        }
    }

    /// Whether the marketplace has no such record.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Whether the marketplace refused the request to this account.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Expired | Self::Refused { .. } | Self::Unprintable(_))
    }
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Self::Garbled(unreadable.0)
    }
}

/// The record, if it is the requested one.
fn asked_for<D>(is_it: bool, found: D) -> Answer<D> {
    if is_it { Ok(found) } else { Err(Failure::Garbled("id")) }
}

/// Life of an access token when the marketplace does not say.
const USUAL_LIFE_S: i64 = 6 * 3600;

/// A pair of tokens from the marketplace.
pub struct TokenPair {
    pub ml_user_id: MlUserId,
    pub access: Secret,
    /// Works once. `None` when the grant does not include offline access.
    pub refresh: Option<Secret>,
    /// Seconds the access token lives.
    pub expires_in_s: i64,
}

impl TokenPair {
    fn read(answer: &Value) -> Answer<Self> {
        let secret =
            |field: &str| answer[field].as_str().filter(|text| !text.is_empty()).map(Secret::new);
        Ok(Self {
            ml_user_id: MlUserId(positive(&answer["user_id"]).ok_or(Failure::Garbled("user_id"))?),
            access: secret("access_token").ok_or(Failure::Garbled("access_token"))?,
            refresh: secret("refresh_token"),
            expires_in_s: positive(&answer["expires_in"]).unwrap_or(USUAL_LIFE_S),
        })
    }
}

/// For whom a call is made.
pub struct Caller<'t> {
    pub ml_user_id: MlUserId,
    pub access: &'t Secret,
}

pub struct Client {
    agent: Agent,
    api: String,
    application: String,
    secret: Secret,
    site: String,
    image_host: String,
    clock: Clock,
    /// Places for running calls.
    places: KeyedSemaphore<Option<MlUserId>>,
    pauses: Pauses,
    breaker: Breaker,
    /// When carriers fetch parcels from accounts.
    hours: KnownHours,
}

/// One page of a search.
#[derive(Debug)]
pub struct Page<T> {
    /// How many records the whole search finds, as the marketplace counts.
    pub total: i64,
    /// Records of the page, readable or not.
    pub records: Vec<Result<T, UnreadableRecord>>,
    /// The cursor for the next page of a scan; `None` at its end.
    pub scroll: Option<String>,
}

impl<T> Page<T> {
    /// Reads the records in the given member of an answer.
    fn read(
        answer: &Value,
        member: &'static str,
        record: impl Fn(&Value) -> Result<T, Unreadable>,
    ) -> Answer<Self> {
        let records = answer[member].as_array().ok_or(Failure::Garbled(member))?;
        let total = answer["paging"]["total"].as_i64().or_else(|| answer["total"].as_i64());
        let scroll = answer["scroll_id"].as_str().filter(|_| !records.is_empty());
        Ok(Self {
            total: total.unwrap_or(0).max(0),
            records: read_each(records, record),
            scroll: scroll.map(str::to_owned),
        })
    }
}

pub struct FileRequest<'w> {
    /// A path of ours or one that the marketplace returned; never a whole URL.
    pub path: &'w str,
    pub query: &'w [(&'w str, String)],
    /// Most bytes that are read.
    pub most: u64,
    /// How its media type begins, such as `application/pdf`.
    pub kind: &'w str,
}

/// A file as the marketplace sent it. Its bytes are not checked yet.
pub struct File {
    /// Its type, such as `application/pdf`, without parameters.
    pub kind: String,
    pub bytes: Vec<u8>,
}

type Answer<T> = Result<T, Failure>;

impl Client {
    /// A client for the configured addresses.
    pub fn new(config: &config::Marketplace, clock: Clock) -> Self {
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
            site: config.site.clone(),
            image_host: config.image_host.clone(),
            clock,
            places: call_places(),
            pauses: Pauses::default(),
            breaker: Breaker::default(),
            hours: KnownHours::default(),
        }
    }

    /// Rejects further calls; calls that wait for a place fail.
    pub fn stop(&self) {
        self.places.close();
    }

    /// Whether a call for a waiting person may be made now. It fails while the
    /// marketplace is down.
    pub fn may_call(&self) -> Answer<()> {
        let away = |retry_after_s| Failure::Away { retry_after_s };
        self.breaker.allow(Monotonic::now()).map_err(away)
    }

    /// Whether the marketplace counts as down, judged by recent calls.
    pub fn is_away(&self) -> bool {
        self.breaker.is_open()
    }

    /// Exchanges an authorisation code for the first pair of tokens.
    pub fn exchange(&self, code: &str, verifier: &Secret, redirect_uri: &str) -> Answer<TokenPair> {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier.reveal()),
        ])
    }

    /// Exchanges a refresh token for a new pair. The refresh token works only
    /// once.
    pub fn refresh(&self, refresh: &Secret) -> Answer<TokenPair> {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", refresh.reveal())])
    }

    fn place(&self, seller: Option<MlUserId>) -> Answer<Permit<Option<MlUserId>>> {
        self.places.take_within(seller, CALL_PATIENCE).ok_or(Failure::Unreachable)
    }

    fn token(&self, grant: &[(&str, &str)]) -> Answer<TokenPair> {
        let _place = self.place(None)?;
        let credentials =
            [("client_id", &*self.application), ("client_secret", self.secret.reveal())];
        let form = grant.iter().copied().chain(credentials);
        let began = Monotonic::now();
        let sent = self.agent.post(format!("{}/oauth/token", self.api)).send_form(form);
        let answer = read_json(sent);
        self.breaker.note(began, Monotonic::now(), &answer);
        self.noted(began, "POST /oauth/token", &answer);
        // Here 401 means a refused client or grant, not an expired access
        // token.
        let answer = answer.map_err(|failure| match failure {
            Failure::Expired => Failure::Refused { status: 401, code: "unauthorized".to_owned() },
            other => other,
        })?;
        TokenPair::read(&answer)
    }

    /// Downloads a file of the caller.
    pub fn bytes(&self, caller: &Caller<'_>, wanted: &FileRequest<'_>) -> Answer<File> {
        let FileRequest { path, query, most, kind } = *wanted;
        if !is_path(path) {
            return Err(Failure::Garbled("it is no path"));
        }
        self.call(caller, "GET", path, || {
            let request = self.agent.get(format!("{}{path}", self.api));
            let request = request.config().timeout_global(Some(FILE_TIMEOUT)).accept("*/*").build();
            let request = signed(request, caller)
                .query_pairs(query.iter().map(|(name, value)| (*name, value.as_str())));
            let (found, bytes) = read(request.call(), most)?;
            // An unspecific type is accepted too, because the bytes are checked
            // later.
            let says_nothing = matches!(&*found, "" | "application/octet-stream");
            if found.starts_with(kind) || says_nothing && !bytes.starts_with(b"{") {
                return Ok(File { kind: found, bytes });
            }
            // A refusal may come with a success status.
            let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            Err(match refusal(StatusCode::BAD_REQUEST, &said) {
                Failure::Refused { code, .. } if code.is_empty() => {
                    Failure::Garbled("the type of the file")
                }
                refused => refused,
            })
        })
    }

    fn get(&self, caller: &Caller<'_>, path: &str, query: &[(&str, String)]) -> Answer<Value> {
        self.get_at_most(caller, path, query, MAX_BODY)
    }

    fn get_at_most(
        &self,
        caller: &Caller<'_>,
        path: &str,
        query: &[(&str, String)],
        most: u64,
    ) -> Answer<Value> {
        let (_, body) = self.call(caller, "GET", path, || {
            let request = signed(self.agent.get(format!("{}{path}", self.api)), caller)
                .query_pairs(query.iter().map(|(name, value)| (*name, value.as_str())));
            read(request.call(), most)
        })?;
        // Parsed after the call has freed its place for the next one.
        json_of(&body)
    }

    /// Sends JSON, without a retry.
    fn post(&self, caller: &Caller<'_>, path: &str, body: &Value) -> Answer<Value> {
        self.call(caller, "POST", path, || {
            let request = signed(self.agent.post(format!("{}{path}", self.api)), caller);
            read_json(request.send_json(body))
        })
    }

    /// Waits for a free place and makes a call, unless its endpoint is paused.
    fn call<T>(
        &self,
        caller: &Caller<'_>,
        method: &str,
        path: &str,
        call: impl FnOnce() -> Answer<T>,
    ) -> Answer<T> {
        let (seller, endpoint) = (caller.ml_user_id, endpoint_of(path));
        let _place = self.place(Some(seller))?;
        self.pauses.check(seller, &endpoint, self.clock.now())?;
        let began = Monotonic::now();
        let answer = call();
        self.breaker.note(began, Monotonic::now(), &answer);
        self.noted(began, &format!("{method} {path}"), &answer);
        let now = self.clock.now();
        self.pauses.note(caller, &endpoint, now, answer)
    }

    fn noted<T>(&self, began: Monotonic, what: &str, answer: &Answer<T>) {
        let took = began.elapsed();
        journal::note_call(self.clock.now(), took, "marketplace", what, || match answer {
            Ok(_) => Ending { status: Some(200), error: String::new() },
            Err(failure) => Ending { status: failure.status(), error: failure.to_string() },
        });
    }
}

fn signed<B>(request: ureq::RequestBuilder<B>, caller: &Caller<'_>) -> ureq::RequestBuilder<B> {
    request
        .header(header::AUTHORIZATION, format!("Bearer {}", caller.access.reveal()))
        // Without these, answers about shipments are useless; other endpoints
        // ignore them.
        .header("x-format-new", "true")
        .header("x-new-domain", "true")
}

/// Whether a path stays at the marketplace and has no special characters or
/// dots that change its meaning.
fn is_path(path: &str) -> bool {
    path.starts_with('/')
        && path.len() <= 500
        && !path.starts_with("//")
        && !path.split('/').any(|part| part == "." || part == "..")
        && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-.".contains(&byte))
}

/// The JSON of an answer; null for one without content.
fn read_json(sent: Result<Response<Body>, ureq::Error>) -> Answer<Value> {
    let (_, body) = read(sent, MAX_BODY)?;
    json_of(&body)
}

fn json_of(body: &[u8]) -> Answer<Value> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|_| Failure::Garbled("it is not JSON"))
}

/// The type and the bytes of an answer, or what kind of failure it is.
fn read(sent: Result<Response<Body>, ureq::Error>, most: u64) -> Answer<(String, Vec<u8>)> {
    let mut response = sent.map_err(|error| failure_of(&error))?;
    let status = response.status();
    let header = |name: header::HeaderName| {
        let value = response.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let retry_after_s = header(header::RETRY_AFTER)
        .and_then(|value| seconds_until(&value, header(header::DATE).as_deref()));
    let kind = header(header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    let body = response
        .body_mut()
        .with_config()
        .limit(if status.is_success() { most } else { MAX_BODY })
        .read_to_vec();
    if status == StatusCode::NO_CONTENT {
        return Ok((kind, Vec::new()));
    }
    if status.is_success() {
        let body = body.map_err(|error| failure_of(&error))?;
        if body.is_empty() {
            return Err(Failure::Garbled("it is empty"));
        }
        return Ok((kind, body));
    }
    // The body of a refusal is only a hint; some are plain text.
    let answer: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    Err(match status {
        // A blocked application is not a problem of this token.
        StatusCode::UNAUTHORIZED if code_of(&answer) == "unauthorized_scopes" => {
            refusal(status, &answer)
        }
        StatusCode::UNAUTHORIZED => Failure::Expired,
        StatusCode::TOO_MANY_REQUESTS => Failure::RateLimited { retry_after_s },
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT => Failure::Unreachable,
        status if status.is_client_error() => refusal(status, &answer),
        status if status.is_redirection() => Failure::Garbled("it leads elsewhere"),
        _ => Failure::Unreachable,
    })
}

/// The seconds in `Retry-After`. A date there is compared with the answer's own
/// `Date` (RFC 9110 §10.2.3).
fn seconds_until(value: &str, date: Option<&str>) -> Option<i64> {
    let value = value.trim();
    let instant = |text: &str| Instant::parse_mail_date(text.trim());
    value.parse().ok().or_else(|| Some(instant(value)?.since(instant(date?)?).max(0)))
}

/// The failure for a refusal; refusals of labels have a format of their own.
fn refusal(status: StatusCode, answer: &Value) -> Failure {
    let failed = labels::failed(answer);
    if !failed.is_empty() {
        return Failure::Unprintable(failed);
    }
    Failure::Refused { status: status.as_u16(), code: code_of(answer) }
}

/// The code of a refusal, from either of two fields.
fn code_of(answer: &Value) -> String {
    text(&answer["error"]).or_else(|| text(&answer["code"])).unwrap_or_default()
}

fn failure_of(error: &ureq::Error) -> Failure {
    tracing::debug!(%error, "a call to the marketplace failed");
    match error {
        ureq::Error::BodyExceedsLimit(_) => Failure::Garbled("it is too large"),
        _ => Failure::Unreachable,
    }
}
