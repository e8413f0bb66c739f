//! Cross-origin rules: which pages of other origins may read our answers.
//!
//! Never with credentials: session routes have no CORS at all.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::addresses::Addresses;

/// Who may read a route's answers from another origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cors {
    /// Nobody: session routes and hooks.
    None,
    /// Any origin: API v1 and the Partner API.
    Any,
    /// Browser extensions and our own origin.
    Extension,
    /// The agent endpoint: assistants in browsers.
    Agent,
}

const ALLOW_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, If-None-Match, If-Modified-Since, Idempotency-Key, X-Request-Id",
);
const EXPOSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "ETag, Last-Modified, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Scope, Idempotency-Replayed, X-Request-Id",
);
const AGENT_ALLOW_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Accept, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID",
);
const AGENT_EXPOSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "WWW-Authenticate, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Scope, X-Request-Id",
);
const ALLOW_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, OPTIONS");
const ANY: HeaderValue = HeaderValue::from_static("*");
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
const VARY_ORIGIN: HeaderValue = HeaderValue::from_static("Origin");

impl Cors {
    /// The origin that an answer allows.
    fn allowed(self, origin: Option<&HeaderValue>, at: &Addresses) -> Option<HeaderValue> {
        let named = |is_known: fn(&Addresses, &str) -> bool| {
            let origin = origin?;
            is_known(at, origin.to_str().ok()?).then(|| origin.clone())
        };
        match self {
            Self::None => None,
            Self::Any => Some(ANY),
            Self::Extension => {
                named(|at, text| is_extension(text) || at.origins.iter().any(|own| own == text))
            }
            Self::Agent => named(Addresses::is_agent_origin),
        }
    }

    /// Headers of an ordinary answer.
    pub fn stamp(self, origin: Option<&HeaderValue>, at: &Addresses, answer: &mut HeaderMap) {
        if matches!(self, Self::Extension | Self::Agent) {
            answer.append(VARY, VARY_ORIGIN);
        }
        if let Some(allowed) = self.allowed(origin, at) {
            let exposed = if self == Self::Agent { AGENT_EXPOSE_HEADERS } else { EXPOSE_HEADERS };
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
    }

    /// Further headers of the answer to a preflight request.
    pub fn preflight(
        self,
        origin: Option<&HeaderValue>,
        at: &Addresses,
    ) -> Vec<(HeaderName, HeaderValue)> {
        if self.allowed(origin, at).is_none() {
            return Vec::new();
        }
        let headers = if self == Self::Agent { AGENT_ALLOW_HEADERS } else { ALLOW_HEADERS };
        vec![
            (ACCESS_CONTROL_ALLOW_METHODS, ALLOW_METHODS),
            (ACCESS_CONTROL_ALLOW_HEADERS, headers),
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
        let own = "https://painel.exemplo.com";
        let at = Addresses::new(own, own, &[], "10.0.0.1:80".parse().unwrap(), false);
        let allowed =
            |origin: &str| Cors::Extension.allowed(Some(&origin.parse().unwrap()), &at).is_some();
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

    #[test]
    fn agents_are_called_from_assistants_and_from_loopback_alone() {
        let own = "https://painel.exemplo.com";
        let more = ["https://agente.exemplo.com".to_owned()];
        let at = |own: &str, bound: &str, is_proxied| {
            Addresses::new(own, "", &more, bound.parse().unwrap(), is_proxied)
        };
        let inside = at("", "127.0.0.1:80", false);
        let outside = at(own, "10.0.0.1:80", false);
        // A proxy on the same machine leads the Internet to these.
        let proxied = at("", "127.0.0.1:80", true);
        let named = at(own, "127.0.0.1:80", false);
        let allowed =
            |origin: &str, at| Cors::Agent.allowed(Some(&origin.parse().unwrap()), at).is_some();
        for good in [own, "https://agente.exemplo.com", "https://claude.ai", "https://chatgpt.com"]
        {
            assert!(allowed(good, &outside), "{good}");
        }
        for bad in ["null", "https://claude.ai.evil.com", "http://claude.ai", "https://evil.com"] {
            assert!(!allowed(bad, &inside), "{bad}");
        }
        for loopback in ["http://localhost:6274", "http://127.0.0.1:3000", "http://[::1]:80"] {
            assert!(allowed(loopback, &inside), "{loopback}");
            for at in [&outside, &proxied, &named] {
                assert!(!allowed(loopback, at), "{loopback}");
            }
        }
    }
}
