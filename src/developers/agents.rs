//! Data of the page about assistants: configuration to paste, and the tools. The
//! text of the page is in `agents_pt.html` and `agents_en.html`.

use super::guide::Sample;
use super::language::{Language, Text};
use super::titles::TITLES;
use crate::partner::agent::{LEGACY, MODERN, PATH};
use crate::partner::operation::{Declared, Effect};
use crate::partner::{seller, supplier};

/// Data that the page shows.
pub struct Agents {
    /// Address of the MCP endpoint.
    pub url: String,
    /// Configuration for clients that sign in with OAuth.
    pub clients: Vec<Sample>,
    /// Configuration for clients that send a partner token.
    pub with_token: Vec<Sample>,
    /// Reads the answers of tools.
    pub whole: Sample,
    pub sellers: Vec<ToolRow>,
    pub suppliers: Vec<ToolRow>,
    pub modern: &'static str,
    pub legacy: String,
    /// Addresses of the OAuth metadata.
    pub resource_metadata: String,
    pub server_metadata: String,
}

pub struct ToolRow {
    pub name: &'static str,
    pub effect: &'static str,
    pub about: Text,
}

/// The page's data; `base` is the address of the endpoint's host.
pub fn agents(base: &str, language: Language) -> Agents {
    let url = format!("{base}{PATH}");
    Agents {
        clients: vec![
            Sample::of("claude-code.sh", "Claude Code", &url),
            Sample::of("vscode.json", "VS Code: .vscode/mcp.json", &url),
            Sample::of("cursor.json", "Cursor: .cursor/mcp.json", &url),
            Sample::of("stdio.json", "stdio: mcp-remote", &url),
        ],
        with_token: vec![
            Sample::of("token-claude-code.sh", "Claude Code, token", &url),
            Sample::of("token-inspector.sh", "MCP Inspector", &url),
            Sample::of("token-curl.sh", "curl", &url),
        ],
        whole: Sample::of("inteiro-python.py", "Python", &url),
        sellers: seller::OPERATIONS.iter().map(|one| row(one, language)).collect(),
        suppliers: supplier::OPERATIONS.iter().map(|one| row(one, language)).collect(),
        modern: MODERN,
        legacy: LEGACY.join(", "),
        resource_metadata: format!("{base}/.well-known/oauth-protected-resource{PATH}"),
        server_metadata: format!("{base}/.well-known/oauth-authorization-server"),
        url,
    }
}

fn row<P>(operation: &Declared<P>, language: Language) -> ToolRow {
    let effects = &TITLES.effects;
    let effect = match operation.effect {
        Effect::Reads | Effect::Fetches => &effects.reads,
        Effect::Sends => &effects.sends,
        Effect::Adds => &effects.adds,
        Effect::Removes => &effects.removes,
        Effect::Sets | Effect::Moves | Effect::Changes => &effects.changes,
        Effect::Answers => &effects.answers,
        Effect::Makes => &effects.makes,
    };
    ToolRow {
        name: operation.name,
        effect: language.say(effect),
        about: Text::translated(language.say(&operation.texts().about).trim_end_matches('.')),
    }
}
