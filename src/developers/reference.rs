//! The reference of the Partner API, read from its OpenAPI document.

use serde_json::Value;

use super::REFERENCE;
use super::language::{Language, Text};
use super::ordered::Ordered;
use crate::partner::texts::{self, Example};

/// What the page shows of one operation.
pub struct Operation {
    /// Name in the document, in the usage and as anchor on the page.
    pub id: String,
    /// Path of its page.
    pub address: String,
    pub method: String,
    /// Relative to the base addresses.
    pub path: String,
    pub summary: Text,
    pub about: Text,
    pub parameters: Vec<Parameter>,
    /// Fields of the request body; empty without a body.
    pub sent: Vec<FieldRow>,
    /// Fields of the response; empty for a file.
    pub answer: Vec<FieldRow>,
    pub answer_example: String,
    /// A `curl` command to copy.
    pub curl: String,
    pub errors: Vec<ErrorRow>,
}

impl Operation {
    /// Whether it is for the programs of suppliers.
    pub fn is_of_suppliers(&self) -> bool {
        self.path.starts_with("/drop/")
    }

    /// Whether it can be tried from the page without changing anything.
    pub fn is_tryable(&self) -> bool {
        self.method == "GET"
    }

    /// Parameters that have an input in the form for trying the operation.
    pub fn inputs(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|one| one.place != "header")
    }
}

pub struct Parameter {
    pub name: String,
    /// `path`, `query` or `header`.
    pub place: String,
    pub is_required: bool,
    pub kind: String,
    pub about: Text,
    /// The allowed values; empty when other values are accepted too.
    pub values: Vec<String>,
    pub example: String,
}

/// A field of a body or an answer.
pub struct FieldRow {
    /// Full path of the field: `data[].shipping.id`.
    pub name: String,
    pub kind: String,
    pub is_required: bool,
    pub about: Text,
}

/// The error codes of one status.
pub struct ErrorRow {
    pub status: String,
    pub codes: Vec<String>,
}

/// All operations of a document, in the order of their names here.
pub fn read(
    document: &Value,
    base: &str,
    names: impl Iterator<Item = &'static str>,
    language: Language,
) -> Vec<Operation> {
    let reader = Reader { document, base, language };
    let mut all = reader.operations();
    let mut sorted = Vec::with_capacity(all.len());
    for name in names {
        let found = all.iter().position(|(id, ..)| *id == name);
        if let Some((id, path, method, operation)) = found.map(|at| all.swap_remove(at)) {
            sorted.push(reader.operation(id, path, method, operation));
        }
    }
    sorted
}

struct Reader<'d> {
    document: &'d Value,
    base: &'d str,
    language: Language,
}

impl<'d> Reader<'d> {
    /// Id, path, method and description of each operation.
    fn operations(&self) -> Vec<(&'d str, &'d str, &'d str, &'d Value)> {
        let paths = self.document["paths"].as_object().into_iter().flatten();
        let each = paths.flat_map(|(path, item)| {
            let methods = item.as_object().into_iter().flatten();
            methods.map(move |(method, operation)| {
                let id = operation["operationId"].as_str().unwrap_or_default();
                (id, &**path, &**method, operation)
            })
        });
        each.collect()
    }

    fn follow(&self, value: &'d Value) -> &'d Value {
        let reference = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        reference.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(value)
    }

    fn text(&self, value: &Value) -> Text {
        Text::of(value.as_str().unwrap_or_default(), self.language)
    }

    fn operation(&self, id: &str, path: &str, method: &str, operation: &'d Value) -> Operation {
        let Example { sent, answer: answered } = &texts::of(id).example;
        let summary = operation["summary"].as_str().unwrap_or_default();
        let about = operation["description"].as_str().unwrap_or_default();
        let about = about.strip_prefix(summary).unwrap_or(about).trim_start_matches('.').trim();
        let parameters = self.parameters(operation);
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let is_post = method == "post";
        let order = Ordered::of(answered);
        let order = if is_post { order.below("data") } else { order };
        let wrapped = || format!("{{\n  \"data\": {}\n}}", indented(answered));
        Operation {
            curl: self.curl(method, path, &parameters, sent),
            id: id.to_owned(),
            address: format!("{REFERENCE}/{id}"),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: Text::of(summary, self.language),
            about: Text::of(about, self.language),
            parameters,
            sent: self.fields(body, &Ordered::of(sent)),
            answer: self.fields(answer, &order),
            answer_example: match &**answered {
                "" => String::new(),
                _ if is_post => wrapped(),
                answer => answer.to_owned(),
            },
            errors: self.errors(operation),
        }
    }

    fn parameters(&self, operation: &'d Value) -> Vec<Parameter> {
        let all = operation["parameters"].as_array().into_iter().flatten();
        let mut all: Vec<Parameter> = all
            .map(|parameter| {
                let parameter = self.follow(parameter);
                let schema = self.follow(&parameter["schema"]);
                let word = |name: &str| parameter[name].as_str().unwrap_or_default().to_owned();
                Parameter {
                    name: word("name"),
                    place: word("in"),
                    is_required: parameter["required"] == true,
                    kind: self.kind(schema),
                    about: self.text(&parameter["description"]),
                    values: values(schema),
                    example: plain(&parameter["example"]),
                }
            })
            .collect();
        // Order: path, filters, `limit` and `offset`, headers.
        all.sort_by_key(|one| match (&*one.place, &*one.name) {
            ("path", _) => 0,
            ("query", "limit") => 2,
            ("query", "offset") => 3,
            ("query", _) => 1,
            _ => 4,
        });
        all
    }

    fn fields(&self, schema: &'d Value, order: &Ordered) -> Vec<FieldRow> {
        let mut rows = Vec::new();
        self.collect(schema, "", order, &mut rows);
        rows
    }

    fn collect(&self, schema: &'d Value, before: &str, order: &Ordered, rows: &mut Vec<FieldRow>) {
        let schema = self.follow(schema);
        let mut fields: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
        fields.sort_by_key(|(name, _)| order.place(name));
        for (name, field) in fields {
            let own = self.follow(field);
            let is_list = !own["items"].is_null();
            let name_here = format!("{before}{name}{}", if is_list { "[]" } else { "" });
            let required = schema["required"].as_array().into_iter().flatten();
            let about = if field["description"].is_null() { own } else { field };
            rows.push(FieldRow {
                kind: self.kind(own),
                is_required: required.into_iter().any(|one| one == name),
                about: self.text(&about["description"]),
                name: name_here.clone(),
            });
            let none = Ordered::default();
            let inner = order.within(name).unwrap_or(&none);
            let within = if is_list { &own["items"] } else { own };
            self.collect(within, &format!("{name_here}."), inner, rows);
        }
    }

    /// Type and limits of a schema, in words that need no translation.
    fn kind(&self, schema: &'d Value) -> String {
        let schema = self.follow(schema);
        let mut kinds: Vec<String> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().map(plain).collect(),
            Value::String(kind) => vec![kind.clone()],
            _ if schema["const"].is_string() || schema["enum"].is_array() => {
                vec!["string".to_owned()]
            }
            _ => {
                let either = ["anyOf", "oneOf"].into_iter().find_map(|it| schema[it].as_array());
                let each = either.into_iter().flatten().map(|one| self.kind(one));
                let mut each: Vec<String> = each.collect();
                each.dedup();
                each
            }
        };
        let items = &schema["items"];
        if let Some(list) = kinds.iter_mut().find(|kind| *kind == "array")
            && !items.is_null()
        {
            *list = format!("array<{}>", self.kind(items));
        }
        let mut said = kinds.join(" | ");
        if let Some(format) = schema["format"].as_str().filter(|it| *it == "date") {
            said = format!("{said}, {format}");
        }
        let (least, most) = (&schema["minimum"], &schema["maximum"]);
        if let (Some(least), Some(most)) = (least.as_i64(), most.as_i64())
            && most < 1_000_000_000
        {
            said = format!("{said}, {least}–{most}");
        } else if let Some(least) = least.as_i64() {
            said = format!("{said}, ≥ {least}");
        }
        if let Some(most) = schema["maxLength"].as_u64() {
            said = format!("{said}, ≤ {most}");
        }
        if !schema["default"].is_null() {
            said = format!("{said}, = {}", plain(&schema["default"]));
        }
        said
    }

    fn curl(&self, method: &str, path: &str, parameters: &[Parameter], sent: &str) -> String {
        let mut path = path.to_owned();
        for one in parameters.iter().filter(|one| one.place == "path") {
            path = path.replace(&format!("{{{}}}", one.name), &one.example);
        }
        let has = |name: &str| parameters.iter().any(|one| one.name == name);
        if has("limit") {
            path.push_str("?limit=5");
        }
        let mut call =
            format!("curl '{}{path}' \\\n  -H \"Authorization: Bearer $TOKEN\"", self.base);
        if method == "post" {
            call.push_str(" \\\n  -H \"Idempotency-Key: $(date +%s%N)\"");
        }
        if !sent.is_empty() {
            call.push_str(" \\\n  -H 'Content-Type: application/json' \\\n  -d '");
            call.push_str(sent);
            call.push('\'');
        }
        call
    }

    fn errors(&self, operation: &'d Value) -> Vec<ErrorRow> {
        let all = operation["responses"].as_object().into_iter().flatten();
        let bad = all.filter(|(status, _)| status.as_str() >= "400");
        bad.map(|(status, response)| {
            let content = &self.follow(response)["content"]["application/json"];
            let codes = content["examples"].as_object().into_iter().flatten();
            ErrorRow {
                status: status.clone(),
                codes: codes.map(|(code, _)| code.clone()).collect(),
            }
        })
        .collect()
    }
}

/// The values that a schema lists.
fn values(schema: &Value) -> Vec<String> {
    schema["enum"].as_array().into_iter().flatten().map(plain).collect()
}

/// A value as text; a string has no quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Indents every line but the first by two spaces.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}
