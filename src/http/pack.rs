//! Compresses pages with gzip before they are sent.
//!
//! The compressed length of a page reveals something about its content
//! (BREACH): an attacker who sees lengths on the network, and makes a person
//! open our addresses with chosen words, could compare lengths. Pages contain
//! no lasting secret: there are no CSRF tokens (`guard/browser.rs` checks the
//! origin of a request), and the values of forms are new each time and useless
//! to others. To protect the rest, names and addresses of people, the gzip
//! header gets a file name of random length, so that the length reveals
//! nothing. Decision http-26.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, GzBuilder};
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

use crate::base::secrets;

/// Shorter pages are sent as they are.
pub const LEAST: usize = 1_024;
/// Cheap: a page of 40 KB takes a fraction of a millisecond.
const LEVEL: Compression = Compression::new(2);
/// Limit on the length of the file name in the gzip header.
const COVER: usize = 64;

/// Whether a caller accepts an encoding, such as `gzip`.
pub fn accepts(headers: &HeaderMap, name: &str) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_named = words.next().is_some_and(|word| word.eq_ignore_ascii_case(name));
        let weight = words.find_map(|word| word.strip_prefix("q=")?.trim().parse::<f32>().ok());
        is_named && weight != Some(0.0)
    })
}

/// A page as gzip; `None` when nothing is gained.
pub fn gzip(plain: &[u8]) -> Option<Bytes> {
    let random: [u8; COVER] = secrets::random();
    let length = 1 + usize::from(random[0]) % (COVER - 1);
    // Any letters are good; a zero byte would end the name.
    let name: Vec<u8> = random[..length].iter().map(|byte| b'a' + byte % 26).collect();
    let packed = Vec::with_capacity(plain.len() / 3);
    let mut packer = GzBuilder::new().filename(name).write(packed, LEVEL);
    packer.write_all(plain).ok()?;
    let packed = packer.finish().ok()?;
    (packed.len() < plain.len()).then(|| packed.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_page_packs_well_and_its_length_varies() {
        let page = "<p>Vendas de hoje</p>".repeat(1_000);
        let lengths: std::collections::BTreeSet<usize> = (0..50)
            .map(|_| {
                let packed = gzip(page.as_bytes()).unwrap();
                let mut back = String::new();
                flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut back).unwrap();
                assert_eq!(back, page);
                assert!(packed.len() < page.len() / 10);
                packed.len()
            })
            .collect();
        assert!(lengths.len() > 10, "{lengths:?}");
    }

    #[test]
    fn encodings_are_taken_by_name() {
        for (said, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(said));
            assert_eq!(accepts(&headers, "gzip"), takes, "{said}");
        }
    }
}
