//! What every answer carries: request id, date, security and cross-origin
//! headers, limits, and the body of an error in its family's shape.

use std::cell::RefCell;
use std::thread::LocalKey;

use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, DATE, REFERRER_POLICY,
    RETRY_AFTER, STRICT_TRANSPORT_SECURITY, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::app::App;
use crate::base::clock::Instant;
use crate::edge::route::Route;
use crate::http::cors::Cors;
use crate::http::limit::Verdict;
use crate::http::reply::media;
use crate::http::{Body, Code, Family, Problem, Reply, policy};
use crate::panel::view::{ErrorPage, Layout, error_text};

/// Name of the header that carries the request id.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const SCOPE: HeaderName = HeaderName::from_static("x-ratelimit-scope");

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
// A stricter policy would make browsers send `Origin: null` with our own forms.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const CROSS_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");
const DATA_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const PAGE_POLICY: HeaderValue = policy::page();
const NO_FEATURES: HeaderValue =
    HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=()");
// Not for subdomains: they are other machines'.
const TWO_YEARS: HeaderValue = HeaderValue::from_static("max-age=63072000");
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");
const NO_SCOPE: HeaderValue = HeaderValue::from_static("Bearer error=\"insufficient_scope\"");

const TOO_MANY_FIELDS: &str = "O endereço ou o formulário tem campos demais. Nada foi alterado. Volte à página anterior e tente de novo.";

/// The parts of a request that its answer needs.
pub struct Stamp<'r> {
    pub app: &'r App,
    pub id: HeaderValue,
    pub family: Family,
    /// The row, when one was found.
    pub route: Option<&'r Route>,
    /// The verdict of the rate limiter.
    pub verdict: Option<Verdict>,
    /// The request's `Origin`.
    pub origin: Option<HeaderValue>,
    /// When the request came.
    pub now: Instant,
    /// A header map to reuse; its old content is removed.
    pub spare: HeaderMap,
}

impl<'r> Stamp<'r> {
    /// A stamp for a request without a row yet.
    pub fn new(app: &'r App, id: HeaderValue, family: Family, now: Instant) -> Self {
        Self {
            app,
            id,
            family,
            route: None,
            verdict: None,
            origin: None,
            now,
            spare: HeaderMap::new(),
        }
    }

    /// A finished answer.
    pub fn reply(self, reply: Reply) -> Response<Body> {
        let is_page = reply.media.as_ref().is_some_and(|media| *media == media::HTML);
        let mut headers = self.spare;
        headers.clear();
        headers.reserve(20);
        if let Some(media) = reply.media {
            headers.insert(CONTENT_TYPE, media);
        }
        headers.insert(X_REQUEST_ID, self.id);
        headers.insert(DATE, date(self.now));
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        if is_page {
            headers.insert(CONTENT_SECURITY_POLICY, PAGE_POLICY);
            headers.insert(REFERRER_POLICY, SAME_ORIGIN);
            headers.insert(OPENER_POLICY, SAME_ORIGIN);
            headers.insert(PERMISSIONS_POLICY, NO_FEATURES);
        } else {
            headers.insert(CONTENT_SECURITY_POLICY, DATA_POLICY);
            headers.insert(REFERRER_POLICY, NO_REFERRER);
        }
        let cors = self.route.map_or(Cors::None, |route| route.surface.cors());
        headers.insert(RESOURCE_POLICY, if cors == Cors::Any { CROSS_ORIGIN } else { SAME_ORIGIN });
        cors.stamp(self.origin.as_ref(), &self.app.server.addresses, &mut headers);
        if self.app.server.addresses.is_https() {
            headers.insert(STRICT_TRANSPORT_SECURITY, TWO_YEARS);
        }
        let own = reply.verdict.map(|verdict| *verdict);
        let verdict = match (self.verdict, own) {
            (Some(guards), Some(own)) => Some(guards.stricter(own)),
            (guards, own) => guards.or(own),
        };
        // A refusal by another limit than the one that the guard asked shows none.
        let is_refused = reply.status == StatusCode::TOO_MANY_REQUESTS;
        if let Some(verdict) = verdict.filter(|verdict| !(is_refused && verdict.allowed)) {
            headers.insert(LIMIT, limit(verdict.limit));
            headers.insert(REMAINING, verdict.remaining.into());
            headers.insert(RESET, reset(verdict.reset));
            if is_refused {
                headers.insert(RETRY_AFTER, verdict.retry_after_s(self.now).into());
                headers.insert(SCOPE, HeaderValue::from_static(verdict.scope.name()));
            }
        }
        for (name, value) in reply.headers {
            if name == http::header::SET_COOKIE || name == VARY {
                headers.append(name, value);
            } else {
                headers.insert(name, value);
            }
        }
        headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
        let mut response = Response::new(reply.body);
        *response.status_mut() = reply.status;
        *response.headers_mut() = headers;
        response
    }

    /// A problem as a finished answer.
    pub fn problem(self, mut problem: Problem, html: bool) -> Response<Body> {
        let answer = problem.answer.take();
        let reply = answer.map_or_else(|| self.problem_reply(&problem, html), |answer| *answer);
        self.reply(reply)
    }

    /// A problem in its family's shape.
    pub fn problem_reply(&self, problem: &Problem, html: bool) -> Reply {
        let status = problem.code.status(self.family);
        let mut reply = if self.family == Family::File {
            let text = match (&problem.told, problem.code) {
                (Some(told), _) => format!("{}. {}", told.title, told.text),
                (_, Code::TooManyFields) => TOO_MANY_FIELDS.to_owned(),
                _ => error_text(status.as_u16(), self.id_text()),
            };
            Reply::of(media::TEXT, text).status(status)
        } else if self.family == Family::PartnerFile {
            Reply::of(media::TEXT, problem.text()).status(status)
        } else if html {
            self.error_page(status, problem)
        } else {
            Reply::of(media::JSON, problem.body(self.family, self.id_text())).status(status)
        };
        reply = reply.retry_after(problem.retry_after_s);
        if let Some(challenge) = &problem.challenge {
            return reply.with(WWW_AUTHENTICATE, HeaderValue::clone(challenge));
        }
        match problem.code {
            Code::Unauthorized if !html => reply.with(WWW_AUTHENTICATE, BEARER),
            Code::InsufficientScope => reply.with(WWW_AUTHENTICATE, NO_SCOPE),
            _ => reply,
        }
    }

    fn id_text(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// The page for an error; plain text when the page cannot be rendered.
    fn error_page(&self, status: StatusCode, problem: &Problem) -> Reply {
        let layout = Layout::outside(&self.app.config.server.name, self.now);
        let mut page = ErrorPage::new(layout, status.as_u16(), self.id_text(), None);
        if let Some(told) = &problem.told {
            page.title = told.title;
            page.text = told.text.clone().into();
            page.href.clone_from(&told.href);
            if let Some(button) = &told.button {
                page.button = button.clone().into();
            }
        } else if problem.code == Code::TooManyFields {
            page.text = TOO_MANY_FIELDS.into();
        }
        let plain = || {
            Reply::of(media::TEXT, format!("{}\nrequest id: {}\n", problem.message, self.id_text()))
        };
        Reply::page(&page).unwrap_or_else(|_| plain()).status(status)
    }
}

/// The last header value that a thread made from a number. Successive answers
/// mostly have the same date, limit and end of the window.
type Last = RefCell<(i64, HeaderValue)>;

const fn none_yet() -> Last {
    RefCell::new((i64::MIN, HeaderValue::from_static("")))
}

thread_local! {
    static DATE_VALUE: Last = const { none_yet() };
    static LIMIT_VALUE: Last = const { none_yet() };
    static RESET_VALUE: Last = const { none_yet() };
}

fn date(now: Instant) -> HeaderValue {
    remembered(&DATE_VALUE, now.0, || {
        HeaderValue::try_from(now.http_date()).unwrap_or(HeaderValue::from_static(""))
    })
}

fn limit(limit: u32) -> HeaderValue {
    remembered(&LIMIT_VALUE, limit.into(), || limit.into())
}

fn reset(at: Instant) -> HeaderValue {
    remembered(&RESET_VALUE, at.0, || at.0.into())
}

fn remembered(
    last: &'static LocalKey<Last>,
    number: i64,
    make: impl FnOnce() -> HeaderValue,
) -> HeaderValue {
    last.with_borrow_mut(|(of, value)| {
        if *of != number {
            (*of, *value) = (number, make());
        }
        value.clone()
    })
}

/// Removes the body of an answer to `HEAD`. The header still has the body's
/// length, where it is known.
pub fn drop_body(response: &mut Response<Body>) {
    use hyper::body::Body as _;
    let length = response.body().size_hint().exact();
    // These have no body for GET either, and must have no length (RFC 9110 §8.6).
    if let Some(length) = length
        && !matches!(response.status(), StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT)
    {
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    *response.body_mut() = Body::empty();
}
