//! Errors of requests, and the families that decide how an error looks.
//!
//! A [`Problem`] has one of a closed list of codes. Each family has a closed list of
//! codes; what is answered is a [`FamilyCode`], which no other code becomes. It
//! decides the status; the family alone decides the body's shape. The cause of an
//! internal problem is logged with the request id and never sent.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;

use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::reply::Reply;
use crate::db::DbError;

/// Shapes of error bodies (docs/contract.md, "Errors").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Extension and internal JSON: `{"ok":false,…}`.
    Internal,
    /// Integration, public, webhooks, cron: `{"success":false,…}`.
    Integration,
    /// Partner API: `{"error":{…}}`.
    Partner,
    /// Browser pages: an error page, or the internal JSON for callers that ask for JSON.
    Page,
    /// Files: a sentence of plain text.
    File,
    /// Files of the Partner API: what is wrong, as plain text.
    PartnerFile,
    /// The agent endpoint: errors of JSON-RPC 2.0.
    Agent,
    /// Addresses for OAuth clients: `{"error":…,"error_description":…}` (RFC
    /// 6749 §5.2).
    OAuth,
}

impl Family {
    /// Name for the route list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Integration => "integration",
            Self::Partner => "partner",
            Self::Page => "page",
            Self::File => "file",
            Self::PartnerFile => "partner_file",
            Self::Agent => "agent",
            Self::OAuth => "oauth",
        }
    }

    /// Whether the family belongs to the Partner API.
    pub const fn is_partner(self) -> bool {
        matches!(self, Self::Partner | Self::PartnerFile | Self::Agent)
    }

    /// The codes that its errors have beside those of every family.
    const fn own_codes(self) -> &'static [Code] {
        match self {
            Self::Internal | Self::Page | Self::File => {
                &[Code::InvalidCredentials, Code::PlanRequired, Code::MarketplaceUnavailable]
            }
            Self::Integration => {
                &[Code::InsufficientScope, Code::IpNotAllowed, Code::InvalidSignature]
            }
            Self::Partner | Self::Agent => &PARTNER,
            Self::PartnerFile => &[
                Code::InsufficientScope,
                Code::QuotaExceeded,
                Code::PlanRequired,
                Code::MarketplaceUnavailable,
            ],
            Self::OAuth => &[],
        }
    }

    /// All codes that its errors can have.
    pub fn codes(self) -> impl Iterator<Item = Code> {
        COMMON.iter().chain(self.own_codes()).copied()
    }

    /// Whether its errors can have all of these codes.
    pub const fn has(self, codes: &[Code]) -> bool {
        let mut at = 0;
        while at < codes.len() {
            if !is_among(codes[at], &COMMON) && !is_among(codes[at], self.own_codes()) {
                return false;
            }
            at += 1;
        }
        true
    }

    /// The family of errors for a path that no row matches.
    pub fn of_unknown_path(path: &str) -> Self {
        if path.starts_with("/api/v1/partner/") || path.starts_with("/v1/partner/") {
            Self::Partner
        } else if path == "/mcp" {
            Self::Agent
        } else if path.starts_with("/api/ext/") {
            Self::Internal
        } else if path.starts_with("/api/") || path.starts_with("/ml/") {
            Self::Integration
        } else {
            Self::Page
        }
    }
}

/// Machine-readable reasons (docs/contract.md, "Errors"). The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Unauthorized,
    InvalidCredentials,
    AccountSuspended,
    InsufficientScope,
    IpNotAllowed,
    InvalidSignature,
    NotFound,
    MethodNotAllowed,
    Conflict,
    ValidationFailed,
    TooManyFields,
    IdempotencyKeyReused,
    InvalidBody,
    PayloadTooLarge,
    RateLimited,
    QuotaExceeded,
    PlanRequired,
    Forbidden,
    BadRequest,
    UriTooLong,
    HeadersTooLarge,
    UnsupportedMediaType,
    ChannelNotConnected,
    AlreadyLinked,
    Unavailable,
    MarketplaceUnavailable,
    Internal,
}

/// The codes of every family.
const COMMON: [Code; 17] = [
    Code::Unauthorized,
    Code::AccountSuspended,
    Code::NotFound,
    Code::MethodNotAllowed,
    Code::Conflict,
    Code::ValidationFailed,
    Code::TooManyFields,
    Code::InvalidBody,
    Code::PayloadTooLarge,
    Code::RateLimited,
    Code::Forbidden,
    Code::BadRequest,
    Code::UriTooLong,
    Code::HeadersTooLarge,
    Code::UnsupportedMediaType,
    Code::Unavailable,
    Code::Internal,
];

/// The codes of the Partner API alone.
const PARTNER: [Code; 6] = [
    Code::InsufficientScope,
    Code::IdempotencyKeyReused,
    Code::QuotaExceeded,
    Code::PlanRequired,
    Code::ChannelNotConnected,
    Code::AlreadyLinked,
];

const fn is_among(code: Code, codes: &[Code]) -> bool {
    let mut at = 0;
    while at < codes.len() {
        if codes[at] as u8 == code as u8 {
            return true;
        }
        at += 1;
    }
    false
}

/// A code in a family that has it.
#[derive(Clone, Copy, Debug)]
pub struct FamilyCode {
    code: Code,
    family: Family,
}

impl Code {
    /// The code as errors of a family have it. A code of another family is a mistake of
    /// ours, and answered as one.
    pub fn of(self, family: Family) -> FamilyCode {
        if family.has(&[self]) {
            return FamilyCode { code: self, family };
        }
        tracing::error!(code = ?self, ?family, "an error with a code of another family");
        FamilyCode { code: Self::Internal, family }
    }

    /// The code as a family sends it.
    pub fn name(self, family: Family) -> &'static str {
        self.of(family).name()
    }

    /// The status in a family.
    pub fn status(self, family: Family) -> StatusCode {
        self.of(family).status()
    }
}

impl FamilyCode {
    /// The code as it is sent. Only the Partner API distinguishes a malformed
    /// body from fields that fail their checks.
    pub const fn name(self) -> &'static str {
        let Self { code, family } = self;
        if matches!(family, Family::OAuth) {
            return match code {
                Code::RateLimited | Code::Unavailable => "temporarily_unavailable",
                Code::Internal => "server_error",
                _ => "invalid_request",
            };
        }
        match code {
            Code::InvalidBody if !family.is_partner() => "validation_failed",
            Code::Unauthorized => "unauthorized",
            Code::InvalidCredentials => "invalid_credentials",
            Code::AccountSuspended => "account_suspended",
            Code::InsufficientScope => "insufficient_scope",
            Code::IpNotAllowed => "ip_not_allowed",
            Code::InvalidSignature => "invalid_signature",
            Code::NotFound => "not_found",
            Code::MethodNotAllowed => "method_not_allowed",
            Code::Conflict => "conflict",
            Code::ValidationFailed | Code::TooManyFields => "validation_failed",
            Code::IdempotencyKeyReused => "idempotency_key_reused",
            Code::InvalidBody => "invalid_body",
            Code::PayloadTooLarge => "payload_too_large",
            Code::RateLimited => "rate_limited",
            Code::QuotaExceeded => "quota_exceeded",
            Code::PlanRequired => "plan_required",
            Code::Forbidden => "forbidden",
            Code::BadRequest | Code::UriTooLong | Code::HeadersTooLarge => "bad_request",
            Code::UnsupportedMediaType => "unsupported_media_type",
            Code::ChannelNotConnected => "channel_not_connected",
            Code::AlreadyLinked => "already_linked",
            Code::Unavailable => "unavailable",
            Code::MarketplaceUnavailable => "marketplace_unavailable",
            Code::Internal => "internal",
        }
    }

    /// The status in its family.
    pub const fn status(self) -> StatusCode {
        let Self { code, family } = self;
        match code {
            Code::Unauthorized
            | Code::InvalidCredentials
            | Code::AccountSuspended
            | Code::InvalidSignature => StatusCode::UNAUTHORIZED,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::Conflict => StatusCode::CONFLICT,
            Code::ValidationFailed | Code::TooManyFields | Code::InvalidBody => {
                if family.is_partner() || matches!(family, Family::OAuth) {
                    StatusCode::BAD_REQUEST
                } else {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
            }
            Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::RateLimited | Code::QuotaExceeded => StatusCode::TOO_MANY_REQUESTS,
            Code::PlanRequired => StatusCode::PAYMENT_REQUIRED,
            Code::Forbidden | Code::InsufficientScope | Code::IpNotAllowed => StatusCode::FORBIDDEN,
            Code::BadRequest
            | Code::ChannelNotConnected
            | Code::AlreadyLinked
            | Code::IdempotencyKeyReused => StatusCode::BAD_REQUEST,
            Code::UriTooLong => StatusCode::URI_TOO_LONG,
            Code::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::MarketplaceUnavailable => StatusCode::BAD_GATEWAY,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// Invalid fields, each with a message.
pub type Fields = Vec<(Cow<'static, str>, Cow<'static, str>)>;

/// Why a request was not served.
#[derive(Debug)]
pub struct Problem {
    /// The machine-readable reason.
    pub code: Code,
    /// One sentence for people, safe to send.
    pub message: Cow<'static, str>,
    /// The invalid fields, if the problem is about fields.
    pub fields: Fields,
    /// Seconds after which a retry makes sense.
    pub retry_after_s: Option<i64>,
    /// The text of the error page, instead of the usual text of the status.
    pub told: Option<Box<Told>>,
    /// A finished answer, used instead of the family's shape.
    pub answer: Option<Box<Reply>>,
    /// The value of `WWW-Authenticate`, where it says more than the code.
    pub challenge: Option<Box<HeaderValue>>,
    /// What to log; never sent.
    pub cause: Option<Box<dyn Error + Send + Sync>>,
}

/// The text of an error page.
#[derive(Debug)]
pub struct Told {
    /// What happened.
    pub title: &'static str,
    /// What was not changed, and what to do.
    pub text: String,
    /// Where the button leads.
    pub href: String,
    /// What the button says, where it does not lead to the start page.
    pub button: Option<String>,
}

impl Problem {
    /// A problem with a code and a sentence.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            fields: Vec::new(),
            retry_after_s: None,
            told: None,
            answer: None,
            challenge: None,
            cause: None,
        }
    }

    /// The credential is missing, wrong or expired.
    pub fn unauthorized() -> Self {
        Self::new(Code::Unauthorized, "token missing, invalid or expired")
    }

    /// The account is suspended.
    pub fn suspended() -> Self {
        Self::new(Code::AccountSuspended, "this account is suspended")
    }

    /// The requested thing does not exist, or belongs to somebody else.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "not found")
    }

    /// The caller may not do this.
    pub fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Forbidden, message)
    }

    /// One invalid field.
    pub fn field(
        name: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::invalid(vec![(name.into(), message.into())])
    }

    /// Several invalid fields.
    pub fn invalid(fields: Fields) -> Self {
        Self { fields, ..Self::new(Code::ValidationFailed, "some fields are missing or invalid") }
    }

    /// Invalid fields, together with those of a problem that the same request has
    /// besides. The first message for a field is kept.
    pub fn beside(mut fields: Fields, other: Option<Self>) -> Self {
        let other = other.filter(|other| !other.fields.is_empty());
        let Some(other) = other else { return Self::invalid(fields) };
        for field in other.fields {
            if !fields.iter().any(|(known, _)| *known == field.0) {
                fields.push(field);
            }
        }
        Self { fields, ..other }
    }

    /// The service cannot do this now; try again.
    pub fn unavailable(message: impl Into<Cow<'static, str>>, retry_after_s: i64) -> Self {
        Self { retry_after_s: Some(retry_after_s), ..Self::new(Code::Unavailable, message) }
    }

    /// A failure of ours.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(Code::Internal, "internal error; quote the request id when reporting it")
        }
    }

    /// What is wrong, in lines of plain text.
    pub fn text(&self) -> String {
        let mut text = self.message.to_string();
        for (name, said) in &self.fields {
            // Writing to a text cannot fail.
            let _ = write!(text, "\n{name}: {said}");
        }
        text
    }

    /// The JSON body in a family's shape.
    pub fn body(&self, family: Family, request_id: &str) -> Vec<u8> {
        if !family.has(&[self.code]) {
            return Self::internal("a code of another family").body(family, request_id);
        }
        let code = self.code.of(family);
        if family == Family::OAuth {
            let body = json!({ "error": code.name(), "error_description": self.text() });
            return body.to_string().into_bytes();
        }
        let mut error = Map::new();
        error.insert("code".to_owned(), code.name().into());
        error.insert("message".to_owned(), Value::from(&*self.message));
        if matches!(family, Family::Partner | Family::Agent) {
            error.insert("request_id".to_owned(), request_id.into());
        }
        if !self.fields.is_empty() {
            let fields =
                self.fields.iter().map(|(name, text)| (name.to_string(), Value::from(&**text)));
            error.insert("fields".to_owned(), Value::Object(fields.collect()));
        }
        let body = match family {
            Family::Partner => json!({ "error": error }),
            Family::Agent => {
                let status = code.status().as_u16();
                let message = error.remove("message");
                // The call was not parsed, so its id is null (JSON-RPC 2.0 §5).
                // Clients ignore an answer without an id.
                json!({ "jsonrpc": "2.0", "id": null, "error": { "code": status, "message": message, "data": error } })
            }
            Family::Integration => {
                error.insert("success".to_owned(), false.into());
                Value::Object(error)
            }
            Family::Internal
            | Family::Page
            | Family::File
            | Family::PartnerFile
            | Family::OAuth => {
                error.insert("ok".to_owned(), false.into());
                Value::Object(error)
            }
        };
        body.to_string().into_bytes()
    }
}

impl From<DbError> for Problem {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Busy | DbError::Stopped => Self {
                cause: Some(error.into()),
                ..Self::unavailable("the service is busy; try again in a moment", 1)
            },
            // The alarm was logged when it was raised.
            DbError::Damaged(_) => {
                Self::unavailable("this cannot be read until the operator restores a copy", 60)
            }
            DbError::Refused => {
                Self::unavailable("the service cannot store anything until its operator acts", 60)
            }
            DbError::Full => Self {
                cause: Some(error.into()),
                ..Self::unavailable("the service cannot store anything at the moment", 10)
            },
            other => Self::internal(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_another_family_is_answered_as_a_failure_of_ours() {
        let taken = Problem::new(Code::AlreadyLinked, "the listing is linked");
        let body = |family| serde_json::from_slice::<Value>(&taken.body(family, "id")).unwrap();
        assert_eq!(body(Family::Partner)["error"]["code"], "already_linked");
        assert_eq!(body(Family::Integration)["code"], "internal");
        assert_eq!(taken.code.status(Family::Partner), StatusCode::BAD_REQUEST);
        assert_eq!(taken.code.status(Family::Page), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
