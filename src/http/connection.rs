//! Wraps a connection, so that hyper sees only well-framed request heads.
//!
//! hyper accepts some framing that allows request smuggling (both
//! `Content-Length` and `Transfer-Encoding`, several `Host`s, bare line feeds),
//! and answers heads that it rejects without our error body. So each head is
//! checked first (`head.rs`), as it arrives. A bad head never reaches hyper:
//! the connection sends one refusal and closes.
//!
//! The wrapper also ends connections whose peer sends no head or stops reading.
//! When it closes while input is unread, it waits a moment, so that the refusal
//! arrives.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};
use tokio::time::{Instant, Sleep, sleep};

use super::head::{Body, Refusal, check_head};
use super::io::Io;

/// Time for a whole head, and the longest idle time between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may read nothing of an answer.
const WRITE_STALL: Duration = Duration::from_secs(30);
/// How long a closing connection waits for the peer to read the last answer.
const LINGER: Duration = Duration::from_secs(2);
/// Most bytes read and thrown away while lingering.
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// Most bytes read from the socket at once. The reader's buffer grows with the
/// size of one read, and each connection has such a buffer.
const READ: u64 = 8 * 1024;

/// Writes up to this size are copied into one buffer: for so few bytes, copying
/// costs less than a write of several parts.
const SMALL: usize = 2 * 1024;

/// What hyper reads instead of a rejected head.
const STAND_IN: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

/// State shared by a connection and the service that answers on it.
#[derive(Default)]
pub struct Shared {
    /// Heads answered, counted by the service.
    pub answered: AtomicUsize,
    /// How many heads came before the rejected one, and its refusal.
    pub refused: OnceLock<(usize, Refusal)>,
    /// Streams of events that are being sent: they wait for long, as they should.
    streams: AtomicUsize,
}

/// Kept while a stream of events is being sent.
pub struct Streaming(Arc<Shared>);

impl Streaming {
    /// Notes that the connection sends a stream.
    pub fn on(shared: &Arc<Shared>) -> Self {
        shared.streams.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(shared))
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::AcqRel);
    }
}

enum Expect {
    Head,
    Body(u64),
    /// Everything passes: after a chunked body no further head is handled.
    Rest,
    /// Nothing more of the peer passes. First hyper reads `STAND_IN` instead of
    /// the rejected head.
    Refused,
    End,
}

/// A connection whose request heads are checked.
pub struct CheckedConnection {
    io: Take<Io>,
    expect: Expect,
    /// Bytes that were received and not passed on; those before `checked` may pass.
    held: Vec<u8>,
    checked: usize,
    /// Heads that were passed on.
    heads: usize,
    shared: Arc<Shared>,
    /// When the wait for the next head began; used while no head is being answered.
    waiting_since: Instant,
    /// A timer to check `waiting_since` from time to time; setting a timer for
    /// each head would cost more.
    patience: Pin<Box<Sleep>>,
    stall: Option<Pin<Box<Sleep>>>,
    linger: Option<Pin<Box<Sleep>>>,
    lingered: usize,
}

impl CheckedConnection {
    /// Wraps a connection.
    pub fn new(io: Io, shared: Arc<Shared>) -> Self {
        Self {
            io: io.take(READ),
            expect: Expect::Head,
            held: Vec::new(),
            checked: 0,
            heads: 0,
            shared,
            waiting_since: Instant::now(),
            patience: Box::pin(sleep(HEAD_TIMEOUT)),
            stall: None,
            linger: None,
            lingered: 0,
        }
    }

    /// Checks bytes that follow the checked ones; returns how many of them may
    /// pass.
    fn check(&mut self, bytes: &[u8]) -> usize {
        let mut checked = 0;
        while checked < bytes.len() {
            let fresh = &bytes[checked..];
            match &mut self.expect {
                Expect::Rest => checked = bytes.len(),
                Expect::Body(left) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX).min(fresh.len());
                    *left -= here as u64;
                    checked += here;
                    if *left == 0 {
                        self.expect = Expect::Head;
                    }
                }
                Expect::Head => match check_head(fresh) {
                    Ok(None) => break,
                    Ok(Some((length, body))) => {
                        self.heads += 1;
                        checked += length;
                        self.expect = match body {
                            Body::Sized(0) => Expect::Head,
                            Body::Sized(length) => Expect::Body(length),
                            Body::Chunked => Expect::Rest,
                        };
                    }
                    Err(refusal) => {
                        // `set` cannot fail: after the first refusal nothing
                        // more is checked.
                        let _ = self.shared.refused.set((self.heads, refusal));
                        self.expect = Expect::Refused;
                    }
                },
                Expect::Refused | Expect::End => break,
            }
        }
        checked
    }

    /// Whether every head that was passed on was answered.
    fn is_quiet(&self) -> bool {
        self.shared.answered.load(Ordering::Acquire) == self.heads
            && self.shared.streams.load(Ordering::Acquire) == 0
    }

    /// Whether closing now would cut off a peer that is still sending.
    fn owes_linger(&self) -> bool {
        !matches!(self.expect, Expect::Head)
    }

    fn poll_stall<T>(
        &mut self,
        cx: &mut Context<'_>,
        wrote: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.stall = None;
            return wrote;
        }
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(WRITE_STALL)));
        match stall.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Reads into the reader's own buffer, and moves bytes that may not pass to
    /// `held`.
    fn poll_direct(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let before = out.filled().len();
        self.io.set_limit(READ);
        let read = Pin::new(&mut self.io).poll_read(cx, out);
        ready!(self.poll_patience(cx, read))?;
        let fresh = &out.filled()[before..];
        let (read, passed) = (fresh.len(), self.check(fresh));
        self.held.extend_from_slice(&fresh[passed..]);
        out.set_filled(before + passed);
        Poll::Ready(Ok(read))
    }

    /// Reads more bytes and appends them to `held`.
    fn poll_held(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [0; 8 * 1024];
        let mut buffer = ReadBuf::new(&mut space);
        let read = Pin::new(self.io.get_mut()).poll_read(cx, &mut buffer);
        ready!(self.poll_patience(cx, read))?;
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(buffer.filled());
        self.checked += self.check(&held[self.checked..]);
        self.held = held;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// While nothing arrives: an error when the next head is overdue.
    fn poll_patience<T>(
        &mut self,
        cx: &mut Context<'_>,
        read: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if read.is_ready() {
            return read;
        }
        while self.patience.as_mut().poll(cx).is_ready() {
            let waits = matches!(self.expect, Expect::Head) && self.is_quiet();
            let now = Instant::now();
            let end = if waits { self.waiting_since + HEAD_TIMEOUT } else { now + HEAD_TIMEOUT };
            if end <= now {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.patience.as_mut().reset(end);
        }
        Poll::Pending
    }
}

/// The parts copied into one buffer, if they fit.
fn join<'a>(parts: &[io::IoSlice<'_>], room: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut length = 0;
    for part in parts {
        room.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    Some(&room[..length])
}

impl AsyncRead for CheckedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = out.filled().len();
        loop {
            if this.checked > 0 {
                let length = this.checked.min(out.remaining());
                out.put_slice(&this.held[..length]);
                this.held.drain(..length);
                if this.held.is_empty() {
                    // Frees the memory: few connections get a second head in
                    // pieces.
                    this.held = Vec::new();
                }
                this.checked -= length;
                return Poll::Ready(Ok(()));
            }
            let read = match this.expect {
                Expect::Refused => {
                    this.held = STAND_IN.to_vec();
                    this.checked = STAND_IN.len();
                    this.expect = Expect::End;
                    continue;
                }
                // Does not report the end of the input: hyper would then drop
                // the answers that it still has to send. The last answer closes
                // the connection.
                Expect::End => return Poll::Pending,
                _ if this.held.is_empty() => ready!(this.poll_direct(cx, out))?,
                _ => ready!(this.poll_held(cx))?,
            };
            if read == 0 || out.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for CheckedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(self.io.get_mut()).poll_write(cx, bytes);
        self.waiting_since = Instant::now();
        self.poll_stall(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let io = Pin::new(self.io.get_mut());
        let mut small = [0; SMALL];
        let wrote = match join(parts, &mut small) {
            Some(joined) => io.poll_write(cx, joined),
            None => io.poll_write_vectored(cx, parts),
        };
        self.waiting_since = Instant::now();
        self.poll_stall(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(self.io.get_mut()).poll_flush(cx);
        self.poll_stall(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.linger.is_none() {
            // TLS says goodbye, for which a peer that stopped reading leaves no room.
            let shut = Pin::new(this.io.get_mut()).poll_shutdown(cx);
            ready!(this.poll_stall(cx, shut))?;
            if !this.owes_linger() {
                return Poll::Ready(Ok(()));
            }
        }
        // Closing a socket with unread input resets the connection, and the
        // reset can arrive before the answer. So further input is read for a
        // moment.
        let linger = this.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if linger.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut space = [0; 8 * 1024];
            let mut buffer = ReadBuf::new(&mut space);
            ready!(Pin::new(this.io.get_mut()).poll_read(cx, &mut buffer))?;
            this.lingered += buffer.filled().len();
            if buffer.filled().is_empty() || this.lingered > LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use rustls::crypto::ring;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::sign::CertifiedKey;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;
    use tokio_rustls::TlsConnector;

    use super::*;
    use crate::http::tls::Tls;

    /// A connection by our own TLS, and its peer.
    async fn connected() -> (CheckedConnection, impl AsyncRead) {
        let name = "loja.example";
        let signed = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(signed.signing_key.serialize_der().into());
        let key = ring::sign::any_supported_type(&key).unwrap();
        let tls = Tls::new().unwrap();
        tls.serve(Arc::new(CertifiedKey::new(vec![signed.cert.der().clone()], key)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let io = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(signed.cert.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = TlsConnector::from(Arc::new(config)).connect(name.try_into().unwrap(), io);
        let accepted = async { tls.shake(listener.accept().await.unwrap().0).await.unwrap() };
        let (client, accepted) = tokio::join!(client, accepted);
        let io = Io::Tls(Box::new(accepted));
        (CheckedConnection::new(io, Arc::default()), client.unwrap())
    }

    #[tokio::test]
    async fn saying_goodbye_to_a_peer_that_reads_nothing_ends() {
        let (mut connection, peer) = connected().await;
        // Fills all buffers.
        let piece = [0; 16 << 10];
        while timeout(Duration::from_millis(100), connection.write(&piece)).await.is_ok() {}
        connection.stall = None;
        let shut = poll_fn(|cx| Poll::Ready(Pin::new(&mut connection).poll_shutdown(cx))).await;
        assert!(shut.is_pending());
        let stall = connection.stall.as_mut().expect("a time is set");
        stall.as_mut().reset(Instant::now());
        let ended = poll_fn(|cx| Pin::new(&mut connection).poll_shutdown(cx)).await;
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(peer);
    }
}
