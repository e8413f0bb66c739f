//! What programs read to find their way: whose tokens the Partner API takes
//! (RFC 9728), and where and how those are asked for (RFC 8414).
//!
//! Issuer and resource stand under `server.dev_base_url`. People decide where
//! their session is, under `server.base_url`. All addresses come from the
//! configuration; what a request says of its host is not believed.

use http::HeaderValue;
use http::header::CACHE_CONTROL;
use serde_json::json;

use super::{READ, WRITE};
use crate::app::App;
use crate::http::{Problem, Reply, Request};

/// Where the documents, the endpoints and the resource are.
pub const RESOURCE_DOCUMENT: &str = "/.well-known/oauth-protected-resource";
pub const RESOURCE_DOCUMENT_OF_AGENTS: &str = "/.well-known/oauth-protected-resource/mcp";
pub const SERVER_DOCUMENT: &str = "/.well-known/oauth-authorization-server";
pub const AUTHORIZE: &str = "/oauth/authorize";
pub const TOKEN: &str = "/oauth/token";
pub const REGISTER: &str = "/oauth/register";
pub const REVOKE: &str = "/oauth/revoke";
const RESOURCE: &str = "/mcp";
/// What people who write programs read.
const GUIDE: &str = "/desenvolvedores";

/// Programs ask once a connection; an operator who changes an address waits this long.
const AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// Who issues tokens, as answers name it.
pub fn issuer(app: &App) -> &str {
    &app.addresses.dev_base_url
}

/// What tokens are for, as programs name it.
pub fn resource(app: &App) -> String {
    format!("{}{RESOURCE}", issuer(app))
}

/// Where the document of the resource is.
pub fn resource_metadata(app: &App) -> String {
    format!("{}{RESOURCE_DOCUMENT_OF_AGENTS}", issuer(app))
}

/// Whether a program means our resource (RFC 8707): scheme and host in any
/// case, with or without a slash at the end.
pub fn is_resource(app: &App, asked: &[u8]) -> bool {
    is_same(&resource(app), asked)
}

fn is_same(own: &str, asked: &[u8]) -> bool {
    let asked = asked.strip_suffix(b"/").unwrap_or(asked);
    let origin = own.len() - RESOURCE.len();
    asked.len() == own.len()
        && asked[..origin].eq_ignore_ascii_case(&own.as_bytes()[..origin])
        && asked[origin..] == own.as_bytes()[origin..]
}

/// `GET /.well-known/oauth-protected-resource`: whose tokens are taken.
pub fn protected_resource(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let guide = format!("{}{}", app.addresses.base_url, GUIDE);
    let document = json!({
        "resource": resource(app),
        "authorization_servers": [issuer(app)],
        "scopes_supported": [READ, WRITE],
        "bearer_methods_supported": ["header"],
        "resource_name": app.config.server.name,
        "resource_documentation": guide,
    });
    Ok(Reply::json(&document)?.with(CACHE_CONTROL, AN_HOUR))
}

/// `GET /.well-known/oauth-authorization-server`: where tokens are asked for.
pub fn authorization_server(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let issuer = issuer(app);
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{}{AUTHORIZE}", app.addresses.base_url),
        "token_endpoint": format!("{issuer}{TOKEN}"),
        "registration_endpoint": format!("{issuer}{REGISTER}"),
        "revocation_endpoint": format!("{issuer}{REVOKE}"),
        "scopes_supported": [READ, WRITE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "service_documentation": format!("{}{}", app.addresses.base_url, GUIDE),
    });
    Ok(Reply::json(&document)?.with(CACHE_CONTROL, AN_HOUR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_is_one_address() {
        let own = "https://dev.escola.example/mcp";
        for same in [own, "https://dev.escola.example/mcp/", "HTTPS://DEV.Escola.example/mcp"] {
            assert!(is_same(own, same.as_bytes()), "{same}");
        }
        for other in [
            "",
            "/mcp",
            "https://dev.escola.example",
            "https://dev.escola.example/",
            "https://dev.escola.example/MCP",
            "https://dev.escola.example/mcp//",
            "https://dev.escola.example/mcp?x",
            "https://dev.escola.example/mcp#x",
            "https://dev.escola.example/mcp2",
            "https://dev.escola.example:443/mcp",
            "https://evil.example/mcp",
            "http://dev.escola.example/mcp",
        ] {
            assert!(!is_same(own, other.as_bytes()), "{other}");
        }
    }
}
