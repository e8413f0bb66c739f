//! Conditional requests (RFC 9110 §13).

use std::hash::BuildHasher as _;

use bytes::Bytes;
use foldhash::quality::FixedState;
use http::header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::reply::Reply;
use crate::base::clock::Instant;

/// Values with which a caller can check whether its copy is current.
#[derive(Clone, Debug)]
pub struct Validators {
    /// The strong entity tag, in quotes.
    pub etag: HeaderValue,
    /// When the content last changed, where the route promises it.
    pub last_modified: Option<(Instant, HeaderValue)>,
}

impl Validators {
    /// Validators with an entity tag made of hexadecimal digits.
    pub fn new(tag: &[u8], last_modified: Option<Instant>) -> Self {
        let etag = HeaderValue::try_from(format!("\"{}\"", crate::base::text::hex(tag)));
        let http_date =
            |at: Instant| HeaderValue::try_from(at.http_date()).ok().map(|value| (at, value));
        Self {
            etag: etag.expect("hexadecimal digits fit a header"),
            last_modified: last_modified.and_then(http_date),
        }
    }

    /// Validators of rendered bytes.
    pub fn of_content(body: &[u8], last_modified: Option<Instant>) -> Self {
        // A tag must differ when the content differs; it is not used for security.
        let mut tag = FixedState::default().hash_one(body).to_be_bytes().to_vec();
        tag.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
        Self::new(&tag, last_modified)
    }

    /// Whether the caller's copy is current.
    pub fn unchanged(&self, headers: &HeaderMap) -> bool {
        if let Some(tags) = headers.get(IF_NONE_MATCH) {
            // If-Modified-Since is then ignored (RFC 9110 §13.1.3).
            return tags.to_str().is_ok_and(|tags| matches(tags, &self.etag));
        }
        let since = headers.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
        match (since.and_then(Instant::parse_http_date), &self.last_modified) {
            (Some(since), Some((changed, _))) => *changed <= since,
            _ => false,
        }
    }

    /// The answer with its validators, or 304 when the caller's copy is current.
    pub fn answer(self, headers: &HeaderMap, full: impl FnOnce() -> Reply) -> Reply {
        let reply =
            if self.unchanged(headers) { Reply::empty(StatusCode::NOT_MODIFIED) } else { full() };
        let reply = reply.with(ETAG, self.etag);
        match self.last_modified {
            Some((_, date)) => reply.with(LAST_MODIFIED, date),
            None => reply,
        }
    }
}

/// Whether a request may be answered 304.
pub fn may_have_copy(headers: &HeaderMap) -> bool {
    headers.contains_key(IF_NONE_MATCH) || headers.contains_key(IF_MODIFIED_SINCE)
}

/// A rendered body with its validators, kept ready to send.
#[derive(Clone)]
pub struct Rendered {
    pub body: Bytes,
    validators: Validators,
}

impl Rendered {
    /// A body with validators made from it.
    pub fn new(mut body: Vec<u8>, last_modified: Option<Instant>) -> Self {
        // Spare capacity would be kept as long as the body.
        body.shrink_to_fit();
        Self { validators: Validators::of_content(&body, last_modified), body: body.into() }
    }

    /// The answer to a request with these headers: 304 when the caller's copy
    /// is current.
    pub fn answer(self, headers: &HeaderMap, media: HeaderValue) -> Reply {
        self.validators.answer(headers, || Reply::of(media, self.body))
    }
}

/// Weak comparison of a list of entity tags with ours.
fn matches(tags: &str, ours: &HeaderValue) -> bool {
    tags.trim() == "*"
        || tags.split(',').any(|tag| {
            let tag = tag.trim();
            tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == ours.as_bytes()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_compared_as_the_rfc_says() {
        let validators = Validators::new(&[0xab], Some(Instant(1_795_140_600)));
        let unchanged = |name: http::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            validators.unchanged(&headers)
        };
        for good in ["\"ab\"", "W/\"ab\"", "\"x\", \"ab\"", "*"] {
            assert!(unchanged(IF_NONE_MATCH, good), "{good}");
        }
        for other in ["\"abc\"", "ab", ""] {
            assert!(!unchanged(IF_NONE_MATCH, other), "{other}");
        }
        assert!(unchanged(IF_MODIFIED_SINCE, "Fri, 20 Nov 2026 02:10:00 GMT"));
        assert!(!unchanged(IF_MODIFIED_SINCE, "Fri, 20 Nov 2026 02:09:59 GMT"));
        assert!(!unchanged(IF_MODIFIED_SINCE, "yesterday"));
    }

    #[test]
    fn an_entity_tag_outranks_a_date() {
        let validators = Validators::new(&[0xab], Some(Instant(0)));
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, "\"other\"".parse().unwrap());
        headers.insert(IF_MODIFIED_SINCE, "Fri, 20 Nov 2026 02:10:00 GMT".parse().unwrap());
        assert!(!validators.unchanged(&headers));
    }
}
