//! Parameters of OAuth requests: names and values as raw bytes, each parameter
//! at most once (RFC 6749 §3.1, §3.2).

use std::collections::HashSet;

use percent_encoding::percent_decode;

use super::refusal::Refusal;

/// The parameters in a query or in a form.
pub struct Parameters(Vec<(Vec<u8>, Vec<u8>)>);

impl Parameters {
    /// Reads `a=b&c=d`.
    pub fn of(text: &[u8]) -> Self {
        let pairs = text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
        let halves = pairs.map(|pair| match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (decoded(&pair[..at]), decoded(&pair[at + 1..])),
            None => (decoded(pair), Vec::new()),
        });
        Self(halves.collect())
    }

    /// A value; `None` when it is missing or empty.
    pub fn bytes(&self, name: &'static str) -> Result<Option<&[u8]>, Refusal> {
        let mut found = self.0.iter().filter(|(known, _)| known == name.as_bytes());
        let first = found.next();
        if found.next().is_some() {
            return Err(Refusal::request(format!("{name} is there twice")));
        }
        Ok(first.map(|(_, value)| &**value).filter(|value| !value.is_empty()))
    }

    /// A value that must be text.
    pub fn text(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        let Some(value) = self.bytes(name)? else { return Ok(None) };
        let text = std::str::from_utf8(value).ok();
        text.map(Some).ok_or_else(|| Refusal::request(format!("{name} is no UTF-8")))
    }

    /// A value that must be text and must be present.
    pub fn required(&self, name: &'static str) -> Result<&str, Refusal> {
        self.text(name)?.ok_or_else(|| Refusal::request(format!("{name} is missing")))
    }

    /// All values of a parameter that may be repeated.
    pub fn all(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        let found = self.0.iter().filter(move |(known, _)| known == name.as_bytes());
        found.map(|(_, value)| &**value).filter(|value| !value.is_empty())
    }

    /// Rejects repeated parameters, except `resource` (RFC 8707 §2).
    pub fn unrepeated(&self) -> Result<(), Refusal> {
        let mut names = HashSet::with_capacity(self.0.len());
        let once = self.0.iter().all(|(name, _)| name == b"resource" || names.insert(name));
        if once { Ok(()) } else { Err(Refusal::request("a parameter is there twice")) }
    }
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> =
        text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_bytes_and_come_once() {
        let given = Parameters::of(b"a=1&b=%FF+%2B&c=&d&e=x=y&a=2&resource=r&resource=s");
        assert!(given.bytes("a").is_err());
        assert_eq!(given.bytes("b").unwrap(), Some(&b"\xff +"[..]));
        assert!(given.text("b").is_err());
        assert_eq!(given.bytes("c").unwrap(), None, "an empty value is none");
        assert_eq!(given.bytes("d").unwrap(), None);
        assert_eq!(given.text("e").unwrap(), Some("x=y"));
        assert!(given.required("f").is_err());
        assert_eq!(given.all("resource").count(), 2);
        assert!(given.unrepeated().is_err());
        assert!(Parameters::of(b"resource=r&resource=s&a=1").unrepeated().is_ok());
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("oauth", |bytes| {
            let given = Parameters::of(bytes);
            let _ = given.unrepeated();
            for name in
                ["client_id", "code", "redirect_uri", "scope", "grant_type", "code_verifier"]
            {
                if let Ok(text) = given.required(name) {
                    assert!(!text.is_empty());
                }
            }
            let _ = given.all("resource").count();
        });
    }
}
