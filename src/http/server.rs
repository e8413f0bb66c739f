//! Accepts connections: how many, from whom, for how long.
//!
//! Each connection is one task. The service handles the requests; here are the
//! limits: connections in total and by address, time for a head,
//! requests and age of a connection, and a stop that lets running requests
//! finish.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::body::{Body, Flow};
use super::connection::{CheckedConnection, Shared, Streaming};
use super::head::{MAX_HEAD, Refusal};
use super::io::Io;
use super::limit::{self, Subject};
use super::tls::{Door, OverTls, Tls};
use crate::base::queue::{KeyedSemaphore, Permit};

/// Requests after which a connection is closed.
const MAX_REQUESTS: usize = 1_000;
/// Age at which a connection is closed after its request.
const MAX_AGE: Duration = Duration::from_secs(600);
/// Requests between two checks of the age.
const AGE_CHECK: usize = 8;
/// How long running requests may take after a stop was asked for.
const DRAIN: Duration = Duration::from_secs(10);
/// Most bytes of an answer that wait unsent in the socket: two pieces.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 * 1024;
/// How long the system keeps bytes that the peer does not take: then the peer is gone.
#[cfg(target_os = "linux")]
const UNTAKEN: Duration = Duration::from_mins(1);
/// Pause after an error of accepting, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many times the connections of an address a /56 and a /48 of IPv6 may have. By
/// default a /48 then leaves half of all connections to others.
const WIDER: [u32; 2] = [2, 4];

/// Limits on connections.
pub struct Limits {
    pub connections: usize,
    pub per_address: usize,
    /// Trusted proxies; they have no limit by address.
    pub trusted: Vec<IpNet>,
}

/// Makes the answer to a rejected head of a peer.
type RefusePeer = Arc<dyn Fn(SocketAddr, &Refusal) -> Response<Body> + Send + Sync>;

/// Serves until `stop` is true, then lets running requests finish.
///
/// Connections at the `door` of our own TLS share the limits with plain ones. `service`
/// answers one request of a peer; `refuse` makes the answer to a head that was rejected.
pub async fn serve<S, F>(
    listener: TcpListener,
    mut door: Option<Door>,
    limits: Limits,
    refuse: RefusePeer,
    service: S,
    mut stop: watch::Receiver<bool>,
) where
    S: Fn(SocketAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(limits.connections));
    let peers = Peers::new(limits.per_address, limits.trusted);
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot.expect("the semaphore is never closed"),
            () = told(&mut stop) => break,
        };
        let (accepted, tls) = tokio::select! {
            accepted = listener.accept() => (accepted, None),
            (accepted, tls) = accept_at(&mut door) => (accepted, Some(tls)),
            () = told(&mut stop) => break,
        };
        let (io, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        let Some(place) = peers.enter(peer.ip()) else {
            continue;
        };
        let (refuse, service, mut stop) = (Arc::clone(&refuse), service.clone(), stop.clone());
        tokio::spawn(async move {
            if let Some(io) = prepared(io, tls, &mut stop).await {
                serve_connection(io, peer, refuse, service, stop).await;
            }
            drop((slot, place));
        });
    }
    drop((listener, door));
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    if tokio::time::timeout(DRAIN, slots.acquire_many(all)).await.is_err() {
        tracing::warn!("stopped with requests still running after {} s", DRAIN.as_secs());
    }
}

/// The next connection at the door of our own TLS; none comes without one.
async fn accept_at(door: &mut Option<Door>) -> (io::Result<(TcpStream, SocketAddr)>, Arc<Tls>) {
    match door {
        Some(door) => (door.accept().await, Arc::clone(&door.tls)),
        None => std::future::pending().await,
    }
}

/// The connection as requests come over it; `None` when it is over before that.
async fn prepared(
    io: TcpStream,
    tls: Option<Arc<Tls>>,
    stop: &mut watch::Receiver<bool>,
) -> Option<Io> {
    // An error means that the peer is gone already.
    io.set_nodelay(true).and_then(|()| limit_unsent(&io)).ok()?;
    let Some(tls) = tls else {
        return Some(Io::Plain(io));
    };
    tokio::select! {
        stream = tls.shake(io) => Some(Io::Tls(Box::new(stream?))),
        () = told(stop) => None,
    }
}

/// Resolves when the service is told to stop.
async fn told(stop: &mut watch::Receiver<bool>) {
    // A dropped sender means the same.
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn pause_after(error: &io::Error) {
    // One connection that broke while it was accepted is no reason to wait.
    let passing = [
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::Interrupted,
    ];
    if !passing.contains(&error.kind()) {
        tracing::warn!(%error, "cannot accept connections; trying again");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// Limits the unsent bytes in the socket: the system would keep megabytes for a
/// slow peer. Bytes that were sent and not received yet are not limited by it.
#[cfg(target_os = "linux")]
fn limit_unsent(io: &TcpStream) -> io::Result<()> {
    let socket = socket2::SockRef::from(io);
    socket.set_tcp_user_timeout(Some(UNTAKEN))?;
    socket.set_tcp_notsent_lowat(UNSENT)
}

#[cfg(not(target_os = "linux"))]
fn limit_unsent(_: &TcpStream) -> io::Result<()> {
    Ok(())
}

async fn serve_connection<S, F>(
    io: Io,
    peer: SocketAddr,
    refuse: RefusePeer,
    service: S,
    mut stop: watch::Receiver<bool>,
) where
    S: Fn(SocketAddr, Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let is_tls = io.is_tls();
    let shared = Arc::new(Shared::default());
    let io = TokioIo::new(CheckedConnection::new(io, Arc::clone(&shared)));
    let opened = Instant::now();
    let service = service_fn(move |mut request: Request<Incoming>| {
        if is_tls {
            request.extensions_mut().insert(OverTls);
        }
        let shared = Arc::clone(&shared);
        // Requests come one by one, so the count of answered ones is this one's
        // number.
        let before = shared.answered.load(Ordering::Acquire);
        let answer = match shared.refused.get() {
            Some((number, refusal)) if *number == before => Err(refuse(peer, refusal)),
            _ => Ok(service(peer, request)),
        };
        async move {
            let mut answer = match answer {
                Ok(answer) => answer.await,
                Err(refused) => refused,
            };
            if let Body::Flow(flow) = answer.body_mut()
                && let Flow::Events(events) = &mut **flow
            {
                events.hold(Streaming::on(&shared));
            }
            let count = shared.answered.fetch_add(1, Ordering::AcqRel) + 1;
            // The age is checked only sometimes, because reading the clock is slow.
            let is_old = count.is_multiple_of(AGE_CHECK) && opened.elapsed() >= MAX_AGE;
            if count >= MAX_REQUESTS || is_old {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .header_read_timeout(None)
        // The number of fields was checked before. With a limit of its own,
        // hyper parses into a buffer that is copied for each head.
        .max_header_size(MAX_HEAD)
        // Space for a head; answers are not copied into it.
        .max_buf_size(2 * MAX_HEAD)
        .auto_date_header(false)
        .half_close(false)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    let seen = stop.clone();
    let mut stopping = pin!(told(&mut stop));
    let (mut asked, mut is_told) = (false, false);
    let ended = poll_fn(|cx| {
        // Polling `stopping` takes a lock that all connections share. Once is
        // enough to be woken by it, because the waker of a task stays the same.
        if !is_told && (!asked || seen.has_changed().unwrap_or(true)) {
            asked = true;
            is_told = stopping.as_mut().poll(cx).is_ready();
            if is_told {
                connection.as_mut().graceful_shutdown();
            }
        }
        connection.as_mut().poll(cx)
    });
    if let Err(error) = ended.await {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Open connections by address and network.
struct Peers {
    limit: usize,
    trusted: Vec<IpNet>,
    open: KeyedSemaphore<Subject>,
}

/// The places of one connection, in its address and networks.
type PeerPermits = [Option<Permit<Subject>>; 3];

impl Peers {
    fn new(limit: usize, trusted: Vec<IpNet>) -> Self {
        Self { limit, trusted, open: KeyedSemaphore::new(usize::MAX, |_| usize::MAX) }
    }

    /// Places for one more connection of an address, unless it has too many.
    fn enter(&self, address: IpAddr) -> Option<PeerPermits> {
        let address = address.to_canonical();
        let mut places = PeerPermits::default();
        if self.trusted.iter().any(|net| net.contains(&address)) {
            return Some(places);
        }
        for (place, network) in places.iter_mut().zip(limit::networks(address, WIDER)) {
            if let Some((network, times)) = network {
                let most = self.limit.saturating_mul(times as usize);
                *place = Some(self.open.take_up_to(network, most)?);
            }
        }
        Some(places)
    }
}

/// The client's address: the peer's, or, when the peer is a trusted proxy, the
/// right-most entry of `X-Forwarded-For` that is not a trusted proxy.
///
/// An entry that is not an address ends the search; the result is then the last
/// trusted proxy.
pub fn client_address<'h>(
    peer: IpAddr,
    forwarded: impl DoubleEndedIterator<Item = &'h str>,
    trusted: &[IpNet],
) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let mut client = peer.to_canonical();
    for entry in forwarded.flat_map(|line| line.split(',')).rev() {
        if !is_trusted(&client) {
            break;
        }
        match forwarded_address(entry.trim()) {
            Some(address) => client = address.to_canonical(),
            None => break,
        }
    }
    client
}

/// An entry as proxies write it: an address, with a port or in brackets.
fn forwarded_address(entry: &str) -> Option<IpAddr> {
    if let Ok(address) = entry.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(address) = entry.parse::<SocketAddr>() {
        return Some(address.ip());
    }
    entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn client(peer: &str, lines: &[&str]) -> String {
        let trusted: Vec<IpNet> =
            ["127.0.0.1/32", "10.0.0.0/8"].iter().map(|net| net.parse().unwrap()).collect();
        client_address(peer.parse().unwrap(), lines.iter().copied(), &trusted).to_string()
    }

    #[test]
    fn the_right_most_untrusted_entry_is_the_client() {
        assert_eq!(client("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(client("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(client("127.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("127.0.0.1", &["1.1.1.1, 198.51.100.1, 10.1.2.3"]), "198.51.100.1");
        assert_eq!(client("127.0.0.1", &["1.1.1.1", "198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("::ffff:127.0.0.1", &["198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(client("127.0.0.1", &["[2001:db8::7]:443"]), "2001:db8::7");
        assert_eq!(client("127.0.0.1", &["[2001:db8::7]"]), "2001:db8::7");
        assert_eq!(client("127.0.0.1", &["198.51.100.1, unknown"]), "127.0.0.1");
        assert_eq!(client("127.0.0.1", &["198.51.100.1, 0177.0.0.1"]), "127.0.0.1");
        assert_eq!(client("127.0.0.1", &["198.51.100.1,"]), "127.0.0.1");
    }

    #[test]
    fn a_network_has_more_connections_than_an_address_but_not_all() {
        let peers = Peers::new(3, vec!["2001:db8:99::/48".parse().unwrap()]);
        let enter = |addresses: &[&str], times: usize| {
            let addresses = addresses.iter().cycle().take(times);
            addresses.filter_map(|address| peers.enter(address.parse().unwrap())).collect()
        };
        let single: Vec<PeerPermits> = enter(&["2001:db8:1::1", "2001:db8:1::2"], 9);
        let home: Vec<PeerPermits> = enter(&["2001:db8:1:1::1", "2001:db8:1:2::1"], 9);
        let site: Vec<PeerPermits> = enter(&["2001:db8:1:100::1", "2001:db8:1:200::1"], 9);
        assert_eq!((single.len(), home.len(), site.len()), (3, 3, 6));
        let elsewhere: [Vec<PeerPermits>; 3] = [
            enter(&["2001:db8:2::1"], 9),
            enter(&["192.0.2.1", "192.0.2.2", "192.0.2.3"], 18),
            enter(&["2001:db8:99::1"], 99),
        ];
        assert_eq!(elsewhere.map(|places| places.len()), [3, 9, 99]);
        drop((single, home));
        let again: Vec<PeerPermits> = enter(&["2001:db8:1::1"], 9);
        assert_eq!(again.len(), 3);
        drop((site, again));
        assert_eq!(peers.open.all(), 0);
    }

    proptest! {
        #[test]
        fn an_untrusted_peer_cannot_change_its_address(lines in prop::collection::vec("[ -~]{0,40}", 0..4)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            prop_assert_eq!(client("203.0.113.9", &lines), "203.0.113.9");
        }

        #[test]
        fn what_a_client_claims_is_left_of_what_the_proxy_saw(claim in "[ -~]{0,40}") {
            let line = format!("{claim},198.51.100.1");
            prop_assert_eq!(client("127.0.0.1", &[&line]), "198.51.100.1");
        }
    }
}
