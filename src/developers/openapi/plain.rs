//! Schemas as generators of clients read them.
//!
//! They stumble over some ways to say a thing that OpenAPI allows. Each is said here in a
//! plainer way that means the same, once the document is whole, so that no declaration has
//! to know of it.

use serde_json::{Map, Value, json};

/// Rewrites every schema of a document.
pub fn plainly(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plainly),
        Value::Object(members) => {
            rewrite(members);
            for (name, member) in members.iter_mut().filter(|(name, _)| !is_data(name)) {
                match member {
                    // Keys here are names of fields, not keywords.
                    Value::Object(fields) if name == "properties" => {
                        fields.values_mut().for_each(plainly);
                    }
                    member => plainly(member),
                }
            }
        }
        _ => {}
    }
}

/// Whether the value of a key is data, not a schema.
fn is_data(key: &str) -> bool {
    matches!(key, "example" | "examples" | "default" | "enum" | "const" | "required")
}

fn rewrite(schema: &mut Map<String, Value>) {
    // No generator knows unsigned numbers. `minimum` stays.
    if schema.get("format").and_then(Value::as_str).is_some_and(|it| it.starts_with("uint")) {
        schema.insert("format".to_owned(), "int64".into());
    }
    match schema.get("const").cloned() {
        Some(Value::String(only)) => {
            schema.remove("const");
            schema.insert("enum".to_owned(), json!([only]));
            schema.entry("type").or_insert_with(|| "string".into());
        }
        // A list of one flag is read as a list of text. Without a type it is a condition.
        Some(Value::Bool(_)) if schema.get("type").is_some_and(|kind| kind == "boolean") => {
            schema.remove("const");
        }
        _ => {}
    }
    for choice in ["oneOf", "anyOf"] {
        let Some(Value::Array(choices)) = schema.get(choice) else { continue };
        let Some(same) = id_as_text(choices).or_else(|| one_list(choices)) else { continue };
        schema.remove(choice);
        for (key, value) in same {
            match schema.get_mut(&key) {
                Some(Value::String(about)) if key == "description" => {
                    *about = format!("{about} {}", value.as_str().unwrap_or_default());
                }
                _ => _ = schema.insert(key, value),
            }
        }
    }
}

/// An id that is taken as text or as a number, as text. In a query or a path both are the
/// same, and clients that are generated send the text that they were given.
fn id_as_text(choices: &[Value]) -> Option<Map<String, Value>> {
    let [text, number] = choices else { return None };
    let is_id =
        text["type"] == "string" && text["pattern"].is_string() && number["type"] == "integer";
    if is_id { text.as_object().cloned() } else { None }
}

/// Constants of text as one list of values, with what is said of single ones.
fn one_list(choices: &[Value]) -> Option<Map<String, Value>> {
    let (mut values, mut said) = (Vec::new(), Vec::new());
    for one in choices {
        let here = match (one["const"].as_str(), one["enum"].as_array()) {
            (Some(value), None) => vec![json!(value)],
            (None, Some(values)) if values.iter().all(Value::is_string) => values.clone(),
            _ => return None,
        };
        if let (Some(about), [Value::String(value)]) = (one["description"].as_str(), &*here) {
            said.push(format!("`{value}`: {about}"));
        }
        values.extend(here);
    }
    let mut list = Map::from_iter([
        ("type".to_owned(), json!("string")),
        ("enum".to_owned(), Value::Array(values)),
    ]);
    if !said.is_empty() {
        list.insert("description".to_owned(), said.join(" ").into());
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(mut schema: Value, plain: &Value) {
        plainly(&mut schema);
        assert_eq!(schema, *plain);
    }

    #[test]
    fn the_same_is_said_more_plainly() {
        becomes(
            json!({ "format": "uint", "minimum": 0 }),
            &json!({ "format": "int64", "minimum": 0 }),
        );
        becomes(json!({ "const": "queued" }), &json!({ "type": "string", "enum": ["queued"] }));
        becomes(json!({ "type": "boolean", "const": true }), &json!({ "type": "boolean" }));
        becomes(json!({ "const": true }), &json!({ "const": true }));
        becomes(
            json!({ "oneOf": [{ "enum": ["in", "out"] }, { "const": "adjust", "description": "A count." }] }),
            &json!({ "type": "string", "enum": ["in", "out", "adjust"], "description": "`adjust`: A count." }),
        );
        let id = json!([{ "type": "string", "pattern": "^[1-9]$" }, { "type": "integer" }]);
        becomes(
            json!({ "properties": { "format": { "anyOf": id } } }),
            &json!({ "properties": { "format": { "type": "string", "pattern": "^[1-9]$" } } }),
        );
    }

    #[test]
    fn what_is_no_list_of_constants_and_what_is_data_stays() {
        for same in [
            json!({ "anyOf": [{ "$ref": "#/a" }, { "type": "null" }] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
            json!({ "example": { "format": "uint", "const": "a" } }),
        ] {
            becomes(same.clone(), &same);
        }
    }
}
