//! The operations of the OpenAPI document with their types, as languages write them.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    Any,
    OneOf(Vec<String>),
    List(Box<Self>),
    /// An object of any names.
    Map(Box<Self>),
    /// One of [`Api::types`].
    Named(String),
    /// Or null.
    Maybe(Box<Self>),
}

/// A field of an object, or an argument of an operation.
#[derive(Clone)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    pub is_required: bool,
    pub about: String,
    /// The largest number that is taken.
    most: Option<i64>,
}

/// What an operation answers.
pub enum Answer {
    Json(Kind),
    File,
    Nothing,
}

pub struct Operation {
    pub name: String,
    /// In capitals.
    pub method: String,
    pub path: String,
    pub about: String,
    pub in_path: Vec<Field>,
    pub query: Vec<Field>,
    /// The fields of a body; `None` without one.
    pub body: Option<Vec<Field>>,
    /// Whether it takes an `Idempotency-Key`.
    pub is_keyed: bool,
    pub answer: Answer,
    /// What the entries are of a list that comes in pages.
    pub entries: Option<Kind>,
}

impl Operation {
    /// The name of the method that reads all pages.
    pub fn all_name(&self) -> String {
        let verb = ["list_", "get_"].into_iter().find(|verb| self.name.contains(verb));
        verb.map_or_else(
            || format!("all_{}", self.name),
            |verb| self.name.replacen(verb, "all_", 1),
        )
    }

    /// The most entries of a page.
    pub fn largest_page(&self) -> Option<i64> {
        self.query.iter().find(|one| one.name == "limit")?.most
    }
}

/// Parameters by which the client itself walks through pages.
pub const PLACES: [&str; 2] = ["cursor", "offset"];

/// What the clients are made of.
#[derive(Default)]
pub struct Api {
    /// The objects in answers and bodies: what is said of each, and its fields.
    pub types: BTreeMap<String, (String, Vec<Field>)>,
    pub operations: Vec<Operation>,
}

impl Api {
    pub fn read(document: &Value) -> Self {
        let mut reader = Reader { document, types: BTreeMap::new() };
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                operations.push(reader.operation(path, method, operation));
            }
        }
        // What webhooks send is read by a function of its own.
        reader.kind(&document["components"]["schemas"]["Event"], "Event");
        operations.sort_by(|a, b| a.name.cmp(&b.name));
        Self { types: reader.types, operations }
    }
}

struct Reader<'d> {
    document: &'d Value,
    types: BTreeMap<String, (String, Vec<Field>)>,
}

impl<'d> Reader<'d> {
    /// What a reference leads to.
    fn follow(&self, value: &'d Value) -> &'d Value {
        let place = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        place.and_then(|place| self.document.pointer(place)).map_or(value, |it| self.follow(it))
    }

    fn operation(&mut self, path: &str, method: &str, operation: &'d Value) -> Operation {
        let name = text(&operation["operationId"]);
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let parameters: Vec<&Value> = parameters.map(|one| self.follow(one)).collect();
        let mut of = |place: &str| -> Vec<Field> {
            let here = parameters.iter().filter(|one| one["in"] == place);
            let here = here.map(|one| {
                let is_required = one["required"] == true;
                self.field(
                    &text(&one["name"]),
                    &one["schema"],
                    &one["description"],
                    is_required,
                    "",
                )
            });
            sorted(here.collect())
        };
        let (in_path, query) = (of("path"), of("query"));
        let sent = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body =
            (!sent.is_null()).then(|| sorted(self.fields(self.follow(sent), &pascal(&name))));
        let good = operation["responses"].as_object().into_iter().flatten();
        let good = good.filter(|(status, _)| status.starts_with('2')).map(|(_, one)| one).next();
        let content = good.map(|one| &self.follow(one)["content"]).filter(|it| !it.is_null());
        let answer = match content.map(|content| &content["application/json"]["schema"]) {
            None => Answer::Nothing,
            Some(Value::Null) => Answer::File,
            Some(schema) => Answer::Json(self.kind(schema, &format!("{}Answer", pascal(&name)))),
        };
        let entries = self.entries(&answer).filter(|_| method == "get");
        let is_keyed = parameters.iter().any(|one| one["name"] == "Idempotency-Key");
        let (method, path) = (method.to_uppercase(), path.to_owned());
        let about = text(&operation["summary"]);
        Operation { name, method, path, about, in_path, query, body, is_keyed, answer, entries }
    }

    fn entries(&self, answer: &Answer) -> Option<Kind> {
        let Answer::Json(Kind::Named(name)) = answer else { return None };
        let fields = &self.types.get(name)?.1;
        fields.iter().find(|one| one.name == "pagination")?;
        match &fields.iter().find(|one| one.name == "data")?.kind {
            Kind::List(entry) => Some((**entry).clone()),
            _ => None,
        }
    }

    fn field(
        &mut self,
        name: &str,
        schema: &'d Value,
        about: &Value,
        is_required: bool,
        within: &str,
    ) -> Field {
        let kind = self.kind(schema, &format!("{within}{}", pascal(name)));
        let most = schema["maximum"].as_i64();
        Field { name: name.to_owned(), kind, is_required, about: text(about), most }
    }

    fn fields(&mut self, schema: &'d Value, within: &str) -> Vec<Field> {
        let required = schema["required"].as_array();
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields = fields.map(|(name, field)| {
            let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
            self.field(name, field, &field["description"], is_required, within)
        });
        fields.collect()
    }

    /// What a schema describes; `name` is for an object that has none.
    fn kind(&mut self, schema: &'d Value, name: &str) -> Kind {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or(name);
            return self.kind(&self.document["components"]["schemas"][name], name);
        }
        let kinds = schema["type"].as_array();
        let is_maybe = kinds.is_some_and(|kinds| kinds.iter().any(|it| it == "null"));
        let kind = kinds.map_or(&schema["type"], |kinds| {
            kinds.iter().find(|it| *it != "null").unwrap_or(&Value::Null)
        });
        let kind = match kind.as_str() {
            Some("string") => one_of(schema).unwrap_or(Kind::Text),
            Some("integer") => Kind::Whole,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Flag,
            Some("array") => {
                Kind::List(Box::new(self.kind(&schema["items"], &format!("{name}Item"))))
            }
            Some("object") if schema["properties"].is_object() => self.named(schema, name),
            Some("object") => Kind::Map(Box::new(match &schema["additionalProperties"] {
                values @ Value::Object(_) => self.kind(values, &format!("{name}Value")),
                _ => Kind::Any,
            })),
            _ => Kind::Any,
        };
        if is_maybe { Kind::Maybe(Box::new(kind)) } else { kind }
    }

    /// An object with fields, which is read once.
    fn named(&mut self, schema: &'d Value, name: &str) -> Kind {
        if !self.types.contains_key(name) {
            // Known before its fields are, which may lead back to it.
            self.types.insert(name.to_owned(), (String::new(), Vec::new()));
            let fields = self.fields(schema, name);
            self.types.insert(name.to_owned(), (text(&schema["description"]), fields));
        }
        Kind::Named(name.to_owned())
    }
}

fn one_of(schema: &Value) -> Option<Kind> {
    let values = schema["enum"].as_array()?.iter().filter_map(Value::as_str);
    Some(Kind::OneOf(values.map(str::to_owned).collect()))
}

/// What must be given stands first.
fn sorted(mut fields: Vec<Field>) -> Vec<Field> {
    fields.sort_by_key(|one| !one.is_required);
    fields
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('\n', " ")
}

/// `drop_health` as `DropHealth`.
pub fn pascal(name: &str) -> String {
    let parts = name.split(['_', '-']).map(|part| {
        let (first, rest) = part.split_at_checked(1).unwrap_or(("", part));
        first.to_uppercase() + rest
    });
    parts.collect()
}
