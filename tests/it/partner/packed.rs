//! Answers as gzip, and their tags: a copy is good whichever way it came.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::alter;
use crate::support::site::Site;

const BASE: &str = "/api/v1/partner";
/// The least of what is compressed, and the most of what is compressed at once.
const LEAST: usize = 1_024;
const AT_ONCE: usize = 64 * 1024;

fn ask(actor: &Actor<'_>, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = Request::new("GET", path);
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    actor.send_apart(request)
}

#[track_caller]
fn unpacked(reply: &Reply) -> Vec<u8> {
    assert_eq!(reply.header("content-encoding"), Some("gzip"), "{reply}");
    reply.plain().into_owned()
}

/// Gives somebody products, so that lists are long.
fn products(site: &Site, actor: &Actor<'_>, count: usize) {
    let email = &actor.person().email;
    alter(
        site,
        &format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO product (owner_id, sku, ean, title, cost_cents, price_cents, stock, \
             created_at, updated_at, search_key) \
         SELECT user_id, 'SKU-' || i, '', 'Copo de vidro ' || i, 1, 2, 3, 0, 0, 'copo' \
         FROM n, user WHERE email = '{email}'"
        ),
    );
}

#[test]
fn a_long_answer_is_packed_for_who_takes_it_and_a_short_one_never() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("scale");
    products(&site, &ana, 600);
    let list = format!("{BASE}/products?limit=20");
    let plain = ask(&ana, &list, &[]).expect(200);
    assert!((LEAST..AT_ONCE).contains(&plain.body.len()), "{} bytes", plain.body.len());
    assert_eq!(
        (plain.header("content-encoding"), plain.header("vary")),
        (None, Some("Accept-Encoding"))
    );
    let strong = plain.header("etag").unwrap().to_owned();
    assert!(strong.starts_with('"'), "{strong}");

    let gzip = ("Accept-Encoding", "br, gzip");
    let packed = ask(&ana, &list, &[gzip]).expect(200);
    assert!(packed.body.len() * 2 < plain.body.len(), "{} bytes", packed.body.len());
    assert_eq!(unpacked(&packed), plain.body);
    assert_eq!(packed.header("vary"), Some("Accept-Encoding"));
    // Two encodings of one content are two representations.
    let weak = format!("W/{strong}");
    assert_eq!(packed.header("etag"), Some(&*weak));
    assert_eq!(ask(&ana, &list, &[("Accept-Encoding", "gzip;q=0")]).header("etag"), Some(&*strong));

    // A copy is good whichever of both ways it came, and whichever is taken now.
    for copy in [&strong, &weak] {
        let unchanged = ask(&ana, &list, &[("If-None-Match", copy)]).expect(304);
        assert_eq!(unchanged.header("etag"), Some(&*strong));
        let unchanged = ask(&ana, &list, &[("If-None-Match", copy), gzip]).expect(304);
        assert_eq!(unchanged.header("etag"), Some(&*weak));
        assert_eq!(unchanged.header("vary"), Some("Accept-Encoding"));
        assert_eq!(unchanged.header("content-encoding"), None);
    }
    let head = Request::new("HEAD", &list).header(gzip.0, gzip.1);
    let head = ana.send_apart(head).expect(200);
    assert_eq!((head.header("content-encoding"), head.body.len()), (Some("gzip"), 0));

    let short = ask(&ana, &format!("{BASE}/stores"), &[gzip]).expect(200);
    assert!(short.body.len() < LEAST);
    assert_eq!((short.header("content-encoding"), short.header("vary")), (None, None));
    assert!(short.header("etag").unwrap().starts_with('"'));
}

#[test]
fn what_is_large_is_packed_while_it_is_sent() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("scale");
    products(&site, &ana, 200);
    // 12,000 movements: more than one step of what compresses.
    alter(
        &site,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) \
         INSERT INTO stock_movement (product_id, movement_id, kind, quantity, change, balance, \
             reason, created_at, number) \
         SELECT product_id, i, 1, 1, 1, i, 'contagem ' || i || ' de ' || sku, i, \
             product_id * 100 + i FROM product, n",
    );
    for path in [&*format!("{BASE}/stock?limit=200&movements=100"), "/openapi.json"] {
        let plain = ask(&ana, path, &[]).expect(200);
        assert!(plain.body.len() > AT_ONCE, "{path}: {} bytes", plain.body.len());
        let packed = ask(&ana, path, &[("Accept-Encoding", "gzip")]).expect(200);
        assert_eq!(packed.header("content-length"), None, "its length is not known before");
        assert!(packed.body.len() * 4 < plain.body.len(), "{path}: {} bytes", packed.body.len());
        assert_eq!(unpacked(&packed), plain.body, "{path}");
    }
}

#[test]
fn answers_to_assistants_and_errors_are_packed_too() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("scale");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let request = Request::new("POST", "/mcp")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2025-11-25")
        .header("Accept-Encoding", "gzip")
        .json(&list);
    let reply = ana.send_apart(request).expect(200);
    unpacked(&reply);
    let tools = reply.json();
    assert!(tools["result"]["tools"].as_array().unwrap().len() > 5, "{tools}");
    // Many faults make a long error.
    let names: Vec<String> = (0..60).map(|at| format!("desconhecido_{at}=1")).collect();
    let path = format!("{BASE}/orders?{}", names.join("&"));
    let error = ask(&ana, &path, &[("Accept-Encoding", "gzip")]).expect(400);
    unpacked(&error);
    assert_eq!(error.code(), "validation_failed");
}
