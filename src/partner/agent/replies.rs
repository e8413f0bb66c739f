//! Answers to an assistant: JSON-RPC 2.0, built from parts that are JSON already.

use std::borrow::Cow;

use http::StatusCode;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::message::RpcRequest;
use crate::app::App;
use crate::http::Reply;
use crate::http::reply::media;

/// Error codes of JSON-RPC 2.0 and of the Model Context Protocol.
pub const PARSE: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const UNKNOWN_METHOD: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const HEADER_MISMATCH: i64 = -32020;
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// How long a client may cache a list, in the form of the stateless era: five
/// minutes, in a private cache.
pub const KEPT_FOR: &str = r#""ttlMs":300000,"cacheScope":"private""#;

/// An error answer.
pub struct Fault {
    pub status: StatusCode,
    pub code: i64,
    pub message: Cow<'static, str>,
    pub data: Option<Value>,
    /// The request's id, once it is known.
    pub id: Option<Box<RawValue>>,
}

impl Fault {
    pub fn reply(&self) -> Reply {
        let mut error = json!({ "code": self.code, "message": &*self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        let id = self.id.as_ref().map_or("null", |id| id.get());
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        Reply::of(media::JSON, body).status(self.status)
    }
}

/// The request that a result belongs to.
pub struct Recipient {
    id: Box<RawValue>,
    /// The server's description, for revisions whose results must include it.
    server: Option<String>,
}

impl Recipient {
    pub fn of(app: &App, asked: &RpcRequest<'_>) -> Self {
        let server = asked.is_modern.then(|| server_info(app));
        Self { id: asked.id.to_owned(), server }
    }

    /// A result whose members are JSON already.
    pub fn result(&self, members: &str) -> Reply {
        let id = self.id.get();
        let comma = if members.is_empty() { "" } else { "," };
        let body = match &self.server {
            None => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{members}}}}}"#),
            Some(server) => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{{members}{comma}"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{server}}}}}}}"#
            ),
        };
        Reply::of(media::JSON, body)
    }
}

impl RpcRequest<'_> {
    pub fn result(&self, app: &App, members: &str) -> Reply {
        Recipient::of(app, self).result(members)
    }
}

/// The description of this server.
pub fn server_info(app: &App) -> String {
    let title = &app.config.server.name;
    json!({
        "name": env!("CARGO_PKG_NAME"),
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "websiteUrl": &*app.server.addresses.base_url,
    })
    .to_string()
}
