//! Requests that are not what they seem: ambiguous lengths, foreign hosts,
//! sizes around each limit, silence, unusual methods and paths.
//!
//! A rejected request closes its connection, and what was sent after it is
//! never executed: the second request of each case would show in the replies
//! and, by its request id, in the log.

use std::net::SocketAddr;
use std::time::Duration;

use crate::support::client::{Connection, Reply, Request};
use crate::support::site::{CRON_SECRET, Site};

/// A silent connection is closed after ten seconds; the rest is for busy machines.
const SILENCE_LIMIT: Duration = Duration::from_secs(20);

/// Headers of a POST whose framing must be rejected, with the body after them.
/// A second request, which must not be executed, is sent directly after it.
const SMUGGLED: [(&str, &str, &str); 37] = [
    ("length and chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    ("chunked and length", "Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
    ("no length and chunked", "Content-Length: 0\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    ("the same length twice", "Content-Length: 2\r\nContent-Length: 2", "{}"),
    ("two lengths", "Content-Length: 2\r\nContent-Length: 0", "{}"),
    ("two lengths, longer first", "Content-Length: 40\r\nContent-Length: 2", "{}"),
    ("a list of equal lengths", "Content-Length: 2, 2", "{}"),
    ("a list of lengths", "Content-Length: 2, 40", "{}"),
    ("a length with a sign", "Content-Length: +2", "{}"),
    ("a negative length", "Content-Length: -1", ""),
    ("a length with a blank in it", "Content-Length: 2 0", "{}"),
    ("a hexadecimal length", "Content-Length: 0x2", "{}"),
    ("a length with a parameter", "Content-Length: 2;q=1", "{}"),
    ("a length of letters", "Content-Length: two", "{}"),
    ("an empty length", "Content-Length:", "{}"),
    ("a length beyond numbers", "Content-Length: 99999999999999999999", "{}"),
    ("a length with a point", "Content-Length: 2.0", "{}"),
    ("an unknown coding", "Transfer-Encoding: xchunked", "0\r\n\r\n"),
    ("half a coding", "Transfer-Encoding: chunk", "0\r\n\r\n"),
    ("identity", "Transfer-Encoding: identity", "0\r\n\r\n"),
    ("chunked, then identity", "Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
    ("identity, then chunked", "Transfer-Encoding: identity, chunked", "0\r\n\r\n"),
    ("chunked twice in a list", "Transfer-Encoding: chunked, chunked", "0\r\n\r\n"),
    ("compressed and chunked", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
    ("quoted", "Transfer-Encoding: \"chunked\"", "0\r\n\r\n"),
    ("with a parameter", "Transfer-Encoding: chunked;q=1", "0\r\n\r\n"),
    ("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
    (
        "two codings, chunked last",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "0\r\n\r\n",
    ),
    (
        "chunked in two headers",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "0\r\n\r\n",
    ),
    ("a blank before the colon", "Transfer-Encoding : chunked", "0\r\n\r\n"),
    ("a vertical tab", "Transfer-Encoding:\x0bchunked", "0\r\n\r\n"),
    ("a folded coding", "Transfer-Encoding:\r\n chunked", "0\r\n\r\n"),
    ("a folded header", "X-Fold: a\r\n Transfer-Encoding: chunked", "0\r\n\r\n"),
    ("a bare return", "X-Return: a\rTransfer-Encoding: chunked", "0\r\n\r\n"),
    ("a zero byte", "X-Zero: a\0b\r\nContent-Length: 2", "{}"),
    ("a line without colon", "Transfer-Encoding chunked", "0\r\n\r\n"),
    ("a name that is none", "Transfer(Encoding): chunked", "0\r\n\r\n"),
];

/// Chunked bodies that are broken.
const BROKEN_CHUNKS: [(&str, &str); 6] = [
    ("a size with a prefix", "0x2\r\n{}\r\n0\r\n\r\n"),
    ("a negative size", "-2\r\n{}\r\n0\r\n\r\n"),
    ("a size beyond numbers", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    ("a size that ends in a bare feed", "2\n{}\r\n0\r\n\r\n"),
    ("data longer than its size", "1\r\n{}\r\n0\r\n\r\n"),
    ("no size", "\r\n{}\r\n0\r\n\r\n"),
];

#[test]
fn ambiguous_framing_is_refused_and_nothing_behind_it_runs() {
    let site = Site::start();
    let host = site.address();
    for (number, (what, headers, body)) in SMUGGLED.iter().enumerate() {
        let first = format!(
            "POST /api/ext/auth HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{headers}\r\n\r\n{body}"
        );
        refused(&site, what, &first, number);
    }
    for (number, (what, chunks)) in BROKEN_CHUNKS.iter().enumerate() {
        let first = format!(
            "POST /api/ext/auth HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
        );
        refused(&site, what, &first, 100 + number);
    }
    for (number, (what, line)) in [
        ("chunked in HTTP/1.0", "POST /api/ext/auth HTTP/1.0\r\nTransfer-Encoding: chunked"),
        ("another version", "GET /healthz HTTP/1.2"),
        ("the version of another protocol", "GET /healthz HTTP/2.0"),
        ("two blanks", "GET  /healthz HTTP/1.1"),
        ("no version", "GET /healthz"),
        ("a blank in the target", "GET /healthz a HTTP/1.1"),
        ("a tab in the method", "GE\tT /healthz HTTP/1.1"),
    ]
    .iter()
    .enumerate()
    {
        let first = format!("{line}\r\nHost: {host}\r\n\r\n");
        refused(&site, what, &first, 200 + number);
    }
    assert!(!site.log().contains("smuggled-"), "a request behind a refused one was executed");
}

/// Otherwise the test above could pass because pipelining never works.
#[test]
fn well_framed_requests_run_one_after_the_other() {
    let site = Site::start();
    let host = site.address();
    for (framing, second) in [
        ("Content-Length: 2\r\n\r\n{}", Some(200)),
        // A chunked body is read, and then the connection ends.
        ("Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", None),
        ("Transfer-Encoding: Chunked\r\n\r\n2;note=a\r\n{}\r\n0\r\n\r\n", None),
    ] {
        let mut connection = Connection::open(host).unwrap();
        let first = format!(
            "POST /api/ext/auth HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{framing}"
        );
        connection.write(format!("{first}{}", behind(host, "second")).as_bytes());
        let statuses = [422, 200].map(|_| reply(&mut connection).map(|reply| reply.status));
        assert_eq!(statuses, [Some(422), second], "{framing}");
    }
}

/// A good request is answered, whatever comes after it in the same packet.
#[test]
fn good_requests_before_a_bad_head_are_answered_first() {
    let site = Site::builder().unlimited().start();
    let host = site.address();
    let quick = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let slow = format!(
        "GET /api/v1/cron HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {CRON_SECRET}\r\n\r\n"
    );
    let written = format!(
        "POST /api/ext/logout HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    let large = format!("GET /assets/ui.css HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let long = format!("GET /healthz?{} HTTP/1.1\r\n\r\n", "a".repeat(9_000));
    for (bad, refused) in [
        ("rubbish\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("\0\0\0\0\0\0\0\0\n", 400),
        (&*long, 414),
    ] {
        for good in [&quick, &slow, &written, &large] {
            for count in [1, 3] {
                let what = format!("{count} × {good:?} before {:?}", &bad[..9]);
                let mut connection = Connection::open(host).unwrap();
                let all = format!("{}{bad}{quick}", good.repeat(count));
                connection.write(all.as_bytes());
                for _ in 0..count {
                    let answer = reply(&mut connection).unwrap_or_else(|| panic!("{what}"));
                    assert!(answer.status < 400 || answer.status == 404, "{what}\n{answer}");
                }
                let last = reply(&mut connection).unwrap_or_else(|| panic!("{what}: no refusal"));
                assert_eq!(last.status, refused, "{what}\n{last}");
                assert_eq!(last.header("connection"), Some("close"), "{what}\n{last}");
                assert!(connection.is_closed_within(SILENCE_LIMIT), "{what}: answers again");
            }
        }
    }
    // Also when the bad head comes while the good request is still being handled.
    let mut connection = Connection::open(host).unwrap();
    connection.write(slow.as_bytes());
    connection.write(b"rubbish\r\n\r\n");
    let statuses = [200, 400].map(|_| reply(&mut connection).map(|reply| reply.status));
    assert_eq!(statuses, [Some(200), Some(400)]);
    assert!(connection.is_closed_within(SILENCE_LIMIT));
}

#[test]
fn exactly_one_host_and_it_is_ours() {
    let site = Site::start();
    let address = site.address();
    let port = address.port();
    for (expected, request) in [
        (400, "GET /api/v1/planos HTTP/1.1\r\n\r\n".to_owned()),
        (400, format!("GET /api/v1/planos HTTP/1.1\r\nHost: {address}\r\nHost: {address}\r\n\r\n")),
        (400, "GET /api/v1/planos HTTP/1.1\r\nHost: example.com\r\n\r\n".to_owned()),
        (400, "GET /api/v1/planos HTTP/1.1\r\nHost:\r\n\r\n".to_owned()),
        (400, format!("GET /api/v1/planos HTTP/1.1\r\nHost: {address}@example.com\r\n\r\n")),
        (400, format!("GET /api/v1/planos HTTP/1.1\r\nHost: {address}, example.com\r\n\r\n")),
        (400, format!("GET /api/v1/planos HTTP/1.1\r\nHost: 127.0.0.1.example.com:{port}\r\n\r\n")),
        (400, format!("GET http://example.com/api/v1/planos HTTP/1.1\r\nHost: {address}\r\n\r\n")),
        (
            400,
            "GET http://example.com/api/v1/planos HTTP/1.1\r\nHost: example.com\r\n\r\n".to_owned(),
        ),
        // The host is checked before the path and before the method.
        (400, "PUT /nada HTTP/1.1\r\nHost: example.com\r\n\r\n".to_owned()),
        (200, format!("GET /api/v1/planos HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")),
        (200, format!("GET /api/v1/planos HTTP/1.1\r\nHost: [::1]:{port}\r\n\r\n")),
        (200, "GET /healthz HTTP/1.1\r\nHost: example.com\r\n\r\n".to_owned()),
        (200, "GET /readyz HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n".to_owned()),
    ] {
        let mut connection = Connection::open(address).unwrap();
        connection.write(request.as_bytes());
        let reply = reply(&mut connection).unwrap_or_else(|| panic!("no answer to {request}"));
        assert_eq!(reply.status, expected, "{request}\n{reply}");
        if expected == 400 && !reply.body.is_empty() {
            assert!(!reply.text().contains("example.com"), "echoed\n{reply}");
        }
    }
}

#[test]
fn sizes_up_to_each_limit_pass_and_one_more_does_not() {
    const BLOCK: usize = 16 * 1024;
    const HEADERS: usize = 64;
    const TARGET: usize = 8 * 1024;
    let site = Site::start();
    let host = site.address();
    for (size, expected) in [(BLOCK - 1, 200), (BLOCK, 200), (BLOCK + 1, 431)] {
        let start = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Fill: ");
        let fill = "a".repeat(size - start.len() - 4);
        asks(&site, &format!("{start}{fill}\r\n\r\n"), expected, "block");
    }
    for (count, expected) in [(HEADERS - 1, 200), (HEADERS, 200), (HEADERS + 1, 431)] {
        let more = "X-More: a\r\n".repeat(count - 1);
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
        asks(&site, &request, expected, "headers");
    }
    for (size, expected) in [(TARGET - 1, 200), (TARGET, 200), (TARGET + 1, 414)] {
        let fill = "a".repeat(size - "/healthz?".len());
        let request = format!("GET /healthz?{fill} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        asks(&site, &request, expected, "target");
    }
}

#[test]
fn a_body_may_fill_its_limit_and_no_more() {
    const LIMIT: usize = 2048;
    let site =
        Site::builder().config("server.max_body_bytes", i64::try_from(LIMIT).unwrap()).start();
    let host = site.address();
    let start = format!(
        "POST /api/ext/auth HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    );
    for (size, expected) in [(LIMIT - 1, 422), (LIMIT, 422), (LIMIT + 1, 413)] {
        let body = format!("{{{}}}", " ".repeat(size - 2));
        let counted = format!("{start}Content-Length: {size}\r\n\r\n{body}");
        asks(&site, &counted, expected, "counted body");
        let chunked =
            format!("{start}Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n");
        asks(&site, &chunked, expected, "chunked body");
    }
}

#[test]
fn silent_and_slow_connections_are_closed() {
    let site = Site::start();
    let host = site.address();
    let cases = [
        ("silent", String::new()),
        ("half a head", format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-")),
        (
            "half a body",
            format!(
                "POST /api/ext/auth HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{{"
            ),
        ),
    ];
    std::thread::scope(|scope| {
        for (what, bytes) in &cases {
            scope.spawn(move || {
                let mut connection = Connection::open(host).unwrap();
                connection.write(bytes.as_bytes());
                // It may say why first; then it closes.
                if let Some(reply) = reply(&mut connection) {
                    assert!(matches!(reply.status, 400 | 408), "{what}\n{reply}");
                }
                assert!(connection.is_closed_within(SILENCE_LIMIT), "{what}");
            });
        }
    });
    site.anonymous().get("/healthz").expect(200);
}

#[test]
fn verbs_cannot_be_confused() {
    let site = Site::start();
    let nobody = site.anonymous();
    for verb in ["TRACE", "PROPFIND", "get", "PATCH", "QUERY"] {
        nobody.send(Request::new(verb, "/api/v1/planos")).expect(405);
    }
    for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
        let request = Request::new("GET", "/api/ext/auth").header(name, "POST");
        nobody.send(request).expect(405);
    }
    nobody.send(Request::new("GET", "/api/ext/auth?_method=POST")).expect(405);
}

#[test]
fn no_way_of_writing_a_path_gets_around_its_guard() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    for path in [
        "/api/v1/partner/orders",
        "/v1/partner/orders",
        "/api/ext/me",
        "/metrics",
        "/api/v1/admin/backup",
        "/admin",
        "/painel",
    ] {
        for spelling in spellings(path) {
            let reply = nobody.send(Request::new("GET", &spelling));
            assert!((300..500).contains(&reply.status), "{spelling} passed\n{reply}");
        }
    }
}

/// Spellings of a path that a careless server treats as the same.
fn spellings(path: &str) -> Vec<String> {
    let tail = path.trim_start_matches('/');
    let mut all = vec![path.to_owned(), path.to_uppercase()];
    for start in [
        "//",
        "/./",
        "/x/../",
        "/x/%2e%2e/",
        "/%2e/",
        "/;a/",
        "/api/v1/planos/../../../",
        "/assets/..%2f",
        "/%2f",
        "/\\",
    ] {
        all.push(format!("{start}{tail}"));
    }
    for end in [
        "/",
        "//",
        "/.",
        "/..;/",
        ";a=b",
        "%00",
        "%20",
        ".json",
        "?",
        "?token=x",
        "%3f",
        "/%2e%2e/x",
    ] {
        all.push(format!("{path}{end}"));
    }
    for slash in ["//", "/./", "%2f", "%2F", "\\", "/;/", "/%2e/", "%252f"] {
        all.push(format!("/{}", tail.replace('/', slash)));
    }
    let first = format!("%{:02x}", tail.as_bytes()[0]);
    all.push(format!("/{first}{}", &tail[1..]));
    all
}

/// Sends a request that must be rejected, with another one after it.
#[track_caller]
fn refused(site: &Site, what: &str, first: &str, number: usize) {
    let host = site.address();
    let mut connection = Connection::open(host).unwrap();
    let second = behind(host, &format!("smuggled-{number}"));
    connection.write(format!("{first}{second}").as_bytes());
    if let Some(reply) = reply(&mut connection) {
        assert!(
            matches!(reply.status, 400 | 413 | 422 | 431 | 501 | 505),
            "{what}: not refused\n{reply}"
        );
    }
    assert!(
        connection.is_closed_within(SILENCE_LIMIT),
        "{what}: the connection stays open or answers again"
    );
}

/// A harmless request that shows in the log by its id.
fn behind(host: SocketAddr, id: &str) -> String {
    format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Request-Id: {id}\r\n\r\n")
}

/// The next reply; `None` when the connection was closed instead.
fn reply(connection: &mut Connection) -> Option<Reply> {
    connection.read_reply("a raw request").ok().flatten()
}

/// Sends raw bytes on a connection of their own and requires a status.
#[track_caller]
fn asks(site: &Site, request: &str, expected: u16, what: &str) {
    let mut connection = Connection::open(site.address()).unwrap();
    connection.write(request.as_bytes());
    let reply = reply(&mut connection).unwrap_or_else(|| panic!("{what}: no answer"));
    assert_eq!(reply.status, expected, "{what}\n{reply}");
    if expected >= 400 && expected != 422 {
        assert!(connection.is_closed_within(SILENCE_LIMIT), "{what}: stays open");
    }
}
