//! The operations as tools: their descriptions for a model, made once from the
//! declarations.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::identity::Agent;
use crate::partner::access::Access;
use crate::partner::operation::{Declared, Effect};
use crate::partner::{seller, supplier};

/// The tools of a role, as the protocol lists them: for each access, those that it opens,
/// without and with those for sample data.
struct Tools([[String; 2]; Access::ALL.len()]);

static SELLERS: LazyLock<Tools> = LazyLock::new(|| Tools::of(seller::OPERATIONS));
static SUPPLIERS: LazyLock<Tools> = LazyLock::new(|| Tools::of(supplier::OPERATIONS));

impl Tools {
    fn of<P>(operations: &[Declared<P>]) -> Self {
        Self(Access::ALL.map(|most| {
            [false, true].map(|is_test| {
                let open = operations.iter().filter(|one| one.access <= most);
                let shown = open.filter(|one| is_test || !one.is_for_tests);
                shown.map(definition).collect::<Value>().to_string()
            })
        }))
    }
}

/// The tools that an assistant may call, as JSON.
pub fn list(agent: &Agent) -> &'static str {
    let is_seller = agent.owner().role.is_student();
    let shown = if is_seller { &SELLERS } else { &SUPPLIERS };
    &shown.0[agent.most() as usize][usize::from(agent.is_test())]
}

fn definition<P>(operation: &Declared<P>) -> Value {
    let (docs, texts) = (&operation.docs, operation.texts());
    let input = docs.query.or(docs.body).map(|schema| made(schema, false));
    let mut definition = json!({
        "name": operation.name,
        "title": texts.tool.title,
        "description": format!("{} {}", texts.about.en, texts.tool.when),
        "inputSchema": with_type(input.unwrap_or_else(|| json!({}))),
        "annotations": annotations(&texts.tool.title, operation.effect),
    });
    if let Some(reply) = docs.reply {
        definition["outputSchema"] = with_type(made(reply, true));
    }
    definition
}

/// A complete schema: subschemas are inlined, and details that only some
/// clients understand are removed.
fn made(schema: fn(&mut SchemaGenerator) -> Schema, is_answered: bool) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = if is_answered { settings.for_serialize() } else { settings };
    let mut schema = schema(&mut settings.into_generator()).to_value();
    simplify(&mut schema);
    schema
}

/// Removes the formats of numbers, which are types of this program, and the
/// titles, which are names of its structs.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if !matches!(members.get("type"), Some(Value::String(kind)) if kind == "string") {
                members.remove("format");
            }
            members.remove("title");
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                // Keys here are names of properties, not keywords: one may be
                // called `title`.
                properties.values_mut().for_each(simplify);
            }
            let others = members.iter_mut().filter(|(name, _)| !is_data(name));
            others.for_each(|(_, member)| simplify(member));
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Whether a keyword's value is data or names, not a schema.
fn is_data(keyword: &str) -> bool {
    matches!(keyword, "properties" | "enum" | "const" | "default" | "examples" | "required")
}

/// Adds `type: object`: the arguments and results of a tool are objects, also
/// when empty.
fn with_type(schema: Value) -> Value {
    let mut members = match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.entry("type").or_insert_with(|| "object".into());
    Value::Object(members)
}

/// Hints by which a client decides before a call. A missing hint counts as the
/// worst case, so all are given.
fn annotations(title: &str, effect: Effect) -> Value {
    let (reads, destroys, repeats, outside) = match effect {
        Effect::Reads => (true, false, true, false),
        Effect::Fetches => (true, false, true, true),
        Effect::Sends | Effect::Makes => (false, false, false, true),
        Effect::Adds => (false, false, true, false),
        Effect::Removes | Effect::Sets => (false, true, true, false),
        Effect::Moves => (false, true, false, false),
        Effect::Changes => (false, true, false, true),
        Effect::Answers => (false, true, true, true),
    };
    json!({
        "title": title,
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": repeats,
        "openWorldHint": outside,
    })
}
