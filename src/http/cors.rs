//! Cross-origin rules: which pages of other origins may read our answers.
//!
//! Never with credentials: session routes have no CORS at all.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Who may read a route's answers from another origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cors {
    /// Nobody: session routes and hooks.
    None,
    /// Any origin: API v1 and the Partner API.
    Any,
    /// Browser extensions and our own origin.
    Extension,
}

const ALLOW_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, If-None-Match, If-Modified-Since, Idempotency-Key, X-Request-Id",
);
const EXPOSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "ETag, Last-Modified, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
);
const ALLOW_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, OPTIONS");
const ANY: HeaderValue = HeaderValue::from_static("*");
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
const VARY_ORIGIN: HeaderValue = HeaderValue::from_static("Origin");

impl Cors {
    /// The origin that an answer allows.
    fn allowed(self, origin: Option<&HeaderValue>, own: &[String]) -> Option<HeaderValue> {
        match self {
            Self::None => None,
            Self::Any => Some(ANY),
            Self::Extension => {
                let origin = origin?;
                let text = origin.to_str().ok()?;
                (is_extension(text) || own.iter().any(|own| own == text)).then(|| origin.clone())
            }
        }
    }

    /// Headers of an ordinary answer.
    pub fn stamp(self, origin: Option<&HeaderValue>, own: &[String], answer: &mut HeaderMap) {
        if self == Self::Extension {
            answer.append(VARY, VARY_ORIGIN);
        }
        if let Some(allowed) = self.allowed(origin, own) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSE_HEADERS);
        }
    }

    /// Further headers of the answer to a preflight request.
    pub fn preflight(
        self,
        origin: Option<&HeaderValue>,
        own: &[String],
    ) -> Vec<(HeaderName, HeaderValue)> {
        if self.allowed(origin, own).is_none() {
            return Vec::new();
        }
        vec![
            (ACCESS_CONTROL_ALLOW_METHODS, ALLOW_METHODS),
            (ACCESS_CONTROL_ALLOW_HEADERS, ALLOW_HEADERS),
            (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
        ]
    }
}

/// Whether an origin is a browser extension's: a known scheme and an
/// identifier without further parts.
fn is_extension(origin: &str) -> bool {
    ["chrome-extension://", "moz-extension://", "safari-web-extension://"].iter().any(|scheme| {
        origin.strip_prefix(scheme).is_some_and(|id| {
            !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alike_origins_are_not_extensions() {
        let own = vec!["https://painel.exemplo.com".to_owned()];
        let allowed =
            |origin: &str| Cors::Extension.allowed(Some(&origin.parse().unwrap()), &own).is_some();
        for good in
            ["chrome-extension://abcdef", "moz-extension://1f-2e", "https://painel.exemplo.com"]
        {
            assert!(allowed(good), "{good}");
        }
        for bad in [
            "null",
            "chrome-extension://",
            "chrome-extension://a.b",
            "xchrome-extension://a",
            "https://painel.exemplo.com.evil.com",
            "http://painel.exemplo.com",
            "https://evil.com/chrome-extension://a",
        ] {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
