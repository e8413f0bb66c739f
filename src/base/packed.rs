//! Lines that are packed and kept: gzip, with the length and digest of what they were.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

#[derive(Clone)]
pub struct Packed {
    pub body: Vec<u8>,
    /// SHA-256 of the lines.
    pub digest: [u8; 32],
    /// Their length.
    pub bytes: i64,
}

pub fn pack(lines: &str) -> std::io::Result<Packed> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(lines.as_bytes())?;
    let bytes = i64::try_from(lines.len()).unwrap_or(i64::MAX);
    Ok(Packed { body: packer.finish()?, digest: Sha256::digest(lines).into(), bytes })
}

/// The unpacked text; `None` when its length is not `bytes`.
pub fn unpack(body: &[u8], bytes: u64) -> Option<String> {
    let unpacker = GzDecoder::new(body).take(bytes.saturating_add(1));
    let lines = std::io::read_to_string(unpacker).ok()?;
    (lines.len() as u64 == bytes).then_some(lines)
}
