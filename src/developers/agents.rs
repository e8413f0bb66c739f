//! Data of the page about assistants: configuration to paste, and the tools. The
//! text of the page is in `agents_pt.html` and `agents_en.html`.

use super::guide::Sample;
use super::language::{Bilingual, Language, Text};
use crate::partner::agent::{LEGACY, MODERN, PATH};
use crate::partner::operation::{Declared, Effect};
use crate::partner::{seller, supplier};

/// The sections in order. Both languages use the same ids.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub const SECTIONS: &[(&str, Bilingual)] = &[
    ("conectar", Bilingual { portuguese: "Conectar em dois cliques", english: "Connect in two clicks" }),
    ("colar", Bilingual { portuguese: "Configuração para colar", english: "Configuration to paste" }),
    ("com-token", Bilingual { portuguese: "Com um token de parceiro", english: "With a partner token" }),
    ("ferramentas", Bilingual { portuguese: "As ferramentas", english: "The tools" }),
    ("permissoes", Bilingual { portuguese: "O que o assistente pode", english: "What an assistant may do" }),
    ("erros-assistente", Bilingual { portuguese: "Erros", english: "Errors" }),
    ("protocolo", Bilingual { portuguese: "Para quem escreve um cliente", english: "For those who write a client" }),
];

/// Data that the page shows.
pub struct Agents {
    /// Address of the MCP endpoint.
    pub url: String,
    /// Configuration for clients that sign in with OAuth.
    pub clients: Vec<Sample>,
    /// Configuration for clients that send a partner token.
    pub with_token: Vec<Sample>,
    pub sellers: Vec<ToolRow>,
    pub suppliers: Vec<ToolRow>,
    pub modern: &'static str,
    pub legacy: String,
    /// Addresses of the OAuth metadata.
    pub resource_metadata: String,
    pub server_metadata: String,
}

/// A tool as the page shows it.
pub struct ToolRow {
    pub name: &'static str,
    pub effect: &'static str,
    pub about: Text,
}

/// The page's data; `base` is the address of the endpoint's host.
pub fn agents(base: &str, language: Language) -> Agents {
    let url = format!("{base}{PATH}");
    Agents {
        clients: clients(&url),
        with_token: with_token(&url),
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
    let effect = match operation.tool.effect {
        Effect::Reads | Effect::Fetches => Bilingual { portuguese: "lê", english: "reads" },
        Effect::Sends => Bilingual { portuguese: "envia", english: "sends" },
        Effect::Adds => Bilingual { portuguese: "acrescenta", english: "adds" },
        Effect::Removes => Bilingual { portuguese: "remove", english: "removes" },
    };
    ToolRow {
        name: operation.name,
        effect: effect.text(language),
        about: Text::of(operation.about.trim_end_matches('.'), language),
    }
}

fn clients(url: &str) -> Vec<Sample> {
    let sample = |id, title, code| Sample { id, title, code };
    vec![
        sample(
            "claude-code",
            "Claude Code",
            format!("claude mcp add --transport http seller-platform {url}"),
        ),
        sample(
            "vscode",
            "VS Code: .vscode/mcp.json",
            format!(
                "{{\n  \"servers\": {{\n    \"seller-platform\": {{ \"type\": \"http\", \"url\": \"{url}\" }}\n  }}\n}}"
            ),
        ),
        sample(
            "cursor",
            "Cursor: .cursor/mcp.json",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"seller-platform\": {{ \"url\": \"{url}\" }}\n  }}\n}}"
            ),
        ),
        sample(
            "stdio",
            "stdio: mcp-remote",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"seller-platform\": {{\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"mcp-remote\", \"{url}\"]\n    }}\n  }}\n}}"
            ),
        ),
    ]
}

fn with_token(url: &str) -> Vec<Sample> {
    let sample = |id, title, code| Sample { id, title, code };
    vec![
        sample(
            "token-claude-code",
            "Claude Code, token",
            format!(
                "claude mcp add --transport http seller-platform {url} \\\n  --header \"Authorization: Bearer ptk_…\""
            ),
        ),
        sample(
            "token-inspector",
            "MCP Inspector",
            format!(
                "npx @modelcontextprotocol/inspector --cli {url} --transport http \\\n  --method tools/list --header \"Authorization: Bearer ptk_…\""
            ),
        ),
        sample(
            "token-curl",
            "curl",
            format!(
                r#"curl {url} -H 'Authorization: Bearer ptk_…' -H 'Content-Type: application/json' -d '{{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": {{ "name": "list_orders", "arguments": {{ "limit": 5 }} }}
}}'"#
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_told_in_portuguese() {
        let agents = agents("https://escola.example", Language::Portuguese);
        let foreign =
            agents.sellers.iter().chain(&agents.suppliers).find(|row| row.about.is_foreign);
        assert_eq!(foreign.map(|row| row.name), None);
    }
}
