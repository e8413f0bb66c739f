//! The framing of a request head, checked byte by byte (RFC 9112 §2 to §6).
//!
//! Stricter than the standard where two parsers could disagree about where a
//! message ends: such a head is rejected instead of repaired. Decisions http-1, http-2.

use super::problem::Code;

/// Largest request head.
pub const MAX_HEAD: usize = 16 * 1024;
/// Longest request target.
pub const MAX_TARGET: usize = 8 * 1024;
/// Most header fields.
const MAX_FIELDS: usize = 64;

/// The refusal of a request head.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub code: Code,
    /// The path as sent; empty when it could not be read.
    pub path: String,
}

/// What follows an accepted head.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// So many bytes, then the next head.
    Sized(u64),
    /// Chunks; the connection closes after this request.
    Chunked,
}

/// Checks one head: `None` while it is incomplete, else its length and what
/// follows it.
pub fn check_head(bytes: &[u8]) -> Result<Option<(usize, Body)>, Refusal> {
    let refused = |code| Refusal { code, path: path_of(bytes).to_owned() };
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

/// Lines that end in CR LF; one that ends in LF alone is rejected.
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
            // The caller checks the content of the line.
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
    let plain_target = all(target, |byte| (0x21..=0x7e).contains(&byte)) && !target.is_empty();
    let known_version = version == b"HTTP/1.1" || version == b"HTTP/1.0";
    if method.len() > 24 || !is_token(method) || !plain_target || !known_version {
        return Err(Code::BadRequest);
    }
    Ok(())
}

/// Whether all bytes may be in a method or field name (RFC 9110 §5.6.2).
fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && all(bytes, |byte| TOKEN[usize::from(byte)])
}

/// Whether all bytes are good. It does not stop at the first bad byte: bad
/// bytes are rare, and without a stop many bytes are checked at once.
fn all(bytes: &[u8], good: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(true, |all, byte| all & good(*byte))
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

/// Whether a field value has a control character, such as a line end.
fn has_control(value: &[u8]) -> bool {
    !all(value, |byte| !byte.is_ascii_control() || byte == b'\t')
}

/// The header fields that decide the length of a message and its host.
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
        // A blank in or before the name means a folded line or request smuggling.
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
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
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
        assert_eq!(verdict("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest"), "29 Sized(0)");
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
            assert_eq!(verdict(&format!("{line}\r\nHost: a\r\n\r\n")), "BadRequest", "{line:?}");
        }
        assert_eq!(
            verdict("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "BadRequest"
        );
    }

    #[test]
    fn limits_hold_on_both_sides() {
        let target = |length: usize| {
            verdict(&format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(length - 1)))
        };
        assert!(target(MAX_TARGET).ends_with("Sized(0)"));
        assert_eq!(target(MAX_TARGET + 1), "UriTooLong");
        let fields = |count: usize| {
            verdict(&format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(count - 1)))
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
            Refusal { code: Code::BadRequest, path: "/api/v1/partner/orders".to_owned() }
        );
    }

    proptest! {
        /// A part of a head is never taken for a whole one.
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
