//! Findings: what was looked at, and what came of it.

use serde::Serialize;

/// Whether something would fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    #[serde(rename = "ok")]
    Good,
    /// Works, but should be known.
    Note,
    #[serde(rename = "fail")]
    Bad,
}

/// The result of calling a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    /// It answers and accepts us.
    Reached,
    /// It answers, but does not accept us as we are configured.
    Refused,
    /// It does not answer, or not as it should.
    NotReached,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub what: &'static str,
    pub verdict: Verdict,
    /// Set for an outside service that is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ServiceState>,
    pub text: String,
}

/// A finding about anything else.
pub fn finding(what: &'static str, verdict: Verdict, text: impl Into<String>) -> Finding {
    Finding { what, verdict, state: None, text: text.into() }
}
