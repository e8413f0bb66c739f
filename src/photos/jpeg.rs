//! JPEG (ITU T.81): segments that begin with a marker, and runs of coded data.
//!
//! Telephones store a rotated picture without rotating it, and note the
//! rotation in the Exif part, next to the place and the time. Only the rotation
//! is kept.

use super::{PhotoFault, Picture, Reader};

/// Start of image, and the first byte of the next marker.
pub const START: &[u8] = b"\xff\xd8\xff";

const EXIF: &[u8] = b"Exif\0\0";
/// The Exif tag with the rotation of a picture.
const ORIENTATION: u16 = 0x0112;

/// Reads and rebuilds a file that begins with [`START`].
pub fn read(file: &[u8]) -> Result<Picture, PhotoFault> {
    let mut reader = Reader::new(file, 2);
    let mut bytes = file[..2].to_vec();
    // Where our own Exif part goes: after the JFIF part, which must be first.
    let mut place = bytes.len();
    let (mut size, mut turn, mut scanned) = (None, None, false);
    loop {
        let marker = marker(&mut reader)?;
        if marker == 0xd9 {
            bytes.extend_from_slice(&[0xff, 0xd9]);
            break;
        }
        let start = reader.at;
        let length = usize::from(u16::from_be_bytes(reader.array()?));
        let data = reader.take(length.checked_sub(2).ok_or(PhotoFault::Damaged)?)?;
        let keep = match marker {
            // Baseline, extended and progressive; browsers show no others.
            0xc0..=0xc2 if size.is_none() => {
                size = Some(frame(data)?);
                true
            }
            // Tables, restart interval.
            0xc4 | 0xdb | 0xdd => true,
            0xda => size.is_some(),
            0xe0 => data.starts_with(b"JFIF\0") && bytes.len() == 2,
            0xe1 => {
                if turn.is_none() && !scanned {
                    turn = data.strip_prefix(EXIF).and_then(turn_of);
                }
                false
            }
            0xe2 => data.starts_with(b"ICC_PROFILE\0"),
            // How the colours are coded.
            0xee => data.starts_with(b"Adobe"),
            0xe3..=0xef | 0xfe => false,
            _ => return Err(PhotoFault::Damaged),
        };
        if keep {
            bytes.extend_from_slice(&[0xff, marker]);
            bytes.extend_from_slice(&file[start..reader.at]);
        }
        if marker == 0xe0 && keep {
            place = bytes.len();
        }
        if marker == 0xda {
            if !keep {
                return Err(PhotoFault::Damaged);
            }
            scanned = true;
            bytes.extend_from_slice(coded(&mut reader)?);
        }
    }
    // Bytes after the end are not part of the picture.
    let (width, height) = size.filter(|_| scanned).ok_or(PhotoFault::Damaged)?;
    if let Some(turn @ 2..=8) = turn {
        bytes.splice(place..place, exif_with(turn));
    }
    Ok(Picture { width, height, bytes })
}

/// The next marker; any number of fill bytes may come before it.
fn marker(reader: &mut Reader<'_>) -> Result<u8, PhotoFault> {
    if reader.byte()? != 0xff {
        return Err(PhotoFault::Damaged);
    }
    loop {
        match reader.byte()? {
            0xff => {}
            0x00 => return Err(PhotoFault::Damaged),
            marker => return Ok(marker),
        }
    }
}

/// Coded data up to the next marker that is no restart.
fn coded<'f>(reader: &mut Reader<'f>) -> Result<&'f [u8], PhotoFault> {
    let rest = &reader.file[reader.at..];
    let mut from = 0;
    loop {
        let found = memchr::memchr(0xff, &rest[from..]).ok_or(PhotoFault::Damaged)? + from;
        match rest.get(found + 1).ok_or(PhotoFault::Damaged)? {
            0x00 | 0xd0..=0xd7 => from = found + 2,
            0xff => from = found + 1,
            _ => {
                reader.at += found;
                return Ok(&rest[..found]);
            }
        }
    }
}

/// Width and height of a frame of eight bits a sample.
fn frame(data: &[u8]) -> Result<(u32, u32), PhotoFault> {
    let [8, high_y, low_y, high_x, low_x, 1 | 3 | 4, ..] = *data else {
        return Err(PhotoFault::Damaged);
    };
    let pixels = |high, low| u32::from(u16::from_be_bytes([high, low]));
    Ok((pixels(high_x, low_x), pixels(high_y, low_y)))
}

/// The rotation of the picture in an Exif part (a TIFF file).
fn turn_of(tiff: &[u8]) -> Option<u8> {
    let big = match tiff.get(..4)? {
        b"MM\0\x2a" => true,
        b"II\x2a\0" => false,
        _ => return None,
    };
    let two = |at: usize| -> Option<u16> {
        let bytes = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let four = |at: usize| -> Option<u32> {
        let (first, second) = (two(at)?, two(at.checked_add(2)?)?);
        let (high, low) = if big { (first, second) } else { (second, first) };
        Some(u32::from(high) << 16 | u32::from(low))
    };
    let list = usize::try_from(four(4)?).ok()?;
    let entries = usize::from(two(list)?);
    (0..entries)
        .map_while(|index| list.checked_add(2 + 12 * index))
        .find(|at| two(*at) == Some(ORIENTATION))
        .and_then(|at| two(at.checked_add(8)?))
        .and_then(|turn| u8::try_from(turn).ok())
}

/// An Exif part with the rotation of the picture, and nothing else.
fn exif_with(turn: u8) -> Vec<u8> {
    let mut part = b"\xff\xe1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01".to_vec();
    // One entry with one value of type short, and no further list.
    part.extend_from_slice(&ORIENTATION.to_be_bytes());
    part.extend_from_slice(&[0, 3, 0, 0, 0, 1, 0, turn, 0, 0, 0, 0, 0, 0]);
    part
}
