//! What generators make of the document: nothing that they misread, and the collection that
//! the service makes itself.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::support::client::Request;
use crate::support::openapi::{operations, printed};
use crate::support::site::Site;

/// Calls `look` with every object of a document that is no data, and its place.
fn walk(value: &Value, place: &str, look: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            look(place, members);
            let is_data = |name: &str| matches!(name, "example" | "examples" | "enum" | "const");
            for (name, member) in members.iter().filter(|(name, _)| !is_data(name)) {
                walk(member, &format!("{place}/{name}"), look);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, place, look)),
        _ => {}
    }
}

#[test]
fn nothing_is_said_in_a_way_that_generators_misread() {
    for name in ["partner", "platform"] {
        let document = printed(name);
        let mut wrong = Vec::new();
        walk(&document, "", &mut |place, members| {
            let mut say = |what: &str| wrong.push(format!("{name} {place}: {what}"));
            if members
                .get("format")
                .is_some_and(|it| it.as_str().is_some_and(|it| it.starts_with("uint")))
            {
                say("an unsigned number");
            }
            if members.contains_key("contentMediaType") {
                say("a file that is no binary format");
            }
            if members.get("const").is_some_and(Value::is_string) {
                say("a constant that is no list of one");
            }
            if members.get("const").is_some_and(Value::is_boolean) && members.contains_key("type") {
                say("a flag that is constant");
            }
            let is_form = place.ends_with("/multipart/form-data/schema");
            if name == "partner" && is_form && members.contains_key("properties") {
                say("a form with named fields, whose type is imported and not made");
            }
            let is_constant = |one: &Value| one["const"].is_string() || one["enum"].is_array();
            for choice in ["oneOf", "anyOf"] {
                let choices = members.get(choice).and_then(Value::as_array);
                if choices.is_some_and(|choices| choices.iter().all(is_constant)) {
                    say("a choice of constants");
                }
            }
            let fields = members.get("properties").and_then(Value::as_object);
            if fields.is_some_and(|fields| fields.values().any(Value::is_boolean)) {
                say("a schema that is only true or false");
            }
            if name == "partner" && ["oneOf", "anyOf"].iter().any(|one| members.contains_key(*one))
            {
                say("a choice");
            }
        });
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // Each operation has one way to show a credential, but the cron address, which
        // schedulers call that send no header.
        for (path, _, operation) in operations(&document) {
            let ways = operation["security"].as_array().unwrap().len();
            assert!(ways <= 1 || path == "/api/v1/cron", "{path}: {ways} ways");
        }
    }
    let document = printed("partner");
    let codes = &document["components"]["schemas"]["PartnerErrorCode"]["enum"];
    let codes: Vec<&str> =
        codes.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(codes.contains(&"quota_exceeded") && !codes.contains(&"ip_not_allowed"), "{codes:?}");
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len(), "{codes:?}");
}

#[test]
fn the_ready_clients_have_every_operation_and_the_address_of_the_installation() {
    let site = Site::start();
    let document = printed("partner");
    let base_url = format!("\"http://{}/api/v1/partner\"", site.address());
    for (path, file) in [("cliente.py", "seller_platform.py"), ("cliente.ts", "seller-platform.ts")]
    {
        let address = format!("/desenvolvedores/{path}");
        let reply = site.anonymous().get(&address).expect(200);
        let disposition = format!("attachment; filename=\"{file}\"");
        assert_eq!(reply.header("content-disposition"), Some(&*disposition));
        let again =
            Request::new("GET", &address).header("If-None-Match", reply.header("etag").unwrap());
        site.anonymous().send(again).expect(304);
        let code = reply.text();
        assert!(code.contains(&base_url), "{address}");
        for (_, _, operation) in operations(&document) {
            let name = operation["operationId"].as_str().unwrap();
            let method = if path == "cliente.py" {
                format!("    def {name}(")
            } else {
                let mut parts = name.split('_').map(str::to_owned);
                let first = parts.next().unwrap();
                let rest = parts.map(|part| part[..1].to_uppercase() + &part[1..]);
                format!("  {first}{}(", rest.collect::<String>())
            };
            assert_eq!(code.matches(&method).count(), 1, "{address}: {method}");
        }
        for word in ["{types}", "{operations}", "{address}", "{base_url}"] {
            assert!(!code.contains(word), "{address}: {word}");
        }
    }
}

#[test]
fn the_collection_for_postman_has_every_operation_ready_to_send() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("scale");
    let reply = site.anonymous().get("/desenvolvedores/postman.json").expect(200);
    assert_eq!(
        reply.header("content-disposition"),
        Some("attachment; filename=\"seller-platform.postman_collection.json\"")
    );
    let etag = reply.header("etag").unwrap().to_owned();
    let again = Request::new("GET", "/desenvolvedores/postman.json").header("If-None-Match", &etag);
    site.anonymous().send(again).expect(304);
    let collection = reply.json();
    assert_eq!(collection["auth"]["bearer"][0]["value"], "{{token}}");
    let variables = collection["variable"].as_array().unwrap();
    assert_eq!(variables[0]["value"], format!("http://{}/api/v1/partner", site.address()));
    let folders = collection["item"].as_array().unwrap();
    let requests: Vec<&Value> =
        folders.iter().flat_map(|folder| folder["item"].as_array().unwrap()).collect();
    let document = printed("partner");
    let named: BTreeSet<&str> = requests.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let known: BTreeSet<&str> = operations(&document)
        .iter()
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(named, known);
    for one in requests {
        let (name, request) = (&one["name"], &one["request"]);
        let raw = request["url"]["raw"].as_str().unwrap();
        let path = raw.strip_prefix("{{base_url}}").unwrap_or_else(|| panic!("{name}: {raw}"));
        if request["method"] == "POST" {
            let sent = request["body"]["raw"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(sent).unwrap().is_object(), "{name}: {sent}");
        }
        // What needs nothing to be known before works as it is.
        let is_plain = request["method"] == "GET" && !path.contains([':', '?']);
        if is_plain && !path.starts_with("/drop/") {
            ana.get(&format!("/api/v1/partner{path}")).expect(200);
        }
    }
}
