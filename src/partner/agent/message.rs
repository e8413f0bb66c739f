//! Reads what an assistant sends: JSON-RPC 2.0, one message per request, and
//! the rules for headers in both eras of the protocol (Model Context Protocol,
//! "Streamable HTTP").

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::api::legacy;
use super::replies::{
    Fault, HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, PARSE, UNSUPPORTED_VERSION,
};
use super::{LEGACY, MODERN};
use crate::http::{Request, structure};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Members of `_meta` that identify a request of the stateless era.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub struct RpcRequest<'b> {
    /// The id as it was written, so that the answer repeats it byte for byte.
    pub id: &'b RawValue,
    pub method: Cow<'b, str>,
    /// Whether it is of the stateless era.
    pub is_modern: bool,
    params: Map<String, Value>,
}

impl RpcRequest<'_> {
    /// A parameter; `None` when it was not sent.
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.params.get(name)
    }

    /// An error answer to this request.
    pub fn fault(
        &self,
        code: i64,
        message: impl Into<Cow<'static, str>>,
        data: Option<Value>,
    ) -> Fault {
        let (message, id) = (message.into(), Some(self.id.to_owned()));
        Fault { status: StatusCode::OK, code, message, data, id }
    }
}

#[derive(Deserialize)]
struct Envelope<'b> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'b, str>>,
    #[serde(borrow, default, deserialize_with = "some")]
    id: Option<&'b RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'b, str>>,
    #[serde(borrow, default, deserialize_with = "some")]
    params: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "some")]
    result: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "some")]
    error: Option<&'b RawValue>,
}

/// The member, also when its value is null.
fn some<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

/// Reads a message: a request, or `None` for a notification or an answer, which need no
/// answer. We never send requests.
pub fn read(request: &Request) -> Result<Option<RpcRequest<'_>>, Fault> {
    check_media(request)?;
    let body = &*request.body;
    structure::check(body).map_err(|unfit| refused(INVALID_REQUEST, unfit.said()))?;
    let whole: &RawValue =
        serde_json::from_slice(body).map_err(|_| refused(PARSE, "the body is not JSON"))?;
    if whole.get().starts_with('[') {
        return Err(refused(INVALID_REQUEST, "send one message a request, not a batch"));
    }
    let envelope: Envelope<'_> = serde_json::from_str(whole.get())
        .map_err(|_| refused(INVALID_REQUEST, "the body is not one message of JSON-RPC 2.0"))?;
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(refused(INVALID_REQUEST, "`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = envelope.method else {
        let is_answer = envelope.result.is_some() != envelope.error.is_some();
        let missing = || refused(INVALID_REQUEST, "`method` is missing");
        return if is_answer { Ok(None) } else { Err(missing()) };
    };
    let Some(id) = envelope.id else {
        return Ok(None);
    };
    if !is_id(id.get()) {
        return Err(refused(INVALID_REQUEST, "`id` must be text or a whole number"));
    }
    let params = match envelope.params.map(|params| serde_json::from_str(params.get())) {
        None => Map::new(),
        Some(Ok(Value::Object(params))) => params,
        Some(_) => {
            let fault = refused(INVALID_PARAMS, "`params` must be an object");
            return Err(Fault { id: Some(id.to_owned()), ..fault });
        }
    };
    let mut asked = RpcRequest { id, method, is_modern: false, params };
    asked.is_modern =
        is_modern(request, &asked).map_err(|fault| Fault { id: Some(id.to_owned()), ..fault })?;
    Ok(Some(asked))
}

/// An error without an id: the message's id is not known yet.
fn refused(code: i64, message: &'static str) -> Fault {
    let status = StatusCode::BAD_REQUEST;
    Fault { status, code, message: message.into(), data: None, id: None }
}

/// Whether an id is text, or a number without fraction and exponent.
fn is_id(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    raw.starts_with('"') || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks the media types: only JSON is read and sent. Clients also accept an
/// event stream; none is ever sent.
fn check_media(request: &Request) -> Result<(), Fault> {
    let of = |header: Option<&str>| header.unwrap_or_default().to_ascii_lowercase();
    let sent = of(request.header(&CONTENT_TYPE));
    let refuse = |status: StatusCode, message: &'static str| Fault {
        status,
        code: i64::from(status.as_u16()),
        ..refused(0, message)
    };
    if sent.split(';').next().map(str::trim) != Some("application/json") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(refuse(status, "send the message as application/json"));
    }
    let mut accepted = request.headers().get_all(ACCEPT).iter().peekable();
    if accepted.peek().is_none() {
        return Ok(());
    }
    let takes = |range: &str| {
        let media = range.split(';').next().unwrap_or_default().trim();
        ["application/json", "application/*", "*/*"]
            .iter()
            .any(|one| media.eq_ignore_ascii_case(one))
    };
    let takes_json =
        accepted.any(|line| line.to_str().is_ok_and(|line| line.split(',').any(takes)));
    if takes_json {
        return Ok(());
    }
    Err(refuse(StatusCode::NOT_ACCEPTABLE, "answers are application/json; name it in Accept"))
}

/// Whether a request is of the stateless era. In that era the headers must
/// agree with the body.
fn is_modern(request: &Request, asked: &RpcRequest<'_>) -> Result<bool, Fault> {
    let header = |name: &HeaderName| {
        let mut values = request.headers().get_all(name).iter();
        let value = values.next().map(|value| value.to_str().unwrap_or_default());
        // A header that is sent twice counts as empty.
        value.map(|value| if values.next().is_some() { "" } else { value })
    };
    let empty = Map::new();
    let meta = asked.params.get("_meta").and_then(Value::as_object).unwrap_or(&empty);
    let (named, said) = (header(&VERSION), meta.get(META_VERSION));
    if said.is_none() && named.is_none_or(|version| legacy(version).is_some()) {
        return Ok(false);
    }
    if said.is_none() && named.is_some_and(|version| version != MODERN) {
        // An unknown version may be of either era, so the error names all versions.
        let all: Vec<&str> = [MODERN].into_iter().chain(LEGACY).collect();
        return Err(unsupported(named.unwrap_or_default(), &all));
    }
    let Some(said) = said.and_then(Value::as_str) else {
        return Err(refused(INVALID_PARAMS, "`_meta` must say the protocol version as text"));
    };
    if !meta.get(META_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(refused(INVALID_PARAMS, "`_meta` must have the client's capabilities"));
    }
    if named != Some(said) {
        return Err(refused(
            HEADER_MISMATCH,
            "MCP-Protocol-Version must be the version of `_meta`",
        ));
    }
    if said != MODERN {
        return Err(unsupported(said, &[MODERN]));
    }
    if header(&METHOD) != Some(&*asked.method) {
        return Err(refused(HEADER_MISMATCH, "Mcp-Method must be the method of the message"));
    }
    if asked.method == "tools/call" {
        let name = asked.params.get("name").and_then(Value::as_str);
        let named = header(&NAME).and_then(decoded);
        if named.is_none() || named.as_deref() != name {
            return Err(refused(HEADER_MISMATCH, "Mcp-Name must be the name of the tool"));
        }
    }
    Ok(true)
}

fn unsupported(requested: &str, supported: &[&str]) -> Fault {
    let data = json!({ "supported": supported, "requested": requested });
    let fault = refused(UNSUPPORTED_VERSION, "this protocol version is not supported");
    Fault { data: Some(data), ..fault }
}

/// The value of a header that may be written as `=?base64?…?=`.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(packed) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.into());
    };
    let bytes = STANDARD.decode(packed).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Instant;
    use crate::db::Lane;
    use crate::http::Family;

    fn request(body: &[u8]) -> Request {
        let head = http::Request::post("/mcp")
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        Request {
            head: head.body(()).unwrap().into_parts().0,
            body: body.to_vec().into(),
            variables: Vec::new(),
            client: [127, 0, 0, 1].into(),
            id: http::HeaderValue::from_static("req"),
            now: Instant(0),
            lane: Lane::Brief,
            family: Family::Partner,
            notice: None,
        }
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("rpc", |bytes| {
            if let Ok(Some(asked)) = read(&request(bytes)) {
                assert!(serde_json::from_str::<Value>(asked.id.get()).is_ok());
            }
        });
    }
}
