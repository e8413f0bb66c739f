//! Pages, compressed as they are sent.
//!
//! How well a page packs tells something of what is in it (BREACH): somebody
//! who sees lengths on the wire and has a person open our addresses with words
//! of their choice could compare. Pages hold no secret that stays: there are
//! no tokens against forged requests (`guard/browser.rs` asks where a request
//! came from), and the values of forms are new each time and of use to nobody
//! else. What is left, names and addresses of people, is covered by a name of
//! random length in the head of the file, so that no length means anything.

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
/// Longest name in the head of a file.
const COVER: usize = 64;

/// Whether a caller takes an encoding by its name.
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
    // Any letters do; the name must not hold a zero byte.
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
