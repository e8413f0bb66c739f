//! Request bodies: many callers who send much and never finish.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{besieged, narrow};
use crate::support::checkout::Event;
use crate::support::client::Request;
use crate::support::cron::alter;
use crate::support::site::{Builder, CHECKOUT_TOKEN, Site};
use crate::support::wait::{pause, until};

const CHECKOUT: &str = "/api/v1/webhook/checkout";
const IMPORT: &str = "/painel/produtos/importar";
/// How long a busy machine may take to answer many callers.
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest body of a caller who is not identified.
const UNPROVEN: usize = 16 * 1024;

fn site() -> Builder {
    Site::builder().unlimited().config("server.max_connections_per_address", 4_096)
}

/// Makes people of a role, each with a session; returns their cookies.
pub fn crowd(site: &Site, role: &str, people: usize) -> Vec<String> {
    let now = site.clock().now().as_second();
    let mut sql = String::new();
    let cookies = (0..people).map(|number| {
        let (id, cookie) = (1_000 + number, format!("sessao-{role}-{number:040}"));
        let hash = hex(&Sha256::digest(&cookie));
        write!(
            sql,
            "INSERT INTO user (user_id, email, name, role, created_at)
             VALUES ({id}, 'multidao{number}@example.com', 'Gente {number:05}', '{role}', {now});
             INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent)
             VALUES (X'{hash}', {id}, {now}, {now}, '127.0.0.1', 'teste');"
        )
        .unwrap();
        format!("sessao={cookie}")
    });
    let cookies = cookies.collect();
    alter(site, &sql);
    cookies
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// A connection that never waits.
struct Sender {
    stream: TcpStream,
    left: usize,
    answer: Vec<u8>,
}

impl Sender {
    /// Sends a head with the length of a body, of which `bytes` follow.
    fn begin(to: SocketAddr, head: &str, bytes: usize) -> Self {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { stream, left: bytes, answer: Vec::new() }
    }

    /// Sends and reads as much as possible without waiting; returns whether the
    /// server read or sent anything.
    fn push(&mut self) -> bool {
        let piece = [b' '; 16 * 1024];
        let mut moved = false;
        while self.left > 0 {
            match self.stream.write(&piece[..self.left.min(piece.len())]) {
                Ok(sent) => {
                    self.left -= sent;
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.left = 0,
            }
        }
        let mut space = [0; 4_096];
        while let Ok(read @ 1..) = self.stream.read(&mut space) {
            self.answer.extend_from_slice(&space[..read]);
            moved = true;
        }
        moved
    }

    /// The status, once there is an answer.
    fn status(&self) -> Option<u16> {
        let text = String::from_utf8_lossy(&self.answer);
        text.split(' ').nth(1)?.parse().ok()
    }

    fn says(&self, what: &str) -> bool {
        String::from_utf8_lossy(&self.answer).to_lowercase().contains(what)
    }
}

/// Sends on all of them for some time.
fn push_all(senders: &mut [Sender], time: Duration) {
    push_until(senders, time, |_| false);
}

/// Sends on all of them until it is enough, and for some time at most.
fn push_until(senders: &mut [Sender], time: Duration, enough: impl Fn(&[Sender]) -> bool) {
    let began = Instant::now();
    while began.elapsed() < time && !enough(senders) {
        let moved = senders.iter_mut().map(Sender::push).filter(|moved| *moved).count();
        if moved == 0 {
            pause(Duration::from_millis(20));
        }
    }
}

fn head(target: &str, length: usize, more: &str) -> String {
    format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{more}\r\n")
}

#[test]
fn two_thousand_strangers_send_much_to_the_checkout_receiver() {
    let site = narrow(site());
    let ana = site.person("ana");
    besieged(&site, &ana, "/painel", || {
        let length = 256 * 1024 - 1;
        let head = head(CHECKOUT, length, "Content-Type: application/json\r\n");
        let mut senders: Vec<Sender> =
            (0..2_000).map(|_| Sender::begin(site.address(), &head, length)).collect();
        let answered = |sender: &Sender| sender.says("a credential in a header");
        push_until(&mut senders, PATIENCE, |senders| senders.iter().all(answered));
        for sender in &senders {
            assert_eq!(sender.status(), Some(413));
            assert!(sender.says("a credential in a header"), "it says what to do");
        }
    });
}

#[test]
fn two_thousand_strangers_send_what_they_may_and_never_finish() {
    let site = narrow(site());
    let (ana, bia) = (site.person("ana"), site.make_person("bia", "vip"));
    besieged(&site, &ana, "/painel", || {
        let head = head(CHECKOUT, UNPROVEN, "Content-Type: application/json\r\n");
        let mut senders: Vec<Sender> =
            (0..1_900).map(|_| Sender::begin(site.address(), &head, UNPROVEN - 1)).collect();
        push_all(&mut senders, Duration::from_secs(1));
        // Small bodies are still accepted.
        let fields = [("email", &*bia.email), ("senha", &*bia.password)];
        site.anonymous().send(Request::new("POST", "/entrar").form(&fields)).expect(303);
        let event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0);
        site.anonymous().post(CHECKOUT, &event.with("/hottok", CHECKOUT_TOKEN).0).expect(200);
    });
}

#[test]
fn a_student_sends_seventy_large_files_at_once() {
    let site = narrow(site());
    let cookies = crowd(&site, "vip", 8);
    let ana = site.person("ana");
    let length = 8 << 20;
    let of = |cookie: &str| {
        let more = format!("Cookie: {cookie}\r\nContent-Type: multipart/form-data; boundary=x\r\n");
        Sender::begin(site.address(), &head(IMPORT, length, &more), length - 1)
    };
    let refused = |senders: &[Sender]| {
        let refused = senders.iter().filter(|sender| sender.status() == Some(503));
        refused.inspect(|sender| assert!(sender.says("retry-after: "))).count()
    };
    besieged(&site, &ana, "/painel", || {
        let mut senders: Vec<Sender> = (0..70).map(|_| of(&cookies[0])).collect();
        push_until(&mut senders, PATIENCE, |senders| refused(senders) >= 68);
        push_all(&mut senders, Duration::from_millis(500));
        assert_eq!(refused(&senders), 68, "two at a time");
        // For other people, too, only as much as fits is accepted.
        let mut others: Vec<Sender> =
            cookies[1..].iter().flat_map(|cookie| [of(cookie), of(cookie)]).collect();
        push_until(&mut others, PATIENCE, |others| refused(others) >= 10);
        push_all(&mut others, Duration::from_millis(500));
        assert!((10..=14).contains(&refused(&others)), "{}", refused(&others));
        // Two bodies that grow at the same moment can reject each other; then
        // there is space for the next one.
        if refused(&others) == others.len() {
            let mut next = [of(&cookies[1])];
            push_all(&mut next, Duration::from_millis(500));
            assert_eq!(refused(&next), 0);
        }
        // Meanwhile small bodies are accepted.
        let product = json!({ "sku": "A", "titulo": "Um", "preco": 1 });
        ana.post("/painel/produtos", &product).expect(201);
    });
    let file = format!("sku,title,price\n{}", "A,Um,1\n".repeat(20_000));
    until("large files are taken again", Duration::from_secs(5), || {
        let reply = ana.post(IMPORT, &json!({ "csv": file }));
        (reply.status != 503).then_some(())
    });
}

#[test]
fn whoever_proved_nothing_sends_little_and_whoever_did_what_the_address_takes() {
    let site = site().start();
    let event = |bytes: usize, token: Option<&str>| {
        let mut event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0).with("/x", "");
        if let Some(token) = token {
            event = event.with("/hottok", token);
        }
        let rest = bytes - event.0.to_string().len();
        event.with("/x", "x".repeat(rest)).0
    };
    let send = |event: &serde_json::Value| site.anonymous().post(CHECKOUT, event);
    send(&event(UNPROVEN, Some(CHECKOUT_TOKEN))).expect(200);
    send(&event(UNPROVEN, None)).expect(401);
    let refused = send(&event(UNPROVEN + 1, Some(CHECKOUT_TOKEN))).expect(413);
    assert_eq!(refused.code(), "payload_too_large");
    assert!(refused.text().contains("a credential in a header"), "{refused}");
    let proven = Request::new("POST", CHECKOUT).header("X-Hotmart-Hottok", CHECKOUT_TOKEN);
    site.anonymous().send(proven.json(&event(256 * 1024, None))).expect(200);
    // The limit also holds for a body without a declared length.
    let mut stranger = crate::support::client::Connection::open(site.address()).unwrap();
    stranger.write(
        format!(
            "POST {CHECKOUT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n",
            UNPROVEN + 1,
            " ".repeat(UNPROVEN + 1)
        )
        .as_bytes(),
    );
    assert_eq!(stranger.read_reply("POST").unwrap().unwrap().status, 413);
}
