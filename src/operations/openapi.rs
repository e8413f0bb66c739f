//! The OpenAPI 3.1 document, derived from the route table.
//!
//! Only rows that programs call are described: pages and the browser's own
//! forms are not part of the API.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::http::{Code, Family};
use crate::route::{Call, Docs, Route};

/// The document. Without addresses the servers are relative.
pub fn document(routes: &[Route], base_url: &str, dev_base_url: &str) -> Value {
    // OpenAPI 3.1 takes this dialect as it is; the one of 3.0 would lose null.
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
        .into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes.iter().filter(|route| is_described(route)) {
        let operation = operation(route, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Seller Platform",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "APIs around a platform for marketplace sellers. Partner operations also answer under /v1/partner of the development address."
        },
        "servers": servers(base_url, dev_base_url),
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": error_responses(),
            "securitySchemes": {
                "extensionToken": { "type": "http", "scheme": "bearer", "description": "Token of POST /api/ext/auth, 30 days." },
                "partnerToken": { "type": "http", "scheme": "bearer", "description": "Personal partner token, ptk_ and 48 hexadecimal characters." },
                "apiKey": { "type": "http", "scheme": "bearer", "description": "API key, spk_ and 48 hexadecimal characters, with the scope that the operation names." },
                "checkoutToken": { "type": "apiKey", "in": "header", "name": "X-HOTMART-HOTTOK", "description": "Token shared with the checkout platform; may also stand in the body as hottok." },
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

/// Whether programs call the row.
fn is_described(route: &Route) -> bool {
    route.docs.reply.is_some()
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let Docs { query, body, reply, status, .. } = route.docs;
    let mut operation = json!({
        "summary": route.about.trim_end_matches('.'),
        "operationId": operation_id(route),
        "tags": [tag(route)],
        "responses": responses(route, status.unwrap_or(200), reply.map(|schema| schema(generator).to_value())),
    });
    let mut parameters = path_parameters(route.path);
    if let Some(query) = query {
        let schema = query(generator).to_value();
        parameters.extend(query_parameters(&resolved(&schema, generator)));
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = body {
        let schema = body(generator).to_value();
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    match route.call {
        Call::Extension(_) => operation["security"] = json!([{ "extensionToken": [] }]),
        Call::Seller(_) => operation["security"] = json!([{ "partnerToken": [] }]),
        Call::Key(scope, _) => operation["security"] = json!([{ "apiKey": [scope.name()] }]),
        Call::Checkout(_) => operation["security"] = json!([{ "checkoutToken": [] }]),
        Call::Telegram(_) => operation["security"] = json!([{ "telegramSecret": [] }]),
        Call::Cron(_) => operation["security"] = json!([{ "cronSecret": [] }, { "cronToken": [] }]),
        _ => {}
    }
    operation
}

fn operation_id(route: &Route) -> String {
    if !route.operation.is_empty() {
        return route.operation.to_owned();
    }
    let words =
        route.path.split('/').filter(|word| !word.is_empty() && *word != "api" && *word != "v1");
    let words: Vec<String> =
        words.map(|word| word.trim_matches(['{', '}']).replace('-', "_")).collect();
    format!("{}_{}", route.method.as_str().to_lowercase(), words.join("_"))
}

const fn tag(route: &Route) -> &'static str {
    match route.call {
        Call::Seller(_) => "Partner API",
        Call::Extension(_) => "Extension API",
        Call::Key(..) => "Integration API",
        Call::Notification(_) | Call::Checkout(_) | Call::Telegram(_) => "Inbound webhooks",
        Call::Cron(_) => "Operations",
        _ => "Public",
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    let variables = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    variables
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect()
}

/// A schema with a reference followed, for looking into it.
fn resolved(schema: &Value, generator: &SchemaGenerator) -> Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema).clone()
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
    };
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter =
            json!({ "name": name, "in": "query", "required": required(&name), "schema": schema });
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameter
    };
    properties.into_iter().map(parameter).collect()
}

fn responses(route: &Route, status: u16, schema: Option<Value>) -> Value {
    let mut responses = Map::new();
    let media = route.docs.media.unwrap_or("application/json");
    let content = schema.map(|schema| json!({ media: { "schema": schema } }));
    responses.insert(status.to_string(), json!({ "description": "Done.", "content": content }));
    if matches!(route.call, Call::Seller(_)) && route.method == http::Method::GET
        || route.path == "/api/v1/planos"
    {
        responses
            .insert("304".to_owned(), json!({ "description": "The caller's copy is still good." }));
    }
    for code in errors(route) {
        let family = route.family();
        let status = code.status(family).as_u16().to_string();
        let name = if family == Family::Partner { "PartnerError" } else { "Error" };
        responses.insert(status, json!({ "$ref": format!("#/components/responses/{name}") }));
    }
    Value::Object(responses)
}

/// What may go wrong with a row, from what the table says of it.
fn errors(route: &Route) -> Vec<Code> {
    // Any address may have too many parameters.
    let mut errors = vec![
        Code::BadRequest,
        Code::ValidationFailed,
        Code::RateLimited,
        Code::Internal,
        Code::Unavailable,
    ];
    if route.docs.body.is_some() {
        errors.extend([Code::PayloadTooLarge, Code::UnsupportedMediaType]);
    }
    match route.call {
        Call::Seller(_) => errors.extend([Code::Unauthorized, Code::PlanRequired, Code::Forbidden]),
        Call::Key(..) => errors.extend([Code::Unauthorized, Code::InsufficientScope]),
        Call::Extension(_) | Call::Notification(_) | Call::Checkout(_) | Call::Telegram(_) => {
            errors.push(Code::Unauthorized);
        }
        Call::Cron(_) => errors.extend([Code::Unauthorized, Code::Forbidden]),
        _ if route.path.ends_with("/auth") => errors.push(Code::InvalidCredentials),
        _ => {}
    }
    errors.extend(route.docs.errors);
    errors
}

fn error_responses() -> Value {
    let fields = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let plain = json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "ok": { "const": false }, "success": { "const": false },
            "code": { "type": "string" }, "message": { "type": "string" }, "fields": fields
        }
    });
    let partner = json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "message", "request_id"],
            "properties": {
                "code": { "type": "string" }, "message": { "type": "string" },
                "request_id": { "type": "string" }, "fields": fields
            }
        } }
    });
    let response = |schema: Value| json!({ "description": "What went wrong.", "content": { "application/json": { "schema": schema } } });
    json!({ "Error": response(plain), "PartnerError": response(partner) })
}
