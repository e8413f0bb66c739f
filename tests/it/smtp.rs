//! The first part of a mail server: it greets, and accepts or rejects a login.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::site::lock;

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
