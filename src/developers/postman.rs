//! The Partner API as a collection for Postman and its like, made of the OpenAPI document.

use serde_json::{Map, Value, json};

use super::reference::plain;

const SCHEMA: &str = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/// The collection: a folder for sellers and one for suppliers, and the address and the
/// token as variables.
pub fn collection(document: &Value, base_url: &str) -> Value {
    let (mut sellers, mut suppliers) = (Vec::new(), Vec::new());
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let folder = if path.starts_with("/drop/") { &mut suppliers } else { &mut sellers };
            folder.push(request(path, method, operation));
        }
    }
    json!({
        "info": {
            "name": document["info"]["title"],
            "description": document["info"]["description"],
            "schema": SCHEMA
        },
        "auth": { "type": "bearer", "bearer": [variable("token", "{{token}}")] },
        "variable": [variable("base_url", base_url), variable("token", "")],
        "item": [
            { "name": "Sellers", "item": sellers },
            { "name": "Suppliers", "item": suppliers }
        ]
    })
}

fn variable(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": value, "type": "string" })
}

/// An operation with its example, as it is sent.
fn request(path: &str, method: &str, operation: &Value) -> Value {
    let parts: Vec<String> = path.split('/').skip(1).map(part).collect();
    let of = |place: &'static str| {
        let all = operation["parameters"].as_array().into_iter().flatten();
        all.filter(move |one| one["in"] == place)
    };
    let query: Vec<Value> = of("query")
        .map(|one| {
            let mut query = parameter(one);
            query["disabled"] = (one["required"] != true).into();
            query
        })
        .collect();
    let in_path: Vec<Value> = of("path").map(parameter).collect();
    let needed = of("query").filter(|one| one["required"] == true);
    let needed: Vec<String> =
        needed.map(|one| format!("{}={}", plain(&one["name"]), plain(&one["example"]))).collect();
    let mark = if needed.is_empty() { "" } else { "?" };
    let mut request = json!({
        "method": method.to_uppercase(),
        "description": operation["description"],
        "header": [],
        "url": {
            "raw": format!("{{{{base_url}}}}/{}{mark}{}", parts.join("/"), needed.join("&")),
            "host": ["{{base_url}}"],
            "path": parts,
            "query": query,
            "variable": in_path
        }
    });
    let sent = &operation["requestBody"]["content"]["application/json"]["example"];
    if !sent.is_null() {
        request["header"] = json!([
            { "key": "Content-Type", "value": "application/json" },
            { "key": "Idempotency-Key", "value": "{{$guid}}" }
        ]);
        let language = json!({ "raw": { "language": "json" } });
        request["body"] = json!({ "mode": "raw", "raw": pretty(sent), "options": language });
    }
    let mut item = json!({ "name": operation["operationId"], "request": request });
    let answer = &operation["responses"]["200"]["content"]["application/json"]["example"];
    if !answer.is_null() {
        item["response"] = json!([{
            "name": "200", "status": "OK", "code": 200, "body": pretty(answer),
            "header": [{ "key": "Content-Type", "value": "application/json" }],
            "originalRequest": item["request"],
            "_postman_previewlanguage": "json"
        }]);
    }
    item
}

/// A part of a path: `{ml_id}` is written `:ml_id`.
fn part(part: &str) -> String {
    let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
    name.map_or_else(|| part.to_owned(), |name| format!(":{name}"))
}

fn parameter(one: &Value) -> Value {
    let value = [&one["example"], &one["schema"]["default"]].into_iter().find(|it| !it.is_null());
    let mut parameter = Map::from_iter([
        ("key".to_owned(), one["name"].clone()),
        ("value".to_owned(), value.map_or_else(String::new, plain).into()),
    ]);
    if let Some(about) = one.get("description") {
        parameter.insert("description".to_owned(), about.clone());
    }
    Value::Object(parameter)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
