//! Photos of people: checked, rebuilt, stored, served.
//!
//! A photo is rebuilt from the parts that a picture needs. Everything else in a
//! file (the place where it was taken, comments, a second file after the first)
//! never reaches the database. The address of a photo is the digest of its
//! bytes, so browsers may cache it for ever and nobody can find one by
//! counting.

pub mod api;
mod jpeg;
pub mod pages;
mod png;
pub mod store;
pub mod views;
mod webp;

#[cfg(test)]
mod tests;

use sha2::{Digest as _, Sha256};

use crate::base::text::hex;
use crate::http::{Code, Problem, Request, upload};
use crate::named;

/// Largest file.
pub const MOST_BYTES: usize = 512 * 1024;
/// Largest body of a form with a photo. It is larger than [`MOST_BYTES`], so
/// that files slightly too large get an error message.
pub const FORM_BYTES: usize = 1024 * 1024;
/// Most pixels in width and height.
const MOST_PIXELS: u32 = 4096;

named! {
    /// Formats of photos, by their media type.
    pub enum Media: text {
        Jpeg = "image/jpeg";
        Png = "image/png";
        Webp = "image/webp";
    }
}

/// A checked photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    pub media: Media,
    pub bytes: Vec<u8>,
}

impl Photo {
    /// SHA-256 of its bytes.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.bytes).into()
    }
}

/// The address of a photo.
pub fn address(digest: &[u8; 32]) -> String {
    format!("/fotos/{}", hex(digest))
}

/// Why a file is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhotoFault {
    Missing,
    TooLarge,
    NoPhoto,
    Animated,
    TooManyPixels,
    Damaged,
}

impl PhotoFault {
    /// What to correct.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Missing => "Escolha um arquivo.",
            Self::TooLarge => "A foto pode ter até 512 KB. Diminua-a e envie de novo.",
            Self::NoPhoto => "Envie uma foto em JPEG, PNG ou WebP.",
            Self::Animated => "Envie uma foto sem animação.",
            Self::TooManyPixels => "A foto pode ter até 4096 pixels de largura e de altura.",
            Self::Damaged => "O arquivo está incompleto ou danificado. Envie outro.",
        }
    }
}

/// Checks a file and rebuilds it; its name does not matter.
pub fn check(file: &[u8]) -> Result<Photo, PhotoFault> {
    if file.is_empty() {
        return Err(PhotoFault::Missing);
    }
    if file.len() > MOST_BYTES {
        return Err(PhotoFault::TooLarge);
    }
    let (media, picture) = if file.starts_with(jpeg::START) {
        (Media::Jpeg, jpeg::read(file)?)
    } else if file.starts_with(png::START) {
        (Media::Png, png::read(file)?)
    } else if file.starts_with(webp::START) && file.get(8..12) == Some(webp::NAME) {
        (Media::Webp, webp::read(file)?)
    } else {
        return Err(PhotoFault::NoPhoto);
    };
    let fits = |pixels: u32| (1..=MOST_PIXELS).contains(&pixels);
    if !fits(picture.width) || !fits(picture.height) {
        return Err(PhotoFault::TooManyPixels);
    }
    // Parts are normally only left out, but a rotated JPEG gets one of ours.
    if picture.bytes.len() > MOST_BYTES {
        return Err(PhotoFault::TooLarge);
    }
    Ok(Photo { media, bytes: picture.bytes })
}

/// The photo in the form field `foto` of a request.
pub fn sent(request: &Request) -> Result<Photo, Problem> {
    if !upload::is_upload(request) {
        return Err(Problem::new(
            Code::UnsupportedMediaType,
            "send the photo as multipart/form-data in the field foto",
        ));
    }
    let file = upload::file(request, "foto")?.unwrap_or_default();
    check(&file).map_err(|fault| Problem::field("foto", fault.words()))
}

/// A picture, rebuilt from its parts.
struct Picture {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

/// Reads a file from its start; a missing byte means that the file is damaged.
struct Reader<'f> {
    file: &'f [u8],
    at: usize,
}

impl<'f> Reader<'f> {
    const fn new(file: &'f [u8], at: usize) -> Self {
        Self { file, at }
    }

    fn take(&mut self, length: usize) -> Result<&'f [u8], PhotoFault> {
        let end = self.at.checked_add(length).ok_or(PhotoFault::Damaged)?;
        let taken = self.file.get(self.at..end).ok_or(PhotoFault::Damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PhotoFault> {
        self.take(N)?.try_into().map_err(|_| PhotoFault::Damaged)
    }

    fn byte(&mut self) -> Result<u8, PhotoFault> {
        Ok(self.array::<1>()?[0])
    }

    const fn is_at_end(&self) -> bool {
        self.at >= self.file.len()
    }
}
