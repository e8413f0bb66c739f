//! Rules for every reply, whatever the request was.
//!
//! Every actor checks them for every reply, so that each test also tests the
//! request id, the security headers, the error shapes, the markup of the pages in
//! whatever state it sees them, and that no secret is sent back.

use serde_json::Value;

use crate::support::client::{Reply, Request};
use crate::support::{openapi, page_rules};

/// Every machine-readable `code` that an error may have.
const CODES: [&str; 25] = [
    "unauthorized",
    "invalid_credentials",
    "account_suspended",
    "insufficient_scope",
    "test_token_required",
    "ip_not_allowed",
    "invalid_signature",
    "not_found",
    "method_not_allowed",
    "conflict",
    "validation_failed",
    "invalid_body",
    "payload_too_large",
    "rate_limited",
    "quota_exceeded",
    "plan_required",
    "forbidden",
    "bad_request",
    "unsupported_media_type",
    "unavailable",
    "channel_not_connected",
    "already_linked",
    "idempotency_key_reused",
    "marketplace_unavailable",
    "internal",
];

/// A text that must not appear again after the server returned it once, or that
/// it must never send at all.
#[derive(Clone, Debug)]
pub struct Secret {
    pub what: String,
    pub text: String,
}

/// Panics when `reply` breaks a rule that holds for all replies.
#[track_caller]
pub fn check(request: &Request, reply: &Reply, secrets: &[Secret]) {
    let id = reply.header("x-request-id");
    assert!(id.is_some_and(|id| (1..=128).contains(&id.len())), "no x-request-id\n{reply}");
    assert!(reply.header("date").is_some(), "no Date\n{reply}");
    check_security_headers(reply);
    check_what_the_status_needs(reply);
    check_cookies(reply);
    if reply.is_json() && !reply.body.is_empty() {
        let body = reply.json();
        if reply.status >= 400 {
            check_error(request.path(), &body, reply);
        }
        openapi::check(request, reply, &body);
    }
    check_page(reply);
    check_no_secret(reply, secrets);
}

fn check_security_headers(reply: &Reply) {
    let has = |name, value| reply.header(name).is_some_and(|found| found == value);
    assert!(has("x-content-type-options", "nosniff"), "no nosniff\n{reply}");
    let kind = reply.header("content-type").unwrap_or_default();
    if !kind.starts_with("text/html") && !reply.is_json() {
        return;
    }
    assert!(reply.header("referrer-policy").is_some(), "no referrer-policy\n{reply}");
    let policy = reply.header("content-security-policy").unwrap_or_default();
    for part in ["default-src ", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "the policy has no {part:?}\n{reply}");
    }
    for hole in ["'unsafe-inline'", "'unsafe-eval'", "*"] {
        assert!(!policy.contains(hole), "the policy allows {hole}\n{reply}");
    }
}

fn check_page(reply: &Reply) {
    let kind = reply.header("content-type").unwrap_or_default();
    let is_packed = reply.header("content-encoding").is_some();
    if kind.starts_with("text/html") && !reply.body.is_empty() && !is_packed {
        let mut wrong = Vec::new();
        page_rules::markup(&reply.text(), &mut wrong);
        assert!(wrong.is_empty(), "a page breaks rules: {}\n{reply}", wrong.join("\n"));
    }
}

fn check_what_the_status_needs(reply: &Reply) {
    let needed: &[&str] = match reply.status {
        301 | 302 | 303 | 307 | 308 => &["location"],
        405 => &["allow"],
        429 | 503 => &["retry-after"],
        _ => &[],
    };
    for name in needed {
        assert!(reply.header(name).is_some(), "{} without {name}\n{reply}", reply.status);
    }
}

fn check_cookies(reply: &Reply) {
    for (_, cookie) in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
        for attribute in ["Path=/", "SameSite=Lax"] {
            assert!(cookie.contains(attribute), "a cookie without {attribute}\n{reply}");
        }
    }
}

/// The families of error bodies (docs/contract.md, JSON-RPC 2.0, RFC 6749 §5.2),
/// distinguished by the path.
fn check_error(path: &str, body: &Value, reply: &Reply) {
    if path == "/mcp" {
        let error = &body["error"];
        assert_eq!(body["jsonrpc"], "2.0", "no JSON-RPC\n{reply}");
        assert!(error["code"].is_i64(), "no code\n{reply}");
        assert!(error["message"].as_str().is_some_and(|m| !m.is_empty()), "no message\n{reply}");
        return;
    }
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| path.starts_with(prefix));
    if starts(&["/oauth/token", "/oauth/register", "/oauth/revoke", "/.well-known/oauth-"]) {
        for name in ["error", "error_description"] {
            assert!(body[name].as_str().is_some_and(|said| !said.is_empty()), "no {name}\n{reply}");
        }
        return;
    }
    let error = if starts(&["/api/v1/partner/", "/v1/partner/"]) {
        let id = reply.header("x-request-id");
        assert_eq!(
            body["error"]["request_id"].as_str(),
            id,
            "request_id differs from the header\n{reply}"
        );
        &body["error"]
    } else {
        let public = [
            "/api/",
            "/ml/notificacoes",
            "/healthz",
            "/readyz",
            "/openapi",
            "/desenvolvedores/postman.json",
            "/desenvolvedores/cliente.",
            "/.well-known/acme-challenge/",
            "/llms.txt",
            "/desenvolvedores.md",
            "/desenvolvedores/referencia.md",
            "/desenvolvedores/agentes.md",
            "/desenvolvedores/webhooks.md",
            "/desenvolvedores/sandbox.md",
            "/desenvolvedores/changelog.",
            "/desenvolvedores/espelho.md",
            "/desenvolvedores/erp.md",
            "/desenvolvedores/fornecedores.md",
            "/desenvolvedores/testes.md",
        ];
        let flag = if (starts(&public) || path == "/metrics") && !starts(&["/api/ext/"]) {
            "success"
        } else {
            "ok"
        };
        assert_eq!(body[flag], false, "no {flag:?}: false\n{reply}");
        body
    };
    let code = error["code"].as_str().unwrap_or_default();
    assert!(CODES.contains(&code), "unknown code {code:?}\n{reply}");
    assert!(error["message"].as_str().is_some_and(|m| !m.is_empty()), "no message\n{reply}");
    assert!(error.get("fields").is_none_or(Value::is_object), "fields is no object\n{reply}");
}

fn check_no_secret(reply: &Reply, secrets: &[Secret]) {
    let text = reply.text();
    for secret in secrets {
        let in_headers = reply
            .headers
            .iter()
            .any(|(name, value)| name != "set-cookie" && value.contains(&secret.text));
        assert!(
            !in_headers && !text.contains(&secret.text),
            "the reply holds a secret: {}\n{reply}",
            secret.what
        );
    }
}

/// Panics when a server's log holds a secret, a panic or an error line.
#[track_caller]
pub fn check_log(log: &str, secrets: &[Secret]) {
    for secret in secrets {
        assert!(
            !log.contains(&secret.text),
            "the log holds a secret: {}\n{}",
            secret.what,
            tail(log)
        );
    }
    for line in log.lines() {
        let is_error = line.split_whitespace().take(3).any(|word| word == "ERROR")
            || line.contains(r#""level":"ERROR""#);
        assert!(
            !is_error && !line.contains("panicked at"),
            "the log holds an error: {line}\n{}",
            tail(log)
        );
    }
}

/// The last lines of a log.
pub fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
