//! Bytes from strangers in front of every handler: heads, paths, queries and forms.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use serde::Deserialize;
use serde_json::Value;

use super::head::check_head;
use super::input::{self, Check, Field};
use super::router::{Found, Router};
use super::structure;
use crate::base::fuzz::fuzz;

#[derive(Deserialize)]
struct Anything {
    #[serde(default)]
    nome: Field<String>,
    #[serde(default)]
    limit: Field<i64>,
    #[serde(default)]
    ativo: Field<bool>,
    #[serde(default)]
    escopos: Field<Vec<String>>,
}

/// Reads the fields, as a handler does.
fn check(sent: Anything) {
    let mut check = Check::json();
    check.line("nome", sent.nome, 1..=40);
    check.number("limit", sent.limit, 1..=200);
    let _ = (sent.ativo.has_value(), sent.escopos.has_value());
    let _ = check.finish();
}

#[test]
fn heads() {
    fuzz("head", |bytes| {
        let whole = check_head(bytes);
        // What was found in a head never depends on what follows it.
        if let Ok(Some((length, _))) = whole {
            assert!(length <= bytes.len());
            let again = check_head(&bytes[..length]);
            assert!(matches!(again, Ok(Some((same, _))) if same == length));
        }
    });
}

#[test]
fn paths() {
    let rows = ["/", "/a", "/a/{id}", "/a/{id}/b", "/a/b", "/{code}.ics", "/api/v1/x/{id}/{other}"];
    let rows = rows.iter().enumerate().map(|(row, path)| (row, &Method::GET, *path, true));
    let router = Router::new(rows).unwrap();
    fuzz("router", |bytes| {
        let Ok(path) = std::str::from_utf8(bytes) else { return };
        for method in [Method::GET, Method::POST] {
            if let Found::Row(_, variables) = router.find(&method, path) {
                assert!(variables.iter().all(|(_, value)| path.contains(*value)));
            }
        }
    });
}

#[test]
fn queries() {
    fuzz("query", |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let _ = input::unrepeated(text);
        if let Ok(sent) = input::query::<Anything>(text) {
            check(sent);
        }
    });
}

#[test]
fn forms_and_json() {
    let as_media = |media: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        headers
    };
    let (form, json) =
        (as_media("application/x-www-form-urlencoded"), as_media("application/json"));
    fuzz("body", |bytes| {
        for headers in [&form, &json] {
            let _ = input::checked_form(headers, bytes.to_vec().into());
            if let Ok(sent) = input::form_or_json::<Anything>(headers, bytes) {
                check(sent);
            }
        }
        // What passes has as many values as are allowed, and can be read.
        if structure::check(bytes).is_ok() {
            let _ = serde_json::from_slice::<Value>(bytes);
        }
    });
}
