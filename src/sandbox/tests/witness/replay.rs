//! A marketplace that answers with a sample, so that the platform's own client reads it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use serde_json::Value;

use crate::base::{MlUserId, Secret};
use crate::fixture::{self, TestDir};
use crate::marketplace::client::{Caller, Client};
use crate::sandbox::{CLIENT_ID, CLIENT_SECRET};

/// The answer of addresses that contain a text; the first that fits is given.
type Route = (&'static str, u16, Value);

pub struct Replay {
    address: SocketAddr,
    routes: Arc<Mutex<Vec<Route>>>,
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    access: Secret,
    dir: TestDir,
}

impl Replay {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (routes, stops) = (Arc::<Mutex<Vec<Route>>>::default(), Arc::<AtomicBool>::default());
        let (known, ends) = (Arc::clone(&routes), Arc::clone(&stops));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                answer(&stream.unwrap(), &known.lock());
            }
        });
        let access = Secret::new("an-access-token");
        Self { address, routes, stops, thread: Some(thread), access, dir: TestDir::new() }
    }

    /// A client whose calls get these answers, and all others 404; files are PDFs.
    pub fn client(&self, routes: Vec<Route>) -> Client {
        *self.routes.lock() = routes;
        let url = format!("http://{}", self.address);
        let config = fixture::config(&[
            ("MARKETPLACE__API_BASE", &url),
            ("MARKETPLACE__AUTH_BASE", &url),
            ("MARKETPLACE__IMAGE_HOST", "https://imagens.invalid"),
            ("MARKETPLACE__CLIENT_ID", CLIENT_ID),
            ("MARKETPLACE__CLIENT_SECRET", CLIENT_SECRET),
        ]);
        Client::new(&config.marketplace, self.dir.clock())
    }

    pub fn caller(&self) -> Caller<'_> {
        Caller { ml_user_id: MlUserId(777), access: &self.access }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::SeqCst);
        let woken = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

/// Reads one request and answers it.
fn answer(stream: &TcpStream, routes: &[Route]) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    reader.take(length).read_to_end(&mut Vec::new()).unwrap();
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (status, kind, body) = if path.contains("/danfe/") || path.contains("/fiscal_documents/") {
        (200, "application/pdf", b"%PDF-1.4\n".to_vec())
    } else {
        let found = routes.iter().find(|(part, ..)| path.contains(part));
        let (status, body) =
            found.map_or((404, Value::Null), |(_, status, body)| (*status, body.clone()));
        (status, "application/json", body.to_string().into_bytes())
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
}
