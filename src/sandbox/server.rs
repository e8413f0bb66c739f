//! The sandbox's server: connections, bodies, and the ways in which a reply
//! may fail to arrive.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Semaphore, oneshot};

use super::http::{Reply, Request, SendMode, pairs};
use super::routes;
use super::state::Sandbox;
use super::telegram;

const BODY_MAX: usize = 1 << 20;
const CONNECTIONS_MAX: usize = 256;
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Into how many pieces a slow answer is cut.
const PIECES: usize = 8;
/// How long to wait after half of an answer before the connection is closed.
const CUT_AFTER: Duration = Duration::from_millis(50);

/// The body of a reply: whole, in pieces, or cut off in the middle.
struct Payload {
    rest: Bytes,
    piece: usize,
    pause: Duration,
    waiting: Option<Pin<Box<tokio::time::Sleep>>>,
    /// The connection ends when this many bytes are left.
    cut_at: usize,
    cut: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Payload {
    fn new(body: Vec<u8>, send_mode: SendMode) -> Self {
        let length = body.len();
        let (piece, pause) = match send_mode {
            SendMode::Slow(ms) => {
                (length.div_ceil(PIECES).max(1), Duration::from_millis(ms / PIECES as u64))
            }
            _ => (length.max(1), Duration::ZERO),
        };
        let cut_at = if send_mode == SendMode::Truncated { length.div_ceil(2) } else { 0 };
        Self {
            rest: body.into(),
            piece: if cut_at > 0 { length - cut_at } else { piece },
            pause,
            waiting: (!pause.is_zero()).then(|| Box::pin(tokio::time::sleep(pause))),
            cut_at,
            cut: None,
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if self.cut_at > 0 && self.rest.len() <= self.cut_at {
            // Data that is directly followed by an error would not be written.
            let cut = self.cut.get_or_insert_with(|| Box::pin(tokio::time::sleep(CUT_AFTER)));
            std::task::ready!(cut.as_mut().poll(context));
            return Poll::Ready(Some(Err(io::Error::other("cut off, as scripted"))));
        }
        if let Some(waiting) = &mut self.waiting {
            std::task::ready!(waiting.as_mut().poll(context));
            self.waiting = Some(Box::pin(tokio::time::sleep(self.pause)));
        }
        let length = self.piece.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// Serves until the sandbox stops; calls that still run then are cut off.
pub async fn serve(
    listener: std::net::TcpListener,
    sandbox: Arc<Sandbox>,
    stopped: oneshot::Receiver<()>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the sandbox cannot listen"),
    };
    tokio::select! {
        () = accept(listener, sandbox) => {}
        _ = stopped => {}
    }
}

async fn accept(listener: tokio::net::TcpListener, sandbox: Arc<Sandbox>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Usually there are no free file descriptors: wait a moment.
                tracing::warn!(%error, "the sandbox could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let sandbox = Arc::clone(&sandbox);
        tokio::spawn(async move {
            let _permit = permit;
            let service = hyper::service::service_fn(move |request| {
                let sandbox = Arc::clone(&sandbox);
                async move { answer(&sandbox, request).await }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(READ_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service);
            // Scripted faults end connections on purpose, so this is no warning.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a sandbox connection ended early");
            }
        });
    }
}

/// One request. An error ends the connection without an answer.
async fn answer(
    sandbox: &Sandbox,
    request: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<Payload>> {
    let (head, body) = request.into_parts();
    let body =
        match tokio::time::timeout(READ_TIMEOUT, Limited::new(body, BODY_MAX).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => {
                let reply = Reply::error(413, "payload_too_large", "the body is larger than 1 MiB");
                return Ok(response(reply));
            }
            Err(_) => return Err(io::Error::other("the body did not arrive in time")),
        };
    let raw_query = head.uri.query().unwrap_or_default().to_owned();
    let request = Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: pairs(raw_query.as_bytes()),
        raw_query,
        headers: head.headers,
        body,
    };
    settle(sandbox, &request).await;
    let running = routes::is_marketplace(&request).then(|| Running::begin(sandbox, &request));
    let reply = match telegram::api::wait(sandbox, &request).await {
        Some(reply) => reply,
        None => routes::answer(sandbox, &request),
    };
    if running.is_some() {
        // Wait after the work: the answer shows the state before the delay.
        let delay = sandbox.state().config.delay_ms;
        tokio::time::sleep(Duration::from_millis(delay)).await;
    }
    match reply.send_mode {
        SendMode::Hang(ms) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Err(io::Error::other("no answer, as scripted"))
        }
        SendMode::Lost => Err(io::Error::other("the answer is lost, as scripted")),
        SendMode::Whole | SendMode::Slow(_) | SendMode::Truncated => Ok(response(reply)),
    }
}

fn response(reply: Reply) -> hyper::Response<Payload> {
    let status = StatusCode::from_u16(reply.status);
    let mut response = hyper::Response::new(Payload::new(reply.body, reply.send_mode));
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in reply.headers {
        // An invalid value (such as a scripted one with a line break) is left out.
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// A call to the marketplace in progress; it is counted until dropped.
struct Running<'s> {
    sandbox: &'s Sandbox,
    seller: Option<i64>,
}

impl<'s> Running<'s> {
    fn begin(sandbox: &'s Sandbox, request: &Request) -> Self {
        let now = sandbox.clock.now();
        let mut state = sandbox.state();
        let seller = state.grants.bearer(request, now);
        state.load.begin(seller);
        Self { sandbox, seller }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.sandbox.state().load.end(self.seller);
    }
}

/// `GET /_sandbox/deliveries?settle_ms=N` waits until nothing is left to deliver,
/// but at most N milliseconds. So tests need no fixed pauses.
async fn settle(sandbox: &Sandbox, request: &Request) {
    if request.path != "/_sandbox/deliveries" {
        return;
    }
    let Some(ms) = request.query("settle_ms").and_then(|ms| ms.parse().ok()) else {
        return;
    };
    let mut unsent = sandbox.unsent.subscribe();
    let idle = unsent.wait_for(|count| *count == 0);
    // After the timeout the list is answered as it is.
    let _ = tokio::time::timeout(Duration::from_millis(ms), idle).await;
}
