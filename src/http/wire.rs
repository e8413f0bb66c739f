//! The connection as hyper sees it: only well-framed request heads get through.
//!
//! hyper accepts some framing that invites request smuggling (both
//! `Content-Length` and `Transfer-Encoding`, several `Host`s, bare line
//! feeds), and answers what it refuses without our error body. So each head is
//! checked here first, byte by byte as it arrives. A bad one never reaches
//! hyper: the connection writes one refusal and closes.
//!
//! The same wrapper ends connections whose peer sends no head or stops
//! reading, and lingers a moment when it closes with input unread, so that the
//! refusal arrives.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::problem::Code;

/// Largest request head.
pub const MAX_HEAD: usize = 16 * 1024;
/// Longest request target.
pub const MAX_TARGET: usize = 8 * 1024;
/// Most header fields.
pub const MAX_FIELDS: usize = 64;
/// Time for a whole head, and the longest idle time of a kept connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may take nothing of an answer.
const WRITE_STALL: Duration = Duration::from_secs(30);
/// How long a closing connection waits for the peer to take the last answer.
const LINGER: Duration = Duration::from_secs(2);
/// Most bytes read and thrown away while lingering.
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// A head that is refused, with what little is known of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub code: Code,
    /// The path as sent, empty when it could not be told.
    pub path: String,
}

/// Makes the bytes of the answer to a refused head.
pub type Refuse = Arc<dyn Fn(&Refusal) -> Vec<u8> + Send + Sync>;

/// What follows an accepted head.
#[derive(Debug, PartialEq, Eq)]
enum Body {
    /// So many bytes, then the next head.
    Sized(u64),
    /// Chunks; the connection closes after this request.
    Chunked,
}

enum Expect {
    Head,
    Body(u64),
    /// Everything passes: after a chunked body no further head is served.
    Rest,
    /// A refusal is being written, then the input ends.
    Refused {
        answer: Vec<u8>,
        written: usize,
    },
    End,
}

/// A guarded connection.
pub struct Wire {
    io: TcpStream,
    refuse: Refuse,
    expect: Expect,
    /// Bytes that came and have not passed; those before `checked` may.
    held: Vec<u8>,
    checked: usize,
    /// Heads let through, and those answered (counted by the service).
    heads: usize,
    answered: Arc<AtomicUsize>,
    /// Since when the next head is waited for, while none is being answered.
    waiting_since: Instant,
    /// Looks at `waiting_since` now and then; setting a timer for each head
    /// would cost more than checking it.
    patience: Pin<Box<Sleep>>,
    stall: Option<Pin<Box<Sleep>>>,
    linger: Option<Pin<Box<Sleep>>>,
    lingered: usize,
}

impl Wire {
    /// Guards a connection. `answered` is raised by the service for each answer.
    pub fn new(io: TcpStream, refuse: Refuse, answered: Arc<AtomicUsize>) -> Self {
        Self {
            io,
            refuse,
            expect: Expect::Head,
            held: Vec::new(),
            checked: 0,
            heads: 0,
            answered,
            waiting_since: Instant::now(),
            patience: Box::pin(sleep(HEAD_TIMEOUT)),
            stall: None,
            linger: None,
            lingered: 0,
        }
    }

    /// Checks bytes that follow on those that passed; so many of them may.
    fn check(&mut self, bytes: &[u8]) -> usize {
        let mut checked = 0;
        while checked < bytes.len() {
            let fresh = &bytes[checked..];
            match &mut self.expect {
                Expect::Rest => checked = bytes.len(),
                Expect::Body(left) => {
                    let here = usize::try_from(*left)
                        .unwrap_or(usize::MAX)
                        .min(fresh.len());
                    *left -= here as u64;
                    checked += here;
                    if *left == 0 {
                        self.expect = Expect::Head;
                    }
                }
                Expect::Head => match check_head(fresh) {
                    Ok(None) => break,
                    Ok(Some((length, body))) => {
                        self.heads += 1;
                        checked += length;
                        self.expect = match body {
                            Body::Sized(0) => Expect::Head,
                            Body::Sized(length) => Expect::Body(length),
                            Body::Chunked => Expect::Rest,
                        };
                    }
                    Err(refusal) => self.refuse(&refusal),
                },
                Expect::Refused { .. } | Expect::End => break,
            }
        }
        checked
    }

    fn refuse(&mut self, refusal: &Refusal) {
        // An answer before ours may still be on its way: then only close.
        self.expect = if self.is_quiet() {
            Expect::Refused {
                answer: (self.refuse)(refusal),
                written: 0,
            }
        } else {
            Expect::End
        };
    }

    /// Whether every head let through was answered.
    fn is_quiet(&self) -> bool {
        self.answered.load(Ordering::Acquire) == self.heads
    }

    /// Whether closing now would cut off a peer that is still sending.
    fn owes_linger(&self) -> bool {
        matches!(
            self.expect,
            Expect::Refused { .. } | Expect::Body(_) | Expect::Rest
        )
    }

    fn poll_stall<T>(
        &mut self,
        cx: &mut Context<'_>,
        wrote: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.stall = None;
            return wrote;
        }
        let stall = self
            .stall
            .get_or_insert_with(|| Box::pin(sleep(WRITE_STALL)));
        match stall.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Reads into the reader's own buffer and takes back what may not pass.
    fn poll_direct(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let before = out.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, out);
        ready!(self.poll_patience(cx, read))?;
        let fresh = &out.filled()[before..];
        let (read, passed) = (fresh.len(), self.check(fresh));
        self.held.extend_from_slice(&fresh[passed..]);
        out.set_filled(before + passed);
        Poll::Ready(Ok(read))
    }

    /// Reads on behind the bytes that are held.
    fn poll_held(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [0; 8 * 1024];
        let mut buffer = ReadBuf::new(&mut space);
        let read = Pin::new(&mut self.io).poll_read(cx, &mut buffer);
        ready!(self.poll_patience(cx, read))?;
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(buffer.filled());
        self.checked += self.check(&held[self.checked..]);
        self.held = held;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// While nothing comes: an error once the next head is overdue.
    fn poll_patience<T>(
        &mut self,
        cx: &mut Context<'_>,
        read: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if read.is_ready() {
            return read;
        }
        while self.patience.as_mut().poll(cx).is_ready() {
            let waits = matches!(self.expect, Expect::Head) && self.is_quiet();
            let now = Instant::now();
            let end = if waits {
                self.waiting_since + HEAD_TIMEOUT
            } else {
                now + HEAD_TIMEOUT
            };
            if end <= now {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.patience.as_mut().reset(end);
        }
        Poll::Pending
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = out.filled().len();
        loop {
            if this.checked > 0 {
                let length = this.checked.min(out.remaining());
                out.put_slice(&this.held[..length]);
                this.held.drain(..length);
                this.checked -= length;
                return Poll::Ready(Ok(()));
            }
            let read = match &mut this.expect {
                Expect::Refused { answer, written } if *written < answer.len() => {
                    *written += ready!(Pin::new(&mut this.io).poll_write(cx, &answer[*written..]))?;
                    continue;
                }
                Expect::Refused { .. } | Expect::End => return Poll::Ready(Ok(())),
                _ if this.held.is_empty() => ready!(this.poll_direct(cx, out))?,
                _ => ready!(this.poll_held(cx))?,
            };
            if read == 0 || out.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.waiting_since = Instant::now();
        self.poll_stall(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.waiting_since = Instant::now();
        self.poll_stall(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.poll_stall(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.io).poll_shutdown(cx))?;
            if !this.owes_linger() {
                return Poll::Ready(Ok(()));
            }
        }
        // Closing a socket with unread input resets it, and a reset can
        // overtake the answer. So take what still comes, for a moment.
        let linger = this.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if linger.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut space = [0; 8 * 1024];
            let mut buffer = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.io).poll_read(cx, &mut buffer))?;
            this.lingered += buffer.filled().len();
            if buffer.filled().is_empty() || this.lingered > LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// Checks one head: `None` while it is incomplete, else its length and what
/// follows it.
fn check_head(bytes: &[u8]) -> Result<Option<(usize, Body)>, Refusal> {
    let refused = |code| Refusal {
        code,
        path: path_of(bytes).to_owned(),
    };
    let mut lines = HeadLines { bytes, at: 0 };
    let request_line = match lines.next_line() {
        // One empty line before a request is allowed (RFC 9112 §2.2).
        Ok(Some([])) => lines.next_line(),
        other => other,
    };
    let request_line = match request_line.map_err(&refused)? {
        Some(line) => line,
        None if bytes.len() > MAX_TARGET + 32 => return Err(refused(Code::UriTooLong)),
        None => return Ok(None),
    };
    check_request_line(request_line).map_err(&refused)?;
    let mut fields = Framing::default();
    loop {
        let line = lines.next_line().map_err(&refused)?;
        if lines.at > MAX_HEAD || line.is_none() && bytes.len() > MAX_HEAD {
            return Err(refused(Code::HeadersTooLarge));
        }
        match line {
            Some([]) => break,
            Some(line) => fields.take(line).map_err(&refused)?,
            None => return Ok(None),
        }
    }
    let http_10 = request_line.ends_with(b"HTTP/1.0");
    let body = fields.body(http_10).map_err(&refused)?;
    Ok(Some((lines.at, body)))
}

/// Lines that end in CR LF; one that ends in LF alone is refused.
struct HeadLines<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> HeadLines<'b> {
    fn next_line(&mut self) -> Result<Option<&'b [u8]>, Code> {
        let rest = &self.bytes[self.at..];
        let Some(end) = memchr::memchr(b'\n', rest) else {
            return Ok(None);
        };
        self.at += end + 1;
        match &rest[..end] {
            // What is in the line is for those to check who know what it is.
            [line @ .., b'\r'] => Ok(Some(line)),
            _ => Err(Code::BadRequest),
        }
    }
}

fn check_request_line(line: &[u8]) -> Result<(), Code> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (method, target, version) = (parts.next(), parts.next(), parts.next());
    let (Some(method), Some(target), Some(version), None) = (method, target, version, parts.next())
    else {
        return Err(Code::BadRequest);
    };
    if target.len() > MAX_TARGET {
        return Err(Code::UriTooLong);
    }
    let plain_target = target.iter().all(|byte| (0x21..=0x7e).contains(byte)) && !target.is_empty();
    let known_version = version == b"HTTP/1.1" || version == b"HTTP/1.0";
    if method.len() > 24 || !is_token(method) || !plain_target || !known_version {
        return Err(Code::BadRequest);
    }
    Ok(())
}

/// Whether all bytes may be in a method or field name (RFC 9110 §5.6.2).
/// No early end: bad bytes are rare, and a plain sum is quicker.
fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes
            .iter()
            .fold(true, |all, byte| all & TOKEN[usize::from(*byte)])
}

const TOKEN: [bool; 256] = {
    let mut token = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x7f {
        token[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < others.len() {
        token[others[at] as usize] = true;
        at += 1;
    }
    token
};

/// Whether a field value holds what could be taken for a line end.
fn has_control(value: &[u8]) -> bool {
    value
        .iter()
        .any(|byte| byte.is_ascii_control() && *byte != b'\t')
}

/// The fields that decide how long a message is and whom it is for.
#[derive(Default)]
struct Framing {
    fields: usize,
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
}

impl Framing {
    fn take(&mut self, line: &[u8]) -> Result<(), Code> {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(Code::HeadersTooLarge);
        }
        let colon = memchr::memchr(b':', line).ok_or(Code::BadRequest)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        // A blank in or before the name is either a folded line or a smuggled one.
        if !is_token(name) || has_control(value) {
            return Err(Code::BadRequest);
        }
        if name.eq_ignore_ascii_case(b"host") {
            self.hosts += 1;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let digits =
                !value.is_empty() && value.len() <= 18 && value.iter().all(u8::is_ascii_digit);
            let length = std::str::from_utf8(value)
                .ok()
                .filter(|_| digits)
                .and_then(|text| text.parse().ok());
            if self.length.is_some() || length.is_none() {
                return Err(Code::BadRequest);
            }
            self.length = length;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Code::BadRequest);
            }
            self.chunked = true;
        }
        Ok(())
    }

    fn body(&self, http_10: bool) -> Result<Body, Code> {
        if self.hosts != 1 {
            return Err(Code::BadRequest);
        }
        match (self.chunked, self.length) {
            (true, Some(_)) => Err(Code::BadRequest),
            (true, None) if http_10 => Err(Code::BadRequest),
            (true, None) => Ok(Body::Chunked),
            (false, length) => Ok(Body::Sized(length.unwrap_or(0))),
        }
    }
}

/// The path of a request line that may be incomplete or broken.
fn path_of(bytes: &[u8]) -> &str {
    let line = bytes
        .split(|byte| matches!(byte, b'\r' | b'\n'))
        .next()
        .unwrap_or_default();
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let path = target
        .split(|byte| *byte == b'?')
        .next()
        .unwrap_or_default();
    std::str::from_utf8(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(head: &str) -> String {
        match check_head(head.as_bytes()) {
            Ok(None) => "more".to_owned(),
            Ok(Some((length, body))) => format!("{length} {body:?}"),
            Err(refusal) => format!("{:?}", refusal.code),
        }
    }

    #[test]
    fn well_framed_heads_pass() {
        assert_eq!(verdict("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "27 Sized(0)");
        assert_eq!(
            verdict("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest"),
            "29 Sized(0)"
        );
        assert_eq!(
            verdict("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n"),
            "48 Sized(12)"
        );
        assert_eq!(
            verdict("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "56 Chunked"
        );
        for part in [
            "",
            "GET",
            "GET / HTTP/1.1\r",
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\r",
        ] {
            assert_eq!(verdict(part), "more", "{part:?}");
        }
    }

    #[test]
    fn heads_that_could_be_read_in_two_ways_are_refused() {
        for fields in [
            "",
            "Host: a\r\nHost: b\r\n",
            "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n",
            "Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
            "Host: a\r\nContent-Length: 1, 1\r\n",
            "Host: a\r\nContent-Length: +5\r\n",
            "Host: a\r\nContent-Length: -1\r\n",
            "Host: a\r\nContent-Length: 0x10\r\n",
            "Host: a\r\nContent-Length: 1 2\r\n",
            "Host: a\r\nContent-Length:\r\n",
            "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n",
            "Host: a\r\nTransfer-Encoding: chunked, identity\r\n",
            "Host: a\r\nTransfer-Encoding: xchunked\r\n",
            "Host: a\r\nTransfer-Encoding: \"chunked\"\r\n",
            "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nTransfer-Encoding : chunked\r\n",
            "Host: a\r\n Transfer-Encoding: chunked\r\n",
            "Host: a\r\nX: 1\r\n folded\r\n",
            "Host: a\r\nX: a\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nX: a\rb\r\n",
            "Host: a\r\nX: a\0b\r\n",
            "Host: a\r\nX\r\n",
            "Host: a\r\n: x\r\n",
            "Host: a\r\nX\x0b: x\r\n",
        ] {
            assert_eq!(
                verdict(&format!("POST / HTTP/1.1\r\n{fields}\r\n")),
                "BadRequest",
                "{fields:?}"
            );
        }
        for line in [
            "GET  / HTTP/1.1",
            "GET / HTTP/1.2",
            "GET /",
            "G(T / HTTP/1.1",
            "GET /\u{e9} HTTP/1.1",
            " / HTTP/1.1",
        ] {
            assert_eq!(
                verdict(&format!("{line}\r\nHost: a\r\n\r\n")),
                "BadRequest",
                "{line:?}"
            );
        }
        assert_eq!(
            verdict("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "BadRequest"
        );
    }

    #[test]
    fn limits_hold_on_both_sides() {
        let target = |length: usize| {
            verdict(&format!(
                "GET /{} HTTP/1.1\r\nHost: a\r\n\r\n",
                "a".repeat(length - 1)
            ))
        };
        assert!(target(MAX_TARGET).ends_with("Sized(0)"));
        assert_eq!(target(MAX_TARGET + 1), "UriTooLong");
        let fields = |count: usize| {
            verdict(&format!(
                "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
                "X: y\r\n".repeat(count - 1)
            ))
        };
        assert!(fields(MAX_FIELDS).ends_with("Sized(0)"));
        assert_eq!(fields(MAX_FIELDS + 1), "HeadersTooLarge");
        let head = |length: usize| {
            let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".len();
            verdict(&format!(
                "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
                "y".repeat(length - frame)
            ))
        };
        assert!(head(MAX_HEAD).ends_with("Sized(0)"));
        assert_eq!(head(MAX_HEAD + 1), "HeadersTooLarge");
        assert_eq!(verdict(&"a".repeat(MAX_TARGET + 33)), "UriTooLong");
    }

    #[test]
    fn a_refusal_names_the_path() {
        let refusal = check_head(b"GET /api/v1/partner/orders?x=1 HTTP/1.1\r\n\r\n").unwrap_err();
        assert_eq!(
            refusal,
            Refusal {
                code: Code::BadRequest,
                path: "/api/v1/partner/orders".to_owned()
            }
        );
    }

    proptest! {
        /// However a head is cut into packets, the verdict is the same.
        #[test]
        fn cutting_a_head_changes_nothing(cut in 0_usize..60) {
            let head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n";
            let cut = cut.min(head.len() - 1);
            prop_assert_eq!(verdict(&head[..cut]), "more");
        }

        #[test]
        fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = check_head(&bytes);
        }
    }
}
