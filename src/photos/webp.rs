//! WebP (RFC 9649): chunks in a RIFF file.

use super::{PhotoFault, Picture, Reader};

/// How a RIFF file begins; its size and [`NAME`] follow.
pub const START: &[u8] = b"RIFF";
/// The kind of RIFF file.
pub const NAME: &[u8] = b"WEBP";

/// Flags of the extended header.
const ANIMATED: u8 = 0x02;
const HAS_XMP: u8 = 0x04;
const HAS_EXIF: u8 = 0x08;

/// Reads and rebuilds a file that begins with [`START`] and [`NAME`].
pub fn read(file: &[u8]) -> Result<Picture, PhotoFault> {
    let mut head = Reader::new(file, START.len());
    let size =
        usize::try_from(u32::from_le_bytes(head.array()?)).map_err(|_| PhotoFault::Damaged)?;
    let end = size.checked_add(8).ok_or(PhotoFault::Damaged)?;
    // Bytes after the declared end are not part of the picture.
    let file = file.get(..end).ok_or(PhotoFault::Damaged)?;
    let mut reader = Reader::new(file, 0);
    let mut bytes = reader.take(START.len() + 4 + NAME.len())?.to_vec();
    let (mut canvas, mut image) = (None, None);
    while !reader.is_at_end() {
        let name: [u8; 4] = reader.array()?;
        let length = u32::from_le_bytes(reader.array()?);
        let data = reader.take(usize::try_from(length).map_err(|_| PhotoFault::Damaged)?)?;
        if length % 2 == 1 {
            reader.byte()?;
        }
        match &name {
            b"VP8X" if canvas.is_none() && image.is_none() => {
                canvas = Some(canvas_of(data)?);
                let mut data = data.to_vec();
                data[0] &= !(HAS_XMP | HAS_EXIF);
                keep(&mut bytes, name, &data);
            }
            b"VP8 " | b"VP8L" if image.is_none() => {
                image = Some(match &name {
                    b"VP8 " => lossy(data)?,
                    _ => lossless(data)?,
                });
                keep(&mut bytes, name, data);
            }
            b"ICCP" | b"ALPH" if canvas.is_some() && image.is_none() => {
                keep(&mut bytes, name, data);
            }
            b"ANIM" | b"ANMF" => return Err(PhotoFault::Animated),
            b"VP8X" | b"VP8 " | b"VP8L" | b"ICCP" | b"ALPH" => return Err(PhotoFault::Damaged),
            _ => {}
        }
    }
    let (width, height) = image.ok_or(PhotoFault::Damaged)?;
    if canvas.is_some_and(|canvas| canvas != (width, height)) {
        return Err(PhotoFault::Damaged);
    }
    let size = u32::try_from(bytes.len() - 8).map_err(|_| PhotoFault::Damaged)?;
    bytes[4..8].copy_from_slice(&size.to_le_bytes());
    Ok(Picture { width, height, bytes })
}

fn keep(bytes: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    bytes.extend_from_slice(&name);
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(data);
    if data.len() % 2 == 1 {
        bytes.push(0);
    }
}

/// Width and height of the extended header.
fn canvas_of(data: &[u8]) -> Result<(u32, u32), PhotoFault> {
    let mut reader = Reader::new(data, 0);
    if reader.array::<4>()?[0] & ANIMATED != 0 {
        return Err(PhotoFault::Animated);
    }
    let mut side = || {
        let [low, middle, high] = reader.array()?;
        Ok(u32::from_le_bytes([low, middle, high, 0]) + 1)
    };
    Ok((side()?, side()?))
}

/// Width and height of a VP8 key frame (RFC 6386 §9.1).
fn lossy(data: &[u8]) -> Result<(u32, u32), PhotoFault> {
    let [tag, _, _, 0x9d, 0x01, 0x2a, a, b, c, d, ..] = *data else {
        return Err(PhotoFault::Damaged);
    };
    if tag & 1 != 0 {
        return Err(PhotoFault::Damaged);
    }
    let pixels = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Ok((pixels(a, b), pixels(c, d)))
}

/// Width and height of a lossless picture (RFC 9649 §3.4).
fn lossless(data: &[u8]) -> Result<(u32, u32), PhotoFault> {
    let [0x2f, a, b, c, d, ..] = *data else {
        return Err(PhotoFault::Damaged);
    };
    let bits = u32::from_le_bytes([a, b, c, d]);
    Ok(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
}
