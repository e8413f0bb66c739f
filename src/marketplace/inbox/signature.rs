//! Signatures of notifications: `ts=<digits>;v1=<hex>` over a manifest.
//!
//! The manifest holds the last segment of the resource, the request id and the
//! timestamp. The body is not signed, so a signature proves the resource and
//! nothing else. Parts are separated by `;` or `,`, in any order, and may have
//! blanks. Unknown keys are ignored; `ts` or `v1` given twice makes the header
//! invalid.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::base::Instant;
use crate::config;

/// Longest header that is read.
const MAX_HEADER: usize = 512;
const MAX_TIMESTAMP: usize = 16;
/// From here on a timestamp counts milliseconds.
const MILLISECONDS_FROM: i64 = 1_000_000_000_000;
/// Seconds that the sender's clock may be ahead of ours.
const AHEAD_S: i64 = 60;

/// Checks signatures with the application's secret.
pub struct Verifier {
    /// The keyed hash, prepared once. `None` without a secret: then no
    /// signature is valid.
    keyed: Option<Hmac<Sha256>>,
    max_age_s: i64,
}

/// The values that a signature is checked against.
#[derive(Clone, Copy)]
pub struct Signed<'s> {
    /// The `X-Signature` header.
    pub header: &'s str,
    /// The `X-Request-Id` header.
    pub request_id: &'s str,
    /// Last segment of the resource.
    pub data_id: &'s str,
}

impl Verifier {
    /// A verifier for the configured secret and age.
    pub fn new(config: &config::Marketplace) -> Self {
        let secret = config.client_secret.reveal().as_bytes();
        let keyed = (!secret.is_empty())
            .then(|| Hmac::new_from_slice(secret).expect("HMAC takes keys of any length"));
        Self { keyed, max_age_s: config.signature_max_age_s }
    }

    /// Whether a signature is valid and, where a maximum age is set, not too
    /// old.
    pub fn accepts(&self, signed: &Signed<'_>, now: Instant) -> bool {
        let Some((keyed, header)) = self.keyed.as_ref().zip(Header::parse(signed.header)) else {
            return false;
        };
        if self.max_age_s > 0 && !(-AHEAD_S..=self.max_age_s).contains(&header.age_s(now)) {
            return false;
        }
        let matches = |data_id: &str| {
            let mut mac = keyed.clone();
            for part in
                ["id:", data_id, ";request-id:", signed.request_id, ";ts:", header.timestamp, ";"]
            {
                mac.update(part.as_bytes());
            }
            mac.verify_slice(&header.digest).is_ok()
        };
        // Senders disagree on whether ids with letters are signed in lower case.
        matches(signed.data_id)
            || signed.data_id.bytes().any(|byte| byte.is_ascii_uppercase())
                && matches(&signed.data_id.to_ascii_lowercase())
    }
}

struct Header<'h> {
    timestamp: &'h str,
    digest: [u8; 32],
}

impl<'h> Header<'h> {
    fn parse(header: &'h str) -> Option<Self> {
        if header.len() > MAX_HEADER {
            return None;
        }
        let (mut timestamp, mut digest) = (None, None);
        for part in header.split([';', ',']) {
            let Some((key, value)) = part.split_once('=') else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            let place = if key.eq_ignore_ascii_case("ts") {
                &mut timestamp
            } else if key.eq_ignore_ascii_case("v1") {
                &mut digest
            } else {
                continue;
            };
            if place.replace(value).is_some() {
                return None;
            }
        }
        let timestamp = timestamp.filter(|digits| {
            (1..=MAX_TIMESTAMP).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit())
        })?;
        Some(Self { timestamp, digest: digest_of(digest?)? })
    }

    /// Seconds since the signature was made, negative when its time is in the
    /// future.
    fn age_s(&self, now: Instant) -> i64 {
        let stamp: i64 = self.timestamp.parse().unwrap_or(0);
        let seconds = if stamp >= MILLISECONDS_FROM { stamp / 1000 } else { stamp };
        now.since(Instant(seconds))
    }
}

/// The 32 bytes of exactly 64 hexadecimal digits.
fn digest_of(text: &str) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::text::hex;

    const NOW: Instant = Instant(1_795_176_000);

    fn verifier(max_age_s: i64) -> Verifier {
        Verifier { keyed: Some(Hmac::new_from_slice(b"secret").unwrap()), max_age_s }
    }

    fn digest(manifest: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"secret").unwrap();
        mac.update(manifest.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    fn accepts(header: &str, max_age_s: i64) -> bool {
        let signed = Signed { header, request_id: "req-1", data_id: "2000001" };
        verifier(max_age_s).accepts(&signed, NOW)
    }

    #[test]
    fn the_header_may_be_written_in_several_ways() {
        let v1 = digest("id:2000001;request-id:req-1;ts:1795176000;");
        for good in [
            format!("ts=1795176000;v1={v1}"),
            format!("ts=1795176000,v1={v1}"),
            format!(" v1 = {v1} ; TS = 1795176000 "),
            format!("ts=1795176000;v2=zz;v1={};x", v1.to_uppercase()),
        ] {
            assert!(accepts(&good, 0), "{good}");
        }
        for bad in [
            String::new(),
            "ts=1795176000".to_owned(),
            format!("v1={v1}"),
            format!("ts=1795176001;v1={v1}"),
            format!("ts=+795176000;v1={v1}"),
            format!("ts=17951760000000000;v1={v1}"),
            format!("ts=1795176000;v1={}", &v1[..63]),
            format!("ts=1795176000;v1={v1}0"),
            format!("ts=1795176000;v1=é{}", &v1[2..]),
            format!("ts=1795176000;v1={v1};v1={v1}"),
            format!("ts=1795176000;v1={v1}{}", ";".repeat(500)),
        ] {
            assert!(!accepts(&bad, 0), "{bad}");
        }
    }

    #[test]
    fn age_is_read_in_seconds_or_milliseconds() {
        let header = |ts: i64| {
            format!("ts={ts};v1={}", digest(&format!("id:2000001;request-id:req-1;ts:{ts};")))
        };
        for (ts, fresh) in [
            (NOW.0, true),
            (NOW.0 - 300, true),
            (NOW.0 - 301, false),
            (NOW.0 + 60, true),
            (NOW.0 + 61, false),
            ((NOW.0 - 300) * 1000, true),
            ((NOW.0 - 301) * 1000, false),
        ] {
            assert_eq!(accepts(&header(ts), 300), fresh, "{ts}");
            assert!(accepts(&header(ts), 0), "{ts}");
        }
    }

    #[test]
    fn ids_with_letters_are_taken_in_either_case_and_other_ids_are_not() {
        let signed = |data_id: &str, signed_id: &str| {
            let header =
                format!("ts=1;v1={}", digest(&format!("id:{signed_id};request-id:r;ts:1;")));
            verifier(0).accepts(&Signed { header: &header, request_id: "r", data_id }, NOW)
        };
        assert!(signed("MLB1", "MLB1") && signed("MLB1", "mlb1"));
        assert!(!signed("mlb1", "MLB1") && !signed("MLB2", "mlb1"));
    }

    #[test]
    fn without_a_secret_nothing_is_right() {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"").unwrap();
        mac.update(b"id:1;request-id:r;ts:1;");
        let header = format!("ts=1;v1={}", hex(&mac.finalize().into_bytes()));
        let verifier = Verifier { keyed: None, max_age_s: 0 };
        assert!(!verifier.accepts(&Signed { header: &header, request_id: "r", data_id: "1" }, NOW));
    }

    proptest! {
        #[test]
        fn no_invented_header_passes(header in ".{0,200}") {
            prop_assert!(!accepts(&header, 0));
        }

        #[test]
        fn no_changed_header_passes(place in 0_usize..78, with in "[0-9a-f]") {
            let right = format!("ts=1795176000;v1={}", digest("id:2000001;request-id:req-1;ts:1795176000;"));
            let mut changed = right.clone();
            changed.replace_range(place..=place, &with);
            prop_assume!(changed != right);
            prop_assert!(!accepts(&changed, 0));
        }
    }

    #[test]
    fn no_bytes_pass_as_a_signature() {
        let right = digest("id:2000001;request-id:req-1;ts:1795176000;");
        crate::base::fuzz::fuzz("signature", |bytes| {
            let header = String::from_utf8_lossy(bytes);
            // Only the right digest itself may pass, however it is written.
            let is_right = header.to_ascii_lowercase().contains(&right);
            assert!(!accepts(&header, 0) || is_right, "{header}");
            // Seeds have a place for it.
            let _ = accepts(&header.replace("DIGEST", &right), 300);
        });
    }
}
