//! Calls that cost nothing: too large, or rejected for another reason.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Connection, Reply};
use crate::support::site::Site;

const HEALTH: &str = "/api/v1/partner/health";
const READ: &str = "/api/ext/notificacoes/lidas";
const PLANS: &str = "/api/v1/planos";
const SUSPEND: &str = "/api/v1/alunos/suspender";

/// The largest body that the sites here accept, for rows of every kind.
const LARGEST: usize = 1024;

fn small_site() -> Site {
    Site::builder()
        .config("server.max_body_bytes", i64::try_from(LARGEST).unwrap())
        .config("partner.plans.starter.quota", 4)
        .config("partner.plans.starter.per_minute", 3)
        .config("limits.requests", 3)
        .start()
}

/// A call whose body is being sent.
struct Arriving {
    connection: Connection,
    line: String,
}

impl Arriving {
    /// Sends the head of a call with a credential, or without one.
    fn open(site: &Site, token: Option<&str>, line: &str, framing: &str) -> Self {
        let mut connection = Connection::open(site.address()).unwrap();
        let token =
            token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        let host = site.address();
        connection.write(
            format!("{line} HTTP/1.1\r\nHost: {host}\r\n{token}{framing}\r\n\r\n").as_bytes(),
        );
        Self { connection, line: line.to_owned() }
    }

    fn chunk(&mut self, body: &str) {
        self.connection.write(format!("{:x}\r\n{body}\r\n", body.len()).as_bytes());
    }

    fn reply(mut self) -> Reply {
        self.connection.read_reply(&self.line).unwrap().expect("an answer")
    }

    fn end(mut self) -> Reply {
        self.connection.write(b"0\r\n\r\n");
        self.reply()
    }
}

const CHUNKED: &str = "Content-Type: application/json\r\nTransfer-Encoding: chunked";

/// A call with a chunked body of `size` bytes.
fn chunked(actor: &Actor<'_>, line: &str, size: usize) -> Reply {
    let mut call = Arriving::open(actor.site(), Some(actor.bearer_token()), line, CHUNKED);
    call.chunk(&" ".repeat(size));
    call.end()
}

fn declared(actor: &Actor<'_>, line: &str, size: usize) -> Reply {
    let framing = format!("Content-Type: application/json\r\nContent-Length: {size}");
    Arriving::open(actor.site(), Some(actor.bearer_token()), line, &framing).reply()
}

#[track_caller]
fn left(reply: &Reply) -> &str {
    reply.header("x-ratelimit-remaining").unwrap_or_else(|| panic!("no header\n{reply}"))
}

#[test]
fn a_partner_call_that_is_too_large_costs_nothing() {
    let site = small_site();
    let ana = site.seller("ana").plan("starter");
    for path in [HEALTH, "/v1/partner/orders"] {
        let line = format!("GET {path}");
        for _ in 0..5 {
            let refused = chunked(&ana, &line, LARGEST + 1).expect(413);
            assert_eq!(left(&refused), "3", "{refused}");
            assert_eq!(refused.code(), "payload_too_large");
            declared(&ana, &line, LARGEST + 1).expect(413);
        }
    }
    ana.post(HEALTH, &json!({})).expect(405);
    assert_eq!(left(&chunked(&ana, &format!("GET {HEALTH}"), LARGEST).expect(200)), "2");
    assert_eq!(left(&ana.get("/v1/partner/orders").expect(200)), "1");
    // A call whose body is invalid in another way counts.
    let broken = Arriving::open(&site, Some(ana.bearer_token()), &format!("GET {HEALTH}"), CHUNKED);
    let mut broken = broken;
    broken.connection.write(b"zz\r\n");
    assert_eq!(left(&broken.reply().expect(400)), "0");
    ana.get(HEALTH).expect(429);
    site.stop();
    let counted = site.stored("SELECT CAST(sum(calls) AS TEXT) FROM partner_usage");
    assert_eq!(counted, ["3"]);
}

#[test]
fn an_api_call_that_is_too_large_costs_nothing() {
    let site = small_site();
    let (ana, key) = (site.extension("ana"), site.key(&["write"]));
    for (actor, path, fine) in [(&ana, READ, 422), (&key, SUSPEND, 422)] {
        let line = format!("POST {path}");
        for _ in 0..5 {
            let refused = chunked(actor, &line, LARGEST + 1).expect(413);
            assert_eq!(left(&refused), "3", "{refused}");
            declared(actor, &line, LARGEST + 1).expect(413);
        }
        assert_eq!(left(&chunked(actor, &line, LARGEST).expect(fine)), "2", "{path}");
    }
}

#[test]
fn an_open_call_that_is_too_large_costs_its_address_nothing() {
    let site = small_site();
    for (line, status) in [("POST /api/ext/auth", 422), (&format!("GET {PLANS}"), 200)] {
        for _ in 0..5 {
            let mut call = Arriving::open(&site, None, line, CHUNKED);
            call.chunk(&" ".repeat(LARGEST + 1));
            assert_eq!(call.end().expect(413).header("x-ratelimit-limit"), Some("3"));
        }
        let mut call = Arriving::open(&site, None, line, CHUNKED);
        call.chunk("{}");
        call.end().expect(status);
    }
    assert_eq!(left(&site.anonymous().get(PLANS).expect(200)), "0");
}

#[test]
fn a_used_up_window_is_refused_before_the_body() {
    let site = small_site();
    let ana = site.seller("ana").plan("starter");
    for _ in 0..3 {
        ana.get(HEALTH).expect(200);
    }
    let call = Arriving::open(&site, Some(ana.bearer_token()), &format!("GET {HEALTH}"), CHUNKED);
    let refused = call.reply().expect(429);
    assert_eq!((left(&refused), &*refused.code()), ("0", "rate_limited"));
    // A caller without a valid token is rejected before more of the body is read.
    let line = format!("GET {HEALTH}");
    Arriving::open(&site, Some("ptk_0000"), &line, CHUNKED).reply().expect(401);
}

#[test]
fn a_call_counts_in_the_window_in_which_its_body_ends() {
    let site = small_site();
    let ana = site.seller("ana").plan("starter");
    let line = format!("GET {HEALTH}");
    let expecting = format!("{CHUNKED}\r\nExpect: 100-continue");
    let mut slow = Arriving::open(&site, Some(ana.bearer_token()), &line, &expecting);
    // The call has passed the guard.
    assert!(slow.connection.read_head_only().unwrap().contains(" 100 "));
    site.clock().advance_s(61);
    assert_eq!(left(&ana.get(HEALTH).expect(200)), "2");
    assert_eq!(left(&slow.end().expect(200)), "1");
    assert_eq!(left(&ana.get(HEALTH).expect(200)), "0");
    ana.get(HEALTH).expect(429);
}

#[test]
fn a_used_up_quota_costs_no_place_in_the_window() {
    let site = small_site();
    let ana = site.seller("ana").plan("starter");
    for _ in 0..2 {
        ana.get(HEALTH).expect(200);
        ana.get(HEALTH).expect(200);
        site.clock().advance_s(60);
    }
    for _ in 0..5 {
        let refused = ana.get(HEALTH).expect(429);
        assert_eq!(refused.code(), "quota_exceeded", "{refused}");
    }
}
