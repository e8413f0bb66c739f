//! Errors of OAuth requests, as the specifications name them.

use std::borrow::Cow;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::http::{Problem, Reply};
use crate::named;

named! {
    /// The error codes (RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2, RFC 8707 §2).
    pub enum Fault: text {
        InvalidRequest = "invalid_request";
        InvalidClient = "invalid_client";
        InvalidGrant = "invalid_grant";
        UnsupportedGrantType = "unsupported_grant_type";
        UnsupportedResponseType = "unsupported_response_type";
        InvalidScope = "invalid_scope";
        InvalidTarget = "invalid_target";
        AccessDenied = "access_denied";
        InvalidRedirectUri = "invalid_redirect_uri";
        InvalidClientMetadata = "invalid_client_metadata";
    }
}

/// A rejected request, with a sentence for the program's developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub fault: Fault,
    pub about: Cow<'static, str>,
}

impl Refusal {
    /// A refusal. The sentence must have plain characters only and no quotes.
    pub fn new(fault: Fault, about: impl Into<Cow<'static, str>>) -> Self {
        Self { fault, about: about.into() }
    }

    /// A request that is not as it must be.
    pub fn request(about: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fault::InvalidRequest, about)
    }

    /// A code or refresh token that is not valid.
    pub const fn grant(about: &'static str) -> Self {
        Self { fault: Fault::InvalidGrant, about: Cow::Borrowed(about) }
    }

    /// The answer to the program itself.
    pub fn reply(&self) -> Result<Reply, Problem> {
        let body = json!({ "error": self.fault.name(), "error_description": self.about });
        let status = match self.fault {
            Fault::InvalidClient => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_REQUEST,
        };
        Ok(Reply::json(&body)?.status(status))
    }

    /// The answer to a program that sent a secret in `Authorization`, with the
    /// challenge that RFC 6749 §5.2 asks for.
    pub fn of_a_secret() -> Result<Reply, Problem> {
        let about = "programs have no secret here: send client_id in the body, without Authorization and client_secret";
        let refused = Self::new(Fault::InvalidClient, about).reply()?;
        Ok(refused.with(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"oauth\"")))
    }
}
