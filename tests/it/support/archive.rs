//! Archives that the service sends.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// The files of a ZIP archive, by its directory.
pub fn unzipped(bytes: &[u8]) -> Vec<(String, String)> {
    let number = |at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let end = bytes.windows(4).rposition(|four| four == b"PK\x05\x06").unwrap();
    let mut at = number(end + 16, 4);
    let mut files = Vec::new();
    for _ in 0..number(end + 10, 2) {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        let (method, packed, plain) = (number(at + 10, 2), number(at + 20, 4), number(at + 24, 4));
        let (name, start) = (number(at + 28, 2), number(at + 42, 4));
        let title = String::from_utf8(bytes[at + 46..at + 46 + name].to_vec()).unwrap();
        let content = start + 30 + number(start + 26, 2) + number(start + 28, 2);
        let content = &bytes[content..content + packed];
        let mut text = String::new();
        match method {
            0 => text.push_str(std::str::from_utf8(content).unwrap()),
            _ => drop(DeflateDecoder::new(content).read_to_string(&mut text).unwrap()),
        }
        assert_eq!(text.len(), plain, "{title}");
        files.push((title, text));
        at += 46 + name + number(at + 30, 2) + number(at + 32, 2);
    }
    files
}
