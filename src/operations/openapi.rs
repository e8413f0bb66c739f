//! The OpenAPI 3.1 document, derived from the route table.
//!
//! Only rows that programs call are described: pages and the browser's own
//! forms are not part of the API.

use http::StatusCode;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::edge::route::{Call, Docs, Route};
use crate::http::{Code, Family};

/// Where schemas of what is sent and of what is answered are collected. What
/// may be left out differs between the two.
struct Schemas {
    sent: SchemaGenerator,
    answered: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        // OpenAPI 3.1 takes this dialect as it is; the one of 3.0 would lose null.
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let answered = settings.clone().for_serialize().into_generator();
        Self { sent: settings.into_generator(), answered }
    }

    /// All that were referred to, by name.
    fn collected(mut self) -> Map<String, Value> {
        let mut all = self.sent.take_definitions(true);
        all.extend(self.answered.take_definitions(true));
        all
    }
}

/// The document. Without addresses the servers are relative. The checkout
/// platform sends its token in a header of its own name.
pub fn document(routes: &[Route], base_url: &str, dev_base_url: &str, token_header: &str) -> Value {
    let mut schemas = Schemas::new();
    let mut errors = Errors::default();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes.iter().filter(|route| route.is_described()) {
        let mut operation = operation(route, &mut schemas);
        errors.describe(route, &mut operation["responses"]);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation;
    }
    let mut collected = schemas.collected();
    collected.extend(errors.schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Seller Platform",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
            "description": "APIs around a platform for marketplace sellers. Partner operations also answer under /v1/partner of the development address. Unknown fields of bodies are ignored; parameters may be given once."
        },
        "servers": servers(base_url, dev_base_url),
        "paths": paths,
        "components": {
            "schemas": collected,
            "responses": errors.responses,
            "parameters": {
                "IfNoneMatch": { "name": "If-None-Match", "in": "header", "schema": { "type": "string" }, "description": "Entity tags of the caller's copies." },
                "IfModifiedSince": { "name": "If-Modified-Since", "in": "header", "schema": { "type": "string" }, "description": "When the caller's copy was made, as an HTTP date; does not count beside If-None-Match." }
            },
            "securitySchemes": {
                "extensionToken": { "type": "http", "scheme": "bearer", "description": "Token of POST /api/ext/auth, 30 days." },
                "partnerToken": { "type": "http", "scheme": "bearer", "description": "Personal partner token, ptk_ and 48 hexadecimal characters." },
                "apiKey": { "type": "http", "scheme": "bearer", "description": "API key, spk_ and 48 hexadecimal characters, with the scope that the operation names." },
                "marketplaceSignature": { "type": "apiKey", "in": "header", "name": "X-Signature", "description": "ts=<digits>;v1=<hexadecimal HMAC-SHA256 with the application's secret over id:<last segment of resource>;request-id:<X-Request-Id>;ts:<ts>;>." },
                "checkoutToken": { "type": "apiKey", "in": "header", "name": token_header, "description": "Token shared with the checkout platform; may also stand in the body as hottok." },
                "telegramSecret": { "type": "apiKey", "in": "header", "name": "X-Telegram-Bot-Api-Secret-Token", "description": "Secret that Telegram was given with this address." },
                "cronSecret": { "type": "http", "scheme": "bearer", "description": "The cron secret; see `secret show cron`." },
                "cronToken": { "type": "apiKey", "in": "query", "name": "token", "description": "The same secret in the query, for schedulers that send no headers." }
            }
        }
    })
}

fn servers(base_url: &str, dev_base_url: &str) -> Value {
    if base_url.is_empty() {
        return json!([{ "url": "/" }]);
    }
    if base_url == dev_base_url {
        return json!([{ "url": base_url }]);
    }
    json!([{ "url": base_url }, { "url": dev_base_url }])
}

fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let Docs { query, body, form, reply, .. } = route.docs;
    let mut operation = json!({
        "summary": route.about.trim_end_matches('.'),
        "operationId": operation_id(route),
        "tags": [route.surface.tag()],
        "security": security(route),
        "responses": answers(route, reply.map(|schema| schema(&mut schemas.answered).to_value())),
    });
    let query = query.map(|query| query(&mut schemas.sent).to_value());
    let mut parameters = arguments(route.path, query.unwrap_or_default());
    parameters.extend(header_parameters(route));
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = body {
        let mut content = json!({ "application/json": { "schema": body(&mut schemas.sent) } });
        if let Some(form) = form {
            content["application/x-www-form-urlencoded"] =
                json!({ "schema": form(&mut schemas.sent) });
        }
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation
}

/// The credentials of a row, any of which will do.
fn security(route: &Route) -> Value {
    match route.call {
        Call::Extension(_) => json!([{ "extensionToken": [] }]),
        Call::Seller(_) => json!([{ "partnerToken": [] }]),
        Call::Key(scope, _) => json!([{ "apiKey": [scope.name()] }]),
        Call::Notification(_) => json!([{ "marketplaceSignature": [] }]),
        Call::Checkout(_) => json!([{ "checkoutToken": [] }]),
        Call::Telegram(_) => json!([{ "telegramSecret": [] }]),
        Call::Cron(_) => json!([{ "cronSecret": [] }, { "cronToken": [] }]),
        _ => json!([]),
    }
}

fn operation_id(route: &Route) -> String {
    if !route.operation().is_empty() {
        return route.operation().to_owned();
    }
    let words =
        route.path.split('/').filter(|word| !word.is_empty() && *word != "api" && *word != "v1");
    let words: Vec<String> =
        words.map(|word| word.trim_matches(['{', '}']).replace('-', "_")).collect();
    format!("{}_{}", route.method.as_str().to_lowercase(), words.join("_"))
}

/// Parameters of the path and of the query. Where some of them belong together
/// they are the fields of one parameter, which is the only way to say so.
fn arguments(path: &str, mut schema: Value) -> Vec<Value> {
    if let Some(whole) = schema.as_object_mut().filter(|schema| schema.contains_key("anyOf")) {
        whole.remove("title");
        return vec![json!({
            "name": "query", "in": "query", "required": true,
            "style": "form", "explode": true, "schema": whole
        })];
    }
    let in_path = |name: &str| path.split('/').any(|part| part == format!("{{{name}}}"));
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
    };
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let (place, required) =
            if in_path(&name) { ("path", true) } else { ("query", required(&name)) };
        let mut parameter =
            json!({ "name": name, "in": place, "required": required, "schema": schema });
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameter
    };
    properties.into_iter().map(parameter).collect()
}

fn header_parameters(route: &Route) -> Vec<Value> {
    let mut parameters = Vec::new();
    if route.is_conditional() {
        let shared = ["IfNoneMatch", "IfModifiedSince"];
        parameters.extend(
            shared.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") })),
        );
    }
    if matches!(route.call, Call::Notification(_)) {
        parameters.push(json!({
            "name": "X-Request-Id", "in": "header", "schema": { "type": "string" },
            "description": "Part of what is signed; the same notification has the same."
        }));
    }
    parameters
}

/// What a row answers when all is well.
fn answers(route: &Route, schema: Option<Value>) -> Value {
    let Docs { media, status, .. } = route.docs;
    let is_conditional = route.is_conditional();
    let mut headers = Map::from_iter([request_id()]);
    if route.counts() != "none" {
        headers.extend(limits(true));
    }
    if is_conditional {
        headers.insert("ETag".to_owned(), header("Names this content.", "string", true));
        headers.insert(
            "Last-Modified".to_owned(),
            header("When the content last changed.", "string", false),
        );
    }
    let mut answers = Map::new();
    if is_conditional {
        let unchanged =
            json!({ "description": "The caller's copy is still good.", "headers": headers });
        answers.insert("304".to_owned(), unchanged);
    }
    if media.is_some() {
        let name = header("Under which name to keep the file.", "string", true);
        headers.insert("Content-Disposition".to_owned(), name);
        let digest = header("The SHA-256 of the file (RFC 9530).", "string", true);
        headers.insert("Repr-Digest".to_owned(), digest);
    }
    let mut done = json!({ "description": "Done.", "headers": headers });
    if let Some(media) = media {
        let file = json!({ "type": "string", "contentMediaType": media });
        done["content"] = json!({ media: { "schema": file } });
    } else if let Some(schema) = schema {
        done["content"] = json!({ "application/json": { "schema": schema } });
    }
    answers.insert(status.to_string(), done);
    Value::Object(answers)
}

fn header(about: &str, kind: &str, required: bool) -> Value {
    json!({ "description": about, "required": required, "schema": { "type": kind } })
}

fn request_id() -> (String, Value) {
    let about = "The caller's own, or a new one; it is in every log line of the request.";
    ("X-Request-Id".to_owned(), header(about, "string", true))
}

fn limits(required: bool) -> [(String, Value); 3] {
    [
        ("X-RateLimit-Limit", "Calls in a window."),
        ("X-RateLimit-Remaining", "Calls left in this window."),
        ("X-RateLimit-Reset", "When the window ends, in seconds since 1970."),
    ]
    .map(|(name, about)| (name.to_owned(), header(about, "integer", required)))
}

/// The answers that say what went wrong, as far as rows give them.
#[derive(Default)]
struct Errors {
    responses: Map<String, Value>,
    schemas: Map<String, Value>,
}

impl Errors {
    /// Adds what may go wrong with a row to its answers.
    fn describe(&mut self, route: &Route, answers: &mut Value) {
        let family = route.family();
        let group = match family {
            Family::Partner => "Partner",
            Family::Integration => "Integration",
            _ => "Extension",
        };
        for code in errors(route) {
            let status = code.status(family);
            let name = format!("{group}{}", status.as_u16());
            answers[status.as_str()] = json!({ "$ref": format!("#/components/responses/{name}") });
            self.responses.entry(name).or_insert_with(|| error_response(group, status));
        }
        let schema = format!("{group}Error");
        self.schemas.entry(schema).or_insert_with(|| error_schema(family));
    }
}

/// What may go wrong with a row, from what the table says of it.
fn errors(route: &Route) -> Vec<Code> {
    // Any address may have too many parameters.
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
    match route.call {
        Call::Seller(_) => errors.extend([Code::Unauthorized, Code::PlanRequired, Code::Forbidden]),
        Call::Key(..) => errors.extend([Code::Unauthorized, Code::InsufficientScope]),
        Call::Extension(_) | Call::Notification(_) | Call::Checkout(_) | Call::Telegram(_) => {
            errors.push(Code::Unauthorized);
        }
        Call::Cron(_) => errors.extend([Code::Unauthorized, Code::Forbidden]),
        _ => {}
    }
    errors.extend(route.docs.errors);
    errors
}

fn error_response(group: &str, status: StatusCode) -> Value {
    let about = match status.as_u16() {
        400 if group == "Partner" => {
            "The request is malformed, or fields or parameters are missing or wrong; `fields` names them."
        }
        400 => "The request is malformed, or asks for another host.",
        401 => "The credential is missing, wrong or expired, or its owner is suspended.",
        402 => "The account has no active API plan.",
        403 => "The credential does not open this.",
        404 => "Not there, or not the caller's.",
        409 => "It exists already.",
        413 => "The body is too large.",
        414 => "The address is too long.",
        415 => "The body is of a type that is not taken here.",
        422 => "Fields or parameters are missing or wrong; `fields` names them.",
        429 => "Too many calls; `Retry-After` says when to come back.",
        431 => "The headers are too large or too many.",
        503 => "Not now; `Retry-After` says when to come back.",
        _ => "A failure of ours; quote the request id when reporting it.",
    };
    let mut headers = Map::from_iter([request_id()]);
    match status {
        StatusCode::UNAUTHORIZED => {
            let about = "How to show a credential, where one was missing or wrong.";
            headers.insert("WWW-Authenticate".to_owned(), header(about, "string", false));
        }
        StatusCode::TOO_MANY_REQUESTS => headers.extend(limits(false)),
        _ => {}
    }
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        let about = "Seconds after which a new try makes sense.";
        headers.insert("Retry-After".to_owned(), header(about, "integer", true));
    }
    json!({
        "description": about,
        "headers": headers,
        "content": { "application/json": {
            "schema": { "$ref": format!("#/components/schemas/{group}Error") }
        } }
    })
}

fn error_schema(family: Family) -> Value {
    let mut properties = json!({
        "code": { "type": "string", "description": "The reason, for programs." },
        "message": { "type": "string", "description": "The reason, for people." },
        "fields": {
            "type": "object", "additionalProperties": { "type": "string" },
            "description": "What is wrong with each field at fault."
        }
    });
    if family == Family::Partner {
        properties["request_id"] = json!({ "type": "string" });
        let required = ["code", "message", "request_id"];
        let error = json!({ "type": "object", "required": required, "properties": properties });
        return json!({ "type": "object", "required": ["error"], "properties": { "error": error } });
    }
    let said = if family == Family::Integration { "success" } else { "ok" };
    properties[said] = json!({ "const": false });
    json!({ "type": "object", "required": [said, "code", "message"], "properties": properties })
}
