//! A chat gateway in trouble: not reachable for a day, silent, and back again.
//!
//! The gateway is a listener of this test, because the sandbox cannot end and
//! start again at its address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::site::{Builder, Site};
use crate::support::wait::until;

const PATIENCE: Duration = Duration::from_mins(1);

/// A message that was received.
struct Came {
    at: Instant,
    to: String,
}

/// A gateway that accepts everything, until it is dropped.
struct Gateway {
    address: SocketAddr,
    came: Receiver<Came>,
    over: Arc<AtomicBool>,
}

impl Gateway {
    /// Starts at an address; it never answers messages to the number `silent_to`.
    #[track_caller]
    fn open(address: SocketAddr, silent_to: &'static str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, came) = mpsc::channel();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        std::thread::spawn(move || {
            let mut held = Vec::new();
            // Whoever drops the gateway calls once more, which ends the thread, and with
            // it the listener.
            while let Ok((stream, _)) = listener.accept()
                && !is_over.load(Ordering::Acquire)
            {
                held.push(stream.try_clone().unwrap());
                let tell = tell.clone();
                std::thread::spawn(move || serve(&stream, silent_to, &tell));
            }
            for stream in held {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        });
        Self { address, came, over }
    }

    fn anywhere() -> Self {
        Self::open(SocketAddr::from(([127, 0, 0, 1], 0)), "")
    }

    #[track_caller]
    fn next(&self) -> Came {
        self.came.recv_timeout(PATIENCE).expect("a message comes")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        TcpStream::connect(self.address).ok();
    }
}

/// Answers the requests of one connection.
fn serve(mut stream: &TcpStream, silent_to: &str, tell: &Sender<Came>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if !matches!(reader.read_line(&mut line), Ok(1..)) {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        let to = body["number"].as_str().unwrap().to_owned();
        if to == silent_to {
            continue;
        }
        let answer = json!({ "key": { "id": format!("a-{to}") } }).to_string();
        let head = format!(
            "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        let at = Instant::now();
        if stream.write_all((head + &answer).as_bytes()).is_err() {
            return;
        }
        let _ = tell.send(Came { at, to });
    }
}

fn site_of(gateway: SocketAddr) -> Builder {
    Site::builder()
        .unlimited()
        .config("cron.enabled", true)
        .config("chat.gateway", "evolution")
        .config("chat.base_url", format!("http://{gateway}"))
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
}

#[track_caller]
fn welcome(site: &Site, number: usize) {
    let crm = site.key(&["write"]);
    let body = json!({
        "nome": format!("Aluno {number}"), "email": format!("aluno{number}@example.com"),
        "chat_number": format!("55119876511{number:02}"),
    });
    crm.post("/api/v1/alunos/criar", &body).expect(201);
}

fn states(site: &Site) -> Vec<String> {
    site.stored("SELECT state || ' ' || attempts FROM outbox ORDER BY message_id")
}

#[test]
fn a_day_without_the_gateway_loses_nothing_and_ends_without_a_storm() {
    const ALL: usize = 12;
    const PER_S: usize = 20;
    let gateway = Gateway::anywhere();
    let address = gateway.address;
    let site = site_of(address)
        .config("messages.pace_evolution_per_s", i64::try_from(PER_S).unwrap())
        .start();
    drop(gateway);
    for number in 0..ALL {
        welcome(&site, number);
    }
    // Each hour the gateway is probed without success, and no try is used up.
    let probed = || {
        let log = site.log();
        log.matches("a message did not leave").count()
    };
    for _ in 0..24 {
        let before = probed();
        site.clock().advance_s(3_600);
        until("it was probed", PATIENCE, || (probed() > before).then_some(()));
    }
    until("no try was used up", PATIENCE, || (states(&site) == vec!["0 0"; ALL]).then_some(()));
    let back = Gateway::open(address, "");
    site.clock().advance_s(60);
    let came: Vec<Came> = (0..ALL).map(|_| back.next()).collect();
    let mut numbers: Vec<&str> = came.iter().map(|one| one.to.as_str()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), ALL, "each once");
    until("all are noted", PATIENCE, || (states(&site) == vec!["1 1"; ALL]).then_some(()));
    // The pace also holds for the sent messages: twelve need eleven pauses.
    let span = came[ALL - 1].at - came[0].at;
    let least = Duration::from_millis(1_000 * (ALL as u64 - 2) / PER_S as u64);
    assert!(span >= least, "{ALL} messages within {span:?}");
    assert!(back.came.try_recv().is_err(), "and nothing more");
}

#[test]
fn a_message_that_is_never_answered_delays_nobody() {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let gateway = Gateway::open(address, "5511987651100");
    let site = site_of(gateway.address).config("messages.pace_evolution_per_s", 0).start();
    for number in 0..8 {
        welcome(&site, number);
    }
    let mut numbers: Vec<String> = (0..7).map(|_| gateway.next().to).collect();
    numbers.sort();
    let expected: Vec<String> = (1..8).map(|number| format!("55119876511{number:02}")).collect();
    assert_eq!(numbers, expected);
}
