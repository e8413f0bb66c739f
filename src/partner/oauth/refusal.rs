//! Errors of OAuth requests, as the specifications name them.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;

use crate::http::reply::media;
use crate::http::{Problem, Reply};

/// The error codes (RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2, RFC 8707 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidScope,
    InvalidTarget,
    AccessDenied,
    InvalidRedirectUri,
    InvalidClientMetadata,
}

impl Fault {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
        }
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

    /// A code or refresh token that is not valid.
    pub const fn grant(about: &'static str) -> Self {
        Self { fault: Fault::InvalidGrant, about: Cow::Borrowed(about) }
    }

    /// The answer to the program itself.
    pub fn reply(&self) -> Result<Reply, Problem> {
        #[derive(Serialize)]
        struct Body<'a> {
            error: &'static str,
            error_description: &'a str,
        }
        let body = Body { error: self.fault.name(), error_description: &self.about };
        let body = serde_json::to_vec(&body).map_err(Problem::internal)?;
        let status = match self.fault {
            Fault::InvalidClient => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_REQUEST,
        };
        Ok(Reply::of(media::JSON, body).status(status))
    }
}
