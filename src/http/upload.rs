//! Files that a browser's form sends (RFC 7578), from a body already in memory.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;

use super::{Code, Problem, Request};

/// Most parts of a form.
const MOST_PARTS: usize = 32;

/// One part of a form.
pub struct Part {
    pub name: String,
    /// As the browser says; empty for a plain field.
    pub file_name: String,
    pub bytes: Bytes,
}

/// Whether a request's body is such a form.
pub fn is_upload(request: &Request) -> bool {
    request
        .header(&CONTENT_TYPE)
        .is_some_and(|media| media.to_ascii_lowercase().starts_with("multipart/form-data"))
}

/// The parts of a form, in their order.
pub fn parts(request: &Request) -> Result<Vec<Part>, Problem> {
    let malformed = || Problem::new(Code::InvalidBody, "the form cannot be read");
    let media = request.header(&CONTENT_TYPE).unwrap_or_default();
    let boundary = multer::parse_boundary(media).map_err(|_| malformed())?;
    let body = request.body.clone();
    let body = futures_util::stream::once(async move { Ok::<_, Infallible>(body) });
    let mut form = multer::Multipart::new(body, boundary);
    let all = async {
        let mut parts = Vec::new();
        while let Some(field) = form.next_field().await? {
            if parts.len() == MOST_PARTS {
                break;
            }
            parts.push(Part {
                name: field.name().unwrap_or_default().to_owned(),
                file_name: field.file_name().unwrap_or_default().to_owned(),
                bytes: field.bytes().await?,
            });
        }
        Ok::<_, multer::Error>(parts)
    };
    // The whole body is here, so the form never waits.
    futures_util::FutureExt::now_or_never(all).ok_or_else(malformed)?.map_err(|_| malformed())
}

/// The bytes of the first file or field of that name.
pub fn file(request: &Request, name: &str) -> Result<Option<Bytes>, Problem> {
    let found = parts(request)?.into_iter().find(|part| part.name == name);
    Ok(found.map(|part| part.bytes))
}
