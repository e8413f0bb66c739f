//! Documents that programs read to find the endpoints: the authorization server
//! of the Partner API (RFC 9728), and the server's endpoints (RFC 8414).
//!
//! Issuer and resource are under `server.dev_base_url`. The page where people
//! decide is under `server.base_url`, where their session is. All addresses
//! come from the configuration; the `Host` of a request is not used.

use crate::app::App;
use crate::partner::{PATH, PATH_DEV};

/// Paths of the documents, the endpoints and the resource.
pub const RESOURCE_DOCUMENT: &str = "/.well-known/oauth-protected-resource";
pub const RESOURCE_DOCUMENT_OF_AGENTS: &str = "/.well-known/oauth-protected-resource/mcp";
pub const RESOURCE_DOCUMENT_OF_REST: &str = "/.well-known/oauth-protected-resource/api/v1/partner";
pub const RESOURCE_DOCUMENT_OF_REST_DEV: &str = "/.well-known/oauth-protected-resource/v1/partner";
pub const SERVER_DOCUMENT: &str = "/.well-known/oauth-authorization-server";
pub const AUTHORIZE: &str = "/oauth/authorize";
pub const TOKEN: &str = "/oauth/token";
pub const REGISTER: &str = "/oauth/register";
pub const REVOKE: &str = "/oauth/revoke";
const AGENTS: &str = "/mcp";
/// The issuer of tokens.
pub fn issuer(app: &App) -> &str {
    &app.server.addresses.dev_base_url
}

/// The resource of assistants, for people to paste.
pub fn resource(app: &App) -> String {
    format!("{}{AGENTS}", issuer(app))
}

/// A resource: the same tokens open each of them.
#[derive(Clone, Copy)]
pub(super) enum Resource {
    Agents,
    Rest,
    RestDev,
}

impl Resource {
    const ALL: [Self; 3] = [Self::Agents, Self::Rest, Self::RestDev];

    /// The resource that a path belongs to; that of assistants for any other path.
    pub(super) fn at(path: &str) -> Self {
        let is_below = |base: &str| {
            path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match () {
            () if is_below(PATH) => Self::Rest,
            () if is_below(PATH_DEV) => Self::RestDev,
            () => Self::Agents,
        }
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Agents => AGENTS,
            Self::Rest => PATH,
            Self::RestDev => PATH_DEV,
        }
    }

    /// Scheme and host of its addresses.
    pub(super) fn origin(self, app: &App) -> &str {
        match self {
            Self::Agents | Self::RestDev => issuer(app),
            Self::Rest => &app.server.addresses.base_url,
        }
    }

    const fn document(self) -> &'static str {
        match self {
            Self::Agents => RESOURCE_DOCUMENT_OF_AGENTS,
            Self::Rest => RESOURCE_DOCUMENT_OF_REST,
            Self::RestDev => RESOURCE_DOCUMENT_OF_REST_DEV,
        }
    }
}

/// Address of the document of the resource that a path belongs to.
pub fn resource_metadata(app: &App, path: &str) -> String {
    let resource = Resource::at(path);
    format!("{}{}", resource.origin(app), resource.document())
}

/// Whether a program names a resource of ours (RFC 8707). Scheme and host may be in
/// any case, and a slash may be at the end.
pub fn is_resource(app: &App, asked: &[u8]) -> bool {
    Resource::ALL.iter().any(|one| is_same((one.origin(app), one.path()), asked))
}

fn is_same((own, path): (&str, &str), asked: &[u8]) -> bool {
    let asked = asked.strip_suffix(b"/").unwrap_or(asked);
    let origin = own.len();
    asked.len() == origin + path.len()
        && asked[..origin].eq_ignore_ascii_case(own.as_bytes())
        && asked[origin..] == *path.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_is_one_address() {
        let own = ("https://dev.escola.example", "/mcp");
        let exact = "https://dev.escola.example/mcp";
        for same in [exact, "https://dev.escola.example/mcp/", "HTTPS://DEV.Escola.example/mcp"] {
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
