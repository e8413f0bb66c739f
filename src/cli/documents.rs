//! `openapi` and `routes`: the route table as documents.

use serde_json::{Value, json};

use super::{Context, say};
use crate::http::Family;
use crate::operations::openapi;
use crate::route::Route;
use crate::routes;

pub fn openapi(context: &Context) -> anyhow::Result<()> {
    let server = &context.config().server;
    let dev = if server.dev_base_url.is_empty() { &server.base_url } else { &server.dev_base_url };
    let document = openapi::document(&routes::all(), &server.base_url, dev);
    say(serde_json::to_string_pretty(&document)?)
}

pub fn routes(as_json: bool) -> anyhow::Result<()> {
    let rows = routes::all();
    if as_json {
        let rows: Vec<Value> = rows.iter().map(as_value).collect();
        return say(serde_json::to_string_pretty(&rows)?);
    }
    let path = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
    for row in &rows {
        let (method, caller, runs) = (row.method.as_str(), row.caller(), row.runs());
        say(format_args!("{method:6} {:path$}  {caller:17} {runs:8}  {}", row.path, row.about))?;
    }
    Ok(())
}

fn as_value(row: &Route) -> Value {
    let family = match row.family() {
        Family::Internal => "extension",
        other => other.name(),
    };
    json!({
        "method": row.method.as_str(),
        "path": row.path,
        "call": row.caller(),
        "rate": row.counts(),
        "runs": row.runs(),
        "family": family,
        "operation": row.operation,
        "changes_state": row.changes_state,
        "about": row.about,
    })
}
