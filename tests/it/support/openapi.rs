//! Replies against the OpenAPI documents that the executable prints, and the
//! documents against the rules of OpenAPI 3.1.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::client::{Reply, Request};
use crate::support::process::{EXECUTABLE, run};
use crate::support::site::Site;

/// Statuses that any address may return before its own operation runs.
const BEFORE_ANY_OPERATION: [u16; 1] = [405];

/// Schemas of JSON replies by operation and status.
type Described = BTreeMap<(String, String), BTreeMap<u16, Option<Schema>>>;

/// A schema that is compiled when the first reply asks for it: each test has a
/// process of its own, and all of them take two seconds.
struct Schema {
    json: Value,
    validator: OnceLock<Validator>,
}

/// Panics when a JSON reply of a described operation is not as described.
#[track_caller]
pub fn check(request: &Request, reply: &Reply, body: &Value) {
    static DESCRIBED: OnceLock<(Value, Described)> = OnceLock::new();
    let (document, described) = DESCRIBED.get_or_init(|| {
        let document = document();
        let described = schemas(&document);
        (document, described)
    });
    let path = match request.path().strip_prefix("/v1/partner/") {
        Some(rest) => format!("/api/v1/partner/{rest}"),
        None => request.path().to_owned(),
    };
    let Some(statuses) = described.get(&(request.method.to_lowercase(), path)) else {
        return;
    };
    let Some(schema) = statuses.get(&reply.status) else {
        assert!(
            BEFORE_ANY_OPERATION.contains(&reply.status),
            "the document does not describe this status\n{reply}"
        );
        return;
    };
    let errors: Vec<String> = schema
        .iter()
        .map(|schema| schema.validator.get_or_init(|| compile(document, &schema.json)))
        .flat_map(|validator| validator.iter_errors(body))
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "not as the document describes:\n{}\n{reply}", errors.join("\n"));
}

/// The base path of the Partner API.
pub const PARTNER: &str = "/api/v1/partner";

/// Both documents by the names that the command has for them.
pub const DOCUMENTS: [&str; 2] = ["partner", "platform"];

/// A document as the command prints it, without a server.
pub fn printed(name: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(EXECUTABLE);
    command.env_clear().current_dir(&folder).args(["openapi", name]);
    let printed = run(&mut command, "");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    serde_json::from_str(&printed.stdout).expect("`openapi` prints JSON")
}

/// Both documents as one, with whole paths.
pub fn document() -> Value {
    let (partner, mut all) = (printed("partner"), printed("platform"));
    for (path, item) in partner["paths"].as_object().expect("paths") {
        all["paths"][format!("{PARTNER}{path}")] = item.clone();
    }
    for (kind, components) in partner["components"].as_object().expect("components") {
        for (name, component) in components.as_object().expect("components of a kind") {
            let here = &mut all["components"][kind][name];
            assert!(here.is_null() || here == component, "two {kind} are called {name}");
            *here = component.clone();
        }
    }
    all
}

/// Every operation with its path and method.
pub fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("a path item").iter();
            methods.map(move |(method, operation)| (&**path, &**method, operation))
        })
        .collect()
}

fn schemas(document: &Value) -> Described {
    operations(document)
        .into_iter()
        .map(|(path, method, operation)| {
            let responses = operation["responses"].as_object().expect("responses");
            let by_status = responses.iter().map(|(status, response)| {
                let response = follow(document, response);
                let schema = &response["content"]["application/json"]["schema"];
                let schema = (!schema.is_null())
                    .then(|| Schema { json: schema.clone(), validator: OnceLock::new() });
                (status.parse().expect("a status"), schema)
            });
            ((method.to_owned(), path.to_owned()), by_status.collect())
        })
        .collect()
}

/// A schema with the components that it may refer to.
pub fn compile(document: &Value, schema: &Value) -> Validator {
    let whole = json!({ "allOf": [schema], "components": document["components"] });
    jsonschema::draft202012::new(&whole).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

pub fn follow<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let Some(reference) = value["$ref"].as_str() else {
        return value;
    };
    let pointer = reference.strip_prefix('#').expect("a local reference");
    document.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

/// Every `$ref` anywhere.
fn references<'d>(value: &'d Value, found: &mut Vec<&'d str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn the_documents_are_well_formed() {
    for name in DOCUMENTS {
        well_formed(&printed(name));
    }
}

#[track_caller]
fn well_formed(document: &Value) {
    let version = document["openapi"].as_str().unwrap();
    assert!(version.starts_with("3.1."), "{version}");
    for name in ["title", "version"] {
        assert!(document["info"][name].is_string(), "info.{name}");
    }
    assert_eq!(document["info"]["license"]["identifier"], "MIT");
    let mut found = Vec::new();
    references(document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a local reference");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for (kind, components) in document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys() {
            let reference = format!("\"#/components/{kind}/{name}\"");
            let is_used = kind == "securitySchemes" || document.to_string().contains(&reference);
            assert!(is_used, "{kind} {name} is referred to nowhere");
        }
    }
    assert!(!document.to_string().contains("[`"), "a description is meant for programmers");
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(document) {
        let place = format!("{method} {path}");
        assert!(path.starts_with('/'), "{place}");
        let methods = ["get", "post", "put", "patch", "delete"];
        assert!(methods.contains(&method), "{place}");
        let id = operation["operationId"].as_str().unwrap_or_default();
        assert!(!id.is_empty() && ids.insert(id), "{place}: id {id:?}");
        well_formed_operation(document, path, &place, operation);
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let checked = jsonschema::draft202012::meta::validate(schema);
        assert!(checked.is_ok(), "{name}: {:?}", checked.err());
    }
}

#[track_caller]
fn well_formed_operation(document: &Value, path: &str, place: &str, operation: &Value) {
    let responses = operation["responses"].as_object().unwrap();
    assert!(!responses.is_empty(), "{place}");
    for (status, response) in responses {
        assert!(status.parse::<u16>().is_ok(), "{place} {status}");
        let response = follow(document, response);
        assert!(response["description"].is_string(), "{place} {status}");
        assert_eq!(response["headers"]["X-Request-Id"]["required"], true, "{place} {status}");
        let content = response.get("content");
        assert!(content.is_none_or(Value::is_object), "{place} {status}");
        let schema = &response["content"]["application/json"]["schema"];
        if !schema.is_null() {
            compile(document, schema);
        }
    }
    let none = Vec::new();
    let parameters = operation["parameters"].as_array().unwrap_or(&none);
    for parameter in parameters {
        let parameter = follow(document, parameter);
        let (name, within) = (&parameter["name"], &parameter["in"]);
        assert!(name.is_string() && parameter["schema"].is_object(), "{place}");
        assert!(["query", "path", "header"].iter().any(|one| within == one), "{place}");
        compile(document, &parameter["schema"]);
    }
    for variable in path.split('/').filter_map(|part| part.strip_prefix('{')) {
        let variable = variable.trim_end_matches('}');
        let is_it = |parameter: &&Value| {
            parameter["name"] == variable
                && parameter["in"] == "path"
                && parameter["required"] == true
        };
        assert!(parameters.iter().any(|one| is_it(&one)), "{place} {variable}");
    }
    let security = operation["security"].as_array();
    for security in security.unwrap_or_else(|| panic!("{place} does not say who may call")) {
        for scheme in security.as_object().unwrap().keys() {
            let schemes = &document["components"]["securitySchemes"];
            assert!(schemes[scheme].is_object(), "{place}: {scheme}");
        }
    }
}

/// Every place of a keyword anywhere.
fn places(value: &Value, keyword: &str, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let here = format!("{place}/{name}");
                if name == keyword {
                    found.push(here.clone());
                }
                places(field, keyword, &here, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| places(item, keyword, place, found)),
        _ => {}
    }
}

#[test]
fn no_schema_divides_amounts() {
    let site = Site::builder().unlimited().start();
    let (ana, sol) = (site.seller("ana").plan("scale"), site.supplier("sol").plan("scale"));
    crate::support::dropshipping::relate(&site, &sol, &site.person("ana"));
    let mut found = Vec::new();
    places(&document(), "multipleOf", "", &mut found);
    let mut known = 0;
    for (name, tool) in
        [&ana, &sol].into_iter().flat_map(|actor| crate::support::agents::tools(actor))
    {
        places(&tool, "multipleOf", &name, &mut found);
        known += 1;
    }
    let document = printed("partner");
    // Those for sample data are tools of test tokens.
    let real = operations(&document).into_iter().filter(|(path, ..)| !path.contains("/sandbox/"));
    assert_eq!(known, real.count());
    assert!(found.is_empty(), "most validators divide in floating point: {found:?}");
}

#[test]
fn every_api_row_is_described_and_nothing_else() {
    let site = Site::start();
    let document = document();
    let described: BTreeSet<(String, String)> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| (method.to_uppercase(), path.to_owned()))
        .collect();
    let rows: BTreeSet<(String, String)> =
        site.routes().into_iter().map(|row| (row.method, row.path)).collect();
    let unknown: Vec<_> = described.difference(&rows).collect();
    assert!(unknown.is_empty(), "described, but not there: {unknown:?}");
    let is_api =
        |(_, path): &&(String, String)| path.starts_with("/api/") || path.starts_with("/ml/");
    let missing: Vec<_> = rows.difference(&described).filter(is_api).collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
    // Each address is in one document.
    for (path, ..) in operations(&printed("platform")) {
        assert!(!path.contains("/partner"), "{path} is not of the platform");
    }
}
