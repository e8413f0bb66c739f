//! Bodies of JSON with millions of small values, each of which would take
//! hundreds of bytes as a tree.

use std::time::Duration;

use serde_json::json;

use super::{besieged, narrow};
use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::dropshipping::relate;
use crate::support::site::{CHECKOUT_TOKEN, Site};
use crate::support::wait::until;

const PRODUCTS: &str = "/painel/produtos/importar";
const CHECKOUT: &str = "/api/v1/webhook/checkout";
const MOST: usize = 8 * 1024 * 1024;
const REFUSED: &str = "too many values; at most 10000";

/// A body of `bytes` bytes at most that is filled up with `piece`.
fn filled(bytes: usize, head: &str, piece: &str, tail: &str) -> String {
    let count = (bytes - head.len() - tail.len()) / (piece.len() + 1);
    format!("{head}{}{tail}", vec![piece; count].join(","))
}

fn request(path: &str, body: &str) -> Request {
    let request = Request::new("POST", path).header("Accept", "application/json");
    request.body("application/json", body.as_bytes())
}

fn send(actor: &Actor<'_>, path: &str, body: &str) -> Reply {
    actor.send(request(path, body))
}

/// Sends a body until there is room for it.
#[track_caller]
fn refused(actor: &Actor<'_>, path: &str, body: &str) {
    let reply = until("there is room for it", Duration::from_mins(2), || {
        let reply = actor.send_apart(request(path, body));
        let is_put_off = reply.status == 503;
        assert!(!is_put_off || reply.header("retry-after").is_some(), "{reply}");
        (!is_put_off).then_some(reply)
    });
    assert!(reply.expect(422).text().contains(REFUSED));
}

#[test]
fn several_accounts_send_millions_of_values_at_once() {
    let site = narrow(Site::builder().unlimited());
    let ana = site.person("ana");
    let lists = ["{\"\":0}", "[]", "0", "[[],{}]", "{\"a\":{\"b\":\"\"}}"]
        .map(|piece| filled(MOST, "{\"csv\":[", piece, "]}"));
    // Beside a good list, and never closed.
    let others = [
        filled(MOST, "{\"csv\":\"sku,title,price\",\"x\":[", "\"\"", "]}"),
        filled(MOST, "{\"csv\":[", "{\"\":0}", ""),
    ];
    let people = ["eve", "rui", "bia"].map(|name| site.person(name));
    besieged(&site, &ana, "/painel", || {
        std::thread::scope(|scope| {
            for actor in &people {
                scope.spawn(|| {
                    for list in lists.iter().chain(&others) {
                        refused(actor, PRODUCTS, list);
                    }
                });
            }
        });
    });
    // The largest that is read: a text of any length is one value.
    let rows = "A,Um,1\n".repeat(20_000);
    let reply = people[0].post(PRODUCTS, &json!({ "csv": format!("sku,title,price\n{rows}") }));
    assert!(reply.expect(422).text().contains("row 3"), "all rows were looked at");
}

#[test]
fn every_receiver_of_json_counts_before_it_reads() {
    let site = narrow(Site::builder().unlimited());
    let (ana, extension) = (site.person("ana"), site.extension("eve"));
    let (seller, nobody, admin) =
        (site.seller("rui").plan("pro"), site.anonymous(), site.administrator());
    let supplier = site.supplier("sol").plan("pro");
    relate(&site, &supplier, &seller);
    let pieces =
        |bytes: usize, name: &str| filled(bytes, &format!("{{\"{name}\":["), "{\"\":0}", "]}");
    let message = |bytes: usize| {
        let head = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":["#;
        filled(bytes, head, "{\"\":0}", "]}}")
    };
    let count = 250 * 1024;
    besieged(&site, &ana, "/painel", || {
        refused(&admin, "/admin/alunos/importar", &pieces(MOST, "csv"));
        refused(
            &site.person_as("sol", "drop"),
            "/fornecedor/vinculos/importar",
            &pieces(count, "csv"),
        );
        let reply = send(&seller, "/mcp", &message(1024 * 1024)).expect(413).json();
        assert_eq!(reply["error"]["code"], 413);
        for _ in 0..50 {
            let reply = send(&seller, "/mcp", &message(count)).expect(400).json();
            assert_eq!(reply["error"]["code"], -32600, "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains(REFUSED), "{reply}");
        }
        let bulk = "/api/v1/partner/drop/catalog/links/bulk";
        let reply = send(&supplier, bulk, &pieces(count, "csv")).expect(400);
        assert_eq!(reply.code(), "invalid_body");
        assert!(reply.text().contains(REFUSED), "{reply}");
        refused(
            &extension,
            "/api/ext/notificacoes/lidas",
            &filled(60_000, "{\"ids\":[", "0", "]}"),
        );
        let event = Request::new("POST", CHECKOUT).header("X-Hotmart-Hottok", CHECKOUT_TOKEN);
        let event = event.body("application/json", pieces(count, "data").as_bytes());
        assert!(nobody.send(event).expect(422).text().contains(REFUSED));
    });
}

#[test]
fn a_list_in_json_is_a_text() {
    let site = Site::builder().unlimited().start();
    let (ana, sol) = (site.person("ana"), site.supplier("sol").plan("pro"));
    relate(&site, &sol, &site.seller("rui").plan("pro"));
    for wrong in ["7", "[]", "{}", "true", "[[\"sku\"]]", "{\"\":0}"] {
        let body = format!("{{\"csv\":{wrong}}}");
        let fields = send(&ana, PRODUCTS, &body).expect(422).json();
        assert_eq!(fields["fields"]["csv"], "must be text", "{wrong}");
        let refused = send(&sol, "/api/v1/partner/drop/catalog/links/bulk", &body).expect(400);
        assert_eq!(refused.code(), "invalid_body");
        assert_eq!(refused.json()["error"]["fields"]["csv"], "must be text", "{wrong}");
    }
    for absent in ["{}", "{\"csv\":null}"] {
        let fields = send(&ana, PRODUCTS, absent).expect(422).json();
        assert_eq!(fields["fields"]["csv"], "is required", "{absent}");
    }
}

#[test]
fn a_field_comes_once_at_any_level() {
    let site = Site::builder().unlimited().start();
    let (ana, seller) = (site.person("ana"), site.seller("rui").plan("pro"));
    for twice in [
        r#""params":{"name":"health","name":"list_orders"}"#,
        r#""params":{"name":"list_orders","arguments":{"limit":1,"limit":2}}"#,
        r#""params":{"name":"list_orders","arguments":{"limit":1,"\u006cimit":2}}"#,
        r#""params":{"name":"health","arguments":{},"arguments":{}}"#,
        r#""params":{"name":"health"},"id":8"#,
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call",{twice}}}"#);
        let reply = send(&seller, "/mcp", &body).expect(400);
        assert_eq!(reply.json()["error"]["code"], -32600, "{twice}");
    }
    let body =
        r#"{"channel":"email","event":"custom","title":"Oi","body":"x","outro":{"a":1,"a":2}}"#;
    let reply = send(&seller, "/api/v1/partner/notify", body).expect(400);
    assert_eq!(reply.code(), "invalid_body");
    let body = r#"{"csv":"sku\nA","csv":"sku\nB"}"#;
    assert_eq!(send(&ana, PRODUCTS, body).expect(422).code(), "validation_failed");
}
