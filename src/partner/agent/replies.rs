//! What an assistant is answered: JSON-RPC 2.0, put together from parts that
//! are JSON already.

use std::borrow::Cow;

use http::StatusCode;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::message::Asked;
use crate::app::App;
use crate::http::Reply;
use crate::http::reply::media;

/// Codes of JSON-RPC 2.0, and of the protocol.
pub const PARSE: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const UNKNOWN_METHOD: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const HEADER_MISMATCH: i64 = -32020;
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// How long a list may be kept, in the words of the stateless era: five minutes,
/// by its owner alone.
pub const KEPT_FOR: &str = r#""ttlMs":300000,"cacheScope":"private""#;

/// Why there is no result.
pub struct Fault {
    pub status: StatusCode,
    pub code: i64,
    pub message: Cow<'static, str>,
    pub data: Option<Value>,
    /// That of the request, once it is known.
    pub id: Option<Box<RawValue>>,
}

impl Fault {
    /// The answer that says so.
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

/// Whom a result is for.
pub struct Recipient {
    id: Box<RawValue>,
    /// The service, where each result must say who it comes from.
    server: Option<String>,
}

impl Recipient {
    /// Whoever asked.
    pub fn of(app: &App, asked: &Asked<'_>) -> Self {
        let server = asked.is_modern.then(|| server_info(app));
        Self { id: asked.id.to_owned(), server }
    }

    /// A result of members that are JSON already.
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

impl Asked<'_> {
    /// The result of this request.
    pub fn result(&self, app: &App, members: &str) -> Reply {
        Recipient::of(app, self).result(members)
    }
}

/// Who answers.
pub fn server_info(app: &App) -> String {
    let title = &app.config.server.name;
    json!({
        "name": env!("CARGO_PKG_NAME"),
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "websiteUrl": &*app.addresses.base_url,
    })
    .to_string()
}
