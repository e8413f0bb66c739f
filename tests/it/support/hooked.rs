//! A program that receives webhooks: a small server whose answers a test
//! chooses, and the requests that it received.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::{Builder, Site, lock};
use crate::support::wait::until;

pub const WEBHOOKS: &str = "/painel/parceiro/webhooks";
/// How long something may take to arrive.
const LIMIT: Duration = Duration::from_secs(30);

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Hit {
    pub path: String,
    pub id: String,
    pub timestamp: i64,
    pub signature: String,
    pub body: String,
}

impl Hit {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }
}

/// How a receiver answers.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Answers with a status and more headers.
    Status(u16, &'static str),
    /// Does not answer, and keeps the connection open.
    Hang,
    /// Answers with something that is not HTTP.
    Garbage,
    /// Reads the request and closes the connection.
    HangUp,
}

struct State {
    manner: Manner,
    hits: Vec<Hit>,
}

/// A server on this machine.
pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Receiver {
    pub fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    /// At an address that was chosen before.
    pub fn start_at(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let state =
            Arc::new(Mutex::new(State { manner: Manner::Status(204, ""), hits: Vec::new() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { address, state }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn answers(&self, manner: Manner) {
        lock(&self.state).manner = manner;
    }

    pub fn hits(&self) -> Vec<Hit> {
        lock(&self.state).hits.clone()
    }

    /// Waits until this many requests have arrived in all.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Hit> {
        until(&format!("{count} webhooks have come"), LIMIT, || {
            let hits = self.hits();
            (hits.len() >= count).then_some(hits)
        })
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut waiting = Vec::new();
    loop {
        let Some(end) = waiting.windows(4).position(|four| four == b"\r\n\r\n") else {
            let mut piece = [0; 8192];
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(count) => waiting.extend_from_slice(&piece[..count]),
            }
            continue;
        };
        let head = String::from_utf8_lossy(&waiting[..end]).into_owned();
        let header = |name: &str| {
            let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
            let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let length: usize = header("content-length").parse().unwrap_or(0);
        if waiting.len() < end + 4 + length {
            let mut piece = [0; 8192];
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(count) => waiting.extend_from_slice(&piece[..count]),
            }
            continue;
        }
        let body = String::from_utf8_lossy(&waiting[end + 4..end + 4 + length]).into_owned();
        waiting.drain(..end + 4 + length);
        let manner = {
            let mut state = lock(state);
            state.hits.push(Hit {
                path: head.split(' ').nth(1).unwrap_or_default().to_owned(),
                id: header("webhook-id"),
                timestamp: header("webhook-timestamp").parse().unwrap_or_default(),
                signature: header("webhook-signature"),
                body,
            });
            state.manner.clone()
        };
        let answer = match manner {
            Manner::Status(status, more) => {
                format!("HTTP/1.1 {status} X\r\n{more}content-length: 2\r\n\r\nok")
            }
            Manner::Garbage => "isto não é HTTP\r\n\r\n".to_owned(),
            Manner::HangUp => return,
            Manner::Hang => {
                // The sender gives up first.
                let _ = stream.read(&mut [0; 16]);
                return;
            }
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// A site whose webhooks may go to this machine.
pub fn near(builder: Builder) -> Builder {
    builder.config("webhooks.extra_hosts", vec!["loopback"])
}

/// An endpoint of a person, with its secret.
#[derive(Clone)]
pub struct Made {
    pub id: String,
    pub secret: String,
    base: &'static str,
}

/// The path of the caller's list of webhooks.
pub fn base_of(actor: &Actor<'_>) -> &'static str {
    match actor.get("/fornecedor").status {
        200 => "/fornecedor/parceiro/webhooks",
        _ => WEBHOOKS,
    }
}

/// Gives a person an API plan, which webhooks need, unless there is one.
#[track_caller]
pub fn with_plan(site: &Site, actor: &Actor<'_>) {
    let email = &actor.person().email;
    let plans = "SELECT email FROM partner_account JOIN user USING (user_id)";
    if !site.stored(plans).contains(email) {
        site.command(&["partner", "plan", "--email", email, "--plan", "scale"]).ok();
    }
}

#[track_caller]
pub fn make(site: &Site, actor: &Actor<'_>, url: &str, events: &[&str]) -> Made {
    with_plan(site, actor);
    let base = base_of(actor);
    let made = actor.post(base, &json!({ "url": url, "eventos": events })).expect(201).json();
    assert_eq!(made["ok"], true);
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let secret = text("segredo");
    site.keep_secret("webhook secret", &secret);
    Made { id: text("id"), secret, base }
}

impl Made {
    pub fn path(&self, below: &str) -> String {
        format!("{}/{}{below}", self.base, self.id)
    }

    #[track_caller]
    pub fn read(&self, actor: &Actor<'_>) -> Value {
        json_of(actor, &self.path(""))
    }

    /// The deliveries, newest first.
    #[track_caller]
    pub fn deliveries(&self, actor: &Actor<'_>) -> Vec<Value> {
        let list = json_of(actor, &self.path("/entregas?por_pagina=100"));
        list["dados"].as_array().unwrap().clone()
    }

    /// Sends a test; returns its number.
    #[track_caller]
    pub fn test(&self, actor: &Actor<'_>) -> i64 {
        let sent = actor.post(&self.path("/testar"), &json!({})).expect(200).json();
        sent["entrega"].as_i64().unwrap()
    }

    /// Waits until a delivery is as `is` says.
    #[track_caller]
    pub fn wait(&self, actor: &Actor<'_>, number: i64, is: impl Fn(&Value) -> bool) -> Value {
        until(&format!("delivery {number} is there"), LIMIT, || {
            let path = self.path(&format!("/entregas/{number}"));
            let request = Request::new("GET", &path).header("Accept", "application/json");
            let reply = actor.send(request);
            // It is missing until it is made from its event.
            let delivery = (reply.status != 404).then(|| reply.expect(200).json())?;
            is(&delivery).then_some(delivery)
        })
    }
}

#[track_caller]
pub fn json_of(actor: &Actor<'_>, path: &str) -> Value {
    let request = Request::new("GET", path).header("Accept", "application/json");
    actor.send(request).expect(200).json()
}

/// The signature of a message with a secret.
pub fn signature(secret: &str, id: &str, timestamp: i64, body: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}
