//! A small blocking HTTP/1.1 client over `std::net`.
//!
//! It is our own and no crate, because the framing tests send what no
//! well-behaved client would send, and read the server's reaction byte by byte.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a reply may take.
const REPLY_LIMIT: Duration = Duration::from_mins(1);

/// A request that follows the rules; raw bytes go through [`Connection`].
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl Request {
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self.header("Content-Type", content_type)
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().as_bytes())
    }

    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.body("application/x-www-form-urlencoded", body.as_bytes())
    }

    /// The path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    fn bytes(&self, host: SocketAddr) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        let mut header = |name: &str, value: &str| {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        };
        let names_host = |(name, _): &(String, String)| name.eq_ignore_ascii_case("host");
        if !self.headers.iter().any(names_host) {
            header("Host", &host.to_string());
        }
        for (name, value) in &self.headers {
            header(name, value);
        }
        if let Some(body) = &self.body {
            header("Content-Length", &body.len().to_string());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }
}

/// The reply to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The request line, for messages.
    pub asked: String,
}

impl Reply {
    /// The first header of that name (in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as it was before it was compressed.
    #[track_caller]
    pub fn plain(&self) -> Cow<'_, [u8]> {
        if self.header("content-encoding") != Some("gzip") || self.body.is_empty() {
            return Cow::Borrowed(&self.body);
        }
        let mut plain = Vec::new();
        let mut packed = flate2::read::GzDecoder::new(&self.body[..]);
        packed.read_to_end(&mut plain).expect("the body is a gzip file");
        Cow::Owned(plain)
    }

    /// The body; amounts have a plain blank, also where a page keeps them on one line.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.plain()).replace("R$\u{a0}", "R$ ")
    }

    /// Whether the body says it is JSON.
    pub fn is_json(&self) -> bool {
        self.header("content-type").is_some_and(|value| value.starts_with("application/json"))
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.plain())
            .unwrap_or_else(|error| panic!("the body is not JSON ({error})\n{self}"))
    }

    /// Requires a status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "unexpected status\n{self}");
        self
    }

    /// Requires 200 and returns the JSON body.
    #[track_caller]
    pub fn ok(self) -> Value {
        self.expect(200).json()
    }

    /// The error code of the body, in the shape of any family; empty if none.
    pub fn code(&self) -> String {
        let body: Value = serde_json::from_slice(&self.plain()).unwrap_or_default();
        // JSON-RPC has a number besides the code, OAuth only a word.
        let error = &body["error"];
        let codes = [&body["code"], &error["data"]["code"], &error["code"], error];
        let code = codes.into_iter().find(|code| !code.is_null() && !code.is_object());
        code.map_or_else(String::new, |code| {
            code.as_str().map_or_else(|| code.to_string(), str::to_owned)
        })
    }

    /// `name=value` of the `HttpOnly` cookie that this reply sets.
    pub fn session_cookie(&self) -> Option<&str> {
        self.headers
            .iter()
            .filter(|(name, value)| name == "set-cookie" && value.contains("HttpOnly"))
            .find_map(|(_, value)| value.split(';').next())
    }

    fn says_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "> {}\n< {}", self.asked, self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "< {name}: {value}")?;
        }
        let text: String = self.text().chars().take(2000).collect();
        write!(f, "{text}")
    }
}

/// Requests over one kept-alive connection, opened again when the server has
/// closed it between two requests.
#[derive(Default)]
pub struct Client {
    open: Option<Connection>,
}

impl Client {
    /// Sends a request and reads the reply; an error when the server ended
    /// without answering.
    pub fn send(&mut self, to: SocketAddr, request: &Request) -> io::Result<Reply> {
        if let Some(mut kept) = self.open.take_if(|kept| kept.peer == to)
            && let Ok(Some(reply)) = kept.exchange(request)
        {
            return Ok(self.keep(kept, reply));
        }
        let mut fresh = Connection::open(to)?;
        match fresh.exchange(request)? {
            Some(reply) => Ok(self.keep(fresh, reply)),
            None => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    fn keep(&mut self, connection: Connection, reply: Reply) -> Reply {
        self.open = (!reply.says_close()).then_some(connection);
        reply
    }
}

/// One TCP connection, for requests and for bytes that are not a request.
pub struct Connection {
    peer: SocketAddr,
    stream: TcpStream,
    /// Bytes that were read but not used yet: the start of the next reply.
    rest: Vec<u8>,
}

impl Connection {
    pub fn open(to: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&to, REPLY_LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_LIMIT))?;
        stream.set_write_timeout(Some(REPLY_LIMIT))?;
        Ok(Self { peer: to, stream, rest: Vec::new() })
    }

    /// Sends bytes as they are. A server that has already rejected the request
    /// may have closed the connection. Its reply can still be read, so this is
    /// no error here.
    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).ok();
    }

    fn exchange(&mut self, request: &Request) -> io::Result<Option<Reply>> {
        self.write(&request.bytes(self.peer));
        let asked = format!("{} {}", request.method, request.target);
        self.read_reply(&asked)
    }

    /// The next final reply; `None` when the server closed the connection instead.
    pub fn read_reply(&mut self, asked: &str) -> io::Result<Option<Reply>> {
        loop {
            let Some(head) = self.read_head()? else {
                return Ok(None);
            };
            let mut reply = parse_head(&head, asked)?;
            if (100..200).contains(&reply.status) {
                continue;
            }
            let bodiless = asked.starts_with("HEAD ") || matches!(reply.status, 204 | 304);
            if !bodiless {
                reply.body = self.read_body(&reply)?;
            }
            return Ok(Some(reply));
        }
    }

    /// The head of the next reply, leaving its body where it is.
    pub fn read_head_only(&mut self) -> io::Result<String> {
        let head = self.read_head()?.ok_or(ErrorKind::UnexpectedEof)?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    }

    /// The reply whose head was read before.
    pub fn read_rest(&mut self, asked: &str, head: &str) -> io::Result<Reply> {
        let mut reply = parse_head(head.as_bytes(), asked)?;
        reply.body = self.read_body(&reply)?;
        Ok(reply)
    }

    /// Whether the server closes within `limit` without sending anything more.
    pub fn is_closed_within(&mut self, limit: Duration) -> bool {
        if !self.rest.is_empty() {
            return false;
        }
        self.stream.set_read_timeout(Some(limit)).ok();
        match self.stream.read(&mut [0; 1]) {
            Ok(length) => length == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    fn read_head(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = find(&self.rest, b"\r\n\r\n") {
                return Ok(Some(self.rest.drain(..end + 4).collect()));
            }
            match self.fill() {
                Ok(0) if self.rest.is_empty() => return Ok(None),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if gone(&error) && self.rest.is_empty() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn read_body(&mut self, reply: &Reply) -> io::Result<Vec<u8>> {
        let chunked = reply
            .header("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        if chunked {
            return self.read_chunks();
        }
        if let Some(length) = reply.header("content-length") {
            let length = length.parse().map_err(|_| bad("content-length"))?;
            return self.take(length);
        }
        while self.fill()? > 0 {}
        Ok(std::mem::take(&mut self.rest))
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.take_line()?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let length = usize::from_str_radix(digits, 16).map_err(|_| bad("chunk size"))?;
            if length == 0 {
                while !self.take_line()?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.take(length)?);
            self.take_line()?;
        }
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.rest.len() < length {
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.rest.drain(..length).collect())
    }

    fn take_line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = find(&self.rest, b"\r\n") {
                let line: Vec<u8> = self.rest.drain(..end + 2).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut chunk = [0; 16 * 1024];
        let length = self.stream.read(&mut chunk)?;
        self.rest.extend_from_slice(&chunk[..length]);
        Ok(length)
    }
}

fn parse_head(head: &[u8], asked: &str) -> io::Result<Reply> {
    let text = std::str::from_utf8(head).map_err(|_| bad("head"))?;
    let mut lines = text.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1."))
        .and_then(|rest| rest.split(' ').nth(1))
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| bad("status line"))?;
    let headers = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            line.split_once(':')
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .ok_or_else(|| bad("header"))
        })
        .collect::<io::Result<_>>()?;
    Ok(Reply { status, headers, body: Vec::new(), asked: asked.to_owned() })
}

/// Whether an error means that the other side is no longer there.
fn gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}

fn bad(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("unreadable {what}"))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

/// Every other test relies on the client, so it is tested against a listener
/// that sends exactly what it is told to send.
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener};

    use super::{Client, Request};

    /// Serves each connection the bytes of its script, one text a request,
    /// and closes it after the last.
    fn scripted(connections: Vec<Vec<&'static str>>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for replies in connections {
                let (mut stream, _) = listener.accept().unwrap();
                for reply in replies {
                    let mut seen = Vec::new();
                    let mut byte = [0];
                    while !seen.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
                        seen.push(byte[0]);
                    }
                    stream.write_all(reply.as_bytes()).unwrap();
                }
            }
        });
        address
    }

    fn get() -> Request {
        Request::new("GET", "/")
    }

    #[test]
    fn replies_are_told_apart_on_one_connection() {
        let address = scripted(vec![vec![
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\nc\r\n2\r\nde\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nuntil the end",
        ]]);
        let mut client = Client::default();
        let mut bodies = Vec::new();
        for method in ["GET", "GET", "HEAD", "GET", "GET"] {
            let reply = client.send(address, &Request::new(method, "/")).unwrap();
            bodies.push((reply.status, reply.text()));
        }
        let expected = [(200, "ab"), (422, "cde"), (200, ""), (304, ""), (200, "until the end")];
        assert_eq!(bodies, expected.map(|(status, body)| (status, body.to_owned())));
    }

    #[test]
    fn a_connection_that_was_closed_meanwhile_is_opened_again() {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        let address = scripted(vec![vec![ok], vec![ok]]);
        let mut client = Client::default();
        for _ in 0..2 {
            assert_eq!(client.send(address, &get()).unwrap().status, 200);
        }
    }

    #[test]
    fn half_a_reply_is_an_error() {
        for half in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"] {
            let address = scripted(vec![vec![half]]);
            assert!(Client::default().send(address, &get()).is_err(), "{half:?}");
        }
    }
}
