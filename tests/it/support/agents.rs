//! Calls of assistants.

use serde_json::{Map, Value, json};

use crate::support::actors::Actor;

pub const MCP: &str = "/mcp";

/// A message as clients send it.
pub fn message(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// The result in the answer to a request.
#[track_caller]
pub fn result(actor: &Actor<'_>, method: &str, params: &Value) -> Value {
    let reply = actor.post(MCP, &message(method, params)).expect(200).json();
    assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(7)), "{reply}");
    reply["result"].clone()
}

/// Calls a tool.
#[track_caller]
pub fn call(actor: &Actor<'_>, tool: &str, arguments: &Value) -> Value {
    result(actor, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

/// The tools of an assistant, by name.
#[track_caller]
pub fn tools(actor: &Actor<'_>) -> Map<String, Value> {
    let listed = result(actor, "tools/list", &json!({}));
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone())).collect()
}

/// What a tool answered, in the form of the API.
#[track_caller]
pub fn said(told: &Value) -> Value {
    let text = told["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{told}"));
    whole(serde_json::from_str(text).unwrap())
}

/// An answer for models in the form of the API: its tables as lists of objects.
fn whole(value: Value) -> Value {
    match value {
        Value::Object(table) if table.contains_key("columns") && table.contains_key("rows") => {
            let columns = table["columns"].as_array().unwrap();
            let rows = table["rows"].as_array().unwrap().iter().map(|row| {
                let row = columns.iter().zip(row.as_array().unwrap());
                let row = row.map(|(name, cell)| (name.as_str().unwrap(), cell));
                let same = table.get("same").and_then(Value::as_object).into_iter().flatten();
                let same = same.map(|(name, cell)| (name.as_str(), cell));
                let mut item = json!({});
                for (name, cell) in row.chain(same) {
                    let place = name.split('.').fold(&mut item, |at, part| &mut at[part]);
                    *place = whole(cell.clone());
                }
                item
            });
            rows.collect()
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, whole(one))).collect())
        }
        Value::Array(items) => items.into_iter().map(whole).collect(),
        other => other,
    }
}
