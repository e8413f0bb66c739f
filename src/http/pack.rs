//! Compresses pages, and the JSON of programs, with gzip before they are sent.
//!
//! The compressed length of a page reveals something about its content
//! (BREACH): an attacker who sees lengths on the network, and makes a person
//! open our addresses with chosen words, could compare lengths. Pages contain
//! no lasting secret: there are no CSRF tokens (`guard/browser.rs` checks the
//! origin of a request), and the values of forms are new each time and useless
//! to others. To protect the rest, names and addresses of people, the gzip
//! header gets a file name of random length, so that the length reveals
//! nothing. Decisions http-26 and http-28.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

use crate::base::secrets;

/// Shorter bodies are sent as they are.
pub const LEAST: usize = 1_024;
/// Longer bodies are compressed in pieces, on another thread: this takes half a
/// millisecond.
pub const MOST_AT_ONCE: usize = 64 * 1024;
/// Bytes of a body that make one piece.
const STEP: usize = 256 * 1024;
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

/// A body as gzip; `None` when nothing is gained.
pub fn gzip(plain: &[u8]) -> Option<Bytes> {
    let mut packer = packer(plain.len() / 3);
    packer.write_all(plain).ok()?;
    let packed = packer.finish().ok()?;
    (packed.len() < plain.len()).then(|| packed.into())
}

/// A large body as gzip, made piece by piece; an empty piece is the end.
pub fn pieces(mut plain: Bytes) -> impl FnMut() -> io::Result<Bytes> + Send + 'static {
    let mut packer = Some(packer(STEP / 8));
    move || {
        while let Some(mut open) = packer.take() {
            if plain.is_empty() {
                return open.finish().map(Bytes::from);
            }
            open.write_all(&plain.split_to(plain.len().min(STEP)))?;
            let made = std::mem::take(open.get_mut());
            packer = Some(open);
            if !made.is_empty() {
                return Ok(made.into());
            }
        }
        Ok(Bytes::new())
    }
}

fn packer(room: usize) -> GzEncoder<Vec<u8>> {
    let random: [u8; COVER] = secrets::random();
    let length = 1 + usize::from(random[0]) % (COVER - 1);
    // Any letters are good; a zero byte would end the name.
    let name: Vec<u8> = random[..length].iter().map(|byte| b'a' + byte % 26).collect();
    GzBuilder::new().filename(name).write(Vec::with_capacity(room), LEVEL)
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
    fn a_large_body_comes_in_pieces_and_whole() {
        // Letters that hardly repeat, and then many that do.
        let hard: Vec<u8> =
            (0_u32..150_000).flat_map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let body = [hard, vec![b'a'; 3 * STEP]].concat();
        let mut next = pieces(Bytes::from(body.clone()));
        let made: Vec<Bytes> =
            std::iter::from_fn(|| Some(next().unwrap()).filter(|it| !it.is_empty())).collect();
        assert!(made.len() > 1, "{} pieces", made.len());
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&made.concat()[..]).read_to_end(&mut back).unwrap();
        assert!(back == body, "other bytes came");
        assert!(next().unwrap().is_empty(), "it has ended");
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
