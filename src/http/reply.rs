//! The answer of a handler, before the edge adds what every answer has.

use bytes::Bytes;
use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use super::body::{Body, Pieces};
use super::events::Events;
use super::limit::Verdict;
use super::problem::Problem;
use super::request::Request;

/// Media types that we send.
pub mod media {
    use http::HeaderValue;

    pub const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
    pub const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
    pub const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
    pub const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
}

/// Status, media type, body and the headers that only this answer has.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    /// Media type of the body; none on empty answers.
    pub media: Option<HeaderValue>,
    pub body: Body,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The limiter's verdict, where the handler asked the limiter itself.
    pub verdict: Option<Box<Verdict>>,
    /// A page, and the word that its next view in this session turns into a notice.
    pub notice: Option<Box<(String, String)>>,
}

impl Reply {
    /// An answer without a body.
    pub const fn empty(status: StatusCode) -> Self {
        Self {
            status,
            media: None,
            body: Body::empty(),
            headers: Vec::new(),
            verdict: None,
            notice: None,
        }
    }

    /// An answer with a body of a media type.
    pub fn of(media: HeaderValue, body: impl Into<Bytes>) -> Self {
        let (media, body) = (Some(media), Body::Bytes(body.into()));
        Self { media, body, ..Self::empty(StatusCode::OK) }
    }

    /// An answer of a media type that is made as it is sent.
    pub fn pieces(media: HeaderValue, pieces: Pieces) -> Self {
        Self { body: pieces.into(), ..Self::of(media, Bytes::new()) }
    }

    /// Events, for as long as the caller listens.
    pub fn events(events: Events) -> Self {
        const PASS_ON: HeaderName = HeaderName::from_static("x-accel-buffering");
        let reply = Self { body: events.into(), ..Self::of(media::EVENTS, "") };
        reply.with(PASS_ON, HeaderValue::from_static("no"))
    }

    /// 200 with a value as JSON.
    pub fn json(value: &impl Serialize) -> Result<Self, Problem> {
        serde_json::to_vec(value).map(|body| Self::of(media::JSON, body)).map_err(Problem::internal)
    }

    /// 200 with `"ok":true` and the members of a value as JSON.
    pub fn ok(members: &impl Serialize) -> Result<Self, Problem> {
        #[derive(Serialize)]
        struct Ok<'m, T> {
            ok: bool,
            #[serde(flatten)]
            members: &'m T,
        }
        Self::json(&Ok { ok: true, members })
    }

    /// 200 with a rendered page.
    pub fn page(template: &impl askama::Template) -> Result<Self, Problem> {
        template.render().map(|html| Self::of(media::HTML, html)).map_err(Problem::internal)
    }

    /// 303 to an own path or to an address we made.
    pub fn redirect(to: &str) -> Result<Self, Problem> {
        let location = HeaderValue::from_str(to).map_err(Problem::internal)?;
        Ok(Self::empty(StatusCode::SEE_OTHER).with(LOCATION, location))
    }

    /// 303 to an own page that turns `word` into a notice, once; no notice for
    /// an empty word.
    pub fn back(page: &str, word: &str) -> Result<Self, Problem> {
        let reply = Self::redirect(page)?;
        Ok(if word.is_empty() { reply } else { reply.noticed(page, word) })
    }

    /// The same answer; the next view of `page` turns `word` into a notice.
    pub fn noticed(mut self, page: &str, word: &str) -> Self {
        self.notice = Some(Box::new((page.to_owned(), word.to_owned())));
        self
    }

    /// The answer to a form that was refused: the problem for programs, and the form
    /// again for browsers.
    pub fn form_again<P: askama::Template>(
        request: &Request,
        problem: Problem,
        form: impl FnOnce(&Problem) -> Result<P, Problem>,
    ) -> Result<Self, Problem> {
        if request.wants_json() {
            return Err(problem);
        }
        let reply = Self::page(&form(&problem)?)?.status(problem.code.status(request.family));
        Ok(reply.retry_after(problem.retry_after_s))
    }

    /// The same answer; the request may come again after so many seconds.
    pub fn retry_after(self, seconds: Option<i64>) -> Self {
        match seconds {
            Some(seconds) => self.with(RETRY_AFTER, seconds.into()),
            None => self,
        }
    }

    /// The same answer with another status.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same answer with one more header.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}
