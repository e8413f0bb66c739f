//! The OpenAPI document and the server agree on every call: the server accepts
//! what the document allows, and rejects what it excludes.

use serde_json::{Value, json};

use super::samples::{BODIES, QUERIES};
use crate::support::actors::{Actor, signed};
use crate::support::client::{Reply, Request};
use crate::support::dropshipping::relate;
use crate::support::openapi::{compile, document, follow, operations};
use crate::support::site::{CHECKOUT_TOKEN, Site};

/// A supplier's program, with a seller for whom it may ask.
fn related(site: &Site) -> Actor<'_> {
    let supplier = site.supplier("sol").plan("scale");
    relate(site, &supplier, &site.person("rui"));
    supplier
}

/// Whether the form of a call was accepted.
#[track_caller]
fn is_taken(reply: &Reply) -> bool {
    let refused = [400, 415, 422].contains(&reply.status);
    assert!(refused || [200, 201, 401, 404, 409].contains(&reply.status), "{reply}");
    !refused
}

#[test]
fn bodies_are_taken_as_described() {
    let site = Site::builder().unlimited().config("email.smtp_url", "smtp://127.0.0.1:9").start();
    let document = document();
    let partner = site.seller("rui").plan("scale");
    let supplier = related(&site);
    let (extension, key) = (site.extension("ana"), site.key(&["admin"]));
    let tester = |actor: &Actor<'_>| {
        let arguments = ["partner", "token", "--test", "--email", &actor.person().email];
        let token = site.command(&arguments).ok().trim().to_owned();
        site.keep_secret("test token", &token);
        token
    };
    let (tester, drop_tester) = (tester(&partner), tester(&supplier));
    for (path, bodies) in BODIES {
        let operation = &document["paths"][*path]["post"];
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let validator = compile(&document, body);
        let mut verdicts = [false; 2];
        for body in *bodies {
            let sent: Value = serde_json::from_str(body).unwrap();
            let request = Request::new("POST", path).body("application/json", body.as_bytes());
            let reply = match *path {
                "/api/ext/auth" => site.anonymous().send(request),
                "/ml/notificacoes" => {
                    let about = sent["resource"].as_str().unwrap_or_default().trim();
                    site.anonymous().send(signed(request, about, "openapi", 1))
                }
                "/api/v1/webhook/checkout" => {
                    site.anonymous().send(request.header("X-HOTMART-HOTTOK", CHECKOUT_TOKEN))
                }
                _ if path.starts_with("/api/ext/") => extension.send(request),
                _ if path.contains("/drop/sandbox/") => site.bearer(&drop_tester).send(request),
                _ if path.contains("/sandbox/") => site.bearer(&tester).send(request),
                _ if path.contains("/drop/") => {
                    // The window in which all sellers are reminded once.
                    site.clock().advance_s(300);
                    supplier.send(request)
                }
                _ if path.contains("/partner/") => partner.send(request),
                _ => key.send(request),
            };
            let is_partner = path.contains("/partner/");
            let described = validator.is_valid(&if is_partner { ids_as_text(sent) } else { sent });
            assert_eq!(
                is_taken(&reply),
                described,
                "{path} {body}: described {described}\n{reply}"
            );
            verdicts[usize::from(described)] = true;
        }
        assert_eq!(verdicts, [true; 2], "{path}: bodies of both kinds");
    }
}

/// A body with its ids as text: the document describes them so, and says in words that a
/// number is taken as well.
fn ids_as_text(mut sent: Value) -> Value {
    const MOST_EXACT: f64 = 9_007_199_254_740_991.0;
    for (name, value) in sent.as_object_mut().into_iter().flatten() {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number <= MOST_EXACT);
        if let Some(number) =
            number.filter(|_| name.ends_with("_id") && !["ml_id", "batch_id"].contains(&&**name))
        {
            *value = json!(format!("{number}"));
        }
    }
    sent
}

#[test]
fn every_body_has_a_sample() {
    let document = document();
    let with_body = operations(&document).into_iter().filter(|(_, _, operation)| {
        // The body of one only needs an integer, and that of the other an object with a
        // signature; `update.rs` and `messages/receipts/tests.rs` have their tests.
        let is_apart = ["post_webhook_telegram", "post_webhook_chat"]
            .iter()
            .any(|id| operation["operationId"] == *id);
        !operation["requestBody"].is_null() && !is_apart
    });
    for (path, _, operation) in with_body {
        assert!(BODIES.iter().any(|(known, _)| *known == path), "{path}");
        assert_eq!(operation["requestBody"]["required"], true, "{path}");
    }
}

#[test]
fn queries_are_taken_as_described() {
    let site = Site::builder().unlimited().start();
    let document = document();
    let (extension, seller) = (site.extension("ana"), site.seller("rui").plan("scale"));
    let supplier = related(&site);
    for (path, queries) in QUERIES {
        let operation = &document["paths"][*path]["get"];
        let schema = query_schema(&document, operation);
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema)
            .unwrap();
        let mut verdicts = [false; 2];
        for query in *queries {
            let actor: &Actor<'_> = match *path {
                _ if path.contains("/drop/") => &supplier,
                _ if path.contains("/partner/") => &seller,
                _ => &extension,
            };
            let reply = actor.get(&format!("{path}?{query}"));
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let sent: Value =
                pairs.map(|(name, value)| (name.to_owned(), typed(&schema, name, value))).collect();
            let described = validator.is_valid(&sent);
            assert_eq!(is_taken(&reply), described, "{path} {query}\n{reply}");
            verdicts[usize::from(described)] = true;
        }
        assert_eq!(verdicts, [true; 2], "{path}: queries of both kinds");
    }
}

/// The parameters of a query as the fields of one object.
fn query_schema(document: &Value, operation: &Value) -> Value {
    let parameters = operation["parameters"].as_array().unwrap();
    let parameters = parameters.iter().map(|parameter| follow(document, parameter));
    let of_query: Vec<&Value> = parameters.filter(|one| one["in"] == "query").collect();
    if let [whole] = of_query[..]
        && whole["schema"]["type"] == "object"
    {
        assert_eq!((&whole["style"], &whole["explode"]), (&json!("form"), &json!(true)));
        return whole["schema"].clone();
    }
    let properties: Value = of_query
        .into_iter()
        .map(|one| (one["name"].as_str().unwrap().to_owned(), one["schema"].clone()))
        .collect();
    json!({ "type": "object", "properties": properties })
}

/// A parameter's text as the value that it stands for.
fn typed(schema: &Value, name: &str, text: &str) -> Value {
    match schema["properties"][name]["type"].as_str() {
        Some("integer") => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

#[test]
fn forms_of_the_checkout_are_taken_as_described() {
    let site = Site::builder().unlimited().start();
    let document = document();
    let content = &document["paths"]["/api/v1/webhook/checkout"]["post"]["requestBody"]["content"];
    let schema = &content["application/x-www-form-urlencoded"]["schema"];
    let validator = compile(&document, schema);
    for (name, text) in [("status", "started"), ("event", "0"), ("event", " "), ("prod", "1")] {
        let request = Request::new("POST", "/api/v1/webhook/checkout")
            .header("X-HOTMART-HOTTOK", CHECKOUT_TOKEN)
            .form(&[(name, text)]);
        let reply = site.anonymous().send(request);
        assert_eq!(is_taken(&reply), validator.is_valid(&json!({ name: text })), "{name}={text}");
    }
}
