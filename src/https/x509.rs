//! What a certificate says of itself: its names, and from when until when it holds.
//!
//! Only this is read, of a file that the operator or the directory gave; whether a
//! certificate is to be trusted is for those to judge who are shown it. Decision https-10.

use jiff::civil::DateTime;

use crate::base::Instant;

/// Types of the parts of a certificate (ITU-T X.690).
const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const FULL_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const ADDRESS: u8 = 0x87;
/// The extension with the names: 2.5.29.17.
const SUBJECT_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// What a certificate says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Host names in lower case, and addresses, in their order.
    pub names: Vec<String>,
    pub from: Instant,
    pub until: Instant,
}

/// Reads a certificate in DER; `None` when it is none.
pub fn read(der: &[u8]) -> Option<Facts> {
    let mut whole = Parts(der).of(SEQUENCE)?;
    let mut body = whole.of(SEQUENCE)?;
    body.optional(VERSION);
    // Number, signature and issuer come before the dates, subject and key after them.
    body.next()?;
    body.of(SEQUENCE)?;
    body.of(SEQUENCE)?;
    let mut dates = body.of(SEQUENCE)?;
    let (from, until) = (instant(dates.next()?)?, instant(dates.next()?)?);
    body.of(SEQUENCE)?;
    body.of(SEQUENCE)?;
    let mut names = Vec::new();
    while let Some((kind, content)) = body.next() {
        if kind == EXTENSIONS {
            names = named(content)?;
        }
    }
    Some(Facts { names, from, until })
}

fn named(extensions: &[u8]) -> Option<Vec<String>> {
    let mut extensions = Parts(extensions).of(SEQUENCE)?;
    let mut names = Vec::new();
    while let Some((SEQUENCE, extension)) = extensions.next() {
        let mut extension = Parts(extension);
        if extension.of(OBJECT)?.0 != SUBJECT_NAMES {
            continue;
        }
        let mut content = None;
        while let Some((kind, found)) = extension.next() {
            content = (kind == OCTETS).then_some(found).or(content);
        }
        let mut entries = Parts(content?).of(SEQUENCE)?;
        while let Some((kind, name)) = entries.next() {
            names.extend(match kind {
                DNS_NAME => std::str::from_utf8(name).ok().map(str::to_ascii_lowercase),
                ADDRESS => address(name),
                _ => None,
            });
        }
    }
    Some(names)
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(format!("[{}]", std::net::Ipv6Addr::from(sixteen)))
}

fn instant((kind, text): (u8, &[u8])) -> Option<Instant> {
    let text = std::str::from_utf8(text).ok()?;
    let full = match kind {
        FULL_TIME => text.to_owned(),
        // Two digits of the year, the later ones of the last century.
        UTC_TIME if text.get(..2)? < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        _ => return None,
    };
    DateTime::strptime("%Y%m%d%H%M%SZ", &full).ok().map(Instant::in_utc)
}

/// Parts that follow one another: a type, a length, the content.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    /// The next part; `None` at the end, or when it is cut off.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[kind, first], rest) = self.0.split_first_chunk::<2>()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // Longer than four bytes no length of a certificate is.
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((kind, content))
    }

    /// The next part, which has this type.
    fn of(&mut self, kind: u8) -> Option<Self> {
        self.next().filter(|(found, _)| *found == kind).map(|(_, content)| Self(content))
    }

    /// Passes over a part that may be missing.
    fn optional(&mut self, kind: u8) {
        if self.0.first() == Some(&kind) {
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn made(names: &[&str], until: i32) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2026, 11, 1);
        params.not_after = date_time_ymd(until, 1, 30);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn names_and_dates_are_read() {
        let facts = read(&made(&["Loja.example.com", "127.0.0.1", "::1"], 2027)).unwrap();
        assert_eq!(facts.names, ["loja.example.com", "127.0.0.1", "[::1]"]);
        assert_eq!(facts.from.rfc3339(), "2026-11-01T00:00:00Z");
        assert_eq!(facts.until.rfc3339(), "2027-01-30T00:00:00Z");
        // From 2050 on, dates have four digits of the year.
        assert_eq!(read(&made(&[], 2051)).unwrap().until.rfc3339(), "2051-01-30T00:00:00Z");
    }

    proptest! {
        #[test]
        fn what_is_no_certificate_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(read(&bytes), None);
        }

        #[test]
        fn a_damaged_certificate_ends_in_no_panic(at in any::<prop::sample::Index>(), byte: u8) {
            let mut der = made(&["loja.example.com"], 2027);
            let at = at.index(der.len());
            der[at] = byte;
            let _ = read(&der);
            let _ = read(&der[..at]);
        }
    }
}
