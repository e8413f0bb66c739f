//! Files that a browser's form sends (RFC 7578), from a body already in memory.
//!
//! Parts are slices of the body, so a file is not copied. Decision http-5.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use memchr::memmem::{self, Finder};

use super::{Code, Problem, Request};

const MOST_PARTS: usize = 32;
/// Longest head of a part.
const MOST_HEAD: usize = 4 * 1024;
/// Longest boundary (RFC 2046 §5.1.1).
const LONGEST_BOUNDARY: usize = 70;

#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// The file name that the browser sent; empty for a plain field.
    pub file_name: String,
    pub bytes: Bytes,
}

/// Whether the body of a request is such a form (`multipart/form-data`).
pub fn is_upload(request: &Request) -> bool {
    request
        .header(&CONTENT_TYPE)
        .is_some_and(|media| media.to_ascii_lowercase().starts_with("multipart/form-data"))
}

/// The parts of a form, in their order.
pub fn parts(request: &Request) -> Result<Vec<Part>, Problem> {
    read(request.header(&CONTENT_TYPE).unwrap_or_default(), &request.body)
}

/// The bytes of the first file or field of that name.
pub fn file(request: &Request, name: &str) -> Result<Option<Bytes>, Problem> {
    let found = parts(request)?.into_iter().find(|part| part.name == name);
    Ok(found.map(|part| part.bytes))
}

fn read(media: &str, body: &Bytes) -> Result<Vec<Part>, Problem> {
    let malformed = || Problem::new(Code::InvalidBody, "the form cannot be read");
    let boundary = parameter(media, "boundary")
        .filter(|boundary| (1..=LONGEST_BOUNDARY).contains(&boundary.len()))
        .ok_or_else(malformed)?;
    let delimiter = format!("\r\n--{boundary}");
    let finder = Finder::new(&delimiter);
    // The first delimiter may be at the very start, with no line end before it.
    let mut at = if body.starts_with(&delimiter.as_bytes()[2..]) {
        delimiter.len() - 2
    } else {
        finder.find(body).ok_or_else(malformed)? + delimiter.len()
    };
    let mut parts = Vec::new();
    while !body[at..].starts_with(b"--") {
        if parts.len() == MOST_PARTS {
            let said = format!("a form has at most {MOST_PARTS} parts");
            return Err(Problem::new(Code::TooManyFields, said));
        }
        let head_end = body.len().min(at + MOST_HEAD);
        let length = memmem::find(&body[at..head_end], b"\r\n\r\n").ok_or_else(malformed)?;
        let head = String::from_utf8_lossy(&body[at..at + length]);
        let start = at + length + 4;
        let length = finder.find(&body[start..]).ok_or_else(malformed)?;
        // Only blanks may follow the delimiter on its line.
        let (padding, lines) = head.split_once("\r\n").ok_or_else(malformed)?;
        if !padding.trim().is_empty() {
            return Err(malformed());
        }
        let is_place = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default();
            name.eq_ignore_ascii_case("content-disposition")
        };
        let place = lines.split("\r\n").find(is_place).unwrap_or_default();
        parts.push(Part {
            name: parameter(place, "name").unwrap_or_default(),
            file_name: parameter(place, "filename").unwrap_or_default(),
            bytes: body.slice(start..start + length),
        });
        at = start + length + delimiter.len();
    }
    Ok(parts)
}

/// A parameter of a header's value, as `; name=token` or `; name="text"`.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (known, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let text: String;
        (text, rest) = if let Some(quoted) = value.strip_prefix('"') {
            unquoted(quoted)?
        } else {
            let end = value.find(';').unwrap_or(value.len());
            (value[..end].trim_end().to_owned(), &value[end..])
        };
        if known.trim_matches([' ', '\t', ';']).eq_ignore_ascii_case(name) {
            return Some(text);
        }
    }
}

/// A text up to its closing quote, and what follows.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut plain = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((plain, &text[at + 1..])),
            // Browsers do not escape other backslashes; old ones sent whole
            // file paths.
            '\\' => {
                let escaped = letters.next_if(|(_, next)| matches!(next, '"' | '\\'));
                plain.push(escaped.map_or('\\', |(_, escaped)| escaped));
            }
            letter => plain.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MEDIA: &str = "multipart/form-data; charset=utf-8; boundary=\"limite\"";

    fn form(body: &str) -> Result<Vec<Part>, Code> {
        read(MEDIA, &Bytes::copy_from_slice(body.as_bytes())).map_err(|problem| problem.code)
    }

    fn part(name: &str, file_name: &str, bytes: &'static str) -> Part {
        Part { name: name.to_owned(), file_name: file_name.to_owned(), bytes: bytes.into() }
    }

    #[test]
    fn forms_are_read_as_browsers_and_programs_send_them() {
        let body = "--limite\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\num\r\n\
                    --limite \r\nContent-Type: text/csv\r\n\
                    content-disposition: form-data; filename=\"x; y=\\\"z\\\" \\ç.csv\"; name=b\r\n\r\n\
                    \r\n--limit\r\n\r\n--limite--\r\nepilogue";
        let expected = [part("a", "", "um"), part("b", "x; y=\"z\" \\ç.csv", "\r\n--limit\r\n")];
        assert_eq!(form(body).unwrap(), expected);
        assert_eq!(form(&format!("preamble\r\n{body}")).unwrap(), expected);
        assert_eq!(form("--limite--").unwrap(), []);
        let media = "multipart/form-data; boundary=limite";
        assert_eq!(read(media, &Bytes::copy_from_slice(body.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn what_is_no_form_is_refused() {
        let head = "--limite\r\nContent-Disposition: form-data; name=\"a\"\r\n";
        let endless = format!("{head}X: {}\r\n\r\num\r\n--limite--", "x".repeat(MOST_HEAD));
        for body in [
            "",
            "--limite",
            "--limite\r\nrubbish",
            "--limite\r\n\r\num\r\n",
            "--limiteX\r\nA: b\r\n\r\num\r\n--limite--",
            &format!("{head}\r\num"),
            &endless,
        ] {
            assert_eq!(form(body), Err(Code::InvalidBody), "{body:?}");
        }
        for media in [
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=\"a",
        ] {
            assert!(read(media, &Bytes::from_static(b"--a--")).is_err(), "{media}");
        }
    }

    #[test]
    fn a_form_of_very_many_parts_is_refused() {
        let part = "--limite\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n";
        let of = |count: usize| form(&format!("{}--limite--", part.repeat(count)));
        assert_eq!(of(MOST_PARTS).unwrap().len(), MOST_PARTS);
        assert_eq!(of(MOST_PARTS + 1), Err(Code::TooManyFields));
    }

    proptest! {
        /// No input causes a panic.
        #[test]
        fn damage_is_refused_or_read(body in "(--limite|\r\n|name=\"|\"|:|;|-|a|é|\\\\){0,40}") {
            let _ = form(&body);
        }
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("multipart", |bytes| {
            if let Ok(parts) = read(MEDIA, &Bytes::copy_from_slice(bytes)) {
                assert!(parts.iter().map(|part| part.bytes.len()).sum::<usize>() <= bytes.len());
            }
            // The boundary comes from the sender, too.
            if let Ok(boundary) = std::str::from_utf8(bytes) {
                let media = format!("multipart/form-data; boundary={boundary}");
                let _ = read(&media, &Bytes::copy_from_slice(bytes));
            }
        });
    }
}
