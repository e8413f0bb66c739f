//! The error responses of a route, as the documents describe them.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Map, Value, json};

use super::{PROSE, header, limits, request_id};
use crate::developers::error_codes;
use crate::edge::route::{Call, Route, Surface};
use crate::http::{Code, Family};

/// Name prefix for the error responses of partner files, which are plain text.
const FILES: &str = "PartnerFile";

/// Error responses and their schemas, collected from all routes.
#[derive(Default)]
pub struct Errors {
    pub responses: Map<String, Value>,
    pub schemas: Map<String, Value>,
}

impl Errors {
    /// Adds the error responses of a route to its `answers`.
    pub fn describe(&mut self, route: &Route, answers: &mut Value) {
        let family = route.family();
        let group = match family {
            Family::Partner => "Partner",
            Family::PartnerFile => FILES,
            Family::Integration => "Integration",
            _ => "Extension",
        };
        let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
        for code in errors(route) {
            let codes = by_status.entry(code.status(family).as_u16()).or_default();
            if codes.iter().all(|known| known.name(family) != code.name(family)) {
                codes.push(code);
            }
        }
        for (status, codes) in by_status {
            let mut response = error_response(group, status);
            if family == Family::Partner {
                let examples: Map<String, Value> = codes
                    .iter()
                    .map(|code| (code.name(family).to_owned(), error_codes::example(*code)))
                    .collect();
                response["content"]["application/json"]["examples"] = Value::Object(examples);
            }
            // Operations with the same codes share a response.
            let mut name = format!("{group}{status}");
            if self.responses.get(&name).is_some_and(|known| *known != response) {
                name = format!("{name}_{}", route.operation());
            }
            let leads = format!("#/components/responses/{name}");
            answers[status.to_string()] = json!({ "$ref": leads });
            self.responses.insert(name, response);
        }
        if family == Family::PartnerFile {
            return;
        }
        let codes = format!("{group}ErrorCode");
        let refers = json!(format!("#/components/schemas/{codes}"));
        self.schemas.entry(codes).or_insert_with(|| code_schema(family));
        let schema = format!("{group}Error");
        self.schemas.entry(schema).or_insert_with(|| error_schema(family, &refers));
    }
}

/// The error codes of a route, derived from its row in the route table.
pub fn errors(route: &Route) -> Vec<Code> {
    // `ValidationFailed` too: any request may have too many parameters.
    let mut errors = vec![
        Code::BadRequest,
        Code::PayloadTooLarge,
        Code::UriTooLong,
        Code::HeadersTooLarge,
        Code::ValidationFailed,
        Code::RateLimited,
        Code::Internal,
        Code::Unavailable,
    ];
    if route.docs.body.is_some() {
        errors.push(Code::UnsupportedMediaType);
    }
    if route.docs.body.is_some() && route.family() == Family::Partner {
        errors.push(Code::InvalidBody);
    }
    if route.surface == Surface::Partner && route.method == Method::POST {
        errors.extend([Code::InsufficientScope, Code::IdempotencyKeyReused, Code::Conflict]);
    }
    match route.call {
        _ if route.surface == Surface::Partner => errors.extend([
            Code::Unauthorized,
            Code::AccountSuspended,
            Code::PlanRequired,
            Code::Forbidden,
            Code::QuotaExceeded,
        ]),
        Call::Key(..) => errors.extend([Code::Unauthorized, Code::InsufficientScope]),
        Call::Extension(_) | Call::Notification(_) | Call::Checkout(_) | Call::Telegram(_) => {
            errors.push(Code::Unauthorized);
        }
        Call::Chat(_) if route.method == Method::GET => errors.push(Code::Unauthorized),
        Call::Chat(_) => errors.push(Code::InvalidSignature),
        Call::Cron(_) => errors.extend([Code::Unauthorized, Code::Forbidden]),
        _ => {}
    }
    errors.extend(route.docs.errors);
    errors
}

fn error_response(group: &str, status: u16) -> Value {
    let statuses = &PROSE.statuses;
    let is_of_partner = matches!(group, "Partner" | FILES);
    let about = match status {
        400 if is_of_partner => &statuses["partner_400"],
        _ => statuses.get(&status.to_string()).unwrap_or(&statuses["other"]),
    };
    let mut headers = Map::from_iter([request_id()]);
    match status {
        401 => {
            let about = "How to show a credential, where one was missing or wrong.";
            headers.insert("WWW-Authenticate".to_owned(), header(about, "string", false));
        }
        403 if group == "Partner" => {
            let about = "What to ask the owner for, where a connected app may only read.";
            headers.insert("WWW-Authenticate".to_owned(), header(about, "string", false));
        }
        429 => {
            headers.extend(limits(false));
            let about =
                "The limit that was hit: `token`, `account`, `address`, `quota` or `operation`.";
            headers.insert("X-RateLimit-Scope".to_owned(), header(about, "string", false));
        }
        _ => {}
    }
    if matches!(status, 429 | 503) {
        let about = "Seconds after which a new try makes sense.";
        headers.insert("Retry-After".to_owned(), header(about, "integer", true));
    }
    let content = if group == FILES {
        json!({ "text/plain": { "schema": { "type": "string" } } })
    } else {
        let shape = format!("#/components/schemas/{group}Error");
        json!({ "application/json": { "schema": { "$ref": shape } } })
    };
    json!({ "description": about, "headers": headers, "content": content })
}

/// All codes that the errors of a family can have.
fn code_schema(family: Family) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for name in family.codes().map(|code| code.name(family)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    json!({ "type": "string", "enum": names, "description": "The reason of an error, for programs." })
}

fn error_schema(family: Family, codes: &Value) -> Value {
    let mut properties = json!({
        "code": { "$ref": codes, "description": "The reason, for programs." },
        "message": { "type": "string", "description": "The reason, for people." },
        "fields": {
            "type": "object", "additionalProperties": { "type": "string" },
            "description": "What is wrong with each field at fault."
        }
    });
    if family == Family::Partner {
        properties["request_id"] = json!({
            "type": "string",
            "description": "What to quote when asking for help; also in the header X-Request-Id."
        });
        let required = ["code", "message", "request_id"];
        let error = json!({
            "type": "object", "required": required, "properties": properties,
            "description": "What went wrong."
        });
        return json!({ "type": "object", "required": ["error"], "properties": { "error": error } });
    }
    let said = if family == Family::Integration { "success" } else { "ok" };
    properties[said] = json!({ "type": "boolean", "const": false });
    json!({ "type": "object", "required": [said, "code", "message"], "properties": properties })
}
