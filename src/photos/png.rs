//! PNG (W3C, third edition): chunks between a signature and `IEND`. Decision accounts-25.

use super::{PhotoFault, Picture, Reader};

/// Signature.
pub const START: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Chunks that the picture needs. All others are left out, also a colour
/// profile (`iCCP`): it is compressed, and a few bytes may expand to very many
/// in each browser that shows the photo.
const KEPT: [&[u8; 4]; 10] =
    [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"cICP"];
/// Chunks of animated pictures.
const ANIMATION: [&[u8; 4]; 3] = [b"acTL", b"fcTL", b"fdAT"];

/// Reads and rebuilds a file that begins with [`START`].
pub fn read(file: &[u8]) -> Result<Picture, PhotoFault> {
    let mut reader = Reader::new(file, START.len());
    let mut bytes = START.to_vec();
    let (name, header) = chunk(&mut reader, &mut bytes)?;
    if &name != b"IHDR" || header.len() != 13 {
        return Err(PhotoFault::Damaged);
    }
    let number = |from: usize| -> u32 {
        let four = header[from..from + 4].try_into();
        four.map_or(0, u32::from_be_bytes)
    };
    let (width, height) = (number(0), number(4));
    let mut has_data = false;
    loop {
        match chunk(&mut reader, &mut bytes)? {
            (name, _) if &name == b"IHDR" => return Err(PhotoFault::Damaged),
            (name, data) if &name == b"IDAT" => has_data |= !data.is_empty(),
            (name, _) if &name == b"IEND" => break,
            _ => {}
        }
    }
    // Bytes after the end are not part of the picture.
    if has_data { Ok(Picture { width, height, bytes }) } else { Err(PhotoFault::Damaged) }
}

/// The next chunk's name and data; it is copied when the picture needs it.
fn chunk<'f>(
    reader: &mut Reader<'f>,
    bytes: &mut Vec<u8>,
) -> Result<([u8; 4], &'f [u8]), PhotoFault> {
    let start = reader.at;
    let length = u32::from_be_bytes(reader.array()?);
    let name: [u8; 4] = reader.array()?;
    let data = reader.take(usize::try_from(length).map_err(|_| PhotoFault::Damaged)?)?;
    let sum = u32::from_be_bytes(reader.array()?);
    let mut crc = flate2::Crc::new();
    crc.update(&name);
    crc.update(data);
    if crc.sum() != sum {
        return Err(PhotoFault::Damaged);
    }
    if ANIMATION.contains(&&name) {
        return Err(PhotoFault::Animated);
    }
    if KEPT.contains(&&name) {
        bytes.extend_from_slice(&reader.file[start..reader.at]);
    } else if name[0].is_ascii_uppercase() {
        // A critical chunk that we do not know.
        return Err(PhotoFault::Damaged);
    }
    Ok((name, data))
}
