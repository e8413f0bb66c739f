//! The OpenAPI 3.1 documents, derived from the route table: one for the Partner
//! API, one for everything else that programs call.
//!
//! Pages and the browser's own forms are not part of either.

mod errors;
mod plain;
pub mod webhook_section;

use crate::developers::documents::Document;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::Method;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::errors::Errors;
use crate::edge::docs::Docs;
use crate::edge::route::{Call, Route, Surface};
use crate::partner::texts;

pub use crate::partner::{PATH as PARTNER, PATH_DEV as PARTNER_DEV};

/// What the documents say beside what they say of operations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prose {
    partner: About,
    platform: About,
    servers: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
    /// What an error with a status means.
    statuses: BTreeMap<String, String>,
    /// The authentication schemes, without what depends on the installation.
    schemes: Map<String, Value>,
}

/// What a document is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
    about: String,
}

static PROSE: LazyLock<Prose> = LazyLock::new(|| texts::read("openapi.toml"));

/// Settings of the installation that appear in the documents.
pub struct Installation<'i> {
    /// Public address, without a trailing slash; empty where it is not known.
    pub base_url: &'i str,
    /// Address for development, in the same form.
    pub dev_base_url: &'i str,
    /// Header in which the checkout platform sends its token.
    pub checkout_header: &'i str,
}

/// Collects the schemas of request bodies and of response bodies. They are
/// separate, because a field may be optional in one and required in the other.
struct Schemas {
    sent: SchemaGenerator,
    answered: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        // OpenAPI 3.1 uses this dialect unchanged; the dialect of 3.0 has no null.
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let answered = settings.clone().for_serialize().into_generator();
        Self { sent: settings.into_generator(), answered }
    }

    /// All schemas that were referenced, by name.
    fn collected(mut self) -> Map<String, Value> {
        let mut all = self.sent.take_definitions(true);
        for (name, schema) in self.answered.take_definitions(true) {
            let sent = all.insert(name.clone(), schema.clone());
            debug_assert!(sent.is_none_or(|sent| sent == schema), "two schemas are called {name}");
        }
        all
    }
}

impl Document {
    /// Whether a route belongs to this document.
    fn has(self, route: &Route) -> bool {
        route.is_described() && (self == Self::Partner) == (route.surface == Surface::Partner)
    }

    /// The path of a route, relative to the document's servers.
    fn path(self, route: &Route) -> &'static str {
        match self {
            Self::Partner => route.path.strip_prefix(PARTNER).unwrap_or(route.path),
            Self::Platform => route.path,
        }
    }

    /// Builds the document. Without addresses the server URLs are relative.
    pub fn of(self, routes: &[Route], at: &Installation<'_>) -> Value {
        let mut schemas = Schemas::new();
        let mut errors = Errors::default();
        let mut paths: Map<String, Value> = Map::new();
        let mut schemes: Vec<&str> = Vec::new();
        let mut parameters: Vec<&str> = Vec::new();
        for route in routes.iter().filter(|route| self.has(route)) {
            let mut operation = operation(route, &mut schemas);
            errors.describe(route, &mut operation["responses"]);
            let path = paths.entry(self.path(route)).or_insert_with(|| json!({}));
            path[route.method.as_str().to_lowercase()] = operation;
            schemes.extend(security(route));
            parameters.extend(conditions(route));
        }
        let told = (self == Self::Partner).then(|| webhook_section::all(&mut schemas.answered));
        let mut collected = schemas.collected();
        collected.extend(errors.schemas);
        let mut chosen = schemes_of(at);
        chosen.retain(|name, _| schemes.contains(&&**name));
        let mut shared = json!({
            "IfNoneMatch": {
                "name": "If-None-Match", "in": "header", "schema": { "type": "string" },
                "description": "Entity tags of the caller's copies. While one is still good the answer is 304, without a body."
            },
            "IfModifiedSince": {
                "name": "If-Modified-Since", "in": "header", "schema": { "type": "string" },
                "description": "When the caller's copy was made, as an HTTP date; does not count beside If-None-Match."
            }
        });
        if let Some(shared) = shared.as_object_mut() {
            shared.retain(|name, _| parameters.contains(&&**name));
        }
        let mut document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": self.prose().title,
                "version": env!("CARGO_PKG_VERSION"),
                "contact": self.contact(at),
                "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
                "description": self.prose().about
            },
            "servers": self.servers(at),
            "tags": self.tags(routes),
            "paths": paths,
            "components": {
                "schemas": collected,
                "responses": errors.responses,
                "parameters": shared,
                "securitySchemes": chosen
            }
        });
        if let Some(told) = told {
            document["webhooks"] = told.into();
        }
        if self == Self::Partner && !at.base_url.is_empty() {
            let guide = format!("{}/desenvolvedores", at.base_url);
            document["externalDocs"] =
                json!({ "url": guide, "description": "Guide, reference and changelog." });
        }
        plain::plainly(&mut document);
        document
    }

    /// Whom to ask, and where; alone, the program does not know its address.
    fn contact(self, at: &Installation<'_>) -> Value {
        let mut contact = json!({ "name": self.prose().title });
        if !at.base_url.is_empty() {
            contact["url"] = format!("{}/desenvolvedores#ajuda", at.base_url).into();
        }
        contact
    }

    fn prose(self) -> &'static About {
        match self {
            Self::Partner => &PROSE.partner,
            Self::Platform => &PROSE.platform,
        }
    }

    fn servers(self, at: &Installation<'_>) -> Value {
        match self {
            Self::Partner => json!([
                {
                    "url": format!("{}{PARTNER_DEV}", at.dev_base_url),
                    "description": PROSE.servers["development"]
                },
                {
                    "url": format!("{}{PARTNER}", at.base_url),
                    "description": PROSE.servers["production"]
                },
            ]),
            Self::Platform => {
                let url = if at.base_url.is_empty() { "/" } else { at.base_url };
                json!([{ "url": url, "description": PROSE.servers["platform"] }])
            }
        }
    }

    fn tags(self, routes: &[Route]) -> Value {
        let mut tags: Vec<&str> = Vec::new();
        for route in routes.iter().filter(|route| self.has(route)) {
            let tag = route.surface.tag();
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let about = |tag: &str| &PROSE.tags[tag];
        tags.iter().map(|tag| json!({ "name": tag, "description": about(tag) })).collect()
    }
}

/// All authentication schemes.
fn schemes_of(at: &Installation<'_>) -> Map<String, Value> {
    let mut all = PROSE.schemes.clone();
    all["checkoutToken"]["name"] = at.checkout_header.into();
    all
}

fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let Docs { query, body, form, reply, .. } = route.docs;
    let texts = texts_of(route);
    let schemes: Vec<Value> = security(route).iter().map(|scheme| json!({ *scheme: [] })).collect();
    let details = match (texts, scope(route)) {
        (Some(texts), _) => format!(" {}", texts.details.en),
        (None, Some(scope)) => format!(" Needs a key with the scope `{scope}`."),
        (None, None) => String::new(),
    };
    let mut operation = json!({
        "summary": route.about.trim_end_matches('.'),
        "description": format!("{}{details}", route.about),
        "operationId": operation_id(route),
        "tags": [route.surface.tag()],
        "security": schemes,
        "responses": answers(route, reply.map(|schema| schema(&mut schemas.answered).to_value())),
    });
    if let Some(scope) = scope(route) {
        operation["x-required-scope"] = scope.into();
    }
    let query = query.map(|query| query(&mut schemas.sent).to_value());
    let mut parameters = arguments(route.path, query.unwrap_or_default());
    parameters.extend(header_parameters(route));
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = body {
        let mut content = json!({ "application/json": { "schema": body(&mut schemas.sent) } });
        if let Some(example) = texts.and_then(|texts| parsed(&texts.example.sent)) {
            content["application/json"]["example"] = example;
        }
        if let Some(form) = form {
            content["application/x-www-form-urlencoded"] =
                json!({ "schema": form(&mut schemas.sent) });
        }
        for (media, schema) in route.docs.others {
            content[*media] = json!({ "schema": schema(&mut schemas.sent) });
        }
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation
}

/// Names of a route's authentication schemes; any one of them is enough.
fn security(route: &Route) -> &'static [&'static str] {
    match route.call {
        _ if route.surface == Surface::Partner => &["partnerToken"],
        Call::Extension(_) => &["extensionToken"],
        Call::Key(..) => &["apiKey"],
        Call::Notification(_) => &["marketplaceSignature"],
        Call::Checkout(_) => &["checkoutToken"],
        Call::Telegram(_) => &["telegramSecret"],
        Call::Chat(_) if route.method == Method::GET => &["chatToken"],
        Call::Chat(_) => &["chatSignature"],
        Call::Cron(_) => &["cronSecret", "cronToken"],
        _ => &[],
    }
}

/// The scope that a key, or an app that a person connected, needs. It stands in an
/// extension: the document names scopes with OAuth alone, and a generated client needs one
/// scheme that sends `Bearer`.
fn scope(route: &Route) -> Option<&'static str> {
    match route.call {
        Call::Key(scope, _) => Some(scope.name()),
        Call::Seller(operation) => Some(operation.access.scope()),
        Call::Supplier(operation) => Some(operation.access.scope()),
        _ => None,
    }
}

/// What is said of a route's operation; `None` when it is none of the Partner API.
fn texts_of(route: &Route) -> Option<&'static texts::Operation> {
    let name = route.operation();
    (!name.is_empty()).then(|| texts::of(name))
}

/// An example as a JSON value; `None` when it is empty.
fn parsed(example: &str) -> Option<Value> {
    // A test parses all examples, so a broken one does not get lost here.
    serde_json::from_str(example).ok()
}

/// Names of the shared parameters for conditional requests.
fn conditions(route: &Route) -> &'static [&'static str] {
    match route.is_conditional() {
        true if route.surface == Surface::Partner && !route.docs.dated => &["IfNoneMatch"],
        true => &["IfNoneMatch", "IfModifiedSince"],
        false => &[],
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

/// Parameters of the path and of the query. When some of them belong together
/// (`anyOf`), they become fields of one parameter: OpenAPI has no other way to
/// express this.
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
        let examples = parameter["schema"].as_object_mut().and_then(|it| it.remove("examples"));
        if let Some(mut examples) = examples {
            parameter["example"] = examples[0].take();
        }
        parameter
    };
    properties.into_iter().map(parameter).collect()
}

fn header_parameters(route: &Route) -> Vec<Value> {
    let shared = conditions(route).iter();
    let mut parameters: Vec<Value> =
        shared.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") })).collect();
    if route.surface == Surface::Partner && route.method == Method::POST {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header",
            "schema": { "type": "string", "pattern": "^[!-~]([ -~]{0,126}[!-~])?$" },
            "description": "Makes the call safe to repeat: the same key with the same body gets \
                            the first answer for 24 hours, and the work is done once."
        }));
    }
    if matches!(route.call, Call::Notification(_)) {
        parameters.push(json!({
            "name": "X-Request-Id", "in": "header", "schema": { "type": "string" },
            "description": "Part of what is signed; the same notification has the same."
        }));
    }
    parameters
}

/// The responses of a route that are not errors.
fn answers(route: &Route, schema: Option<Value>) -> Value {
    let Docs { media, status, dated, .. } = route.docs;
    let is_partner = route.surface == Surface::Partner;
    let is_conditional = route.is_conditional();
    let mut headers = Map::from_iter([request_id()]);
    if route.counts() != "none" {
        headers.extend(limits(true));
    }
    if is_conditional {
        headers.insert("ETag".to_owned(), header("Names this content.", "string", true));
        if dated || !is_partner {
            headers.insert(
                "Last-Modified".to_owned(),
                header("When the content last changed.", "string", dated),
            );
        }
    }
    if is_partner && route.method == Method::POST {
        let replayed = "`true` when an earlier call with this `Idempotency-Key` was answered so.";
        headers.insert("Idempotency-Replayed".to_owned(), header(replayed, "string", false));
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
        if route.surface == Surface::Operations {
            let digest = header("The SHA-256 of the file (RFC 9530).", "string", true);
            headers.insert("Repr-Digest".to_owned(), digest);
        }
    }
    let mut done = json!({ "description": "Done.", "headers": headers });
    if let Some(media) = media {
        done["content"] = json!({});
        for media in media.split(", ") {
            let file = json!({ "type": "string", "format": "binary" });
            done["content"][media] = json!({ "schema": file });
        }
    } else if let Some(schema) = schema {
        done["content"] = json!({ "application/json": { "schema": schema } });
        if let Some(answer) = texts_of(route).and_then(|texts| parsed(&texts.example.answer)) {
            let is_wrapped = is_partner && route.method == Method::POST;
            let answer = if is_wrapped { json!({ "data": answer }) } else { answer };
            done["content"]["application/json"]["example"] = answer;
        }
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
        ("X-RateLimit-Limit", "Calls in a window, of the limit that has least left."),
        ("X-RateLimit-Remaining", "Calls left in this window."),
        ("X-RateLimit-Reset", "When the window ends, in seconds since 1970."),
    ]
    .map(|(name, about)| (name.to_owned(), header(about, "integer", required)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of the data file is in one of the documents.
    fn check(prose: &Value, documents: &str) {
        match prose {
            Value::String(_) => {
                assert!(documents.contains(&prose.to_string()), "left over: {prose}");
            }
            Value::Object(members) => members.values().for_each(|one| check(one, documents)),
            other => panic!("{other} is no prose"),
        }
    }

    #[test]
    fn no_prose_is_left_over() {
        let at = Installation { base_url: "", dev_base_url: "", checkout_header: "X" };
        let rows = crate::routes::all();
        let both = [Document::Partner, Document::Platform].map(|one| one.of(&rows, &at));
        check(&texts::read("openapi.toml"), &json!(both).to_string());
    }
}
