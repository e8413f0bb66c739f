//! Clients whose id is the address of a document about them (client id metadata
//! documents).
//!
//! Anyone can send any address, so fetching is restricted: HTTPS on its default
//! port, public hosts only, no redirects, and limits on size and time. The
//! address that a host name resolves to is checked, and the connection goes to
//! that same address. Results are cached for a while, and failures too.

use std::collections::HashMap;
use std::time::Duration;

use http::Uri;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use ureq::Agent;
use ureq::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use ureq::unversioned::transport::DefaultConnector;

use super::clients::{self, ClientMetadata};
use super::redirect::Targets;
use super::store::NewClient;
use crate::base::ids::short_digest;
use crate::base::{DAY_S, Instant};
use crate::config::Agents;
use crate::db::Json;
use crate::messages::push::address::{PublicOnly, is_named_with_port};

/// Longest address of a document.
const LONGEST: usize = 500;
/// Largest document, in bytes.
const LARGEST: u64 = 10 * 1024;
/// Time limit for fetching a document.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a document is fresh, at least and at most, whatever its headers say.
const FRESH_S: std::ops::RangeInclusive<i64> = 300..=DAY_S;
/// How long a document that could not be read is not fetched again.
const FAILED_S: i64 = 60;
/// Most failures that are remembered.
const MOST_FAILED: usize = 1_000;

/// Fetches documents.
pub struct Fetcher {
    agent: Agent,
    /// Configured hosts with port, which may be in a private network.
    hosts: Vec<String>,
    /// By digest of the address: until when it is not fetched again.
    failed: Mutex<HashMap<[u8; 16], Instant>>,
}

impl Fetcher {
    /// A fetcher with the configured exceptions.
    pub fn new(config: &Agents) -> Self {
        let rules = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .http_status_as_error(false)
            // A proxy would resolve names itself, without our check.
            .proxy(None)
            .user_agent(concat!("seller-platform/", env!("CARGO_PKG_VERSION")))
            .build();
        let hosts = config.document_hosts.clone();
        Self {
            agent: Agent::with_parts(rules, DefaultConnector::default(), PublicOnly::new(&hosts)),
            hosts,
            failed: Mutex::default(),
        }
    }

    /// Whether a client's id is the address of a document that may be fetched.
    pub fn takes(&self, id: &str) -> bool {
        document_host(id, &self.hosts).is_some()
    }

    /// Whether fetching a document failed a short time ago.
    pub fn failed_lately(&self, id: &str, now: Instant) -> bool {
        self.failed.lock().get(&short_digest(&[id.as_bytes()])).is_some_and(|until| now < *until)
    }

    /// Fetches a document; the error in words when there is no valid document.
    pub fn fetch(
        &self,
        id: &str,
        targets: &Targets,
        now: Instant,
        known: bool,
    ) -> Result<NewClient, &'static str> {
        let fetched = self.ask(id, targets, now, known);
        if fetched.is_err() {
            let mut failed = self.failed.lock();
            if failed.len() >= MOST_FAILED {
                failed.retain(|_, until| now < *until);
            }
            if failed.len() < MOST_FAILED {
                failed.insert(short_digest(&[id.as_bytes()]), now.plus(FAILED_S));
            }
        }
        fetched
    }

    fn ask(
        &self,
        id: &str,
        targets: &Targets,
        now: Instant,
        known: bool,
    ) -> Result<NewClient, &'static str> {
        let sent = self.agent.get(id).header(ACCEPT, "application/json").call();
        let mut answer = sent.map_err(|_| "its document could not be fetched")?;
        if answer.status() != 200 {
            return Err("its document is not there");
        }
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        if !header(CONTENT_TYPE).is_some_and(is_json) {
            return Err("its document is no JSON");
        }
        let fresh_s = fresh_s(header(CACHE_CONTROL).unwrap_or_default());
        let body = answer.body_mut().with_config().limit(LARGEST).read_to_vec();
        let body = body.map_err(|_| "its document is too large or broke off")?;
        let ClientMetadata { name, redirects } = read(id, &body, targets)?;
        let (fresh_until, redirects) = (Some(now.plus(fresh_s)), Json(redirects));
        Ok(NewClient { id: id.to_owned(), name, redirects, fresh_until, known })
    }
}

fn read(id: &str, body: &[u8], targets: &Targets) -> Result<ClientMetadata, &'static str> {
    let said: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| "its document is no JSON object")?;
    if said.get("client_id").and_then(Value::as_str) != Some(id) {
        return Err("its document is about another client_id");
    }
    let method = said.get("token_endpoint_auth_method");
    if method.is_some_and(|method| method != "none") || said.contains_key("client_secret") {
        return Err("its document asks for a secret, and clients have none here");
    }
    if !said.get("client_name").is_some_and(Value::is_string) {
        return Err("its document has no client_name");
    }
    clients::parse_metadata(&said, targets).map_err(|_| "its document is at fault")
}

/// The host of a client's document, when the client's id is an allowed address.
pub fn document_host<'i>(id: &'i str, hosts: &[String]) -> Option<&'i str> {
    let plain = id.len() <= LONGEST
        && id.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte));
    if !plain {
        return None;
    }
    let (scheme, rest) = id.split_once("://")?;
    let authority = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
    let uri: Uri = id.parse().ok()?;
    // The parsed authority must be the same as in the text.
    let is_read_alike = uri.authority().is_some_and(|read| read.as_str() == authority);
    let is_named = is_named_with_port(authority, hosts);
    let is_bare = uri.host() == Some(authority);
    let path = uri.path();
    let is_good = is_read_alike
        && (is_named && matches!(scheme, "http" | "https") || is_bare && scheme == "https")
        && path.len() > 1
        && !path.split('/').any(is_dots);
    is_good.then_some(authority)
}

/// Whether a path segment is `.` or `..`, also when percent-encoded.
fn is_dots(part: &str) -> bool {
    matches!(&*part.to_ascii_lowercase().replace("%2e", "."), "." | "..")
}

fn is_json(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media == "application/json" || media.starts_with("application/") && media.ends_with("+json")
}

/// How long a document is fresh, by its `Cache-Control`.
fn fresh_s(control: &str) -> i64 {
    let mut parts = control.split(',').map(str::trim);
    let age = parts.find_map(|part| part.strip_prefix("max-age=")?.parse().ok());
    age.unwrap_or(0).clamp(*FRESH_S.start(), *FRESH_S.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_at_public_addresses_with_a_path() {
        let hosts = ["127.0.0.1:9001".to_owned()];
        for good in [
            "https://claude.ai/oauth/metadata",
            "https://a.example/x?y=1",
            "http://127.0.0.1:9001/client.json",
        ] {
            assert!(document_host(good, &hosts).is_some(), "{good}");
        }
        for bad in [
            "",
            "app_0a1b",
            "https://a.example",
            "https://a.example/",
            "https://a.example?x",
            "http://a.example/x",
            "https://a.example:8443/x",
            "https://a.example/x#y",
            "https://user@a.example/x",
            "https://a.example/../x",
            "https://a.example/x/.",
            "https://a.example/%2e%2E/x",
            "https://a.example\\@b.example/x",
            "https://127.0.0.1:9001@a.example/x",
            "http://127.0.0.1:9002/x",
            "http://127.0.0.1/x",
            "file:///etc/passwd",
            "gopher://a.example/x",
            "https:///x",
            "HTTPS://a.example/x",
            "https://é.example/x",
        ] {
            assert_eq!(document_host(bad, &hosts), None, "{bad}");
        }
    }

    #[test]
    fn documents_are_kept_for_a_while() {
        for (control, seconds) in [
            ("", 300),
            ("no-store", 300),
            ("max-age=10", 300),
            ("public, max-age=3600", 3_600),
            ("max-age=31536000, immutable", 86_400),
            ("max-age=x", 300),
            ("max-age=-5", 300),
        ] {
            assert_eq!(fresh_s(control), seconds, "{control}");
        }
    }

    #[test]
    fn a_document_is_about_its_own_address_and_has_no_secret() {
        let targets = Targets { own: vec!["https://own.example".to_owned()], ..Targets::default() };
        let id = "https://a.example/c";
        let read = |more: Value| {
            let mut said = serde_json::json!({
                "client_id": id, "client_name": "A", "redirect_uris": ["https://a.example/cb"],
            });
            said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read(id, said.to_string().as_bytes(), &targets).map(|said| said.name)
        };
        assert_eq!(read(serde_json::json!({})), Ok("A".to_owned()));
        for bad in [
            serde_json::json!({ "client_id": "https://a.example/c/" }),
            serde_json::json!({ "client_name": null }),
            serde_json::json!({ "client_name": "\u{3164}" }),
            serde_json::json!({ "redirect_uris": ["http://a.example/cb"] }),
            serde_json::json!({ "redirect_uris": ["https://own.example/cb"] }),
            serde_json::json!({ "token_endpoint_auth_method": "client_secret_basic" }),
            serde_json::json!({ "token_endpoint_auth_method": "private_key_jwt" }),
            serde_json::json!({ "client_secret": "x" }),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
        assert!(super::read(id, b"[]", &targets).is_err());
    }
}
