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
