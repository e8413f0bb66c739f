//! Documents that programs read to find the endpoints: the authorization server
//! of the Partner API (RFC 9728), and the server's endpoints (RFC 8414).
//!
//! Issuer and resource are under `server.dev_base_url`. The page where people
//! decide is under `server.base_url`, where their session is. All addresses
//! come from the configuration; the `Host` of a request is not used.

use http::HeaderValue;
use http::header::CACHE_CONTROL;
use serde_json::json;

use super::{READ, WRITE};
use crate::app::App;
use crate::http::{Problem, Reply, Request};

/// Paths of the documents, the endpoints and the resource.
pub const RESOURCE_DOCUMENT: &str = "/.well-known/oauth-protected-resource";
pub const RESOURCE_DOCUMENT_OF_AGENTS: &str = "/.well-known/oauth-protected-resource/mcp";
pub const SERVER_DOCUMENT: &str = "/.well-known/oauth-authorization-server";
pub const AUTHORIZE: &str = "/oauth/authorize";
pub const TOKEN: &str = "/oauth/token";
pub const REGISTER: &str = "/oauth/register";
pub const REVOKE: &str = "/oauth/revoke";
const RESOURCE: &str = "/mcp";
/// The guide for developers.
const GUIDE: &str = "/desenvolvedores";

/// Programs read the documents once per connection. After a change of an
/// address they may use the old one for this long.
const AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// The issuer of tokens.
pub fn issuer(app: &App) -> &str {
    &app.server.addresses.dev_base_url
}

/// The resource that tokens are for.
pub fn resource(app: &App) -> String {
    format!("{}{RESOURCE}", issuer(app))
}

/// Address of the resource's document.
pub fn resource_metadata(app: &App) -> String {
    format!("{}{RESOURCE_DOCUMENT_OF_AGENTS}", issuer(app))
}

/// Whether a program names our resource (RFC 8707). Scheme and host may be in
/// any case, and a slash may be at the end.
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

/// `GET /.well-known/oauth-protected-resource`: the resource and its
/// authorization server.
pub fn protected_resource(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let guide = format!("{}{}", app.server.addresses.base_url, GUIDE);
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

/// `GET /.well-known/oauth-authorization-server`: the endpoints and what they
/// support.
pub fn authorization_server(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let issuer = issuer(app);
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{}{AUTHORIZE}", app.server.addresses.base_url),
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
        "service_documentation": format!("{}{}", app.server.addresses.base_url, GUIDE),
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
