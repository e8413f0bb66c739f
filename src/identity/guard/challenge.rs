//! The challenge in refusals of the Partner API: it tells a program where to
//! find the authorization server and which scope to request (RFC 6750 §3, RFC
//! 9728 §5.1).
//!
//! It always names both scopes. Programs ask for exactly what it names, and the
//! person can give less but not more.

use http::HeaderValue;
use http::header::AUTHORIZATION;

use crate::app::App;
use crate::http::{Code, Problem, Request};
use crate::partner::oauth::{self, documents};

/// Why a caller is challenged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// No credential was sent.
    Missing,
    /// The credential that was sent is not valid.
    Invalid,
    /// The credential may only read, and this call does more.
    Narrow,
}

/// The value of `WWW-Authenticate`.
pub fn bearer_challenge(app: &App, why: Challenge) -> HeaderValue {
    let error = match why {
        Challenge::Missing => "",
        Challenge::Invalid => "error=\"invalid_token\", ",
        Challenge::Narrow => "error=\"insufficient_scope\", ",
    };
    let scope = oauth::scope(true);
    let metadata = documents::resource_metadata(app);
    let text = format!("Bearer {error}scope=\"{scope}\", resource_metadata=\"{metadata}\"");
    // Our addresses are checked when the configuration is read.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

/// Adds the challenge to a refusal when another token would help. For a missing
/// plan it would not: a new token would be rejected as well.
pub fn challenged(app: &App, request: &Request, problem: Problem) -> Problem {
    let why = match problem.code {
        Code::Unauthorized if !request.headers().contains_key(AUTHORIZATION) => Challenge::Missing,
        Code::Unauthorized | Code::AccountSuspended => Challenge::Invalid,
        Code::InsufficientScope => Challenge::Narrow,
        _ => return problem,
    };
    Problem { challenge: Some(Box::new(bearer_challenge(app, why))), ..problem }
}
