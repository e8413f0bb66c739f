//! The ceiling: plain hyper that answers a small JSON, in a process of its own
//! (this executable, started again) so that its CPU time can be measured apart.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::server::Server;

const ANSWER: &[u8] = br#"{"success":true,"message":"ok","data":[]}"#;
/// The answer of a chat gateway that accepted a message.
const SENT: &[u8] = br#"{"key":{"id":"BAE5"},"status":"PENDING"}"#;
/// The content of answers of other sizes.
static FILLING: [u8; 256 * 1024] = [b'x'; 256 * 1024];

/// Starts the hello server on a free port.
pub fn start() -> anyhow::Result<Server> {
    let own = std::env::current_exe().context("finding this executable")?;
    let mut command = Command::new(own);
    command.arg("--serve-hello").stdin(Stdio::piped());
    Server::start(command)
}

/// Runs the hello server until standard input ends, that is, until the harness
/// stops it or has ended.
pub fn serve() -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_io().build()?;
    let listener = runtime.block_on(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))))?;
    writeln!(std::io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    runtime.spawn(accept(listener));
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

async fn accept(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer)),
        );
    }
}

/// The small answer, that of a chat gateway, or one with as many bytes as the
/// path says.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = match request.uri().path() {
        "/" => ANSWER,
        path if path.starts_with("/message/") => SENT,
        path => &FILLING[..path[1..].parse().unwrap_or(0)],
    };
    let mut response = Response::new(Full::new(Bytes::from_static(body)));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}
