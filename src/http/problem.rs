//! Errors of requests, and the families that decide how an error looks.
//!
//! A [`Problem`] has one of a closed list of codes, of which each family has its own
//! part; a code of another family is answered as a failure of ours. The code decides
//! the status, the family alone the body's shape. The cause of an internal problem is
//! logged with the request id and never sent.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;

use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::reply::Reply;
use crate::db::DbError;

crate::named! {
    /// Shapes of error bodies (docs/contract.md, "Errors").
    pub enum Family: text {
        /// Extension and internal JSON: `{"ok":false,…}`.
        Internal = "internal";
        /// Integration, public, webhooks, cron: `{"success":false,…}`.
        Integration = "integration";
        /// Partner API: `{"error":{…}}`.
        Partner = "partner";
        /// Browser pages: an error page, or the internal JSON for callers that ask for JSON.
        Page = "page";
        /// Files: a sentence of plain text.
        File = "file";
        /// Files of the Partner API: what is wrong, as plain text.
        PartnerFile = "partner_file";
        /// The agent endpoint: errors of JSON-RPC 2.0.
        Agent = "agent";
        /// Addresses for OAuth clients: `{"error":…,"error_description":…}` (RFC 6749 §5.2).
        OAuth = "oauth";
    }
}

impl Family {
    /// Whether the family belongs to the Partner API.
    pub const fn is_partner(self) -> bool {
        matches!(self, Self::Partner | Self::PartnerFile | Self::Agent)
    }

    /// Whether its errors can have this code.
    const fn has(self, code: Code) -> bool {
        let (is_panel, is_operation) = (
            matches!(self, Self::Internal | Self::Page | Self::File),
            matches!(self, Self::Partner | Self::Agent),
        );
        match code {
            Code::InvalidCredentials => is_panel,
            Code::PlanRequired | Code::MarketplaceUnavailable => is_panel || self.is_partner(),
            Code::IpNotAllowed | Code::InvalidSignature => matches!(self, Self::Integration),
            Code::InsufficientScope => matches!(self, Self::Integration) || self.is_partner(),
            Code::QuotaExceeded => self.is_partner(),
            Code::IdempotencyKeyReused
            | Code::ChannelNotConnected
            | Code::AlreadyLinked
            | Code::TestTokenRequired
            | Code::EventsExpired => is_operation,
            Code::Unauthorized
            | Code::AccountSuspended
            | Code::NotFound
            | Code::MethodNotAllowed
            | Code::Conflict
            | Code::ValidationFailed
            | Code::TooManyFields
            | Code::InvalidBody
            | Code::PayloadTooLarge
            | Code::RateLimited
            | Code::Forbidden
            | Code::BadRequest
            | Code::UriTooLong
            | Code::HeadersTooLarge
            | Code::UnsupportedMediaType
            | Code::Unavailable
            | Code::Internal => true,
        }
    }

    /// Whether its errors can have all of these codes.
    pub const fn has_all(self, codes: &[Code]) -> bool {
        let mut at = 0;
        while at < codes.len() && self.has(codes[at]) {
            at += 1;
        }
        at == codes.len()
    }

    /// All codes that its errors can have.
    pub fn codes(self) -> impl Iterator<Item = Code> {
        Code::ALL.iter().copied().filter(move |code| self.has(*code))
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

/// Declares the codes, each with its name and its status in most families.
macro_rules! codes {
    ($($code:ident = $name:literal, $status:ident;)*) => {
        /// Machine-readable reasons (docs/contract.md, "Errors"). The list is closed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($code,)*
        }

        impl Code {
            const ALL: &[Self] = &[$(Self::$code,)*];

            const fn usual(self) -> (&'static str, StatusCode) {
                match self { $(Self::$code => ($name, StatusCode::$status),)* }
            }
        }
    };
}

codes! {
    Unauthorized = "unauthorized", UNAUTHORIZED;
    InvalidCredentials = "invalid_credentials", UNAUTHORIZED;
    AccountSuspended = "account_suspended", UNAUTHORIZED;
    InsufficientScope = "insufficient_scope", FORBIDDEN;
    TestTokenRequired = "test_token_required", FORBIDDEN;
    IpNotAllowed = "ip_not_allowed", FORBIDDEN;
    InvalidSignature = "invalid_signature", UNAUTHORIZED;
    NotFound = "not_found", NOT_FOUND;
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED;
    Conflict = "conflict", CONFLICT;
    EventsExpired = "events_expired", GONE;
    ValidationFailed = "validation_failed", UNPROCESSABLE_ENTITY;
    TooManyFields = "validation_failed", UNPROCESSABLE_ENTITY;
    IdempotencyKeyReused = "idempotency_key_reused", BAD_REQUEST;
    InvalidBody = "invalid_body", UNPROCESSABLE_ENTITY;
    PayloadTooLarge = "payload_too_large", PAYLOAD_TOO_LARGE;
    RateLimited = "rate_limited", TOO_MANY_REQUESTS;
    QuotaExceeded = "quota_exceeded", TOO_MANY_REQUESTS;
    PlanRequired = "plan_required", PAYMENT_REQUIRED;
    Forbidden = "forbidden", FORBIDDEN;
    BadRequest = "bad_request", BAD_REQUEST;
    UriTooLong = "bad_request", URI_TOO_LONG;
    HeadersTooLarge = "bad_request", REQUEST_HEADER_FIELDS_TOO_LARGE;
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE;
    ChannelNotConnected = "channel_not_connected", BAD_REQUEST;
    AlreadyLinked = "already_linked", BAD_REQUEST;
    Unavailable = "unavailable", SERVICE_UNAVAILABLE;
    MarketplaceUnavailable = "marketplace_unavailable", BAD_GATEWAY;
    Internal = "internal", INTERNAL_SERVER_ERROR;
}

impl Code {
    /// The code that is answered in a family. One of another family is a mistake of ours,
    /// and answered as one.
    fn within(self, family: Family) -> Self {
        if family.has(self) {
            return self;
        }
        tracing::error!(code = ?self, ?family, "an error with a code of another family");
        Self::Internal
    }

    /// The code as a family sends it. Only the Partner API distinguishes a malformed
    /// body from fields that fail their checks.
    pub fn name(self, family: Family) -> &'static str {
        match self.within(family) {
            Self::RateLimited | Self::Unavailable if family == Family::OAuth => {
                "temporarily_unavailable"
            }
            Self::Internal if family == Family::OAuth => "server_error",
            _ if family == Family::OAuth => "invalid_request",
            Self::InvalidBody if !family.is_partner() => "validation_failed",
            code => code.usual().0,
        }
    }

    pub fn status(self, family: Family) -> StatusCode {
        match self.within(family) {
            Self::ValidationFailed | Self::TooManyFields | Self::InvalidBody
                if family.is_partner() || family == Family::OAuth =>
            {
                StatusCode::BAD_REQUEST
            }
            code => code.usual().1,
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
    /// One sentence, safe to send: for people where people can meet the refusal, in
    /// Portuguese (decision panel-16), else for programs, in English.
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

/// Sentences that people read: whole ones, in Brazilian Portuguese.
pub struct ForPeople<T>(pub T);

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

    /// The same with a text for the error page.
    #[must_use]
    pub fn telling(self, told: Told) -> Self {
        Self { told: Some(Box::new(told)), ..self }
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

    /// A refusal that people read: its words are those of its page, of its file and of
    /// its JSON.
    pub fn told<T: Into<Cow<'static, str>>>(code: Code, words: ForPeople<T>) -> Self {
        let words = words.0.into();
        Self::new(code, words.clone()).for_people(ForPeople(words))
    }

    /// The same with words for people; programs keep the sentence that it has.
    #[must_use]
    pub fn for_people<T: Into<Cow<'static, str>>>(self, ForPeople(words): ForPeople<T>) -> Self {
        let title = match self.code {
            Code::Forbidden | Code::PlanRequired => "Sua conta não pode fazer isso",
            Code::MarketplaceUnavailable => "O marketplace não fez isso",
            Code::RateLimited => "Muitas tentativas em pouco tempo",
            _ => "Isso não é possível agora",
        };
        let text = format!("{} Nada foi alterado.", words.into());
        self.telling(Told { title, text, href: "/".to_owned(), button: None })
    }

    /// It does not go with the present state, in a panel: what changed meanwhile, or what
    /// must be done before.
    pub fn conflict<T: Into<Cow<'static, str>>>(words: ForPeople<T>) -> Self {
        Self::told(Code::Conflict, words)
    }

    /// It does not go with the present state, at an address for programs alone.
    pub fn program_conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Conflict, message)
    }

    /// A person may not do this.
    pub fn closed(words: ForPeople<&'static str>) -> Self {
        Self::told(Code::Forbidden, words)
    }

    /// A program may not do this.
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

    /// The same problem, answered with this instead of the family's shape.
    pub fn answered(self, reply: Result<Reply, Self>) -> Self {
        match reply {
            Ok(reply) => Self { answer: Some(Box::new(reply)), ..self },
            Err(problem) => problem,
        }
    }

    /// The answer that [`Self::answered`] gave it, if any.
    pub fn into_answer(mut self) -> Result<Reply, Self> {
        self.answer.take().map_or(Err(self), |reply| Ok(*reply))
    }

    /// What is said of a field.
    pub fn fault(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, said)| &**said)
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
        if !family.has(self.code) {
            return Self::internal("a code of another family").body(family, request_id);
        }
        if family == Family::OAuth {
            let body = json!({ "error": self.code.name(family), "error_description": self.text() });
            return body.to_string().into_bytes();
        }
        let mut error = Map::new();
        error.insert("code".to_owned(), self.code.name(family).into());
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
                let status = self.code.status(family).as_u16();
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
