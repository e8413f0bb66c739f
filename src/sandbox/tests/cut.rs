//! Answers that end too early, as they are on the wire.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use super::Site;

/// The bytes that a call receives until the connection is closed.
fn raw(site: &Site, path: &str, token: &str) -> String {
    let address = site.running.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let limit = std::time::Duration::from_secs(10);
    stream.set_read_timeout(Some(limit)).unwrap();
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).unwrap();
    String::from_utf8(got).unwrap()
}

#[test]
fn a_truncated_answer_promises_all_and_sends_half() {
    let (site, token) = Site::linked();
    let whole = site.get("/users/me", &token).text;
    site.control("faults", &json!({ "path_prefix": "/users", "kind": "truncated" }));
    let got = raw(&site, "/users/me", &token);
    let (head, body) = got.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let promised = format!("content-length: {}", whole.len());
    assert!(head.lines().any(|line| line == promised), "{head}");
    assert_eq!(body, &whole[..whole.len() / 2]);
}

#[test]
fn a_lost_answer_sends_nothing() {
    let (site, token) = Site::linked();
    site.control("faults", &json!({ "path_prefix": "/users", "kind": "lost_response" }));
    assert_eq!(raw(&site, "/users/me", &token), "");
}
