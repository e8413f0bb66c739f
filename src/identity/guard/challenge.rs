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

/// Adds the challenge to a refusal when another token would help. For a missing
/// plan it would not: a new token would be rejected as well.
pub fn challenged(app: &App, request: &Request, problem: Problem) -> Problem {
    let error = match problem.code {
        Code::Unauthorized if !request.headers().contains_key(AUTHORIZATION) => "",
        Code::Unauthorized | Code::AccountSuspended => "error=\"invalid_token\", ",
        Code::InsufficientScope => "error=\"insufficient_scope\", ",
        _ => return problem,
    };
    let scope = oauth::scope(true);
    let metadata = documents::resource_metadata(app, request.path());
    let text = format!("Bearer {error}scope=\"{scope}\", resource_metadata=\"{metadata}\"");
    // Our addresses are checked when the configuration is read.
    let challenge = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"));
    Problem { challenge: Some(Box::new(challenge)), ..problem }
}
