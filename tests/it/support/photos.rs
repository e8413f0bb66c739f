//! Photos as a browser sends them.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};

/// A form with a file in the field `foto`, with any name and media type.
pub fn upload(target: &str, name: &str, media: &str, file: &[u8]) -> Request {
    let head = format!(
        "--limite\r\nContent-Disposition: form-data; name=\"foto\"; filename=\"{name}\"\r\nContent-Type: {media}\r\n\r\n"
    );
    let body = [head.as_bytes(), file, b"\r\n--limite--\r\n"].concat();
    Request::new("POST", target).body("multipart/form-data; boundary=limite", &body)
}

pub fn send(actor: &Actor<'_>, target: &str, file: &[u8]) -> Reply {
    let request = upload(target, "foto.jpg", "image/jpeg", file);
    actor.send(request.header("Accept", "application/json"))
}

pub fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
