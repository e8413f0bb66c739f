//! Our own TLS: the certificate that handshakes get, and what a handshake may cost.
//!
//! Where certificates come from, and when they are replaced, is decided in the
//! room `https`. Here is only what a connection needs.

use std::collections::HashMap;
use std::fmt;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rustls::crypto::ring;
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, SupportedProtocolVersion};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

/// Time for a whole handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The protocol of a handshake that a certificate authority makes to see that a
/// name leads here (RFC 8737).
const CHALLENGE: &[u8] = b"acme-tls/1";
/// What is spoken inside.
const HTTP: &[u8] = b"http/1.1";
static VERSIONS: [&SupportedProtocolVersion; 2] =
    [&rustls::version::TLS13, &rustls::version::TLS12];

/// A mark on requests that came through our own TLS.
#[derive(Clone, Copy)]
pub struct OverTls;

/// Our own TLS.
pub struct Tls {
    certificates: Arc<Certificates>,
    ordinary: Arc<ServerConfig>,
    challenge: Arc<ServerConfig>,
    /// The address of HTTPS, once it is bound.
    bound: OnceLock<SocketAddr>,
    /// Whether there are both a certificate and an address.
    is_served: AtomicBool,
    /// Places for the expensive step of a handshake: half of the processors, so
    /// that a flood of handshakes leaves the other half to requests.
    places: Semaphore,
    /// Where the bound socket is handed to whoever accepts.
    socket: mpsc::UnboundedSender<StdListener>,
    coming: Mutex<Option<mpsc::UnboundedReceiver<StdListener>>>,
}

impl Tls {
    /// TLS without a certificate yet.
    pub fn new() -> Result<Self, rustls::Error> {
        let certificates = Arc::new(Certificates::default());
        let config = |protocol: &[u8]| {
            let provider = Arc::new(ring::default_provider());
            let mut config = ServerConfig::builder_with_provider(provider)
                .with_protocol_versions(&VERSIONS)?
                .with_no_client_auth()
                .with_cert_resolver(Arc::clone(&certificates) as Arc<dyn ResolvesServerCert>);
            config.alpn_protocols = vec![protocol.to_owned()];
            // Sessions are kept by clients, so they cost no memory here.
            config.ticketer = ring::Ticketer::new()?;
            Ok::<_, rustls::Error>(Arc::new(config))
        };
        let (socket, coming) = mpsc::unbounded_channel();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            ordinary: config(HTTP)?,
            challenge: config(CHALLENGE)?,
            certificates,
            bound: OnceLock::new(),
            is_served: AtomicBool::new(false),
            places: Semaphore::new((processors / 2).max(1)),
            socket,
            coming: Mutex::new(Some(coming)),
        })
    }

    /// Whether HTTPS is served now.
    pub fn is_served(&self) -> bool {
        self.is_served.load(Ordering::Relaxed)
    }

    /// The address of HTTPS, once it is bound.
    pub fn bound(&self) -> Option<SocketAddr> {
        self.bound.get().copied()
    }

    /// Handshakes from now on get this certificate. Connections that are open stay.
    pub fn serve(&self, certificate: Arc<CertifiedKey>) {
        *self.certificates.current.write() = Some(certificate);
        self.note();
    }

    /// Answers the challenge for a name, until [`Tls::forget`].
    pub fn hold(&self, name: &str, certificate: Arc<CertifiedKey>) {
        self.certificates.challenges.write().insert(name.to_ascii_lowercase(), certificate);
    }

    /// Answers no challenges any more.
    pub fn forget(&self) {
        self.certificates.challenges.write().clear();
    }

    /// Hands over the socket of HTTPS.
    pub fn listen(&self, socket: StdListener) -> std::io::Result<()> {
        socket.set_nonblocking(true)?;
        let bound = socket.local_addr()?;
        let _ = self.bound.set(bound);
        // Nobody accepts any more while the server stops.
        let _ = self.socket.send(socket);
        self.note();
        Ok(())
    }

    fn note(&self) {
        let has_certificate = self.certificates.current.read().is_some();
        self.is_served.store(has_certificate && self.bound.get().is_some(), Ordering::Relaxed);
    }

    /// The door at which connections come once the socket is there. There is one.
    pub fn door(self: &Arc<Self>) -> Option<Door> {
        let coming = self.coming.lock().take()?;
        Some(Door { tls: Arc::clone(self), coming, listener: None })
    }

    /// The connection after its handshake; `None` when it failed, took too long,
    /// or was a challenge.
    pub async fn shake(&self, io: TcpStream) -> Option<TlsStream<TcpStream>> {
        let handshake = async {
            let start = LazyConfigAcceptor::new(Acceptor::default(), io).await?;
            let is_challenge = is_challenge(&start.client_hello());
            let config = if is_challenge { &self.challenge } else { &self.ordinary };
            // The signature is made here, and not where the result is awaited.
            let rest = {
                let _place = self.places.acquire().await;
                start.into_stream(Arc::clone(config))
            };
            let stream = rest.await?;
            Ok::<_, std::io::Error>((!is_challenge).then_some(stream))
        };
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a handshake failed");
                None
            }
            Err(_) => None,
        }
    }
}

fn is_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().into_iter().flatten().any(|protocol| protocol == CHALLENGE)
}

/// Where connections of HTTPS come.
pub struct Door {
    pub tls: Arc<Tls>,
    coming: mpsc::UnboundedReceiver<StdListener>,
    listener: Option<TcpListener>,
}

impl Door {
    /// The next connection.
    pub async fn accept(&mut self) -> std::io::Result<(TcpStream, SocketAddr)> {
        loop {
            if let Some(listener) = &self.listener {
                return listener.accept().await;
            }
            match self.coming.recv().await {
                Some(socket) => self.listener = Some(TcpListener::from_std(socket)?),
                None => std::future::pending().await,
            }
        }
    }
}

/// The certificates by what a handshake asks for.
#[derive(Default)]
struct Certificates {
    current: RwLock<Option<Arc<CertifiedKey>>>,
    challenges: RwLock<HashMap<String, Arc<CertifiedKey>>>,
}

// Not derived: keys are never printed.
impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificates")
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if is_challenge(&hello) {
            let name = hello.server_name()?.to_ascii_lowercase();
            return self.challenges.read().get(&name).cloned();
        }
        self.current.read().clone()
    }
}
