//! Requests and replies of the sandbox as plain values. `server.rs` reads and
//! writes them.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

/// A request with its body in memory.
pub struct Request {
    /// HTTP method, upper case.
    pub method: String,
    /// Path as received: the marketplace's paths need no decoding.
    pub path: String,
    /// Query text as received.
    pub raw_query: String,
    /// Decoded query pairs, in order.
    pub query: Vec<(String, String)>,
    pub headers: hyper::HeaderMap,
    pub body: Bytes,
}

impl Request {
    /// The first value of a query parameter.
    pub fn query(&self, name: &str) -> Option<&str> {
        first(&self.query, name)
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body's form pairs, in order.
    pub fn form(&self) -> Vec<(String, String)> {
        pairs(&self.body)
    }

    /// A field of the body's form; empty when it is missing.
    pub fn field(&self, name: &str) -> String {
        first(&self.form(), name).unwrap_or_default().to_owned()
    }

    /// The body as JSON; null when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The key of an `authorization: Bearer` header.
    pub fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    /// Whether a browser sent this from a page of another site. The sandbox has
    /// no login, so only this check keeps other sites from pressing its buttons.
    pub fn is_from_elsewhere(&self) -> bool {
        let site = self.header("sec-fetch-site").unwrap_or("none");
        self.method != "GET" && !matches!(site, "same-origin" | "none")
    }
}

/// Decodes `a=b&c=d`.
pub fn pairs(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text).into_owned().collect()
}

/// The first value of a name.
pub fn first<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let pair = pairs.iter().find(|(key, _)| key == name)?;
    Some(&pair.1)
}

/// How a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// At once.
    Whole,
    /// Nothing for that many milliseconds, then the connection is closed.
    Hang(u64),
    /// In pieces over that many milliseconds.
    Slow(u64),
    /// The head with the whole length and half of the body, then the connection
    /// is closed. A reply without a body is sent whole.
    Truncated,
    /// Not at all: the connection is closed.
    Lost,
}

/// A reply in memory.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// How it is sent.
    pub send_mode: SendMode,
}

impl Reply {
    /// A reply of any content.
    pub fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body,
            send_mode: SendMode::Whole,
        }
    }

    pub fn json(status: u16, value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("the sandbox's values have text keys");
        Self::new(status, "application/json; charset=utf-8", body)
    }

    /// The result of a successful handler: 200 with JSON.
    #[expect(clippy::needless_pass_by_value, reason = "it is made where it is sent")]
    pub fn ok(body: Value) -> Result<Self, Self> {
        Ok(Self::json(200, &body))
    }

    /// The marketplace's general error.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, &error_body(status, code, message))
    }

    /// The marketplace's 400.
    pub fn bad_request(message: &str) -> Self {
        Self::error(400, "bad_request", message)
    }

    /// The marketplace's 403.
    pub fn forbidden(message: &str) -> Self {
        Self::error(403, "forbidden", message)
    }

    /// The marketplace's 404.
    pub fn not_found(message: &str) -> Self {
        Self::error(404, "not_found", message)
    }

    /// A reply with an empty body.
    pub fn empty(status: u16) -> Self {
        Self::text(status, "")
    }

    pub fn pdf(body: Vec<u8>) -> Self {
        Self::new(200, "application/pdf", body)
    }

    pub fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.into())
    }

    pub fn html(status: u16, html: &str) -> Self {
        Self::new(status, "text/html; charset=utf-8", html.into())
    }

    /// 303 to another address.
    pub fn see_other(location: &str) -> Self {
        Self::empty(303).header("location", location)
    }

    /// Adds a header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sets how the reply is sent.
    pub fn sent(mut self, send_mode: SendMode) -> Self {
        self.send_mode = send_mode;
        self
    }
}

/// The marketplace's general error, as JSON.
pub fn error_body(status: u16, code: &str, message: &str) -> Value {
    serde_json::json!({ "message": message, "error": code, "status": status, "cause": [] })
}
