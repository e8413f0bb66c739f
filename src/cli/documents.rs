//! `openapi`, `routes` and `completions`: the tables of addresses and commands
//! as documents.

use clap::CommandFactory as _;
use serde_json::{Value, json};

use super::{Arguments, Context, OpenapiDocument, say};
use crate::base::shortened;
use crate::developers::documents::Document;
use crate::developers::openapi::Installation;
use crate::edge::route::Route;
use crate::http::Family;
use crate::routes;

pub fn openapi(context: &Context, which: OpenapiDocument) -> anyhow::Result<()> {
    let which = match which {
        OpenapiDocument::Partner => Document::Partner,
        OpenapiDocument::Platform => Document::Platform,
    };
    let server = &context.config().server;
    let dev = if server.dev_base_url.is_empty() { &server.base_url } else { &server.dev_base_url };
    let token_header = context.config().checkout.token_header.as_str().to_ascii_uppercase();
    let at = Installation {
        base_url: server.base_url.trim_end_matches('/'),
        dev_base_url: dev.trim_end_matches('/'),
        checkout_header: &token_header,
    };
    let document = which.of(&routes::all(), &at);
    say(serde_json::to_string_pretty(&document)?)
}

/// Columns of the table of addresses; what does not fit is in its JSON form.
const WIDTH: usize = 120;

pub fn routes(as_json: bool) -> anyhow::Result<()> {
    let mut rows = routes::all();
    rows.sort_by_key(|row| (row.path, row.method.as_str().to_owned()));
    if as_json {
        let rows: Vec<Value> = rows.iter().map(as_value).collect();
        return say(serde_json::to_string_pretty(&rows)?);
    }
    let widest = |cell: fn(&Route) -> usize| rows.iter().map(cell).max().unwrap_or(0);
    let (path, caller) = (widest(|row| row.path.len()), widest(|row| row.caller().len()));
    let runs_width = widest(|row| row.runs().len());
    for row in &rows {
        let (method, runs) = (row.method.as_str(), row.runs());
        let mut line = format!(
            "{method:6} {:path$}  {:caller$}  {runs:runs_width$}  {}",
            row.path,
            row.caller(),
            row.about
        );
        if line.len() > WIDTH {
            line = format!("{}…", shortened(&line, WIDTH - '…'.len_utf8()).trim_end());
        }
        say(line)?;
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
        "operation": row.operation(),
        "changes_state": row.changes_state,
        "about": row.about,
    })
}

/// Prints the script by which a shell completes commands and options.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    say(String::from_utf8_lossy(&script).trim_end())
}
