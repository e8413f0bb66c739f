//! API keys: what they allow, from where, how often and until when.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::{PROPAGATION, Site};
use crate::support::wait::until;

const SUSPEND: &str = "/api/v1/alunos/suspender";

/// A call that reaches its handler with a valid key with the scope `write`,
/// from an address that a proxy on this machine names.
fn ask(key: &Actor<'_>, address: &str) -> Reply {
    let body = json!({ "email": "ninguem@example.com" });
    let request = Request::new("POST", SUSPEND).json(&body);
    key.send(request.header("X-Forwarded-For", address))
}

/// The same from this machine.
fn ask_here(key: &Actor<'_>) -> Reply {
    key.post(SUSPEND, &json!({ "email": "ninguem@example.com" }))
}

fn behind_a_proxy() -> Site {
    Site::builder().config("server.trusted_proxies", vec!["127.0.0.1"]).start()
}

#[track_caller]
fn is(reply: &Reply, status: u16, code: &str) {
    assert_eq!((reply.status, &*reply.code()), (status, code), "{reply}");
    assert_eq!(reply.json()["success"], false, "{reply}");
}

/// Limit and rest of the window in which a call was counted.
#[track_caller]
fn left(reply: &Reply) -> (i64, i64) {
    let number = |name: &str| {
        let value = reply.header(name).unwrap_or_else(|| panic!("no {name}\n{reply}"));
        value.parse().unwrap()
    };
    (number("x-ratelimit-limit"), number("x-ratelimit-remaining"))
}

#[test]
fn a_command_prints_the_key_alone() {
    let site = Site::start();
    let create = |more: &[&str]| {
        let fixed = ["key", "create", "--name", "CRM de vendas"];
        site.command(&[&fixed[..], more].concat())
    };
    let printed =
        create(&["--scope", "write", "--scope", "admin", "--ip", "::ffff:203.0.113.7"]).ok();
    let digits = printed.trim_end().strip_prefix("spk_").unwrap_or_default();
    assert!(
        digits.len() == 48 && digits.bytes().all(|b| b"0123456789abcdef".contains(&b)),
        "{printed:?}"
    );
    assert_eq!(printed.lines().count(), 1);
    let last_day = ["--scope", "write", "--expires", "2026-11-20", "--rate-limit", "5"];
    create(&last_day).ok();
    let listed = site.command(&["key", "list"]).ok();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    for part in ["1", &digits[..8], "active", "write,admin", "203.0.113.7", "CRM de vendas"] {
        assert!(lines[2].contains(part), "{part}: {listed}");
    }
    assert!(!listed.contains(digits), "{listed}");
    assert!(lines[1].contains("2026-11-21 00:00:00"), "{listed}");
    for (more, code) in [
        (&[][..], 2),
        (&["--scope", "read"], 2),
        (&["--scope", "write", "--ip", "0177.0.0.1"], 2),
        (&["--scope", "write", "--rate-limit", "0"], 2),
        (&["--scope", "write", "--expires", "31/12/2026"], 2),
        (&["--scope", "write", "--expires=-99999-1-1"], 2),
        (&["--scope", "write", "--expires", "+99999-1-1"], 2),
        (&["--scope", "write", "--expires", "2026-11-19"], 1),
    ] {
        let outcome = create(more).exits(code);
        assert_eq!(outcome.stdout, "", "{more:?}");
    }
    site.command(&["key", "revoke", "99"]).exits(1);
    let audit = "SELECT actor_kind || ' ' || action || ' ' || object_name FROM audit WHERE object_kind = 'chave'";
    assert_eq!(site.stored(audit), ["comando chave.criar CRM de vendas"; 2]);
}

#[test]
fn checks_come_in_their_order() {
    let site = behind_a_proxy();
    let listed = ["--ip", "203.0.113.0/24", "--rate-limit", "2"];
    let receiver = site.key_with(&["webhook_receive"], &listed);
    let writer = site.key_with(&["write"], &listed);
    let (inside, outside) = ("203.0.113.9", "198.51.100.9");
    for wrong in [
        site.anonymous(),
        site.bearer("spk_"),
        site.bearer(&format!("spk_{}", "0".repeat(48))),
        site.bearer(&"f".repeat(64)),
        site.extension("ana"),
        site.seller("ana").plan("pro"),
        site.administrator(),
    ] {
        let reply = ask(&wrong, outside);
        is(&reply, 401, "unauthorized");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    }
    // Neither the address nor the scope is right: the address comes first.
    is(&ask(&receiver, outside), 403, "ip_not_allowed");
    let reply = ask(&receiver, inside);
    is(&reply, 403, "insufficient_scope");
    let challenge = "Bearer error=\"insufficient_scope\"";
    assert_eq!(reply.header("www-authenticate"), Some(challenge));
    is(&ask(&writer, inside), 404, "not_found");
    is(&ask(&writer, inside), 404, "not_found");
    // The window is used up, and still the address comes first.
    is(&ask(&writer, inside), 429, "rate_limited");
    is(&ask(&writer, outside), 403, "ip_not_allowed");
    // The scope is checked before the body.
    let rubbish = Request::new("POST", SUSPEND).body("application/json", b"{");
    is(&receiver.send(rubbish.header("X-Forwarded-For", inside)), 403, "insufficient_scope");
}

#[test]
fn a_key_has_a_window_of_its_own() {
    let site = behind_a_proxy();
    let (usual, own) = (site.key(&["write"]), site.key_with(&["admin"], &["--rate-limit", "3"]));
    let here = "203.0.113.1";
    for remaining in (0..60).rev() {
        assert_eq!(left(&ask(&usual, here)), (60, remaining));
    }
    let refused = ask(&usual, "203.0.113.2");
    is(&refused, 429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    for remaining in (0..3).rev() {
        assert_eq!(left(&ask(&own, here)), (3, remaining));
    }
    is(&ask(&own, here), 429, "rate_limited");
    // A call that the key's window rejects does not count against the address.
    let wrong = site.bearer(&format!("spk_{}", "0".repeat(48)));
    assert_eq!(left(&ask(&wrong, here)), (60, 59));
    site.clock().advance_s(60);
    assert_eq!(left(&ask(&own, here)), (3, 2));
}

#[test]
fn what_is_refused_counts_against_the_address() {
    let site = Site::builder()
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .config("limits.requests", 4)
        .start();
    let listed = site.key_with(&["webhook_receive"], &["--ip", "203.0.113.7"]);
    let wrong = site.bearer(&format!("spk_{}", "0".repeat(48)));
    let thief = "198.51.100.9";
    for remaining in [3, 2] {
        assert_eq!(left(&ask(&listed, thief)), (4, remaining));
    }
    for remaining in [1, 0] {
        assert_eq!(left(&ask(&wrong, thief)), (4, remaining));
    }
    is(&ask(&wrong, thief), 429, "rate_limited");
    is(&ask(&listed, thief), 429, "rate_limited");
    // The owner's address, and the key's own window, are as they were.
    let reply = ask(&listed, "203.0.113.7");
    is(&reply, 403, "insufficient_scope");
    assert_eq!(left(&reply), (4, 3));
}

#[test]
fn a_list_of_addresses_holds_behind_a_proxy_and_in_any_notation() {
    let site = Site::builder()
        .unlimited()
        .config("server.trusted_proxies", vec!["127.0.0.1", "10.0.0.0/8"])
        .start();
    let listed = ["203.0.113.7", "198.51.100.0/24", "2001:db8:7::/48", "2001:db8:8::1"];
    let arguments: Vec<&str> = listed.into_iter().flat_map(|net| ["--ip", net]).collect();
    let key = site.key_with(&["write"], &arguments);
    for (forwarded, admitted) in [
        ("203.0.113.7", true),
        ("::ffff:203.0.113.7", true),
        ("203.0.113.8", false),
        ("198.51.100.255", true),
        ("198.51.101.0", false),
        ("2001:db8:7:ffff::1", true),
        ("[2001:db8:7::1]:443", true),
        ("2001:db8:6::1", false),
        ("2001:db8:8::1", true),
        ("2001:db8:8::2", false),
        // Only what the trusted proxy saw counts.
        ("203.0.113.7, 192.0.2.1", false),
        ("192.0.2.1, 203.0.113.7", true),
        ("203.0.113.7, 10.1.2.3", true),
        ("rubbish", false),
    ] {
        let reply = ask(&key, forwarded);
        let expected = if admitted { "not_found" } else { "ip_not_allowed" };
        assert_eq!(reply.code(), expected, "{forwarded}\n{reply}");
    }
    let direct = Site::start();
    let key = direct.key_with(&["write"], &["--ip", "203.0.113.7"]);
    is(&ask(&key, "203.0.113.7"), 403, "ip_not_allowed");
    let own = direct.key_with(&["write"], &["--ip", "127.0.0.0/8"]);
    is(&ask_here(&own), 404, "not_found");
}

#[test]
fn a_key_works_through_its_last_day() {
    let site = Site::start();
    let key = site.key_with(&["write"], &["--expires", "2026-11-21"]);
    is(&ask_here(&key), 404, "not_found");
    // The day ends in the configured zone: São Paulo is three hours behind UTC.
    site.clock().set("2026-11-22T02:59:59Z");
    is(&ask_here(&key), 404, "not_found");
    site.clock().set("2026-11-22T03:00:00Z");
    is(&ask_here(&key), 401, "unauthorized");
    assert!(site.command(&["key", "list"]).ok().contains("expired"));
}

#[test]
fn a_revoked_key_stops_beside_the_server() {
    let site = Site::start();
    let (one, other) = (site.key(&["write"]), site.key(&["write"]));
    for key in [&one, &other] {
        is(&ask_here(key), 404, "not_found");
    }
    let said = site.command(&["key", "revoke", "1"]).ok();
    assert!(said.contains("no longer works"), "{said}");
    until("the server notices", PROPAGATION, || (ask_here(&one).status == 401).then_some(()));
    is(&ask_here(&other), 404, "not_found");
    let said = site.command(&["key", "revoke", "1"]).ok();
    assert!(said.contains("before"), "{said}");
    let audit = "SELECT action FROM audit WHERE object_kind = 'chave' AND object_id = '1' ORDER BY audit_id";
    assert_eq!(site.stored(audit), ["chave.criar", "chave.revogar"]);
}

#[test]
fn a_key_tells_its_last_use() {
    let site = behind_a_proxy();
    let key = site.key_with(&["write"], &["--rate-limit", "2"]);
    site.key(&["write"]);
    let stored = || {
        let sql =
            "SELECT coalesce(last_used_at || ' ' || last_address || ' ' || last_route, 'never')
                   FROM api_key ORDER BY key_id";
        site.stored(sql)
    };
    assert_eq!(stored(), ["never", "never"]);
    ask(&key, "2001:db8::7");
    // A use within the same minute is noted as well, and a rejected one is not.
    site.clock().advance_s(2);
    ask(&key, "203.0.113.7");
    let at = site.clock().now().as_second();
    site.clock().advance_s(2);
    ask(&key, "203.0.113.8").expect(429);
    let expected = format!("{at} 203.0.113.7 POST {SUSPEND}");
    until("the use is written", PROPAGATION, || (stored()[0] == expected).then_some(()));
    site.stop();
    site.start_again();
    assert_eq!(stored(), [&expected, "never"]);
}

#[test]
fn any_origin_may_call_and_read() {
    let site = Site::start();
    let key = site.key(&["write"]);
    let origin = "https://crm.example.com";
    let preflight = Request::new("OPTIONS", SUSPEND)
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "authorization, content-type");
    let reply = site.anonymous().send(preflight).expect(204);
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    let body = json!({ "email": "ninguem@example.com" });
    let request = Request::new("POST", SUSPEND).json(&body).header("Origin", origin);
    for reply in [key.send(request.clone()), site.anonymous().send(request)] {
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{reply}");
    }
}

#[test]
fn a_key_opens_nothing_else() {
    let site = Site::builder().unlimited().start();
    let key = site.key(&["admin"]);
    for path in ["/api/ext/me", "/api/v1/partner/health"] {
        assert_eq!(key.get(path).expect(401).code(), "unauthorized");
    }
    let page = Request::new("GET", "/admin/planos").header("Accept", "application/json");
    key.send(page).expect(401);
    let none: Value = site.anonymous().get("/api/v1/planos").ok();
    assert_eq!(key.get("/api/v1/planos").ok(), none);
}
