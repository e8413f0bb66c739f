//! Stand-ins for a mail server: one that only greets and accepts or rejects a
//! login, and one that takes mail or rejects it as the test says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::site::lock;

/// A mail server that accepts no mail. It ends with the process of the test.
pub struct Greeter {
    pub address: SocketAddr,
    said: Arc<Mutex<Vec<String>>>,
}

impl Greeter {
    /// A server with this answer to `AUTH`, such as `235 welcome`.
    #[track_caller]
    pub fn start(login: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let heard = Arc::clone(&heard);
                std::thread::spawn(move || talk(&stream, login, &heard));
            }
        });
        Self { address, said }
    }

    /// The commands that were received, without their arguments.
    pub fn commands(&self) -> Vec<String> {
        lock(&self.said).clone()
    }
}

fn talk(mut stream: &TcpStream, login: &str, heard: &Mutex<Vec<String>>) {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    stream.write_all(b"220 test ESMTP\r\n").ok();
    for line in lines {
        let command = line.split(' ').next().unwrap_or_default().to_uppercase();
        let answer = match &*command {
            "EHLO" => "250-test\r\n250 AUTH PLAIN",
            "AUTH" => login,
            "QUIT" => "221 bye",
            _ => "502 not here",
        };
        let is_over = command == "QUIT";
        lock(heard).push(command);
        if write!(stream, "{answer}\r\n").is_err() || is_over {
            return;
        }
    }
}

/// What a [`Postman`] says to a recipient.
type Answers = dyn Fn(&str) -> &'static str + Send + Sync;

/// A mail server that takes mail. It ends with the process of the test.
pub struct Postman {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Its answer to a sender.
    sender: &'static str,
    recipients: Arc<Answers>,
    taken: Vec<String>,
}

impl Postman {
    #[track_caller]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state =
            State { sender: "250 ok", recipients: Arc::new(|_| "250 ok"), taken: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || take_mail(&stream, &shared));
            }
        });
        Self { address, state }
    }

    /// From now on this is the answer to each sender.
    pub fn answers_senders(&self, answer: &'static str) {
        lock(&self.state).sender = answer;
    }

    /// From now on this is the answer to a recipient.
    pub fn answers(&self, answer: impl Fn(&str) -> &'static str + Send + Sync + 'static) {
        lock(&self.state).recipients = Arc::new(answer);
    }

    /// The recipients of the mails that were taken, in their order.
    pub fn taken(&self) -> Vec<String> {
        lock(&self.state).taken.clone()
    }
}

fn take_mail(mut stream: &TcpStream, state: &Mutex<State>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    stream.write_all(b"220 test ESMTP\r\n").ok();
    let mut recipient = String::new();
    while let Some(line) = lines.next() {
        let command = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer = match &*command {
            "EHLO" => "250-test\r\n250 8BITMIME",
            "MAIL" => lock(state).sender,
            "RCPT" => {
                let (_, rest) = line.split_once('<').unwrap_or_default();
                rest.split('>').next().unwrap_or_default().clone_into(&mut recipient);
                let answers = Arc::clone(&lock(state).recipients);
                answers(&recipient)
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").ok();
                let is_whole = lines.by_ref().any(|line| line == ".");
                if is_whole {
                    lock(state).taken.push(std::mem::take(&mut recipient));
                }
                "250 taken"
            }
            "NOOP" | "RSET" => "250 ok",
            "QUIT" => "221 bye",
            _ => "502 not here",
        };
        if write!(stream, "{answer}\r\n").is_err() || command == "QUIT" {
            return;
        }
    }
}
