//! As much of HTTP/1.1 as measuring needs: where an answer ends, what its
//! status is, and whether the connection stays.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// Bytes of head and body together.
    pub total: usize,
    /// Bytes of the head.
    pub length: usize,
    /// Whether the server will close the connection.
    pub closes: bool,
}

/// Reads a head; `None` while it is incomplete.
pub fn head(bytes: &[u8]) -> anyhow::Result<Option<Head>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes[..end]).context("the head is not text")?;
    let mut lines = text.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 "))
        .and_then(|rest| rest.get(..3)?.parse().ok())
        .with_context(|| format!("not an HTTP/1.1 answer: {text:.60}"))?;
    let (mut body, mut closes) = (None, false);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            body = Some(value.trim().parse().context("bad Content-Length")?);
        } else if name.eq_ignore_ascii_case("connection") {
            closes = value.trim().eq_ignore_ascii_case("close");
        }
    }
    let body: usize = match (status, body) {
        (204 | 304, _) => 0,
        (_, Some(body)) => body,
        _ => bail!("an answer with status {status} has no Content-Length"),
    };
    let length = end + 4;
    Ok(Some(Head { status, total: length + body, length, closes }))
}

/// One whole answer.
pub struct Answer {
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Value of a header.
    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.head
            .split("\r\n")
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.trim())
    }

    /// The body as JSON, of an answer that must have this status.
    pub fn json(&self, status: u16) -> anyhow::Result<serde_json::Value> {
        ensure!(
            self.status == status,
            "expected {status}, got {}: {:.300}",
            self.status,
            String::from_utf8_lossy(&self.body)
        );
        serde_json::from_slice(&self.body).context("the body is not JSON")
    }
}

/// Sends one request on a connection of its own and reads the answer.
pub fn ask(address: SocketAddr, request: &[u8]) -> anyhow::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(request)?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        if let Some(head) = head(&bytes)?
            && bytes.len() >= head.total
        {
            return Ok(Answer {
                status: head.status,
                head: String::from_utf8_lossy(&bytes[..head.length]).into_owned(),
                body: bytes[head.length..head.total].to_vec(),
            });
        }
        let read = stream.read(&mut chunk)?;
        ensure!(read > 0, "the server closed in the middle of an answer");
        bytes.extend_from_slice(&chunk[..read]);
    }
}

/// Checks that heads are read correctly.
pub fn check() -> anyhow::Result<()> {
    let whole = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nConnection: Close\r\n\r\nhello";
    let expected = Head { status: 200, total: whole.len(), length: whole.len() - 5, closes: true };
    ensure!(head(whole)?.as_ref() == Some(&expected), "a head is misread");
    ensure!(head(&whole[..30])?.is_none(), "half a head is read");
    let unchanged = b"HTTP/1.1 304 Not Modified\r\netag: \"a\"\r\n\r\n";
    ensure!(
        head(unchanged)?.is_some_and(|head| head.status == 304 && head.total == unchanged.len()),
        "an answer without body is misread"
    );
    ensure!(head(b"HTTP/1.1 200 OK\r\n\r\n").is_err(), "an endless body passes");
    Ok(())
}
